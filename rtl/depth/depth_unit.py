# SPDX-License-Identifier: BSD-2-Clause
"""HiZ before the depth test."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.hiz import Bounds, Hiz, HizParams
from fixfunc.rtl.depth.test.depth_test import DepthTest, DepthTestParams
from fixfunc.rtl.depth.test.test_output import tested_beat
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat


@dataclass(frozen=True)
class DepthUnitParams:
    """Shape of a :class:`DepthUnit`; each parameter as of the block that it is for.

    Parameters
    ----------
    edge, samples, stencil
        Of both.
    tiles, formats, shader_depths
        Of the depth test.
    entries, clears, bounds
        Of HiZ.
    """

    edge: int = 8
    samples: int = 8
    stencil: bool = True
    tiles: int = 512
    formats: tuple = tuple(DepthFormat)
    entries: int = 1 << 12
    clears: int = 4
    shader_depths: bool = True
    bounds: Bounds = "both"

    def __post_init__(self):
        self.hiz, self.test  # noqa: B018 - their rules hold here

    @property
    def hiz(self) -> HizParams:
        """Of the HiZ."""
        return HizParams(
            self.edge,
            self.samples,
            self.entries,
            self.clears,
            self.stencil,
            self.formats,
            self.bounds,
        )

    @property
    def test(self) -> DepthTestParams:
        """Of the depth test."""
        return DepthTestParams(
            self.edge, self.samples, self.tiles, self.formats, self.stencil, self.shader_depths
        )


CONFIGS = {
    "default": DepthUnitParams(),
    "frame": DepthUnitParams(tiles=1 << 12),
    "tiny": DepthUnitParams(edge=4, tiles=256, entries=128, clears=2),
}
PURPOSE = {  # of each configuration
    "default": "HiZ of 4,096 tiles, depth test with 512 of them on chip",
    "frame": "the same with all 4,096 on chip: a small frame",
    "tiny": "for benches: 256 tiles of 4x4",
}
UNREAD = (*payloads.RASTER_STATE, *payloads.OUTPUT_STATE)  # of a draw state


class DepthUnit(wiring.Component):
    """Depth and stencil test of tiles behind HiZ, which hears what the test has left.

    One tile per clock, in order. What passes is what would pass without HiZ.

    Parameters
    ----------
    params : DepthUnitParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles and control beats, as :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz` takes them.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles with what passed, as :class:`~fixfunc.rtl.depth.test.depth_test.DepthTest` gives
        them, and with what HiZ found.
    shaded, answers : In, Out
        To a shader and back: see :class:`~fixfunc.rtl.depth.test.depth_test.DepthTest`.
    context, saved : In, Out
        Bounds saved and restored: see :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz`.
    """

    def __init__(self, params: DepthUnitParams = CONFIGS["default"]) -> None:
        self._params = params
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(tested_beat(params.edge))),
                "shaded": In(
                    stream.Signature(layout(payloads.shaded(params.edge, params.shader_depths)))
                ),
                "answers": Out(stream.Signature(layout(payloads.tile(params.edge)))),
                "context": In(stream.Signature(layout(payloads.context(params.edge)))),
                "saved": Out(stream.Signature(layout(payloads.context(params.edge)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.hiz = hiz = Hiz(self._params.hiz)
        m.submodules.test = test = DepthTest(self._params.test)
        wiring.connect(m, wiring.flipped(self.i), hiz.i)
        wiring.connect(m, hiz.o, test.i)
        wiring.connect(m, test.feedback, hiz.feedback)
        wiring.connect(m, test.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.context), hiz.context)
        wiring.connect(m, hiz.saved, wiring.flipped(self.saved))
        wiring.connect(m, wiring.flipped(self.shaded), test.shaded)
        wiring.connect(m, test.answers, wiring.flipped(self.answers))
        return m
