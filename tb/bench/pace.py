# SPDX-License-Identifier: BSD-2-Clause
"""Paces: clock by clock, whether a port moves."""


def full(_rng):
    while True:
        yield True


def random(rng):
    while True:
        yield rng.random() < 0.5


def bursty(rng):
    while True:
        for on in (True, False):
            for _ in range(rng.randint(1, 32)):
                yield on


def starved(rng):
    while True:
        yield rng.random() < 0.06


PACES = {"full": full, "random": random, "bursty": bursty, "starved": starved}
