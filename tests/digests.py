# SPDX-License-Identifier: BSD-2-Clause
"""What the hardware gives at fixed seeds, as digests: form may change, results may not.

``python -m tests.digests`` writes ``digests.json``, beside this file, anew.
"""

import hashlib
import json
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from bench import frames
from fixfunc.cosim import catalogue
from fixfunc.cosim.frame.job import FrameJob
from fixfunc.cosim.simulation.volume import LATENCIES, Memory
from fixfunc.models.pipeline import render
from fixfunc.tb import catalogue as benches
from tests.volume import volume

FILE = Path(__file__).with_name("digests.json")
PACES = (("full", "full"), ("random", "bursty"), ("bursty", "starved"))
BEATS = 200
SIZE = 320, 180
LIMIT = 5_000_000  # clocks: far above what any of these need
BLOCKS = [
    (stem, config) for stem, block in catalogue.blocks().items() for config in block.configurations
]
FRAMES = [
    f"{name}, {samples}x"
    for samples in (1, 4)
    for name in (
        "teapot",
        "torus of 100,352 triangles",
        "teapot, adaptive patches",
        "four layers",
        "slivers and fans",
    )
]


def digest(outputs: dict[str, np.ndarray]) -> dict[str, str]:
    """The first 16 digits of the SHA-256 of each port's beats; ``counter_value`` tells clocks."""
    return {
        port: hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()[:16]
        for port, rows in outputs.items()
        if port != "counter_value"
    }


def of_block(stem: str, config: str) -> dict[str, dict[str, str]]:
    """Digests of a block's volume run, by pair of paces.

    What differs from the golden model raises ``AssertionError``.
    """
    block = benches.block(stem)
    found = {}
    for seed, paces in enumerate(PACES):
        rows = block.bench.requests(
            np.random.default_rng((24, seed)), BEATS, block.parameters(config)
        )
        run, _, mismatches, first = block.compare(
            volume(stem, config), rows, config, paces, seed, limit=LIMIT
        )
        assert not mismatches, f"{stem} ({config}): {first}"
        found["/".join(paces)] = digest({"requests": rows} | run.outputs)
    return found


def of_frame(name: str) -> dict[str, str]:
    """Digests of every stream and of all memory of a frame, in small, drawn by the top."""
    scene = dict(frames.scenes(SIZE))[name]
    job = FrameJob(scene, render(scene), catalogue.block("top").parameters("default"))
    memory = Memory(job.data.copy(), LATENCIES[1])
    outputs = volume("top", "default").run(job.inputs(), job.room, memory=memory).outputs
    outputs["memory"] = memory.data
    return digest(outputs)


def recorded() -> dict[str, dict]:
    """What was written down."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def _of(item: tuple[str, ...]) -> tuple[str, dict]:
    return " ".join(item), of_block(*item) if len(item) == 2 else of_frame(*item)


if __name__ == "__main__":
    done = recorded()
    wanted = [
        ("top", "default"),
        *[item for item in BLOCKS if item != ("top", "default")],
        *[(name,) for name in FRAMES],
    ]
    with Pool(2) as pool:
        for name, found in pool.imap(
            _of, [item for item in wanted if not sys.argv[1:] or " ".join(item) in sys.argv[1:]]
        ):
            done[name] = found
            FILE.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")
            print(name, flush=True)
