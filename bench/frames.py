# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames on the top: every byte compared, and what they take."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from bench import passes
from bench.depth import torus
from bench.memory import BUNNY
from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import hardware, mesh
from fixfunc.cosim.frame.job import FrameJob, counters, traffic
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene, teapot_patches
from fixfunc.spec.state import Compare

SIZE = 1280, 720
# By name on the page: a memory of :data:`fixfunc.cosim.simulation.volume.MEMORIES`, and what takes
# the place of its fields.
MEMORIES = {
    "near": ("near", {}),
    "100": ("near", {"latency": (100, 100)}),
    "400": ("near", {"latency": (400, 400)}),
    "far": ("far", {}),
}
FLAT = np.diag([1, 1, 1, 1]).astype(np.float32)
ALPHA_TESTED = "teapot", "four layers"  # drawn again with an alpha test that all pixels pass


def stack():
    """Four layers over all of the screen, far to near to far, a little tilted.

    They are drawn without transform.
    """
    layers = [
        [(x, y, z + 0.02 * x) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        for z in (0.8, 0.3, 0.6, 0.4)
    ]
    return np.array(layers).reshape(-1, 3), np.array(
        [(4 * n + a, 4 * n + b, 4 * n + c) for n in range(4) for a, b, c in ((0, 1, 2), (0, 2, 3))]
    )


def slivers_and_fans():
    """A thousand slivers across the screen, and fans of as many around two points."""
    rng = np.random.default_rng(0)
    ends = rng.uniform(-1, 1, (1000, 2, 3)) * (1, 1, 0.4) + (0, 0, 0.5)
    slivers = np.concatenate(
        [ends, ends[:, 1:] + rng.uniform(-0.004, 0.004, (1000, 1, 3)) * (1, 1, 0)], 1
    )
    turn = np.linspace(0, 2 * np.pi, 501)
    rim = np.stack([0.4 * np.cos(turn), 0.6 * np.sin(turn), np.full(501, 0.45)], -1)
    fans = [
        np.stack(
            [
                np.broadcast_to(centre, (500, 3)),
                rim[:-1] + centre * (1, 1, 0),
                rim[1:] + centre * (1, 1, 0),
            ],
            1,
        )
        for centre in np.array([(-0.5, 0, 0.5), (0.5, 0.1, 0.55)])
    ]
    vertices = np.concatenate([slivers, *fans]).reshape(-1, 3)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def scenes(size=SIZE):
    """Name and scene of every frame, at 1x and 4x."""
    meshes = {"teapot": mesh.teapot(8), "torus of 100,352 triangles": torus(392, 128)}
    if BUNNY.exists():
        meshes["bunny"] = mesh.load(BUNNY)[:2]
    for samples in (1, 4):
        for name, (vertices, faces) in meshes.items():
            yield f"{name}, {samples}x", Scene(vertices, faces, *size, samples)
        yield f"teapot, adaptive patches, {samples}x", teapot_patches("adaptive", *size, samples)
        for name, (vertices, faces) in {
            "four layers": stack(),
            "slivers and fans": slivers_and_fans(),
        }.items():
            yield f"{name}, {samples}x", Scene(vertices, faces, *size, samples, transform=FLAT)


def draw(job, memory):
    """What the hardware takes for a job with a memory of a name; all that it gives is compared.

    Returns counters and clocks, share of the bound and its longest term.
    """
    name, fields = MEMORIES[memory]
    run, held = hardware.run(job, hardware.library("top", "frame"), job.inputs(), name, **fields)
    golden, *_ = job.expected(run.outputs)
    differs, first = hardware.bench("top").differences(run.outputs, golden)
    assert not differs, first
    assert not isinstance(job, FrameJob) or (job.picture(held.data) == job.frame.colour).all(), (
        "the picture is not that of the golden pipeline"
    )
    counted = counters(run.outputs["counter_value"])
    terms = bound.terms(counted, traffic(counted), name)
    return counted, {
        "clocks": counted["clocks"],
        "of_bound": bound.of_bound(counted["clocks"], terms),
        "term": max(terms, key=lambda term: term.clocks).words,
    }


def jobs(size=SIZE):
    """Name and job of every frame."""
    params = hardware.bench("top").parameters("frame")
    for samples in ("1x", "4x"):
        for name, scene in scenes(size):
            if name.endswith(samples):
                frame = render(scene)
                yield name, FrameJob(scene, frame, params)
                if name.removesuffix(f", {samples}") in ALPHA_TESTED:
                    late = FrameJob(scene, frame, params, alpha_test=Compare.GREATER)
                    yield f"{name}, alpha test", late
        for name, job in passes.scenes(size, params):
            if name.endswith(samples):
                yield name, job


def rows(progress=lambda _name: None, size=SIZE):
    """Figures of each frame: of its work, and by memory; two memories side by side."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for name, job in jobs(size):
            progress(f"frame: {name}")
            counted, figures = zip(*pool.map(draw, [job] * len(MEMORIES), MEMORIES), strict=True)
            work = {key: counted[0][key] for key in ("triangles", "tiles", "pipe_quads")}
            yield {"name": name} | work | dict(zip(MEMORIES, figures, strict=True))


def lines(drawn):
    """The figures as Markdown."""
    head = [
        "## Frames",
        "",
        f"The top (frame), {SIZE[0]}x{SIZE[1]}; all streams and all of memory are compared, "
        "compressed tiles too, and none differs. Memory answers after 0 to 8 clocks (near), 100, "
        "400, or 400 to 800 (far), and each of its channels moves in 5 of 8 clocks, so that what "
        "transfers hold takes 1.6: clocks of the frame, and their share of the bound. "
        "The bound is the longest of its terms: triangles, tiles, quads and their attributes, one "
        "a clock, and transfers of each channel of memory; the term is the one that holds the "
        "frame.",
        "",
        f"| frame | triangles | tiles | quads | term | {' | '.join(MEMORIES)} |",
        "|---|" + "---|" * (4 + len(MEMORIES)),
    ]
    return head + [_line(it) for it in drawn]


def _line(it):
    work = it["triangles"], it["tiles"], it["pipe_quads"], it["near"]["term"]
    return f"| {' | '.join(map(str, (it['name'], *work)))} | {' | '.join(_taken(it))} |"


def _taken(it):
    """Clocks and their share of the bound, by memory; a dash where they are not measured."""
    for memory in MEMORIES:
        figures = it.get(memory)
        yield f"{figures['clocks']}, {figures['of_bound']:.2f}" if figures else "-"
