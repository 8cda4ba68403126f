"""Bytes between the depth unit and memory, by the golden cache."""

import numpy as np

from bench.depth import HEIGHT, LAYERS, WIDTH, stack
from cosim import catalogue
from models.depth._anchor import encode_block
from models.depth._block import PlaneForm
from models.depth.depth_cache import CacheShape, DepthCache, Moved
from models.depth.depth_compression import PLANE
from models.depth.depth_unit import DepthUnit
from models.geometry.triangle_setup import setup
from models.raster.edge_evaluator import LANE_SHAPE
from models.raster.tile_rasterizer import rasterize
from models.state import draw_state
from spec.state import TileMode

FEATURES = {
    "coding, fast clear": CacheShape(), "coding": CacheShape(fast_clear=False), "fast clear": CacheShape(coding=False),
    "cache alone": CacheShape(coding=False, fast_clear=False),
}
SIZES = (16, 64, 256)  # tiles of the cache


def scenes():
    """By name: tiles and state of a frame."""
    golden, state = catalogue.golden(), draw_state(WIDTH, HEIGHT)
    found = {}
    for samples in (1, 4):
        frame = golden.render(golden.Scene(*catalogue.teapot(8), samples=samples))
        found[f"demo frame, {samples}x"] = frame.tiles, frame.state
    order = np.random.default_rng(0).permutation(LAYERS)
    found[f"{LAYERS} layers, shuffled, 1x"] = rasterize(setup(stack(order), state).records)[0], state
    return found


def play(tiles, state, shape):
    """A cleared target, its tiles tested behind HiZ, all written back: the cache."""
    unit, cache = DepthUnit(state), DepthCache(state, shape)
    cache.clear((0, 0, int(state["target_width"]), int(state["target_height"])), int(unit.buffer.depth.max()))
    cache.run(tiles, *unit.test(tiles), state)
    cache.flush()
    return cache


def rows():
    """Traffic: scene, features, bytes read, written, share of plain depth; scene, shares of tiles written back; scene, tiles, share; :func:`blocks`.

    Plain depth: 4 bytes read for every covered sample, 4 written for every one that passes.
    """
    traffic, modes, sizes, taken = [], [], [], []
    for scene, (tiles, state) in scenes().items():
        plain = 4 * (int(np.bitwise_count(tiles["mask"]).sum()) + int(DepthUnit(state, bounds=None).test(tiles)[0].sum()))
        for name, shape in FEATURES.items():
            cache = play(tiles, state, shape)
            read = sum(count for moved, count in cache.bytes.items() if "fill" in moved.cause)
            written = sum(cache.bytes.values()) - read
            traffic.append((scene, name, read, written, (read + written) / plain))
            if name == "coding, fast clear":
                by_mode = [cache.moves[Moved("write_back", mode)] for mode in TileMode]
                modes.append((scene, *(count / sum(by_mode) for count in by_mode)))
                taken.append((scene, *blocks(cache, int(state["samples"]))))
        for size in SIZES:
            cache = play(tiles, state, CacheShape(sets=size // 4))
            sizes.append((scene, size, sum(cache.bytes.values()) / plain))
    return traffic, modes, sizes, taken


def blocks(cache, samples):
    """Shares of the 4 by 4 blocks in memory that each of the documents' coders takes: (anchor, planes of 24 bits, planes of 28 and 24).

    Of blocks of tiles that are neither cleared nor without any triangle.
    """
    taken, count, (lx, ly) = np.zeros(3), 0, LANE_SHAPE[samples]
    for line in (cache.line(tile) for tile, (mode, _) in enumerate(cache.stored()) if mode != TileMode.CLEARED):
        planes = np.array([line.planes], PLANE).reshape(1, -1)
        for y in (0, 4):
            for x in (0, 4):
                block, mask = (part[None, y:y + 4, x:x + 4].astype(np.int64) for part in (line.values, line.mask))
                count, here = count + 1, np.zeros((1, 4), PLANE)
                taken[0] += encode_block(block)[0][0]
                if not len(line.planes):
                    continue
                used, index = np.unique(mask, return_inverse=True)
                here[0, :len(used)] = planes[0, used]
                here["z0"] += (here["dx"].astype(np.int64) * (x >> lx) + here["dy"].astype(np.int64) * (y >> ly)).astype(np.uint32)
                for n, form in enumerate((PlaneForm(), PlaneForm(z0=28)), 1):
                    taken[n] += form.encode(block, here, np.array([len(used)]), index.reshape(1, 4, 4), samples)[0][0]
    return [float(share) for share in taken / count]
