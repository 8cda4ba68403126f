# SPDX-License-Identifier: BSD-2-Clause
"""Folders of pictures as scenes."""

import json

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.scene import pictures
from fixfunc.models.texture import container
from fixfunc.models.texture.texture import bytes_of, create, of_picture
from fixfunc.spec.errors import InputError
from tests.texture.container.test_container import ktx2

COLOURS = {"a": (255, 0, 0), "b": (0, 255, 0), "c": (40, 80, 255), "d": (255, 255, 0)}


def filled(colour, width=8, height=8):
    return np.full((height, width, 4), (*colour, 255), np.uint8)


def folder(tmp_path):
    """A picture of each kind, one of them wide, and three files that cannot be drawn."""
    path = tmp_path / "pictures"
    path.mkdir()
    Image.fromarray(filled(COLOURS["a"])).save(path / "a.png")
    container.write_dds(path / "b.dds", of_picture(filled(COLOURS["b"], 16, 8)))
    (path / "c.ktx2").write_bytes(ktx2(of_picture(filled(COLOURS["c"])), 37))
    Image.fromarray(filled(COLOURS["d"])[..., :3]).save(path / "d.JPG", quality=100)
    (path / "notes.txt").write_text("no picture")
    (path / "broken.png").write_bytes(b"none")
    cube = [np.zeros((6, bytes_of("RGBA8", 4, 4)), np.uint8)]
    container.write_dds(path / "cube.dds", create("RGBA8", 4, 4, cube, faces=6))
    return path


@pytest.mark.plan("scene-files-13")
def test_pictures_lie_in_a_grid(tmp_path, capsys):
    """Two by two of 32 pixels, in the order of names, each with its own proportions."""
    out = tmp_path / "out"
    options = ["--golden", "--size", "64x64", "--samples", "1", "-o", str(out)]
    assert main(["frame", str(folder(tmp_path)), *options]) == 0
    image = np.asarray(Image.open(out / "frame.png")).astype(int)
    for (name, colour), (y, x) in zip(COLOURS.items(), np.ndindex(2, 2), strict=True):
        cell = image[32 * y : 32 * y + 32, 32 * x : 32 * x + 32]
        found = (np.abs(cell - colour) <= 3).all(2)
        half = 14 if name != "b" else 7
        wanted = np.zeros((32, 32), bool)
        wanted[16 - half : 16 + half, 2:30] = True
        assert (found == wanted).all(), name
        assert (cell[~wanted] == (24, 26, 32)).all()
    figures = json.loads((out / "frame.json").read_text())
    names = [line.split(":")[0] for line in figures["left_out"]]
    assert sorted(names) == ["broken.png", "cube.dds", "notes.txt"]
    assert "left out: notes.txt: no picture\n" in capsys.readouterr().out


@pytest.mark.plan("scene-files-13")
def test_the_grid_fills_the_frame(tmp_path):
    for n in range(6):
        Image.new("RGB", (4, 4)).save(tmp_path / f"{n}.png")
    for aspect, columns in ((6.0, 6), (1.5, 3), (1 / 6, 1)):
        scene = pictures.load(tmp_path, aspect)
        assert len({placed.places[0, 0, 3] for placed in scene.placed}) == columns
        corners = np.array([(0, 0, 0, 1), (columns, -(6 // columns), 0, 1)])
        seen = corners @ scene.camera.T
        assert np.allclose(np.abs(seen[:, :2]), 1)


@pytest.mark.plan("scene-files-13")
def test_folders_that_break_a_rule(tmp_path, monkeypatch, capsys):
    out = str(tmp_path / "out")
    path = tmp_path / "empty"
    path.mkdir()
    assert main(["frame", str(path), "--golden", "-o", out]) == 2
    assert "folder must hold a picture .png, .jpg, .jpeg, .dds, .ktx2" in capsys.readouterr().err
    for n in range(3):
        Image.new("RGB", (4, 4)).save(path / f"{n}.png")
    for option, words in (
        (["--camera", "0"], "camera must be one of a file, since a folder has none, not 0"),
        (["--texture", "x.png"], "texture must be of a mesh alone, no scene, not"),
    ):
        assert main(["frame", str(path), "--golden", *option, "-o", out]) == 2
        assert words in capsys.readouterr().err
    monkeypatch.setattr(pictures, "MOST_PICTURES", 2)
    with pytest.raises(InputError, match="folder empty must hold at most 2 pictures, not 3"):
        pictures.load(path, 1.0)
    monkeypatch.setattr(pictures, "MOST_PICTURES", 3)
    monkeypatch.setattr(pictures, "MOST_BYTES", 200)
    with pytest.raises(InputError, match="folder empty must hold at most 200 bytes, not"):
        pictures.load(path, 1.0)
