# SPDX-License-Identifier: BSD-2-Clause
"""What a page is made of: maps, draws, pictures, edges, and how large it may become."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.report import overlays, page
from fixfunc.cosim.report.capture import MOST_PICTURED, Capture
from fixfunc.cosim.report.embedding import column
from fixfunc.cosim.report.history import VISIT
from fixfunc.cosim.scene import gltf
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.spec.state import Outcome
from tests.cosim.report import frames
from tests.cosim.report.program import Small

KINDS = {"Uint8Array": "u1", "Uint16Array": "u2", "Uint32Array": "u4", "Int32Array": "i4"}
KINDS |= {"Float32Array": "f4"}


def unpacked(coded):
    """A column, as a browser reads it."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(coded["data"])), np.uint8)
    kind = np.dtype(KINDS[coded["type"]])
    values = np.ascontiguousarray(planes.reshape(kind.itemsize, -1).T).view(kind).ravel()
    return np.cumsum(values, dtype=kind) if coded["differences"] else values


def data(path, name):
    """JSON of a page."""
    text = re.search(rf'id="{name}">(.*?)</script>', path.read_text(), re.DOTALL)[1]
    return json.loads(text)


@pytest.mark.plan("report-3")
@pytest.mark.parametrize(("samples", "wide", "high"), [(1, 1, 1), (2, 1, 2), (4, 2, 2), (8, 2, 4)])
def test_maps_are_counted(samples, wide, high):
    """Lane by lane; a pixel has so many columns and rows of lanes."""
    capture = Capture(70, 46, samples)
    with capture.draw("teapot", "triangle list"):
        frame = render(Scene(*mesh.teapot(2), 70, 46, samples), probe=capture)
    maps = capture.maps
    triangles = np.zeros_like(maps.triangles)
    overdraw = np.zeros((64, 96), int)
    shading = np.zeros((32, 48), int)
    helpers = 0
    for tile, passed in zip(frame.tiles, frame.passed, strict=True):
        triangles[tile["y"], tile["x"]] += 1
        left, top = int(tile["x"]) * 8 // wide, int(tile["y"]) * 8 // high
        lanes = np.argwhere(passed)
        pixels = {(top + int(j) // high, left + int(i) // wide) for j, i in lanes}
        for pixel in pixels:
            overdraw[pixel] += 1
        for y, x in (quads := {(y // 2, x // 2) for y, x in pixels}):
            shading[y, x] += 1
        helpers += 4 * len(quads) - len(pixels)
    assert (maps.triangles == triangles).all() and triangles.max() > 3
    assert (maps.overdraw == overdraw[:46, :70]).all() and overdraw.max() > 1
    rows, columns = maps.overshading.shape
    assert (maps.overshading == shading[:rows, :columns]).all() and shading.max() > 1
    for outcome in Outcome:
        assert maps.outcomes[outcome].sum() == (frame.outcome == outcome).sum()
    counters = capture.draws[0].counters
    assert (counters["pixels_shaded"], counters["helpers"]) == (overdraw.sum(), helpers)
    assert counters["quads"] == shading.sum()
    for name in ("tiles", "samples_covered", "samples_passed", "hiz_drop", "triangles"):
        assert counters[name] == frame.counters[name], name


@pytest.mark.plan("report-3")
def test_edges_are_those_of_triangles_that_cover():
    """Corners where a viewport puts them [fs 15.6]; a target whose rows are bottom up turns y."""
    program = Small()
    program.draw(0.5, (1, 0, 0, 1))
    assert program.capture.edges.tolist() == [[0, 0, 24 * 256, 0, 0, 20 * 256]]
    program.capture.turned = True
    assert program.capture.edges.tolist() == [[0, 2560, 24 * 256, 2560, 0, -2560]]


@pytest.mark.plan("report-4")
def test_draws_of_a_scene_have_states_and_pictures(tmp_path):
    """Each begins with what the one before has left; the last leaves the frame."""
    scene = gltf.load(frames.scene_file(tmp_path / "s.glb"), 1.5)
    capture = Capture(60, 40, 1)
    image = Drawing(scene, 60, 40, 1, capture).draw()
    wall, front, glass = capture.draws
    assert "'wall'" in wall.what and "nodes[1]" in front.what
    assert wall.state["depth"] == "less, written" and glass.state["depth"] == "less, not written"
    assert wall.state["blend"] == "off"
    over = "source * src alpha + target * inv src alpha"
    assert glass.state["blend"].startswith(over)
    assert wall.state["cull"] == "back; counter-clockwise is front"
    assert [it.counters["triangles"] for it in capture.draws] == [2, 2, 2]
    assert wall.after == front.before and front.after == glass.before
    assert (capture.pictures[wall.before] == np.rint([24, 26, 32])).all()
    assert (capture.pictures[glass.after] == image).all()
    assert (capture.pictures[front.after] != image).any()
    assert np.isfinite(capture.levels).any() and not np.isfinite(capture.levels).all()


@pytest.mark.plan("report-4")
def test_pictures_are_taken_of_some_of_many_draws():
    program = Small()
    program.capture.expect(2 * MOST_PICTURED + 1)
    for n in range(7):
        program.draw(0.9 - n / 10, (n % 2, 0, 0, 1))
    pictured = [draw.number for draw in program.capture.draws if draw.after is not None]
    assert program.capture.every == 3 and pictured == [0, 3, 6]
    before = program.capture.pictures[program.capture.draws[3].before]
    assert (before == (0, 0, 0)).all()  # draw 2 has left it


@pytest.mark.plan("report-2")
def test_a_page_has_at_most_ten_million_bytes(tmp_path):
    """Of noise, which nothing makes smaller: each part says what is left of it."""
    rng = np.random.default_rng(7)
    width, height = 1024, 768
    capture = Capture(width, height, 1, [(3, 5)])
    picture = rng.integers(0, 256, (height, width, 3), np.uint8)
    capture.expect(200)
    capture.fill(picture)
    for number in range(200):
        with capture.draw(f"draw {number}", "triangle list"):
            capture.fill(rng.integers(0, 256, picture.shape, np.uint8))
    capture.maps._overdraw[:] = rng.integers(0, 1 << 20, capture.maps._overdraw.shape)
    capture.maps.overshading[:] = rng.integers(0, 1 << 20, capture.maps.overshading.shape)
    edges = rng.integers(-(1 << 20), 1 << 20, (1 << 16, 6))
    capture._edges.append(edges.astype(np.int32))
    capture.covering = 100_000
    visits = np.frombuffer(rng.bytes(VISIT.itemsize << 19), VISIT).copy()
    visits["pixel"] = rng.integers(0, width * height, len(visits))
    capture.history._kept.append(visits)
    figures = {"title": "noise", "counters": {"triangles": 9, "tiles": 9}}
    more = {"depth": overlays.depths(rng.random((height, width)).astype(np.float32))}
    path = tmp_path / "frame.html"
    page.write(path, page.Report("noise", figures, picture, capture, more))
    assert 5_000_000 < path.stat().st_size <= 10_000_000
    view, drawn, told = (data(path, name) for name in ("view", "drawn", "told"))
    assert view["step"] > 1 and view["overlays"]["overdraw"]["cell"][0] > 1
    kept = len(unpacked(view["edges"]["corners"])) // 6
    assert view["edges"]["left_out"] == 100_000 - kept > 50_000
    pictured = [number for number, row in enumerate(drawn["rows"]) if row[3] is not None]
    assert pictured == list(range(0, 200, drawn["every"])) and drawn["every"] > 9
    pixels = unpacked(dict(told["columns"])["pixel"])
    named = (visits["pixel"] == 5 * width + 3).sum()
    assert told["step"] > 1 and (pixels == 5 * width + 3).sum() == named
    others = pixels[pixels != 5 * width + 3]
    assert len(others) > 1000
    assert not (others % width % told["step"]).any() and not (others // width % told["step"]).any()


@pytest.mark.plan("report-2")
@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "i4", "f4"])
def test_columns_are_read_as_they_were(kind):
    rng = np.random.default_rng(1)
    values = np.frombuffer(rng.bytes(400), kind)
    assert unpacked(column(values)).tobytes() == values.tobytes()
    if kind != "f4":
        assert (unpacked(column(values, differences=True)) == values).all()
    assert len(unpacked(column(values[:0]))) == 0


@pytest.mark.plan("report-5")
@pytest.mark.parametrize(
    ("pixel", "rule"),
    [
        ("160,0", "pixel must lie within 160x90, not 160,0"),
        ("0,-1", "pixel must be X,Y, not 0,-1"),
        ("1", "pixel must be X,Y, not 1"),
        ("1,2,3", "pixel must be X,Y, not 1,2,3"),
        ("a,b", "pixel must be X,Y, not a,b"),
    ],
)
def test_pixels_that_there_are_not(pixel, rule, tmp_path, capsys):
    """One line, and nothing is written: of a mesh, and of a scene."""
    scene = str(frames.scene_file(tmp_path / "s.glb"))
    out = tmp_path / "out"
    for source in ("teapot", scene):
        options = ["--golden", "--size", "160x90", f"--pixel={pixel}", "-o", str(out)]
        assert main(["frame", source, *options]) == 2
        assert capsys.readouterr().err == f"fixfunc: {rule}\n"
        assert not out.exists()


@pytest.mark.plan("report-3")
def test_overlays_are_pictures_of_their_cells(tmp_path):
    """``tiles.png`` and ``hiz.png`` have a colour a pixel."""
    options = ["--golden", "--size", "70x46", "--divisions", "2", "-o", str(tmp_path)]
    assert main(["frame", "teapot", *options]) == 0
    view = data(tmp_path / "frame.html", "view")
    assert list(view["overlays"]) == ["triangles", "overdraw", "overshading", "hiz", "depth"]
    for name, overlay in (("tiles", "triangles"), ("hiz", "hiz")):
        image = np.asarray(Image.open(tmp_path / f"{name}.png"))
        assert image.shape == (46, 70, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) > 3
        values = sum(unpacked(it) for it in view["overlays"][overlay]["values"].values())
        values = values.reshape(view["overlays"][overlay]["shape"])
        spread = values.repeat(4, 0).repeat(4, 1)[:46, :70]
        assert ((image != image[0, 0]).any(2) == (spread > 0)).all()
