# SPDX-License-Identifier: BSD-2-Clause
"""Sorts of a frame's work, against a walk triangle by triangle and fragment by fragment."""

import operator
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.architecture import sorting
from fixfunc.models.architecture.frame_work import FRAGMENT, FrameWork, Screen
from fixfunc.models.architecture.hierarchical_tiler import TriangleLists
from fixfunc.models.architecture.sorting import OrderError, Sizes, image_order_needed, merge
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.raster.tile_rasterizer import write_tiles
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene, teapot
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare

SIZES = Sizes(batch=3)
SORTS = ["sort_first", "sort_middle", "sort_last_fragment", "sort_last_image", "sort_everywhere"]


def right_triangles(boxes, width=96, height=64):
    """A frame of the lower left halves of boxes; some of a pixel, some of the whole screen."""
    found = []
    for number, (x0, y0, x1, y1) in enumerate(boxes):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                if (x - x0) * max(y1 - y0, 1) <= (y - y0) * max(x1 - x0, 1):
                    found.append((number, x, y))
    return FrameWork(width, height, np.array(boxes).reshape(-1, 4), np.array(found, FRAGMENT))


def frame(rng, count=40, width=96, height=64):
    boxes = []
    for _ in range(count):
        size = rng.choice([1, 1, 3, 9, 30, 96], 2)
        x0, y0 = int(rng.integers(width)), int(rng.integers(height))
        x1, y1 = min(x0 + int(size[0]), width) - 1, min(y0 + int(size[1]), height) - 1
        boxes.append((x0, y0, max(x1, x0), max(y1, y0)))
    return right_triangles(boxes, width, height)


def run(name, work, screen):
    more = {"ordered": False} if name == "sort_last_image" else {}
    return getattr(sorting, name)(work, screen, SIZES, **more)


def owner_of(x, y, screen):
    """Of a pixel: rows of tiles begin with units 0, s, 2 s, ..., s being the root, rounded down."""
    step = max(n for n in range(1, 100) if n * n <= screen.units)
    return (y // screen.tile * step + x // screen.tile) % screen.units


def naive(name, work, screen):
    """Bytes, and work of each unit by stage, one thing after the other."""
    units = range(screen.units)
    done = {stage: Counter() for stage in ("geometry", "setup", "raster", "pixel")}
    moved = Counter()
    load = Counter()
    fragments = {number: [] for number in range(work.triangles)}
    for number, x, y in work.fragments.tolist():
        fragments[number].append(owner_of(x, y, screen))
    for number, (x0, y0, x1, y1) in enumerate(work.boxes.tolist()):
        turn = number // SIZES.batch % screen.units
        touched = {owner_of(x, y, screen) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)}
        if name == "sort_everywhere":
            least = min(units, key=lambda unit: (load[unit], unit))
            load[least] += 1 + len(fragments[number])
        else:
            least = turn
        owners = touched if name in ("sort_first", "sort_middle") else {least}
        for unit in touched if name == "sort_first" else {turn}:
            done["geometry"][unit] += 1
            moved["primitives"] += 96 * (name == "sort_first")
        for unit in owners:
            done["setup"][unit] += 1
            moved["transformed"] += 144 * (name in ("sort_middle", "sort_everywhere"))
        for owner in fragments[number]:
            made = owner if len(owners) > 1 or name in ("sort_first", "sort_middle") else least
            done["raster"][made] += 1
            done["pixel"][turn if name == "sort_last_image" else owner] += 1
            moved["fragments"] += 32 * (name in ("sort_last_fragment", "sort_everywhere"))
    images = {"sort_last_image": screen.units, "sort_everywhere": 1}.get(name, 0)
    moved["pixels"] = 8 * images * work.width * work.height
    return +moved, {stage: [found[unit] for unit in units] for stage, found in done.items()}


@pytest.mark.plan("sorting-1")
@pytest.mark.parametrize("name", SORTS)
def test_work_is_that_of_a_walk(name):
    rng = np.random.default_rng(SORTS.index(name))
    for units, tile in ((1, 8), (2, 8), (3, 16), (4, 1), (5, 64)):
        work = frame(rng)
        found = run(name, work, Screen(units, tile))
        moved, done = naive(name, work, Screen(units, tile))
        assert found.moved == moved
        for stage, expected in done.items():
            assert getattr(found, stage).tolist() == expected, stage
            most = max(expected) * units
            assert found.imbalance(stage) == Fraction(most, sum(expected))
        assert found.raster.sum() == found.pixel.sum() == len(work.fragments)


@pytest.mark.plan("sorting-2")
def test_what_the_documents_say_of_each_sort():
    """Sort-last does nothing twice; merging images moves most; a network everywhere is even."""
    rng = np.random.default_rng(7)
    small = [(x, y, x + 2, y + 2) for x in range(0, 90, 3) for y in range(0, 60, 3)]
    large = [(0, 0, 95, 63)] * 8
    mixed = [*small[:304], *large, *small[304:]]
    work = right_triangles(mixed)
    screen = Screen(4, 16)
    found = {name: run(name, work, screen) for name in SORTS}
    triangles = work.triangles
    assert found["sort_last_fragment"].overlap(triangles) == 1
    assert found["sort_first"].overlap(triangles) == found["sort_middle"].overlap(triangles) > 1
    assert found["sort_first"].geometry.sum() > triangles == found["sort_middle"].geometry.sum()
    # Eight large triangles are one unit's turn.
    uneven = sorting.sort_last_fragment(work, screen, Sizes(batch=8))
    assert uneven.imbalance("raster") > 2
    assert found["sort_everywhere"].imbalance("raster") < Fraction(3, 2)
    few = frame(rng, 10)
    images = run("sort_last_image", few, Screen(16, 16)).bytes
    assert images > max(run(name, few, Screen(16, 16)).bytes for name in SORTS[:3])


@pytest.mark.plan("sorting-2")
def test_two_units_own_a_checkerboard_and_four_a_square():
    y, x = np.mgrid[:6, :6]
    assert (Screen(2, 8).owner(x, y) == (x + y) % 2).all()
    for units, side in ((4, 2), (9, 3), (16, 4)):
        own = Screen(units, 8).owner(x, y)
        for top in range(6 - side):
            for left in range(6 - side):
                square = own[top : top + side, left : left + side]
                assert sorted(square.reshape(-1)) == list(range(units))


@pytest.mark.plan("sorting-2")
@pytest.mark.parametrize("units", [2, 4])
def test_small_tiles_are_even_and_large_ones_set_up_less(units):
    """One corner of the screen is crowded: large tiles leave it to few rasterizers."""
    rng = np.random.default_rng(8)
    corners = rng.integers(0, 28, (400, 2))
    work = right_triangles([(x, y, x + 3, y + 3) for x, y in corners.tolist()])
    found = [run("sort_middle", work, Screen(units, tile)) for tile in (2, 8, 32, 64)]
    uneven = [it.imbalance("raster") for it in found]
    setups = [it.overlap(work.triangles) for it in found]
    assert uneven[0] < Fraction(11, 10)
    assert uneven[-1] == units
    assert uneven == sorted(uneven)
    assert setups == sorted(setups, reverse=True)
    assert setups[-1] == 1


@pytest.mark.plan("sorting-2")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_work_of_a_frame_is_what_it_covers(samples):
    """The teapot: pixels of which each triangle covers a sample, and bounds of them."""
    scene = Scene(*teapot(2), 64, 48, samples)
    drawn = render(scene)
    work = FrameWork.of_tiles(64, 48, samples, drawn.tiles, drawn.owner)
    expected = []
    for number, owner in enumerate(np.unique(drawn.owner)):
        image = np.zeros((48, 64, samples), bool)
        own = drawn.tiles[drawn.owner == owner]
        write_tiles(
            image[None], np.zeros(len(own), int), own["x"], own["y"], unpack(own["mask"]), samples
        )
        y, x = np.nonzero(image.any(2))
        expected += list(zip([number] * len(x), x.tolist(), y.tolist(), strict=True))
        assert work.boxes[number].tolist() == [x.min(), y.min(), x.max(), y.max()]
    assert work.fragments.tolist() == expected
    for name in SORTS:
        found = run(name, work, Screen(4, 16))
        assert found.pixel.sum() == found.raster.sum() == len(expected) > 1000


@pytest.mark.plan("sorting-3")
def test_sort_last_image_refuses_what_needs_order():
    work = frame(np.random.default_rng(1), 3)
    with pytest.raises(OrderError, match="frame must be drawn in any order where images are"):
        sorting.sort_last_image(work, Screen(2, 8), SIZES)


PASSES = {
    Compare.NEVER: lambda *_: False,
    Compare.LESS: operator.lt,
    Compare.EQUAL: operator.eq,
    Compare.LESS_EQUAL: operator.le,
    Compare.GREATER: operator.gt,
    Compare.NOT_EQUAL: operator.ne,
    Compare.GREATER_EQUAL: operator.ge,
    Compare.ALWAYS: lambda *_: True,
}


def drawn(triangles, shape, units, unit, compare=Compare.LESS):
    """A pipeline's image of its triangles, each a box, a depth and a colour, in order."""
    depths = np.full(shape, 1000, np.uint32)
    colours = np.zeros(shape, np.uint32)
    for number, (x0, y0, x1, y1, depth, colour) in enumerate(triangles):
        if number % units == unit:
            for y in range(y0, y1 + 1):
                for x in range(x0, x1 + 1):
                    if PASSES[compare](depth, int(depths[y, x])):
                        depths[y, x] = depth
                        colours[y, x] = colour
    return depths, colours


def some_triangles(rng, count=40):
    """Boxes of depths that all differ."""
    found = []
    for depth in rng.permutation(2000)[:count].tolist():
        x0, y0 = rng.integers(0, 20, 2).tolist()
        x1, y1 = x0 + int(rng.integers(12)), y0 + int(rng.integers(12))
        found.append((x0, y0, x1, y1, depth, int(rng.integers(1, 1 << 24))))
    return found


@pytest.mark.plan("sorting-3")
@pytest.mark.parametrize("compare", Compare, ids=lambda it: it.name)
def test_images_are_merged_where_the_nearest_is_seen(compare):
    """Where no order is asked for the picture is that of one pipeline; elsewhere it may differ."""
    needed = image_order_needed(depth_test=True, depth_write=True, depth_compare=compare)
    same = True
    for seed in range(4):
        triangles = some_triangles(np.random.default_rng(seed))
        images = [drawn(triangles, (32, 32), 3, unit, compare) for unit in range(3)]
        try:
            found = merge(*(np.stack(it) for it in zip(*images, strict=True)))
        except OrderError:
            same = False
            continue
        same &= (found[1] == drawn(triangles, (32, 32), 1, 0, compare)[1]).all()
    # What is never drawn, or only over a depth that no triangle has, is the same in any order.
    assert same == (not needed or compare in (Compare.NEVER, Compare.EQUAL))


@pytest.mark.plan("sorting-3")
@pytest.mark.parametrize(
    "change",
    [
        {"depth_test": False},
        {"depth_write": False},
        {"blend": True},
        {"logic_operation": True},
        {"stencil_test": True},
    ],
)
def test_states_that_need_order(change):
    nearest = {"depth_test": True, "depth_write": True, "depth_compare": Compare.LESS}
    assert not image_order_needed(**nearest)
    assert image_order_needed(**nearest | change)


@pytest.mark.plan("sorting-3")
@pytest.mark.parametrize("units", [1, 2, 5])
def test_merged_images_are_the_picture(units):
    triangles = some_triangles(np.random.default_rng(units))
    images = [drawn(triangles, (32, 32), units, unit) for unit in range(units)]
    found = merge(*(np.stack(it) for it in zip(*images, strict=True)))
    for one, two in zip(found, drawn(triangles, (32, 32), 1, 0), strict=True):
        assert (one == two).all()


@pytest.mark.plan("sorting-3")
def test_equal_depths_of_two_images_are_refused():
    depths = np.full((2, 2, 2), 9, np.uint32)
    colours = np.zeros((2, 2, 2), np.uint32)
    assert not merge(depths, colours)[1].any()
    colours[1, 1, 0] = 5
    with pytest.raises(OrderError, match="depths at 0,1 must differ where colours do, not 9"):
        merge(depths, colours)
    depths[1, 1, 0] = 8
    assert merge(depths, colours)[1].tolist() == [[0, 0], [5, 0]]
    with pytest.raises(InputError, match="colours must have the shape of depths"):
        merge(depths, colours[:1])


@pytest.mark.plan("sorting-4")
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_lists_have_what_a_tile_needs(levels):
    """Every triangle whose box touches it, in drawing order; no square that is not around it."""
    rng = np.random.default_rng(levels)
    work = frame(rng, 60)
    lists = TriangleLists.of(work, 8, levels)
    entries = 0
    expected = {}
    for number, box in enumerate(work.boxes.tolist()):
        for level in range(levels):
            x0, y0, x1, y1 = (it // (8 << level) for it in box)
            if (x0, y0) == (x1, y1) or level == levels - 1:
                break
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                entries += 1
                expected.setdefault((level, x, y), []).append(number)
    assert lists.entries == entries
    for y in range(8):
        for x in range(12):
            around = [expected.get((n, x >> n, y >> n), []) for n in range(levels)]
            found = lists.triangles(x, y).tolist()
            assert found == sorted(number for some in around for number in some)
            touched = {
                number
                for number, (x0, y0, x1, y1) in enumerate(work.boxes.tolist())
                if x0 // 8 <= x <= x1 // 8 and y0 // 8 <= y <= y1 // 8
            }
            assert touched <= set(found)
            assert levels > 1 or touched == set(found)


@pytest.mark.plan("sorting-4")
def test_levels_bound_the_lists():
    """A box of 32 pixels, wherever it lies: 9 tiles of 16, or at most 4 squares of 64."""
    boxes = [(x, y, x + 31, y + 31) for x in range(0, 200, 7) for y in range(0, 200, 7)]
    empty = np.zeros(0, FRAGMENT)
    work = FrameWork(256, 256, np.array(boxes), empty)
    flat = TriangleLists.of(work, 16, 1).entries
    deep = TriangleLists.of(work, 16, 3).entries
    assert flat > 7 * len(boxes)
    assert deep < 3 * len(boxes)
    small = FrameWork(256, 256, np.array([(16 * n, 0, 16 * n + 15, 15) for n in range(16)]), empty)
    assert TriangleLists.of(small).entries == 16


@pytest.mark.plan("sorting-5")
@pytest.mark.parametrize(
    "boxes, fragments, said",
    [
        ([(0, 0, 8, 7)], [], "boxes must end within 8 x 8, not these"),
        ([(3, 0, 2, 7)], [], "boxes must begin at 0 or above, and not end before, not these"),
        ([(0, 0, 1, 1)], [(1, 0, 0)], "fragments must be of 1 triangles, not others"),
        ([(0, 0, 1, 1)], [(0, 2, 0)], "fragments must lie within the boxes of their triangles"),
        ([(0, 0, 1)], [], r"boxes must have shape \(triangles, 4\), not \(1, 3\)"),
    ],
)
def test_frames_that_are_none(boxes, fragments, said):
    with pytest.raises(InputError, match=said):
        FrameWork(8, 8, np.array(boxes), np.array(fragments, FRAGMENT))


@pytest.mark.plan("sorting-5")
def test_parameters_that_are_none():
    work = frame(np.random.default_rng(1), 3)
    with pytest.raises(InputError, match="tile must be a power of two, not 12"):
        TriangleLists.of(work, 12)
    with pytest.raises(InputError, match="units must lie in 1..1024, not 0"):
        Screen(0, 8)
    with pytest.raises(InputError, match="batch must lie in 1..1048576, not 0"):
        Sizes(batch=0)


@pytest.mark.plan("sorting-5")
@pytest.mark.parametrize("name", SORTS)
def test_a_frame_of_nothing(name):
    work = FrameWork(8, 8, np.zeros((0, 4)), np.zeros(0, FRAGMENT))
    found = run(name, work, Screen(3, 4))
    assert found.overlap(0) == found.imbalance("raster") == 1
    assert found.setup.tolist() == [0, 0, 0]
    assert TriangleLists.of(work).entries == 0
