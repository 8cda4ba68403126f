# SPDX-License-Identifier: BSD-2-Clause
"""Where in the source a node of an elaborated component was made: file, line and columns."""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from amaranth import tracer
from amaranth.hdl import Value
from amaranth.lib import data

from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb.mutation.nodes import NextState, Operator

# Helpers that describe a register for their caller: the register counts as the caller's.
HELPERS = {str(ROOT / "rtl/lib/delay.py"), str(ROOT / "rtl/lib/timeline.py")}


class Span(NamedTuple):
    """A piece of a source file: lines from 1, columns from 0, ends as in :mod:`ast`."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Location(tuple):
    """Amaranth's source location, a file and a line, with the span of the instruction.

    ``span`` is None for what does not count; ``helper`` says that a helper made the node.
    """

    span: Span | None = None
    helper = False


class Trace:
    """What :func:`traced` records besides the locations.

    ``siblings`` has, by the identity of a slice that is a field of a structure, the slice itself,
    the field's name, the name of another field of equal width, and that field.
    """

    def __init__(self) -> None:
        self.siblings: dict[int, tuple[Value, str, str, Value]] = {}


@cache
def _positions(code: CodeType, instruction: int) -> tuple[int, int, int, int]:
    """Line, column, end line and end column of an instruction."""
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    return line, column, end_line, end_column


def _span(frame: FrameType) -> Span | None:
    place = _positions(frame.f_code, frame.f_lasti)
    return Span(frame.f_code.co_filename, *place) if None not in place else None


@contextmanager
def traced(files: Collection[Path]) -> Iterator[Trace]:
    """Nodes that are made within know where in these files they were made."""
    own = {str(path) for path in files}
    trace = Trace()
    plain = tracer.get_src_loc
    getitem = data.View.__getitem__
    resolve = NextState.resolve
    tracer.get_src_loc = _locator(own)
    data.View.__getitem__ = _field_recorder(trace, getitem)
    NextState.resolve = _resolver(resolve)
    try:
        yield trace
    finally:
        tracer.get_src_loc = plain
        data.View.__getitem__ = getitem
        NextState.resolve = resolve


def _locator(own: Collection[str]) -> Callable:
    """A stand-in for Amaranth's ``get_src_loc``."""

    def get_src_loc(src_loc_at=0):
        caller = sys._getframe(2 + src_loc_at)
        location = Location((caller.f_code.co_filename, caller.f_lineno))
        frame = sys._getframe(1)
        while frame:
            file = frame.f_code.co_filename
            if file in own:
                location.span = _span(frame)
                break
            if frame.f_code.co_name in ("_pop_ctrl", "elaborate"):
                break  # made late, by Amaranth, or by another component
            if file.startswith(str(ROOT / "rtl")):
                if file not in HELPERS:
                    break
                location.helper = True
            frame = frame.f_back
        return location

    return get_src_loc


def _field_recorder(trace: Trace, getitem: Callable) -> Callable:
    """``View.__getitem__`` that remembers which other field could be meant."""

    def recorded(view, key):
        field = getitem(view, key)
        layout = view.shape()
        if isinstance(key, str) and isinstance(layout, data.StructLayout):
            width = layout[key].width
            names = [name for name, other in layout if other.width == width]
            if len(names) > 1:
                other = names[(names.index(key) + 1) % len(names)]
                start = layout[other].offset
                node = Value.cast(field)
                if isinstance(node, Operator) and node.operator in "su":
                    node = node.operands[0]
                swapped = view.as_value()[start : start + width]
                trace.siblings[id(node)] = node, key, other, swapped
        return field

    return recorded


def _resolver(resolve: Callable) -> Callable:
    """``m.next = ...`` keeps its own location when it becomes an assignment."""

    def resolved(statement):
        assign = resolve(statement)
        assign.src_loc = statement.src_loc
        return assign

    return resolved
