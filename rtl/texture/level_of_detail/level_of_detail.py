# SPDX-License-Identifier: BSD-2-Clause
"""Level of detail: coordinates of quads become levels, and footprints."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.level_of_detail.levels import Levels
from fixfunc.rtl.texture.state_feed import feed
from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.level_of_detail import (
    FOOTPRINTS_OF_QUAD,
    GRADIENTS,
    LOD_OF_QUAD,
    LOD_QUAD,
    LOD_STATE,
    LodKind,
)


@dataclass(frozen=True)
class LevelOfDetailParams:
    """Shape of a :class:`LevelOfDetail`.

    Parameters
    ----------
    footprints : bool
        Anisotropic filters have several samples; else ``anisotropy`` of a state is nothing.
    gradients : bool
        Quads may bring gradients; else ``explicit_gradients`` of a state is nothing.
    """

    footprints: bool = True
    gradients: bool = False

    @property
    def quad(self) -> tuple[Field, ...]:
        """Field table of a quad in."""
        return (*LOD_QUAD, *GRADIENTS) if self.gradients else LOD_QUAD

    @property
    def beats(self) -> UnionLayout:
        """Layout of a beat in."""
        return UnionLayout({"kind": 1, "state": layout(LOD_STATE), "quad": layout(self.quad)})

    @property
    def levels(self) -> tuple[Field, ...]:
        """Field table of a beat out."""
        return FOOTPRINTS_OF_QUAD if self.footprints else LOD_OF_QUAD


CONFIGS = {
    "default": LevelOfDetailParams(),
    "isotropic": LevelOfDetailParams(footprints=False),
    "tiny": LevelOfDetailParams(),
    "tiny_gradients": LevelOfDetailParams(gradients=True),
}
PURPOSE = {  # of each configuration
    "default": "levels of textures of two dimensions, up to 16 samples along a footprint",
    "isotropic": "without anisotropy: the longer gradient alone, less area",
    "tiny": "for benches: the default by another name",
    "tiny_gradients": "the same, where quads may bring gradients: for cubes",
}


class LevelOfDetail(wiring.Component):
    """Levels of detail of quads, with biases, within bounds: a quad a clock.

    By the longer gradient; of an anisotropic filter by the minor axis of their ellipse. Then, or
    where it brings gradients, a quad takes four clocks, one a pixel.

    Parameters
    ----------
    params : LevelOfDetailParams

    Members
    -------
    i : In(stream.Signature(params.beats))
        STATE, or QUAD: :class:`fixfunc.spec.textures.level_of_detail.LodKind`.
    o : Out(stream.Signature(layout(params.levels)))
        :attr:`latency` clocks behind a quad at the earliest, or behind its last clock.
    """

    def __init__(self, params: LevelOfDetailParams = CONFIGS["default"]) -> None:
        self._params = params
        self._levels = Levels(params.footprints, params.gradients)
        super().__init__(
            {
                "i": In(stream.Signature(params.beats)),
                "o": Out(stream.Signature(layout(params.levels))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad to its levels."""
        return self._levels.latency + StallablePipeline.AROUND - 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.levels = pipeline = StallablePipeline(
            self._levels, self._levels.latency, places=1
        )
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        if not self._levels.turns:
            feed(m, self.i, pipeline, LodKind.QUAD)
            return m
        state = feed(m, self.i, pipeline, LodKind.QUAD, self._takes_turns)
        beat = self.i.payload
        # A level that is given has no gradients, so it has no footprint.
        with m.If(self.i.valid & (beat.kind != LodKind.QUAD) & beat.state.explicit_level):
            m.d.sync += [state.anisotropy.eq(0), state.explicit_gradients.eq(0)]
        return m

    def _takes_turns(self, state):
        """Quads under a state enter a pixel a clock."""
        several = (state.anisotropy > 1) & self._params.footprints
        return several | (state.explicit_gradients & self._params.gradients)
