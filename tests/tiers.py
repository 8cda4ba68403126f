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
    "texture_unit",
    "tile_cache",
    "colour_write",
    "cached_depth",
    "proofs",
    "package",
    "colour_compression",
    "output_merger",
    "scan_out",
    "command_reader",
    "texture_cache",
    "depth_unit",
    "depth_test",
    "hiz",
    "depth_compression",
    "arithmetic",
    "filter",
    "tile_rasterizer",
    "triangle_setup",
    "level_of_detail",
    "site",
    "sweep",
    "resolve",
    "block_decode",
)
# Blocks that join others.
JOINED = (
    "top",
    "cached_depth",
    "depth_unit",
    "colour_write",
    "resolve",
    "coded_lines",
    "texture_unit",
    "descriptor_pool",
)
# In ``make test`` the volume library, which other tests need, gives these the beats of their
# benches, for which each simulator would build them anew. Products that share their multipliers,
# which Icarus is slow with, are in that of the triangle setup.
HELD = (*JOINED, "output_merger", "scan_out", "shared")
# The one configuration of a block that ``make test`` builds, where it is not ``tiny``.
BUILT = {"texture_unit": "tiny_full"}
SIMULATORS = os.environ.get("SIM", "icarus verilator").split()
QUALIFY = os.environ.get("TIER") == "qualify"
SEED = int(
    os.environ.get("SEED") or (secrets.randbits(31) if QUALIFY else 1)
)  # printed, and accepted back
os.environ["SEED"] = str(SEED)  # for the processes that share the tests
COUNT = int(os.environ.get("COUNT") or 1_000_000)  # beats of a block in ``make qualify``


def by_tier(rows, also=(), later=()):
    """Rows of parameters, the first of each a configuration, with their tier.

    All rows but the tiny ones, and those of ``also``, are for ``make qualify``; so are the tiny
    ones of ``later``, which other blocks' tests build in.
    """
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    soon = [row[0] in also or (row[0].startswith("tiny") and row[0] not in later) for row in rows]
    return [
        pytest.param(*row, marks=() if now else pytest.mark.qualify)
        for row, now in zip(rows, soon, strict=True)
    ]


def simulators(block):
    """Parameters of a bench: simulators at some pairs of paces, and at all of them.

    ``make test`` has the first alone: the other one builds a block as a volume library. Primitives
    have none, and most of them are proved, whatever the paces.
    """
    first = SIMULATORS[0]
    some = [
        simulator
        if simulator == first and block not in HELD
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
