# SPDX-License-Identifier: BSD-2-Clause
"""Products and quotients of pipelines that never stall.

interval_register.py   a beat every few clocks, which holds until the next one
carry_save.py          two addends of many: sums without a carry
multiplier.py          a product a clock, from 18-bit multipliers
shared_multiplier.py   products of a set of factors, from multipliers that take turns
reciprocal.py          floors of a power of two by a divisor
divider.py             quotients of a set of dividends by one divisor

A pipeline of an interval above one begins with the register: whatever follows holds as well, so
that what is shared reads each operand in its turn.
"""
