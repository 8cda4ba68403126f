# SPDX-License-Identifier: BSD-2-Clause
"""The hardware draws what a program has drawn: every stage and every byte is compared."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from fixfunc.cosim.frame import hardware
from fixfunc.cosim.frame.job import counters
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Recording
from fixfunc.cosim.simulation.events import Keep
from fixfunc.cosim.time import timeline
from fixfunc.cosim.time.outputs import NONE, Outputs
from fixfunc.cosim.time.timeline import Timeline


class Executed(NamedTuple):
    """What the hardware has made of a program."""

    job: ProgramJob
    streams: dict[str, dict]  # by stream: beats, mismatches, and the first
    memory: np.ndarray  # uint8
    counters: dict[str, int]  # by name: fixfunc.cosim.frame.job.counters
    golden: dict[str, int]  # the golden top's
    behind: str  # name of the memory
    timeline: Timeline


def draw(
    recording: Recording, memory: str = "near", outputs: Outputs = NONE, **fields: Any
) -> Executed:
    """Draw a recorded program by the top, without resolves.

    Parameters
    ----------
    recording : Recording
    memory : str
        A name of :data:`fixfunc.cosim.simulation.volume.MEMORIES`: what lies behind the top.
    outputs : Outputs
        What they ask for is kept.
    **fields
        Of :class:`fixfunc.cosim.simulation.volume.Memory`, in the place of the name's.

    Returns
    -------
    Executed
        Draws that the top does not execute are in ``job.missing``.

    Raises
    ------
    InputError
        A program of which the top executes no draw, or a memory that there is not.
    """
    (name,) = hardware.named(memory)
    job = ProgramJob(recording, hardware.bench("top").parameters("frame"))
    inputs = job.inputs()
    volume = hardware.library("top", "frame", bool(outputs.waves))
    keep = Keep(bursts=outputs.bursts)
    with outputs.watching(volume):
        drawn, held = hardware.run(job, volume, inputs, name, keep, **fields)
    expected, _, golden = job.expected(drawn.outputs)
    counted = counters(drawn.outputs["counter_value"])
    streams = hardware.differences(drawn.outputs, expected)
    streams["counters"] = hardware.counter_differences(counted, golden)
    over_time = timeline.of(drawn.outputs, drawn.events)
    return Executed(job, streams, held.data, counted, golden, name, over_time)


def figures(run: Executed) -> dict[str, Any]:
    """What the hardware has made of a program, as JSON has it."""
    return {
        "lists": run.job.executed,
        "counters": run.counters,
        "golden": run.golden,
        **hardware.counted_figures(run.counters, run.behind),
        "missing": [it._asdict() for it in run.job.missing],
        "streams": run.streams,
    }


def failures(run: Executed) -> list[str]:
    """Streams that differ, in words."""
    streams = {name: stream["mismatches"] for name, stream in run.streams.items()}
    return [f"stream {name}: {count} beats differ" for name, count in streams.items() if count]


def words(told: dict[str, Any]) -> list[str]:
    """Lines to read of :func:`figures`."""
    beats = sum(stream["beats"] for stream in told["streams"].values())
    lines = [
        f"hardware: {told['lists']} lists of triangles, {told['counters']['clocks']} clocks; "
        f"{beats} beats of {len(told['streams'])} streams compared"
    ]
    missing = Counter(it["what"] for it in told["missing"])
    return lines + [f"hardware lacks {what}: {count} draws" for what, count in missing.items()]
