# SPDX-License-Identifier: BSD-2-Clause
from functools import cache

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.quad_dispatch import dispatch
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.pixel_pipe.tile_feed import TileFeed
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatch, QuadDispatchParams
from fixfunc.spec.points import QUAD, quad_tile
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.pixel.quad_dispatch import masks
from tests.volume import LIMIT

EDGE = 8
TRIANGLES = 16
FETCH = 3  # clocks of a triangle, as of one attribute
KNOWN = 28  # clocks from a triangle that was fetched to its planes
HELD = 32  # quads that wait for these
TILE = quad_tile(EDGE)
QUADS = layout(QUAD)
OUT = StructLayout({"triangle": range(2 * TRIANGLES), "fetched": 1, "quad": QUADS})
FULL = "full", "full"


class Fed(wiring.Component):
    """The feed around a dispatch; triangles that take :data:`FETCH` clocks each to fetch, and an
    interpolator that knows their planes :data:`KNOWN` clocks later.

    A triangle is over when its first tile that faces away has come. With each quad comes whether
    its triangle had been fetched; with each tile, the clock in which it was taken.
    """

    i: In(stream.Signature(layout(TILE)))
    o: Out(stream.Signature(OUT))
    probe_taken: Out(stream.Signature(32))

    def elaborate(self, _platform):
        m = Module()
        m.submodules.feed = feed = TileFeed(EDGE, TRIANGLES)
        m.submodules.dispatch = unit = QuadDispatch(QuadDispatchParams(EDGE))
        m.submodules.held = held = StreamFIFO(OUT, HELD)
        wiring.connect(m, wiring.flipped(self.i), feed.i)
        wiring.connect(m, feed.tiles, unit.i)
        wiring.connect(m, unit.o, feed.quads)
        known = Signal(feed.current.shape())  # triangles that are
        ways = [Signal.like(known, name=f"fetched_{n}") for n in range(KNOWN)]
        step = Signal(range(FETCH))
        busy = Signal()
        last = step == FETCH - 1
        # Triangles whose quads have all gone make room.
        has_room = (ways[0] - feed.current)[: len(known)] < TRIANGLES
        m.d.comb += [
            feed.request.ready.eq((~busy | last) & has_room),
            self.probe_taken.valid.eq(self.i.valid & self.i.ready),
            feed.fetched.eq(busy & last),
            feed.forget.eq(self.i.valid & self.i.ready & self.i.payload.back),
        ]
        with m.If(feed.request.valid & feed.request.ready):
            m.d.sync += [busy.eq(1), step.eq(0)]
        with m.Elif(busy):
            m.d.sync += [step.eq(step + 1), busy.eq(~last)]
        m.d.sync += [
            self.probe_taken.payload.eq(self.probe_taken.payload + 1),
            ways[0].eq(ways[0] + feed.fetched),
            *(later.eq(before) for before, later in zip(ways, ways[1:] + [known], strict=True)),
        ]
        quad = feed.o.payload
        ahead = (ways[0] - quad.triangle)[: len(known)]
        turn = held.o.payload
        is_known = turn.triangle != known
        m.d.comb += [
            held.i.valid.eq(feed.o.valid),
            held.i.payload.triangle.eq(quad.triangle),
            held.i.payload.quad.eq(quad.quad),
            held.i.payload.fetched.eq((ahead != 0) & (ahead < 3 * TRIANGLES // 2)),
            feed.o.ready.eq(held.i.ready),
            self.o.payload.eq(turn),
            self.o.valid.eq(held.o.valid & is_known),
            held.o.ready.eq(self.o.ready & is_known),
        ]
        return m


@cache
def built():
    return Volume(Fed(), "tile_feed")


def tiles_of(slots, mask):
    """Tiles of triangles, at places of their own."""
    tiles = np.zeros(len(slots), dtype(TILE))
    tiles["slot"] = slots
    tiles["x"] = tiles["y"] = np.arange(len(slots)) % 256
    tiles["mask"] = tiles["covered"] = mask
    return tiles


def run(tiles, paces=FULL):
    """Clocks, beats out, and clocks in which tiles were taken."""
    count = len(dispatch(tiles, EDGE))
    rows = {"i": codec.pack(tiles, TILE)}
    found = built().run(rows, max(count, len(tiles)) + 1, paces, limit=LIMIT)
    assert len(found.outputs["o"]) == count
    return found.clocks, found.outputs["o"], found.outputs["probe_taken"][:, 0].astype(int)


def bits(rows, at, count):
    """So many bits of packed rows, as integers."""
    whole = [sum(int(word) << 64 * n for n, word in enumerate(row)) for row in rows]
    return [value >> at & (1 << count) - 1 for value in whole]


@pytest.mark.plan("pixel-pipe-17")
@pytest.mark.parametrize("source", PACES)
@pytest.mark.parametrize("sink", PACES)
def test_quads_have_the_number_of_their_triangle(source, sink):
    """Which is another one for each slot that follows another, and where a triangle was over."""
    rng = np.random.default_rng(2)
    count = 600
    tiles = tiles_of(np.repeat(rng.integers(0, 4, count), rng.integers(1, 5, count))[:count], 0)
    for name in ("mask", "covered"):
        tiles[name] = masks(rng, count, EDGE**2)
    tiles["mask"] |= np.where(tiles["mask"] == 0, np.uint64(1), np.uint64(0))
    tiles["samples"] = rng.integers(0, 4, count)
    tiles["by_sample"] = rng.integers(0, 2, count)
    tiles["back"] = rng.random(count) < 0.1
    is_new = np.ones(count, int)
    is_new[1:] = (np.diff(tiles["slot"].astype(int)) != 0) | (tiles["back"][:-1] == 1)
    numbers = (np.cumsum(is_new) - 1) % (2 * TRIANGLES)
    quads = dispatch(tiles, EDGE)
    of_tile = np.concatenate([[0], np.cumsum(quads["last"])[:-1]]).astype(int)
    _, rows, _ = run(tiles, (source, sink))
    number_bits = (2 * TRIANGLES - 1).bit_length()
    assert bits(rows, 0, number_bits) == numbers[of_tile].tolist()
    assert bits(rows, number_bits, 1) == [1] * len(rows)
    wanted = bits(codec.pack(quads, QUAD), 0, QUADS.size)
    assert bits(rows, number_bits + 1, QUADS.size) == wanted


TWO = 1 | 1 << 2  # samples of two quads of a tile


@pytest.mark.plan("pixel-pipe-17")
@pytest.mark.parametrize("each", [2, 3, 8])
def test_triangles_are_fetched_behind_the_quads_before(each):
    """Triangles of so many tiles, two quads each: a quad a clock, whatever a triangle waits for."""
    count = 240 * each
    clocks, rows, _ = run(tiles_of(np.arange(count) // each, TWO))
    assert len(rows) == 2 * count
    assert clocks <= len(rows) + FETCH + KNOWN + 24


@pytest.mark.plan("pixel-pipe-17")
def test_a_triangle_is_asked_for_as_its_first_tile_comes():
    """A pipe that has run dry waits for the triangle, and for no FIFO in front of its fetch."""
    clocks, *_ = run(tiles_of(np.zeros(1), 1))
    assert clocks <= FETCH + KNOWN + 3


@pytest.mark.plan("pixel-pipe-17")
def test_tiles_wait_for_quads():
    """A tile a clock comes in, while the quads of the first one still go out."""
    tiles = tiles_of(np.zeros(60), (1 << 64) - 1)
    *_, taken = run(tiles)
    assert np.diff(taken).tolist() == [1] * 59
