# SPDX-License-Identifier: BSD-2-Clause
"""Triangle table: what the quads of a triangle need of it, while it is on its way to them."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.payload import beat, carried, layout
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE
from fixfunc.spec.state import Kind

BEAT = beat(triangle=payloads.TRIANGLE, **payloads.CONTROL)
STATE = layout(PIXEL_STATE)
_DEPTHS = "z0", "z1", "z2"
_CONSERVATIVE = next(f for f in payloads.DRAW_STATE if f.name == "conservative")
ROW = layout((*(f for f in commands.RING_TRIANGLE[1:] if f.name not in _DEPTHS), _CONSERVATIVE))


class TriangleTable(wiring.Component):
    """Gives triangles numbers, and holds their corners and pixel states until they are shaded.

    Triangles that a shader outside is asked for pass as they are.

    Triangles without a sample never come back. So where the table is full, and to tell the vertex
    ring that slots are free, FENCEs with ``release`` travel with the beats: what is before one is
    done when it returns.

    Parameters
    ----------
    triangles, states : int
        That are held: powers of two.

    Members
    -------
    restart : In(1)
        A START begins: nothing is held.
    i, o : In, Out(stream.Signature(BEAT))
        Beats of the reader. A triangle gets its row, and above it the number of its pixel state, as
        ``slot``. A FENCE with ``release`` says in ``passed`` how many triangles were before it.
    corners : In(layout(commands.RING_TRIANGLE))
        More about a triangle of ``i``.
    state : In(stream.Signature(layout(PIXEL_STATE)))
        Pixel state of the triangles that follow.
    shaded : In(StructLayout)
        A quad of a triangle, by its ``slot``, has left the interpolator.
    returned : In(StructLayout)
        A FENCE with ``release``, by its ``passed`` and its ``sequence``, has come back.
    looks_up : In(1)
    row, found, state_row, state_found : In, Out
        Row of a triangle and number of its pixel state; what they hold, from the clock behind
        ``looks_up`` to the next one.
    stage_row, stage_found : In, Out
        Number of a pixel state, and it, one clock later.
    by_sample : Out(states)
        Pixel states under which each sample is shaded by itself.
    renewed : Out(StructLayout)
        A pixel state gets this number.
    """

    def __init__(self, triangles: int, states: int) -> None:
        self._triangles = triangles
        self._states = states
        # Two more bits than rows have tell what is before from what is behind.
        self._position = (triangles - 1).bit_length() + 2
        super().__init__(
            {
                "restart": In(1),
                "i": In(stream.Signature(BEAT)),
                "o": Out(stream.Signature(BEAT)),
                "corners": In(layout(commands.RING_TRIANGLE)),
                "state": In(stream.Signature(STATE)),
                "shaded": In(StructLayout({"valid": 1, "slot": SLOT_BITS})),
                "returned": In(
                    StructLayout({"valid": 1, "passed": self._position, "sequence": 32})
                ),
                "looks_up": In(1),
                "row": In(range(triangles)),
                "found": Out(ROW),
                "state_row": In(range(states)),
                "state_found": Out(STATE),
                "stage_row": In(range(states)),
                "stage_found": Out(STATE),
                "by_sample": Out(states),
                "renewed": Out(StructLayout({"valid": 1, "number": range(states)})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        head = Signal(self._position)  # triangles that have entered
        tail = Signal(self._position)  # before which nobody asks for a row any more
        bits = (self._triangles - 1).bit_length()
        newest, full_of_states = self._hold_states(m, head, tail)
        full = named(m, (head - tail)[: self._position] == self._triangles, "full")
        built_in = Signal()  # of the draw state in force
        conservative = Signal()
        is_work = named(m, (self.i.payload.kind == Kind.WORK) & built_in, "is_work")
        is_state = self.i.payload.kind == Kind.STATE
        with m.If(self.i.valid & self.i.ready & is_state):
            m.d.sync += [
                built_in.eq(self.i.payload.draw_state.built_in),
                conservative.eq(self.i.payload.draw_state.conservative),
            ]
        blocked = named(m, is_work & full, "blocked")
        is_waiting = (self.i.valid & blocked) | (self.state.valid & full_of_states)
        release_pending = Signal()  # a FENCE goes out, between beats
        release_outstanding = Signal()  # it has not come back
        forwarded = named(m, self.i.valid & ~blocked & ~release_pending, "forwarded")
        m.d.comb += [
            self.i.ready.eq(self.o.ready & ~blocked & ~release_pending),
            self.o.valid.eq(forwarded | release_pending),
        ]
        with m.If(release_pending & self.o.ready):
            m.d.sync += [release_pending.eq(0), release_outstanding.eq(1)]
        with m.Elif(is_waiting & ~release_pending & ~release_outstanding):
            m.d.sync += release_pending.eq(1)
        with m.If(self.returned.valid & (self.returned.sequence == 0)):
            m.d.sync += release_outstanding.eq(0)
        own = self.shaded.slot[:bits]
        distance = named(m, (own - tail)[:bits], "distance")
        # Quads of triangles behind a FENCE may have left the interpolator before it comes back.
        is_news = named(m, ~(self.returned.passed - tail)[self._position - 1], "is_news")
        with m.If(self.returned.valid & is_news):
            m.d.sync += tail.eq(self.returned.passed)
        with m.Elif(self.shaded.valid):
            m.d.sync += tail.eq(tail + distance)
        row_write = named(m, forwarded & is_work & self.o.ready, "row_write")
        with m.If(row_write):
            m.d.sync += head.eq(head + 1)
        with m.If(self.restart):
            m.d.sync += [head.eq(0), tail.eq(0), release_outstanding.eq(0)]
        self._put(m, release_pending, head, Cat(head[:bits], newest), is_work)
        write, read = self._memory(m, "rows", ROW, self._triangles)
        m.d.comb += [
            write.en.eq(row_write),
            write.addr.eq(head[:bits]),
            *carried(write.data, self.corners),
            write.data.conservative.eq(conservative),
            read.addr.eq(self.row),
            read.en.eq(self.looks_up),
            self.found.eq(read.data),
        ]
        return m

    def _memory(self, m, name, shape, depth):
        m.submodules[name] = memory = Memory(shape=shape, depth=depth, init=[], attrs=NO_COLLISION)
        return memory.write_port(), memory.read_port()

    def _put(self, m, release_pending, head, slot, is_work):
        """A beat with its row, or where it comes in the order of triangles."""
        out = self.o.payload
        m.d.comb += out.eq(self.i.payload)
        is_release = (self.i.payload.kind == Kind.FENCE) & self.i.payload.fence.release
        with m.If(is_work):
            m.d.comb += out.triangle.slot.eq(slot)
        with m.If(release_pending):
            m.d.comb += [
                out.as_value().eq(0),
                out.fence.kind.eq(Kind.FENCE),
                out.fence.release.eq(1),
            ]
        with m.If(release_pending | is_release):
            m.d.comb += out.fence.passed.eq(head)

    def _hold_states(self, m, head, tail):
        """Number of the newest pixel state, and whether there is no room for one more."""
        count = Signal(range(self._states + 1))  # that may be asked for
        newest = Signal(range(self._states), init=self._states - 1)
        oldest = Signal(range(self._states))
        begins = Array(
            Signal(self._position, name=f"begins_{n}") for n in range(self._states)
        )  # the first triangle of each
        following = named(m, (newest + 1)[: len(newest)], "following")
        second = named(m, (oldest + 1)[: len(oldest)], "second")
        full = named(m, count == self._states, "full_of_states")
        row_write = named(m, self.state.valid & ~full, "state_enters")
        # Nobody asks for the oldest when the first triangle of the next one is through.
        is_past = ~(tail - begins[second])[self._position - 1]
        state_free = named(m, (count > 1) & is_past, "state_leaves")
        m.d.comb += [
            self.state.ready.eq(~full),
            self.renewed.valid.eq(row_write),
            self.renewed.number.eq(following),
        ]
        m.d.sync += count.eq(count + row_write - state_free)
        with m.If(state_free):
            m.d.sync += oldest.eq(second)
        with m.If(row_write):
            m.d.sync += [
                newest.eq(following),
                begins[following].eq(head),
                self.by_sample.bit_select(following, 1).eq(self.state.payload.by_sample),
            ]
        with m.If(self.restart):
            m.d.sync += [count.eq(0), newest.eq(self._states - 1), oldest.eq(0)]
        for name, asked, enable in (
            ("state", self.state_row, self.looks_up),
            ("stage", self.stage_row, 1),
        ):
            write, read = self._memory(m, f"{name}s", STATE, self._states)
            m.d.comb += [
                write.en.eq(row_write),
                write.addr.eq(following),
                write.data.eq(self.state.payload),
                read.addr.eq(asked),
                read.en.eq(enable),
                getattr(self, f"{name}_found").eq(read.data),
            ]
        return newest, full
