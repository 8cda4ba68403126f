# SPDX-License-Identifier: BSD-2-Clause
"""Which draw states and planes a frame can be drawn with."""

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._place import TilePlace
from fixfunc.rtl.depth._rectangle import last_tile
from fixfunc.rtl.depth._samples import MOST
from fixfunc.rtl.depth._tile_memory import Surface
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.commands import ALIGNED
from fixfunc.spec.state import TARGET_LIMIT, VIEWPORT_MAX, VIEWPORT_MIN, DepthFormat

BITS = {"depth": payloads.DEPTH, "stencil": payloads.STENCIL, "colour": payloads.COLOUR}
FORMATS = DepthFormat.D16, DepthFormat.D24


def most_depth(form):
    """1.0 as a format stores it."""
    return Array(MOST[f] if f in FORMATS else 0 for f in range(4))[form]


def obeyed(state, params):
    """A draw state breaks no rule, and asks for nothing that is not there."""
    sides = [state[f"target_{side}"] for side in ("width", "height")]
    ends = [(state[f"{name}_{axis}0"], state[f"{name}_{axis}1"]) for name in ("viewport", "scissor") for axis in "xy"]
    rules = [
        *((side != 0) & (side <= params.pixels) for side in sides), *(first <= end for first, end in ends),
        *((end >= VIEWPORT_MIN) & (end <= VIEWPORT_MAX) for pair in ends[:2] for end in pair), *(end <= TARGET_LIMIT for _, end in ends[2:]),
        state.cull != 3, state.samples < params.samples.bit_length(), Cat(state.depth_format == form for form in FORMATS).any(),
        state.depth_min <= state.depth_max, state.depth_min <= most_depth(state.depth_format), state.early_write,
        *(~state[name][23:31].all() for name in ("bias_slope", "bias_clamp")), *(() if params.stencil else (~state.stencil_test,)),
    ]
    return Cat(*rules).all()


class PlanesFit(wiring.Component):
    """Whether planes of a target lie on boundaries, below a limit.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        Of the target; it holds.
    bases, limit : In
        Where planes lie, and the end of memory, in bytes.
    planes : In
        Which of them are asked about.
    o : Out(1)
        :attr:`LATENCY` clocks after the last change.
    """

    LATENCY = TilePlace.LATENCY + 3  # the target's last tile, its number, ends, verdict

    def __init__(self, edge):
        self._edge = edge
        super().__init__({"state": In(layout(payloads.DRAW_STATE)), "planes": In(len(BITS)), "limit": In(32), "o": Out(1)}
                         | {f"{plane}_base": In(32) for plane in BITS})

    def elaborate(self, platform):
        m = Module()
        m.submodules.number = number = TilePlace(self._edge)
        last = last_tile(m, self.state, self._edge)
        m.d.comb += [number.state.eq(self.state), number.x.eq(last[0]), number.y.eq(last[1])]
        count, fits = Signal(29), Signal(len(BITS))
        m.d.comb += count.eq(number.place + 1)
        for n, (plane, bits) in enumerate(BITS.items()):
            base, end = getattr(self, f"{plane}_base"), Signal(40, name=f"{plane}_end")
            table = Cat(Const(0, 5), ((count + 63) >> 6)[:23])
            m.d.sync += end.eq(base + (count << Surface(self._edge, bits).room) + table)
            m.d.comb += fits[n].eq((end <= self.limit) & ~base[:ALIGNED.bit_length() - 1].any())
        m.d.sync += self.o.eq((fits | ~self.planes).all())
        return m


def whole(state, clear):
    """A clear is of all of a target."""
    return ~clear.x0.any() & ~clear.y0.any() & (clear.x1 >= state.target_width) & (clear.y1 >= state.target_height)
