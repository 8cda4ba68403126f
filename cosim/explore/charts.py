# SPDX-License-Identifier: BSD-2-Clause
"""Charts of the page: what a parameter does to the measure."""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from fixfunc.cosim.explore.explore import Row
from fixfunc.cosim.figures.svg import INK, STYLE, inline

SIZE = 5, 2.6  # inches of 72 units: on a phone a unit is a pixel


def chart(parameter: str, measure: str, rows: Sequence[Row]) -> str:
    """SVG: the measure over a parameter's values, in their order, a line a configuration."""
    values = list(dict.fromkeys(row.value for row in rows))
    with mpl.rc_context(STYLE):
        figure = Figure(SIZE, layout="constrained")
        axes = figure.subplots()
        for name in dict.fromkeys(row.configuration for row in rows):
            own = [row for row in rows if row.configuration == name]
            places = [values.index(row.value) for row in own]
            axes.plot(places, [row.numbers.values[measure] for row in own], "o-", label=name)
        axes.set_xticks(range(len(values)), values)
        axes.set_xlabel(parameter, color=INK)
        axes.set_ylabel(measure, color=INK)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.6g}")
        axes.tick_params(colors=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(INK)
        axes.legend(fontsize=8, labelcolor=INK, frameon=False)
        return inline(figure, f"{measure} over {parameter}")
