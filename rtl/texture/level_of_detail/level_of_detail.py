# SPDX-License-Identifier: BSD-2-Clause
"""Level of detail: coordinates of quads become levels, and footprints."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.level_of_detail.levels import PIXELS, TURN, Levels
from fixfunc.rtl.texture.state_feed import feed
from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.level_of_detail import (
    FOOTPRINTS_OF_QUAD,
    LOD_OF_QUAD,
    LOD_QUAD,
    LOD_STATE,
    LodKind,
)

BEATS = UnionLayout({"kind": 1, "state": layout(LOD_STATE), "quad": layout(LOD_QUAD)})


@dataclass(frozen=True)
class LevelOfDetailParams:
    """Shape of a :class:`LevelOfDetail`.

    Parameters
    ----------
    footprints : bool
        Anisotropic filters have several samples; else ``anisotropy`` of a state is nothing.
    """

    footprints: bool = True

    @property
    def levels(self) -> tuple[Field, ...]:
        """Field table of a beat out."""
        return FOOTPRINTS_OF_QUAD if self.footprints else LOD_OF_QUAD


CONFIGS = {
    "default": LevelOfDetailParams(),
    "isotropic": LevelOfDetailParams(footprints=False),
    "tiny": LevelOfDetailParams(),
}
PURPOSE = {  # of each configuration
    "default": "levels of textures of two dimensions, up to 16 samples along a footprint",
    "isotropic": "without anisotropy: the longer gradient alone, less area",
    "tiny": "for benches: the default by another name",
}


class LevelOfDetail(wiring.Component):
    """Levels of detail of quads, with biases, within bounds: a quad a clock.

    By the longer gradient; of an anisotropic filter by the minor axis of their ellipse, and then a
    quad takes four clocks, one a pixel.

    Parameters
    ----------
    params : LevelOfDetailParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.level_of_detail.LodKind`.
    o : Out(stream.Signature(layout(params.levels)))
        :attr:`latency` clocks behind a quad at the earliest, or behind its last clock.
    """

    def __init__(self, params: LevelOfDetailParams = CONFIGS["default"]) -> None:
        self._params = params
        self._levels = Levels(params.footprints)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(params.levels))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad to its levels."""
        return self._levels.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.levels = pipeline = StallablePipeline(self._levels, self._levels.latency)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        if not self._params.footprints:
            feed(m, self.i, pipeline, LodKind.QUAD)
        else:
            self._feed(m, pipeline)
        return m

    def _feed(self, m, pipeline):
        """As :func:`feed`; a quad of an anisotropic filter enters once a pixel.

        With the last one a beat is valid: the others, right before it, leave numbers alone.
        """
        state = Signal.like(pipeline.i.payload.state, name="state")
        pixel = Signal(TURN)
        beat = self.i.payload
        is_quad = named(m, beat.kind == LodKind.QUAD, "is_quad")
        several = named(m, state.anisotropy > 1, "several")
        is_last = named(m, ~several | (pixel == PIXELS - 1), "is_last")
        m.d.comb += [
            self.i.ready.eq(~is_quad | (pipeline.i.ready & is_last)),
            pipeline.i.valid.eq(self.i.valid & is_quad & is_last),
            pipeline.i.payload.state.eq(state),
            pipeline.i.payload.quad.eq(beat.quad),
            pipeline.i.payload.pixel.eq(pixel),
        ]
        with m.If(self.i.valid & is_quad & several & pipeline.i.ready):
            m.d.sync += pixel.eq(pixel + 1)
        with m.If(self.i.valid & ~is_quad):
            m.d.sync += state.eq(beat.state)
            # A level that is given has no gradients, so it has no footprint.
            with m.If(beat.state.explicit_level):
                m.d.sync += state.anisotropy.eq(0)
