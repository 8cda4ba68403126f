# SPDX-License-Identifier: BSD-2-Clause
"""Volume runs: batches of random beats through a block and its golden model.

Batches have every pair of paces in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fixfunc.cosim.progress import Steps
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.volume import PACES, SimulationError

BATCH = (
    1000  # beats given to a component at a time: small, so that every pair of paces has its turn
)
CLOCKS_A_BEAT = 20_000  # a batch that takes more of them a beat hangs


@dataclass
class Totals:
    """What a run came to."""

    beats_in: int = 0
    beats_out: int = 0  # of all streams
    mismatches: int = 0
    clocks: int = 0
    full_speed_beats: int = 0
    full_speed_clocks: int = 0
    seconds: float = 0.0
    first: str | None = None  # the first beat that differs, in words

    @property
    def good(self) -> bool:
        """Something came out, and all of it as it should."""
        return bool(self.beats_out) and not self.mismatches and not self.first

    def rows(self) -> Iterator[tuple[str, str]]:
        """Names and values, to be printed."""
        for name in (
            "beats_in",
            "beats_out",
            "mismatches",
            "clocks",
            "full_speed_beats",
            "full_speed_clocks",
        ):
            yield (
                name.replace("_", " ").replace("full speed", "full-speed"),
                f"{getattr(self, name):,}",
            )
        yield (
            "beats a clock at full speed",
            f"{self.full_speed_beats / max(self.full_speed_clocks, 1):.4f}",
        )
        yield "clocks a second", f"{self.clocks / max(self.seconds, 1e-9):,.0f}"


def run(block: Bench, config: str, count: int, seed: int, step: Steps | None = None) -> Totals:
    """Compare at least ``count`` beats out of a block, of all of its streams together.

    A component that hangs ends the run like a difference, with what was said of it.
    """
    params = block.parameters(config)
    totals = Totals()
    if step:
        step(f"building {block.stem} ({config})")
    volume = block.volume(config)
    if step:
        step(f"{block.stem} ({config})")
    batch = 0
    while totals.beats_out < count and not totals.first:
        rows = block.bench.requests(np.random.default_rng((seed, batch)), BATCH, params)
        paces = PACES[batch % 4], PACES[batch // 4 % 4]
        try:
            out, expected, mismatches, first = block.compare(
                volume, rows, config, paces, seed + batch, limit=CLOCKS_A_BEAT * len(rows)
            )
        except SimulationError as error:
            totals.first = f"batch {batch}, {error}"
            break
        beats = {port: len(golden) for port, golden in expected.items() if port != "memory"}
        totals.first = f"batch {batch}, {first}" if first else None
        totals.beats_in += len(rows)
        totals.beats_out += sum(beats.values())
        totals.mismatches += mismatches
        totals.clocks += out.clocks
        totals.seconds += out.seconds
        if paces == ("full", "full"):
            totals.full_speed_beats += max(len(rows), beats["o"])
            totals.full_speed_clocks += out.clocks
        if step:
            step.note(f"{block.stem} ({config}): {totals.beats_out:,} of {count:,} beats")
        batch += 1
    return totals
