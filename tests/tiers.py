# SPDX-License-Identifier: BSD-2-Clause
"""What ``make test`` runs, and what waits for ``make qualify``, which has no limit of time."""

import os
import secrets

import pytest

# Groups of tests, by block, the longest first: one process takes a group, so that nothing is built
# twice, or waited for. The table at the end of a run has their seconds; those of blocks are mostly
# builds, and little once these are kept.
LONGEST = (
    "frame",
    "top",
    "tile_cache",
    "cached_depth",
    "depth_unit",
    "depth_test",
    "colour_write",
    "hiz",
    "depth_compression",
    "arithmetic",
    "tile_rasterizer",
    "triangle_setup",
    "resolve",
    "block_decode",
)
# Blocks that join others. In ``make test`` the volume library, which other tests need, gives them
# the beats of their benches, for which each simulator would build them anew.
JOINED = ("top", "cached_depth", "depth_unit", "colour_write", "resolve")
SLOW = ("shared",)  # on Icarus: products that share their multipliers
# The one configuration of a block that ``make test`` builds, where it is not ``tiny``.
BUILT = {"texture_unit": "tiny_full", "top": "tiny_resolve"}
SIMULATORS = os.environ.get("SIM", "icarus verilator").split()
QUALIFY = os.environ.get("TIER") == "qualify"
SEED = int(
    os.environ.get("SEED") or (secrets.randbits(31) if QUALIFY else 1)
)  # printed, and accepted back
os.environ["SEED"] = str(SEED)  # for the processes that share the tests
COUNT = int(os.environ.get("COUNT") or 1_000_000)  # beats of a block in ``make qualify``


def by_tier(rows, also=()):
    """Rows of parameters, the first of each a configuration, with their tier.

    All rows but the tiny ones, and those of ``also``, are for ``make qualify``.
    """
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [
        pytest.param(
            *row, marks=() if row[0].startswith("tiny") or row[0] in also else pytest.mark.qualify
        )
        for row in rows
    ]


def simulators(block):
    """Parameters of a bench: simulators at some pairs of paces, and at all of them.

    Of a block ``make test`` has the first alone: the other one builds it as a volume library.
    Primitives, which have none, run on both.
    """
    first = SIMULATORS[-1 if block in SLOW else 0]
    some = [
        simulator
        if block is None or (simulator == first and block not in JOINED)
        else pytest.param(simulator, marks=pytest.mark.qualify)
        for simulator in SIMULATORS
    ]
    every = [
        pytest.param(f"{simulator}_every_pace", marks=pytest.mark.qualify)
        for simulator in SIMULATORS
    ]
    return [*some, *every]


def group(item):
    """The block that a test belongs to: its parameter ``stem``, ``BLOCK`` of its file, or the file.

    So a block is built in one process, whichever files test it.
    """
    parameters = getattr(item, "callspec", None)
    stem = parameters.params.get("stem") if parameters else None
    stem = stem or getattr(getattr(item, "module", None), "BLOCK", None)
    name = stem or item.path.stem.removeprefix("test_")
    return "frame" if name == "report" else name  # both draw by the default top
