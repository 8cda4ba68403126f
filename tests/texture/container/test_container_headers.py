# SPDX-License-Identifier: BSD-2-Clause
"""Headers of DDS as odd writers leave them."""

import struct

import numpy as np
import pytest

from fixfunc.models.texture.container import read
from fixfunc.models.texture.texture import bytes_of
from fixfunc.spec.errors import InputError, InputWarning
from tests.texture.container.test_container import data, file, texture

__all__ = ["data", "file"]
RGBA = 0x41  # flags: masks of colours and alpha


def changed(content, **fields):
    """A DDS with numbers of its header replaced, by where they lie."""
    content = bytearray(content)
    for at, value in fields.items():
        struct.pack_into("<I", content, int(at[1:]), value)
    return bytes(content)


@pytest.mark.plan("container-10")
def test_headers_of_odd_writers(file, data):
    """What they mean is read, with one warning."""
    flat = texture("RGBA8", 16, 16, 5)
    cube = texture("RGBA8", 16, 16, 5, faces=6)
    cubes = texture("RGBA8", 16, 16, 5, faces=6, layers=2)
    level = bytes_of("RGBA8", 1, 1)
    surplus = b"".join(
        row.tobytes() + bytes(2 * level)
        for row in (np.concatenate([part[n] for part in cube.levels]) for n in range(6))
    )
    old = data(flat)[:84] + struct.pack("<6I", *[0] * 6) + data(flat)[108:128] + data(flat)[148:]
    old = changed(old, _80=RGBA, _88=32, _92=0xFF, _96=0xFF00, _100=0xFF0000, _104=0xFF000000)
    for content, original, message in (
        (changed(data(flat), _76=24), flat, "the size of the format is 24: read as 32"),
        (changed(data(cube), _140=6), cube, "arraySize of a cube is 6, its faces: read as 1"),
        (changed(data(cubes), _140=12), cubes, "arraySize of a cube is 12, its faces: read as 2"),
        (changed(data(cube), _136=0), cube, "a cube by caps2 alone: read as one"),
        (changed(data(flat), _28=6), flat, "6 levels: read as the 5 that there are"),
        (changed(data(cube), _28=7), cube, "7 levels: read as the 5 that there are"),
        (changed(data(cube)[:148] + surplus, _28=7), cube, "7 levels: read as the 5 that there"),
        (changed(old, _112=0x200000, _24=1), flat, "a volume of one slice: read as a 2D texture"),
    ):
        with pytest.warns(InputWarning, match=f"texture: {message}") as said:
            back = read(file(content))
        assert len(said) == 1
        assert (back.faces, back.layers) == (original.faces, original.layers)
        assert all((a == b).all() for a, b in zip(back.levels, original.levels, strict=True))


@pytest.mark.plan("container-10")
def test_a_cube_is_counted_in_faces_where_the_file_has_no_more(file, data):
    cube = texture("RGBA8", 16, 16, 5, faces=6)
    content = changed(data(cube), _140=6)
    with (
        pytest.warns(InputWarning, match="arraySize of a cube is 6"),
        pytest.warns(InputWarning, match="3 bytes behind the last level"),
    ):
        assert read(file(content + bytes(3))).layers == 1
    with pytest.raises(InputError, match="size of the file must be "):
        read(file(content[:-1]))
    cubes = texture("RGBA8", 16, 16, 5, faces=6, layers=6)
    assert read(file(data(cubes))).layers == 6
