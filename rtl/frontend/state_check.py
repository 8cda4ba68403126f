# SPDX-License-Identifier: BSD-2-Clause
"""State check: which draw states, clears and planes a frame can be drawn with."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.byte_range import END, ByteRange, disjoint, fits, surface_end
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.surface.rectangle import last_tile
from fixfunc.rtl.memory.surface.state_check import blending_known, most_depth
from fixfunc.rtl.memory.surface.tile_number import TileNumber
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, VIEWPORT_MAX, VIEWPORT_MIN

PLANE_BITS = {
    "depth": payloads.DEPTH,
    "stencil": payloads.STENCIL,
    "colour": payloads.COLOUR,
}


def plane_bits(colour_planes: int) -> dict[str, int]:
    """Bits of a value of each plane of a target; colour planes but the first have numbers."""
    return PLANE_BITS | {payloads.colour_plane(n): payloads.COLOUR for n in range(1, colour_planes)}


def state_supported(state: View, params: Any) -> Value:
    """Whether a draw state breaks no rule, and needs nothing that the hardware lacks."""
    sides = [state[f"target_{side}"] for side in ("width", "height")]
    ranges = [
        (state[f"{name}_{axis}0"], state[f"{name}_{axis}1"])
        for name in ("viewport", "scissor")
        for axis in "xy"
    ]
    rules = [
        *((side != 0) & (side <= params.pixels) for side in sides),
        *(first <= end for first, end in ranges),
        *((end >= VIEWPORT_MIN) & (end <= VIEWPORT_MAX) for pair in ranges[:2] for end in pair),
        *(end <= TARGET_LIMIT for _, end in ranges[2:]),
        state.cull != 3,
        state.samples < params.samples.bit_length(),
        Cat(state.depth_format == depth_format for depth_format in params.formats).any(),
        state.depth_min <= state.depth_max,
        state.depth_min <= most_depth(state.depth_format),
        *(~state[name][23:31].all() for name in ("bias_slope", "bias_clamp")),
        # Depths of centres that lie outside of their triangle fit no test.
        ~state.conservative
        | ~(state.samples.any() | state.depth_test | state.depth_write | state.stencil_test),
        *(() if params.conservative else (~state.conservative,)),
        *(() if params.stencil else (~state.stencil_test,)),
        *(() if params.ring else (~state.built_in,)),
        blending_known(
            *(state, params.colour_formats, params.second, params.colour_planes, params.floats)
        ),
    ]
    return Cat(*rules).all()


def covers_target(state: View, clear: View) -> Value:
    """Whether a clear covers all of the target of a draw state."""
    return (
        ~clear.x0.any()
        & ~clear.y0.any()
        & (clear.x1 >= state.target_width)
        & (clear.y1 >= state.target_height)
    )


class PlaneCheck(wiring.Component):
    """Check that the planes of a target lie on boundaries, end below a limit, and do not overlap.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    planes : sequence of str
        Those that targets have, of ``PLANE_BITS``.
    colour_planes : int
        Colour planes of a target.
    other : bool
        Planes are compared with another place in memory, too.

    Attributes
    ----------
    present : tuple of str
        Planes that targets have, further colour planes among them.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        Draw state of the target.
    <plane>_base : In(32)
        Address of a plane that is placed now, in bytes; as :func:`plane_bits` names them.
    <plane>_placed : In(32)
        Address of one that stays where it is.
    <plane>_begin : Out(32)
        Addresses of all of them, a clock later.
    limit : In(32)
        End of memory, in bytes.
    packets_begin, packets_end : In(32)
        Where the list of packets lies, in bytes.
    other_begin, other_end : In
        Another place in memory. Absent without ``other``, as is ``other_disjoint``.
    planes : In
        Planes that are placed now, in the order of :func:`plane_bits`.
    stays : In(colour_planes - 1)
        Colour planes but the first that the target has already. Absent if there are none.
    o : Out(1)
        Those that are placed now lie on boundaries, and end below the limit; :attr:`LATENCY`
        clocks after the last change of an input.
    disjoint : Out(1)
        No plane overlaps another, and none the packets; in the clock of ``o``.
    other_disjoint : Out(1)
        No plane overlaps the other place; in the clock of ``o``, and a clock behind a change of
        that place.
    """

    LATENCY = TileNumber.LATENCY + 4  # last tile, its columns, number, ends, result

    def __init__(
        self,
        edge: int,
        planes: Sequence[str] = tuple(PLANE_BITS),
        colour_planes: int = 1,
        other: bool = False,
    ) -> None:
        self._edge = edge
        self._other = other
        others = {"other_begin": In(32), "other_end": In(END), "other_disjoint": Out(1)}
        self._bits = plane_bits(colour_planes)
        self.present = (*planes, *(plane for plane in self._bits if plane not in PLANE_BITS))
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "planes": In(len(self._bits)),
                "limit": In(32),
                "packets_begin": In(32),
                "packets_end": In(32),
                "o": Out(1),
                "disjoint": Out(1),
            }
            | (others if other else {})
            | {f"{plane}_base": In(32) for plane in self._bits}
            | {f"{plane}_placed": In(32) for plane in self._bits}
            | {f"{plane}_begin": Out(32) for plane in self._bits}
            | ({"stays": In(colour_planes - 1)} if colour_planes > 1 else {})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.number = number = TileNumber(self._edge)
        last_x, last_y = last_tile(m, self.state, self._edge)
        m.d.comb += [
            number.state.eq(self.state),
            number.x.eq(last_x),
            number.y.eq(last_y),
        ]

        count = Signal(29)
        fit = Signal(len(self._bits))
        packets = ByteRange(self.packets_begin, self.packets_end)
        placed = {}
        pairs = []  # of places, whether they are disjoint
        m.d.comb += count.eq(number.number + 1)
        for n, (plane, bits) in enumerate(self._bits.items()):
            begin = getattr(self, f"{plane}_begin")
            base = getattr(self, f"{plane}_base")
            end = Signal(END, name=f"{plane}_end")
            m.d.sync += [
                begin.eq(Mux(self.planes[n], base, getattr(self, f"{plane}_placed"))),
                end.eq(surface_end(begin, count, Surface(self._edge, bits))),
            ]
            m.d.comb += fit[n].eq(fits(ByteRange(begin, end), self.limit))
            if plane in self.present:
                first = plane in PLANE_BITS
                present = None if first else self.planes[n] | self.stays[n - len(PLANE_BITS)]
                place = ByteRange(begin, end, present)
                pairs += [disjoint(place, earlier) for earlier in placed.values()]
                pairs.append(disjoint(place, packets))
                placed[plane] = place
        m.d.sync += [
            self.o.eq((fit | ~self.planes).all()),
            self.disjoint.eq(Cat(pairs).all()),
        ]
        if self._other:
            other = ByteRange(self.other_begin, self.other_end)
            planes = Cat(disjoint(place, other) for place in placed.values())
            m.d.sync += self.other_disjoint.eq(planes.all())
        return m
