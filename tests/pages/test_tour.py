# SPDX-License-Identifier: BSD-2-Clause
"""The tour: figures are those of the models, stops have their links, no block is passed by."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from bench.tour.__main__ import FIGURES, FOLDER, picture
from fixfunc.cosim import catalogue
from fixfunc.cosim.toolchain import ROOT

PAGE = ROOT / "docs/guide/tour.md"
MOST = 60 * 1024  # bytes of a figure
STAGES = ("frontend", "tessellation", "geometry", "raster", "depth", "pixel", "texture", "output")


def stops():
    """Text of each stop by its figure."""
    parts = re.split(r"(?m)^## ", PAGE.read_text())[1:]
    return {found[1]: part for part in parts if (found := re.search(r"\(tour/(\w+)\.png\)", part))}


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.plan("tour-1")
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_those_of_the_models(name):
    kept = (FOLDER / f"{name}.png").read_bytes()
    assert len(kept) < MOST
    assert (pixels(kept) == pixels(picture(name))).all(), "python -m bench.tour draws it anew"


@pytest.mark.plan("tour-2")
def test_each_stop_has_its_links():
    assert [*stops()] == [*FIGURES]
    assert {path.stem for path in FOLDER.iterdir()} == {*FIGURES}
    for name, text in stops().items():
        linked = {
            tree: re.findall(rf"\(\.\./\.\./({tree}/[^)]*)\)", text)
            for tree in ("models", "rtl", "tests")
        }
        assert linked["models"] and linked["tests"], name
        assert linked["rtl"] or "RTL: none yet" in text, name
        assert all((ROOT / path).is_file() for paths in linked.values() for path in paths), name


@pytest.mark.plan("tour-2")
def test_the_tour_comes_by_every_block():
    text = PAGE.read_text()
    pages = {path for stage in STAGES for path in (ROOT / "docs" / stage).glob("*.md")}
    assert not [path for path in pages if f"(../{path.parent.name}/{path.name})" not in text]
    for block in catalogue.blocks().values():
        inside = block.component.__module__.removeprefix("fixfunc.").replace(".", "/")
        assert f"(../../{inside}.py)" in text, block.stem
