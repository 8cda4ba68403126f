# SPDX-License-Identifier: BSD-2-Clause
"""The terms of a frame's bound as a chart."""

import matplotlib as mpl
from matplotlib.figure import Figure

from fixfunc.cosim.figures.bound import Term
from fixfunc.cosim.figures.svg import INK, STYLE, inline

BAR = "#5b7fb8"
LARGEST = "#e8a33d"
ROOF = "#f66"
WIDE = 5  # inches of 72 units: on a phone a unit is a pixel


def chart(clocks: int | None, found: list[Term], unit: str = "least clocks") -> str:
    """SVG for a page: a bar a term, the largest marked, and a line at the clocks of the frame.

    Terms may have another unit; the line is the whole's then.
    """
    with mpl.rc_context(STYLE):
        figure = Figure((WIDE, 0.5 * len(found) + 0.7))
        axes = figure.subplots()
        most = max(term.clocks for term in found)
        places = range(len(found))
        colours = [LARGEST if term.clocks == most else BAR for term in found]
        axes.barh(places, [term.clocks for term in found], 0.35, color=colours)
        for place, term in zip(places, found):
            axes.text(0, place - 0.28, f"{term.words}: {term.clocks:,}", color=INK, va="bottom")
        if clocks is not None:
            axes.axvline(clocks, color=ROOF)
        axes.set_xlim(0, 1.02 * max(1, most, clocks or 0))
        axes.set_ylim(len(found) - 0.5, -0.9)
        axes.set_yticks([])
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        of = "the frame's" if "clocks" in unit else "all of it,"
        end = "" if clocks is None else f"; red: {of} {clocks:,}"
        axes.set_xlabel(f"{unit}{end}", color=INK)
        axes.tick_params(colors=INK)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(INK)
        figure.subplots_adjust(0.03, 0.5 / figure.get_figheight(), 0.95, 1)
        return inline(figure, f"{unit} of each term")
