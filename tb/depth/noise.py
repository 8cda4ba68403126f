# SPDX-License-Identifier: BSD-2-Clause
"""Sooner or later."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value


def sometimes(m: Module, clocks: int) -> Value:
    """Every other clock or so, for as many as ``clocks``; then one in sixteen for as long."""
    noise = Signal(16, init=1)
    clock = Signal(range(2 * clocks))
    m.d.sync += [
        noise.eq(Cat(noise[15] ^ noise[13] ^ noise[12] ^ noise[10], noise)),
        clock.eq(clock + 1),
    ]
    return Mux(clock[-1], noise[:4] == 0, noise[0])
