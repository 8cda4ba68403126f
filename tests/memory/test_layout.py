# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import encode, piece
from fixfunc.models.memory.layout import ALIGNED, Layout, Plane, texture_at
from fixfunc.models.memory.surface import to_image
from fixfunc.spec.descriptors import VIEW, Dimension
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

RGBA8 = Format.R8G8B8A8_UNORM


@pytest.mark.plan("layout-1")
@pytest.mark.parametrize(
    "layout",
    [
        Layout(RGBA8, 13, 9),
        Layout(RGBA8, 13, 9, tiled=True),
        Layout(RGBA8, 13, 9, levels=4, layers=6),
        Layout(Format.R16G16B16A16_FLOAT, 33, 17, levels=6, layers=2, tiled=True),
        Layout(Format.BC1_UNORM, 10, 7, levels=4),
        Layout(Format.R32_FLOAT, 5, 6, depth=7, levels=3),
        Layout(Format.R8_UNORM, 5, 6, depth=7, levels=3, tiled=True),
        Layout(RGBA8, 21, 5, samples=2, tiled=True),
        Layout(RGBA8, 21, 5, samples=8, tiled=True),
        Layout(Format.D24_UNORM_S8_UINT, 21, 5, samples=4, tiled=True),
        Layout(Format.R24G8_TYPELESS, 21, 5),
        Layout(Format.D16_UNORM, 21, 5, tiled=True),
    ],
    ids=lambda layout: f"{layout.form.name}-{layout.samples}-{layout.tiled}",
)
def test_subresources_come_back_and_none_lies_on_another(layout):
    rng = np.random.default_rng(1)
    memory = np.zeros(layout.bytes, np.uint8)
    written = {}
    for layer in range(layout.layers):
        for level in range(layout.levels):
            texels = rng.integers(0, 256, layout.read(memory, level, layer).shape, dtype=np.uint8)
            assert layout.offset_of(level, layer) % ALIGNED == 0
            written[level, layer] = texels
            layout.write(memory, level, layer, texels)
    for (level, layer), texels in written.items():
        assert (layout.read(memory, level, layer) == texels).all()
        width, height, depth = layout.size_of(level)
        assert texels.shape[0] == depth
        assert texels.shape[1:3] in ((height, width), (-(-height // 4), -(-width // 4)))


@pytest.mark.plan("layout-1")
@pytest.mark.parametrize(
    "layout",
    [
        Layout(RGBA8, 13, 9, levels=4, layers=3),
        Layout(Format.BC1_UNORM, 10, 7, levels=3),
        Layout(Format.R16_UNORM, 5, 6, depth=7, levels=2),
        Layout(Format.R16_UNORM, 5, 6, depth=7, levels=2, tiled=True),
        *(
            Layout(form, 21, 5, levels=1 + (n == 1), samples=n, tiled=True)
            for form in (RGBA8, Format.R24G8_TYPELESS, Format.R32G8X24_TYPELESS)
            for n in (1, 2, 4, 8)
        ),
    ],
    ids=lambda layout: f"{layout.form.name}-{layout.samples}-{layout.tiled}",
)
def test_texels_lie_at_their_offsets(layout):
    """Bytes at the offset of each sample in each plane are those that are read."""
    rng = np.random.default_rng(2)
    memory = rng.integers(0, 256, layout.bytes, dtype=np.uint8)
    layer, level = layout.layers - 1, layout.levels - 1
    texels = layout.read(memory, level, layer)
    depth_slice, y, x, sample = np.indices(texels.shape[:4])
    whole = [Plane(layout.texel, tuple(range(layout.texel)))]
    for number, plane in enumerate(layout.planes if layout.tiled else whole):
        at = layout.offsets(level, layer, depth_slice, y, x, sample, number)
        found = memory[at[..., None] + np.arange(len(plane.octets))]
        assert (found == texels[..., plane.octets]).all()


@pytest.mark.plan("layout-2")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_tiles_are_those_of_the_machine(samples):
    layout = Layout(Format.R32_UINT, 30, 20, samples=samples, tiled=True)
    rng = np.random.default_rng(samples)
    memory = rng.integers(0, 256, layout.bytes, dtype=np.uint8)
    (tiles,) = layout.tiles(memory, 0)
    image = to_image(np.ascontiguousarray(tiles).view("<u4")[..., 0], 30, 20, samples)
    got = np.ascontiguousarray(layout.read(memory, 0)).view("<u4")[0, ..., 0]
    assert (got == image).all()


@pytest.mark.plan("layout-3")
def test_depths_and_stencil_values_share_a_texel_of_a_linear_copy():
    tiled = Layout(Format.D24_UNORM_S8_UINT, 9, 9, tiled=True)
    memory = np.zeros(tiled.bytes, np.uint8)
    depth, stencil = tiled.tiles(memory, 0)
    depth[0, 0, 0, 1] = (1, 2, 3, 0)
    stencil[0, 0, 0, 1] = 7
    assert tiled.read(memory, 0)[0, 0, 1, 0].tolist() == [1, 2, 3, 7]
    wide = Layout(Format.D32_FLOAT_S8X24_UINT, 9, 9, tiled=True)
    memory = np.zeros(wide.bytes, np.uint8)
    depth, stencil = wide.tiles(memory, 0)
    depth[0, 0, 1, 0] = (1, 2, 3, 4)
    stencil[0, 0, 1, 0] = 7
    assert wide.read(memory, 0)[0, 1, 0, 0].tolist() == [1, 2, 3, 4, 7, 0, 0, 0]


@pytest.mark.plan("layout-4")
@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("first_layer", 1, "layers of the view must be some of 2"),
        ("layer_count", 3, "layers of the view must be some of 2"),
        ("level_count", 3, "levels of the view must be some of 3"),
        ("address", 1 << 20, "texture must end within memory"),
        ("stored", 0, "texture must have a format"),
    ],
)
def test_views_that_are_none_of_their_texture_are_refused(field, value, text):
    fields = {
        "stored": Format.R8_UNORM,
        "dimension": Dimension.TEXTURE3D,
        "width": 8,
        "height": 8,
        "depth": 4,
        "levels": 3,
        "layers": 1,
        "first_level": 1,
        "level_count": 2,
        "layer_count": 2,
    }
    memory = np.zeros(1 << 12, np.uint8)
    layout, _ = texture_at(memory, piece(encode(VIEW, **fields), VIEW))
    assert layout.size_of(1) == (4, 4, 2)
    with pytest.raises(InputError, match=text):
        texture_at(memory, piece(encode(VIEW, **(fields | {field: value})), VIEW))
