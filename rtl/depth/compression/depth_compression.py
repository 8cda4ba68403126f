# SPDX-License-Identifier: BSD-2-Clause
"""Coding of depth tiles."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.tile_coder import TileCoder
from fixfunc.rtl.depth.compression.tile_decoder import TileDecoder
from fixfunc.rtl.depth.planes.plane_depths import FRACTION
from fixfunc.rtl.payload import layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles


@dataclass(frozen=True)
class DepthCompressionParams:
    """Shape of a :class:`DepthCompression`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    differences : bool
        Tiles that no planes give are coded by differences, where ``edge`` is 8; else by anchors.
    """

    edge: int = 8
    samples: int = 8
    differences: bool = True

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if self.differences and self.edge != 8:
            raise ValueError(f"differences must be False but of tiles of 8 by 8, not {self.edge}")

    # What a plane asks of its addends.
    unit = 16
    width = payloads.DEPTH + FRACTION
    step_bits = 32

    @property
    def mode_bits(self) -> int:
        """Bits of a tile's mode."""
        return 4 if self.differences else 3

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": DepthCompressionParams(),
    "anchors": DepthCompressionParams(differences=False),
    "tiny_differences": DepthCompressionParams(samples=2),
    "tiny": DepthCompressionParams(edge=4, differences=False),
}
PURPOSE = {  # of each configuration
    "default": "tiles of 8x8, differences where no planes give the depths",
    "anchors": "tiles of 8x8, anchors where no planes give the depths",
    "tiny_differences": "for benches: as default, of up to 2 samples a pixel",
    "tiny": "for benches: tiles of 4x4, anchors",
}


class DepthCompression(wiring.Component):
    """Code depth tiles for memory, and decode them, without loss.

    In order, each way independently of the other: a tile per clock, but four clocks for one that is
    coded by differences, or that differences could not code in fewer transfers than it takes raw;
    decoded, four clocks for differences alone. With anchors all take one. From beat to beat
    :attr:`latency` clocks, or :attr:`decoding_latency`, at the earliest.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i_tile, o_coded : In, Out(stream.Signature(layout(...)))
        Tiles as :func:`fixfunc.spec.memory.depth_tiles.uncoded`, and as
        :func:`fixfunc.spec.memory.depth_tiles.coded`.
    i_stored, o_tile : In, Out(stream.Signature(layout(...)))
        Tiles as :func:`fixfunc.spec.memory.depth_tiles.stored`, and as
        :func:`fixfunc.spec.memory.depth_tiles.decoded`:
        ``wrong`` where mode or data cannot be.
    """

    def __init__(self, params: DepthCompressionParams = CONFIGS["default"]) -> None:
        self._params = params
        edge = params.edge
        ports = {
            "i_tile": (In, depth_tiles.uncoded(edge)),
            "o_coded": (Out, depth_tiles.coded(edge, payloads.DEPTH, params.mode_bits)),
            "i_stored": (In, depth_tiles.stored(edge, params.mode_bits)),
            "o_tile": (Out, depth_tiles.decoded(edge)),
        }
        super().__init__(
            {name: flow(stream.Signature(layout(table))) for name, (flow, table) in ports.items()}
        )

    @property
    def latency(self) -> int:
        """Clocks from a tile to its code."""
        return TileCoder.latency(self._params)

    @property
    def decoding_latency(self) -> int:
        """Clocks from a code to its tile."""
        return TileDecoder.latency(self._params)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.coding = coding = TileCoder(self._params)
        m.submodules.decoding = decoding = TileDecoder(self._params)
        wiring.connect(m, wiring.flipped(self.i_tile), coding.i)
        wiring.connect(m, coding.o, wiring.flipped(self.o_coded))
        wiring.connect(m, wiring.flipped(self.i_stored), decoding.i)
        wiring.connect(m, decoding.o, wiring.flipped(self.o_tile))
        return m
