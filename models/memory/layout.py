# SPDX-License-Identifier: BSD-2-Clause
"""Layout of textures in memory: levels, layers and slices, by rows of texels or by tiles."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.tile_codecs import (
    CHANNELS,
    ColourCodec,
    DepthCodec,
    RawCodec,
    TileCodec,
)
from fixfunc.models.payload import enumerated
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import CAST_TO_WORDS, FORMATS, WORDS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS

EDGE = 8  # samples along a tile's edge
ALIGNED = 256  # bytes: every subresource begins on such a boundary


class Plane(NamedTuple):
    """A plane of tiles."""

    size: int  # bytes of a sample in it
    octets: tuple[int, ...]  # which bytes of a texel they are; the others are zero


# Families that hold depths and stencil values, which lie apart in tiles.
SPLIT = {
    Format.R24G8_TYPELESS: (Plane(4, (0, 1, 2)), Plane(1, (3,))),
    Format.R32G8X24_TYPELESS: (Plane(4, (0, 1, 2, 3)), Plane(1, (4,))),
}


# How planes of depths and stencil values are coded; of D32 only where nothing else has the format.
OF_DEPTHS = {
    Format.R24G8_TYPELESS: (DepthCodec(), RawCodec(1)),
    Format.R32G8X24_TYPELESS: (RawCodec(4), RawCodec(1)),
    Format.D32_FLOAT: (RawCodec(4),),
}


@dataclass(frozen=True)
class Layout:
    """Where the subresources of a texture lie, from its first byte on.

    Parameters
    ----------
    form : Format
        Of the texture; typeless or not.
    width, height, depth : int
        Of level 0, texels.
    levels, layers : int
        Faces of cubes are layers.
    samples : int
        Of a pixel.
    tiled : bool
        It is drawn to: tiles of 8 by 8 samples, row by row, depths and stencil values apart. Else
        rows of texels, or of blocks, without gaps.
    coded : bool
        Tiles are coded: of colours of 4 or 8 bytes, and of depths.
    """

    form: Format
    width: int
    height: int = 1
    depth: int = 1
    levels: int = 1
    layers: int = 1
    samples: int = 1
    tiled: bool = False
    coded: bool = False

    @property
    def texel(self) -> int:
        """Bytes of a texel, or of a block."""
        return FORMATS[self.form].bytes

    def size_of(self, level: int) -> tuple[int, int, int]:
        """Width, height and depth of a level, texels."""
        return tuple(max(side >> level, 1) for side in (self.width, self.height, self.depth))

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.layers * self._layer_bytes

    @property
    def _layer_bytes(self):
        return sum(self._level_bytes(level) for level in range(self.levels))

    def _level_bytes(self, level):
        depth = self.size_of(level)[2]
        return -(-depth * self._slice_bytes(level) // ALIGNED) * ALIGNED

    def _slice_bytes(self, level):
        if self.tiled:
            return self._begin_of(level, len(self.planes))
        rows, columns = self._blocks(level)
        return rows * columns * self.samples * self.texel

    def _blocks(self, level):
        width, height, _ = self.size_of(level)
        info = FORMATS[self.form]
        return -(-height // info.rows), -(-width // info.block)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """Planes of tiles."""
        whole = (Plane(self.texel, tuple(range(self.texel))),)
        return SPLIT.get(FORMATS[self.form].family, whole)

    def _begin_of(self, level, plane):
        """Where a plane of a slice begins, bytes from the slice's first one on."""
        rows, columns = self.tiles_of(level)
        sizes = [plane.size for plane in self.planes[:plane]]
        if self.coded:
            return sum(CodedTiles.bytes_of(rows, columns, size) for size in sizes)
        return rows * columns * EDGE**2 * sum(sizes)

    @property
    def codecs(self) -> tuple[TileCodec, ...]:
        """Codecs of planes; none, where tiles cannot be coded."""
        family = FORMATS[self.form].family
        found = OF_DEPTHS.get(self.form, OF_DEPTHS.get(family, ()))
        if not found and len(self.planes) == 1 and self.texel in CHANNELS:
            found = (ColourCodec(self.texel),)
        return found if self.tiled else ()

    @property
    def holds_depths(self) -> bool:
        """Depths, and nothing else, lie in tiles of the format."""
        return self.form in OF_DEPTHS or FORMATS[self.form].family in SPLIT

    def tiles_of(self, level: int) -> tuple[int, int]:
        """Rows and columns of tiles of a level."""
        width, height, _ = self.size_of(level)
        lx, ly = self._shape
        return -(-height // (EDGE >> ly)), -(-width // (EDGE >> lx))

    def offset_of(self, level: int, layer: int = 0, depth_slice: int = 0) -> int:
        """Where a slice of a subresource begins."""
        before = sum(self._level_bytes(n) for n in range(level))
        return layer * self._layer_bytes + before + depth_slice * self._slice_bytes(level)

    def coded_tiles(
        self,
        memory: np.ndarray,
        level: int,
        layer: int = 0,
        depth_slice: int = 0,
        plane: int = 0,
    ) -> CodedTiles:
        """A plane of a slice whose tiles are coded; ``memory`` begins with the texture."""
        begin = self.offset_of(level, layer, depth_slice)
        end = begin + self._begin_of(level, plane + 1)
        data = memory[begin + self._begin_of(level, plane) : end]
        samples = SAMPLE_COUNTS.index(self.samples)
        size = self.planes[plane].size
        codec = self.codecs[plane]
        return CodedTiles(data, *self.tiles_of(level), size, samples, codec=codec)

    @contextmanager
    def opened(
        self, memory: np.ndarray, level: int, layer: int = 0, depth_slice: int = 0
    ) -> Iterator[list[np.ndarray]]:
        """Planes of tiles to read and to write; what is coded is decoded, and coded behind."""
        if not self.coded:
            yield self.tiles(memory, level, layer, depth_slice)
            return
        place = level, layer, depth_slice
        coded = [self.coded_tiles(memory, *place, n) for n in range(len(self.planes))]
        before = [plane.read() for plane in coded]
        after = [plane.copy() for plane in before]
        yield after
        for plane, old, new in zip(coded, before, after, strict=True):
            plane.write(new, (old != new).any((2, 3, 4)))

    def tiles(
        self, memory: np.ndarray, level: int, layer: int = 0, depth_slice: int = 0
    ) -> list[np.ndarray]:
        """Planes of a slice that is tiled and not coded, to read and to write.

        Parameters
        ----------
        memory : ndarray of uint8
            From the texture's first byte on.

        Returns
        -------
        list of ndarray of uint8, shape (rows, columns, 8, 8, bytes)
            Views of memory.
        """
        rows, columns = self.tiles_of(level)
        begin = self.offset_of(level, layer, depth_slice)
        planes = []
        for plane in self.planes:
            end = begin + rows * columns * EDGE**2 * plane.size
            planes.append(memory[begin:end].reshape(rows, columns, EDGE, EDGE, plane.size))
            begin = end
        return planes

    def offsets(
        self,
        level: int,
        layer: np.ndarray,
        depth_slice: np.ndarray,
        y: np.ndarray,
        x: np.ndarray,
        sample: ArrayLike = 0,
        plane: int = 0,
    ) -> np.ndarray:
        """Where texels, or blocks, of a level begin in a plane: int64, of the arrays' shape.

        Of a coded texture it is where they would lie without codes.
        """
        begin = self.offset_of(level, layer, depth_slice)
        if not self.tiled:
            columns = self._blocks(level)[1]
            return begin + ((y * columns + x) * self.samples + sample) * self.texel
        columns = self.tiles_of(level)[1]
        begin = begin + self._begin_of(level, plane)
        lx, ly = self._shape
        tile = y // (EDGE >> ly) * columns + x // (EDGE >> lx)
        j = (y % (EDGE >> ly) << ly) + (sample >> lx)
        i = (x % (EDGE >> lx) << lx) + (sample & (1 << lx) - 1)
        return begin + ((tile * EDGE + j) * EDGE + i) * self.planes[plane].size

    def read(self, memory: np.ndarray, level: int, layer: int = 0) -> np.ndarray:
        """Texels of a subresource.

        Parameters
        ----------
        memory : ndarray of uint8
            From the texture's first byte on.

        Returns
        -------
        ndarray of uint8, shape (depth, rows, columns, samples, bytes)
            Texels, or blocks, as linear textures hold them.
        """
        depth = self.size_of(level)[2]
        if not self.tiled:
            rows, columns = self._blocks(level)
            begin = self.offset_of(level, layer)
            data = memory[begin : begin + depth * self._slice_bytes(level)]
            return data.reshape(depth, rows, columns, self.samples, self.texel)
        width, height, _ = self.size_of(level)
        out = np.zeros((depth, height, width, self.samples, self.texel), np.uint8)
        for n in range(depth):
            if self.coded:
                planes = [
                    self.coded_tiles(memory, level, layer, n, number).read()
                    for number in range(len(self.planes))
                ]
            else:
                planes = self.tiles(memory, level, layer, n)
            for plane, data in zip(self.planes, planes, strict=True):
                image = self._images(data)[:height, :width, :, : len(plane.octets)]
                out[n][..., plane.octets] = image
        return out

    def read_line(self, memory: np.ndarray, place: tuple[int, int, int], y: int) -> np.ndarray:
        """A row of texels: uint8, shape (columns, samples, bytes); of coded tiles theirs alone.

        ``place`` is that of :func:`target_place`.
        """
        level, layer, depth_slice = place
        if not self.coded:
            return self.read(memory, level, layer)[depth_slice, y]
        row, y = divmod(y, EDGE >> self._shape[1])
        tiles = self.coded_tiles(memory, *place).read(row, row + 1)
        return self._images(tiles)[y, : self.size_of(level)[0]]

    def write(self, memory: np.ndarray, level: int, layer: int, texels: np.ndarray) -> None:
        """Write a subresource: texels as :meth:`read` returns them.

        Samples of tiles that lie beyond it become zero.
        """
        if not self.tiled:
            self.read(memory, level, layer)[:] = texels
            return
        rows, columns = self.tiles_of(level)
        width, height, _ = self.size_of(level)
        lx, ly = self._shape
        for n, image in enumerate(texels):
            with self.opened(memory, level, layer, n) as planes:
                for plane, data in zip(self.planes, planes, strict=True):
                    whole = np.zeros(
                        (rows * EDGE >> ly, columns * EDGE >> lx, self.samples, plane.size),
                        np.uint8,
                    )
                    whole[:height, :width, :, : len(plane.octets)] = image[..., plane.octets]
                    data[:] = self._tiles(whole)

    @property
    def _shape(self):
        return LANE_SHAPE[SAMPLE_COUNTS.index(self.samples)]

    def _images(self, tiles):
        """Tiles as an image: shape (rows, columns, samples, bytes)."""
        lx, ly = self._shape
        rows, columns, _, _, size = tiles.shape
        split = tiles.reshape(rows, columns, EDGE >> ly, 1 << ly, EDGE >> lx, 1 << lx, size)
        return split.transpose(0, 2, 1, 4, 3, 5, 6).reshape(
            rows * EDGE >> ly, columns * EDGE >> lx, self.samples, size
        )

    def _tiles(self, image):
        """The inverse of :meth:`_images`."""
        lx, ly = self._shape
        high = EDGE >> ly
        wide = EDGE >> lx
        size = image.shape[3]
        split = image.reshape(
            len(image) // high, high, image.shape[1] // wide, wide, 1 << ly, 1 << lx, size
        )
        return split.transpose(0, 2, 1, 4, 3, 5, 6).reshape(
            len(image) // high, image.shape[1] // wide, EDGE, EDGE, size
        )


def texture_at(memory: np.ndarray, view: np.void) -> tuple[Layout, np.ndarray]:
    """Layout of the texture that a view shows, and its bytes.

    Parameters
    ----------
    memory : ndarray of uint8
    view : numpy.void
        :data:`fixfunc.spec.descriptors.VIEW`.

    Raises
    ------
    InputError
        A field out of range, levels or layers that the texture does not have, or a texture that
        goes on beyond memory.
    """
    form = enumerated(Format, view["stored"], "format")
    sides = [int(view[name]) for name in ("width", "height", "depth", "levels", "layers")]
    if form == Format.UNKNOWN or min(sides) < 1 or sides[3] > max(sides[:3]).bit_length():
        raise InputError("texture", "have a format, a size and levels of it", (form.name, *sides))
    dimension = int(view["dimension"])
    is_volume = dimension == Dimension.TEXTURE3D
    if (sides[4] if is_volume else sides[2]) > 1:  # [fs 5.3.7]
        rule = "be TEXTURE3D where there are slices, and not where there are layers"
        raise InputError("dimension", rule, dimension)
    slices = max(sides[2] >> int(view["first_level"]), 1)
    layers = slices if sides[2] > 1 else sides[4]
    for name, count in (("level", sides[3]), ("layer", layers)):
        first = int(view[f"first_{name}"])
        end = first + int(view[f"{name}_count"])
        if not first < end <= count:
            raise InputError(f"{name}s of the view", f"be some of {count}", (first, end))
    samples = SAMPLE_COUNTS[view["samples"]]
    layout = Layout(form, *sides, samples, bool(view["tiled"]), bool(view["coded"]))
    if layout.coded and not layout.codecs:
        rule = "be tiled, of depths or of 4 or 8 bytes, to be coded"
        raise InputError("texture", rule, form.name)
    begin = int(view["address"])
    end = begin + layout.bytes
    if end > len(memory):
        raise InputError("texture", f"end within memory, at {len(memory)}", end)
    return layout, memory[begin:end]


def target_place(view: np.void, layer: int) -> tuple[int, int, int]:
    """Level, layer and slice of the texture that a layer of a view of a target is."""
    n = int(view["first_layer"]) + layer
    return (
        (int(view["first_level"]), 0, n) if view["depth"] > 1 else (int(view["first_level"]), n, 0)
    )


def written_at(memory: np.ndarray, view: np.void) -> tuple[Layout, np.ndarray]:
    """As :func:`texture_at`; a view of another family is refused, but for what is cast to words."""
    layout, data = texture_at(memory, view)
    form = enumerated(Format, view["form"], "format of the view")
    is_cast = layout.form in CAST_TO_WORDS and form in WORDS
    if FORMATS[form].family != FORMATS[layout.form].family and not is_cast:
        raise InputError("format of the view", f"be of {layout.form.name}'s family", form.name)
    return layout, data


def target_at(memory: np.ndarray, view: np.void) -> tuple[Layout, np.ndarray]:
    """As :func:`written_at`; one that is not tiled is refused, too."""
    layout, data = written_at(memory, view)
    if not layout.tiled:
        raise InputError("target", "be tiled", layout.form.name)
    return layout, data
