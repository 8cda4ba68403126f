# SPDX-License-Identifier: BSD-2-Clause
"""A standard-cell library in Liberty, without the cells that synthesis shall not take."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fixfunc.spec.errors import InputError

# Flip-flops with an enable leave the enable's fan-out unbuffered: ABC sees no load behind them.
# The others are isolation cells, probes for the mask shop, and gates too weak to be placed.
DROPPED = re.compile(r"(?:^|_)(?:lpflow|s?edf)|probe|_0$")
LOAD = 7.49  # load of an output, in inputs of the driving inverter: 33.4 fF in sky130 hd
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
LIBRARY = re.compile(r'\s*library\s*\(\s*"?([\w.$-]+)"?\s*\)\s*\{')
CELL = re.compile(r'\bcell\s*\(\s*"?([\w.$-]+)"?\s*\)\s*\{')
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}]', re.DOTALL)
FUNCTION = re.compile(r'\bfunction\s*:\s*"([^"]*)"')
CAPACITANCE = re.compile(r'\bcapacitance\s*:\s*"?([\d.eE+-]+)')
UNIT = re.compile(r'capacitive_load_unit\s*\(\s*"?([\d.]+)"?\s*,\s*"?(\w+)"?\s*\)')
FEMTO = {"ff": 1, "pf": 1000}


class Library(NamedTuple):
    """A library as the tools read it."""

    name: str
    text: str
    driver: str  # inverter of drive 2 that stands before every input
    load: float  # fF behind every output

    @property
    def digest(self) -> str:
        """Hash of all that decides a result."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


def read(path: Path) -> Library:
    """The library in a file, which gzip may have packed.

    Raises :class:`~fixfunc.spec.errors.InputError` if it is none that cells can be mapped to.
    """
    text = filtered(_text(path), path.name)
    if not re.search(r"\bff\s*\(", text):
        raise InputError("LIBERTY", "have a flip-flop", path.name)
    driver, load = _driver(text, path.name)
    return Library(LIBRARY.match(text)[1], text, driver, load)


def filtered(text: str, name: str = "text") -> str:
    """Liberty without comments and without cells that :data:`DROPPED` names.

    Raises :class:`~fixfunc.spec.errors.InputError` if ``text``, of a file ``name``, is not Liberty.
    """
    text = COMMENT.sub("", text)
    head = LIBRARY.match(text)
    if not head:
        raise InputError("LIBERTY", "be a Liberty library", name)
    _close(text, head.end(), name)
    kept = []
    place = 0
    for cell, begin, end in _cells(text, name):
        if DROPPED.search(cell):
            kept.append(text[place:begin])
            place = end
    return "".join([*kept, text[place:]])


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise InputError("LIBERTY", "be a whole gzip file", path.name) from None
    return data.decode("latin-1")


def _cells(text: str, name: str) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of every cell."""
    place = 0
    while match := CELL.search(text, place):
        place = _close(text, match.end(), name)
        yield match[1], match.start(), place


def _close(text: str, place: int, name: str) -> int:
    """The place behind the brace that closes the group in which ``place`` is."""
    depth = 1
    for token in TOKEN.finditer(text, place):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    raise InputError("LIBERTY", "close every group", name)


def _driver(text: str, name: str) -> tuple[str, float]:
    """The inverter of drive 2, or the next to smallest, and fF of :data:`LOAD` of its inputs."""
    unit = UNIT.search(text)
    if not unit or unit[2].lower() not in FEMTO:
        raise InputError("LIBERTY", "say its unit of capacitance, ff or pf", name)
    inverters = {
        cell: float(pin[1])
        for cell, begin, end in _cells(text, name)
        if _inverts(text[begin:end]) and (pin := CAPACITANCE.search(text, begin, end))
    }
    if not inverters:
        raise InputError("LIBERTY", "have an inverter", name)
    smallest = sorted(inverters, key=lambda cell: (inverters[cell], len(cell)))
    twice = [cell for cell in inverters if re.search(r"[_xX]2$", cell)]
    driver = min(twice, key=len) if twice else smallest[:2][-1]
    femto = float(unit[1]) * FEMTO[unit[2].lower()]
    return driver, round(LOAD * inverters[driver] * femto, 1)


def _inverts(cell: str) -> bool:
    """Whether a cell's only output is the inverse of its only input."""
    functions = [re.sub(r"[\s()]", "", function) for function in FUNCTION.findall(cell)]
    return len(functions) == 1 and bool(re.fullmatch(r"!\w+|\w+'", functions[0]))
