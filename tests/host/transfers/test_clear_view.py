# SPDX-License-Identifier: BSD-2-Clause
"""Rectangles of views are cleared [fs 5.2.3.3]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, MEMORY, RGBA8, WHOLE, Scene

WRITTEN = Bind.UNORDERED_ACCESS
WIDTH, HEIGHT = 21, 13
GREEN, RED = (0, 1, 0, 1), (1, 0, 0, 1)
# Colours, and the bytes of a texel: converted and cut as D3D converts [fs 3.2, 5.2.3.3].
FORMS = {
    Format.R8G8B8A8_UNORM: ((2, 0.5, -1, np.nan), bytes((255, 128, 0, 0))),
    Format.R8G8B8A8_UINT: ((235.9, -3, np.inf, np.nan), bytes((235, 0, 255, 0))),
    Format.R8G8_SNORM: ((-2, 0.5, 0, 0), bytes((129, 64))),
    Format.R16G16_SINT: ((-40000, 3.9, 0, 0), bytes((0, 0x80, 3, 0))),
    Format.R16_FLOAT: ((1, 0, 0, 0), bytes((0, 0x3C))),
    Format.B8G8R8A8_UNORM_SRGB: ((1, 0.5, 0, 0.5), bytes((0, 188, 255, 128))),
}
BINDS = {"target": DRAWN, "rows": WRITTEN, "tiles": WRITTEN | DRAWN}


def rectangles(rng, count):
    """Some within, some partly or wholly outside, some of nothing."""
    x = rng.integers(-5, WIDTH + 6, (count, 2))
    y = rng.integers(-5, HEIGHT + 6, (count, 2))
    some = np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], -1).tolist()
    return [tuple(map(int, sides)) for sides in some]


def is_within(x, y, some):
    return any(x0 <= x < x1 and y0 <= y < y1 for x0, y0, x1, y1 in some)


@pytest.mark.plan("host-27")
@pytest.mark.parametrize("bind", BINDS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("coded", [False, True])
def test_texels_of_rectangles_are_cleared_and_no_others(form, bind, coded):
    """Of all layers of a view, at a level of its own."""
    if form == Format.B8G8R8A8_UNORM_SRGB:
        bind = "target"  # no format for unordered access
    rng = np.random.default_rng(form)
    colour, octets = FORMS[form]
    device = Device(MEMORY, coded=coded)
    sides = 2 * WIDTH, 2 * HEIGHT
    texture = device.create_texture2d(form, *sides, 2, 4, bind=BINDS[bind])
    kind = "unordered_access" if BINDS[bind] & WRITTEN else "render_target"
    create = getattr(device, f"create_{kind}_view")
    view = create(texture, first_level=1, first_layer=1, layer_count=2)
    for some in (rectangles(rng, 4), rectangles(rng, 4)[:1], [(0, 0, WIDTH, 1)]):
        before = {place: device.context.read(texture, place) for place in np.ndindex(2, 4)}
        device.context.clear_view(view, colour, some)
        for level, layer in np.ndindex(2, 4):
            image = device.context.read(texture, (level, layer))
            for y, x in np.ndindex(image.shape[:2]):
                is_shown = level == 1 and layer in (1, 2)
                is_new = is_shown and is_within(x, y, some)
                right = octets if is_new else before[level, layer][y, x, 0].tobytes()
                assert image[y, x, 0].tobytes() == right, (level, layer, y, x)


@pytest.mark.plan("host-27")
@pytest.mark.parametrize("coded", [False, True])
def test_without_rectangles_all_is_cleared_and_by_ones_of_nothing_none(coded):
    device = Device(MEMORY, coded=coded)
    texture = device.create_texture2d(RGBA8, WIDTH, HEIGHT, bind=DRAWN)
    view = device.create_render_target_view(texture)
    huge = [(-(1 << 31), -(1 << 31), (1 << 31) - 1, (1 << 31) - 1)]
    for colour, some, right in (
        (GREEN, (), (0, 255, 0, 255)),
        (RED, [(5, 5, 5, 9), (9, 9, 3, 3), (WIDTH, 0, 99, 99)], (0, 255, 0, 255)),
        (RED, huge, (255, 0, 0, 255)),
    ):
        device.context.clear_view(view, colour, some)
        assert (device.context.read(texture) == right).all()


@pytest.mark.plan("host-27")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_all_samples_of_pixels_that_were_drawn(samples):
    """Between two draws: neither viewport nor scissor counts, nor what lies beyond a pixel."""
    scene = Scene(samples=samples)
    scene.draw(WHOLE, (0, 0, 1, 1))
    scene.context.rs.set_scissor_rects([(0, 0, 1, 1)])
    scene.context.clear_view(scene.target, RED, [(3, 2, 20, 11)])
    image = scene.image()
    assert image.shape[2] == samples
    assert (image[2:11, 3:20] == (255, 0, 0, 255)).all()
    image[2:11, 3:20] = (0, 0, 255, 255)
    assert (image == (0, 0, 255, 255)).all()


@pytest.mark.plan("host-27")
def test_predicates_lists_and_programs():
    """A predicate leaves it out [fs 20.2], a list makes it, who watches hears of it."""
    scene = Scene()
    device, context = scene.device, scene.context
    query = device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.begin(query)
    context.end(query)
    context.set_predication(query, False)
    context.clear_view(scene.target, RED, [(0, 0, 4, 4)])
    context.set_predication(None)
    assert not scene.image().any()
    deferred = device.create_deferred_context()
    deferred.clear_view(scene.target, RED, [(0, 0, 4, 4)])
    context.execute_command_list(deferred.finish_command_list(), restore_state=True)
    assert (scene.image()[..., 0, 0] == 255).sum() == 16

    class Watch:
        heard = []

        def wrote(self, address):
            self.heard.append(address)

        def clear(self, *_):
            self.heard.append("clear")

    device.machine.watch = Watch()
    context.clear_view(scene.target, GREEN, [(0, 0, 4, 4)])
    context.clear_view(scene.target, GREEN)
    assert Watch.heard == [scene.colours.address, "clear"]


@pytest.mark.plan("host-27")
def test_views_and_rectangles_that_break_a_rule():
    scene = Scene()
    device, context = scene.device, scene.context
    line = device.create_texture1d(RGBA8, 8, bind=DRAWN)
    volume = device.create_texture3d(RGBA8, 8, 8, 8, bind=DRAWN)
    buffer = device.create_buffer(64, WRITTEN)
    read = device.create_texture2d(RGBA8, 8, 8)
    for view, text in (
        (device.create_render_target_view(line), "be of a 2D texture, not TEXTURE1D"),
        (device.create_render_target_view(volume), "be of a 2D texture, not TEXTURE3D"),
        (device.create_unordered_access_view(buffer), "be of a 2D texture, not BUFFER"),
        (scene.depth, "be one of RENDER_TARGET or UNORDERED_ACCESS"),
        (device.create_shader_resource_view(read), "be one of RENDER_TARGET or UNORDERED_ACCESS"),
    ):
        with pytest.raises(InputError, match=f"Context.clear_view: view must {text}"):
            context.clear_view(view, RED, [(0, 0, 1, 1)])
    for some in ([(0, 0, 1)], [(0, 0, 1, 0.5)], [(0, 0, 1, 1 << 31)], (0, 0, 1, 1), None):
        with pytest.raises(InputError, match="Context.clear_view:"):
            context.clear_view(scene.target, RED, [(0, 0, 9, 9), *some] if some else some)
    assert not scene.image().any()
