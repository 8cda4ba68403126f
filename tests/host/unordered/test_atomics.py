# SPDX-License-Identifier: BSD-2-Clause
"""Atomic operations on what is bound for unordered access [fs 22.17.8-22.17.28]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.machine.unordered.atomics import apply
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, LEFT, MEMORY, RIGHT, WHOLE, Scene
from tests.host.unordered.words import OPERATIONS, STRIDE, VIEWS, Words, lanes_of, one_by_one

WRITTEN = Bind.UNORDERED_ACCESS
LANES = 96


def run(device, function, threads=LANES):
    """Run a thread group."""
    device.context.cs.set_shader(
        device.create_compute_shader(ComputeShader(function, (threads, 1, 1)))
    )
    device.context.dispatch(1)


@pytest.mark.plan("host-26")
@pytest.mark.parametrize("kind", [np.uint32, np.int32], ids=["uint", "sint"])
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("shown", VIEWS)
def test_lanes_change_words_one_after_the_other(shown, op, kind):
    """Some lanes off, many to one word, some outside on every side; three times in a row."""
    rng = np.random.default_rng([VIEWS.index(shown), OPERATIONS.index(op), kind is np.int32])
    device = Device(MEMORY)
    form = Format.R32_SINT if kind is np.int32 else Format.R32_UINT
    bind = WRITTEN | DRAWN if shown == "2d" else WRITTEN  # of tiles, too
    words = Words(device, shown, rng, form, bind)
    device.context.cs.set_unordered_access_views(3, [words.view])
    for _ in range(3):
        places = words.places(rng, LANES)
        lanes = lanes_of(rng, LANES)
        mask = rng.random(LANES) < 0.8
        got = []

        def change(waves, bound, places=places, lanes=lanes, mask=mask, got=got):
            where = places[waves.index]
            layer = where[..., -1] if words.has_layers else 0
            where = where[..., :-1] if words.has_layers else where
            if words.is_flat:
                where = where[..., 0]
            operand, compared = lanes[waves.index].astype(np.uint32).view(kind).transpose(2, 0, 1)
            more = {"compared": compared} if op == "compare_exchange" else {}
            active = waves.mask & mask[waves.index]
            got.append((active, bound.atomic(3, op, active, where, operand, layer=layer, **more)))

        run(device, change)
        ((active, before),) = got
        assert before.dtype == kind
        assert not before[~active].any()
        names = map(tuple, places[mask].tolist())
        right = one_by_one(words.held, names, lanes[mask].tolist(), op, kind)
        assert before[active].view(np.uint32).tolist() == right
        assert words.now() == words.held


@pytest.mark.plan("host-26")
@pytest.mark.parametrize("kind", [np.uint32, np.int32], ids=["uint", "sint"])
@pytest.mark.parametrize("op", OPERATIONS)
def test_long_runs_and_chains(op, kind):
    """Thousands of lanes to a few words; of none, too."""
    rng = np.random.default_rng(OPERATIONS.index(op))
    for count, words in ((0, 1), (1, 1), (257, 1), (1000, 3), (3000, 40), (3000, 3000)):
        for values in (2, 3, 50):
            held = rng.integers(0, values, words).astype("<u4")
            offsets = 4 * rng.integers(0, words, count)
            lanes = rng.integers(0, values, (count, 2))
            operand, compared = lanes.T.astype(np.uint32).view(kind)
            right_words = dict(enumerate(held.tolist()))
            right = one_by_one(right_words, (offsets // 4).tolist(), lanes.tolist(), op, kind)
            more = [compared] if op == "compare_exchange" else []
            got = apply(held.view(np.uint8), offsets, op, operand, *more)
            assert got.view(np.uint32).tolist() == right
            assert held.tolist() == list(right_words.values())


@pytest.mark.plan("host-26")
def test_a_chain_of_exchanges_through_all_lanes():
    """Each lane waits for the value of the one before it."""
    count = 1000
    word = np.zeros(1, "<u4")
    lane = np.arange(count, dtype=np.uint32)
    offsets = np.zeros(count, np.int64)
    before = apply(word.view(np.uint8), offsets, "compare_exchange", lane + np.uint32(1), lane)
    assert before.tolist() == lane.tolist()
    assert word.tolist() == [count]


@pytest.mark.plan("host-26")
def test_pixels_change_words_in_the_order_of_drawing():
    """A count of pixels, and the last one to come: helpers and pixels that are off do neither."""
    scene = Scene()
    device, context = scene.device, scene.context
    counter = device.create_buffer(16, WRITTEN)
    last = device.create_texture2d(Format.R32_UINT, 32, 24, bind=WRITTEN)
    views = [device.create_unordered_access_view(each) for each in (counter, last)]
    context.ps.set_unordered_access_views(1, views)
    seen = []

    def count(quads, bound):
        live = quads.live & (quads.y != 5)
        one = np.ones(live.shape, np.uint32)
        number = bound.atomic(1, "add", live, np.full(live.shape, 4), one)
        places = np.stack([quads.x, quads.y], -1)
        bound.atomic(2, "exchange", live, places, number + one)
        seen.append(number[live].tolist())
        return PixelResults(quads.floats(0))

    scene.shade(count, unordered=True)
    for points in (WHOLE, LEFT, RIGHT):
        scene.draw(points)
    pixels = 32 * 23
    assert [number for part in seen for number in part] == list(range(2 * pixels))
    assert context.read(counter).view("<u4").tolist() == [0, 2 * pixels, 0, 0]
    image = context.read(last).copy().view("<u4")[:, :, 0, 0]
    assert not image[5].any()
    image = np.delete(image, 5, 0)
    assert sorted(image[:, :16].ravel()) == list(range(pixels + 1, pixels + 1 + pixels // 2))
    assert sorted(image[:, 16:].ravel()) == list(range(pixels + 1 + pixels // 2, 2 * pixels + 1))


@pytest.mark.plan("host-26")
def test_threads_of_many_groups_take_turns_at_a_lock():
    """One of all threads finds the lock open; a histogram of all has every thread."""
    device = Device(MEMORY)
    buffer = device.create_buffer(64, WRITTEN)
    typeless = device.create_texture1d(Format.R8G8B8A8_TYPELESS, 8, bind=WRITTEN)
    bins = device.create_unordered_access_view(typeless, Format.R32_SINT)  # [fs 5.3.9.5]
    views = [device.create_unordered_access_view(buffer), bins]
    device.context.cs.set_unordered_access_views(0, views)
    winners = []

    def take(waves, bound):
        number = waves.dispatched[..., 0]
        lock = np.full(number.shape, 60)
        zero = np.zeros(number.shape, np.uint32)
        found = bound.atomic(0, "compare_exchange", waves.mask, lock, number + 1, zero)
        winners.extend(number[waves.mask & (found == 0)].tolist())
        one = np.ones(number.shape, np.int32)
        bound.atomic(1, "add", waves.mask, number[..., None] % 8, one)

    device.context.cs.set_shader(device.create_compute_shader(ComputeShader(take, (33, 1, 1))))
    device.context.dispatch(8)
    assert winners == [0]
    assert device.context.read(buffer).view("<u4").tolist() == [0] * 15 + [1]
    assert device.context.read(typeless).view("<i4").ravel().tolist() == [33] * 8


def tried(resource_of, flag=UnorderedFlag.NONE, slot=0, **given):
    """What an atomic operation on the resource raises, by a shader of one thread."""
    device = Device(MEMORY)
    resource, form = resource_of(device)
    view = device.create_unordered_access_view(resource, form, flag=flag)
    device.context.cs.set_unordered_access_views(0, [view])
    before = device.memory.copy()

    def change(waves, bound):
        shape = waves.mask.shape
        words = np.zeros(shape, np.uint32)
        arguments = {"op": "add", "mask": waves.mask, "places": words.astype(int)}
        arguments |= {"operand": words + np.uint32(1)} | given
        made = {n: value(shape) if callable(value) else value for n, value in arguments.items()}
        bound.atomic(slot, **made)

    try:
        run(device, change, 1)
    except InputError as error:
        span = slice(resource.address, resource.address + resource.size)
        assert (device.memory[span] == before[span]).all()
        return str(error)
    return None


def typed(form):
    """A buffer of texels of a format."""
    return lambda device: (device.create_buffer(64, WRITTEN), form)


def structures(device):
    return device.create_buffer(48, WRITTEN, stride=STRIDE), Format.UNKNOWN


def pairs(*pair):
    return lambda shape: np.broadcast_to(pair, (*shape, 2))


REFUSED = (
    *(Format.R32_FLOAT, Format.R32G32_UINT, Format.R16_UINT, Format.R8G8B8A8_UINT),
    *(Format.R8G8B8A8_UNORM, Format.R32G32B32A32_SINT),
)


@pytest.mark.plan("host-26")
@pytest.mark.parametrize("form", REFUSED, ids=lambda form: form.name)
def test_formats_of_another_kind_are_refused(form):
    found = tried(typed(form))
    rule = "format of the view must be R32_UINT or R32_SINT for atomic operations"
    assert f"{rule}, not {form.name}" in found


@pytest.mark.plan("host-26")
def test_lanes_that_break_a_rule():
    raw = typed(Format.UNKNOWN)
    for given, text in (
        ({"op": "subtract"}, "op must be one of and, or, xor, add"),
        ({"mask": lambda shape: np.ones(shape, int)}, "mask must be an array of bool, not int64"),
        ({"operand": np.ones}, "operand must be uint32 or int32 of shape"),
        ({"operand": lambda _: np.uint32(1)}, "operand must be uint32 or int32 of shape"),
        ({"operand": None}, "operand must be uint32 or int32 of shape"),
        ({"op": "compare_exchange"}, "compared must be given for compare_exchange alone"),
        ({"compared": lambda shape: np.ones(shape, np.uint32)}, "compared must be given for"),
        (
            {"op": "compare_exchange", "compared": lambda shape: np.ones(shape, np.int64)},
            "compared must be uint32 or int32 of shape",
        ),
        ({"places": lambda shape: np.zeros((*shape, 2), int)}, "places must be integers of shape"),
        ({"places": lambda shape: np.full(shape, 6)}, "places must be multiples of 4 bytes, not 6"),
    ):
        assert text in (tried(raw, **given) or ""), given
    text = "places must be multiples of 4 bytes, not 2"
    assert text in tried(structures, places=pairs(0, 2))
    assert "places must be integers of shape" in tried(structures)
    text = "flag of the view must not be APPEND"
    assert text in tried(structures, UnorderedFlag.APPEND, places=pairs(0, 0))
    assert tried(structures, UnorderedFlag.COUNTER, places=pairs(0, 0)) is None
    assert tried(raw, slot=5) is None


@pytest.mark.plan("host-26")
@pytest.mark.parametrize("place", [(0, 12), (1, -4), (3, 12), (4, 0), (-1, 0), (1 << 31, 8)])
def test_bytes_beyond_a_structure_are_no_word_of_the_next(place):
    """[fs 22.17.8]: what becomes of the buffer is undefined; here nothing is written."""
    device = Device(MEMORY)
    buffer, _ = structures(device)
    device.context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(buffer)])
    found = []

    def change(waves, bound):
        ones = np.ones(waves.mask.shape, np.uint32)
        found.append(bound.atomic(0, "max", waves.mask, pairs(*place)(waves.mask.shape), ones))

    run(device, change)
    assert not found[0].any()
    assert not device.context.read(buffer).any()


@pytest.mark.plan("host-26")
def test_work_that_fails_changes_no_word():
    scene = Scene()
    device, context = scene.device, scene.context
    buffer = device.create_buffer(data=np.arange(8, dtype="<u4"), bind=WRITTEN)
    texture = device.create_texture2d(Format.R32_UINT, 4, 4, bind=WRITTEN)
    views = [device.create_unordered_access_view(each) for each in (buffer, texture)]

    class Broken(Exception):
        pass

    def fails(lanes, bound):
        mask = getattr(lanes, "live", None)
        mask = lanes.mask if mask is None else mask
        ones = np.ones(mask.shape, np.uint32)
        bound.atomic(1, "add", mask, np.zeros(mask.shape, int), ones)
        bound.atomic(2, "add", mask, np.zeros((*mask.shape, 2), int), ones)
        raise Broken

    context.cs.set_unordered_access_views(1, views)
    context.cs.set_shader(device.create_compute_shader(ComputeShader(fails)))
    with pytest.raises(Broken):
        context.dispatch(1)
    context.cs.set_unordered_access_views(1, [None, None])
    context.ps.set_unordered_access_views(1, views)
    scene.shade(fails, unordered=True)
    with pytest.raises(Broken):
        scene.draw(WHOLE)
    for slot, axes in ((1, ()), (2, (2,)), (3, ())):

        def undeclared(quads, bound, slot=slot, axes=axes):
            shape = quads.x.shape
            ones = np.ones(shape, np.uint32)
            bound.atomic(slot, "add", quads.live, np.zeros((*shape, *axes), int), ones)

        scene.shade(undeclared)
        with pytest.raises(InputError, match="unordered access must be declared by the shader"):
            scene.draw(WHOLE)
    context.ps.set_shader(None)
    assert context.read(buffer).view("<u4").tolist() == list(range(8))
    assert not context.read(texture).any()
