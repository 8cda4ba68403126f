# SPDX-License-Identifier: BSD-2-Clause
"""Small programs of OpenGL as a trace has them, without a window."""

from types import SimpleNamespace

import numpy as np

from fixfunc.cosim.record import replay
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import signatures
from fixfunc.cosim.record.trace import END_OF_FRAME, FAKE, Call, Pointer
from fixfunc.cosim.recorded.drawing import Player
from fixfunc.cosim.recorded.texels import differences

CONTEXT = Pointer(0x1000)
SIZE = 64, 48


class Program:
    """Notes calls: ``gl.glClear(mask)``, and ``gl.returns(7).glCreateProgram()``.

    It has a window; its calls are of the second frame from :meth:`swap` on.
    """

    def __init__(self, size=SIZE, attributes=(), egl=None):
        self.calls = []
        self._result = None
        name = "glXCreateContextAttribsARB" if egl is None else "eglCreateContext"
        if egl:  # else there is no call: that is OpenGL ES
            self._note("eglBindAPI", {"api": egl})
        self._note(name, {"share_context": None, "attrib_list": [*attributes, 0]}, CONTEXT)
        name = "glXMakeCurrent" if egl is None else "eglMakeCurrent"
        self._note(name, {"dpy": 1, "drawable": 1, "ctx": CONTEXT})
        for name in ("glViewport", "glScissor"):
            values = {"x": 0, "y": 0, "width": size[0], "height": size[1]}
            self._note(name, values, flags=FAKE)

    def _note(self, name, arguments, result=None, flags=0):
        self.calls.append(Call(len(self.calls), name, arguments, result, flags))

    def __getattr__(self, name):
        names = signatures()[name].names

        def call(*arguments):
            result, self._result = self._result, None
            self._note(name, dict(zip(names, arguments, strict=True)), result)

        return call

    def returns(self, result):
        """The next call returns this."""
        self._result = result
        return self

    def note(self, name, **arguments):
        """A call by name, such as memcpy."""
        self._note(name, arguments)

    def swap(self):
        """A frame ends."""
        self._note("glXSwapBuffers", {"dpy": 1, "drawable": 1}, flags=END_OF_FRAME)

    # What many programs do.

    def triangle(self, corners, colour=(1, 1, 1, 1), mode=None):
        """Primitives of corners (x, y, z) in clip space, or (x, y, z, w)."""
        self.glColor4f(*map(float, colour))
        self.glBegin(T.TRIANGLES if mode is None else mode)
        for corner in corners:
            self.glVertex4f(*map(float, (*corner, 1)[:4]))
        self.glEnd()

    def texture(self, name, form, size=SIZE, base=None, kind=None):
        """A texture without contents."""
        self.glGenTextures(1, [name])
        self.glBindTexture(T.TEXTURE_2D, name)
        base = T.RGBA if base is None else base
        kind = T.FLOAT if kind is None else kind
        self.glTexImage2D(T.TEXTURE_2D, 0, form, *size, 0, base, kind, None)
        self.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MIN_FILTER, T.NEAREST)
        self.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MAG_FILTER, T.NEAREST)
        self.glBindTexture(T.TEXTURE_2D, 0)

    def renderbuffer(self, name, form, size=SIZE):
        """A renderbuffer without contents."""
        self.glGenRenderbuffers(1, [name])
        self.glBindRenderbuffer(T.RENDERBUFFER, name)
        self.glRenderbufferStorage(T.RENDERBUFFER, form, *size)

    def framebuffer(self, name, texture=0, depth=0, stencil=True):
        """A framebuffer of a texture of colours and a renderbuffer of depths, bound."""
        self.glGenFramebuffers(1, [name])
        self.glBindFramebuffer(T.FRAMEBUFFER, name)
        if texture:
            self.glFramebufferTexture2D(
                T.FRAMEBUFFER, T.COLOR_ATTACHMENT0, T.TEXTURE_2D, texture, 0
            )
        if depth:
            point = T.DEPTH_STENCIL_ATTACHMENT if stencil else T.DEPTH_ATTACHMENT
            self.glFramebufferRenderbuffer(T.FRAMEBUFFER, point, T.RENDERBUFFER, depth)

    def shaders(self, name, **texts):
        """A program of shaders by stage, linked."""
        self.returns(name).glCreateProgram()
        for n, (stage, text) in enumerate(texts.items()):
            shader = name + n + 1
            self.returns(shader).glCreateShader(getattr(T, f"{stage}_SHADER"))
            self.glShaderSource(shader, 1, [text], None)
            self.glCompileShader(shader)
            self.glAttachShader(name, shader)
        self.glLinkProgram(name)


def recorded(program, number=2):
    """A frame of a program, its second one."""
    program.swap()
    return replay.record(program.calls, "a program", number)


def drawn(frame, shades=False):
    """A frame by the golden machine: fragments that differ, samples that passed, surfaces."""
    player = Player(frame, shades=shades)
    made = player.draw()
    return SimpleNamespace(
        player=player,
        differing=sum(draw.missing + draw.extra for draw in made.draws),
        beyond=sum(draw.beyond for draw in made.draws),
        passed=[draw.passed for draw in made.draws],
        wanted=[draw.wanted for draw in made.draws],
        surfaces=made.surfaces,
    )


def check(made, frame):
    """Surfaces are Mesa's.

    It blends bytes, and rounds more than once: one upon another they are two units apart. Depths of
    steep triangles, a third of the range within some pixels, are those of corners as they are
    snapped here, which Mesa takes as they are.
    """
    most = 2 * frame.draws["blend_enable"].any()
    for it in made.surfaces:
        found = differences(it.found, it.wanted, it.form)
        assert found.most <= most and not found.stencils and found.deepest < 1 << 15, found


def noise(count, seed=1):
    """Triangles all over the window, at any depth: float32, shape (3 count, 3)."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(-0.7, 0.7, (count, 1, 3))
    return np.float32(middle + rng.uniform(-0.3, 0.3, (count, 3, 3))).reshape(-1, 3)
