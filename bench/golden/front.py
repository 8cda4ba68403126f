# SPDX-License-Identifier: BSD-2-Clause
"""The front half: how often vertices are reused, how fast it is, what changes of state cost."""

import time

import numpy as np
import trimesh

from fixfunc.cosim.frame import mesh
from fixfunc.models.frontend.command_processor import CommandProcessor
from fixfunc.models.frontend.input_assembler import Draw, IndexBuffer
from fixfunc.models.frontend.state.pieces import encode
from fixfunc.models.frontend.vertex_cache import reuse
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.machine import front_half
from fixfunc.models.machine.front_half import FrontState
from fixfunc.spec.dxgi import Format
from fixfunc.spec.ring import FIELDS, LENGTHS, TRANSFER, RingOp, Stop, Strategy

SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of a batch, or of a FIFO
CHANGES = 10_000  # of state
IN_FLIGHT = 5  # draws
SIDE = 1000  # vertices along a side of the grid that is timed


def grid(side: int) -> np.ndarray:
    """Triangles of a grid of so many vertices along a side, row by row."""
    j, i = np.mgrid[: side - 1, : side - 1].reshape(2, -1)
    corner = j * side + i
    quads = np.stack([corner, corner + 1, corner + side, corner + side + 1], 1)
    return quads[:, [0, 1, 2, 2, 1, 3]].reshape(-1, 3)


def meshes() -> dict[str, np.ndarray]:
    """Triangles by name, in the order of their files or generators."""
    shuffled = grid(61)
    np.random.default_rng(0).shuffle(shuffled)
    return {
        "grid, 60 by 60 squares, by rows": grid(61),
        "the same, shuffled": shuffled,
        "teapot, 32 patches of 12 by 12": np.asarray(mesh.teapot(12)[1]),
        "sphere, 5120 triangles": trimesh.creation.icosphere(4).faces,
        "torus, 96 by 48": trimesh.creation.torus(
            1, 0.4, major_sections=96, minor_sections=48
        ).faces,
    }


def hits() -> list[tuple]:
    """Mesh, corners, and hit rates: each vertex once, batches of 32, FIFOs of 16 and 32."""
    rows = []
    for name, faces in meshes().items():
        keys = np.arange(faces.max() + 1)
        rates = [
            reuse(keys, faces, how, size).hit_rate
            for how, size in (("batch", 32), ("fifo", 16), ("fifo", 32))
        ]
        rows.append((name, faces.size, 1 - len(np.unique(faces)) / faces.size, *rates))
    return rows


def by_size(faces: np.ndarray) -> dict[str, list[float]]:
    """Hit rates by :data:`SIZES`, of both ways."""
    keys = np.arange(faces.max() + 1)
    return {how: [reuse(keys, faces, how, n).hit_rate for n in SIZES] for how in ("batch", "fifo")}


def speed() -> tuple[int, int, int, float]:
    """Vertices of a grid, those that were shaded, triangles, and seconds of the front half."""
    y, x = np.mgrid[:SIDE, :SIDE] / np.float32(SIDE / 2) - 1
    vertices = np.stack([x, y, 0.5 + 0 * x, 1 + 0.3 * y], -1).astype(np.float32)
    indices = np.ascontiguousarray(grid(SIDE), "<u4").reshape(-1)
    state = FrontState(
        lambda waves: VertexResults(waves.floats(0)),
        elements=[Element(0, Format.R32G32B32A32_FLOAT)],
        vertex_buffers={0: VertexBuffer(vertices.reshape(-1).view(np.uint8), 16)},
        index_buffer=IndexBuffer(indices.view(np.uint8)),
        rasterizer=Rasterizer([Viewport(width=4096, height=4096)]),
    )
    begin = time.perf_counter()
    parts = list(front_half.run(Draw(len(indices), indexed=True), state))
    seconds = time.perf_counter() - begin
    shaded = sum(part.counters["vs_invocations"] for part in parts)
    return SIDE * SIDE, shaded, sum(len(part.triangles) for part in parts), seconds


def flushes() -> dict[str, int]:
    """Waits for work of :data:`CHANGES` changes, a draw behind each, by strategy."""
    return {strategy.name: _flushes(strategy) for strategy in Strategy}


def _flushes(strategy):
    ring = 1 << 12
    memory = np.zeros(ring, np.uint8)
    processor = CommandProcessor(memory, 0, ring, strategy)
    draw = encode(FIELDS[RingOp.DRAW], opcode=RingOp.DRAW, length=1, count=3)
    change = encode(
        FIELDS[RingOp.SET_STATE], opcode=RingOp.SET_STATE, length=LENGTHS[RingOp.SET_STATE]
    )
    write = 0
    for n in range(CHANGES):
        data = np.frombuffer(change + bytes([n % 251]) * TRANSFER + draw, np.uint8)
        for transfer in data.reshape(-1, TRANSFER):
            memory[write : write + TRANSFER] = transfer
            write = (write + TRANSFER) % ring
        stopped = processor.submit(write)
        while stopped.stop == Stop.STATE or len(processor.work) > IN_FLIGHT:
            stopped = processor.finish()
    return processor.slots.flushes


def lines(figures: dict) -> list[str]:
    """A section of the page."""
    vertices, shaded, triangles, seconds = figures["front_speed"]
    out = [
        "## Front half",
        "",
        "Share of a mesh's corners whose vertex had been shaded already; each vertex once is the "
        "most that there can be. [The vertex cache's page](frontend/vertex_cache.md) has it by "
        "size.",
        "",
        "| mesh | corners | each vertex once | batches of 32 | FIFO of 16 | FIFO of 32 |",
        "|---|---|---|---|---|---|",
    ]
    out += [
        f"| {name} | {corners:,} | {' | '.join(f'{100 * rate:.1f} %' for rate in rates)} |"
        for name, corners, *rates in figures["front_hits"]
    ]
    changes = ", ".join(f"{name} {count:,}" for name, count in figures["front_flushes"].items())
    out += [
        "",
        f"A grid of {vertices:,} vertices, {triangles:,} triangles, becomes snapped triangles in "
        f"{seconds:.1f} s: {shaded / seconds / 1e3:.0f} k vertices shaded and "
        f"{triangles / seconds / 1e3:.0f} k primitives a second, {shaded:,} vertices in all. "
        f"Accept: 10^6 vertices in 10 s; measured {seconds / shaded * 1e6:.1f} s.",
        "",
        f"{CHANGES:,} changes of state, a draw behind each, {IN_FLIGHT} draws in flight; changes "
        f"that wait for work, by strategy: {changes}.",
    ]
    return out
