# SPDX-License-Identifier: BSD-2-Clause
"""Traces: runs that break a property, as tables."""

from pathlib import Path
from typing import NamedTuple

from vcd.reader import TokenKind, tokenize


class Trace(NamedTuple):
    """Values of the signals of a proof, clock by clock; None where any value does."""

    signals: dict[str, list[int | None]]

    @property
    def clocks(self) -> int:
        """Clocks of the run, of which the last one breaks a property."""
        return max(map(len, self.signals.values()), default=0)

    def last(self, name: str) -> int | None:
        """Value of a signal in the last clock."""
        return self.signals[name][-1]

    def table(self, most: int = 16) -> str:
        """The last clocks, a row for each signal that is ever set, or property that breaks."""
        first = max(0, self.clocks - most)
        rows = [["clock", *map(str, range(first, self.clocks))]]
        for name, values in self.signals.items():
            if any(values) and not (name.startswith("holds_") and all(values)):
                shown = ("-" if value is None else f"{value:x}" for value in values[first:])
                rows.append([name, *shown])
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = []
        for name, *values in rows:
            cells = [value.rjust(width) for value, width in zip(values, widths[1:])]
            lines.append("  ".join([name.ljust(widths[0]), *cells]))
        return "\n".join(lines)


def read_trace(path: Path) -> Trace:
    """The signals of the outermost scope of a VCD file of yosys-smtbmc."""
    names = {}
    current = {}
    clocks = []
    depth = 0
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                depth += 1
            elif token.kind is TokenKind.UPSCOPE:
                depth -= 1
            elif token.kind is TokenKind.VAR and depth == 1:
                if token.var.reference not in ("clk", "smt_step", "smt_clock"):
                    names[token.var.id_code] = token.var.reference
            elif token.kind is TokenKind.CHANGE_TIME:
                while len(clocks) <= token.data // 10 - 1:
                    clocks.append(dict(current))
            elif token.kind in (TokenKind.CHANGE_SCALAR, TokenKind.CHANGE_VECTOR):
                change = token.data
                current[change.id_code] = _number(change.value)
    signals = {
        name: [values.get(code) for values in clocks]
        for code, name in names.items()
        if not name.startswith(("$", "past_", "row_", "_"))
    }
    return Trace(signals)


def _number(value: int | str) -> int | None:
    if isinstance(value, int):
        return value
    return int(value, 2) if set(value) <= {"0", "1"} else None
