# SPDX-License-Identifier: BSD-2-Clause
"""Files of recorded frames: every number is checked, and nothing is read beyond what there is."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import file
from fixfunc.cosim.recorded.frame import ARRAYS
from fixfunc.spec.errors import InputError
from tests.cosim.record.files import check_fields, check_named, saved
from tests.cosim.record.program import Program, drawn, noise, recorded


@pytest.fixture(scope="module")
def frame():
    """Two surfaces, contents, clears and draws."""
    gl = Program()
    gl.swap()
    gl.glEnable(T.DEPTH_TEST)
    gl.triangle(noise(3))
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.triangle(noise(3, 2))
    gl.triangle(noise(3), mode=T.LINES)
    return recorded(gl)


@pytest.mark.plan("record-8")
def test_what_is_written_is_read(tmp_path, frame):
    found = file.read(saved(tmp_path, frame))
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(frame, name)), name
    assert (found.program, found.number, found.refused) == ("a program", 2, frame.refused)
    assert len(frame.refused) == 1 and len(frame.draws) == 2


@pytest.mark.plan("record-8")
def test_a_frame_may_be_empty(tmp_path):
    """Of what is left out alone, or of nothing at all."""
    for corners in (noise(3), []):
        gl = Program()
        gl.swap()
        gl.triangle(corners, mode=T.LINES)
        found = file.read(saved(tmp_path, recorded(gl)))
        assert not len(found.events) and len(found.refused) == 1
        made = drawn(found)
        assert not made.surfaces and not made.passed


# A field of a row, another value, and what the error says.
WRONG = {
    ("surfaces", "form"): (30, "a format of targets"),
    ("surfaces", "width"): (0, "1 to 16384"),
    ("surfaces", "height"): (16385, "1 to 16384"),
    ("contents", "surface"): (2, "0 to 1"),
    ("contents", "first"): (1 << 40, "leave room"),
    ("texels", "depth"): (1 << 24, "have the bits"),
    ("clears", "surface"): (2, "0 to 1"),
    ("clears", "form"): (10, "family"),
    ("clears", "planes"): (4, "1 to 3"),
    ("clears", "colour"): (np.nan, "finite"),
    ("clears", "depth"): (1.5, "0 to 1"),
    ("draws", "colour"): (1, "surface of colours"),
    ("draws", "depth"): (-2, "-1 to 1"),
    ("draws", "form"): (87, "family"),
    ("draws", "viewport"): (np.inf, "finite"),
    ("draws", "cull"): (3, "NONE"),
    ("draws", "depth_func"): (8, "ALWAYS"),
    ("draws", "alpha_func"): (8, "ALWAYS"),
    ("draws", "alpha_ref"): (np.nan, "finite"),
    ("draws", "slope_scaled_depth_bias"): (np.inf, "finite"),
    ("draws", "depth_bias_clamp"): (np.nan, "finite"),
    ("draws", "blend_factor"): (np.nan, "finite"),
    ("draws", "front_face"): ((8, 0, 0, 0), "KEEP"),
    ("draws", "back_face"): ((0, 0, 0, 8), "NEVER"),
    ("draws", "blend"): ((16, 1, 1, 1, 1, 1), "one source"),
    ("draws", "write_mask"): (16, "0 to 15"),
    ("draws", "first_vertex"): (1 << 63, "leave room"),
    ("draws", "vertices"): (4, "three a triangle"),
    ("draws", "first_fragment"): ((1 << 64) - 1, "leave room"),
    ("draws", "fragments"): ((1 << 32) - 1, "leave room"),
    ("fragments", "x"): (64, "below 64"),
    ("fragments", "y"): (48, "below 48"),
    ("fragments", "depth"): (np.nan, "0 to 1"),
    ("events", "kind"): (4, "CLEAR"),
    ("events", "number"): (9, "below"),
}


@pytest.mark.plan("record-8")
@pytest.mark.parametrize("place", WRONG, ids=".".join)
def test_a_number_out_of_range_is_named(tmp_path, frame, place):
    check_named(tmp_path, frame, place, *WRONG[place])


@pytest.mark.plan("record-8")
def test_every_field_is_checked_or_may_be_anything():
    free = {
        *("call", "scissor", "front_counter_clockwise", "depth_clip", "zero_to_one", "depth_bias"),
        *("depth_enable", "depth_write", "stencil_enable", "stencil_read_mask", "passed"),
        *("stencil_write_mask", "stencil_ref", "blend_enable", "discards", "shader_depth"),
        *("stencil", "order", "colour"),
    }
    check_fields(ARRAYS, WRONG, free)


@pytest.mark.plan("record-8")
def test_draws_are_drawn_once_in_order(tmp_path, frame):
    events = frame.events[::-1].copy()
    with pytest.raises(InputError, match="some.npz: events must draw each draw once, in order"):
        file.read(saved(tmp_path, replace(frame, events=events)))


@pytest.mark.plan("record-8")
def test_a_file_that_is_cut_off_is_refused(tmp_path, frame):
    path = saved(tmp_path, frame)
    data = path.read_bytes()
    for size in [*range(0, len(data), len(data) // 40), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(InputError, match=r"some\.npz"):
            file.read(path)


@pytest.mark.plan("record-8")
def test_bits_that_fall_over_are_an_error_or_another_frame(tmp_path, frame):
    """Never anything else."""
    path = saved(tmp_path, frame)
    data = np.frombuffer(path.read_bytes(), np.uint8)
    rng = np.random.default_rng(8)
    refused = 0
    for _ in range(300):
        wrong = data.copy()
        wrong[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(wrong.tobytes())
        try:
            file.read(path)
        except InputError as error:
            refused += 1
            assert "some.npz" in str(error)
    assert refused > 200


def members(frame):
    """Arrays of a file by name, as NumPy reads them."""
    with np.load(io.BytesIO(file.write(frame))) as found:
        return dict(found)


def header(shape, kind="'<f4'"):
    """An array's header that says what it likes."""
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.plan("record-8")
def test_arrays_are_those_of_the_format(tmp_path, frame):
    path = tmp_path / "some.npz"
    arrays = members(frame)
    for change, text in (
        ({"version": np.uint32(3)}, "version must be 1 or 2, not 3"),
        ({"version": np.int64(1)}, "type of version must be uint32"),
        ({"more": np.zeros(1)}, "arrays must be bindings, clears, contents"),
        ({"draws": arrays["draws"][["call"]]}, "type of draws must be"),
        ({"vertices": arrays["vertices"].astype(np.float64)}, "type of vertices must be float32"),
        ({"vertices": arrays["vertices"][:, :3]}, r"shape of vertices must be \(n, 4\)"),
        ({"vertices": np.asfortranarray(arrays["vertices"])}, "shape of vertices"),
        ({"number": arrays["number"].reshape(1)}, "shape of number must have 0 dimensions"),
        ({"refused": np.zeros(3)}, "type of refused must be text"),
        ({"program": np.array([{}], object)}, "type of program must be text"),
    ):
        np.savez(path, **arrays | change)
        with pytest.raises(InputError, match=f"some.npz: {text}"):
            file.read(path)
    del arrays["draws"]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="some.npz: arrays must be"):
        file.read(path)


@pytest.mark.plan("record-8")
@pytest.mark.parametrize("shape", [(1 << 60, 4), (1 << 30, 4), (5, 4), (-1, 4), (0, 4)])
def test_an_array_is_not_allocated_for_what_is_not_there(tmp_path, frame, shape):
    path = saved(tmp_path, frame)
    with zipfile.ZipFile(path) as archive:
        data = {name: archive.read(name) for name in archive.namelist()}
    data["vertices.npy"] = header(shape) + bytes(64)
    with zipfile.ZipFile(path, "w") as archive:
        for name, octets in data.items():
            archive.writestr(name, octets)
    with pytest.raises(InputError, match="some.npz: shape of vertices must be that of 64 bytes"):
        file.read(path)


@pytest.mark.plan("record-8")
def test_a_file_that_would_be_greater_than_memory_is_refused(tmp_path, frame, monkeypatch):
    path = saved(tmp_path, frame)
    monkeypatch.setattr(file, "MOST", 1000)
    with pytest.raises(InputError, match="some.npz: arrays must have at most 1000 bytes"):
        file.read(path)
    with pytest.raises(InputError, match="frame must be a file that exists"):
        file.read(tmp_path / "none.npz")
