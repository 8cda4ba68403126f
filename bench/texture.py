# SPDX-License-Identifier: BSD-2-Clause
"""Textures: blocks a clock, how fast the golden decoder is, what a cache sees of real frames."""

import time

import numpy as np

from fixfunc.cosim.frame import mesh
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.scene import shading
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.texture.block_decode import FORMATS, decode
from fixfunc.models.texture.cache.texture_cache import CacheShape, MortonPlaces, TextureCache
from fixfunc.models.texture.sampler import Sampler, Taps, sample
from fixfunc.models.texture.texture import of_picture
from fixfunc.tb import catalogue
from tests.oracles.texture import PILLOW, by_imagecodecs, by_pillow

BLOCKS = 1 << 16
ROUNDS = 5


def clocks():
    """Format -> clocks a block, of so many in a row."""
    block = catalogue.block("block_decode")
    rng = np.random.default_rng(0)
    out = {}
    decoder = block.simulated()
    volume = Volume(decoder, block.stem)
    rows = block.bench.requests(rng, 40000, block.parameters("default"))
    formats = (rows[:, 0] & np.uint64(15)).astype(int)
    works = {name: rows[formats == n][:2000] for n, name in enumerate(FORMATS)} | {
        "all of them mixed": rows[:2000]
    }
    for name, those in works.items():
        run = volume.run({"i": those}, len(those))
        out[name] = (run.clocks - decoder.latency + 1) / len(those)
    return out


def speed():
    """Rows: format, golden MB/s of texels, those of a decoder in C, and its name.

    The best of several rounds in turn.
    """
    out = []
    for name, form in FORMATS.items():
        blocks = np.random.default_rng(0).integers(0, 256, (BLOCKS, form.size), np.uint8)
        reference, how = (
            (by_pillow, "Pillow")
            if name in PILLOW
            else (by_imagecodecs, "imagecodecs")
            if name in ("BC6HU", "BC6HS", "BC7")
            else (None, "")
        )
        size = decode(name, blocks).nbytes / 1e6
        best = [np.inf, np.inf]
        for _ in range(ROUNDS):
            for n, run in enumerate((decode, reference)):
                if run:
                    start = time.perf_counter()
                    run(name, blocks)
                    best[n] = min(best[n], time.perf_counter() - start)
        # Pillow gives 8 bits of a channel where ours has 16: both are counted as texels of ours.
        out.append([name, size / best[0], size / best[1] if reference else None, how])
    return out


def cached():
    """Rows: what is drawn, kilobytes, misses and blocks a sample."""
    texture = _pattern()
    out = []
    for name, taps, samples in (
        ("a plane, a texel a pixel, bilinear", *_plane(texture)),
        ("teapot 1280x720, anisotropic", *_teapot(texture)),
    ):
        for kilobytes in (1, 2, 4, 8, 16, 32):
            cache = TextureCache(CacheShape(1024 * kilobytes), timed=False)
            counters = cache.read(MortonPlaces(texture), samples, taps)
            out.append(
                [
                    name,
                    kilobytes,
                    counters.misses_per_sample,
                    counters.blocks_per_sample,
                    counters.taps / samples,
                ]
            )
    return out


def _pattern():
    y, x = np.mgrid[:512, :512]
    return of_picture(np.stack([x ^ y, x // 2, y // 2, 0 * x + 255], -1).astype(np.uint8))


def _plane(texture):
    """512x512 pixels, moved by a third of a texel, so that four texels are read for each."""
    y, x = (axis.ravel() for axis in np.indices((512, 512)))
    xy = np.stack([x, y], 1)[np.argsort(_drawn_order(x, y), kind="stable")]
    taps = Taps()
    sample(texture, Sampler(), ((xy + 1 / 3) / 512).astype(np.float32), lod=0, taps=taps)
    return taps, len(xy)


def _drawn_order(x, y):
    """Numbers of pixels' quads in the order of the rasterizer.

    Superblocks of 64 by 64 pixels hold tiles of 8 by 8, row by row.
    """
    return (
        (y >> 6) << 22
        | (x >> 6) << 12
        | (y >> 3 & 7) << 9
        | (x >> 3 & 7) << 6
        | (y >> 1 & 3) << 4
        | (x >> 1 & 3) << 2
    )


def _teapot(texture):
    scene = Scene(*mesh.teapot(8), texture=texture)
    frame = render(scene)
    taps = Taps()
    owner = frame.setup.index[frame.owner]
    shading.picture(scene, frame.part, frame.tiles, owner, frame.passed, taps)
    return taps, int(np.concatenate(taps.sample).max()) + 1


def lines(figures):
    """The figures as Markdown."""
    out = [
        "## Textures",
        "",
        "Block decoder, 16 texels a clock, always ready: clocks a block, 2000 in a row. Golden "
        "decoder beside one in C, in",
        "one run: texels as they come out, best of five rounds in turn, one core (accept within "
        "10x, excellent within 3x).",
        "",
        "| format | clocks a block | golden MB/s | in C, MB/s | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, ours, theirs, how in figures["texture_speed"]:
        in_c = f"{theirs:,.0f} ({how}) | {theirs / ours:.1f}" if theirs else "- | -"
        out.append(f"| {name} | {figures['texture_clocks'][name]:.3f} | {ours:,.0f} | {in_c} |")
    out += [
        "",
        f"All formats mixed: {figures['texture_clocks']['all of them mixed']:.3f} clocks a block.",
        "Accept, in LUT4 a texel a clock (a sixteenth of what stands below): 300 for BC1 to BC3, "
        "1000 for BC7, 1800 for all.",
        "",
        "Texture cache: 512x512 RGBA8 and its levels. The documents say 1.25 misses (texels "
        "decoded) and 0.08",
        "blocks a bilinear sample at one texel a pixel, hardly changing from 4 to 16 KB. "
        "Anisotropic samples read more texels each.",
        "",
        "| frame | KB | misses a sample | blocks a sample | texels read a sample |",
        "|---|---|---|---|---|",
    ]
    for name, kilobytes, misses, blocks, taps in figures["texture_cache"]:
        out.append(f"| {name} | {kilobytes} | {misses:.3f} | {blocks:.3f} | {taps:.2f} |")
    return [*out, ""]
