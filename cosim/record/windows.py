# SPDX-License-Identifier: BSD-2-Clause
"""Windows of a program: its contexts, and a framebuffer object in the place of each window."""

from dataclasses import dataclass

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.arguments import Arguments, plain
from fixfunc.cosim.record.context import Functions, Screen, Version
from fixfunc.cosim.record.trace import FAKE, Call
from fixfunc.spec.errors import InputError

# Attributes of contexts, of GLX and of EGL: major and minor version, profile.
_ATTRIBUTES = (0x2091, 0x2092, 0x9126), (0x3098, 0x30FB, 0x30FD)
_CORE = 1
_OPENGL = 0x30A2  # of eglBindAPI; before it, EGL's contexts are of OpenGL ES
_CREATE = (
    "glXCreateContext",
    "glXCreateNewContext",
    "glXCreateContextAttribsARB",
    "eglCreateContext",
)
_MAKE_CURRENT = "glXMakeCurrent", "glXMakeContextCurrent", "eglMakeCurrent"
# Of a window; a framebuffer object has one image in their place.
_BUFFERS = {
    *(T.FRONT, T.BACK, T.LEFT, T.FRONT_LEFT, T.BACK_LEFT, T.FRONT_AND_BACK),
}
_BUFFER_CALLS = ("glDrawBuffer", "glReadBuffer", "glNamedFramebufferDrawBuffer")


@dataclass
class Window:
    """What stands for a window: colours of 8 bits, depths of 24, stencil values."""

    framebuffer: int
    colour: int
    depth: int
    size: tuple[int, int] = (1, 1)


class Windows:
    """Contexts of a program.

    Parameters
    ----------
    screen : Screen
    arguments : Arguments
        Names of objects, to which that of the window's framebuffer is added.

    Attributes
    ----------
    current : int or None
        The current context of the program.
    """

    def __init__(self, screen: Screen, arguments: Arguments) -> None:
        self._screen = screen
        self._gl: Functions = screen.gl
        self._arguments = arguments
        self._is_embedded = True
        self._wanted: dict[int, tuple[Version, int]] = {}
        self._contexts: dict[int, int] = {}
        self._windows: dict[int, Window] = {}
        self.current: int | None = None

    def call(self, call: Call) -> None:
        """A call of the window system; a context of OpenGL ES is refused."""
        if call.name == "eglBindAPI":
            self._is_embedded = call.arguments["api"] != _OPENGL
        elif call.name in _CREATE and call.result:
            if call.name.startswith("egl") and self._is_embedded:
                raise InputError("program", "draw by OpenGL", "OpenGL ES")
            shared = next(
                value for name, value in call.arguments.items() if name.startswith("share")
            )
            self._wanted[int(call.result)] = _version(call), int(shared or 0)
        elif call.name in _MAKE_CURRENT:
            self.make_current(int(call.arguments["ctx"] or 0))

    def make_current(self, context: int) -> None:
        """Calls go to a context of the program; to 0: to none."""
        if not context:
            self.current = None
            return
        self._screen.make_current(self._made(context))
        if context not in self._windows:
            self._windows[context] = self._window()
        self.current = context
        self._arguments.rename("framebuffers", 0, self._windows[context].framebuffer)

    def _made(self, context):
        if context not in self._contexts:
            version, shared = self._wanted.get(context, (Version(), 0))
            other = self._made(shared) if shared else None
            self._contexts[context] = self._screen.create(version, other)
        return self._contexts[context]

    def _window(self):
        gl = self._gl
        made = Window(gl.name("Framebuffers"), gl.name("Renderbuffers"), gl.name("Renderbuffers"))
        self._resize(made, (1, 1))
        gl.glBindFramebuffer(T.FRAMEBUFFER, made.framebuffer)
        for point, name in (
            (T.COLOR_ATTACHMENT0, made.colour),
            (T.DEPTH_STENCIL_ATTACHMENT, made.depth),
        ):
            gl.glFramebufferRenderbuffer(T.FRAMEBUFFER, point, T.RENDERBUFFER, name)
        gl.glDrawBuffer(T.COLOR_ATTACHMENT0)
        gl.glReadBuffer(T.COLOR_ATTACHMENT0)
        return made

    def _resize(self, window, size):
        gl = self._gl
        before = gl.integer(T.RENDERBUFFER_BINDING)
        for name, form in ((window.colour, T.RGBA8), (window.depth, T.DEPTH24_STENCIL8)):
            gl.glBindRenderbuffer(T.RENDERBUFFER, name)
            gl.glRenderbufferStorage(T.RENDERBUFFER, form, *size)
        gl.glBindRenderbuffer(T.RENDERBUFFER, before)
        window.size = size

    def prepare(self, call: Call) -> None:
        """Before a call: a window has the size that apitrace saw, or that of a greater viewport."""
        if call.name != "glViewport":
            return
        window = self._windows[self.current]
        if self._gl.integer(T.DRAW_FRAMEBUFFER_BINDING) != window.framebuffer:
            return
        x, y, width, height = call.arguments.values()
        size = width, height
        if not call.flags & FAKE:
            size = max(window.size[0], x + width), max(window.size[1], y + height)
        if size != window.size and min(size) > 0:
            self._resize(window, size)

    def translated(self, call: Call) -> Call:
        """A call that names a buffer of the window names that of the object in its place."""
        if not plain(call.name).startswith(_BUFFER_CALLS):
            return call
        arguments = {name: _translated(value) for name, value in call.arguments.items()}
        return call._replace(arguments=arguments)

    def settle(self, call: Call) -> None:
        """Behind a call: where an object is deleted that is bound, the window is bound again."""
        if plain(call.name) != "glDeleteFramebuffers":
            return
        window = self._windows[self.current]
        for target, name in (
            (T.DRAW_FRAMEBUFFER, T.DRAW_FRAMEBUFFER_BINDING),
            (T.READ_FRAMEBUFFER, T.READ_FRAMEBUFFER_BINDING),
        ):
            if not self._gl.integer(name):
                self._gl.glBindFramebuffer(target, window.framebuffer)


def _version(call):
    words = call.arguments.get("attrib_list") or []
    wanted = dict(zip(words[::2], words[1::2], strict=False))
    names = _ATTRIBUTES[call.name.startswith("egl")]
    major, minor, profile = (
        wanted.get(name, other) for name, other in zip(names, (1, 0, 0), strict=True)
    )
    return Version(major, minor, bool(profile & _CORE))


def _translated(value):
    if isinstance(value, list):
        return [_translated(one) for one in value]
    return T.COLOR_ATTACHMENT0 if value in _BUFFERS else value
