# SPDX-License-Identifier: BSD-2-Clause
"""Edge function over the samples of a tile."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from amaranth.hdl import Cat, EnableInserter, Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.payload import layout
from fixfunc.rtl.raster.addends import Addends
from fixfunc.rtl.samples import REACH, SHAPES
from fixfunc.spec import payloads

Adder = Literal["carry_save", "shared"]


@dataclass(frozen=True)
class EdgeEvaluatorParams:
    """Shape of an :class:`EdgeEvaluator`.

    Parameters
    ----------
    edge : int
        Lanes along a side: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8. With 1, steps and values are per pixel, not per 1/16
        pixel.
    step_bits : int
        Width of the steps a and b.
    adder : str
        ``"carry_save"``: a lane is a 3:2 reducer and one carry-propagate adder. ``"shared"``: row
        terms and sample offsets are added once for all columns, so that a lane is one adder, which
        is smaller and takes one clock more.
    """

    edge: int = 8
    samples: int = 8
    step_bits: int = payloads.EDGE_STEP
    adder: Adder = "carry_save"

    def __post_init__(self):
        if self.edge not in (4, 8):
            raise ValueError(f"edge must be 4 or 8, not {self.edge!r}")
        if self.samples not in (1, 2, 4, 8):
            raise ValueError(f"samples must be 1, 2, 4 or 8, not {self.samples!r}")
        if not 2 <= self.step_bits <= 26:
            raise ValueError(f"step_bits must be 2 to 26, not {self.step_bits!r}")
        if self.adder not in get_args(Adder):
            raise ValueError(f"adder must be 'carry_save' or 'shared', not {self.adder!r}")

    @property
    def modes(self) -> range:
        """log2 of every sample count that the unit supports."""
        return range(self.samples.bit_length())

    @property
    def unit(self) -> int:
        """Steps in a pixel."""
        return 16 if self.samples > 1 else 1

    @property
    def span(self) -> int:
        """Greatest distance of two lanes of a tile, x and y together, in steps.

        The worst mode counts.
        """
        return max(
            sum(self.unit * ((self.edge >> shift) - 1) + 2 * REACH[mode] for shift in SHAPES[mode])
            for mode in self.modes
        )

    @property
    def width(self) -> int:
        """Bits of E that always give the right sign.

        A tile that no edge rejects has 0 <= E at its best corner, and E may be cut there to the
        least 2^k - 1 >= span * 2^(step_bits - 1). No lane then lies below minus that product.
        """
        return 1 + (self.span << self.step_bits - 1).bit_length()

    @property
    def latency(self) -> int:
        """Clocks: addends, shared sums if there are any, lanes."""
        return Addends.latency(self) + (self.adder == "shared") + 1


CONFIGS = {
    "default": EdgeEvaluatorParams(),
    "shared": EdgeEvaluatorParams(adder="shared"),
    "single": EdgeEvaluatorParams(samples=1),
    "tiny": EdgeEvaluatorParams(edge=4, step_bits=10),
    "tiny_shared": EdgeEvaluatorParams(edge=4, step_bits=10, adder="shared"),
}
PURPOSE = {  # of each configuration
    "default": "8x8 samples, 8x MSAA; an adder a sample: the shortest path",
    "shared": "the same with adders shared by samples: less area",
    "single": "8x8 samples, one a pixel",
    "tiny": "for benches: 4x4 samples, short steps",
    "tiny_shared": "for benches: the same with shared adders",
}


def saturated(value: Value, low: int, bits: int) -> Value:
    """``bits`` bits of a value that is not negative, from bit ``low`` on.

    All ones where it does not fit: so E is cut to :attr:`EdgeEvaluatorParams.width`.
    """
    return Mux(value[low + bits :].any(), (1 << bits) - 1, value[low : low + bits])


class EdgeEvaluator(wiring.Component):
    """Say at which samples of a tile an edge function is not negative.

    E = column term + row term + sample offset, from :class:`~fixfunc.rtl.raster.addends.Addends`.
    One tile per clock, in order, :attr:`latency` clocks later.

    Parameters
    ----------
    params : EdgeEvaluatorParams

    Members
    -------
    i : In(stream.Signature(layout(payloads.edge(params.width))))
        log2 of the samples; steps for 1/16 pixel (a pixel if ``params.samples`` is 1) and E at the
        centre of the tile's first pixel.
    o : Out(stream.Signature(layout(payloads.coverage(params.edge**2))))
        The sign of E modulo 2^width in every lane, inverted: set where the sample is inside.
    """

    def __init__(self, params: EdgeEvaluatorParams = CONFIGS["default"]) -> None:
        self._params = params
        fields = [
            replace(f, bits=params.step_bits) if f.name in "ab" else f
            for f in payloads.edge(params.width)
        ]
        super().__init__(
            {
                "i": In(stream.Signature(layout(fields))),
                "o": Out(stream.Signature(layout(payloads.coverage(params.edge**2)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a beat at ``i`` to its beat at ``o``."""
        return self._params.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()

        # The whole unit moves or stalls together, so one enable serves every register.
        valid = Signal(self.latency)
        enable = Signal()
        m.d.comb += [
            enable.eq(~valid[-1] | self.o.ready),
            self.i.ready.eq(enable),
            self.o.valid.eq(valid[-1]),
        ]
        with m.If(enable):
            m.d.sync += valid.eq(Cat(self.i.valid, valid))
        m.submodules.lanes = EnableInserter(enable)(self._lanes())
        return m

    def _lanes(self):
        """The free-running pipeline from ``i.payload`` to ``o.payload``."""
        m = Module()
        p = self._params
        edge = self.i.payload
        m.submodules.addends = addends = Addends(p)
        m.d.comb += [
            addends.samples.eq(edge.samples),
            addends.a.eq(edge.a),
            addends.b.eq(edge.b),
            addends.c.eq(edge.c),
        ]
        row_addends = {(i, j): addends.row_addends(i, j) for j in range(p.edge) for i in range(2)}
        column_addends = {i: addends.column_addends(i) for i in range(p.edge)}

        # Shared adders: row term and sample offset are added once for all columns, in a clock of
        # their own, for which the column terms wait.
        if p.adder == "shared":
            width = signed(p.width)
            row_addends = {
                (i, j): [register(m, sum(values), width, f"row_sum_{i}_{j}")]
                for (i, j), values in row_addends.items()
            }
            column_addends = {
                i: [register(m, value, width, f"column_term_{i}") for value in values]
                for i, values in column_addends.items()
            }

        for j in range(p.edge):
            for i in range(p.edge):
                value = Signal(signed(p.width), name=f"e_{i}_{j}")
                m.d.comb += value.eq(carry_save_sum(*row_addends[i & 1, j], *column_addends[i]))
                m.d.sync += self.o.payload.mask[j * p.edge + i].eq(~value[-1])
        return m


def carry_save_sum(*addends: ValueLike) -> ValueLike:
    """The sum of up to three addends by one carry-propagate adder.

    Three addends pass a 3:2 carry-save reducer first.
    """
    if len(addends) == 3:
        x, y, z = addends
        addends = x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1
    return sum(addends[1:], addends[0])
