# SPDX-License-Identifier: BSD-2-Clause
"""Which tiles a draw, a clear or a fence needs on chip."""

from collections.abc import Callable
from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._front import Front
from fixfunc.rtl.depth._place import TilePlace
from fixfunc.rtl.depth._rectangle import RECTANGLE, Within
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import Credit, Queue, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import CacheOp, Kind, Outcome, StencilOp

PLACES = 256  # of each queue: so many tiles are known to the caches before they are tested
BEYOND = (1 << 15) - 1  # a clear that reaches the target's edge is as good as one that goes on for ever


class Plane(NamedTuple):
    """What is asked for a plane of a target: ``asks(state, tile)`` tells whether a tile's values are used, needed, and may be written."""

    name: str  # as clears name it
    asks: Callable


def depth_asks(state, tile):
    """Depths: not of tiles that HiZ dropped; those accepted are read only if a part of them stays."""
    reads, writes = (tile.outcome == Outcome.TEST) & state.depth_test, state.depth_test & state.depth_write
    return (tile.outcome != Outcome.DROP) & (reads | writes), reads | ~tile.mask.all() | state.stencil_test, writes


def stencil_asks(state, tile):
    """Stencil values: all that is tested."""
    names = (f"stencil_{face}_{name}" for face in ("front", "back") for name in ("fail", "depth_fail", "pass"))
    changes = state.stencil_write.any() & Cat(state[name] != StencilOp.KEEP for name in names).any()
    return (tile.outcome != Outcome.DROP) & state.stencil_test, 1, changes


def colour_asks(state, tile):
    """Colours: of what passed; fetched unless all of a tile is written over."""
    return tile.mask.any() & state.colour_write.any(), ~tile.mask.all() | ~state.colour_write.all() | state.blend, 1


DEPTHS, STENCILS, COLOURS = Plane("depth", depth_asks), Plane("stencil", stencil_asks), Plane("colour", colour_asks)


def marked(edge, planes):
    """A beat, and what has been asked for it."""
    shape = beat(tile=payloads.tile(edge), **payloads.CONTROL)
    return StructLayout({"beat": shape, "asks": len(planes), "refused": 1, "clearing": 1, "whole": 1})


class SlotRequests(wiring.Component):
    """Ask a cache for each plane of every tile, in the order of drawing; one tile a clock.

    A clear of a part becomes tiles; one of all of the target, a CLEAR of the caches; a fence that flushes, a FLUSH. The
    rules of :class:`~fixfunc.rtl.depth._front.Front` hold: what must not be drawn is marked, and asks for nothing.

    Parameters
    ----------
    params
        ``edge``, ``samples``, ``modes``, ``formats``, ``stencil``, as of :class:`~fixfunc.rtl.depth.depth_test.DepthTestParams`.
    planes : sequence of Plane

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    ending : In(1)
        Nothing but a fence that flushes comes next, and not for long: the FLUSH goes ahead of it, with a beat ``whole``.
    o : Out(stream.Signature(marked(edge, planes)))
        All of them; tiles of clears too, and behind a CLEAR of all of the target one beat ``whole``.
    <plane> : Out(stream.Signature(layout(payloads.cache_request(edge))))
        One for each beat that ``asks`` there.
    """

    LATENCY = 1 + Within.LATENCY

    def __init__(self, params, planes):
        self._params, self._planes = params, planes
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        asked = stream.Signature(layout(payloads.cache_request(params.edge)))
        super().__init__({"i": In(stream.Signature(shape)), "ending": In(1), "o": Out(stream.Signature(marked(params.edge, planes)))}
                         | {plane.name: Out(asked) for plane in planes})

    def elaborate(self, platform):
        m = Module()
        p, names = self._params, tuple(plane.name for plane in self._planes)
        m.submodules.front = front = Front(p, self.LATENCY + 2, keeps=True, planes=names)
        m.submodules.credit = credit = Credit(PLACES, ahead=5)
        m.submodules.queue = queue = Queue(self.o.payload.shape(), PLACES)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        ahead, flushed = self._ahead(m, front)
        takes, room = front.valid | front.control | ahead, [credit.any]
        m.d.comb += [credit.take.eq(takes), credit.free.eq(self.o.valid & self.o.ready), front.walk.eq(1), front.once.eq(1)]

        # The tile's number, and whether a clear covers all of it.
        state, clear, late = front.state, front.clear, self.LATENCY
        m.submodules.number, m.submodules.within = number, within = TilePlace(p.edge), Within(p.edge)
        m.d.comb += [number.state.eq(state), number.x.eq(front.tile.x), number.y.eq(front.tile.y), within.samples.eq(state.samples),
                     within.x.eq(front.tile.x), within.y.eq(front.tile.y)]
        m.d.comb += [within.rectangle[name].eq(value) for name, value in reaching(clear, state).items()]
        spare = late - TilePlace.LATENCY
        tile, valid, clearing = (delay(m, value, late, name) for name, value in
                                 (("tile", front.tile), ("valid", front.valid), ("clearing", front.clearing)))
        place, outside = delay(m, number.place, spare, "place"), delay(m, number.outside, spare, "outside")
        covers = delay(m, within.o.all(), late - Within.LATENCY, "covers")

        out, asks, whole, legal = queue.i, Signal(len(names)), Signal(), delay(m, front.legal, late, "legal")
        m.d.comb += [whole.eq(clearing & front.whole), out.asks.eq(asks), out.clearing.eq(clearing | ahead), out.whole.eq((whole & valid) | ahead),
                     out.refused.eq(~clearing & (outside | ~legal)), queue.valid.eq(valid | front.control | ahead)]
        m.d.comb += out.beat.eq(front.beat)
        with m.If(~front.control):
            m.d.comb += [out.beat.tile.eq(tile), out.beat.tile.kind.eq(Kind.WORK)]
        front.report(m, out.beat, valid & ~clearing & outside)
        flushes = (front.control & (front.beat.kind == Kind.FENCE) & front.beat.fence.flush & ~flushed) | ahead
        request = {"state": state, "clear": clear, "tile": tile, "place": place, "covers": covers, "whole": whole, "flushes": flushes,
                   "clearing": clearing, "of_tile": valid & ~clearing & ~outside & legal, "of_clear": valid & clearing}
        for n, plane in enumerate(self._planes):
            m.d.comb += asks[n].eq(self._ask(m, plane, request))
            room.append(self._room(m, plane, takes, queue.valid & ~asks[n]))
        m.d.comb += [front.go.eq(Cat(room).all()), front.steps.eq(front.go)]
        return m

    def _ahead(self, m, front):
        """A flush ahead of its fence, as soon as nothing is under way here; returns whether it goes now, and whether it has gone."""
        rest, goes, gone, here, quiet = Signal(range(self.LATENCY + 3)), Signal(), Signal(), front.valid | front.control, Signal()
        m.d.comb += quiet.eq(self.ending & ~here & ~self.i.valid)
        m.d.sync += [rest.eq(Mux(quiet, rest + (rest != self.LATENCY + 2), 0)), gone.eq((gone | goes) & ~here),
                     goes.eq((rest == self.LATENCY + 2) & quiet & front.go & ~gone & ~goes)]
        return goes, gone

    def _room(self, m, plane, takes, drops):
        """Whether there is room for a plane's request: beats may have gone on long before theirs is taken."""
        m.submodules[f"{plane.name}_credit"] = credit = Credit(PLACES, ahead=5)
        port = getattr(self, plane.name)
        m.d.comb += [credit.take.eq(takes), credit.drop.eq(drops), credit.free.eq(port.valid & port.ready)]
        return credit.any

    def _ask(self, m, plane, given):
        """A plane's requests; returns whether there is one."""
        m.submodules[plane.name] = queue = Queue(layout(payloads.cache_request(self._params.edge)), PLACES)
        wiring.connect(m, queue.o, wiring.flipped(getattr(self, plane.name)))
        state, clear, out = given["state"], given["clear"], queue.i
        uses, needed, writes = plane.asks(state, given["tile"])
        op = Mux(given["flushes"], CacheOp.FLUSH, Mux(given["whole"], CacheOp.CLEAR, CacheOp.USE))
        clears = given["of_clear"] & clear[plane.name]
        m.d.comb += [queue.valid.eq((given["of_tile"] & uses) | clears | given["flushes"]), out.op.eq(op), out.x.eq(given["tile"].x),
                     out.y.eq(given["tile"].y), out.number.eq(given["place"] + given["whole"]),
                     out.needed.eq(Mux(given["clearing"], ~given["covers"], needed)),
                     out.writes.eq(given["clearing"] | writes), out.samples.eq(state.samples), out.cleared.eq(clear[f"{plane.name}_value"]),
                     out.base.eq(clear[f"{plane.name}_base"])]
        return queue.valid


def reaching(clear, state):
    """The rectangle of a clear, cut to the target, and beyond where it reaches its edge: assignments by name."""
    ends = {f"{axis}1": Mux(clear[f"{axis}1"] == state[f"target_{side}"], BEYOND, clear[f"{axis}1"])
            for axis, side in (("x", "width"), ("y", "height"))}
    return {name: ends.get(name, clear[name]) for name in RECTANGLE.members}
