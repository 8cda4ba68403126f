# SPDX-License-Identifier: BSD-2-Clause
"""Textures of frames: files that warn, do not fit, or are broken."""

import zlib

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.frame import texture
from fixfunc.models.texture import container
from fixfunc.models.texture.texture import bytes_of, create
from fixfunc.spec.errors import InputError

SMALL = ["frame", "teapot", "--size", "160x90", "--divisions", "2"]


def test_a_texture_with_a_warning(tmp_path, capsys):
    blocks = np.random.default_rng(0).integers(0, 256, (1, 16 * 64), np.uint8)
    container.write_dds(tmp_path / "texture.dds", create("BC7", 32, 32, [blocks]))
    with (tmp_path / "texture.dds").open("ab") as file:
        file.write(bytes(7))
    assert (
        main([*SMALL, "--golden", "--texture", str(tmp_path / "texture.dds"), "-o", str(tmp_path)])
        == 0
    )
    assert (
        "fixfunc: warning: texture.dds: 7 bytes behind the last level: not read\n"
        in capsys.readouterr().err
    )
    (tmp_path / "texture.png").write_bytes(b"none")
    assert (
        main([*SMALL, "--golden", "--texture", str(tmp_path / "texture.png"), "-o", str(tmp_path)])
        == 2
    )
    assert "texture.png" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "size", "value"),
    [
        ({"format": "RGBA8", "faces": 6}, 4, "a cube"),
        ({"format": "RGBA8", "dimension": 3}, 4, "a texture of 3 dimensions and 1 layers"),
        ({"format": "RGBA8", "layers": 2}, 4, "a texture of 2 dimensions and 2 layers"),
        ({"format": "RGBA8", "dimension": 1}, 1, "a texture of 1 dimensions and 1 layers"),
        ({"format": "R8_UINT"}, 4, "of R8_UINT"),
    ],
)
def test_a_texture_that_does_not_fit_is_refused_first(fields, size, value, tmp_path, capsys):
    """The file is named, and nothing is drawn; nor is a folder made."""
    path = tmp_path / "texture.dds"
    form = fields.pop("format")
    images = fields.pop("layers", 1) * fields.get("faces", 1)
    data = np.zeros((images, bytes_of(form, 4, size)), np.uint8)
    container.write_dds(path, create(form, 4, size, [data], **fields))
    assert main([*SMALL, "--golden", "--texture", str(path), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{path}, {value}\n" in error
    assert not (tmp_path / "out").exists()


def test_a_picture_that_is_broken_is_one_line(tmp_path, capsys):
    """Cut anywhere, of a size that would take all memory, or with a chunk that lies."""
    path = tmp_path / "texture.png"
    picture = np.random.default_rng(0).integers(0, 256, (5, 7, 4), np.uint8)
    Image.fromarray(picture).save(path)
    whole = path.read_bytes()
    at = whole.index(b"IHDR") + 4

    def of_size(edge):
        head = whole[at - 4 : at] + edge.to_bytes(4) * 2 + whole[at + 8 : at + 13]
        return whole[: at - 4] + head + zlib.crc32(head).to_bytes(4) + whole[at + 17 :]

    short = whole[:8] + b"\0\0\0\5IHDR" + whole[at : at + 5] + bytes(4)
    cut = [whole[:length] for length in range(len(whole) - 24)]
    for content in (*cut, of_size(1 << 30), of_size(16384), of_size(10000), short):
        path.write_bytes(content)
        with pytest.raises(InputError, match="texture.png"):
            texture.load(path)
    assert main([*SMALL, "--golden", "--texture", str(path), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
