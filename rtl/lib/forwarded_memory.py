# SPDX-License-Identifier: BSD-2-Clause
"""Forwarded memory: read, modify, write every clock, the same row again at once."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import NO_COLLISION, delay
from fixfunc.spec.errors import InputError


class Forwarding(wiring.Component):
    """The newest word of an address: from memory, or from a result on its way there.

    For memories with more around them than :class:`ForwardedMemory` has, such as banks, or a second
    writer. An operation enters every clock. Results of the ``reach`` operations before it are
    forwarded; addresses are compared a clock before results are selected.

    With ``split``, the result of the very last operation is selected in a clock of its own, after
    those of all others: the path from ``result`` to ``value`` then is one multiplexer.

    Parameters
    ----------
    shape : ShapeLike
        Of a word.
    address : ShapeLike
        Of an address.
    reach : int
        Operations, above 1, whose results are not in ``stored`` yet.
    split : bool
        Select in two clocks.
    replaced : bool
        There is ``replaced``.

    Members
    -------
    valid, address : In(1), In(address)
        An operation.
    stored : In(shape)
        What memory holds at its address, one clock later.
    fill, filled : In(1), In(shape)
        In the clock of ``stored``: the word is ``filled``, whatever is stored, or forwarded.
    early : Out(shape)
        With ``split`` alone, two clocks after the operation: its word, but for ``repeat``.
    repeat : Out(1)
        With ``split`` alone, in the same clock: its word is ``result`` of this clock instead.
    value : Out(shape)
        :attr:`latency` clocks after the operation: its word.
    replaced : Out(shape)
        In that clock: what its word would be without ``fill``. Only with ``replaced``.
    result : In(shape)
        In that clock: the word from now on. It is ``value`` where nothing changes.
    written : Out(shape)
        ``result``, one clock later.
    """

    def __init__(
        self,
        shape: ShapeLike,
        address: ShapeLike,
        reach: int,
        split: bool = False,
        replaced: bool = False,
    ) -> None:
        if reach < 2:
            raise InputError("reach", "be above 1", reach)
        self._reach = reach
        self._split = split
        self._replaced = replaced
        early = {"early": Out(shape), "repeat": Out(1)}
        super().__init__(
            {
                "valid": In(1),
                "address": In(address),
                "stored": In(shape),
                "fill": In(1),
                "filled": In(shape),
                "value": Out(shape),
                "result": In(shape),
                "written": Out(shape),
                **(early if split else {}),
                **({"replaced": Out(shape)} if replaced else {}),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from an operation to its word."""
        return 3 if self._split else 2

    def elaborate(self, platform: object) -> Module:
        m = Module()

        # same[n]: the operation n + 1 clocks before is of the same address.
        same = Signal(self._reach)
        valid = self.valid
        address = self.address
        for n in range(self._reach):
            valid = delay(m, valid, 1, f"valid_{n}")
            address = delay(m, address, 1, f"address_{n}")
            m.d.sync += same[n].eq(valid & (address == self.address))

        # results[n]: the result of n clocks before.
        results = [self.result, self.written]
        m.d.sync += self.written.eq(self.result)
        while len(results) < self._reach:
            results.append(delay(m, results[-1], 1, f"result_{len(results)}"))

        older = range(1, self._reach) if self._split else range(self._reach)
        newest = Value.cast(self.stored)
        for n in reversed(older):
            newest = Mux(same[n], Value.cast(results[n - older.start]), newest)
        stored = newest
        newest = Mux(self.fill, Value.cast(self.filled), stored)
        if self._replaced:
            self._replace(m, stored, same[0])
        if self._split:
            m.d.sync += [
                self.early.eq(newest),
                self.repeat.eq(same[0] & ~self.fill),
                self.value.eq(Mux(self.repeat, Value.cast(self.result), Value.cast(self.early))),
            ]
        else:
            m.d.sync += self.value.eq(newest)
        return m

    def _replace(self, m, stored, same):
        """The word that a fill replaces."""
        if not self._split:
            m.d.sync += self.replaced.eq(stored)
            return
        early = Signal(len(stored), name="stored_early")
        repeat = Signal(name="stored_repeat")
        m.d.sync += [
            early.eq(stored),
            repeat.eq(same),
            self.replaced.eq(Mux(repeat, Value.cast(self.result), early)),
        ]


class ForwardedMemory(wiring.Component):
    """A memory of which a row is read, modified and written every clock.

    An operation may name any row, that of the operation before it too: results that are not in
    memory yet are forwarded. Every operation writes; what shall not change is written as it was.

    Parameters
    ----------
    shape : ShapeLike
        Of a row.
    depth : int
        Rows.
    latency : int
        Clocks, above 1, from an operation to its row. With 2, block RAM is followed by the
        selection of what is forwarded. With 3, that is split over two clocks: see
        :class:`Forwarding`. Each further one is a register behind block RAM.
    write_delay : int
        0 writes a result in the clock in which it is computed; 1 puts a register before block RAM.
    read_ports : int
        Read ports besides.
    replaced : bool
        There is ``replaced``.

    Members
    -------
    valid, address : In(1), In(range(depth))
        An operation.
    fill, filled : In(1), In(shape)
        :attr:`fill_latency` clocks later: its row is ``filled``, whatever was stored.
    early, repeat : Out(shape), Out(1)
        If ``latency`` is above 2: see :class:`Forwarding`. One clock before ``value``.
    value : Out(shape)
        ``latency`` clocks after the operation: its row.
    replaced : Out(shape)
        In that clock: what its row would be without ``fill``. Only with ``replaced``.
    result : In(shape)
        In that clock: its row from now on. It is ``value`` where nothing changes.
    written : Out(shape)
        ``result``, one clock later.
    read_address_<n>, read_data_<n> : In(range(depth)), Out(shape)
        A row as memory holds it, one clock later. Results take ``write_delay`` clocks to memory;
        one that is written in the very clock of ``read_address`` is not seen.
    """

    def __init__(
        self,
        shape: ShapeLike,
        depth: int,
        latency: int = 2,
        write_delay: int = 0,
        read_ports: int = 0,
        replaced: bool = False,
    ) -> None:
        if latency < 2:
            raise InputError("latency", "be above 1", latency)
        if write_delay not in (0, 1):
            raise InputError("write_delay", "be 0 or 1", write_delay)
        self._shape = shape
        self._depth = depth
        self._latency = latency
        self._write_delay = write_delay
        self._read_ports = read_ports
        self._forwarding = Forwarding(
            shape, range(depth), latency + write_delay, latency > 2, replaced
        )
        members = self._forwarding.signature.members
        ports = {}
        for n in range(read_ports):
            ports |= {f"read_address_{n}": In(range(depth)), f"read_data_{n}": Out(shape)}
        super().__init__({name: members[name] for name in members if name != "stored"} | ports)

    @property
    def fill_latency(self) -> int:
        """Clocks from an operation to its ``fill``."""
        return self._latency - self._forwarding.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.forwarding = forwarding = self._forwarding
        # What is written in the clock in which it is read is forwarded; only other readers see it.
        m.submodules.rows = rows = Memory(
            shape=self._shape,
            depth=self._depth,
            init=[],
            attrs={} if self._read_ports else NO_COLLISION,
        )
        read = rows.read_port()
        write = rows.write_port()
        registers = self._latency - forwarding.latency  # behind block RAM
        m.d.comb += [
            read.addr.eq(self.address),
            forwarding.stored.eq(delay(m, read.data, registers, "stored")),
            forwarding.valid.eq(delay(m, self.valid, registers, "valid")),
            forwarding.address.eq(delay(m, self.address, registers, "address")),
            write.en.eq(delay(m, self.valid, self._latency + self._write_delay, "write")),
            write.addr.eq(delay(m, self.address, self._latency + self._write_delay, "row")),
            write.data.eq(forwarding.written if self._write_delay else self.result),
        ]
        for name, member in self.signature.members.items():
            if name in forwarding.signature.members and name not in ("valid", "address"):
                inner = getattr(forwarding, name)
                outer = getattr(self, name)
                m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
        for n in range(self._read_ports):
            port = rows.read_port()
            m.d.comb += [
                port.addr.eq(getattr(self, f"read_address_{n}")),
                getattr(self, f"read_data_{n}").eq(port.data),
            ]
        return m
