# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of groups side by side, without gaps: trees that join them, and take them apart."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay


def _length(width: int) -> int:
    """Bits that tell 0 to ``width``."""
    return width.bit_length()


def levels(count: int) -> int:
    """Levels of a tree of so many values."""
    return (count - 1).bit_length()


class PlacingTree(wiring.Component):
    """Values of several lengths, one behind the other; neighbours are joined, level by level.

    Parameters
    ----------
    widths : sequence of int
        Bits of each value, at most.
    most : int
        Bits of the result: what lies beyond is cut off.

    Members
    -------
    i : In(StructLayout)
        ``value0``, ``length0`` and so on: bits of a value beyond its length are zero.
    o : Out(StructLayout)
        ``value``, and ``length``, which counts what is cut off, too; :attr:`latency` clocks later,
        one a clock.
    """

    def __init__(self, widths: Sequence[int], most: int) -> None:
        self._widths = list(widths)
        self._most = most
        members = {}
        for n, width in enumerate(widths):
            members |= {f"value{n}": width, f"length{n}": _length(width)}
        total = sum(widths)
        out = StructLayout({"value": min(total, most), "length": _length(total)})
        super().__init__({"i": In(StructLayout(members)), "o": Out(out)})

    @property
    def latency(self) -> int:
        """Clocks: one a level."""
        return levels(len(self._widths))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nodes = [
            (self.i[f"value{n}"], self.i[f"length{n}"], width)
            for n, width in enumerate(self._widths)
        ]
        level = 0
        while len(nodes) > 1:
            level += 1
            pairs = [nodes[n : n + 2] for n in range(0, len(nodes), 2)]
            nodes = [self._joined(m, pair, f"{level}_{n}") for n, pair in enumerate(pairs)]
        value, length, _ = nodes[0]
        m.d.comb += [self.o.value.eq(value), self.o.length.eq(length)]
        return m

    def _joined(self, m, pair, name):
        """A node of the next level."""
        total = sum(width for _, _, width in pair)
        value = Signal(min(total, self._most), name=f"value_{name}")
        length = Signal(_length(total), name=f"length_{name}")
        first = pair[0]
        if len(pair) == 1:
            m.d.sync += [value.eq(first[0]), length.eq(first[1])]
            return value, length, total
        second = pair[1]
        # Moved to the right from beyond the first one's greatest length: no wider than both.
        beyond = Cat(Const(0, first[2]), second[0])
        m.d.sync += [
            value.eq(first[0] | beyond >> (first[2] - first[1])[: _length(first[2])]),
            length.eq(first[1] + second[1]),
        ]
        return value, length, total


class TakingTree(wiring.Component):
    """The inverse of :class:`PlacingTree`.

    Parameters
    ----------
    widths : sequence of int
        Bits of each value, at most.
    most : int
        Bits of what is taken apart.

    Members
    -------
    i : In(StructLayout)
        ``length0`` and so on; the ``value``, :attr:`then` clocks later.
    o : Out(StructLayout)
        ``value0`` and so on, :attr:`latency` clocks after the lengths, one set a clock: behind its
        length each holds bits of the next ones.
    total : Out
        Sum of the lengths, :attr:`summed` clocks later.
    """

    def __init__(self, widths: Sequence[int], most: int) -> None:
        self._widths = list(widths)
        self._most = most
        lengths = {f"length{n}": _length(width) for n, width in enumerate(widths)}
        values = {f"value{n}": width for n, width in enumerate(widths)}
        super().__init__(
            {
                "i": In(StructLayout({"value": most, **lengths})),
                "o": Out(StructLayout(values)),
                "total": Out(_length(sum(widths))),
            }
        )

    @property
    def summed(self) -> int:
        """Clocks until the sum is there."""
        return levels(len(self._widths))

    @property
    def then(self) -> int:
        """Clocks from lengths to value: their sum may tell a register where the next value is."""
        return self.summed + 1

    @property
    def latency(self) -> int:
        """Clocks: up the tree for the lengths, down for the values."""
        return self.then + self.summed

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nodes_of = [
            [(self.i[f"length{n}"], width) for n, width in enumerate(self._widths)],
        ]
        while len(nodes_of[-1]) > 1:
            nodes_of.append(self._sums(m, nodes_of[-1], len(nodes_of)))
        m.d.comb += self.total.eq(nodes_of[-1][0][0])
        values = [self.i.value]
        for down, level in enumerate(reversed(nodes_of[:-1])):
            # Lengths of a level that is nearer to the leaves are older.
            lengths = [
                delay(m, length, 2 * down + 2, f"length_{down}_{n}")
                for n, (length, _) in enumerate(level)
            ]
            widths = [width for _, width in level]
            values = self._split(m, values, lengths, widths, down)
        m.d.comb += [self.o[f"value{n}"].eq(value) for n, value in enumerate(values)]
        return m

    @staticmethod
    def _sums(m, nodes, level):
        """Lengths of the next level."""
        out = []
        for n in range(0, len(nodes), 2):
            width = sum(width for _, width in nodes[n : n + 2])
            total = Signal(_length(width), name=f"sum_{level}_{n // 2}")
            m.d.sync += total.eq(sum(length for length, _ in nodes[n : n + 2]))
            out.append((total, width))
        return out

    def _split(self, m, values, lengths, widths, down):
        """Values of a level nearer to the leaves."""
        out = []
        for n, width in enumerate(widths):
            value = values[n // 2]
            part = Signal(min(width, len(value)), name=f"part_{down}_{n}")
            m.d.sync += part.eq(value >> lengths[n - 1] if n % 2 else value)
            out.append(part)
        return out
