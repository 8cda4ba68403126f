# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.output.compression.colour_coder import ColourCoder
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.compression.colour_order import DEPTHS, ColourOrder
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import coded, decoded, stored, uncoded
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS


@dataclass(frozen=True)
class ColourCompressionParams:
    """Shape of a :class:`ColourCompression`.

    Parameters
    ----------
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    bits : int
        Of a channel: 8, or 16 for halves.
    """

    samples: int = 8
    bits: int = 8

    def __post_init__(self):
        if self.samples not in SAMPLE_COUNTS:
            names = ", ".join(map(str, SAMPLE_COUNTS))
            raise InputError("samples", f"be one of {names}", self.samples)
        if self.bits not in DEPTHS:
            raise InputError("bits", f"be one of {', '.join(map(str, DEPTHS))}", self.bits)

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())

    @property
    def colour(self) -> int:
        """Bits of a colour."""
        return 4 * self.bits


CONFIGS = {
    "default": ColourCompressionParams(),
    "halves": ColourCompressionParams(bits=16),
    "tiny": ColourCompressionParams(samples=2),
    "tiny_halves": ColourCompressionParams(samples=1, bits=16),
}
PURPOSE = {  # of each configuration
    "default": "colours of 32 bits, up to 8 samples a pixel",
    "halves": "colours of 64 bits, up to 8 samples a pixel",
    "tiny": "for benches: up to 2 samples",
    "tiny_halves": "for benches: colours of 64 bits, one sample",
}


class ColourCompression(wiring.Component):
    """Code tiles of 8 by 8 colours of 32 or 64 bits for memory, and decode them, without loss.

    One tile per clock each way, in order, independently of one another; from beat to beat
    :attr:`latency` clocks, or :attr:`decoding_latency`, at the earliest.

    Parameters
    ----------
    params : ColourCompressionParams

    Members
    -------
    i_tile, o_coded : In, Out(stream.Signature(layout(...)))
        Tiles as :func:`fixfunc.spec.colours.uncoded`, and ``coded``; of no more samples than the
        unit knows.
    i_stored, o_tile : In, Out(stream.Signature(layout(...)))
        Tiles as ``stored``, and ``decoded``: ``wrong`` where code or data cannot be.
    """

    def __init__(self, params: ColourCompressionParams = CONFIGS["default"]) -> None:
        ports = {
            "i_tile": (In, uncoded),
            "o_coded": (Out, coded),
            "i_stored": (In, stored),
            "o_tile": (Out, decoded),
        }
        super().__init__(
            {
                name: flow(stream.Signature(layout(table(params.colour))))
                for name, (flow, table) in ports.items()
            }
        )
        order = ColourOrder(params.samples, params.bits)
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
