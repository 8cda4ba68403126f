# SPDX-License-Identifier: BSD-2-Clause
"""What has been explored as one HTML file that needs nothing else."""

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from fixfunc.cosim.explore import charts
from fixfunc.cosim.explore.explore import Explored, Row
from fixfunc.cosim.explore.subject import Subject
from fixfunc.cosim.figures import roofline

PAGE = Path(__file__).with_name("explore.html.in")
STYLE = Path(__file__).parents[1] / "figures/page.css.in"


def page(subject: Subject, found: Explored) -> str:
    """HTML: configurations, what bounds each, and what a parameter does, by a slider and in rows.

    Sliders show rows that are in the page; without scripts the same rows are below each.
    """
    parts = {
        parameter: [row for row in found.changed if row.parameter == parameter]
        for parameter in dict.fromkeys(row.parameter for row in found.changed)
    }
    return Template(PAGE.read_text()).substitute(
        title=html.escape(subject.title),
        style=STYLE.read_text(),
        rows=_head(["", *(row.configuration for row in found.rows)])
        + "".join(map(_line, zip(subject.columns.values(), *map(cells, found.rows), strict=True))),
        unit=html.escape(subject.unit),
        rooflines="".join(_roofline(subject, row) for row in found.rows),
        what_if="".join(_what_if(subject, name, rows) for name, rows in parts.items()),
        present=_present(found.present),
        data=_data(subject, found, parts),
    )


def cells(row: Row) -> list[str]:
    """Numbers of a row, as text."""
    return [_text(value) for value in row.numbers.values.values()]


def _text(value):
    return value if isinstance(value, str) else f"{value:,}"


def share(subject: Subject, row: Row, rows: Iterable[Row]) -> str:
    """What a changed parameter does to the measure of its configuration."""
    before = next(it for it in rows if it.configuration == row.configuration)
    old, new = (it.numbers.values[subject.measure] for it in (before, row))
    return f"{new / old - 1:+.1%}" if old else ""


def _told(subject, changed, rows):
    """Lines of a slider's table: words, then a cell a configuration."""
    shares = [share(subject, row, rows) for row in changed]
    numbers = zip(subject.columns.values(), *map(cells, changed), strict=True)
    return [[f"change of {subject.measure}", *shares], *map(list, numbers)]


def _head(names):
    first, *others = map(html.escape, names)
    return f"<tr><th>{first}</th>" + "".join(f'<th class="n">{it}</th>' for it in others) + "</tr>"


def _line(texts):
    first, *others = map(html.escape, texts)
    return f"<tr><td>{first}</td>" + "".join(f'<td class="n">{it}</td>' for it in others) + "</tr>"


def _roofline(subject, row):
    terms = row.numbers.terms
    if not terms:
        return ""
    chart = roofline.chart(row.numbers.roof, terms, subject.unit)
    return f"<div><h3>{html.escape(row.configuration)}</h3>{chart}</div>"


def _what_if(subject, parameter, rows):
    name = html.escape(parameter)
    last = len(dict.fromkeys(row.value for row in rows)) - 1
    head = _head(["", *dict.fromkeys(row.configuration for row in rows)])
    lines = "".join(_line([row.value, row.configuration, *cells(row)]) for row in rows)
    every = _head([parameter, "configuration", *subject.columns]) + lines
    return (
        f"<section><h3>{name}</h3>{charts.chart(parameter, subject.measure, rows)}"
        f'<label>{name} <input type="range" min="0" max="{last}" value="0" '
        f'data-parameter="{name}"><output></output></label>'
        f'<div class="wide"><table><thead>{head}</thead><tbody class="now"></tbody></table></div>'
        f'<details><summary>all of its rows</summary><div class="wide"><table>{every}</table></div>'
        "</details></section>"
    )


def _present(present):
    names = list(next(iter(present.values())))
    head = _head(["parameter", *present])
    return head + "".join(_line([name, *(it[name] for it in present.values())]) for name in names)


def _data(subject: Subject, found: Explored, parts: dict[str, Sequence[Row]]) -> str:
    """Rows by parameter and value, as JSON within a page."""
    out = {}
    for parameter, rows in parts.items():
        values = list(dict.fromkeys(row.value for row in rows))
        own = [[row for row in rows if row.value == value] for value in values]
        told = [_told(subject, changed, found.rows) for changed in own]
        out[parameter] = {"values": values, "rows": told}
    return json.dumps(out).replace("<", "\\u003c")
