# SPDX-License-Identifier: BSD-2-Clause
"""Depths and stencil values of targets, coded in the machine's memory."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.plane_table import PlaneTable
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import DepthStencilState, StencilFace
from fixfunc.models.machine.draws import draw_fields
from fixfunc.models.machine.targets import at_layer
from fixfunc.models.memory.coded_tiles import HEAD
from fixfunc.models.memory.counters import by_name
from fixfunc.models.memory.layout import texture_at
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.raster import tile_rasterizer
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, Compare, StencilOp, TileMode
from tests.host.drawing import READ, WHOLE, Scene, corners

FORMS = (Format.D24_UNORM_S8_UINT, Format.D32_FLOAT, Format.D32_FLOAT_S8X24_UINT)
INCREMENTS = StencilFace(StencilOp.KEEP, StencilOp.INCR, StencilOp.INCR, Compare.ALWAYS)
SIZE = 56, 40
# The upper left, and the lower right half of a target.
HALVES = np.array([(-1, 1), (1, 1), (-1, -1), (1, 1), (1, -1), (-1, -1)])


def planes_of(scene):
    """Coded planes of the scene's target of depths."""
    layout, data = texture_at(scene.device.memory, piece(scene.depth.encode(), VIEW))
    return [layout.coded_tiles(data, 0, plane=n) for n in range(len(layout.planes))]


def triangles(rng, count):
    """Vertices of triangles with depths of their own, some of them flat."""
    points = rng.uniform(-1.3, 1.3, (3 * count, 2))
    out = corners(points)
    out[:, 2] = rng.uniform(0, 1, 3 * count)
    flat = np.repeat(rng.random(count) < 0.3, 3)
    out[flat, 2] = np.repeat(rng.integers(0, 5, count) / 4, 3)[flat]
    return out


class Planes:
    """The planes of a tile, of which one triangle after the other writes some samples."""

    def __init__(self):
        self.planes = []
        self.mask = np.zeros((8, 8), int)

    def write(self, written, plane):
        """Planes are known while they give every sample, and are four at most."""
        if plane is None or not (self.planes or written.all()):
            self.planes = []
            return
        planes = self.planes if plane in self.planes else [*self.planes, plane]
        mask = np.where(written, planes.index(plane), self.mask if self.planes else 0)
        used = sorted(set(mask.ravel().tolist()))
        self.planes = [planes[n] for n in used] if len(used) <= 4 else []
        self.mask = np.searchsorted(used, mask)


@pytest.mark.plan("coded-tiles-7")
@given(st.integers(0, 1 << 32))
def test_planes_of_many_tiles_are_followed_as_those_of_one(seed):
    """Some tiles are written again and again, by few planes, in whole, in part or not exactly."""
    rng = np.random.default_rng(seed)
    count, writes = 3, 40
    table = PlaneTable(
        np.zeros((count, 4), PLANE), np.zeros(count, np.int64), np.zeros((count, 8, 8), np.int64)
    )
    tiles = [Planes() for _ in range(count)]
    place = rng.integers(0, count, writes)
    written = rng.random((writes, 8, 8)) < rng.choice([0.02, 0.3, 1], writes)[:, None, None]
    written[:, 0, 0] = True
    planes = np.zeros(writes, PLANE)
    planes["z0"] = rng.integers(0, 7, writes)
    exact = rng.random(writes) < 0.9
    half = writes // 2
    for part in (slice(0, half), slice(half, writes)):
        table.write(place[part], written[part], planes[part], exact[part])
        for n in range(*part.indices(writes)):
            plane = planes[n].tolist() if exact[n] else None
            tiles[place[n]].write(written[n], plane)
        for n, tile in enumerate(tiles):
            assert table.counts[n] == len(tile.planes)
            assert table.planes[n, : table.counts[n]].tolist() == tile.planes
            if tile.planes:
                assert (table.masks[n] == tile.mask).all()


class Top:
    """The caches of the hardware, which test what a machine draws."""

    def __init__(self):
        self.depth = CachedDepth(np.zeros(1 << 20, np.uint8))
        self.began = False

    def begin(self):
        """A draw begins."""

    def draw(self, part, back):
        """Triangles of a draw."""
        fields, _ = draw_fields(back, 0, [], at_layer(back.depth, 0))
        self.depth.state = fields
        if not self.began:
            bases = {"depth": 0, "stencil": 1 << 19}
            self.depth.clear((0, 0, *SIZE), (1 << 24) - 1, 0, bases)
            self.began = True
        setup = triangle_setup.setup(part.triangles, fields)
        self.depth.test(tile_rasterizer.rasterize(setup.records)[0])


def moves(counters):
    """Fills and write-backs of tiles of depths and stencil values, by mode."""
    name = re.compile(r"(depth|stencil)_(fill|write_back)_\d+")
    return {key: count for key, count in counters.items() if count and name.fullmatch(key)}


@pytest.mark.plan("coded-tiles-7")
@pytest.mark.parametrize("flushes", [False, True])
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_memory_is_what_the_caches_of_the_top_leave(samples, flushes):
    """Every code and every byte of depths and stencil values, however often they are written."""
    rng = np.random.default_rng(samples)
    scene = Scene(*SIZE, samples)
    scene.context.ps.set_shader(None)
    top = scene.device.machine.watch = Top()
    for compare in (Compare.LESS, Compare.GREATER, Compare.ALWAYS, Compare.LESS_EQUAL):
        state = DepthStencilState(
            depth_func=compare,
            stencil_enable=compare == Compare.GREATER,
            front_face=INCREMENTS,
            back_face=INCREMENTS,
        )
        scene.context.om.set_depth_stencil_state(state)
        vertices = triangles(rng, 7)
        scene.bind(vertices)
        scene.context.draw(len(vertices))
        if flushes:
            scene.context.flush()
    scene.context.flush()
    top.depth.flush()
    seen = set()
    for name, coded in zip(("depth", "stencil"), planes_of(scene), strict=True):
        codes = coded.codes.reshape(-1)
        sizes = coded.sizes.reshape(-1)
        for n, (mode, data) in enumerate(top.depth.caches[name].stored()):
            assert (codes[n], sizes[n]) == (mode, len(data))
            assert coded.place(n)[: len(data)].tobytes() == data
            seen.add((name, mode))
    if not flushes:
        assert moves(scene.device.machine.totals) == moves(by_name(top.depth.traffic))
    assert {("depth", TileMode.PLANES_1), ("depth", TileMode.PLANES_2)} <= seen
    assert ("stencil", TileMode.RAW) in seen and len(seen) > 5


def story(coded, form, samples):
    """Everything that touches depths, in turn: what they are after each step."""
    rng = np.random.default_rng(samples)
    scene = Scene(*SIZE, samples, form, coded=coded)
    host, context = scene.device, scene.context
    held = []

    def keep():
        held.append(context.read(scene.depths).copy())

    keep()
    state = DepthStencilState(stencil_enable=True, front_face=INCREMENTS, back_face=INCREMENTS)
    context.om.set_depth_stencil_state(state)
    vertices = triangles(rng, 6)
    scene.bind(vertices)
    context.draw(len(vertices))
    keep()
    # Depths of a shader, discards: behind a late test.
    scene.shade(_rippled, depth="any", discards=True)
    context.draw(len(vertices))
    keep()
    other = host.create_texture2d(form, *SIZE, sample_count=samples, bind=Bind.DEPTH_STENCIL)
    context.copy_resource(other, scene.depths)
    context.clear_depth_stencil_view(scene.depth, depth=0.25)
    keep()
    held.append(context.read(other).copy())
    context.draw(len(vertices))
    if form != Format.D32_FLOAT:
        context.clear_depth_stencil_view(scene.depth, stencil=7)
    keep()
    held.append(scene.image())
    return held, scene


def _rippled(quads, _bound):
    depth = (quads.x * 5 + quads.y * 3) % 16 / np.float32(16)
    colour = np.stack([depth, depth, depth, depth], -1).astype(np.float32)
    return PixelResults(colour, (quads.x + quads.y) % 3 == 0, depth.astype(np.float32))


@pytest.mark.plan("coded-tiles-7")
@pytest.mark.parametrize("samples", [1, 4, 8])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_nobody_can_tell_that_depths_are_coded(form, samples):
    (plain, raw), (found, scene) = (story(coded, form, samples) for coded in (False, True))
    assert scene.depths.layout.coded and not raw.depths.layout.coded
    for expected, its in zip(plain, found, strict=True):
        assert (expected == its).all()
    assert len(np.unique(plain[2])) > 10


@pytest.mark.plan("coded-tiles-7")
def test_depths_of_a_shader_belong_to_no_plane():
    """What two planes then cover, each in part, is not known to be theirs alone."""
    scene = Scene(40, 40)
    scene.draw(WHOLE)
    scene.shade(_rippled, depth="any", discards=True)
    scene.context.om.set_depth_stencil_state(DepthStencilState(depth_func=Compare.ALWAYS))
    scene.draw(WHOLE)
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    scene.draw(HALVES[:3], z=0.25)
    scene.draw(HALVES[3:], z=0.75)
    scene.context.flush()
    depth, _ = planes_of(scene)
    is_cut = np.fliplr(np.eye(5, dtype=bool))
    assert (depth.codes[~is_cut] == TileMode.PLANES_1).all()
    assert (depth.codes[is_cut] > DIFFERENCES).all()


@pytest.mark.plan("coded-tiles-7")
def test_a_shader_reads_depths_and_stencil_values_that_are_coded():
    images = []
    for coded in (False, True):
        scene = Scene(*SIZE, coded=coded)
        host, context = scene.device, scene.context
        made = host.create_texture2d(Format.R24G8_TYPELESS, *SIZE, bind=Bind.DEPTH_STENCIL | READ)
        view = host.create_depth_stencil_view(made, Format.D24_UNORM_S8_UINT)
        context.clear_depth_stencil_view(view, 1.0, 9)
        context.om.set_render_targets([scene.target], view)
        vertices = triangles(np.random.default_rng(1), 3)
        scene.bind(vertices)
        context.draw(len(vertices))
        context.om.set_render_targets([scene.target])
        both = (Format.R24_UNORM_X8_TYPELESS, Format.X24_TYPELESS_G8_UINT)
        views = [host.create_shader_resource_view(made, form) for form in both]
        context.ps.set_shader_resources(0, views)

        def shown(quads, bound):
            places = np.stack([quads.x, quads.y], -1)
            colour = bound.fetch(0, places) + bound.fetch(1, places) / np.float32(16)
            return PixelResults(colour.astype(np.float32))

        scene.shade(shown)
        scene.draw(WHOLE)
        images.append(scene.image())
    assert (images[0] == images[1]).all()
    assert len(np.unique(images[0])) > 20


@pytest.mark.plan("coded-tiles-7")
def test_bytes_of_depths_and_stencil_values_are_counted():
    """35 tiles: cleared, then of one plane each, which is a transfer; stencil values are raw."""
    scene = Scene(*SIZE)
    counters = scene.device.machine.totals
    state = DepthStencilState(stencil_enable=True, front_face=INCREMENTS, back_face=INCREMENTS)
    scene.context.om.set_depth_stencil_state(state)
    names = [
        f"{name}_bytes_{done}" for name in ("depth", "stencil") for done in ("read", "written")
    ]
    for z, expected in ((0.5, (0, 32, 0, 64)), (0.25, (32, 64, 64, 128))):
        scene.draw(WHOLE, z=z)
        scene.context.flush()
        assert [counters[name] for name in names] == [35 * octets for octets in expected]


@pytest.mark.plan("coded-tiles-7")
@pytest.mark.parametrize("coded", [False, True])
def test_hiz_knows_depths_that_memory_holds(coded):
    """Nearer than the clear, farther than what has been drawn: only that is passed by it."""
    scene = Scene(*SIZE, coded=coded)
    scene.draw(HALVES[:3], z=0.25)
    scene.context.flush()
    scene.context.om.set_depth_stencil_state(DepthStencilState(depth_func=Compare.GREATER))
    scene.draw(WHOLE, colour=(0, 1, 0, 1), z=0.5)
    is_green = (scene.image()[:, :, 0] == (0, 255, 0, 255)).all(2)
    depths = scene.context.read(scene.depths)[:, :, 0, :3].copy().view(np.uint8)
    assert 0.4 < is_green.mean() < 0.6
    assert (is_green == (depths[..., 2] == 0x80)).all()


@pytest.mark.plan("coded-tiles-7")
def test_a_clear_of_a_plane_writes_its_table_alone():
    scene = Scene(*SIZE)
    scene.draw(WHOLE)
    scene.context.flush()
    memory = scene.device.memory
    depth, stencil = planes_of(scene)
    before = [depth.place(n).copy() for n in range(35)]
    assert (depth.codes == TileMode.PLANES_1).all()
    scene.context.clear_depth_stencil_view(scene.depth, depth=0.5)
    scene.context.flush()
    assert (depth.codes == TileMode.CLEARED).all()
    assert (stencil.codes == TileMode.CLEARED).all()
    assert all((depth.place(n) == octets).all() for n, octets in enumerate(before))
    assert memory.any()


@pytest.mark.plan("coded-tiles-7")
def test_a_copy_of_cleared_tiles_is_cleared():
    """No plane is known of what a copy brings: where it is the clear's value, none is needed."""
    scene = Scene(*SIZE)
    host, context = scene.device, scene.context
    other = host.create_texture2d(Format.D24_UNORM_S8_UINT, *SIZE, bind=Bind.DEPTH_STENCIL)
    context.clear_depth_stencil_view(host.create_depth_stencil_view(other), 1.0)
    scene.draw(HALVES[:3], z=0.25)
    scene.context.flush()
    depth, _ = planes_of(scene)
    is_drawn = depth.codes != TileMode.CLEARED
    context.copy_resource(scene.depths, other)
    context.flush()
    assert 10 < is_drawn.sum() < 35
    assert (depth.codes == TileMode.CLEARED).all()


@pytest.mark.plan("coded-tiles-7")
@pytest.mark.parametrize("code", [5, 7, 9, 15])
def test_depths_that_cannot_be_are_told(code):
    scene = Scene(*SIZE)
    scene.context.flush()
    at = scene.depths.address
    scene.device.memory[at + 35 * 256 + HEAD] = code
    with pytest.raises(InputError, match=r"tile|code"):
        scene.context.read(scene.depths)
    with pytest.raises(InputError, match=r"tile|code"):
        scene.draw(WHOLE)
