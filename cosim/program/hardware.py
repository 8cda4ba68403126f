# SPDX-License-Identifier: BSD-2-Clause
"""The hardware draws what a program has drawn: every stage and every byte is compared."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.frame import hardware
from fixfunc.cosim.frame.job import counters
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Recording


class Executed(NamedTuple):
    """What the hardware has made of a program."""

    job: ProgramJob
    streams: dict[str, dict]  # by stream: beats, mismatches, and the first
    memory: np.ndarray  # uint8
    counters: dict[str, int]  # by name: fixfunc.cosim.frame.job.counters


def draw(recording: Recording, memory: str = "near") -> Executed:
    """Draw a recorded program by the top, without resolves.

    Parameters
    ----------
    recording : Recording
    memory : str
        A name of :data:`fixfunc.cosim.simulation.volume.MEMORIES`: what lies behind the top.

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
    drawn, held = hardware.run(job, hardware.library("top", "frame"), inputs, name)
    expected, *_ = job.expected(drawn.outputs)
    counted = counters(drawn.outputs["counter_value"])
    return Executed(job, hardware.differences(drawn.outputs, expected), held.data, counted)
