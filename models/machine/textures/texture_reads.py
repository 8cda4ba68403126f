# SPDX-License-Identifier: BSD-2-Clause
"""What shaders read of textures: texels go through a texture cache, which counts them."""

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.machine.textures.sampled import texels_of, texture_of
from fixfunc.models.memory.layout import Layout, texture_at
from fixfunc.models.memory.sample_grids import LANES
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.cache.texture_cache import (
    EDGE,
    LINE,
    Blocks,
    CacheShape,
    TextureCache,
    decoded_bytes,
    lines_of,
)
from fixfunc.models.texture.texels import TEXELS, TexelFormat
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.descriptors import VIEW, Dimension
from fixfunc.spec.dxgi import Format

# Views of the second plane of a texture whose depths and stencil values lie apart.
OF_STENCIL = (Format.X24_TYPELESS_G8_UINT, Format.X32_TYPELESS_G8X24_UINT)


class StoredTexels(NamedTuple):
    """Where the texels of a view lie in the machine's memory.

    Samples of a texel lie side by side, as in
    :class:`~fixfunc.models.texture.texture.Texture`; texels of a buffer in a row.
    """

    key: bytes  # the view
    decoded: int  # bytes of a block that is decoded
    form: TexelFormat
    view: np.void  # spec.descriptors.VIEW
    memory: np.ndarray  # uint8, from the texture's first byte on
    layout: Layout | None  # None of a buffer

    def lines(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """Lines that blocks lie in, as ``Placement.lines`` of
        :mod:`fixfunc.models.texture.cache.texture_cache`.

        Of a coded texture these are all lines of its tiles' codes.
        """
        wide = EDGE // self.form.edge
        high = EDGE // self.form.rows
        pieces = wide * high
        begin = np.zeros((len(blocks.x), pieces), np.int64)
        size = np.zeros((len(blocks.x), pieces), np.int64)
        x = blocks.x[:, None] * wide + np.arange(pieces) % wide
        y = blocks.y[:, None] * high + np.arange(pieces) // wide
        image = blocks.level << 32 | blocks.image
        for number in np.unique(image):
            chosen = image == number
            place = divmod(int(number), 1 << 32)
            begin[chosen], size[chosen] = self._pieces(*place, y[chosen], x[chosen])
        return lines_of(int(self.view["address"]) + begin, size)

    def _pieces(self, level, image, y, x):
        """Begin and size of texels, or of blocks, of an image: a size of 0 beyond its ends."""
        view = self.view
        if self.layout is None:
            begin = x * self.form.size
            inside = (y == 0) & (begin + self.form.size <= view["size"])
            return int(view["first"]) + begin, np.where(inside, self.form.size, 0)
        layout = self.layout
        level += int(view["first_level"])
        is_volume = view["dimension"] == Dimension.TEXTURE3D
        place = (level, 0, image) if is_volume else (level, int(view["first_layer"]) + image, 0)
        width, height, _ = layout.size_of(level)
        x, sample = np.divmod(x, layout.samples)
        inside = (x < -(-width // self.form.edge)) & (y < -(-height // self.form.rows))
        is_apart = layout.tiled and len(layout.planes) > 1
        plane = int(is_apart and Format(int(view["form"])) in OF_STENCIL)
        begin = layout.offsets(*place, y, x, sample, plane)
        if not layout.coded:
            size = layout.planes[plane].size if layout.tiled else layout.texel
            return begin, np.where(inside, size, 0)
        room = LANES * layout.planes[plane].size
        first = int(layout.offsets(*place, 0, 0, 0, plane))
        tile = np.where(inside, (begin - first) // room, 0)
        sizes = layout.coded_tiles(self.memory, *place, plane).sizes.reshape(-1)
        return first + tile * room, np.where(inside, sizes[tile], 0)


class TextureReads:
    """Textures that shaders read, and the cache between both.

    Parameters
    ----------
    memory : ndarray of uint8
        The machine's.
    shape : CacheShape, optional
        Of the texture cache; None: nothing is counted.
    totals : Counter
        ``texture_taps``, texels that were read; ``texture_hits`` and ``texture_misses``, blocks
        that were there, or had to be decoded; ``texture_lines`` and ``texture_bytes`` of memory are
        added to it.
    """

    def __init__(self, memory: np.ndarray, shape: CacheShape | None, totals: Counter) -> None:
        self._memory = memory
        self._cache = TextureCache(shape, timed=False) if shape else None
        self._totals = totals
        self._places: dict[bytes, StoredTexels] = {}  # by view, of what has been counted
        self._textures: dict[bytes, Texture] = {}  # by view

    def texture(self, data: bytes, view: np.void) -> Texture:
        """The texture of a view, whose bytes are ``data``: it is read from memory once."""
        if data not in self._textures:
            self._textures[data] = texture_of(self._memory, view)
        return self._textures[data]

    def forget(self, addresses: Collection[int] | None = None) -> None:
        """Read textures anew, of some addresses or all: their memory may have changed."""
        views = {*self._textures, *self._places}
        stale = [
            data
            for data in views
            if addresses is None or int(piece(data, VIEW)["address"]) in addresses
        ]
        for data in stale:
            self._textures.pop(data, None)
            self._places.pop(data, None)
        if stale and self._cache:
            self._cache.invalidate()

    def taps(self) -> Taps | None:
        """What a read has to fill, if it is counted."""
        return Taps() if self._cache else None

    def count(self, data: bytes, view: np.void, taps: Taps | None) -> None:
        """Count what was read of a view, whose bytes are ``data``."""
        if taps is None:
            return
        if data not in self._places:
            self._places[data] = self._stored(data, view)
        before = vars(self._cache.counters).copy()
        found = Counter(vars(self._cache.read(self._places[data], 0, taps)))
        found.subtract(before)
        self._totals.update(
            texture_taps=found["taps"],
            texture_hits=found["lookups"] - found["blocks"],
            texture_misses=found["blocks"],
            texture_lines=found["lines"],
            texture_bytes=found["lines"] * LINE,
        )

    def _stored(self, data, view):
        """Where a view's texels lie."""
        name, is_srgb = texels_of(view)
        form = TEXELS[name]
        decoded = decoded_bytes(form, is_srgb)
        if view["dimension"] == Dimension.BUFFER:
            return StoredTexels(data, decoded // EDGE, form, view, self._memory, None)
        layout, memory = texture_at(self._memory, view)
        return StoredTexels(data, decoded, form, view, memory, layout)
