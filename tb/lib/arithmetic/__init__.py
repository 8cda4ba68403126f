# SPDX-License-Identifier: BSD-2-Clause
"""Benches of the units in ``rtl/lib/arithmetic``.

pipelined.py  one product, or quotient, a clock
shared.py     sets of operands that share units for an interval; the interval register
"""
