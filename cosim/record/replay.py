# SPDX-License-Identifier: BSD-2-Clause
"""A program's calls are made again, and one frame of them is written down."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.arguments import Arguments, plain
from fixfunc.cosim.record.context import Screen
from fixfunc.cosim.record.peel import Peel
from fixfunc.cosim.record.programs import Programs
from fixfunc.cosim.record.recorder import Recorder
from fixfunc.cosim.record.targets import Refused
from fixfunc.cosim.record.trace import END_OF_FRAME, READ_ONLY, Call
from fixfunc.cosim.record.windows import Windows
from fixfunc.cosim.recorded.frame import RecordedFrame
from fixfunc.spec.errors import InputError

# Draws, but those of glBegin and glEnd.
_DRAWS = ("glDraw", "glMultiDraw", "glRect")
_NO_DRAWS = ("glDrawBuffer", "glDrawPixels", "glDrawTexture")
# They draw what is no triangle.
_OTHER_DRAWS = {
    *("glDrawPixels", "glBitmap", "glCopyPixels", "glAccum", "glEvalMesh1", "glEvalMesh2"),
}
# They may change what is drawn on.
_CHANGES = (
    *("glBlit", "glCopyTex", "glCopyImage", "glTexImage", "glTexSubImage", "glTexStorage"),
    *("glTextureStorage", "glTextureSubImage", "glCompressedTex", "glGenerate", "glClearTex"),
    *("glDispatch", "glDelete", "glRenderbufferStorage", "glClearNamed"),
    *("glTextureImage", "glMultiTexImage", "glMultiTexSubImage", "glCopyMultiTex"),
    "glMemoryBarrier",
)
# Nothing here depends on them.
_IDLE = (
    *("glGet", "glIs", "glCheck", "glFinish", "glFlush", "glBeginQuery", "glEndQuery"),
    *("glQueryCounter", "glGenQueries", "glDeleteQueries", "glFenceSync", "glClientWaitSync"),
    *("glWaitSync", "glDeleteSync", "glDebug", "glObject", "glPushDebug", "glPopDebug"),
    *("glInvalidate", "glValidate", "glInsertEvent", "glStringMarker"),
    *("glFrameTerminator", "glAreTextures", "glFeedbackBuffer", "glSelectBuffer", "glGenLists"),
)
# They are executed at once, while a display list is compiled.
_AT_ONCE = (
    *("glGen", "glDelete", "glPixelStore", "glEnableClient", "glDisableClient", "glBuffer"),
    *("glPushClient", "glPopClient", "glMap", "glUnmap", "glCreate", "glShaderSource"),
    *("glCompile", "glLink", "glAttach", "glClientActive", "memcpy"),
)
_DEEPEST = 64  # display lists that call one another
_STORED = "draw of a display list"
_LISTS = {T.UNSIGNED_BYTE: "u1", T.UNSIGNED_SHORT: "<u2", T.UNSIGNED_INT: "<u4", T.INT: "<i4"}


def record(calls: Iterable[Call], program: str, frame: int) -> RecordedFrame:
    """Record a frame of a trace.

    Parameters
    ----------
    calls : iterable of Call
    program : str
        In words.
    frame : int
        Its number, from 1 on.

    Raises
    ------
    InputError
        The trace has fewer frames.
    """
    with Screen() as screen:
        replay = Replay(screen, program, frame)
        for call in calls:
            replay.call(call)
            if replay.recorded:
                return replay.recorded
    raise InputError("frame", f"be one of the {replay.frames} that {program} has drawn", frame)


class Replay:
    """Makes calls again.

    Parameters
    ----------
    screen : Screen
    program : str
    frame : int

    Attributes
    ----------
    frames : int
        That have ended.
    recorded : RecordedFrame or None
    """

    def __init__(self, screen: Screen, program: str, frame: int) -> None:
        self._gl = screen.gl
        self._arguments = Arguments(screen.gl)
        self._windows = Windows(screen, self._arguments)
        self._programs = Programs(screen.gl, self._arguments)
        self._program = program
        self._frame = frame
        self._recorder: Recorder | None = None
        self._recorded_in: int | None = None
        self._lists: dict[int, list[Call]] = {}
        self._compiled: tuple[int, bool] | None = None  # which list, and whether it is executed
        self._depth = 0
        self._begun: list[Call] | None = None
        self._hindrance = ""
        self._selects = False  # draws are told to the program, not made
        self.frames = 0
        self.recorded: RecordedFrame | None = None

    def call(self, call: Call) -> None:
        """Make a call of the trace."""
        if call.name.startswith(("glX", "egl", "wgl")):
            self._windows.call(call)
        elif not self._windows.current:
            return
        elif self._compiled and call.name != "glEndList":
            self._compile(call)
        elif not call.flags & READ_ONLY and not _is_idle(call):
            self._make(call)
        if call.flags & END_OF_FRAME:
            self._end_frame()

    def _end_frame(self):
        self.frames += 1
        if self._recorder:
            self._windows.make_current(self._recorded_in)
            self.recorded = self._recorder.finish(self._program, self._frame)

    def _recording(self):
        """The recorder, from the first draw or clear of the frame on, in whose context it is."""
        if not self._recorder and self.frames == self._frame - 1:
            self._recorder = Recorder(self._gl, Peel(self._gl))
            self._recorded_in = self._windows.current
        return self._recorder

    # Display lists.

    def _compile(self, call):
        """A call between glNewList and glEndList."""
        name, executed = self._compiled
        if call.name.startswith(_AT_ONCE) or plain(call.name).endswith("Pointer"):
            self._make(call)
            return
        if _is_draw(call.name):
            call = self._stored(call)
        self._lists[name].append(call)
        if executed:
            self._make(call)

    def _stored(self, call):
        """A draw of arrays, which a display list reads when it is compiled."""
        real = self._gl.glGenLists(1)
        self._gl.glNewList(real, T.COMPILE)
        self._arguments.call(call)
        self._gl.glEndList()
        return Call(call.number, _STORED, {"list": real, "mode": _mode(call)})

    def _execute(self, name):
        """The calls of a list."""
        if self._depth == _DEEPEST:
            return
        self._depth += 1
        for call in self._lists.get(name, ()):
            self._make(call)
        self._depth -= 1

    def _several(self, call):
        """The lists that glCallLists names."""
        names = call.arguments["lists"]
        if isinstance(names, bytes | bytearray):
            kind = _LISTS.get(call.arguments["type"])
            names = np.frombuffer(names, kind).tolist() if kind else []
        base = self._gl.integer(T.LIST_BASE)
        for name in names or ():
            self._execute(base + int(name))

    # Calls.

    def _make(self, call):
        name = plain(call.name)
        if self._begun is not None and name not in ("glEnd", "glCallList", "glCallLists"):
            self._begun.append(call)
        elif name == "glBegin":
            self._begun = [call]
        elif name == "glEnd":
            begun, self._begun = [*self._begun, call], None
            self._draw(begun, begun[0].arguments["mode"])
        elif name == "glNewList":
            self._compiled = call.arguments["list"], call.arguments["mode"] != T.COMPILE
            self._lists[self._compiled[0]] = []
        elif name == "glEndList":
            self._compiled = None
        elif name == "glCallList":
            self._execute(call.arguments["list"])
        elif name == "glCallLists":
            self._several(call)
        elif name == "glDeleteLists":
            first = call.arguments["list"]
            for number in range(first, first + call.arguments["range"]):
                self._lists.pop(number, None)
        elif name == "glRenderMode":
            self._selects = call.arguments["mode"] != T.RENDER
        elif name == _STORED or _is_draw(name):
            self._draw([call], _mode(call))
        elif name in _OTHER_DRAWS:
            self._draw([call], T.TRIANGLES, "accumulation" if name == "glAccum" else name)
        elif name in ("glClear", *_CLEARS):
            self._clear(call)
        else:
            self._other(call)

    def _other(self, call):
        name = plain(call.name)
        self._programs.follow(call)
        if name.startswith(("glBeginConditionalRender", "glBeginTransformFeedback")):
            is_feedback = name.startswith("glBeginTransformFeedback")
            self._hindrance = "transform feedback" if is_feedback else "conditional rendering"
        elif name.startswith(("glEndConditionalRender", "glEndTransformFeedback")):
            self._hindrance = ""
        self._windows.prepare(call)
        self._arguments.call(self._windows.translated(call))
        self._windows.settle(call)
        if self._recorder and name.startswith(_CHANGES):
            self._recorder.changed()

    def _draw(self, calls, mode, hindrance=""):
        if self._selects:
            return
        make = partial(self._issue, calls)
        recorder = self._recording()
        if not recorder:
            make()
            return
        first = calls[0]
        recorder.draw(
            f"call {first.number}, {first.name}",
            first.number,
            mode,
            self._programs.current,
            make,
            partial(self._check, hindrance),
            _reason(calls),
        )

    def _check(self, hindrance):
        """Refuse what only calls tell."""
        if hindrance or self._hindrance:
            raise Refused(hindrance or self._hindrance)
        if self._windows.current != self._recorded_in:
            raise Refused("a second context")

    def _issue(self, calls):
        for call in calls:
            if call.name == _STORED:
                self._gl.glCallList(call.arguments["list"])
            else:
                self._arguments.call(call)

    def _clear(self, call):
        make = partial(self._arguments.call, call)
        recorder = self._recording()
        if not recorder:
            make()
            return
        if self._windows.current != self._recorded_in:
            make()
            recorder.changed()
            return
        planes = _CLEARS.get(plain(call.name), _cleared)(call.arguments)
        recorder.clear(planes, make)


def _is_idle(call):
    """Nothing depends on a call; pixels may be read into a buffer, and used from there."""
    if call.name == "glReadPixels":
        return not isinstance(call.arguments["pixels"], int)
    return call.name.startswith(_IDLE)


def _reason(calls):
    """Why a shader cannot stand for the fixed functions of a draw's vertices."""
    if any(call.name.startswith(("glMaterial", "glColorMaterial")) for call in calls[1:]):
        return "materials that change within primitives"
    return ""


def _is_draw(name):
    return name.startswith(_DRAWS) and not name.startswith(_NO_DRAWS)


def _mode(call):
    """What the primitives of a draw are."""
    return call.arguments.get("mode", T.POLYGON)  # a rectangle's corners


def _cleared(arguments):
    """Which planes glClear clears."""
    bits = {
        "colour": T.COLOR_BUFFER_BIT,
        "depth": T.DEPTH_BUFFER_BIT,
        "stencil": T.STENCIL_BUFFER_BIT,
    }
    return {name for name, bit in bits.items() if arguments["mask"] & bit}


# The same of one buffer.
_CLEARS = {
    "glClearBufferfv": lambda its: {"colour" if its["buffer"] == T.COLOR else "depth"},
    "glClearBufferiv": lambda _: {"stencil"},
    "glClearBufferfi": lambda _: {"depth", "stencil"},
}
