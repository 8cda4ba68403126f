# SPDX-License-Identifier: BSD-2-Clause
"""Signature line: four signatures on chip, of a table in memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, Axi, AxiReader, AxiWriter, join
from fixfunc.rtl.output.display.signature import BITS

LINE = ADDRESS - 5  # bits of a line's number


class SignatureLine(wiring.Component):
    """Hold one line of the table, and fetch another one when it is wanted.

    A line that has been changed is written back before another one is read, and when it is flushed;
    the next line is read when memory has answered. One is read in its latency.

    Members
    -------
    request : In(1)
        The line ``wanted`` is needed, until ``hit``.
    wanted : In(LINE)
    hit : Out(1)
        It is on chip.
    place : In(2)
        Which signature of the line.
    stored : Out(BITS)
        That signature; 0 is of no tile.
    renew : In(1)
        It becomes ``renewed``. Only if ``hit``.
    renewed : In(BITS)
    flush : In(1)
        The line is to leave the chip, until ``flushed``.
    flushed : Out(1)
        No line is on chip.
    error : Out(1)
        In this clock memory says that it has failed.
    broken : Out(1)
        A line could not be written: what memory holds is wrong until the block is reset.
    memory : Out(Axi())
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "request": In(1),
                "wanted": In(LINE),
                "hit": Out(1),
                "place": In(2),
                "stored": Out(BITS),
                "renew": In(1),
                "renewed": In(BITS),
                "flush": In(1),
                "flushed": Out(1),
                "error": Out(1),
                "broken": Out(1),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.reader = reader = AxiReader(1, 3, 1)
        m.submodules.writer = writer = AxiWriter(1, 3, 1)
        join(m, self.memory, reader.memory, writer.memory)
        line = Signal(TRANSFER)
        number = Signal(LINE)
        valid = Signal()
        changed = Signal()
        answer = reader.o
        response = writer.response
        m.d.comb += [
            self.hit.eq(valid & (number == self.wanted)),
            self.flushed.eq(~valid),
            self.stored.eq(line.word_select(self.place, BITS)),
            reader.request.payload.address.eq(self.wanted << 5),
            reader.request.payload.transfers.eq(1),
            answer.ready.eq(1),
            writer.burst.payload.address.eq(number << 5),
            writer.burst.payload.transfers.eq(1),
            writer.data.payload.eq(line),
            response.ready.eq(1),
            self.error.eq(
                (answer.valid & answer.payload.error) | (response.valid & response.payload.error)
            ),
        ]
        with m.If(response.valid & response.payload.error):
            m.d.sync += self.broken.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.renew):
                    m.d.sync += [
                        line.word_select(self.place, BITS).eq(self.renewed),
                        changed.eq(1),
                    ]
                with m.Elif(self.flush | (self.request & ~self.hit)):
                    m.d.sync += valid.eq(valid & changed)
                    with m.If(valid & changed):
                        m.next = "WRITE"
                    with m.Elif(~self.flush):
                        m.next = "READ"
            with m.State("WRITE"):
                m.d.comb += writer.burst.valid.eq(1)
                with m.If(writer.burst.ready):
                    m.next = "DATA"
            with m.State("DATA"):
                m.d.comb += writer.data.valid.eq(1)
                with m.If(writer.data.ready):
                    m.next = "RESPONSE"
            with m.State("RESPONSE"), m.If(response.valid):
                m.d.sync += [
                    valid.eq(0),
                    changed.eq(0),
                ]
                m.next = "IDLE"
            with m.State("READ"):
                m.d.comb += reader.request.valid.eq(1)
                with m.If(reader.request.ready):
                    m.d.sync += number.eq(self.wanted)
                    m.next = "ANSWER"
            with m.State("ANSWER"), m.If(answer.valid):
                m.d.sync += [
                    line.eq(Mux(answer.payload.error, 0, answer.payload.data)),
                    valid.eq(1),
                ]
                m.next = "IDLE"
        return m
