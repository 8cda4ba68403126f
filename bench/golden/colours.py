# SPDX-License-Identifier: BSD-2-Clause
"""Colours of targets between a cache and memory: our coder, and those of the source documents."""

import os
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
from PIL import Image

from bench.memory import BUNNY, HEIGHT, WIDTH
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.colour_compression import DEPTHS, size
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.scene.shading import BACKGROUND, shade
from fixfunc.models.texture.texture import of_picture
from tests.machine.frames.drawing import Drawing
from tests.machine.frames.scenes import SCENES

PICTURE = ROOT / "docs" / "pictures" / "frames.png"
CACHE = 512  # tiles, the oldest goes first
RAW = 256  # bytes of a tile
TRANSFER = 32
CODERS = ("constant", "differences", "palette", "documents", "ours")
# Orders of lanes along which the documents' coder takes differences.
RASTER = np.arange(64).reshape(8, 8)
ORDERS = {
    "rows": np.concatenate([row[:: (-1) ** n] for n, row in enumerate(RASTER)]),
    "columns": np.concatenate([row[:: (-1) ** n] for n, row in enumerate(RASTER.T)]),
    "squares": RASTER.reshape(4, 2, 4, 2).swapaxes(1, 2).reshape(-1),
}
WIDTHS = (3, 4)  # bits of a difference of a channel


def constant(tiles: np.ndarray) -> np.ndarray:
    """Bytes of tiles whose small blocks are of one colour: of 2x2 a quarter, of 4x2 an eighth."""
    found = np.full(len(tiles), RAW)
    for rows, columns, bytes_ in ((2, 2, RAW // 4), (2, 4, RAW // 8)):
        split = tiles.reshape(len(tiles), 8 // rows, rows, 8 // columns, columns, 4)
        same = (split == split[:, :, :1, :, :1]).all((1, 2, 3, 4, 5))
        found = np.where(same, bytes_, found)
    return found


def differences(tiles: np.ndarray) -> np.ndarray:
    """Bytes of tiles by differences of one width along the best of several orders."""
    found = np.full(len(tiles), RAW)
    flat = tiles.reshape(len(tiles), 64, 4).astype(int)
    for order in ORDERS.values():
        steps = np.diff(flat[:, order], axis=1)
        low, high = steps.min((1, 2)), steps.max((1, 2))
        for width in WIDTHS:
            fits = (low >= -(1 << width - 1)) & (high < 1 << width - 1)
            found = np.where(fits, np.minimum(found, _transfers(32 + 63 * 4 * width)), found)
    return found


def palette(tiles: np.ndarray) -> np.ndarray:
    """Bytes of tiles whose blocks of 4x4 have four colours at most."""
    words = np.ascontiguousarray(tiles).view("<u4")[..., 0]
    blocks = words.reshape(len(tiles), 2, 4, 2, 4).swapaxes(2, 3).reshape(len(tiles), 4, 16)
    ranked = np.sort(blocks, -1)
    colours = 1 + (np.diff(ranked, axis=-1) != 0).sum(-1)
    return np.where((colours <= 4).all(1), _transfers(4 * (16 * 2 + 4 * 32)), RAW)


def ours(tiles: np.ndarray, samples: int, cleared: np.ndarray) -> np.ndarray:
    """Bytes of tiles by the coder of this project."""
    codes, _ = encode(tiles, samples, cleared)
    depth = DEPTHS[tiles.dtype]
    known = {int(code): size(code, depth) for code in np.unique(codes)}
    return np.array([known[int(code)] for code in codes])


def _transfers(bits):
    return -(-bits // (8 * TRANSFER)) * TRANSFER


def sizes(tiles: np.ndarray, samples: int, cleared: np.ndarray) -> dict[str, np.ndarray]:
    """Bytes of tiles by each coder."""
    is_clear = (tiles == cleared).all((1, 2, 3))
    found = {
        name: np.where(is_clear, 0, coder(tiles))
        for name, coder in (
            ("constant", constant),
            ("differences", differences),
            ("palette", palette),
        )
    }
    found["documents"] = np.minimum.reduce(list(found.values()))
    found["ours"] = ours(tiles, samples, cleared)
    return found


def moved(frame, colours, samples):
    """Bytes that each coder moves of raw ones: write-backs and refills of a frame."""
    cleared = np.array([*BACKGROUND, 255], np.uint8)
    blank = np.broadcast_to(cleared, (8, 8, 4))
    held: OrderedDict[tuple, np.ndarray] = OrderedDict()
    stored: dict[tuple, int] = {}  # place -> which of the tiles written back lies there
    written: list[np.ndarray] = []
    refills: list[int] = []

    def write_back(place, tile):
        stored[place] = len(written)
        written.append(tile)

    where = zip(frame.tiles["x"].tolist(), frame.tiles["y"].tolist(), strict=True)
    for place, passed, colour in zip(where, frame.passed, colours, strict=True):
        if not passed.any():
            continue
        if place not in held:
            if place in stored:
                refills.append(stored[place])
                held[place] = written[stored[place]].copy()
            else:
                held[place] = blank.copy()
            if len(held) > CACHE:
                write_back(*held.popitem(last=False))
        held[place][passed] = colour[passed]
    for place, tile in held.items():
        write_back(place, tile)
    each = sizes(np.stack(written), samples.bit_length() - 1, cleared)
    total = RAW * (len(written) + len(refills))
    return [float((each[name].sum() + each[name][refills].sum()) / total) for name in CODERS]


def meshes():
    """Name, vertices, faces, texture."""
    picture = np.asarray(Image.open(ROOT / "docs" / "texture" / "tiles.png").convert("RGBA"))
    yield "teapot, flat", mesh.teapot(8), None
    yield "teapot of 102 k triangles, flat", mesh.teapot(40), None
    if BUNNY.exists():
        yield "bunny, flat", mesh.load(BUNNY)[:2], None
    yield "teapot, textured with tiles", mesh.teapot(8), of_picture(picture)


def rows() -> list[list]:
    """What is drawn, and the share of raw bytes by each of :data:`CODERS`."""
    out = []
    for name, (vertices, faces), texture in meshes():
        for samples in (1, 4):
            scene = Scene(vertices, faces, WIDTH, HEIGHT, samples, texture=texture)
            frame = render(scene)
            owner = frame.setup.index[frame.owner]
            colours = np.concatenate(
                [
                    shade(scene, frame.part, frame.tiles[n : n + 4096], owner[n : n + 4096])
                    for n in range(0, len(owner), 4096)
                ]
            )
            octets = np.ascontiguousarray(colours, "<u4").view(np.uint8).reshape(-1, 8, 8, 4)
            out.append([f"{name}, {samples}x", *moved(frame, octets, samples)])
    noise = np.random.default_rng(0).integers(0, 256, (4096, 8, 8, 4), np.uint8)
    each = sizes(noise, 0, np.zeros(4, np.uint8))
    out.append(["noise", *(float(each[name].mean() / RAW) for name in CODERS)])
    return out + photographs()


def photographs() -> list[list]:
    """The same of the pictures in the folder that ``PHOTOGRAPHS`` names: no row without one."""
    folder = os.environ.get("PHOTOGRAPHS")
    if not folder:
        return []
    tiles = []
    for path in sorted(Path(folder).iterdir()):
        picture = np.asarray(Image.open(path).convert("RGBA"))
        rows, columns = (side // 8 for side in picture.shape[:2])
        split = picture[: 8 * rows, : 8 * columns].reshape(rows, 8, columns, 8, 4)
        tiles.append(split.swapaxes(1, 2).reshape(-1, 8, 8, 4))
    each = sizes(np.concatenate(tiles), 0, np.zeros(4, np.uint8))
    shares = [float(each[name].mean() / RAW) for name in CODERS]
    return [[f"{len(tiles)} photographs", *shares]]


def frames() -> list[list]:
    """Of the eight frames: seconds of the golden machine, pixels shaded, quads, helpers, bytes.

    They are drawn side by side to :data:`PICTURE`.
    """
    out = []
    sheet = Image.new("RGB", (1280, 360))
    for name, make in SCENES.items():
        frame = make()
        start = time.perf_counter()
        drawing = Drawing(frame)
        image = drawing.image()
        seconds = time.perf_counter() - start
        row, column = divmod(len(out), 4)
        small = Image.fromarray(image[..., :3]).resize((320, 180), Image.Resampling.BOX)
        sheet.paste(small, (320 * column, 180 * row))
        totals = drawing.device.machine.totals
        raw = 640 * 360 * 4 * frame.samples
        out.append(
            [
                name.replace("_", " "),
                seconds,
                int(totals["ps_invocations"]),
                int(totals["quads"]),
                float(totals["quad_helpers"] / (4 * totals["quads"])),
                float(totals["quad_merges"] / totals["quads"]),
                float(totals["colour_bytes_written"] / raw),
            ]
        )
    sheet.save(PICTURE)
    return out


def lines(figures: dict) -> list[str]:
    """Sections of the page."""
    out = [
        "## Colours between cache and memory",
        "Share of raw bytes that write-backs and refills move, with a cache of 512 tiles, the",
        "oldest first out. Constant, differences and palette are the coders of the source",
        "documents, each by itself and the best of them for each tile.",
        "",
        "| scene, 1280x720 | constant | differences | palette | best of these | ours |",
        "|---|---|---|---|---|---|",
    ]
    for name, *shares in figures["colours"]:
        out.append(f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    out += [
        "",
        "## Whole frames of the golden machine",
        "640x360, from draw calls to targets in memory. Helpers: of four pixels a quad. Merges:",
        "quads that could share one with the triangle before. Colours: what a cache of 256 tiles",
        "writes back, of the whole target, raw.",
        "",
        "| frame | seconds | pixels shaded | quads | helpers | merges | colours written |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, seconds, pixels, quads, helpers, merges, share in figures["machine_frames"]:
        out.append(
            f"| {name} | {seconds:.1f} | {pixels:,} | {quads:,} | {100 * helpers:.0f} % | "
            f"{100 * merges:.0f} % | {100 * share:.1f} % |"
        )
    return out
