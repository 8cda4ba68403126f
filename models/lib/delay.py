# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of delay line and drain timer, on all clocks at once."""

import numpy as np


def delayed(values: np.ndarray, clocks: int) -> np.ndarray:
    """Values of ``clocks`` clocks before: zeros at first. One element, or row, a clock."""
    return np.concatenate([np.zeros_like(values[:clocks]), values])[: len(values)]


def drained(enter: np.ndarray, latency: int) -> np.ndarray:
    """Whether nothing entered in the clock before, nor in the ``latency`` clocks before that.

    Parameters
    ----------
    enter : ndarray of bool, shape (clocks,)

    Returns
    -------
    ndarray of bool, shape (clocks,)
    """
    entered = np.concatenate([np.zeros(latency + 2, np.int64), np.cumsum(enter)])
    return entered[latency + 1 : -1] == entered[: len(enter)]
