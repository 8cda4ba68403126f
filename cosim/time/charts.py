# SPDX-License-Identifier: BSD-2-Clause
"""Stalls and bandwidth of a frame over time, as a chart of a page."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fixfunc.cosim.figures.counters import STREAMS
from fixfunc.cosim.figures.svg import INK, STYLE, inline
from fixfunc.cosim.time.timeline import Timeline

STALL = "#d9705a"
READ = "#5b7fb8"
WRITE = "#e8a33d"
MARK = "#666"
WIDE = 5  # inches of 72 units: on a phone a unit is a pixel
HIGH = 0.7  # of a panel
MOST_MARKS = 100  # that are drawn
MOST_POINTS = 300  # of a line


def chart(timeline: Timeline) -> str:
    """SVG: a panel for each stall and each port, in percent of the clocks; draws are marked.

    A port that moved nothing has no panel, nor has a stall that never was.
    """
    panels = [
        (
            f"{STREAMS[name][0]} waits for {STREAMS[name][1]}, % of clocks",
            [("stalled", STALL, values)],
        )
        for name, values in timeline.stalls.items()
        if values.any()
    ]
    for port in dict.fromkeys(name.rsplit(".", 1)[0] for name in timeline.moved):
        pair = [timeline.moved[f"{port}.{way}"] for way in ("read", "write")]
        if any(values.any() for values in pair):
            ways = zip(("read", "written"), (READ, WRITE), pair, strict=True)
            panels.append((f"{port}, % of 32 bytes a clock", [*ways]))
    if not panels:
        return ""
    with mpl.rc_context(STYLE):
        figure = Figure((WIDE, HIGH * len(panels) + 0.6))
        axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for panel, (title, lines) in zip(axes, panels, strict=True):
            _panel(panel, timeline, title, lines)
        axes[-1].xaxis.set_major_formatter("{x:,.0f}")
        axes[-1].set_xlabel("clocks; grey: a draw, a clear or a fence begins", color=INK)
        high = figure.get_figheight()
        figure.subplots_adjust(0.08, 0.5 / high, 0.96, 1 - 0.25 / high, hspace=0.8)
        return inline(figure, "stalls and bandwidth over time")


def _panel(axes: Axes, timeline: Timeline, title: str, lines: list) -> None:
    """One stall, or one port: shares of the clocks in percent."""
    step = -(-len(timeline.edges) // MOST_POINTS)
    edges = timeline.edges[::step] - timeline.start
    for label, colour, values in lines:
        padded = np.pad(values.astype(np.float64), (0, -len(values) % step))
        share = 100 * padded.reshape(-1, step).sum(1) / (step * timeline.interval)
        axes.stairs(share, _closed(edges, len(share)), color=colour, label=label, fill=False)
    for mark in _some(timeline.marks):
        axes.axvline(mark.clock - timeline.start, color=MARK, linewidth=0.5, zorder=0)
    axes.set_title(title, color=INK, loc="left", fontsize=9, pad=2)
    axes.set_ylim(0, 105)
    axes.set_yticks([0, 50, 100])
    axes.set_xlim(0, timeline.edges[-1] - timeline.start)
    axes.tick_params(colors=INK, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.patch.set_alpha(0)
    if len(lines) > 1:
        axes.legend(fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 0.95), frameon=False)
        for text in axes.get_legend().get_texts():
            text.set_color(INK)


def _closed(edges, count):
    """Edges of so many bins: where the last bin is a part of one, its end is that of a whole."""
    step = edges[1] - edges[0] if len(edges) > 1 else 1
    return edges[0] + step * np.arange(count + 1)


def _some(marks):
    """Of draws, clears and fences, every n-th where there are many."""
    shown = [mark for mark in marks if mark.words not in ("state", "status")]
    return shown[:: max(1, -(-len(shown) // MOST_MARKS))]
