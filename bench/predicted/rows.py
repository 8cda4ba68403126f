# SPDX-License-Identifier: BSD-2-Clause
"""A frame by the hardware and by the performance model."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import frames
from bench.golden import recorded
from fixfunc.cosim import files
from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import hardware
from fixfunc.cosim.frame.job import FrameJob, Job, counters, traffic
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Recording
from fixfunc.cosim.record import replay, trace
from fixfunc.cosim.recorded import file
from fixfunc.cosim.recorded.drawing import Player
from fixfunc.models.performance.events import FrameEvents
from fixfunc.models.performance.params import MEMORIES, MachineParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.scene.render import render


def jobs() -> Iterator[tuple[str, Job]]:
    """Name and job of each frame: meshes of ``bench/frames.py``, then recorded programs."""
    params = hardware.bench("top").parameters("frame")
    for name, scene in frames.scenes():
        yield name, FrameJob(scene, render(scene), params)
    for name, (command, seconds, number) in recorded.PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "frame.npz"
            trace.capture(command, path.with_suffix(".trace"), seconds)
            calls = trace.calls(path.with_suffix(".trace"))
            files.write(path, file.write(replay.record(calls, command, number)))
            frame = file.read(path)
        first = Player(frame)
        first.draw()
        again = Player(frame, first.lookups)
        recording = Recording(again.device)
        again.draw()
        yield name, ProgramJob(recording, params)


def measured(job: Job, memory: str, **fields: Any) -> tuple[dict[str, int], FrameEvents, float]:
    """Counters of the hardware, events with the outcomes of its HiZ, and seconds."""
    start = time.perf_counter()
    run, _ = hardware.run(job, hardware.library("top", "frame"), job.inputs(), memory, **fields)
    seconds = time.perf_counter() - start
    return counters(run.outputs["counter_value"]), job.events(run.outputs), seconds


def row(name: str, memory: str, counted: dict[str, int], events: FrameEvents, seconds: float):
    """Figures of a frame: clocks, the station that holds it on both sides, bytes, seconds."""
    params = MachineParams(memory=MEMORIES[memory])
    taken = []
    for _ in range(3):
        start = time.process_time()
        found = predict(events, params)
        taken.append(time.process_time() - start)
    return {
        "name": name,
        "memory": memory,
        "measured": counted["clocks"],
        "predicted": found.clocks,
        "holds": held_by(counted, params, found.busy["colour"]),
        "holding": found.holding,
        "slots": found.waits["slots"] / found.clocks,
        "differ": [key for key, count in found.counts.items() if count != counted[key]],
        "seconds": seconds,
        "taken": min(taken),
    }


def held_by(counted: dict[str, int], params: MachineParams, turns: float) -> str:
    """What takes most clocks by the hardware's counters, at the pace of the memory behind it.

    ``turns`` of blended tiles are not counted by the hardware: they are the model's.
    """
    memory = params.memory
    work = {
        "reader": counted["triangles"],
        "raster": counted["tiles"],
        "depth": counted["tiles_accepted"] + counted["tiles_tested"],
        "colour": max(counted["tiles_shaded"], turns),
        "pixels": counted["pipe_attributes"] or counted["tiles_shaded"],
    }
    for client, cause, _, _, size in traffic(counted):
        way = "read" if cause in bound.READS else "write"
        pace = memory.read_clocks if way == "read" else memory.write_clocks
        key = f"{client} {way}"
        work[key] = work.get(key, 0) + size / bound.TRANSFER_BYTES * pace
    return max(work, key=work.get)
