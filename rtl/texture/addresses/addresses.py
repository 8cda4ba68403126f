# SPDX-License-Identifier: BSD-2-Clause
"""Texel addresses: places of quads become texels of their grids, and weights."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.addresses.axis import Axis
from fixfunc.rtl.texture.state_feed import feed
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.addresses import (
    ADDRESS_QUAD,
    ADDRESS_STATE,
    ADDRESSED_QUAD,
    EXTENT,
    AddressKind,
)

BEATS = UnionLayout({"kind": 1, "state": layout(ADDRESS_STATE), "quad": layout(ADDRESS_QUAD)})
PLACED = StructLayout({"state": layout(ADDRESS_STATE), "quad": layout(ADDRESS_QUAD)})
AXES = (("u", "x", "width", ("left", "right")), ("v", "y", "height", ("upper", "lower")))


@dataclass(frozen=True)
class AddressesParams:
    """Shape of :class:`Addresses`.

    Parameters
    ----------
    extent : int
        log2 of the greatest width and height: 5 to 14.
    """

    extent: int = EXTENT

    def __post_init__(self):
        if self.extent not in range(5, EXTENT + 1):
            raise InputError("extent", f"be 5 to {EXTENT}", self.extent)


CONFIGS = {
    "default": AddressesParams(),
    "small": AddressesParams(extent=11),
    "tiny": AddressesParams(extent=6),
}
PURPOSE = {  # of each configuration
    "default": "textures of up to 16,384 texels across",
    "small": "textures of up to 2,048 texels across: less area",
    "tiny": "for benches: textures of up to 64 texels across",
}


class Addresses(wiring.Component):
    """Texels of the grids of quads, by address modes, with weights, at any size: a quad a clock.

    Parameters
    ----------
    params : AddressesParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.addresses.AddressKind`.
    o : Out(stream.Signature(layout(ADDRESSED_QUAD)))
        :attr:`latency` clocks behind a quad at the earliest.
    """

    latency = Axis.LATENCY + 2 + StallablePipeline.AROUND

    def __init__(self, params: AddressesParams = CONFIGS["default"]) -> None:
        self._unit = Grids(params.extent)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(ADDRESSED_QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.grids = pipeline = StallablePipeline(self._unit, Grids.LATENCY)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        feed(m, self.i, pipeline, AddressKind.QUAD)
        return m


class Grids(wiring.Component):
    """Texels of the grids of a quad; free-running.

    Parameters
    ----------
    extent : int

    Members
    -------
    i : In(PLACED)
    o : Out(layout(ADDRESSED_QUAD))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = Axis.LATENCY + 2

    def __init__(self, extent: int) -> None:
        self._extent = extent
        super().__init__({"i": In(PLACED), "o": Out(layout(ADDRESSED_QUAD))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        gathers = delay(m, self.i.state.gathers, Axis.LATENCY + 1, "gathers")
        for pixel in range(4):
            found = []
            for name, place, size, names in AXES:
                m.submodules[f"axis_{name}{pixel}"] = axis = Axis(self._extent)
                m.d.sync += self._placed(m, axis.i, pixel, name, place, size)
                found.append(axis.o)
                m.d.sync += [
                    self.o[f"{names[0]}{pixel}"].eq(axis.o.first),
                    self.o[f"{names[1]}{pixel}"].eq(axis.o.second),
                    self.o[f"{name}{pixel}"].eq(axis.o.fraction),
                ]
            u, v = found
            corners = [(corner & 1, corner >> 1) for corner in range(4)]
            borders = Cat(u.borders[right] | v.borders[lower] for right, lower in corners)
            has_weight = Cat(
                (u.fraction.any() | (not right)) & (v.fraction.any() | (not lower))
                for right, lower in corners
            )
            counts = has_weight | gathers.replicate(4)
            m.d.sync += [
                self.o[f"borders{pixel}"].eq(borders),
                self.o[f"reads{pixel}"].eq(counts & ~borders),
            ]
        return m

    def _placed(self, m, request, pixel, name, place, size):
        """A place along an axis, with the size of its level."""
        state, quad = self.i.state, self.i.quad
        shifted = named(m, state[size] >> quad[f"level{pixel}"], f"shifted_{name}{pixel}")
        return [
            request.place.eq(quad[f"{place}{pixel}"]),
            request.size.eq(Mux(shifted.any(), shifted, 1)),
            request.offset.eq(state[f"offset_{name}"]),
            request.mode.eq(state[f"mode_{name}"]),
            request.smooth.eq(quad[f"smooth{pixel}"]),
        ]
