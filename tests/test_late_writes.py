# SPDX-License-Identifier: BSD-2-Clause
"""Draws whose tiles are written when the shader has decided, from command stream to picture."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference.top import take_notes
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.depth.depth_test import in_range, new_depths
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.models.top.shades import Shades, Shading
from fixfunc.rtl import top as rtl
from fixfunc.spec.commands import START
from fixfunc.spec.state import Compare, DepthFormat, Kind, StencilOp
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.bench import depths
from fixfunc.tb.frontend import streams
from tests.oracles import naive
from tests.volume import LIMIT, volume

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
EDGE = PARAMS.raster.edge
SIZE = 24
MIDDLE = 1 << 23
KEPT = 3  # every value before the draws: of stencil


def listed(*draws, cleared=MIDDLE):
    """A command stream: a target that is cleared, draws (state, triangles), a fence."""
    packets = CommandList().target(0, streams.PLANE, 2 * streams.PLANE).state(draws[0][0])
    packets.clear(
        (0, 0, SIZE, SIZE),
        depth=1,
        stencil=1,
        colour=1,
        depth_value=cleared,
        stencil_value=KEPT,
        colour_value=0x10203040,
    )
    for state, triangles in draws:
        packets.state(state).triangles(triangles)
    packets.fence(1, 1)
    start = np.zeros(1, dtype(START))
    start["address"] = streams.LISTS
    start["transfers"] = len(packets.transfers)
    start["limit"] = streams.SIZE
    return np.concatenate([streams.mark(start), packets.transfers])


def state_of(does, **fields):
    return draw_state(SIZE, SIZE, does=[does], **fields)


def flat(depth, count=1):
    """Triangles of one depth, a part of 1.0, over all of the target."""
    out = np.zeros(count, TRIANGLE)
    out["x1"] = out["y2"] = SIZE * 512
    for k in range(3):
        out[f"z{k}"] = int(depth * (1 << 32)) - (1 << 8)
    return out


class Drawn:
    """What a command stream leaves, by the golden machine, which the hardware has been held to."""

    def __init__(self, rows, shade, monkeypatch):
        monkeypatch.setattr(bench, "shade", shade)
        block = catalogue.block(BLOCK)
        _, _, mismatches, first = block.compare(
            volume(BLOCK, CONFIG), rows, CONFIG, ("full", "full"), limit=LIMIT
        )
        assert not mismatches, first
        self.machine = bench.machine(PARAMS, streams.memory(rows, PARAMS), shader=shade)
        start, _ = streams.starts(rows)[0]
        self.result = self.machine.draw(*(int(v) for v in start))
        self.shaded = sum(len(quads) for _, quads in self.result.probes["quads"])
        self.covered = sum(
            len(tiles) for kind, tiles in self.result.probes["raster"] if kind == Kind.WORK
        )
        self.passed = [int(passed) for passed in self.result.status["passed"]]

    def plane(self, name):
        colours = self.machine.colour.planes[0]
        cache = colours.cache if name == "colour" else self.machine.depth.caches[name]
        return cache.values()


def shader(survives=lambda n: n >= 0, depth=None):
    """All samples white; which survive, and their depths, by their number in the tile."""
    n = np.arange(EDGE**2).reshape(EDGE, EDGE)

    def shade(shading):
        shape = (len(shading.tiles), EDGE, EDGE)
        put_out = None if depth is None else np.broadcast_to(depth(n), shape).astype(np.uint32)
        return Shades(np.uint32(0xFFFFFFFF), np.broadcast_to(np.bool_(survives(n)), shape), put_out)

    return shade


STENCIL = {
    "stencil_test": 1,
    "stencil_read": 255,
    "stencil_write": 255,
    "stencil_front_func": Compare.ALWAYS,
    "stencil_back_func": Compare.ALWAYS,
}


@pytest.mark.plan("top-16")
def test_what_is_discarded_changes_nothing(monkeypatch):
    """All of a tile, or every second sample of it."""
    counts = {f"stencil_{face}_pass": StencilOp.INCR for face in ("front", "back")}
    state = state_of("discard", **STENCIL, **counts)
    nothing = Drawn(listed((state, flat(0.25))), shader(lambda n: n < 0), monkeypatch)
    assert nothing.shaded == nothing.covered == (SIZE // EDGE) ** 2
    assert nothing.passed == [0]
    assert (nothing.plane("depth") == MIDDLE).all()
    assert (nothing.plane("stencil") == KEPT).all()
    assert (nothing.plane("colour") == 0x10203040).all()
    half = Drawn(listed((state, flat(0.25))), shader(lambda n: n % 2 == 0), monkeypatch)
    survives = np.arange(EDGE**2).reshape(EDGE, EDGE) % 2 == 0
    assert half.passed[0] == SIZE**2 // 2
    assert ((half.plane("depth") < MIDDLE) == survives).all()
    assert (half.plane("stencil") == KEPT + survives).all()
    assert ((half.plane("colour") == 0xFFFFFFFF) == survives).all()


@pytest.mark.plan("top-16")
@pytest.mark.parametrize(
    ("does", "drawn", "depth"),
    [
        ("depth_output", 0.9, lambda n: MIDDLE - 8 + n),
        ("depth_output", 0.1, lambda n: MIDDLE - 8 + n),
        ("depth_greater_equal", 0.1, lambda n: MIDDLE - 8 + n),
        ("depth_less_equal", 0.9, lambda n: MIDDLE - 8 + n),
    ],
)
def test_depths_of_the_shader_are_tested_and_written(does, drawn, depth, monkeypatch):
    """Wherever the triangle itself lies: before what is stored, or behind it."""
    state = state_of(does, hiz_drop=0)
    done = Drawn(listed((state, flat(drawn))), shader(depth=depth), monkeypatch)
    n = np.arange(EDGE**2).reshape(EDGE, EDGE)
    assert done.passed[0] == SIZE**2 // 2
    assert (done.plane("depth") == np.minimum(MIDDLE, MIDDLE - 8 + n)).all()
    assert ((done.plane("colour") == 0xFFFFFFFF) == (n < 8)).all()


@pytest.mark.plan("top-16")
def test_a_shader_with_other_effects_runs_on_hidden_tiles(monkeypatch):
    """But for early tests that are forced, which are those of a plain draw."""
    hidden = flat(0.75)
    runs = Drawn(listed((state_of("uav_writes"), hidden)), shader(), monkeypatch)
    assert runs.shaded == runs.covered > 0
    assert runs.passed == [0]
    assert (runs.plane("colour") == 0x10203040).all()
    assert Drawn(listed((state_of("plain"), hidden)), shader(), monkeypatch).shaded == 0


@pytest.mark.plan("top-16")
def test_early_rejection_changes_no_stencil_value(monkeypatch):
    """What is hidden is left out, unless its failing counts: then only where it survives."""
    survives = np.arange(EDGE**2).reshape(EDGE, EDGE) % 3 == 0
    keep = state_of("discard", **STENCIL, hiz_drop=0)
    left_out = Drawn(listed((keep, flat(0.75))), shader(), monkeypatch)
    assert (left_out.shaded, left_out.passed) == (0, [0])
    counts = {f"stencil_{face}_depth_fail": StencilOp.INCR for face in ("front", "back")}
    counted = state_of("discard", **STENCIL, **counts)
    done = Drawn(listed((counted, flat(0.75))), shader(lambda n: n % 3 == 0), monkeypatch)
    assert done.shaded == done.covered > 0
    assert done.passed == [0]
    assert (done.plane("stencil") == KEPT + survives).all()
    assert (done.plane("depth") == MIDDLE).all()


@pytest.mark.plan("top-16")
def test_an_early_draw_follows_a_late_one_on_the_same_tiles(monkeypatch):
    """Each layer is nearer where the one before it was not discarded, and farther elsewhere."""
    survives = np.arange(EDGE**2).reshape(EDGE, EDGE) % 2 == 0
    late = state_of("discard")
    early = state_of("plain", depth_compare=Compare.GREATER)
    layers = (late, flat(0.4, 3)), (early, flat(0.45)), (late, flat(0.3)), (early, flat(0.35))
    done = Drawn(listed(*layers), shader(lambda n: n % 2 == 0), monkeypatch)
    stored = done.plane("depth") / (1 << 24)
    assert np.abs(stored - np.where(survives, 0.35, 0.5)).max() < 1e-6
    quarter = SIZE**2 // 2
    assert done.passed[0] == 4 * quarter


@pytest.mark.plan("top-17")
def test_nothing_depends_on_the_pace_of_the_shader():
    """HiZ apart, which hears of writes sooner or later: beats, statuses and bytes."""
    rng = np.random.default_rng(3)
    draws = []
    for _ in range(12):
        state = depths.state(rng, (SIZE, SIZE), 1, 1)
        state["hiz_drop"] = state["hiz_accept"] = 0
        draws.append((state, depths.triangles(rng, 5, (SIZE, SIZE))))
    rows = listed(*draws)
    given = bench.inputs(rows, PARAMS)
    wanted = None
    for paces in (
        ("full", "full"),
        ("starved", "full"),
        ("random", "bursty"),
        ("bursty", "random"),
    ):
        memory = Memory(streams.memory(rows, PARAMS), (0, 8))
        outputs = (
            volume(BLOCK, CONFIG).run(given, 1 << 16, paces, limit=LIMIT, memory=memory).outputs
        )
        del outputs["counter_value"]  # of clocks, too
        for name in ("probe_hiz", "probe_depth"):
            take_notes(outputs[name], 0 * outputs[name], EDGE)
        wanted = wanted or (outputs, memory.data)
        assert (memory.data == wanted[1]).all()
        for name, beats in outputs.items():
            assert np.array_equal(beats, wanted[0][name]), name


def blended(new, fractions, old, state):
    """A colour as it is stored: naive."""
    out = 0
    for channel in range(4):
        drawn, stored = new >> 8 * channel & 255, old >> 8 * channel & 255
        if state["blend_enable"]:
            value, alpha = (number(new, fractions, n) for n in (channel, 3))
            drawn = int((value * alpha + stored * (255 - alpha)) / 255 + Fraction(1, 2))
        out |= (drawn if state["colour_write"] >> channel & 1 else stored) << 8 * channel
    return out


def number(new, fractions, channel):
    """A channel of a colour with its fraction, out of 255."""
    fraction = fractions >> 8 * channel & 255
    value = (new >> 8 * channel & 255) + Fraction(fraction - 256 * (fraction > 127), 256)
    return min(max(value, Fraction(0)), Fraction(255))


@pytest.mark.plan("top-16")
@pytest.mark.parametrize("form", [0, 1])
def test_the_golden_machine_is_a_sample_at_a_time(form):
    """Every covered sample is shaded, then tested, then blended, in the order of drawing."""
    rng = np.random.default_rng([5, form])
    draws = []
    for _ in range(25):
        state = depths.state(rng, (SIZE, SIZE), 1, form)
        state["hiz_drop"] &= state["early_reject"]  # the shader moves depths either way
        state["blend_enable"] = rng.integers(0, 2)
        state["colour_write"] = rng.choice([15, 15, rng.integers(0, 16)])
        draws.append((state, depths.triangles(rng, 3, (SIZE, SIZE))))
    cleared = MOST[DepthFormat(form)] // 2
    rows = listed(*draws, cleared=cleared)
    made = bench.machine(PARAMS, streams.memory(rows, PARAMS), shader=bench.shade)
    result = made.draw(*(int(v) for v in streams.starts(rows)[0][0]))
    depth = np.full((SIZE, SIZE), cleared, int)
    stencil = np.full((SIZE, SIZE), KEPT, int)
    colour = np.full((SIZE, SIZE), 0x10203040, int)
    triangles = 0
    passed = 0
    for (state, given), draw in zip(draws, result.draws, strict=True):
        values = {name: int(state[name]) for name in state.dtype.names}
        numbers = triangles + draw.setup.index[draw.owner]
        shades = bench.shade(Shading(draw.tiles, state, numbers)).complete(len(draw.tiles), EDGE)
        new = new_depths(draw.tiles, state, EDGE)
        survives = np.ones(new.shape, bool)
        if not values["early_write"]:
            new = np.where(shades.replaces[:, None, None], shades.depths, new)
            survives = shades.survivors
        new = in_range(new, state)
        for n, j, i in np.argwhere(unpack(draw.tiles["mask"], EDGE) & survives):
            tile = draw.tiles[n]
            at = int(tile["y"]) * EDGE + j, int(tile["x"]) * EDGE + i
            face = "back" if tile["back"] else "front"
            passes, depth[at], stencil[at] = naive.tested(
                values, face, int(new[n, j, i]), int(depth[at]), int(stencil[at])
            )
            passed += passes
            if passes:
                source = int(shades.colours[n, j, i]), int(shades.fractions[n, j, i])
                colour[at] = blended(*source, int(colour[at]), values)
        triangles += len(given)
    assert result.status["passed"][0] == passed > 0
    assert sum(not state["early_write"] for state, _ in draws) > 5

    def image(cache):
        return cache.values().swapaxes(1, 2).reshape(SIZE, SIZE)

    assert (image(made.colour.planes[0].cache) == colour).all()
    assert (image(made.depth.caches["depth"]) == depth).all()
    assert (image(made.depth.caches["stencil"]) == stencil).all()
