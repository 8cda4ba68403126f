# SPDX-License-Identifier: BSD-2-Clause
"""Paces: clock by clock, whether a port moves."""

from collections.abc import Iterator
from random import Random


def full(_rng: Random | None) -> Iterator[bool]:
    while True:
        yield True


def random(rng: Random) -> Iterator[bool]:
    while True:
        yield rng.random() < 0.5


def bursty(rng: Random) -> Iterator[bool]:
    while True:
        for on in (True, False):
            for _ in range(rng.randint(1, 32)):
                yield on


def starved(rng: Random) -> Iterator[bool]:
    while True:
        yield rng.random() < 0.06


PACES = {"full": full, "random": random, "bursty": bursty, "starved": starved}
