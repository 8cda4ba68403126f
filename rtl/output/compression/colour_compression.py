# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.rtl.output.compression.colour_coder import ColourCoder
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.compression.differences import CHANNELS
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import CODED, DECODED, STORED, UNCODED
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS


@dataclass(frozen=True)
class ColourCompressionParams:
    """Shape of a :class:`ColourCompression`.

    Parameters
    ----------
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    """

    samples: int = 8

    def __post_init__(self):
        if self.samples not in SAMPLE_COUNTS:
            names = ", ".join(map(str, SAMPLE_COUNTS))
            raise InputError("samples", f"be one of {names}", self.samples)

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": ColourCompressionParams(),
    "tiny": ColourCompressionParams(samples=2),
}
PURPOSE = {  # of each configuration
    "default": "up to 8 samples a pixel",
    "tiny": "for benches: up to 2 samples",
}


class ColourCompression(wiring.Component):
    """Code tiles of 8 by 8 colours of 32 bits for memory, and decode them, without loss.

    One tile per clock each way, in order, independently of one another; from beat to beat
    :attr:`latency` clocks, or :attr:`decoding_latency`, at the earliest.

    Parameters
    ----------
    params : ColourCompressionParams

    Members
    -------
    i_tile, o_coded : In, Out(stream.Signature(layout(...)))
        Tiles as :data:`fixfunc.spec.colours.UNCODED`, and ``CODED``; of no more samples
        than the unit knows.
    i_stored, o_tile : In, Out(stream.Signature(layout(...)))
        Tiles as ``STORED``, and ``DECODED``: ``wrong`` where code or data cannot be.
    """

    def __init__(self, params: ColourCompressionParams = CONFIGS["default"]) -> None:
        ports = {
            "i_tile": (In, UNCODED),
            "o_coded": (Out, CODED),
            "i_stored": (In, STORED),
            "o_tile": (Out, DECODED),
        }
        super().__init__(
            {name: flow(stream.Signature(layout(table))) for name, (flow, table) in ports.items()}
        )
        order = TileOrder(params.samples, CHANNELS)
        self._coder = ColourCoder(order)
        self._decoder = ColourDecoder(order)

    @property
    def latency(self) -> int:
        """Clocks from a tile to its code."""
        return self._coder.latency + StallablePipeline.AROUND

    @property
    def decoding_latency(self) -> int:
        """Clocks from a code to its tile."""
        return self._decoder.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ways = {
            "coding": (self._coder, self.i_tile, self.o_coded),
            "decoding": (self._decoder, self.i_stored, self.o_tile),
        }
        for name, (unit, source, sink) in ways.items():
            m.submodules[name] = way = StallablePipeline(unit, unit.latency)
            wiring.connect(m, wiring.flipped(source), way.i)
            wiring.connect(m, way.o, wiring.flipped(sink))
        return m
