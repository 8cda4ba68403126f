# SPDX-License-Identifier: BSD-2-Clause
"""Verilator's counts, by the names of the hardware."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ENTRY = re.compile(r"C '(.*)' (\d+)$", re.DOTALL)
ESCAPE = re.compile(r"__0([0-9A-Fa-f]{2})")
NUMBERS = re.compile(r"\\?\$\d+ ?|choice_\d+(_CMP|_Y)? ?")


class Points(NamedTuple):
    """Hits of every point, by name.

    Parameters
    ----------
    lines : Counter
        ``module: text``: lines and branches of the Verilog, without the numbers of temporaries.
    toggles : Counter
        ``module.signal[bit] edge``: of signals that have a name.
    events : Counter
        By label.
    places : dict
        Of each of the lines: the module's instance, Verilator's kind, the number of the line.
    """

    lines: dict[str, int]
    toggles: dict[str, int]
    events: dict[str, int]
    places: dict[str, tuple[str, str, int]]


def read(path: Path, source: str) -> Points:
    """Points of a file that Verilator wrote, for the Verilog that it ran."""
    text = source.splitlines()
    points = Points({}, {}, {}, {})
    same = Counter()
    for line in path.read_text(errors="replace").splitlines():
        entry = ENTRY.match(line)
        if not entry:
            continue
        fields = dict(part.split("\x02", 1) for part in entry[1].split("\x01") if part)
        count = int(entry[2])
        kind = fields["t"]
        place = fields["h"].removeprefix("TOP.")
        if kind == "toggle":
            name = f"{place}.{plain(fields['o'])}"
            points.toggles[name] = points.toggles.get(name, 0) + count
        elif kind in ("line", "branch"):
            said = NUMBERS.sub("_ ", text[int(fields["l"]) - 1].strip().removeprefix("assign "))
            name = f"{place}: {fields['o']}: {said}"
            # Equal texts of one module are told apart by their order alone.
            same[name] += 1
            name = f"{name} #{same[name]}" if same[name] > 1 else name
            points.lines[name] = count
            points.places[name] = place, fields["o"], int(fields["l"])
        else:
            name = plain(fields["o"]).split(".")[-1]
            points.events[name] = points.events.get(name, 0) + count
    return points


def plain(name: str) -> str:
    """A name as it stands in the Verilog: Verilator writes what is no letter by its code."""
    return ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)
