# SPDX-License-Identifier: BSD-2-Clause
"""What a file says that fragments are made of: every number is checked; files of version 1."""

import io
from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import file, shaded
from fixfunc.cosim.recorded.frame import ARRAYS, SHADING_ARRAYS
from fixfunc.spec.errors import InputError
from tests.cosim.record.files import check_fields, check_named, saved
from tests.cosim.record.program import drawn
from tests.cosim.record.shading.scenes import corners, frame_of, textured


def scene(gl):
    """Varyings, textures and samplers of two draws, fog, and a reason."""
    textured(gl)
    gl.glGenerateMipmap(T.TEXTURE_2D)
    gl.glEnable(T.FOG)
    corners(gl)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MIN_FILTER, T.LINEAR_MIPMAP_LINEAR)
    gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.COMBINE)
    corners(gl)
    gl.glDisable(T.TEXTURE_2D)
    gl.glEnable(T.TEXTURE_3D)
    gl.glBindTexture(T.TEXTURE_3D, 6)
    gl.glTexImage3D(T.TEXTURE_3D, 0, T.RGB32F, 2, 2, 2, 0, T.RGB, T.FLOAT, bytes(96))
    gl.glTexParameteri(T.TEXTURE_3D, T.TEXTURE_MIN_FILTER, T.LINEAR)
    gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.REPLACE)
    corners(gl)


@pytest.fixture(scope="module")
def frame():
    return frame_of(scene)


@pytest.mark.plan("record-8")
def test_all_of_it_is_read_again(tmp_path, frame):
    found = file.read(saved(tmp_path, frame))
    for name in SHADING_ARRAYS:
        assert len(getattr(frame, name)), name
        assert np.array_equal(getattr(found, name), getattr(frame, name)), name
    assert found.names == frame.names and "a texture environment GL_COMBINE" in found.names


# A field of a row, another value, and what the error says.
WRONG = {
    ("shadings", "reason"): (-2, "-1 to"),
    ("shadings", "provoking"): (3, "0 to 2"),
    ("shadings", "first_varying"): (1 << 63, "leave room"),
    ("shadings", "varyings"): ((1 << 32) - 1, "leave room"),
    ("shadings", "first_value"): ((1 << 64) - 1, "leave room"),
    ("shadings", "first_binding"): (1 << 40, "leave room"),
    ("shadings", "bindings"): (9, "leave room"),
    ("shadings", "fog"): (4, "EXP2"),
    ("shadings", "fog_colour"): (np.nan, "finite"),
    ("shadings", "fog_density"): (np.inf, "finite"),
    ("shadings", "fog_start"): (np.nan, "finite"),
    ("shadings", "fog_end"): (-np.inf, "finite"),
    ("varyings", "name"): (99, "0 to"),
    ("varyings", "kind"): (3, "FLOAT"),
    ("varyings", "components"): (5, "1 to 4"),
    ("varyings", "interpolation"): (3, "PERSPECTIVE"),
    ("varyings", "location"): (3, "CENTROID"),
    ("bindings", "name"): (1 << 31, "0 to"),
    ("bindings", "texture"): (2, "-1 to 1"),
    ("bindings", "sampler"): (9, "0 to"),
    ("bindings", "environment"): (5, "MODULATE"),
    ("textures", "form"): (27, "shaders read"),
    ("textures", "dimension"): (0, "1 to 3"),
    ("textures", "cube"): (True, "six 2D layers"),
    ("textures", "rectangle"): (True, "of one level"),
    ("textures", "width"): (0, "1 to 16384"),
    ("textures", "height"): (16385, "1 to 16384"),
    ("textures", "depth"): (2, "be 1 but of a volume"),
    ("textures", "levels"): (6, "1 to 5"),
    ("textures", "layers"): (2049, "1 to 2048"),
    ("textures", "swizzle"): ((0, 1, 2, 6), "0 to 5"),
    ("textures", "base"): (4, "INTENSITY"),
    ("textures", "converted"): (99, "-1 to"),
    ("textures", "first"): (1 << 62, "leave room"),
    ("samplers", "min_filter"): (2, "0 to 1"),
    ("samplers", "mag_filter"): (2, "0 to 1"),
    ("samplers", "mip_filter"): (2, "0 to 1"),
    ("samplers", "address"): ((1, 1, 0), "MIRROR_ONCE"),
    ("samplers", "clamped"): (8, "0 to 7"),
    ("samplers", "border"): (np.inf, "finite"),
    ("samplers", "bias"): (16, "below 16"),
    ("samplers", "min_lod"): (np.nan, "finite"),
    ("samplers", "max_lod"): (np.inf, "finite"),
    ("samplers", "anisotropy"): (17, "1 to 16"),
    ("samplers", "comparison_func"): (8, "ALWAYS"),
}


@pytest.mark.plan("record-8")
@pytest.mark.parametrize("place", WRONG, ids=".".join)
def test_a_number_of_shading_out_of_range_is_named(tmp_path, frame, place):
    check_named(tmp_path, frame, place, *WRONG[place])


@pytest.mark.plan("record-8")
def test_every_field_of_shading_is_checked_or_may_be_anything():
    free = {"program", "two_side", "colour_sum", "unit", "comparison"}
    check_fields(SHADING_ARRAYS, WRONG, free)


@pytest.mark.plan("record-8")
def test_rows_belong_together(tmp_path, frame):
    """As many as draws, integers that are flat, octets and values that are there."""
    varyings = frame.varyings.copy()
    varyings["kind"][0] = 1
    volume = frame.textures.copy()
    volume["layers"][1] = 2
    line = frame.textures.copy()
    line["dimension"][0] = 1
    for change, text in (
        ({"shadings": frame.shadings[:-1]}, "shadings must be as many as draws, 3, or none, not 2"),
        ({"varyings": varyings}, r"varyings\[0\].interpolation must be 2 CONSTANT"),
        ({"octets": frame.octets[:-1]}, r"textures\[1\].first must leave room"),
        ({"values": frame.values[:-1]}, r"shadings\[2\].first_value must leave room"),
        ({"bindings": frame.bindings[:-1]}, r"shadings\[2\].first_binding must leave room"),
        ({"textures": frame.textures[:-1]}, r"bindings\[\d\].texture must be -1 to 0"),
        ({"samplers": frame.samplers[:0]}, r"bindings\[0\].sampler must be of something"),
        ({"names": []}, r"varyings\[0\].name must be of something"),
        ({"textures": volume}, r"textures\[1\].layers must be 1 of a volume"),
        ({"textures": line}, r"textures\[0\].height must be 1 of a line"),
    ):
        with pytest.raises(InputError, match=f"some.npz: {text}"):
            file.read(saved(tmp_path, replace(frame, **change)))


@pytest.mark.plan("record-8")
def test_a_texture_greater_than_its_file_is_not_allocated(tmp_path, frame):
    rows = frame.textures.copy()
    for field, value in (("width", 16384), ("height", 16384), ("layers", 2048), ("levels", 15)):
        rows[field][0] = value
    with pytest.raises(InputError, match=r"textures\[0\].first must leave room"):
        file.read(saved(tmp_path, replace(frame, textures=rows)))


@pytest.mark.plan("record-8")
def test_files_of_version_1_are_read(tmp_path, frame, capsys):
    """They have all but what fragments are made of; nothing of version 2 may be among it."""
    with np.load(io.BytesIO(file.write(frame))) as found:
        arrays = dict(found)
    first = {name: arrays[name] for name in ("program", "number", "refused", *ARRAYS)}
    path = tmp_path / "old.npz"
    np.savez(path, version=np.uint32(1), **first)
    read = file.read(path)
    assert not any(len(getattr(read, name)) for name in (*SHADING_ARRAYS, "names"))
    assert np.array_equal(read.fragments, frame.fragments)
    assert drawn(read).differing == 0
    assert main(["frame", str(path), "--golden", "--shade", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "not shaded: a file of version 1, without varyings: 3 draws" in said
    for version, some in ((1, arrays), (2, first)):
        np.savez(path, **some | {"version": np.uint32(version)})
        with pytest.raises(InputError, match="old.npz: arrays must be "):
            file.read(path)


@pytest.mark.plan("record-8")
def test_bits_of_shading_that_fall_over_are_an_error_or_another_frame(tmp_path, frame):
    """Rows and values of any bits: what is read is shaded, or refused by name."""
    rng = np.random.default_rng(3)
    small = {name: getattr(frame, name) for name in SHADING_ARRAYS}
    refused = 0
    for n in range(60):
        array = list(small)[n % 6]
        rows = small[array].copy()
        data = rows.view(np.uint8)
        for _ in range(3):
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        try:
            found = file.read(saved(tmp_path, replace(frame, **{array: rows})))
        except InputError as error:
            refused += 1
            assert "some.npz" in str(error)
        else:
            figures = shaded.figures_of(drawn(found, shades=True).player.shaders)
            assert len(figures["draws"]) == 3
    assert 15 < refused < 55
