# SPDX-License-Identifier: BSD-2-Clause
"""Wave references: which waves of the vertex buffer are in use."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class WaveReferences(wiring.Component):
    """Count the references to each wave.

    Parameters
    ----------
    waves : int
        Waves of the vertex buffer.
    references : int
        Bits of a count.

    Members
    -------
    acquire : In(stream.Signature(range(waves), always_ready=True))
        One more reference to a wave.
    release : In(stream.Signature(range(waves), always_ready=True))
        One reference less to a wave; ignored if there is none.
    next_wave : In(range(waves))
        The wave to be allocated next.
    next_allocated : In(1)
        ``next_wave`` is allocated in this clock.
    next_free : Out(1)
        Nobody refers to ``next_wave``; a register, one clock behind the counts.
    live : In(waves)
        Waves that more references may come to.
    full : Out(1)
        A live wave has nearly as many references as can be counted; :attr:`MARGIN` more can be.
    """

    MARGIN = 5  # references that are under way when ``full`` is seen

    def __init__(self, waves, references):
        self._waves = waves
        self._references = references
        super().__init__(
            {
                "acquire": In(stream.Signature(range(waves), always_ready=True)),
                "release": In(stream.Signature(range(waves), always_ready=True)),
                "next_wave": In(range(waves)),
                "next_allocated": In(1),
                "next_free": Out(1),
                "live": In(waves),
                "full": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        limit = (1 << self._references) - 1
        free = []
        nearly_full = []
        for n in range(self._waves):
            count = Signal(self._references, name=f"count_{n}")
            increment = Signal(name=f"increment_{n}")
            decrement = Signal(name=f"decrement_{n}")
            wave_free = Signal(init=1, name=f"free_{n}")
            wave_nearly_full = Signal(name=f"nearly_full_{n}")
            m.d.comb += [
                increment.eq(self.acquire.valid & (self.acquire.payload == n)),
                decrement.eq(self.release.valid & (self.release.payload == n) & (count != 0)),
            ]
            m.d.sync += [
                count.eq(count + increment - decrement),
                wave_free.eq(count == 0),
                wave_nearly_full.eq(count >= limit - self.MARGIN),
            ]
            free.append(wave_free)
            nearly_full.append(wave_nearly_full)
        second_next = (self.next_wave + 1)[: len(self.next_wave)]
        m.d.sync += [
            self.next_free.eq(
                Mux(self.next_allocated, Array(free)[second_next], Array(free)[self.next_wave])
            ),
            self.full.eq((Cat(nearly_full) & self.live).any()),
        ]
        return m
