# SPDX-License-Identifier: BSD-2-Clause
"""A frame's report: one HTML file that needs nothing else, of at most ten million bytes."""

import html
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from fixfunc.cosim import files
from fixfunc.cosim.figures import bound, counters, roofline
from fixfunc.cosim.report import overlays
from fixfunc.cosim.report.capture import DRAW_COUNTERS, Capture
from fixfunc.cosim.report.embedding import column, png, script
from fixfunc.cosim.report.history import VISIT
from fixfunc.cosim.report.overlays import Overlay
from fixfunc.cosim.time import charts
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.spec.state import Outcome

FOLDER = Path(__file__).parent
STYLE = Path(counters.__file__).with_name("page.css.in")
MOST = 9_500_000  # characters of a page; parts that have bounds of their own:
MOST_PICTURE = 2_000_000
MOST_OVERLAYS = 3_500_000  # together
MOST_SMALL = 1_000_000  # pictures of draws
MOST_EDGES = 700_000


@dataclass
class Report:
    """What every kind of frame has; what a kind lacks is not on its page."""

    title: str  # text: what is HTML in it is shown, not obeyed
    figures: dict[str, Any]  # as fixfunc.cosim.figures.kept has them
    picture: np.ndarray  # uint8, shape (height, width, 3)
    capture: Capture
    more: dict[str, Overlay] = field(default_factory=dict)  # beside those of the capture, by name
    notes: list[str] = field(default_factory=list)  # sentences
    timeline: Timeline | None = None  # of the hardware


def write(path: Path, report: Report) -> None:
    """Write the page, whole or not at all."""
    figures = report.figures
    found = bound.of_figures(figures)
    stalls = figures.get("stalls", {})
    view = _view(report)
    text = {
        "title": html.escape(report.title),
        "style": STYLE.read_text(),
        "bound": html.escape(bound.sentence(figures.get("clocks"), found, stalls)),
        "notes": "".join(f"<p>{html.escape(note)}</p>" for note in report.notes),
        "roofline": roofline.chart(figures.get("clocks"), found) if found else "",
        "time": charts.chart(report.timeline) if report.timeline else "",
        "rows": script(counters.rows(figures)),
        "figures": script(_shown(figures)),
        "draws": script(_draws(report.capture)),
    }
    for name in ("view", "history", "draws", "tables"):
        text[f"{name}_script"] = (FOLDER / f"{name}.js.in").read_text()
    page = Template((FOLDER / "page.html.in").read_text())
    text["view"] = script(view)
    room = MOST - sum(map(len, text.values()))
    text["visits"] = script(_visits(report.capture, room))
    files.write(path, page.substitute(text))


def _shown(figures):
    """Figures that the script makes tables of."""
    names = "hardware", "stalls", "moved", "rtl", "mismatches", "clocks", "clocks_of_bound"
    names += "memory", "seconds"
    return {name: figures[name] for name in names if name in figures}


def _view(report):
    """Picture and overlays."""
    height, width = report.picture.shape[:2]
    maps = overlays.of_maps(report.capture.maps) | report.more
    room = MOST_OVERLAYS
    picture, step = _fitting(report.picture, MOST_PICTURE)
    coded = {}
    for name, overlay in maps.items():
        coded[name], size = _overlay(overlay, report.capture, room // (len(maps) - len(coded)))
        room -= size
    return {
        "size": [width, height],
        "picture": picture,
        "step": step,
        "overlays": coded,
        "edges": _edges(report.capture),
    }


def _fitting(picture, room):
    """A picture as text, and of how many pixels it has one, in x and in y: as fit."""
    step = 1
    while len(text := png(picture[::step, ::step])) > room:
        step *= 2
    return text, step


def _overlay(overlay, capture, room):
    """An overlay in the room that it may take, and what it takes; its first row is at ``top``."""
    while True:
        coded = {
            "title": overlay.title,
            "unit": overlay.unit,
            "cell": overlay.cell,
            "shape": overlay.colours.shape[:2],
            "top": 0,
            "legend": [it._asdict() for it in overlay.legend],
            "names": overlay.names,
            "picture": png(overlay.colours[::-1] if capture.turned else overlay.colours),
            "values": {name: column(_turned(it, capture)) for name, it in overlay.values.items()},
        }
        if capture.turned:
            coded["top"] = capture.size[1] - overlay.cell[1] * len(overlay.colours)
        size = len(script(coded))
        if size <= room:
            return coded, size
        overlay = overlay.thinned()


def _turned(values, capture):
    """As the picture shows them, in as few bytes as they need."""
    values = values[::-1] if capture.turned else values
    if values.dtype == np.float32:
        return values
    most = int(values.max(initial=0))
    return values.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32)


def _edges(capture):
    """Edges of triangles, as many as there is room for, and how many are left out."""
    edges = capture.edges
    total = capture.covering
    step = 1
    while True:
        coded = column(edges[::step].T)
        if len(coded["data"]) <= MOST_EDGES:
            return {"corners": coded, "left_out": total - len(edges[::step])}
        step *= 2


def _draws(capture):
    """Draws, their states once each, and pictures of as many as there is room for."""
    pictures = [png(it) for it in capture.pictures]
    step = 1
    pictured = [draw for draw in capture.draws if draw.after is not None]
    while sum(len(pictures[n]) for n in _numbers(pictured[::step])) > MOST_SMALL:
        step *= 2
    kept = {draw.number for draw in pictured[::step]}
    used = _numbers(pictured[::step])
    states = []
    rows = []
    for draw in capture.draws:
        if draw.state not in states:
            states.append(draw.state)
        ends = [used.index(n) for n in (draw.before, draw.after)] if draw.number in kept else None
        numbers = [draw.counters[name] for name in ("triangles", *DRAW_COUNTERS)]
        rows.append([draw.what, states.index(draw.state), numbers, ends])
    return {
        "every": capture.every * step,
        "counters": ["triangles", *DRAW_COUNTERS],
        "states": states,
        "rows": rows,
        "pictures": [pictures[n] for n in used],
    }


def _numbers(draws):
    """Of the pictures of draws, once each."""
    return sorted({n for draw in draws for n in (draw.before, draw.after)})


def _visits(capture, room):
    """The history of pixels."""
    history = capture.history
    columns = history.coded(room - 10_000)
    return {
        "columns": [[name, columns[name]] for name in VISIT.names],
        "step": history.step,
        "turned": capture.turned,
        "named": capture.pixels,
        "samples": history.samples,
        "outcomes": {it.name: int(it) for it in Outcome},
    }
