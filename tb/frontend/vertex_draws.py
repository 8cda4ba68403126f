# SPDX-License-Identifier: BSD-2-Clause
"""Draws by a vertex ring: triangles become vertices in slots, and pixel states say what of them."""

from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.vertices import write_primitives, write_release, write_vertices
from fixfunc.spec import commands
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.pixels.interpolation import How, Where
from fixfunc.spec.pixels.pixel_state import ATTRIBUTES
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import Compare, DepthFormat, TileMode
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import FORMAT, LEVELS, LINE
from fixfunc.spec.textures.coded_lines import TILE_LINES
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.tb.bench import depths

TEXTURES = 3 << 18  # where textures lie: bytes
TEXTURES_SIZE = 1 << 16
TABLES = TEXTURES + TEXTURES_SIZE - (1 << 11)  # mode tables of coded surfaces, to their end
BYTES = TRANSFER // 8
ONE = 0x3F800000  # float32
EDGES = (0, 1 << 31, ONE, ONE - 1, ONE + 1, ONE | 1 << 31, 0x7F800000, 0x7FC00000, 1, 0x3B008081)


def put_tables(rng: np.random.Generator, data: np.ndarray) -> None:
    """Mode tables of tiles that can be, whatever lies there, in memory of a bench."""
    tables = data[TABLES : TEXTURES + TEXTURES_SIZE]
    modes = rng.choice([TileMode.CLEARED, TileMode.RAW], (2, len(tables)))
    tables[:] = modes[0] << 4 | modes[1]


class VertexDraws:
    """Of one command stream: knows which slots are held.

    Parameters
    ----------
    rng : Generator
    reader : fixfunc.rtl.frontend.command_reader.CommandReaderParams
        With a vertex ring.
    """

    def __init__(self, rng: np.random.Generator, reader: Any) -> None:
        self._rng = rng
        self._ring = reader.ring
        self._formats = reader.texture_formats
        self._surfaces = reader.texture_surfaces
        self._rows = reader.texture_rows
        self._points = reader.texture_points
        self._anisotropy = reader.texture_anisotropy
        self._textured = False
        self._next = 0
        self._held = 0

    def state(self, packets: CommandList) -> None:
        """Any pixel state; most colours are interpolated, some with texels of any texture."""
        rng = self._rng
        if self._formats and rng.random() < 0.5:
            packets.texture(**self.texture())
            self._textured = True
        ops = list(TextureOp) if self._textured else [TextureOp.NONE]
        kinds = {
            f"{name}{n}": int(rng.integers(0, len(options)))
            for n in range(ATTRIBUTES)
            for name, options in (("how", How), ("where", Where))
        }
        packets.pixel_state(
            interpolated=int(rng.random() < 0.8),
            attribute=int(rng.integers(0, self._ring.attributes)),
            op=int(rng.choice(ops)),
            coordinates=int(rng.integers(0, self._ring.attributes)),
            alpha_test=int(rng.choice(list(Compare))) if rng.random() < 0.4 else Compare.ALWAYS,
            alpha_reference=int(self._floats(1)[0]),
            **{f"constant_{name}": int(bits) for name, bits in zip("rgba", self._floats(4))},
            by_sample=int(rng.random() < 0.3),
            sample_mask=255 if rng.random() < 0.7 else int(rng.integers(0, 256)),
            **kinds,
        )

    def texture(self) -> dict[str, int]:
        """A texture behind the planes, in any layout that there is, and a sampler."""
        rng = self._rng
        sides = [int(rng.choice([1, 2, 5, 13, 32, 64])) for _ in range(2)]
        last = int(rng.integers(0, max(sides).bit_length()))
        most = (TEXTURES_SIZE - (1 << 14)) // LINE  # where the greatest level may begin
        fields = {
            f"base{level}": TEXTURES // LINE + int(rng.integers(0, most)) for level in range(LEVELS)
        }
        fields |= {f"mode_{axis}": int(rng.choice(list(Address))) for axis in "uv"}
        fields |= {
            name: int(rng.random() < 0.7) for name in ("magnify", "minify", "smooth", "coarse")
        }
        fields |= {f"border_{name}": int(rng.integers(0, 1024)) for name in "rgba"}
        fields |= {
            "width": sides[0],
            "height": sides[1],
            "last": last,
            **self._stored(most),
            "first_set": int(rng.integers(0, 256)),
            "bias": int(rng.choice([0, rng.integers(-1024, 1024)])),
            "minimum": int(rng.choice([0, rng.integers(-512, 1024)])),
            "maximum": int(rng.choice([31 << 8, rng.integers(-512, 2048)])),
            "least": int(rng.choice([0, rng.integers(0, 512)])),
            "op": int(rng.choice(list(FilterOp), p=[0.7, 0.1, 0.1, 0.1])),
            "component": int(rng.integers(0, 4)),
            "anisotropy": int(rng.choice([0, rng.integers(0, self._anisotropy + 1)])),
        }
        form = fields["format"] + (fields["extended"] << FORMAT)
        if form in self._points and rng.random() < 0.8:
            fields |= dict.fromkeys(("magnify", "minify", "smooth", "anisotropy"), 0)
        return fields

    def _stored(self, most):
        """Its format, and what a coded surface, or rows of texels, have beside."""
        rng = self._rng
        coded = rng.random() < 0.3 and len(self._surfaces) > 0
        linear = rng.random() < 0.3 and len(self._rows) > 0 and not coded
        known = self._surfaces if coded else self._rows if linear else self._formats
        form = int(rng.choice([*known]))
        few = 1 << FORMAT
        fields = {
            "format": form % few,
            "extended": form // few,
            "coded": int(coded),
            "linear": int(linear),
            "distance": TILE_LINES * int(rng.integers(1, 9)),
            "mode_table": int(rng.integers(TABLES, TEXTURES + TEXTURES_SIZE)) // BYTES,
            "cleared": int(rng.integers(0, 1 << 32)),
        }
        if linear:
            fields |= {"last": 0, "distance": int(rng.integers(0, 5))}
        if coded:
            fields |= {"last": 0, "base0": TEXTURES // LINE + int(rng.integers(0, most)) // 4 * 4}
        return fields

    def draws(self, packets: CommandList, size: tuple[int, int], form: DepthFormat) -> None:
        """Some triangles, under one pixel state or several."""
        for _ in range(int(self._rng.integers(1, 5))):
            self.state(packets)
            if self._rng.random() < 0.8:
                count = int(self._rng.integers(0, 7))
                self.draw(packets, depths.triangles(self._rng, count, size, form))

    def draw(self, packets: CommandList, triangles: np.ndarray) -> None:
        """Records of :data:`fixfunc.spec.payloads.TRIANGLE` become vertices, and are drawn.

        Slots are freed when others are needed, and sometimes earlier.
        """
        at = 0
        while at < len(triangles):
            cut = self._rng.random() < 0.3
            each = 6 if cut else 3
            room = max(1, min(self._ring.slots // each, 4))
            count = int(self._rng.integers(1, 1 + min(room, len(triangles) - at)))
            self._make_room(packets, count * each)
            used = int(self._rng.integers(0, 1 + self._ring.attributes))
            places = self._places(triangles[at : at + count])
            corners = self._write(packets, places, None if cut else used)
            if cut:
                whole = self._write(packets, self._places(triangles[at : at + count]), used)
                corners = np.stack([corners, whole], 1)
            packets.append(write_primitives(corners, used))
            at += count
            if self._rng.random() < 0.2:
                self._release(packets, int(self._rng.integers(1, 1 + self._held)))

    def _make_room(self, packets, count):
        missing = self._held + count - self._ring.slots
        if missing > 0:
            self._release(packets, missing)

    def _release(self, packets, count):
        packets.append(write_release(count))
        self._held -= count

    def _write(self, packets, places, attributes):
        """Slots of vertices, with attributes or, of None, with weights: shape (n, 3)."""
        count = len(places)
        if attributes is None:
            weights = np.zeros(count, codec.wide(commands.VERTEX_WEIGHTS))
            weights["u"] = self._rng.integers(0, 1 + (1 << 24), count)
            weights["v"] = self._rng.integers(0, 1 + (1 << 24) - weights["u"].astype(np.int64))
            packets.append(write_vertices(places, weights=weights))
        else:
            values = self._floats(count * attributes * 4).reshape(count, attributes, 4)
            packets.append(write_vertices(places, values))
        slots = (self._next + np.arange(count)) % self._ring.slots
        self._next = (self._next + count) % self._ring.slots
        self._held += count
        return slots.reshape(-1, 3)

    def _places(self, triangles):
        """Their corners, each with a 1/w."""
        out = np.zeros(3 * len(triangles), codec.wide(commands.VERTEX_PLACE))
        for name in "xyz":
            for k in range(3):
                out[name][k::3] = triangles[f"{name}{k}"]
        w = np.exp2(self._rng.uniform(-8, 8, len(out))).astype(np.float32)
        out["rhw"] = w.view(np.uint32)
        return out

    def _floats(self, count):
        """Bits of float32: most from 0 to 1, some anywhere near, some special."""
        rng = self._rng
        near = np.where(rng.random(count) < 0.8, rng.random(count), rng.normal(0, 3, count))
        bits = near.astype(np.float32).view(np.uint32)
        return np.where(rng.random(count) < 0.05, rng.choice(EDGES, count), bits).astype(np.uint32)
