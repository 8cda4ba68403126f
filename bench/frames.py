# SPDX-License-Identifier: BSD-2-Clause
"""Whole frames on the top: every byte compared, and what they take."""

import numpy as np

from bench import passes
from bench.depth import torus
from bench.memory import BUNNY
from fixfunc.cosim.frame import hardware, mesh
from fixfunc.cosim.frame.job import FrameJob, counters, traffic
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene, teapot_patches

SIZE = 1280, 720
LATENCIES = (0, 8), (100, 100), (400, 400), (400, 800)  # clocks, of memory that never stalls
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
        meshes["bunny"] = mesh.load(BUNNY)
    for samples in (1, 4):
        for name, (vertices, faces) in meshes.items():
            yield f"{name}, {samples}x", Scene(vertices, faces, *size, samples)
        yield f"teapot, adaptive patches, {samples}x", teapot_patches("adaptive", *size, samples)
        for name, (vertices, faces) in {
            "four layers": stack(),
            "slivers and fans": slivers_and_fans(),
        }.items():
            yield f"{name}, {samples}x", Scene(vertices, faces, *size, samples, transform=FLAT)


def draw(job, latency):
    """Execute a job by the hardware, memory always ready.

    Returns transfers and beats that differ, counters, the run and its memory.
    """
    block = hardware.bench("top")
    inputs = job.inputs()
    memory = Memory(job.data.copy(), latency, ready=256)
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

    Name, triangles, tiles, transfers of the busiest channel, what differs, clocks with the nearest
    memory; clocks by :data:`LATENCIES`, of the bound; stalls before HiZ and colours with the
    nearest and the farthest memory; seconds, clocks a second.
    """
    for name, job, picture in jobs(size):
        drawn = []
        for latency in LATENCIES:
            progress(f"frame: {name}, memory {latency[1]} clocks away")
            differs, first, counted, run, memory = draw(job, latency)
            assert not differs, first
            assert picture is None or (job.picture(memory) == picture).all(), (
                "the picture is not that of the golden pipeline"
            )
            transfers = max(hardware.channel_transfers(traffic(counted)))
            bound = max(counted["triangles"], counted["tiles"], transfers)
            stalls = [counted[f"stall_{at}"] / counted["clocks"] for at in ("raster", "depth")]
            drawn.append((counted, counted["clocks"] / bound, stalls, run))
        counted, _, stalls, run = drawn[0]
        yield (
            name,
            counted["triangles"],
            counted["tiles"],
            transfers,
            differs,
            counted["clocks"],
            *(share for _, share, _, _ in drawn),
            *stalls,
            *drawn[-1][2],
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
        "stalls, and answers after so many clocks. Clocks, seconds and rate are of the nearest. "
        "Bound: max(triangles, tiles",
        "touched, transfers of the busiest channel of memory), which is the peak of one of each a "
        "clock; accept 1.15 for the",
        "mesh of 100 k triangles, 1.45 at 100 clocks, 1.6 at 400, 1.8 at 400 to 800. Held up: of "
        "the clocks, the rasterizer",
        "by depths, and the depth test by colours, near and far.",
        "",
        "| frame | triangles | tiles | transfers | that differ | clocks "
        "| of the bound: 0 to 8 | 100 | 400 | 400 to 800 "
        "| rasterizer held up | depth test held up | seconds | clocks/s |",
        "|---|" + "---|" * 13,
    ]
    return head + [
        f"| {name} | {triangles} | {tiles} | {transfers} | {differs} | {clocks} "
        f"| {near:.2f} | {nearer:.2f} | {farther:.2f} | {far:.2f} "
        f"| {depth:.0%} to {far_depth:.0%} | {colour:.0%} to {far_colour:.0%} "
        f"| {seconds:.1f} | {rate:,.0f} |"
        for (
            name,
            triangles,
            tiles,
            transfers,
            differs,
            clocks,
            near,
            nearer,
            farther,
            far,
            depth,
            colour,
            far_depth,
            far_colour,
            seconds,
            rate,
        ) in drawn
    ]
