# SPDX-License-Identifier: BSD-2-Clause
"""The hardware draws a golden frame: every stage and every byte of memory is compared."""

import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from multiprocessing import active_children, get_context
from typing import Any

import numpy as np

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import job as frames
from fixfunc.cosim.frame.result import Result
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.reference import block_decode, domain_matching
from fixfunc.cosim.reference import top as golden_top
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.events import Keep
from fixfunc.cosim.simulation.library import share
from fixfunc.cosim.simulation.volume import MEMORIES, Memory, Run, Volume
from fixfunc.cosim.time import timeline
from fixfunc.cosim.time.outputs import NONE, Outputs
from fixfunc.models.scene.scene import Scene
from fixfunc.spec import points
from fixfunc.spec.commands import CommandError
from fixfunc.spec.counters import PROBES
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TOP_LIMIT

REFERENCES = {
    "top": golden_top,
    "domain_matching": domain_matching,
    "block_decode": block_decode,
}


def check(scene: Scene) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a scene that the top cannot draw."""
    for name in ("width", "height"):
        if getattr(scene, name) > TOP_LIMIT:
            raise InputError(
                name, f"be at most {TOP_LIMIT}, the largest target of the top", getattr(scene, name)
            )


def named(memory: str) -> list[str]:
    """Names of memories, between commas in ``memory``.

    Raises :class:`~fixfunc.spec.errors.InputError` for one that there is not.
    """
    names = memory.split(",")
    for name in names:
        if name not in MEMORIES:
            raise InputError("memory", f"be one of {', '.join(MEMORIES)}", name)
    return names


@cache
def bench(name: str) -> Bench:
    """A block of a frame beside its golden model."""
    return Bench.of(catalogue.block(name), REFERENCES[name])


@cache
def library(name: str, config: str, traced: bool = False) -> Volume:
    """A block of a frame, or the harness around it, Verilated; ``traced``, with waves."""
    return bench(name).volume(config, traced=traced)


def _build(
    name: str, figures: dict, step: Steps, config: str = "default", traced: bool = False
) -> Volume:
    """A block, or the harness around it, Verilated."""
    step(f"building {name}", lambda: share(name))
    start = time.perf_counter()
    volume = library(name, config, traced)
    figures["seconds"][f"build {name}"] = time.perf_counter() - start
    return volume


def compare_blocks(scene: Scene, figures: dict, step: Steps) -> None:
    """Blocks beside the top that have a part in the scene, held to their golden models."""
    work = {}
    if scene.tessellated:
        work["domain_matching"] = codec.pack(scene.tessellated.points, points.DOMAIN_POINT)
    if scene.texture and scene.texture.format in block_decode.SUPPORTED:
        work["block_decode"] = block_decode.of_texture(scene.texture)
    for name, rows in work.items():
        volume = _build(name, figures, step)
        step(f"rtl: {name}")
        drawn, expected, mismatches, first = bench(name).compare(volume, rows)
        figures["seconds"][f"rtl {name}"] = drawn.seconds
        figures["rtl"][name] = {"beats": len(expected["o"]), "mismatches": mismatches} | (
            {"first": first} if first else {}
        )


def draw(
    scene: Scene,
    result: Result,
    step: Steps,
    resolve: bool = False,
    memory: str = "near",
    outputs: Outputs = NONE,
) -> None:
    """Draw the frame by the hardware, with a memory of a name behind it, and compare.

    With ``resolve`` the hardware makes pixels of the samples, too; else it lacks the unit, without
    which a top simulates faster. Figures are those of the first memory; of others clocks, and what
    differs. Each other memory has a process of its own, beside the first. What
    ``outputs`` ask for is kept.
    """
    block = bench("top")
    config = "default" if resolve else "frame"
    figures = result.figures
    job = frames.FrameJob(scene, result.frame, block.parameters(config), resolve)
    volume = _build("top", figures, step, config, bool(outputs.waves))
    step("golden: colours")
    start = time.perf_counter()
    inputs = job.inputs()
    figures["seconds"]["golden: colours"] = time.perf_counter() - start
    first, *others = named(memory)
    part = result.frame.part
    result.capture.list(part, np.arange(len(part.triangles)), None)
    with _beside(len(others)) as pool:
        work = {name: pool.submit(_drawn_beside, job, config, inputs, name) for name in others}
        step("rtl: top, and golden memory")
        found = figures["rtl"]
        with outputs.watching(volume):
            drawn, held, outcome, golden, seconds = _draw(
                job, volume, inputs, first, found, result.capture, Keep(bursts=outputs.bursts)
            )
        result.timeline = timeline.of(drawn.outputs, drawn.events)
        figures["seconds"] |= seconds
        others_drawn = {name: run.result() for name, run in work.items()}
    counted = frames.counters(drawn.outputs["counter_value"])
    figures |= {
        "hardware": counted,
        "golden": golden,
        **counted_figures(counted, first),
        "clocks_per_second": drawn.simulated / drawn.seconds,
        "status": frames.status(drawn.outputs["o"]),
        "other_memories": {},
    }
    plain = 4 * (result.frame.counters["samples_covered"] + result.frame.counters["samples_passed"])
    figures["depth_of_plain"] = sum(
        size for client, *_, size in figures["moved"] if client == "depth"
    ) / max(plain, 1)
    if not _errors(figures["status"]):
        result.frame = replace(result.frame, colour=job.picture(held.data), outcome=outcome)
        result.modes = job.modes(held.data)
    for name, (counted, found, seconds) in others_drawn.items():
        figures["rtl"] |= {f"{stream}, {name}": of for stream, of in found.items()}
        figures["seconds"] |= {f"{what}, {name}": taken for what, taken in seconds.items()}
        figures["other_memories"][name] = counted["clocks"], _of_bound(counted, name)


def counted_figures(counted: dict[str, int], memory: str) -> dict[str, Any]:
    """What counters of the hardware say, with a memory of a name behind it."""
    return {
        "memory": f"{memory}: {MEMORIES[memory].text}",
        "clocks": counted["clocks"],
        "clocks_of_bound": _of_bound(counted, memory),
        "stalls": {name: counted[f"stall_{name}"] / max(counted["clocks"], 1) for name in PROBES},
        "moved": frames.traffic(counted),
    }


def _draw(job, volume, inputs, name, found, probe=None, keep=None):
    """The run with a memory, what that holds in the end, golden outcomes and counters, seconds.

    What was compared is put into ``found``, by stream.
    """
    start = time.perf_counter()
    drawn, held = run(job, volume, inputs, name, keep)
    simulated = time.perf_counter()
    expected, outcome, counted = job.expected(drawn.outputs, probe)
    found |= differences(drawn.outputs, expected)
    found["counters"] = counter_differences(
        frames.counters(drawn.outputs["counter_value"]), counted
    )
    seconds = {
        "rtl: top": simulated - start,
        "golden: memory": time.perf_counter() - simulated,
    }
    return drawn, held, outcome, counted, seconds


@contextmanager
def _beside(count):
    """Processes for so many other memories: none is left behind, however the work ends."""
    with ProcessPoolExecutor(max(count, 1), get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            for process in active_children():
                process.kill()  # one that simulates does not hear an interrupt
            raise


def _drawn_beside(job, config, inputs, name):
    """In a process of its own: the hardware's counters, what was compared, and seconds."""
    found = {}
    drawn, *_, seconds = _draw(job, library("top", config), inputs, name, found)
    return frames.counters(drawn.outputs["counter_value"]), found, seconds


def run(
    job: frames.Job,
    volume: Volume,
    inputs: dict,
    memory: str,
    keep: Keep | None = None,
    **fields: Any,
) -> tuple[Run, Memory]:
    """A job by the hardware, and what a memory of a name holds then; ``keep`` as of a volume.

    ``fields`` of :class:`~fixfunc.cosim.simulation.volume.Memory` take the place of the name's.
    """
    held = Memory(job.data.copy(), **MEMORIES[memory].fields | fields)
    drawn = volume.run(inputs, job.room, memory=held, keep=keep)
    drawn.outputs["memory"] = held.data.view(np.uint64).reshape(-1, 4)
    return drawn, held


def differences(outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> dict:
    """By stream, as stages follow: beats, mismatches, and the first. What differs first is to
    blame.
    """
    found = {}
    for stream, golden in expected.items():
        count, first = bench("top").differences(outputs, {stream: golden})
        found[stream] = {"beats": len(golden), "mismatches": count} | (
            {"first": first} if first else {}
        )
    return found


def counter_differences(hardware: dict[str, int], golden: dict[str, int]) -> dict:
    """Counters of both sides that were compared, how many differ, and the first in words."""
    differ = [name for name, value in golden.items() if hardware[name] != value]
    out = {"beats": len(golden), "mismatches": len(differ)}
    if differ:
        name = differ[0]
        out["first"] = f"counters: {name} is {hardware[name]}, not {golden[name]}"
    return out


def _of_bound(counted, memory):
    """Clocks, of what no frame is faster than."""
    return bound.of_bound(counted["clocks"], bound.terms(counted, frames.traffic(counted), memory))


def _errors(status: list[dict[str, int]]) -> list[str]:
    """What the status words of the hardware complain of."""
    out = [
        f"the reader reports {CommandError(word['error']).name} at transfer {word['at']}"
        for word in status
        if word["last"] and word["error"]
    ]
    out += [
        f"the hardware reports failure {word['failed']} at fence {word['sequence']}"
        for word in status
        if word["failed"]
    ]
    return (
        out
        if any(word["last"] for word in status)
        else [*out, "the hardware did not come to the end of the commands"]
    )


def failures(figures: dict) -> list[str]:
    """Why a frame is not what the golden pipeline drew: a list of str, empty if it is.

    Reasons are differences, errors that the hardware reports, and that nothing was compared.
    """
    figures["mismatches"] = sum(probe["mismatches"] for probe in figures["rtl"].values())
    out = _errors(figures["status"])
    if figures["mismatches"]:
        out.append(f"{figures['mismatches']} beats or transfers differ")
    if not all(
        figures["rtl"].get(name, {"beats": 0})["beats"]
        for name in ("probe_commands", "memory", "o")
    ):
        out.append("nothing was compared")
    return out
