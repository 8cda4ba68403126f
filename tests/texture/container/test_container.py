# SPDX-License-Identifier: BSD-2-Clause
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fixfunc.models.texture.container import DXGI, VULKAN, read, write_dds
from fixfunc.models.texture.container.ktx2 import MAGIC, OPAQUE
from fixfunc.models.texture.texture import FACES, Texture, bytes_of, create, of_picture, size
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, InputWarning


def texture(format="BC1", width=20, height=12, levels=3, layers=1, faces=1, seed=0, **fields):
    rng = np.random.default_rng(seed)
    depth = fields.get("depth", 1)
    sizes = [bytes_of(format, *size(width, height, n)) * max(depth >> n, 1) for n in range(levels)]
    data = [rng.integers(0, 256, (layers * faces, count), np.uint8) for count in sizes]
    return create(format, width, height, data, faces=faces, **fields)


def equal(first, second):
    """Whether two textures have the same fields and levels."""
    return (
        first[:3] == second[:3]
        and first[4:] == second[4:]
        and all((a == b).all() for a, b in zip(first.levels, second.levels, strict=True))
    )


def ktx2(texture, code, layers=0):
    """Bytes of a KTX2 file: an index from the largest level on, levels from the smallest on."""
    at = 80 + 24 * len(texture.levels)
    index = []
    data = b""
    for level in reversed(texture.levels):
        data += b"\0" * (-(at + len(data)) % 16)
        index.insert(0, struct.pack("<3Q", at + len(data), level.size, level.size))
        data += level.tobytes()
    head = struct.pack(
        "<9I4I2Q",
        code,
        1,
        texture.width,
        texture.height if texture.dimension > 1 else 0,
        texture.depth if texture.dimension > 2 else 0,
        layers,
        texture.faces,
        len(texture.levels),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    )
    return MAGIC + head + b"".join(index) + data


@pytest.fixture
def file(tmp_path):
    def write(data):
        (tmp_path / "texture").write_bytes(data)
        return tmp_path / "texture"

    return write


@pytest.fixture
def data(tmp_path):
    def written(texture):
        write_dds(tmp_path / "written.dds", texture)
        return (tmp_path / "written.dds").read_bytes()

    return written


@pytest.mark.plan("container-1")
@pytest.mark.parametrize(("format", "srgb"), sorted(set(DXGI.values())))
@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"layers": 3},
        {"faces": 6, "width": 12},
        {"faces": 6, "layers": 2, "width": 12, "levels": 4},
        {"depth": 5, "dimension": 3},
        {"height": 1, "dimension": 1, "layers": 2},
    ],
)
def test_dds_comes_back(format, srgb, shape, file, data):
    original = texture(format, srgb=srgb, **shape)
    back = read(file(data(original)))
    assert equal(original, back)
    assert back.layers == shape.get("layers", 1)


@pytest.mark.plan("container-1")
@pytest.mark.parametrize("code", [code for code in VULKAN if VULKAN[code] in Format.__members__])
@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"layers": 3},
        {"faces": 6, "width": 12, "levels": 4},
        {"depth": 5, "dimension": 3},
        {"height": 1, "dimension": 1},
    ],
)
def test_ktx2(code, shape, file):
    format, srgb = DXGI[Format[VULKAN[code]]]
    original = texture(format, srgb=srgb, opaque=code in OPAQUE, **shape)
    assert equal(original, read(file(ktx2(original, code, shape.get("layers", 0)))))


@pytest.mark.plan("container-2")
@pytest.mark.parametrize(
    ("format", "code"),
    [
        ("BC1", b"DXT1"),
        ("BC2", b"DXT2"),
        ("BC2", b"DXT3"),
        ("BC3", b"DXT4"),
        ("BC3", b"DXT5"),
        ("BC4U", b"ATI1"),
        ("BC5U", b"ATI2"),
        ("BC5U", b"A2XY"),
        ("BC5S", b"BC5S"),
        ("R16G16B16A16_UNORM", b"\x24\0\0\0"),
        ("R16G16B16A16_SNORM", b"\x6e\0\0\0"),
        ("R16_FLOAT", b"\x6f\0\0\0"),
        ("R16G16_FLOAT", b"\x70\0\0\0"),
        ("RGBA16F", b"\x71\0\0\0"),
        ("R32_FLOAT", b"\x72\0\0\0"),
        ("R32G32_FLOAT", b"\x73\0\0\0"),
        ("R32G32B32A32_FLOAT", b"\x74\0\0\0"),
    ],
)
def test_dds_of_old(format, code, file, data):
    original = texture(format)
    new = data(original)
    assert equal(original, read(file(new[:84] + code + new[88:128] + new[148:])))


@pytest.mark.plan("container-3")
@pytest.mark.parametrize("format", ["RGBA8", "BC1", "BC3", "BC7"])
def test_pillow_reads_what_is_written(format, data):
    original = texture(format, levels=1)
    pillow = np.asarray(Image.open(io.BytesIO(data(original))).convert("RGBA")).astype(int)
    if format == "BC7":  # Pillow gives blocks of the reserved mode an alpha
        assert original.levels[0].reshape(-1, 16)[:, 0].all()
    assert np.abs(original.image().astype(int) - pillow).max() <= (
        0 if format in ("RGBA8", "BC7") else 1
    )


@pytest.mark.plan("container-3")
def test_pillow_writes_what_is_read(file):
    picture = np.random.default_rng(0).integers(0, 256, (12, 20, 4), np.uint8)
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "dds")
    assert (read(file(out.getvalue())).image() == picture).all()


@pytest.mark.plan("container-4")
def test_images():
    """Faces, layers and channels are in order; blocks are cut at the edge; BC1 may be opaque."""
    original = texture("BGRA8", 5, 5, 3, layers=2, faces=6)
    assert len(FACES) == 6
    assert original.image(1, 1, 4).shape == (2, 2, 4)
    assert (original.image(1, 1, 4)[..., [2, 1, 0, 3]].reshape(-1) == original.levels[1][10]).all()
    assert texture("BC5S", 5, 7, 1).image().shape == (7, 5, 2)
    assert texture("RGBA16F", 5, 7, 1).image().dtype == np.float16
    clear = create("BC1", 4, 4, [np.full((1, 8), 255, np.uint8)])
    assert not clear.image().any()
    assert (clear._replace(opaque=True).image()[..., 3] == 255).all()


@pytest.mark.plan("container-7")
def test_views():
    """A view has the same bytes with another meaning."""
    original = texture("BC5U", srgb=False)
    assert original.view("BC5S").image().dtype == np.int16
    assert (original.view("BC5S").levels[1] == original.levels[1]).all()
    assert texture("BC7").view("BC7", srgb=True).srgb
    with pytest.raises(InputError, match="format of the view must be one of BC6HU, BC6HS, not BC7"):
        texture("BC6HU").view("BC7")
    with pytest.raises(InputError, match="srgb must be of"):
        original.view("BC5U", srgb=True)


@pytest.mark.plan("container-8")
@pytest.mark.parametrize("srgb", [False, True])
def test_levels_of_a_picture(srgb):
    """Levels of a flat picture are flat; a checkerboard gets half its light."""
    flat = of_picture(np.full((9, 20, 4), 77, np.uint8), srgb)
    assert [flat.size(n) for n in range(len(flat.levels))] == [
        (20, 9),
        (10, 4),
        (5, 2),
        (2, 1),
        (1, 1),
    ]
    assert all((level == 77).all() for level in flat.levels)
    board = np.indices((8, 8)).sum(0)[..., None].repeat(4, 2) % 2 * 255
    assert of_picture(board.astype(np.uint8), srgb).levels[1][0, :4].tolist() == (
        [188, 188, 188, 128] if srgb else [128] * 4
    )


# Files that contradict themselves.


@pytest.mark.plan("container-5")
def test_cut_anywhere(file, data):
    for content in (data(texture()), ktx2(texture(), 133)):
        assert read(file(content))
        for length in range(len(content)):
            with pytest.raises(InputError):
                read(file(content[:length]))


@pytest.mark.plan("container-6")
@given(
    st.integers(0, 1),
    st.lists(st.tuples(st.integers(0, 147), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_lies(kind, changes):
    """Whatever a header says, the result is a texture of about the file's size, or an error."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texture"
        if kind:
            path.write_bytes(ktx2(texture(), 133))
        else:
            write_dds(path, texture())
        content = bytearray(path.read_bytes())
        for at, value in changes:
            content[at] = value
        path.write_bytes(content)
        try:
            result = read(path)
        except (InputError, InputWarning):
            return
        assert sum(level.size for level in result.levels) <= 4 * len(content)


@pytest.mark.plan("container-6")
@pytest.mark.parametrize(
    ("at", "form", "value", "message"),
    [
        (4, "<I", 100, "sizes of a DDS header and its format must be 124 and 32, not 100 and 32"),
        (12, "<I", 0, "height must be 1 to 16384 texels, not 0"),
        (16, "<I", 1 << 31, "width must be 1 to 16384 texels, not 2147483648"),
        (84, "4s", b"DXT9", "FourCC must be one of DXT1, .*, not b'DXT9'"),
        (112, "<I", 0x600, "caps2 of a cube must have all six faces, not 0x600"),
        (128, "<I", 120, "dxgiFormat must be a format that a shader reads, not 120"),
        (128, "<I", 55, "dxgiFormat must be one that a shader reads, not 55, D16_UNORM"),
        (132, "<I", 1, "resourceDimension must be 2, 3 or 4: .*, not 1"),
        (132, "<I", 2, "height of a 1D texture must be 1, not 12"),
        (136, "<I", 4, "height of a cube must be its width, 20, not 12"),
        (140, "<I", 5000, "number of layers must be 1 to 2048, not 5000"),
        (80, "<I", 0x41, "bits of a format without FourCC must be 8, 16, 24 or 32, not 0"),
    ],
)
def test_wrong_dds(at, form, value, message, file, data):
    content = bytearray(data(texture()))
    struct.pack_into(form, content, at, value)
    with pytest.raises(InputError, match=message):
        read(file(content))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content + bytes(40), "texture: 40 bytes behind the last level: not read"),
        (
            lambda content: content[:28] + struct.pack("<I", 2) + content[32:],
            "texture: 16 bytes behind the last level: not read",
        ),
        (
            lambda content: content[:132] + struct.pack("<I", 0) + content[136:],
            "texture: resourceDimension is 0: read as 3, a 2D texture",
        ),
        (
            lambda content: content[:140] + struct.pack("<I", 0) + content[144:],
            "texture: arraySize is 0: read as 1",
        ),
    ],
)
def test_harmless_dds_is_read_with_a_warning(change, message, file, data):
    original = texture()
    with pytest.warns(InputWarning, match=message) as said:
        back = read(file(change(data(original))))
    assert len(said) == 1
    assert back.layers == 1
    assert all(
        (level == expected).all()
        for level, expected in zip(back.levels, original.levels, strict=False)
    )


def test_too_short_is_refused(file, data):
    content = data(texture())
    for length in range(4, len(content)):
        with pytest.raises(InputError, match="texture: size of the file must be "):
            read(file(content[:length]))


@pytest.mark.plan("container-6")
@pytest.mark.parametrize(
    ("at", "form", "value", "message"),
    [
        (12, "<I", 11, "vkFormat must be a format that a shader reads, not 11"),
        (28, "<I", 2, "byteLength of level 0 must be 240, not 120"),
        (36, "<I", 3, "number of faces must be 1 or 6, not 3"),
        (44, "<I", 1, "supercompressionScheme must be 0, none, 2, Zstandard, or 3, ZLIB, not 1"),
        (80, "<Q", 10, "byteOffset of level 0 must lie between"),
        (80, "<Q", (1 << 64) - 1, "byteOffset of level 0 must lie between"),
        (88, "<Q", 8, "byteLength of level 0 must be 120, not 8"),
    ],
)
def test_wrong_ktx2(at, form, value, message, file):
    content = bytearray(ktx2(texture(), 133))
    struct.pack_into(form, content, at, value)
    with pytest.raises(InputError, match=message):
        read(file(content))


def test_unknown_files(file):
    for data in (b"", b"\x89PNG\r\n\x1a\n" + bytes(200)):
        with pytest.raises(InputError, match="first bytes must be those of a DDS or KTX2 file"):
            read(file(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "BC8"}, "format must be one of RGBA8"),
        ({"faces": 2}, "number of faces must be 1 or 6, not 2"),
        ({"levels": []}, "number of levels"),
        ({"levels": [np.zeros((1, 7), np.uint8)]}, r"levels\[0\] must be of shape"),
        ({"srgb": True, "format": "R8"}, "srgb must be of .*BC1, .*, not R8"),
    ],
)
def test_wrong_textures(change, message):
    arguments = {
        "format": "R8",
        "width": 4,
        "height": 4,
        "levels": [np.zeros((1, 16), np.uint8)],
    } | change
    with pytest.raises(InputError, match=message):
        create(**arguments)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="format must be one that DXGI has"):
        write_dds(
            tmp_path / "x.dds", Texture("R8", 4, 4, (np.zeros((1, 16), np.uint8),), srgb=True)
        )
    with pytest.raises(InputError, match="picture must be uint8 of shape"):
        of_picture(np.zeros((4, 4, 3), np.uint8))
