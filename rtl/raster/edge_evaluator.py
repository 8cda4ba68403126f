"""Edge function over the samples of a tile."""

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Const, Module, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.payload import layout
from rtl.samples import POSITIONS, REACH, SHAPES
from spec import payloads


@dataclass(frozen=True)
class EdgeEvaluatorParams:
    """Shape of an :class:`EdgeEvaluator`.

    Parameters
    ----------
    edge : int
        Lanes along a side: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8. With 1, steps and values are per pixel, not per 1/16 pixel.
    step_bits : int
        Width of the steps a and b.
    adder : str
        ``"carry_save"``: a 3:2 reducer and one carry-propagate adder a lane. ``"shared"``: the sums of rows
        and sample offsets are formed once, so that a lane is one adder: smaller, one clock more.
    """

    edge: int = 8
    samples: int = 8
    step_bits: int = payloads.EDGE_STEP
    adder: str = "carry_save"

    def __post_init__(self):
        if self.edge not in (4, 8):
            raise ValueError(f"edge must be 4 or 8, not {self.edge!r}")
        if self.samples not in (1, 2, 4, 8):
            raise ValueError(f"samples must be 1, 2, 4 or 8, not {self.samples!r}")
        if not 2 <= self.step_bits <= 26:
            raise ValueError(f"step_bits must be 2 to 26, not {self.step_bits!r}")
        if self.adder not in ("carry_save", "shared"):
            raise ValueError(f"adder must be 'carry_save' or 'shared', not {self.adder!r}")

    @property
    def modes(self):
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())

    @property
    def unit(self):
        """Steps in a pixel."""
        return 16 if self.samples > 1 else 1

    @property
    def span(self):
        """The farthest two lanes of a tile are apart in x and y together, in steps: the worst mode counts."""
        return max(sum(self.unit * ((self.edge >> shift) - 1) + 2 * REACH[mode] for shift in SHAPES[mode])
                   for mode in self.modes)

    @property
    def width(self):
        """Bits of E that always give the right sign.

        A tile that no edge rejects has 0 <= E at its best corner, and E may be cut there to the least
        2^k - 1 >= span * 2^(step_bits - 1). No lane then lies below minus that product.
        """
        return 1 + (self.span << self.step_bits - 1).bit_length()

    @property
    def latency(self):
        """Clocks: multiples, where a sample lies (two, with several a pixel), shared sums if any, lanes."""
        return 2 + 2 * (self.samples > 1) + (self.adder == "shared")


CONFIGS = {
    "default": EdgeEvaluatorParams(),
    "shared": EdgeEvaluatorParams(adder="shared"),
    "single": EdgeEvaluatorParams(samples=1),
    "tiny": EdgeEvaluatorParams(edge=4, step_bits=10),
    "tiny_shared": EdgeEvaluatorParams(edge=4, step_bits=10, adder="shared"),
}


class EdgeEvaluator(wiring.Component):
    """Say at which samples of a tile an edge function is not negative.

    E = column[i] + row[j] + offset, where the column and row multiples and the sample offsets are formed once,
    by shifts and adds. One tile per clock, in order, :attr:`latency` clocks later.

    Parameters
    ----------
    params : EdgeEvaluatorParams

    Members
    -------
    i : In(stream.Signature(layout(payloads.edge(params.width))))
        log2 of the samples; steps for 1/16 pixel (a pixel if ``params.samples`` is 1) and E at the centre of
        the tile's first pixel.
    o : Out(stream.Signature(layout(payloads.coverage(params.edge**2))))
        The sign of E modulo 2^width in every lane, inverted: set where the sample is inside.
    """

    def __init__(self, params=CONFIGS["default"]):
        self._params = params
        fields = [f._replace(bits=params.step_bits) if f.name in "ab" else f for f in payloads.edge(params.width)]
        super().__init__({
            "i": In(stream.Signature(layout(fields))),
            "o": Out(stream.Signature(layout(payloads.coverage(params.edge**2)))),
        })

    @property
    def latency(self):
        """Clocks from a beat at ``i`` to its beat at ``o``."""
        return self._params.latency

    def elaborate(self, platform):
        m = Module()
        p = self._params

        # The whole unit moves or holds together, so one enable serves every register.
        valid = Signal(self.latency)
        self._move = move = Signal()
        m.d.comb += [move.eq(~valid[-1] | self.o.ready), self.i.ready.eq(move), self.o.valid.eq(valid[-1])]
        with m.If(move):
            m.d.sync += valid.eq(Cat(self.i.valid, valid))

        # Small multiples of the steps, once for columns, rows and sample offsets alike.
        edge = self.i.payload
        count = p.edge if p.samples == 1 else 8
        a, b = (self._registers(m, f"{name}_times", {n: multiple(edge[name], n) for n in range(count)}, p.step_bits + 3)
                for name in "ab")
        c = self._registers(m, "c", {0: edge.c})[0]
        columns, rows, offsets = a, b, {(0, 0): c}

        # Where a pixel has several lanes, the mode says which multiple a lane takes and how far its sample lies.
        if p.samples > 1:
            mode = Signal(2)
            with m.If(move):
                m.d.sync += mode.eq(edge.samples)
            columns = self._registers(m, "column_chosen", {i: self._pixel(mode, a, i, 0) for i in range(p.edge)})
            rows = self._registers(m, "row_chosen", {j: self._pixel(mode, b, j, 1) for j in range(p.edge)})
            away = self._registers(m, "away", {(i, j): self._away(mode, a, b, i, j) for i in range(2) for j in range(4)})
            late_c = self._registers(m, "late_c", {0: c})[0]
            columns, rows = self._registers(m, "column", columns), self._registers(m, "row", rows)
            offsets = self._registers(m, "offset", {key: late_c + value for key, value in away.items()})

        def offset(i, j):
            return offsets[(i & 1, j & 3) if p.samples > 1 else (0, 0)]

        # Shared: an offset depends on i by its parity alone, so two sums a row serve all its lanes.
        shared = p.adder == "shared"
        if shared:
            parities = range(2 if p.samples > 1 else 1)
            sums = self._registers(m, "sum", {(i, j): rows[j] + offset(i, j) for i in parities for j in range(p.edge)})
            columns = self._registers(m, "late_column", columns)

        mask = self.o.payload.mask
        for j in range(p.edge):
            for i in range(p.edge):
                addends = (columns[i], sums[i % len(parities), j]) if shared else reduce_3_2(columns[i], rows[j], offset(i, j))
                value = Signal(signed(p.width), name=f"e_{i}_{j}")
                m.d.comb += value.eq(addends[0] + addends[1])
                with m.If(move):
                    m.d.sync += mask[j * p.edge + i].eq(~value[-1])
        return m

    def _registers(self, m, name, values, bits=None):
        """A register a value, under the same keys."""
        held = {}
        for key, value in values.items():
            suffix = "_".join(map(str, key if isinstance(key, tuple) else (key,)))
            held[key] = Signal(signed(bits or self._params.width), name=f"{name}_{suffix}")
            with m.If(self._move):
                m.d.sync += held[key].eq(value)
        return held

    def _pixel(self, mode, multiples, lane, axis):
        """A column's or row's share of E: how far its pixel lies from the first, in 1/16 pixel."""
        return Array([multiples[lane >> SHAPES[k][axis]] << 4 for k in self._params.modes])[mode]

    def _away(self, mode, a, b, i, j):
        """A sample's share of E, by the parity of i and the low bits of j: how far it lies from its pixel's centre."""
        choices = [Const(0)]
        for k in self._params.modes[1:]:
            lx, ly = SHAPES[k]
            x, y = POSITIONS[k][(i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)]
            choices.append(signed_multiple(a, x) + signed_multiple(b, y))
        return Array(choices)[mode]


def multiple(step, n):
    """n * step for n of 0..7, by one adder at most."""
    if n == 7:
        return (step << 3) - step
    shifts = [k for k in range(3) if n >> k & 1]
    return sum((step << k for k in shifts[1:]), step << shifts[0]) if shifts else Const(0, signed(1))


def signed_multiple(multiples, n):
    return multiples[n] if n >= 0 else -multiples[-n]


def reduce_3_2(x, y, z):
    """Two addends with the sum of three: the carry-save adder."""
    return x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1
