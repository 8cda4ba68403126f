# SPDX-License-Identifier: BSD-2-Clause
"""TEXTURE packets: a texture and its sampler, checked before they count."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.packets.packet import BOUNDS, PacketUnit
from fixfunc.rtl.lib.bits import among, choose, maximum, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.formats import HALVINGS
from fixfunc.spec import payloads
from fixfunc.spec.commands import CommandError
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import LEVELS, LINE, LINE_NUMBER
from fixfunc.spec.textures.unit import TEXTURE_STATE

STATE = layout(TEXTURE_STATE)
LINE_BITS = (LINE - 1).bit_length()


class TexturePacket(wiring.Component):
    """Execute TEXTURE packets of three transfers; a level takes four clocks to be checked.

    Parameters
    ----------
    formats : tuple of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.

    Members
    -------
    packet : In(PacketUnit())
        The packet.
    restart : In(1)
        A START begins: the texture is forgotten.
    bounds : In(BOUNDS)
        Levels lie below its limit.
    texture : Out(STATE)
        The texture in force.
    texture_valid : Out(1)
        There is one.
    """

    def __init__(self, formats: tuple, extent: int) -> None:
        self._formats = formats
        self._extent = extent
        super().__init__(
            {
                "packet": In(PacketUnit()),
                "restart": In(1),
                "bounds": In(BOUNDS),
                "texture": Out(STATE),
                "texture_valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packet = self.packet
        candidate = Signal(STATE)
        kind = Const(0, TEXTURE_STATE[0].bits)
        second = Signal.like(packet.first)
        level = Signal(range(LEVELS))
        step = Signal(2)  # of a level's check
        supported = Signal()
        beyond = Signal()
        m.d.sync += supported.eq(self._supported(m, candidate))
        with m.If(self.restart):
            m.d.sync += self.texture_valid.eq(0)
        is_beyond = self._is_beyond(m, candidate, level)
        failed = named(m, packet.i.valid & packet.i.payload.error, "failed")
        with m.FSM():
            with m.State("SECOND"), m.If(packet.active):
                m.d.comb += packet.i.ready.eq(1)
                m.d.sync += second.eq(packet.i.payload.data)
                self._read(m, packet, failed, "THIRD")
            with m.State("THIRD"):
                fields = Cat(kind, packet.first[32:], second, packet.i.payload.data)
                m.d.comb += packet.i.ready.eq(1)
                m.d.sync += candidate.eq(fields[: payloads.width(TEXTURE_STATE)])
                self._read(m, packet, failed, "BEGIN")
            with m.State("BEGIN"):
                m.d.sync += [level.eq(0), step.eq(0), beyond.eq(0)]
                m.next = "LEVELS"
            with m.State("LEVELS"):
                m.d.sync += step.eq(step + 1)
                with m.If(step.all()):
                    m.d.sync += [level.eq(level + 1), beyond.eq(beyond | is_beyond)]
                    with m.If(level == candidate.last):
                        m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += [
                    packet.done.eq(1),
                    packet.error.eq(
                        Mux(
                            supported,
                            Mux(beyond, CommandError.ADDRESS, CommandError.NONE),
                            CommandError.STATE,
                        )
                    ),
                ]
                with m.If(supported & ~beyond):
                    m.d.sync += [self.texture.eq(candidate), self.texture_valid.eq(1)]
                m.next = "SECOND"
        return m

    def _read(self, m, packet, failed, following):
        with m.If(failed):
            m.d.comb += [packet.done.eq(1), packet.error.eq(CommandError.READ)]
            m.next = "SECOND"
        with m.Elif(packet.i.valid):
            m.next = following

    def _supported(self, m, candidate):
        """Sizes, levels, a format and address modes that there are."""
        sides = candidate.width, candidate.height
        either = named(m, candidate.width | candidate.height, "either")
        modes = candidate.mode_u, candidate.mode_v
        return Cat(
            *(side.any() & (side <= 1 << self._extent) for side in sides),
            (either >> candidate.last).any(),
            among(candidate.format, self._formats),
            *(mode < len(Address) for mode in modes),
        ).all()

    def _is_beyond(self, m, candidate, level):
        """A level goes on beyond the limit: squares of blocks, in Morton order; three clocks."""
        side = named(m, maximum(candidate.width, candidate.height) >> level, "side")
        last = named(m, Mux(side.any(), side - 1, 0)[2:], "last_block")
        doublings = register(
            m, sum(Mux((last >> n).any(), 2, 0) for n in range(len(last))), 5, "doublings"
        )
        known = dict(HALVINGS)
        halvings = choose(candidate.format, [known.get(n, 0) for n in range(1 << 5)])
        exponent = Mux(doublings > halvings, doublings - halvings, 0)[:5]
        lines = register(m, Const(1) << exponent, LINE_NUMBER, "lines")
        base = choose(level, [candidate[f"base{n}"] for n in range(LEVELS)])
        first = register(m, base, LINE_NUMBER, "first")
        return register(m, first + lines > self.bounds.limit[LINE_BITS:], 1, "is_beyond")
