# SPDX-License-Identifier: BSD-2-Clause
"""Coding of tiles of colours."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.output.compression.colour_coder import ColourCoder
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.differences.colour_order import DEPTHS, ColourOrder
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

    In order, each way independently of the other: a tile per clock, but four clocks for one that is
    coded by differences, or that differences could not code in fewer bytes than it takes raw;
    decoded, four clocks for differences alone. From beat to beat :attr:`latency` clocks, or
    :attr:`decoding_latency`, at the earliest.

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
        return self._coder.latency

    @property
    def decoding_latency(self) -> int:
        """Clocks from a code to its tile."""
        return self._decoder.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.coding = coding = self._coder
        m.submodules.decoding = decoding = self._decoder
        wiring.connect(m, wiring.flipped(self.i_tile), coding.i)
        wiring.connect(m, coding.o, wiring.flipped(self.o_coded))
        wiring.connect(m, wiring.flipped(self.i_stored), decoding.i)
        wiring.connect(m, decoding.o, wiring.flipped(self.o_tile))
        return m
