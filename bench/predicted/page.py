# SPDX-License-Identifier: BSD-2-Clause
"""``docs/architecture/predicted.md``, of the figures in ``predicted.json`` beside it."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.predicted import tried
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.performance.stations import STATIONS
from fixfunc.models.performance.studies import PROCESSORS

STORE = ROOT / "docs" / "architecture" / "predicted.json"
PAGE = STORE.with_suffix(".md")
COLUMNS = 120


def write(figures: dict[str, Any]) -> Path:
    """Write the figures, and the page of them; its path."""
    STORE.write_text(json.dumps(figures, indent=1) + "\n")
    PAGE.write_text("\n".join([*_wrapped(_lines(figures)), ""]))
    return PAGE


def _wrapped(lines) -> Iterator[str]:
    for line in lines:
        yield from [line] if line[:1] in ("", "#", "|") else textwrap.wrap(line, COLUMNS)


def _lines(figures):
    return [
        "# Predicted clocks",
        "",
        f"What the [performance model](performance.md) says, beside what the hardware did. "
        f"{figures['machine']}, by `python -m bench.predicted`, {figures['date']}.",
        "",
        *_beside(figures["rows"]),
        *_tried(figures["rows"], figures["tried"]),
        *_without(figures["without"]),
        *_machines(figures["machines"]),
        *_processors(figures["processors"]),
    ]


def _table(head, rows):
    return [
        "",
        f"| {' | '.join(head)} |",
        "|---|" + "---|" * (len(head) - 1),
        *(f"| {' | '.join(map(str, row))} |" for row in rows),
        "",
    ]


def _name(station):
    """A station, or a port and its way, in words."""
    if station in STATIONS:
        return STATIONS[station]
    client, way = station.split()
    return f"{client} {'read' if way == 'read' else 'written'}"


def _error(row):
    return f"{row['predicted'] / row['measured'] - 1:+.1%}"


def _beside(rows):
    errors = [abs(row["predicted"] / row["measured"] - 1) for row in rows]
    wrong = sum(row["holds"] != row["holding"] for row in rows)
    differ = sum(len(row["differ"]) for row in rows)
    times = [row["seconds"] / row["taken"] for row in rows]
    lines = [
        "## Beside the hardware",
        "",
        "The top (frame), 1280x720, and recorded frames; memory as of the [bench](../bench.md"
        "#frames). Events have the outcomes of the hardware's HiZ. What holds a frame works for "
        "most of its clocks: measured by the hardware's counters, a transfer at the pace of the "
        "memory; turns of blended tiles, which none counts, are the model's. "
        "The last columns: the part of the clocks in which the command reader waits for "
        "slots of the vertex ring, and how much faster a prediction is than the simulation, both "
        "beside other work.",
        "",
        f"Of {len(rows)} rows the error is {sum(errors) / len(errors):.1%} on average and "
        f"{max(errors):.1%} at most; {wrong} name another station; of the counters of tiles that "
        f"are moved, by cause and mode, {differ} differ; a prediction takes {min(times):,.0f} to "
        f"{max(times):,.0f} times less than the simulation.",
    ]
    head = "frame", "memory", "measured", "predicted", "error", "holds", "predicted"
    head += "waits for slots", "times as fast"
    return lines + _table(
        head,
        (
            (
                row["name"],
                row["memory"],
                f"{row['measured']:,}",
                f"{row['predicted']:,}",
                _error(row),
                _name(row["holds"]),
                _name(row["holding"]),
                f"{row['slots']:.0%}",
                f"{row['seconds'] / row['taken']:,.0f}",
            )
            for row in rows
        ),
    )


def _tried(rows, changed):
    before = {row["name"]: row["measured"] for row in rows if row["memory"] == "near"}
    lines = [
        "## Tried",
        "",
        f"What the model said would help, by the hardware, near memory. *{tried.EARLIER}*: so that "
        "vertices of the next group are written while triangles of the last one are drawn.",
    ]
    head = "frame", "change", "before", "measured", "predicted", "error"
    return lines + _table(
        head,
        (
            (
                row["name"],
                row["change"],
                f"{before[row['name']]:,}",
                f"{row['measured']:,}",
                f"{row['predicted']:,}",
                _error(row),
            )
            for row in changed
        ),
    )


def _without(found):
    lines = [
        "## Without a station",
        "",
        "Predictions: clocks of a machine of which one station takes no time, near memory.",
    ]
    stations = list(next(iter(found.values())))
    return lines + _table(
        ["frame", *(STATIONS[name] for name in stations)],
        ([name, *(f"{clocks:,}" for clocks in by.values())] for name, by in found.items()),
    )


def _machines(found):
    lines = ["## Other machines", "", "Predictions: clocks, near memory if nothing else is said."]
    names = list(found)
    machines = list(found[names[0]])
    return lines + _table(
        ["machine", *names],
        ([machine, *(f"{found[name][machine]:,}" for name in names)] for machine in machines),
    )


def _processors(found):
    lines = [
        "## Processors of the documents",
        "",
        "Peaks are the documents' ([case studies](case_studies.md)) but those in italics, which "
        "they leave open; microseconds of a frame, what holds it, and megabytes moved are "
        "predictions.",
    ]
    peaks = _table(
        ["processor", "TFLOPS", "GB/s", "Gpixels/s", "primitives a clock"],
        (
            (
                name,
                _open(it, ("clock",), f"{it.flops / 1e12:.1f}"),
                _open(it, ("bus", "rate"), f"{it.bandwidth / 1e9:.0f}"),
                _open(it, ("written", "clock"), f"{it.fill / 1e9:.0f}"),
                _open(it, ("primitives",), f"{it.primitives:g}"),
            )
            for name, it in PROCESSORS.items()
        ),
    )
    cells = _table(
        ["frame", *PROCESSORS],
        (
            [
                name,
                *(
                    f"{it['microseconds']:,.0f} us, {_name(it['holding'])}, "
                    f"{it['megabytes']:.1f} MB"
                    for it in by.values()
                ),
            ]
            for name, by in found.items()
        ),
    )
    return [*lines, *peaks[:-1], *cells]


def _open(processor, fields, text):
    return f"*{text}*" if set(fields) & set(processor.open) else text
