# SPDX-License-Identifier: BSD-2-Clause
"""TARGET and CLEAR packets: where planes lie, and which target has been cleared as a whole."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.byte_range import END
from fixfunc.rtl.frontend.packets.packet import BEAT, BOUNDS, PacketUnit
from fixfunc.rtl.frontend.packets.plane_order import PlaneOrder
from fixfunc.rtl.frontend.state_check import PLANE_BITS, PlaneCheck, covers_target, plane_bits
from fixfunc.rtl.memory.surface.state_check import most_depth
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import CommandError
from fixfunc.spec.payloads import COLOUR_PLANES
from fixfunc.spec.state import Kind

# Fields of a draw state that identify a target.
TARGET_FIELDS = "target", "target_width", "target_height", "samples", "depth_format"
COLOUR = list(PLANE_BITS).index("colour")  # among the planes; behind it the other colour planes


class ClearPacket(wiring.Component):
    """Execute CLEAR packets: a clear is passed on once its planes are known to lie in memory.

    Parameters
    ----------
    params : CommandReaderParams

    Attributes
    ----------
    drawable : Value
        All that the draw state writes has been cleared: ``planes_cleared``, or ``target_cleared``.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: bases are zero, and no target has been cleared.
    bounds : In(BOUNDS)
    target_valid : In(1)
        ``packet.first`` is a TARGET packet: its bases hold for the clears behind it.
    state, state_valid : In
        The draw state in force, as in
        :class:`~fixfunc.rtl.frontend.packets.state_packet.StatePacket`.
    target_cleared : Out(1)
        The target of the draw state has been cleared as a whole.
    resolving : In(1)
        A RESOLVE is executed. This port and the next four are absent where RESOLVE is no packet.
    resolve_begin, resolve_end : In
        Where it writes.
    resolve_disjoint : Out(1)
        What it writes has no byte in common with a plane: :attr:`PlaneCheck.LATENCY` clocks behind
        ``resolving``, and one behind ``resolve_end``.
    invalidate : In(1)
        No target counts as cleared any more.
    beat, taken : In(BEAT), In(1)
        What leaves the reader, and whether it does: as in
        :class:`~fixfunc.rtl.frontend.packets.plane_order.PlaneOrder`.
    planes_cleared : Out(1)
        The target has been cleared as a whole, and so has each of its colour planes that draws
        write. ``beat``, ``taken`` and ``planes_cleared`` are absent where targets have one.
    """

    def __init__(self, params):
        self._params = params
        self._colours = params.colour_planes
        resolves = {
            "resolving": In(1),
            "resolve_begin": In(32),
            "resolve_end": In(END),
            "resolve_disjoint": Out(1),
            "invalidate": In(1),
        }
        watched = {"beat": In(BEAT), "taken": In(1), "planes_cleared": Out(1)}
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "bounds": In(BOUNDS),
                "target_valid": In(1),
                "state": In(layout(payloads.DRAW_STATE)),
                "state_valid": In(1),
                "target_cleared": Out(1),
            }
            | (watched if self._colours > 1 else {})
            | (resolves if params.resolve_samples else {})
        )
        self.drawable = self.planes_cleared if self._colours > 1 else self.target_cleared

    def watch(self, beats):
        """Assignments that show what leaves the reader; of one colour plane nobody asks."""
        if self._colours == 1:
            return []
        return [self.beat.eq(beats.payload), self.taken.eq(beats.valid & beats.ready)]

    def elaborate(self, platform):
        m = Module()
        packet = self.packet
        clear = fields_of(packet.first, commands.CLEAR_PACKET)
        p = self._params
        supported = [plane for plane in PLANE_BITS if plane != "stencil" or p.stencil]
        check = PlaneCheck(p.edge, supported, self._colours, p.resolve_samples > 0)
        m.submodules.check = check
        self._bases(m, check)
        resolving, invalidate = self._resolve(m, check)

        whole = covers_target(self.state, clear)
        whole_target = whole & Cat(clear[plane] for plane in supported).all()
        named = [clear[p] if p in supported else 0 for p in PLANE_BITS]
        if self._colours > 1:
            whole_target &= clear.colour_plane == 0
            named[-1:] = [clear.colour & (clear.colour_plane == n) for n in range(self._colours)]
        out_of_order = ~self.state_valid | ~(self.target_cleared | whole_target)
        unknown = clear.depth & (clear.depth_value > most_depth(self.state.depth_format))
        if self._colours > 1:
            order = self._plane_order(m, whole_target)
            begun = order.begun.bit_select(clear.colour_plane, 1)
            needs_fence = order.needs_fence.bit_select(clear.colour_plane, 1)
            others = clear.colour & (clear.colour_plane != 0)
            out_of_order |= (
                (clear.colour & ~whole & ~begun)
                | (others & whole & needs_fence)
                | (whole_target & order.unflushed)
            )
            # A RESOLVE that a clear of all would look like has no height, and is refused for that.
            m.d.comb += check.stays.eq(Mux(whole_target, 0, order.begun[1:]))
        if 1 < self._colours < COLOUR_PLANES:
            unknown |= clear.colour_plane >= self._colours
        m.d.comb += check.planes.eq(Mux(resolving, 0, Cat(named)))

        # The target that has been cleared as a whole.
        cleared = Signal()
        cleared_target = {
            name: Signal.like(self.state[name], name=f"cleared_{name}") for name in TARGET_FIELDS
        }
        m.d.comb += self.target_cleared.eq(
            cleared & Cat(self.state[name] == old for name, old in cleared_target.items()).all()
        )
        with m.If(self.restart | invalidate):
            m.d.sync += cleared.eq(0)

        clock = Signal(range(PlaneCheck.LATENCY + 1))
        with m.FSM():
            with m.State("CHECK"), m.If(packet.active):
                m.d.sync += clock.eq(clock + 1)
                with m.If(clock == PlaneCheck.LATENCY):
                    m.d.sync += clock.eq(0)
                    with m.If(out_of_order):
                        m.d.comb += packet.error.eq(CommandError.ORDER)
                    with m.Elif(unknown):
                        m.d.comb += packet.error.eq(CommandError.STATE)
                    with m.Elif(whole & ~check.o):
                        m.d.comb += packet.error.eq(CommandError.ADDRESS)
                    with m.Elif(whole & ~check.disjoint):
                        m.d.comb += packet.error.eq(CommandError.OVERLAP)
                    with m.Else():
                        m.next = "OUTPUT"
                    m.d.comb += packet.done.eq(packet.error != CommandError.NONE)
            with m.State("OUTPUT"):
                self._output(m, clear, check)
                with m.If(packet.o.ready):
                    m.d.comb += packet.done.eq(1)
                    with m.If(whole):
                        m.d.sync += [
                            getattr(check, f"{plane}_placed").eq(getattr(check, f"{plane}_begin"))
                            for plane in check.present
                        ]
                    with m.If(whole_target):
                        m.d.sync += cleared.eq(1)
                        m.d.sync += [old.eq(self.state[n]) for n, old in cleared_target.items()]
                    m.next = "CHECK"
        return m

    def _resolve(self, m, check):
        """Planes stay in place for a RESOLVE; returns the ports that say so, or zeros."""
        if not self._params.resolve_samples:
            return 0, 0
        m.d.comb += [
            check.other_begin.eq(self.resolve_begin),
            check.other_end.eq(self.resolve_end),
            self.resolve_disjoint.eq(check.other_disjoint),
        ]
        return self.resolving, self.invalidate

    def _plane_order(self, m, begins_target):
        """Which colour planes have been cleared."""
        m.submodules.order = order = PlaneOrder(self._colours)
        m.d.comb += [
            order.beat.eq(self.beat),
            order.taken.eq(self.taken),
            order.begins_target.eq(begins_target),
            order.state.eq(self.state),
            self.planes_cleared.eq(self.target_cleared & order.drawable),
        ]
        return order

    def _bases(self, m, check):
        """The target, the addresses of its planes, and the bounds of memory."""
        m.d.comb += [
            check.state.eq(self.state),
            *(getattr(check, name).eq(self.bounds[name]) for name in BOUNDS.members),
        ]
        target = fields_of(self.packet.first, commands.TARGET_PACKET)
        for n, plane in enumerate(plane_bits(self._colours)):
            base = getattr(check, f"{plane}_base")
            placed = self.target_valid
            if n >= COLOUR and self._colours > 1:
                placed &= target.colour_plane == n - COLOUR
            with m.If(self.restart):
                m.d.sync += base.eq(0)
            with m.Elif(placed):
                m.d.sync += base.eq(target["colour_base" if n > COLOUR else f"{plane}_base"])

    def _output(self, m, clear, check):
        """The clear as a beat, with the addresses of the planes."""
        out = self.packet.o.payload.clear
        m.d.comb += [
            self.packet.o.valid.eq(1),
            out.kind.eq(Kind.CLEAR),
            *(out[f"{plane}_base"].eq(getattr(check, f"{plane}_base")) for plane in PLANE_BITS),
        ]
        m.d.comb += [
            out[field.name].eq(clear[field.name])
            for field in commands.CLEAR_PACKET[len(commands.PACKET) :]
            if field != commands.COLOUR_PLANE
        ]
        if self._colours > 1:
            names = list(plane_bits(self._colours))[COLOUR:]
            bases = Array(getattr(check, f"{plane}_base") for plane in names)
            m.d.comb += [
                out.slot.eq(clear.colour_plane),
                out.colour_base.eq(bases[clear.colour_plane]),
            ]
