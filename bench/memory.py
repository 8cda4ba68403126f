# SPDX-License-Identifier: BSD-2-Clause
"""Bytes between the depth unit and memory, by the golden cache.

Clocks of the hardware that moves them.
"""

import numpy as np

from bench.depth import HEIGHT, LAYERS, WIDTH, stack, torus
from fixfunc.cosim import toolchain
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.simulation.volume import LATENCIES, Memory, Volume
from fixfunc.models.depth.compression.anchor import encode_block
from fixfunc.models.depth.compression.block import PlaneForm
from fixfunc.models.depth.compression.codes import CODES
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.depth_cache import CacheShape, DepthCache, TrafficKind
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.tile_cache import words
from fixfunc.models.memory.tile_tags import TileTags
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.state import draw_state
from fixfunc.spec.state import TileMode
from fixfunc.tb import catalogue

EVERYTHING = "coding, fast clear"
FEATURES = {
    EVERYTHING: CacheShape(),
    "anchor coding, fast clear": CacheShape(coding="anchor"),
    "coding": CacheShape(fast_clear=False),
    "fast clear": CacheShape(coding="raw"),
    "cache alone": CacheShape(coding="raw", fast_clear=False),
}
SIZES = (16, 64, 256, 1024)  # tiles of the cache
OLDEST, RECENT = "oldest", "least recently used"  # the way that goes
BUNNY = toolchain.ROOT.parent / "shared" / "data" / "bunny.obj"  # measured where there is one


def scenes():
    """Name, tiles and state of each frame."""
    order = np.random.default_rng(0).permutation(LAYERS)
    meshes = {
        "demo frame": mesh.teapot(8),
        "teapot, 102 k triangles": mesh.teapot(40),
        "torus, 100 k triangles": torus(392, 128),
    }
    if BUNNY.exists():
        meshes["bunny"] = mesh.load(BUNNY)[:2]
    for samples in (1, 4):
        for name, (vertices, faces) in meshes.items():
            frame = render(Scene(vertices, faces, WIDTH, HEIGHT, samples))
            yield f"{name}, {samples}x", frame.tiles, frame.state
        state = draw_state(WIDTH, HEIGHT, samples)
        yield (
            f"{LAYERS} layers, shuffled, {samples}x",
            rasterize(setup(stack(order), state).records)[0],
            state,
        )


class RecencyTags(TileTags):
    """Tags whose least recently used way goes instead of the oldest; no hardware's."""

    IS_BY_USE = True


class RecencyCache(DepthCache):
    """A cache with such tags."""

    TAGS = RecencyTags


def play(tiles, done, state, shape, kind=DepthCache):
    """A cleared target, its tiles, tested behind HiZ, all written back: the cache."""
    cache = kind(state, shape)
    cache.clear(
        (0, 0, int(state["target_width"]), int(state["target_height"])), int(state["depth_max"])
    )
    cache.run(tiles, *done, state)
    cache.flush()
    return cache


def rows():
    """Tables of traffic, of modes, of cache sizes and of :func:`blocks`.

    Traffic: scene, features, bytes read, written, share of plain depth. Modes: scene, shares of
    tiles written back by mode. Sizes: scene, which way goes, tiles, hit rate, share.

    Plain depth: 4 bytes read for every covered sample, 4 written for every one that passes.
    """
    traffic = []
    modes = []
    sizes = []
    taken = []
    for scene, tiles, state in scenes():
        done = DepthUnit(state).test(tiles)
        plain = 4 * (int(np.bitwise_count(tiles["mask"]).sum()) + int(done[0].sum()))
        for name, shape in FEATURES.items():
            cache = play(tiles, done, state, shape)
            read = sum(count for moved, count in cache.bytes.items() if "fill" in moved.cause)
            written = sum(cache.bytes.values()) - read
            traffic.append((scene, name, read, written, (read + written) / plain))
            if name == EVERYTHING:
                by_mode = [
                    cache.traffic[TrafficKind("write_back", code)] for code in CODES["differences"]
                ]
                modes.append((scene, *(count / sum(by_mode) for count in by_mode)))
                taken.append((scene, *blocks(cache, int(state["samples"]))))
        for kind, way, counts in ((DepthCache, OLDEST, SIZES), (RecencyCache, RECENT, SIZES[2:])):
            for size in counts:
                cache = play(tiles, done, state, CacheShape(sets=size // 4), kind)
                share = sum(cache.bytes.values()) / plain
                sizes.append((scene, way, size, cache.hits / cache.uses, share))
    return traffic, modes, sizes, taken


def clocks(count=4000):
    """Rows: work, clocks a tile in hardware, always-ready sink.

    What the pipeline's depth takes is off.
    """
    compression = catalogue.block("depth_compression")
    cache = catalogue.block("tile_cache")
    beats = compression.bench.requests(
        np.random.default_rng(0), 4 * count, compression.parameters("default")
    )
    volume = None
    result = []
    volume = Volume(compression.simulated(), compression.stem)
    for name, decodes in (("coder", 0), ("decoder", 1)):
        those = beats[(beats[:, 0] & 1) == decodes]
        result.append(
            (name, _slope(lambda n, those=those: volume.run({"i": those[:n]}, 4 * count), count))
        )
    volume = Volume(cache.simulated(), cache.stem)
    params = cache.parameters("default")
    for name, tiles, latency in (
        ("tiles on chip", params.slots, LATENCIES[0]),
        ("one tile", 1, LATENCIES[0]),
        *(
            (f"none on chip, memory {low} to {high} clocks away", 2 * params.slots, (low, high))
            for low, high in LATENCIES
        ),
    ):
        rows = cache.bench.hits(params, tiles, count)
        held = Memory(cache.bench.memory(rows, params), latency, ready=256)
        result.append(
            (
                f"cache, {name}",
                _slope(
                    lambda n, rows=rows, held=held: volume.run(
                        {"i": rows[:n]}, 2 * count, memory=held
                    ),
                    count,
                ),
            )
        )
    return result


def _slope(run, count):
    """Clocks of each beat between the first half and the second."""
    return (run(count).clocks - run(count // 2).clocks) / (count - count // 2)


def blocks(cache, samples):
    """Shares of the 4 by 4 blocks in memory that each of the documents' coders takes.

    (anchor, planes of 24 bits, planes of 28 and 24).

    Of blocks of tiles that are neither cleared nor without any triangle.
    """
    taken = np.zeros(3)
    count = 0
    lx, ly = LANE_SHAPE[samples]
    is_clear = np.array([mode == TileMode.CLEARED for mode, _ in cache.stored()])
    for line in cache.tiles()[~is_clear]:
        planes = line["planes"][None, : line["counts"]]
        for y in (0, 4):
            for x in (0, 4):
                block = words(line)[None, y : y + 4, x : x + 4].astype(np.int64)
                mask = line["masks"][None, y : y + 4, x : x + 4].astype(np.int64)
                count = count + 1
                here = np.zeros((1, 4), PLANE)
                taken[0] += encode_block(block)[0][0]
                if not line["counts"]:
                    continue
                used, index = np.unique(mask, return_inverse=True)
                here[0, : len(used)] = planes[0, used]
                here["z0"] += (
                    here["dx"].astype(np.int64) * (x >> lx)
                    + here["dy"].astype(np.int64) * (y >> ly)
                ).astype(np.uint32)
                for n, form in enumerate((PlaneForm(), PlaneForm(z0=28)), 1):
                    taken[n] += form.encode(
                        block, here, np.array([len(used)]), index.reshape(1, 4, 4), samples
                    )[0][0]
    return [float(share) for share in taken / count]
