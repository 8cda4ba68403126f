# SPDX-License-Identifier: BSD-2-Clause
"""Simulators.

library.py      a component as a shared library
parts.py        a module that is most of it, as a library of its own
clock_gates.py  parts with clocks of their own, which are left out while they stand still
volume.py       beats through it, from numpy
events.py       what of them is kept by clocks: beats, stalls, bursts
waves.py        waves of a window of clocks
bench.py        a block beside its golden model: packed beats through both, and what differs
batches.py      random beats, compared with the golden model
runner.py       a cocotb bench on one simulator
"""
