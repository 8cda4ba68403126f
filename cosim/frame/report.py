# SPDX-License-Identifier: BSD-2-Clause
"""A frame's report: one HTML file that needs nothing else."""

import base64
import html
import io
import json
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from PIL import Image

from fixfunc.cosim import files
from fixfunc.cosim.figures import bound, counters, roofline
from fixfunc.cosim.frame import maps
from fixfunc.models.scene.render import Frame
from fixfunc.spec.state import Outcome, TileMode

PAGE = Path(__file__).with_name("report.html.in")
STYLE = Path(counters.__file__).with_name("page.css.in")
MODES = '<label><input type="radio" name="map" value="modes"> depths in memory</label>'


def write(
    path: Path, title: str, frame: Frame, coded: np.ndarray | None, figures: dict[str, Any]
) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
    title : str
        Text: what is HTML in it is shown, not obeyed.
    frame : fixfunc.models.scene.render.Frame
        ``colour`` and ``outcome`` as the hardware gave them.
    coded : ndarray of uint8, optional
        :class:`~fixfunc.spec.state.TileMode` of every tile, row by row; None of a golden frame.
    figures : dict
        As in ``frame.json``.
    """
    png = io.BytesIO()
    Image.fromarray(frame.colour).save(png, "png")
    wide, high = maps.tile_size(frame)
    pictures = {
        "triangles": maps.triangles(frame),
        "hiz": maps.outcomes(frame),
    }
    if coded is not None:
        pictures["modes"] = maps.modes(frame, coded)
    colours = {
        name: (image[::high, ::wide].astype(int) @ (1 << 16, 1 << 8, 1)).ravel().tolist()
        for name, image in pictures.items()
    }
    height, width = frame.colour.shape[:2]
    tiles = {
        "columns": -(-width // wide),
        "rows": -(-height // high),
        "colours": colours,
        "triangles": maps.count(frame, frame.tiles).ravel().tolist(),
        "outcomes": [outcome.name.lower() for outcome in Outcome],
        "hiz": [
            maps.count(frame, frame.tiles[frame.outcome == outcome]).ravel().tolist()
            for outcome in Outcome
        ],
        "modes": None if coded is None else np.asarray(coded).tolist(),
        "names": {int(mode): mode.name.lower() for mode in TileMode},
    }
    found = bound.of_figures(figures)
    text = Template(PAGE.read_text()).substitute(
        title=html.escape(title),
        picture=base64.b64encode(png.getvalue()).decode(),
        style=STYLE.read_text(),
        bound=html.escape(bound.sentence(figures.get("clocks"), found, figures.get("stalls", {}))),
        roofline=roofline.chart(figures.get("clocks"), found),
        modes="" if coded is None else MODES,
        rows=_embedded(counters.rows(figures)),
        figures=_embedded(figures),
        tiles=_embedded(tiles),
    )
    files.write(path, text)


def _embedded(data):
    """JSON that no tag can end."""
    return json.dumps(data).replace("<", "\\u003c")
