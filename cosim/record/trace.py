# SPDX-License-Identifier: BSD-2-Clause
"""A program's calls of OpenGL: it runs under apitrace, in a display of its own."""

import os
import pickle
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from fixfunc.cosim.toolchain import ToolError
from fixfunc.spec.errors import InputError

PACKAGES = {"apitrace": "apitrace", "Xvfb": "xvfb"}  # of Debian, by what they are needed for
_GRACE = 20  # seconds in which a program ends that is asked to
FAKE = 1  # a flag of calls that apitrace puts in, for what it sees around them
READ_ONLY = 4  # a flag of calls that change nothing
END_OF_FRAME = 32  # a flag of calls that end a frame


class Pointer(int):
    """An address in the program that was traced, or an offset into a buffer."""


class Call(NamedTuple):
    """A call of a trace."""

    number: int
    name: str
    arguments: dict[str, Any]  # by name: numbers, text, bytes, lists, Pointer or None
    result: Any = None
    flags: int = 0


def missing() -> str:
    """What to type for packages that are missing, or an empty text."""
    names = [package for tool, package in PACKAGES.items() if not shutil.which(tool)]
    return f"type 'apt-get install {' '.join(names)}'" if names else ""


def capture(program: str, path: Path, seconds: float, api: str = "gl") -> None:
    """Run a program for some seconds, or until it ends, and trace it.

    Parameters
    ----------
    program : str
        Its command line.
    path : Path
        The trace.
    seconds : float
    api : str
        What joins OpenGL to its windows: ``gl``, which is GLX, or ``egl``. apitrace follows one.

    Raises
    ------
    InputError
        There is no such program, or it makes no call.
    ToolError
        apitrace or Xvfb is missing, or the display does not come up.
    """
    try:
        command = shlex.split(program)
    except ValueError as error:
        raise InputError("program", "be words with their quotes closed", program) from error
    if not command or not shutil.which(command[0]):
        raise InputError("program", "be a command that is installed", program)
    if missing():
        raise ToolError(f"apitrace or Xvfb is missing: {missing()}")
    with _display() as (display, server), tempfile.TemporaryFile() as said:
        environment = os.environ | {
            "DISPLAY": display,
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "GALLIUM_DRIVER": "llvmpipe",
            "SDL_AUDIODRIVER": "dummy",
            "vblank_mode": "0",
        }
        with _process(
            ["apitrace", "trace", "-a", api, "-o", str(path), *command],
            environment,
            said,
        ) as running:
            _end(running, server, seconds)
        if not path.is_file():
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or [program]
            raise InputError("program", "call OpenGL", lines[-1])


def _end(running, server, seconds):
    """Wait for a program, and end it.

    Without its display it ends by itself, and apitrace writes what it has. Of a signal that comes
    while a call is being traced apitrace writes nothing.
    """
    ask = partial(os.killpg, running.pid, signal.SIGTERM)
    for stop in (server.terminate, ask, running.kill):
        with suppress(subprocess.TimeoutExpired):
            running.wait(seconds)
            return
        stop()
        seconds = _GRACE


@contextmanager
def _process(command, environment, output):
    """A process in a group of its own, all of which ends with the ``with`` statement."""
    running = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


@contextmanager
def _display():
    """The name of a display that nobody else has, and its process."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x1024x24", "-noreset"]
    running = subprocess.Popen(
        [*command, "-nolisten", "tcp"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[writer],
        start_new_session=True,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as said:
            number = said.readline().strip()
        if not number:
            raise ToolError("Xvfb has no display")
        yield f":{number}", running
    finally:
        running.terminate()
        running.wait()


class _Calls(pickle.Unpickler):
    """Reads what ``apitrace pickle`` writes, and no other classes."""

    def find_class(self, module: str, name: str) -> type:
        if (module, name) != ("unpickle", "Pointer"):
            raise pickle.UnpicklingError(f"a class {module}.{name}")
        return Pointer


def calls(path: Path) -> Iterator[Call]:
    """Calls of a trace, in order; its end may be cut off.

    Raises
    ------
    InputError
        It is no trace.
    ToolError
        apitrace is missing.
    """
    if not shutil.which("apitrace"):
        raise ToolError(f"apitrace is missing: {missing()}")
    running = subprocess.Popen(
        ["apitrace", "pickle", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield from _read(running.stdout, path)
    finally:
        running.kill()
        running.stdout.close()
        running.wait()


def _read(stream: IO[bytes], path: Path) -> Iterator[Call]:
    count = 0
    while True:
        try:
            number, name, arguments, result, flags = _Calls(stream).load()
        except EOFError:
            break
        except (pickle.UnpicklingError, ValueError, TypeError) as error:
            raise InputError("trace", "be one of apitrace", f"{path}: {error}") from error
        count += 1
        yield Call(number, name, dict(arguments), result, flags)
    if not count:
        raise InputError("trace", "hold calls of OpenGL", path)
