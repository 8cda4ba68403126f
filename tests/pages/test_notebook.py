# SPDX-License-Identifier: BSD-2-Clause
"""Frames in a notebook: cells of the page, what they show, what devices have drawn, bad input."""

import ast
import base64
import io
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import fixfunc
from fixfunc import d3d11, notebook
from fixfunc.cosim.toolchain import ROOT
from fixfunc.d3d11 import Format, InputError
from fixfunc.spec.errors import MeshError
from tests.host.drawing import WHOLE, Scene
from tests.pages.test_examples import EXAMPLE

PAGE = ROOT / "docs/guide/notebook.md"
HOUSE = ROOT / "examples/data/house.glb"
VOID = {"img"}
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def cells():
    return [code for _, code in EXAMPLE.findall(PAGE.read_text())]


def shown(cell, namespace):
    """Run a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), namespace) if last else None


class Tags(HTMLParser):
    """Tags that are open, text, and sources of pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.sources, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open += [] if tag in VOID else [tag]
        self.sources += [value for name, value in attrs if name == "src"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(frame):
    tags = Tags()
    tags.feed(frame._repr_html_())
    assert not tags.open
    return tags


def picture(tags):
    """The picture of a page, decoded by another program."""
    (source,) = tags.sources
    kind, data = source.split(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


@pytest.mark.plan("notebook-1")
def test_cells_run_as_in_a_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    values = [shown(cell, namespace) for cell in cells()]
    frames = [value for value in values if isinstance(value, fixfunc.Frame)]
    assert len(frames) == 4
    assert all(len(set(map(tuple, frame.picture.reshape(-1, 3)))) > 2 for frame in frames)
    for cell in cells():
        lines = [line for line in cell.splitlines() if line and line[0] != "#"]
        lines = [line for line in lines if line.split()[0] not in ("import", "from")]
        assert len(lines) <= 10, cell
    claimed = [line[2:] for cell in cells() for line in cell.splitlines() if line[:2] == "# "]
    assert claimed == [frames[2].facts]
    assert Image.open("teapot.png").size == (160, 90)


@pytest.mark.plan("notebook-2")
def test_what_a_cell_shows():
    frame = fixfunc.render("teapot", 64, 36)
    tags = parsed(frame)
    assert (picture(tags) == frame.picture).all()
    assert re.search(r"teapot, 64x36, 4x: 4032 triangles, \d+\.\d\d s", tags.text)
    assert f"{frame.counters['samples_passed']:,}" in tags.text
    assert tags.seen[-1] == "td"
    assert tags.seen.index("details") < tags.seen.index("table")
    evil = fixfunc.Frame(frame.picture, '<b>"&', {"<i>": 1})
    tags = parsed(evil)
    assert '<b>"&' in tags.text and "<i>" in tags.text
    assert {"b", "i"}.isdisjoint(tags.seen)


@pytest.mark.plan("notebook-3")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("name", ["R8G8B8A8_UNORM", "B8G8R8A8_UNORM", "R8G8B8A8_UNORM_SRGB"])
def test_what_a_device_has_drawn(name, samples):
    device = fixfunc.Device(1 << 24)
    texture = device.create_texture2d(
        Format[name], 20, 10, sample_count=samples, bind=d3d11.Bind.RENDER_TARGET
    )
    view = device.create_render_target_view(texture)
    device.context.clear_render_target_view(view, (1, 0, 0, 1))
    free = dict(device.heap.taken)
    frame = fixfunc.Frame.of(device, texture)
    assert frame.picture.shape == (10, 20, 3)
    assert (frame.picture == (255, 0, 0)).all()
    assert frame.facts == f"20x10, {samples}x: 0 draws, 0 triangles"
    assert device.heap.taken == free
    assert (picture(parsed(frame)) == frame.picture).all()


@pytest.mark.plan("notebook-3")
def test_reasons_are_shown():
    scene = Scene()
    scene.draw(WHOLE)
    for _ in range(9):
        scene.context.draw(0)
    frame = fixfunc.Frame.of(scene.device, scene.colours)
    reasons = "".join(f"; draw {n}: no primitive is complete" for n in range(1, 6))
    assert frame.facts == f"32x24, 1x: 10 draws, 1 triangles{reasons}"


@pytest.mark.plan("notebook-4")
def test_files(tmp_path):
    house = fixfunc.render(HOUSE, 32, 18, 1)
    assert house.facts == "house, 32x18, 1x: 4 draws, 18 triangles"
    assert house.picture.std() > 10
    path = tmp_path / "one.obj"
    path.write_text(TRIANGLE)
    one = fixfunc.render(str(path), 32, 18, 1)
    assert one.counters["triangles"] == 1
    one.save(tmp_path / "one.png")
    assert (np.asarray(Image.open(tmp_path / "one.png")) == one.picture).all()


@pytest.mark.plan("notebook-4")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: fixfunc.load("none.obj"), "mesh must be a file that exists"),
        (lambda _: fixfunc.load("none.glb"), "be a file that exists"),
        (lambda _: fixfunc.load("none.txt"), "mesh must be 'teapot' or a file"),
        (lambda _: fixfunc.load("teapot", 0), "divisions must lie in 1..64, not 0"),
        (lambda _: fixfunc.load("teapot", 2.5), "divisions must be an integer"),
        (lambda _: fixfunc.load(None), "source must be 'teapot', or a path, not None"),
        (lambda _: fixfunc.render(7), "source must be 'teapot', or a path, not 7"),
        (lambda _: fixfunc.render("teapot", 0, 9), "width must lie in 1..16384"),
        (lambda _: fixfunc.render("teapot", 9, 9, 3), "samples must"),
        (lambda _: fixfunc.render("teapot", 16384, 16384, 8), "size must have at most"),
        (lambda _: fixfunc.render(HOUSE, 16384, 16384, 8), "must"),
        (lambda _: fixfunc.Frame(np.zeros((2, 2, 4), np.uint8)), "picture must be uint8 of shape"),
        (lambda _: fixfunc.Frame(np.zeros((2, 2, 3))), "picture must be uint8 of shape"),
        (lambda _: fixfunc.Frame([[1]]), "picture must be uint8 of shape"),
        (
            lambda folder: fixfunc.Frame(np.zeros((2, 2, 3), np.uint8)).save(folder),
            "output file must be a file",
        ),
        (
            lambda folder: fixfunc.Frame(np.zeros((2, 2, 3), np.uint8)).save(folder / "a/b.png"),
            "output file must lie in a folder that exists",
        ),
    ],
)
def test_bad_input(call, message, tmp_path):
    with pytest.raises(InputError, match=re.escape(message)) as error:
        call(tmp_path)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.plan("notebook-4")
def test_a_file_and_a_texture_that_cannot_be_read(tmp_path):
    path = tmp_path / "broken.glb"
    path.write_bytes(b"glTF")
    with pytest.raises(MeshError):
        fixfunc.load(path)
    device = fixfunc.Device(1 << 24)
    texture = device.create_texture2d(Format.R32_FLOAT, 4, 4)
    with pytest.raises(InputError, match="format of the texture must be one of B8G8R8A8_UNORM,"):
        fixfunc.Frame.of(device, texture)
    theirs = fixfunc.Device(1 << 24).create_texture2d(Format.R8G8B8A8_UNORM, 4, 4)
    with pytest.raises(InputError, match="device"):
        fixfunc.Frame.of(device, theirs)


@pytest.mark.plan("notebook-4")
def test_a_package_that_is_missing(monkeypatch, tmp_path):
    path = tmp_path / "one.obj"
    path.write_text(TRIANGLE)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    monkeypatch.delitem(sys.modules, "fixfunc.cosim.frame.mesh", raising=False)
    monkeypatch.delattr("fixfunc.cosim.frame.mesh", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"^trimesh is missing: type \"pip install"):
        notebook.load(path)


@pytest.mark.plan("notebook-5")
def test_the_import_is_light():
    """Nothing else comes with it; with a device, numpy alone."""
    code = (
        "import sys; before = {*sys.modules}; import fixfunc; "
        "print([n for n in {*sys.modules} - before if n.split('.')[0] in ('numpy', 'rich')]); "
        "fixfunc.Frame.of; fixfunc.Device; from fixfunc import d3d11; "
        "print(sorted({n.split('.')[0] for n in {*sys.modules} - before "
        "if getattr(sys.modules[n], '__file__', None) and 'site-packages' in "
        "sys.modules[n].__file__}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("[]\n['numpy']\n", "")
    assert {"Device", "Frame", "load", "render"} <= {*dir(fixfunc)}
    with pytest.raises(AttributeError, match="has no attribute 'none'"):
        _ = fixfunc.none
