# SPDX-License-Identifier: BSD-2-Clause
"""The ray-box unit against exact integers and rationals; nodes that gathered rays fetch."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.architecture.ray_boxes import (
    BOX,
    FAR,
    GRID,
    RAY,
    STEEPEST,
    hits,
    reciprocals,
    reduced,
)
from fixfunc.models.architecture.ray_coherence import BoxTree, fetches, gathered, interleaved
from fixfunc.spec.errors import InputError


def some_boxes(rng, count, size=GRID):
    """Boxes of any size, many without a width on some axis, many at the grid's ends."""
    ends = rng.integers(0, GRID + 1, (2, count, 3))
    ends[1] = np.minimum(ends[0] + rng.integers(0, size + 1, (count, 3)), GRID)
    ends[1] = np.where(rng.random((count, 3)) < 0.1, ends[0], ends[1])
    ends[0] = np.where(rng.random((count, 3)) < 0.1, 0, ends[0])
    found = np.empty(count, BOX)
    found["low"] = ends.min(0)
    found["high"] = ends.max(0)
    return found


def aimed_rays(rng, boxes):
    """Rays that graze: aimed at corners and faces of a box, from outside, its corners or faces.

    Directions are cut down to 15 bits, so that some just miss; many have components of 0.
    """
    count = len(boxes)
    rays = np.empty(count, RAY)
    corner = np.where(rng.random((count, 3)) < 0.5, boxes["low"], boxes["high"])
    inside = boxes["low"] + (rng.random((count, 3)) * (boxes["high"] - boxes["low"])).astype(int)
    target = np.where(rng.random((count, 3)) < 0.7, corner, inside)
    origin = rng.integers(-FAR, FAR + 1, (count, 3))
    origin = np.where(
        rng.random((count, 3)) < 0.2, target + rng.integers(-2, 3, (count, 3)), origin
    )
    origin = np.clip(origin, -FAR, FAR)
    along = target - origin
    longest = np.maximum(np.abs(along).max(1, keepdims=True), 1)
    scale = -(-longest // STEEPEST) * rng.choice([1, 1, 50], (count, 1))
    direction = along // scale + rng.choice([0, 0, 0, -1, 1], (count, 3))
    direction = np.clip(direction, -STEEPEST, STEEPEST)
    direction[~direction.any(1), 0] = -1
    rays["origin"] = origin
    rays["direction"] = direction
    return rays


def exact_hits(rays, boxes):
    """Slabs by products: a / b <= c / d is a d <= c b, in 35 bits."""
    direction = rays["direction"]
    sign = np.where(direction < 0, -1, 1)
    one = (boxes["low"] - rays["origin"]) * sign
    two = (boxes["high"] - rays["origin"]) * sign
    near, far = np.minimum(one, two), np.maximum(one, two)
    size = np.abs(direction)
    found = np.ones(len(rays), bool)
    for i in range(3):
        found &= (size[:, i] > 0) | ((near[:, i] <= 0) & (far[:, i] >= 0))
        found &= (size[:, i] == 0) | (far[:, i] >= 0)
        for j in range(3):
            both = (size[:, i] > 0) & (size[:, j] > 0)
            found &= ~both | (near[:, i] * size[:, j] <= far[:, j] * size[:, i])
    return found


def rational_hit(ray, box):
    """Is there a t of 0 or more at which the ray is within the box?"""
    least, most = Fraction(0), None
    for axis in range(3):
        origin, step = int(ray["origin"][axis]), int(ray["direction"][axis])
        low, high = int(box["low"][axis]), int(box["high"][axis])
        if step == 0:
            if not low <= origin <= high:
                return False
            continue
        ends = sorted((Fraction(low - origin, step), Fraction(high - origin, step)))
        least = max(least, ends[0])
        most = ends[1] if most is None else min(most, ends[1])
    return least <= most


@pytest.mark.plan("ray-boxes-1")
def test_products_are_rationals():
    rng = np.random.default_rng(1)
    boxes = some_boxes(rng, 3000)
    rays = aimed_rays(rng, boxes)
    expected = [rational_hit(ray, box) for ray, box in zip(rays, boxes, strict=True)]
    assert exact_hits(rays, boxes).tolist() == expected
    assert 500 < sum(expected) < 2500


@pytest.mark.plan("ray-boxes-1")
def test_a_million_rays_and_none_is_missed():
    """Grazing rays, boxes of 4 to 16 bits a side, reciprocals of 4 to 33 bits."""
    rng = np.random.default_rng(2)
    count = 0
    for bits in (4, 6, 8, 16):
        for precision in (4, 8, 12, 33):
            parents = some_boxes(rng, 65536)
            within = rng.random((2, 65536, 3)) * (parents["high"] - parents["low"])
            ends = np.sort(within.astype(int), axis=0)
            boxes = np.empty(65536, BOX)
            boxes["low"] = parents["low"] + ends[0]
            boxes["high"] = parents["low"] + ends[1]
            rays = aimed_rays(rng, boxes)
            exact = exact_hits(rays, boxes)
            found = hits(rays, reduced(boxes, parents, bits), precision)
            assert not (exact & ~found).any()
            assert exact.any()
            count += len(rays)
    assert count >= 10**6


@pytest.mark.plan("ray-boxes-2")
def test_bits_buy_fewer_false_hits():
    """Of random rays, and boxes with 16 bits, each bit of the reciprocal leaves fewer."""
    rng = np.random.default_rng(3)
    boxes = some_boxes(rng, 100_000, GRID // 8)
    rays = np.empty(100_000, RAY)
    rays["origin"] = rng.integers(-FAR, FAR + 1, (100_000, 3))
    rays["direction"] = GRID // 2 - rays["origin"] + rng.integers(-GRID, GRID, (100_000, 3)) >> 3
    exact = exact_hits(rays, boxes)
    false = [int((hits(rays, boxes, bits) & ~exact).sum()) for bits in (4, 6, 8, 12, 33)]
    assert false == sorted(false, reverse=True)
    assert false[0] > 10 * false[3]
    assert false[-1] == 0


@pytest.mark.plan("ray-boxes-2")
@pytest.mark.parametrize("bits", [2, 5, 12, 33])
def test_reciprocals_are_bounds(bits):
    """Of every size: 2^32 / size lies between them, and they are a last place apart."""
    size = np.arange(1, STEEPEST + 1)
    less, more = reciprocals(size, bits)
    for one, low, high in zip(size.tolist(), less.tolist(), more.tolist(), strict=True):
        assert low * one <= 1 << 32 < high * one
        place = high - low
        assert low % place == 0
        assert place == max(1, 1 << max(0, ((1 << 32) // one).bit_length() - bits))


@pytest.mark.plan("ray-boxes-3")
@pytest.mark.parametrize("bits", [1, 4, 8, 16])
def test_reduced_boxes_enclose_theirs(bits):
    """By less than a step on each side, in no more than 2^bits steps."""
    rng = np.random.default_rng(4)
    parents = some_boxes(rng, 5000)
    within = np.sort((rng.random((2, 5000, 3)) * (parents["high"] - parents["low"])).astype(int), 0)
    boxes = np.empty(5000, BOX)
    boxes["low"] = parents["low"] + within[0]
    boxes["high"] = parents["low"] + within[1]
    found = reduced(boxes, parents, bits)
    for box, parent, own in zip(boxes, parents, found, strict=True):
        for axis in range(3):
            side = int(parent["high"][axis] - parent["low"][axis])
            step = 1
            while step << bits < side:
                step *= 2
            assert 0 <= box["low"][axis] - own["low"][axis] < step
            assert 0 <= own["high"][axis] - box["high"][axis] < step
            steps = (int(own["high"][axis]) - int(parent["low"][axis])) / step
            assert steps == int(steps) <= 1 << bits


@pytest.mark.plan("ray-boxes-4")
@pytest.mark.parametrize("bits", [3, 6, 16])
def test_a_tree_meets_every_box_that_its_rays_meet(bits):
    """Against each ray and each box, exactly; nodes are tested where the parent is met."""
    rng = np.random.default_rng(5)
    boxes = some_boxes(rng, 64, GRID // 8)
    rays = aimed_rays(rng, np.repeat(boxes, 8))
    tree = BoxTree.of(boxes, bits)
    tested, met = tree.tested(rays, 8)
    exact = np.stack([exact_hits(rays, np.repeat(box, len(rays))) for box in boxes], 1)
    assert not (exact & ~met).any()
    assert met.sum() >= exact.sum()
    at = {}
    for level, nodes in enumerate(tree.levels):
        for number, node in enumerate(nodes):
            at[level, number] = hits(rays, node, 8)
    nodes = [(level, k) for level in range(len(tree.levels)) for k in range(1 << level)]
    for place, (level, k) in enumerate(nodes):
        expected = np.ones(len(rays), bool)
        for up in range(1, level + 1):
            expected &= at[level - up, k >> up]
        assert (tested[:, place] == expected).all()


@pytest.mark.plan("ray-boxes-5")
def test_gathered_rays_share_their_nodes():
    """Rays of four eyes, shuffled: gathered by direction and origin a packet goes one way."""
    rng = np.random.default_rng(6)
    boxes = some_boxes(rng, 256, GRID // 16)
    eyes = np.array([[-FAR, 0, 0], [FAR, GRID, 0], [0, FAR, GRID], [GRID, -FAR, GRID]])
    rays = np.empty(2048, RAY)
    rays["origin"] = eyes[rng.integers(0, 4, 2048)]
    aim = rng.integers(0, GRID, (2048, 3))
    rays["direction"] = (aim - rays["origin"]) // 8
    tested, _ = BoxTree.of(boxes).tested(rays)
    shuffled = np.arange(2048)
    alone = fetches(tested, shuffled, 1)
    assert alone == tested.sum()
    assert sorted(gathered(rays)) == list(shuffled)
    together = fetches(tested, gathered(rays), 32)
    apart = fetches(tested, shuffled, 32)
    naive = sum(
        len({node for ray in range(n, n + 32) for node in np.flatnonzero(tested[ray])})
        for n in range(0, 2048, 32)
    )
    assert apart == naive
    assert 4 * together < 3 * apart
    assert 4 * apart < alone
    assert fetches(tested[:0], shuffled[:0], 4) == 0


@pytest.mark.plan("ray-boxes-5")
def test_the_order_is_by_direction_and_then_by_cell():
    rng = np.random.default_rng(7)
    values = rng.integers(0, 1 << 8, (50, 3))
    for row, found in zip(values.tolist(), interleaved(values, 8).tolist(), strict=True):
        bits = [row[axis] >> bit & 1 for bit in range(8) for axis in range(3)]
        assert found == sum(bit << n for n, bit in enumerate(bits))
    rays = np.zeros(5, RAY)
    rays["direction"] = [[1, 1, -1], [-1, 1, 1], [1, 1, 1], [9, 1, 1], [7, 7, 7]]
    rays["origin"][2] = FAR
    assert gathered(rays).tolist() == [3, 4, 2, 1, 0]


@pytest.mark.plan("ray-boxes-6")
@pytest.mark.parametrize(
    "origin, direction, said",
    [
        ((FAR + 1, 0, 0), (1, 0, 0), "origin must lie in -131072..131072, not 131073"),
        ((0, 0, 0), (0, -STEEPEST - 1, 0), "direction must lie in -32768..32768, not 32769"),
        ((0, 0, 0), (0, 0, 0), r"direction must not be zero, not \(0, 0, 0\)"),
    ],
)
def test_rays_that_are_none(origin, direction, said):
    rays = np.zeros(1, RAY)
    rays["origin"] = origin
    rays["direction"] = direction
    with pytest.raises(InputError, match=said):
        hits(rays, np.zeros(1, BOX))


@pytest.mark.plan("ray-boxes-6")
def test_boxes_that_are_none():
    boxes = np.zeros(3, BOX)
    with pytest.raises(InputError, match=r"boxes must be a power of two, not \(3,\)"):
        BoxTree.of(boxes)
    boxes["low"][1] = 5
    with pytest.raises(InputError, match="boxes must not have a low above its high, not one"):
        BoxTree.of(boxes)
    boxes["high"] = GRID + 1
    with pytest.raises(InputError, match="boxes must lie in 0..65536, not 65537"):
        BoxTree.of(boxes)
    with pytest.raises(InputError, match="boxes must be of BOX, not float64"):
        BoxTree.of(np.zeros(2))
    with pytest.raises(InputError, match="rays must be of RAY, not float64"):
        hits(np.zeros(2), boxes)
