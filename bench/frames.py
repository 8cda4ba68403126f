# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames on the top: every byte compared, and what they take."""

import numpy as np

from bench import passes
from bench.depth import torus
from bench.memory import BUNNY
from fixfunc.cosim.frame import hardware, mesh
from fixfunc.cosim.frame.job import FrameJob, counters
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene, teapot_patches

SIZE = 1280, 720
FLAT = np.diag([1, 1, 1, 1]).astype(np.float32)


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


def draw(job):
    """Execute a job by the hardware, memory always ready.

    Returns transfers and beats that differ, counters, the run and its memory.
    """
    block = hardware.bench("top")
    inputs = job.inputs()
    memory = Memory(job.data.copy(), (0, 8), ready=256)
    run = volume().run(inputs, job.room, memory=memory)
    run.outputs["memory"] = memory.data.view(np.uint64).reshape(-1, 4)
    golden, _ = job.expected(run.outputs)
    differs, first = block.differences(run.outputs, golden)
    return differs, first, counters(run.outputs["counter_value"]), run, memory.data


def jobs(size=SIZE):
    """Name and job of every frame, and the picture that a mesh must give."""
    params = hardware.bench("top").parameters("frame")
    for name, scene in scenes(size):
        frame = render(scene)
        yield name, FrameJob(scene, frame, params), frame.colour
    for name, job in passes.scenes(size, params):
        yield name, job, None


def volume(built=[]):  # noqa: B006 - kept on purpose: it takes minutes
    """The top, Verilated once."""
    if not built:
        built.append(hardware.bench("top").volume("frame", optimise=2))
    return built[0]


def rows(progress=lambda _name: None, size=SIZE):
    """Rows, one a frame.

    Name, triangles, tiles, what differs, clocks, their share of the bound, stalls before HiZ and
    colours, seconds, clocks a second.
    """
    for name, job, picture in jobs(size):
        progress(f"frame: {name}")
        differs, first, counted, run, memory = draw(job)
        assert not differs, first
        assert picture is None or (job.picture(memory) == picture).all(), (
            "the picture is not that of the golden pipeline"
        )
        bound = max(counted["triangles"], counted["tiles"])
        yield (
            name,
            counted["triangles"],
            counted["tiles"],
            differs,
            counted["clocks"],
            counted["clocks"] / bound,
            counted["stall_raster"] / counted["clocks"],
            counted["stall_depth"] / counted["clocks"],
            run.seconds,
            run.simulated / run.seconds,
        )


def lines(drawn):
    """The figures as Markdown."""
    head = [
        "## Frames",
        "",
        "The top (default), 1280x720, all streams and all of memory compared, compressed tiles "
        "too; memory that never",
        "stalls, 0 to 8 clocks away.",
        "Bound: max(triangles, tiles touched), which is the peak of one of each a clock; accept "
        "1.15 for the mesh of 100 k",
        "triangles; a frame in under 60 s of simulation on 2 cores.",
        "",
        "| frame | triangles | tiles | that differ | clocks | of the bound | share of peak | "
        "rasterizer held up by depths "
        "| depth test by colours | seconds | clocks/s |",
        "|---|" + "---|" * 10,
    ]
    return head + [
        f"| {name} | {triangles} | {tiles} | {differs} | {clocks} | {share:.2f} | "
        f"{1 / share:.0%} | {depth:.0%} "
        f"| {colour:.0%} | {seconds:.1f} | {rate:,.0f} |"
        for name, triangles, tiles, differs, clocks, share, depth, colour, seconds, rate in drawn
    ]
