# SPDX-License-Identifier: BSD-2-Clause
"""Two results that were kept, compared."""

import json
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.figures import compare, kept
from fixfunc.cosim.figures.kept import Kept
from tests.cosim.figures import frames

FIGURES = {
    "title": "ball",
    "counters": {"triangles": 9, "tiles": 10, "faces": 12},
    "hardware": {"triangles": 9, "tiles": 10, "clocks": 100, "stall_setup": 40},
    "clocks": 100,
    "moved": [["depth", "fill", "RAW", 1, 192], ["depth", "table_fill", "", 1, 32]],
}


def changed(**more):
    """A result without a picture, some figures of which are others."""
    return Kept("ball", FIGURES | more, None)


def test_what_is_the_same_is_left_out():
    assert compare.differences(changed(), changed()) == []
    assert compare.sentences(changed(), changed())[0] == "Both frames take 100 clocks."


def test_the_heaviest_comes_first():
    """Weight is of the largest number of the same unit, so that units do not drown each other."""
    hardware = {"triangles": 9, "tiles": 7, "clocks": 400, "stall_setup": 60}
    moved = [["depth", "fill", "RAW", 1, 192], ["colour", "write_back", "RAW", 1, 256]]
    other = changed(hardware=hardware, clocks=400, moved=moved)
    found = compare.differences(changed(), other)
    assert [(it.words.words, it.first, it.second, it.weight) for it in found] == [
        ("colour written", None, 256, 1),
        ("clocks of the frame", 100, 400, 0.75),
        ("tiles rasterized", 10, 7, 0.3),
        ("depth read", 224, 192, 0.125),
        ("a beat waited before tile rasterizer", 40, 60, 0.05),
    ]
    first = "The second frame takes 400 clocks, the first 100: 4.000 times as many."
    assert compare.sentences(changed(), other)[0] == first


def test_a_golden_frame_beside_one_of_the_hardware():
    """Numbers that both have are compared; clocks are of one alone."""
    golden = {"title": "ball", "counters": {"triangles": 9, "tiles": 11, "faces": 12}}
    found = compare.differences(changed(), Kept("ball", golden, None))
    values = {it.words.words: (it.first, it.second) for it in found}
    assert values["tiles rasterized"] == (10, 11)
    assert values["clocks of the frame"] == (100, None)
    assert "triangles into setup" not in values
    assert "Clocks are not compared" in compare.sentences(changed(), Kept("", golden, None))[0]


def test_pictures():
    one = np.zeros((2, 3, 3), np.uint8)
    other = one.copy()
    assert compare.pictures(one, other) == "The pictures are the same, all 6 pixels."
    other[1, 2] = 0, 200, 5
    other[0, 0] = 255, 0, 0
    assert compare.pictures(one, other) == "2 of 6 pixels differ, by 255 of 255 at most."
    assert compare.pictures(other, one) == compare.pictures(one, other)
    red = (compare.marked(one, other) == (255, 60, 60)).all(2)
    assert red.tolist() == [[True, False, False], [False, False, True]]
    assert compare.pictures(one, one[:1]).endswith("their sizes are 3x2 and 3x1.")
    assert compare.pictures(one, None).endswith("one of the frames has none.")


def test_folders_and_files_are_results(tmp_path, capsys):
    """Of golden frames, and of the hardware's; names in them are text."""
    first = frames.golden(tmp_path / "first")
    second = frames.counted(tmp_path / "second")
    figures = json.loads((second / "frame.json").read_text())
    figures["title"] = "<script>alert(1)</script>"
    (second / "frame.json").write_text(json.dumps(figures))
    page = tmp_path / "compare.html"
    assert main(["compare", str(first), str(second / "frame.json"), "-o", str(page)]) == 0
    said = capsys.readouterr().out
    assert "30,000" in said
    assert "The pictures are the same, all 14,400 pixels." in said
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert text.count('src="data:image/png;base64,') == 3
    assert "http" not in text


def test_frames_of_one_name_are_told_apart_by_their_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        frames.golden(tmp_path / name)
    title = json.loads((tmp_path / "first" / "frame.json").read_text())["title"]
    assert main(["compare", "first", "second"]) == 0
    page = (tmp_path / "compare.html").read_text()
    assert f"{title} of first and {title} of second" in page


def test_pillow_s_own_limit_is_no_limit_of_frames(tmp_path, monkeypatch):
    """Of pictures that a golden frame may be."""
    frames.golden(tmp_path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 16)
    assert kept.read(tmp_path).picture.shape == (90, 160, 3)
    assert Image.MAX_IMAGE_PIXELS == 16


def test_a_recorded_frame_is_a_result(tmp_path):
    run = {"lists": 1, "clocks": 300, "counters": {"clocks": 300, "tiles": 4}}
    recorded = {
        "kind": "recorded",
        "title": "gears, frame 10",
        "counters": {"triangles": 7, "samples_passed": 5},
        "draws": [],
        "hardware": {"near": run, "far": {}},
    }
    (tmp_path / "frame.json").write_text(json.dumps(recorded))
    read = kept.read(tmp_path)
    assert read.title == "gears, frame 10"
    assert read.figures["counters"] == {"triangles": 7, "samples_passed": 5}
    assert read.figures["hardware"] == {"clocks": 300, "tiles": 4}
    assert read.figures["clocks"] == 300
    assert read.picture is None
    (tmp_path / "frame.json").write_text(json.dumps(recorded | {"hardware": {}}))
    assert "hardware" not in kept.read(tmp_path).figures


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (None, "be a folder with frame.json, or such a file"),
        ("", "be JSON"),
        ("\xff", "be JSON"),
        ("{", "be JSON"),
        ("[" * 100_000, "be JSON"),
        ("[]", "hold the figures of a frame"),
        ("{}", "hold the figures of a frame"),
        ('{"title": "x", "counters": {"tiles": "9"}}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {"tiles": null}}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {}, "hardware": []}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {}, "clocks": "9"}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {}, "stalls": {"setup": "9"}}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {}, "moved": [[1]]}', "hold the figures of a frame"),
        ('{"title": "x", "counters": {}, "memory": 1}', "hold the figures of a frame"),
        ('{"kind": "scene", "title": "x"}', "hold the figures of a frame"),
        (
            '{"kind": "scene", "title": "x", "counters": {}, "hardware": {"near": {}}}',
            "hold the figures of a frame",
        ),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_files_that_are_no_results(text, rule, place, tmp_path, capsys):
    """Each is one line that names the file, and nothing is written."""
    good = tmp_path / "good"
    good.mkdir()
    (good / "frame.json").write_text(json.dumps(FIGURES))
    bad = tmp_path / "bad"
    bad.mkdir()
    if text is not None:
        (bad / "frame.json").write_bytes(text.encode("latin-1"))
    paths = [str(good), str(good)]
    paths[place] = str(bad)
    page = tmp_path / "compare.html"
    assert main(["compare", *paths, "-o", str(page)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: result must {rule}, not {bad}")
    assert error.count("\n") == 1
    assert not page.exists()


def chunk(kind, data):
    """A part of a PNG."""
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0))
HUGE = b"\x89PNG\r\n\x1a\n" + HEADER + chunk(b"IDAT", b"")


@pytest.mark.parametrize("data", [b"", b"no picture", HUGE], ids=["empty", "text", "huge"])
def test_a_picture_that_is_none(data, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "frame.json").write_text(json.dumps(FIGURES))
    (tmp_path / "frame.png").write_bytes(data)
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
    assert "picture must be one that can be read" in capsys.readouterr().err
    data = tmp_path / "frame.png"
    Image.new("L", (4, 3), 7).save(data)
    assert kept.read(tmp_path).picture.shape == (3, 4, 3)


def test_a_frame_of_no_terms_is_bound_by_nothing(tmp_path, capsys):
    """A result may lack all counters that a bound is made of."""
    (tmp_path / "frame.json").write_text('{"title": "x", "counters": {}}')
    page = tmp_path / "compare.html"
    assert main(["compare", str(tmp_path), str(tmp_path), "-o", str(page)]) == 0
    assert "Nothing that it counts takes a clock." in capsys.readouterr().out
