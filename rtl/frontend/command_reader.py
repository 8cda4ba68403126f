# SPDX-License-Identifier: BSD-2-Clause
"""Front end: a command stream in memory becomes the beats of a frame."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import Axi
from fixfunc.rtl.frontend._command_fetch import CommandFetch
from fixfunc.rtl.frontend._rules import BITS, PlanesFit, most_depth, obeyed, whole
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import LENGTHS, START, CommandError, Opcode
from fixfunc.spec.state import TARGET_LIMIT, TOP_LIMIT, Kind

KEPT = "target", "target_width", "target_height", "samples", "depth_format"


@dataclass(frozen=True)
class CommandReaderParams:
    """Shape of a :class:`CommandReader`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    pixels : int
        Largest width or height of a target.
    stencil : bool
        Stencil values are kept.
    """

    edge: int = 8
    samples: int = 8
    pixels: int = TOP_LIMIT
    stencil: bool = True

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 1 <= self.pixels <= TARGET_LIMIT:
            raise ValueError(f"pixels must lie in 1..{TARGET_LIMIT}, not {self.pixels!r}")


CONFIGS = {
    "default": CommandReaderParams(),
    "tiny": CommandReaderParams(edge=4, pixels=64),
}
PURPOSE = {  # of each configuration
    "default": "targets up to 2048 pixels",
    "tiny": "for benches: tiles of 4x4, targets up to 64 pixels",
}


class CommandReader(wiring.Component):
    """Read packets of :mod:`fixfunc.spec.commands`; one triangle a clock, other packets a few clocks each.

    A packet is looked at before anything of it counts. At the first that breaks a rule reading stops, and nothing of it
    or after it goes out. Every START ends with a FENCE that flushes, its ``slot`` 1; the next begins anew.

    Parameters
    ----------
    params : CommandReaderParams

    Members
    -------
    i : In(stream.Signature(layout(START)))
        What to read. The next is taken after the last FENCE has been :attr:`ended`.
    o : Out(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
    ended : In(1)
        It is through everything.
    error, at : Out
        Why reading stopped, and where, as in :data:`fixfunc.spec.commands.STATUS`: from the last FENCE until the next START.
    memory : Out(Axi())
        It only reads.
    """

    def __init__(self, params: CommandReaderParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(layout(START))), "o": Out(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
            "ended": In(1), "error": Out(CommandError), "at": Out(24), "memory": Out(Axi()),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch, m.submodules.fit = fetch, fit = CommandFetch(), PlanesFit(self._params.edge)
        wiring.connect(m, fetch.memory, wiring.flipped(self.memory))
        start, come, length = self.i.payload, fetch.o, Signal(24)
        self._come, self._fit, self._length, self._left = come, fit, length, Signal(24)
        self._first, self._rest, self._known, self._state = Signal(256), Signal(24), Signal(), Signal(layout(payloads.DRAW_STATE))
        m.d.comb += [fetch.address.eq(start.address), fetch.transfers.eq(start.transfers), fit.state.eq(self._state)]
        begins = [self._left.eq(start.transfers), self.at.eq(0), self._known.eq(0), fit.limit.eq(start.limit), self.error.eq(CommandError.NONE),
                  *(getattr(fit, f"{plane}_base").eq(0) for plane in BITS)]
        (begun, same), wrong = self._begun(m), Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [begins, begun.eq(0)]
                    with m.If(start.address[:5].any() | ~start.transfers.any() | (start.address + (start.transfers << 5) > start.limit)):
                        self._stop(m, CommandError.ADDRESS)
                    with m.Else():
                        m.d.comb += fetch.start.eq(1)
                        m.next = "HEADER"
            with m.State("HEADER"):
                with m.If(self._left == 0):
                    m.next = "END"
                with m.Elif(come.valid):
                    m.d.comb += come.ready.eq(1)
                    m.d.sync += [self._first.eq(come.payload.data), wrong.eq(come.payload.wrong)]
                    m.next = "PACKET"
            with m.State("PACKET"):
                self._header(m, wrong)
            self._set_target(m)
            self._set_state(m)
            self._clear(m, begun, same)
            self._triangles(m, same)
            with m.State("FENCE"):
                given, out = layout(commands.FENCE_PACKET)(self._first[:payloads.width(commands.FENCE_PACKET)]), self.o.payload.fence
                m.d.comb += [self.o.valid.eq(1), out.kind.eq(Kind.FENCE), out.flush.eq(1), out.sequence.eq(given.sequence), out.begin.eq(given.begin)]
                with m.If(self.o.ready):
                    self._go_on(m)
            with m.State("END"):  # what is still to come is dropped
                out = self.o.payload.fence
                m.d.comb += [fetch.stop.eq(1), come.ready.eq(1), self.o.valid.eq(~fetch.busy), out.kind.eq(Kind.FENCE), out.slot.eq(1),
                             out.flush.eq(1)]
                with m.If(self.o.valid & self.o.ready):
                    m.next = "WAIT"
            with m.State("WAIT"), m.If(self.ended):
                m.next = "IDLE"
        return m

    def _stop(self, m, error):
        """Reading stops here."""
        m.d.sync += self.error.eq(error)
        m.next = "END"

    def _go_on(self, m):
        """To the next packet."""
        m.d.sync += [self.at.eq(self.at + self._length), self._left.eq(self._left - self._length)]
        m.next = "HEADER"

    def _begun(self, m):
        """A target has been cleared as a whole, and whether it is the one that the draw state has."""
        begun, kept = Signal(), [Signal.like(self._state[name], name=f"kept_{name}") for name in KEPT]
        self._keep = [begun.eq(1), *(old.eq(self._state[name]) for name, old in zip(KEPT, kept, strict=True))]
        return begun, begun & Cat(self._state[name] == old for name, old in zip(KEPT, kept, strict=True)).all()

    def _header(self, m, wrong):
        """The first transfer of a packet: what it is, and how long."""
        header = layout(commands.PACKET)(self._first[:32])
        m.d.sync += [self._length.eq(header.length), self._rest.eq(header.length - 1)]
        with m.If(wrong):
            self._stop(m, CommandError.READ)
        with m.Else(), m.Switch(header.opcode):
            for opcode in Opcode:
                with m.Case(opcode):
                    fits = (header.length == LENGTHS[opcode]) if opcode in LENGTHS else header.length.any()
                    with m.If(fits & (header.length <= self._left)):
                        m.next = opcode.name
                    with m.Else():
                        self._stop(m, CommandError.LENGTH)
            with m.Default():
                self._stop(m, CommandError.OPCODE)

    def _set_target(self, m):
        """Where planes lie from now on."""
        with m.State("TARGET"):
            given = layout(commands.TARGET_PACKET)(self._first[:payloads.width(commands.TARGET_PACKET)])
            m.d.sync += [getattr(self._fit, f"{plane}_base").eq(given[f"{plane}_base"]) for plane in BITS]
            self._go_on(m)

    def _set_state(self, m):
        """A draw state, of two transfers, is looked at before it counts."""
        come, given, allowed = self._come, Signal(layout(payloads.DRAW_STATE)), Signal()
        m.d.sync += allowed.eq(obeyed(given, self._params))
        with m.State("STATE"):
            both = Cat(self._first[32:], come.payload.data)
            m.d.comb += come.ready.eq(1)
            m.d.sync += given.eq(both[:payloads.width(payloads.DRAW_STATE)])
            with m.If(come.valid):
                m.next = "LOOK"
                with m.If(come.payload.wrong):
                    self._stop(m, CommandError.READ)
        with m.State("LOOK"):
            m.d.sync += [given.kind.eq(Kind.STATE), given.slot.eq(0)]
            m.next = "SET"
        with m.State("SET"):
            m.d.comb += [self.o.valid.eq(allowed), self.o.payload.draw_state.eq(given)]
            with m.If(~allowed):
                self._stop(m, CommandError.STATE)
            with m.Elif(self.o.ready):
                m.d.sync += [self._state.eq(given), self._known.eq(1)]
                self._go_on(m)

    def _clear(self, m, begun, same):
        """A clear, when it is known whether its planes lie in memory."""
        given, out, fit, wait = Signal(layout(commands.CLEAR_PACKET)), self.o.payload.clear, self._fit, Signal(range(PlanesFit.LATENCY + 1))
        planes = [plane for plane in BITS if plane != "stencil" or self._params.stencil]
        all_of_it, asked = whole(self._state, given), Cat(given[plane] if plane in planes else 0 for plane in BITS)
        begins = all_of_it & Cat(given[plane] for plane in planes).all()
        m.d.comb += [given.eq(self._first[:len(given.as_value())]), fit.planes.eq(asked)]
        with m.State("CLEAR"):
            m.d.sync += wait.eq(wait + 1)
            with m.If(wait == PlanesFit.LATENCY):
                m.d.sync += wait.eq(0)
                with m.If(~self._known | ~(same | begins)):
                    self._stop(m, CommandError.ORDER)
                with m.Elif(given.depth & (given.depth_value > most_depth(self._state.depth_format))):
                    self._stop(m, CommandError.STATE)
                with m.Elif(all_of_it & ~fit.o):
                    self._stop(m, CommandError.ADDRESS)
                with m.Else():
                    m.next = "CLEARS"
        with m.State("CLEARS"):
            m.d.comb += [self.o.valid.eq(1), out.kind.eq(Kind.CLEAR), *(out[f"{plane}_base"].eq(getattr(fit, f"{plane}_base")) for plane in BITS)]
            m.d.comb += [out[field.name].eq(given[field.name]) for field in commands.CLEAR_PACKET[len(commands.PACKET):]]
            with m.If(self.o.ready):
                with m.If(begins):
                    m.d.sync += self._keep
                self._go_on(m)

    def _triangles(self, m, same):
        """One a transfer."""
        come, out = self._come, self.o.payload.triangle
        given = layout(commands.TRIANGLE_PACKET)(come.payload.data[:payloads.width(commands.TRIANGLE_PACKET)])
        with m.State("TRIANGLES"):
            m.next = "EACH"
            with m.If(~self._known | ~same):
                self._stop(m, CommandError.ORDER)
        with m.State("EACH"):
            more = self._rest != 0
            m.d.comb += [self.o.valid.eq(more & come.valid & ~come.payload.wrong), come.ready.eq(more & self.o.ready), out.kind.eq(Kind.WORK),
                         out.state.eq(self._state.state), *(out[field.name].eq(given[field.name]) for field in commands.TRIANGLE_PACKET)]
            with m.If(~more):
                self._go_on(m)
            with m.Elif(come.valid & come.payload.wrong):
                self._stop(m, CommandError.READ)
            with m.Elif(come.valid & self.o.ready):
                m.d.sync += self._rest.eq(self._rest - 1)
