# SPDX-License-Identifier: BSD-2-Clause
"""What parallel units can give at most: Amdahl's law."""

from fractions import Fraction

from fixfunc.spec.errors import InputError


def speedup(serial: Fraction, parallel: Fraction | None) -> Fraction:
    """How many times faster work becomes, a share of which stays serial [rtr 23.15].

    Parameters
    ----------
    serial : Fraction
        The share that stays as it is, 0 to 1.
    parallel : Fraction or None
        How many times faster the rest becomes, 1 or more; None: without a limit.

    Raises
    ------
    InputError
        Values out of range; a limit of work that is not serial at all.
    """
    if not 0 <= serial <= 1:
        raise InputError("serial", "lie in 0..1", serial)
    if parallel is None:
        if not serial:
            raise InputError("serial", "be above 0 where the rest has no limit", serial)
        return 1 / Fraction(serial)
    if parallel < 1:
        raise InputError("parallel", "be at least 1", parallel)
    return 1 / (serial + (1 - Fraction(serial)) / Fraction(parallel))
