# SPDX-License-Identifier: BSD-2-Clause
"""A chart for each parameter that was swept: clocks and bytes over its values."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {
    "svg.fonttype": "none",  # text that can be searched and quoted
    "svg.hashsalt": "sweep",  # the same rows, the same file
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
NAMED = 10  # lines that a legend names
PANELS = {
    "clocks of the frame": lambda row: row["clocks"] or row["least_clocks"],
    "bytes, read and written": lambda row: row["bytes_read"] + row["bytes_written"],
}


def chart(name: str, rows: Sequence[Mapping[str, Any]], swept: Sequence[str]) -> str:
    """SVG of a parameter: a line for each combination of scene and the other swept parameters.

    A golden frame has no clocks: its least ones stand in their place.
    """
    values = list(dict.fromkeys(row[name] for row in rows))
    number = all(type(value) is int for value in values)
    values = sorted(values) if number else values
    others = [other for other in swept if other != name]
    lines = {}
    for row in rows:
        lines.setdefault(_label(row, others), {})[row[name]] = row
    golden = rows[0]["machine"] == "golden"
    with mpl.rc_context(STYLE):
        figure = Figure((6.4, 6), layout="constrained")
        for axes, (title, of) in zip(figure.subplots(len(PANELS)), PANELS.items(), strict=True):
            for label, line in lines.items():
                there = [value for value in values if value in line]
                places = there if number else [values.index(value) for value in there]
                axes.plot(places, [of(line[value]) for value in there], "o-", label=label)
            axes.set_ylabel(f"least {title}" if golden and "clocks" in title else title)
            axes.set_xlabel(name)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            if not number:
                axes.set_xticks(range(len(values)), [str(value) for value in values])
        if len(lines) <= NAMED:
            axes.legend(fontsize=7)
        out = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=nothing)
    return out.getvalue()


def _label(row, others):
    return ", ".join([row["scene"], *(f"{other}={row[other]}" for other in others)])
