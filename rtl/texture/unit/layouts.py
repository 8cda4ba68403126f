# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of the texture unit hand to each other.

A beat of each is a grid of a quad, or a STATE: the row of a texture state, for what comes behind.
"""

from dataclasses import dataclass, replace

from amaranth.hdl import Mux, Value
from amaranth.lib.data import ArrayLayout, StructLayout, View

from fixfunc.rtl.lib.bits import among
from fixfunc.rtl.texture.addresses.addresses import CONFIGS as ADDRESSES
from fixfunc.rtl.texture.addresses.addresses import AddressesParams
from fixfunc.rtl.texture.cache.formats import BLOCKS, PLAIN, UNIT
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.cache.texture_cache import CONFIGS as CACHES
from fixfunc.rtl.texture.filter.filter import FilterParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import DEPTHS, StoredFormat
from fixfunc.spec.textures.filter import CORNERS
from fixfunc.spec.textures.level_of_detail import ANISOTROPY
from fixfunc.spec.textures.unit import COMPARED

PIXELS = 4
STATES = 4  # texture states on chip, a power of two
HEAD = {"kind": 1, "row": range(STATES)}  # TextureKind, and the row of a STATE


def _beats(pixel, **fields):
    return StructLayout(HEAD | fields | {"pixels": ArrayLayout(StructLayout(pixel), PIXELS)})


COORDINATES = {"u": 32, "v": 32}
# Beside the level of detail.
QUADS = _beats(COORDINATES, live=PIXELS)
# Of a pixel of a grid: its level, whether it reads, and with which weight.
GRID = {"level": 4, "smooth": 1, "reads": 1, "weight": 9}
_WAYS = {"end": 1, "width": EXTENT + 1, "height": EXTENT + 1, "repeats_u": 1, "repeats_v": 1}
TO_PLACE = _beats(COORDINATES | GRID, **_WAYS)
# The same of a sample of a footprint, whose axis moves it: by float32, and the pixel's samples.
COUNT = ANISOTROPY.bit_length()
AXIS = {"along_u": 32, "along_v": 32, "count": COUNT}
TO_MOVE = _beats(COORDINATES | AXIS | GRID, sample=range(ANISOTROPY), **_WAYS)
COUNTS = ArrayLayout(COUNT, PIXELS)
PLACE = 25  # bits of s16.8
PLACED = _beats({"x": PLACE, "y": PLACE} | GRID, end=1)
# Beside the addresses.
LEVELS = _beats({"level": 4, "reads": 1, "weight": 9}, end=1)
# Beside the cache.
WEIGHTS = _beats({"borders": CORNERS, "weight": 9}, end=1)


@dataclass(frozen=True)
class TextureUnitParams:
    """Shape of a :class:`~fixfunc.rtl.texture.unit.texture_unit.TextureUnit`.

    Parameters
    ----------
    cache : TextureCacheParams
        Its formats are those that are filtered.
    addresses : AddressesParams
        Greatest width and height.
    comparisons : bool
        References are compared with texels, of depths of 24 and 32 bits, too; else a STATE that
        compares is refused.
    footprints : bool
        Anisotropic filters have up to 16 samples; else a STATE that asks for several is refused.
    layers : bool
        Textures may be arrays; else a STATE of one is refused.
    """

    cache: TextureCacheParams = CACHES["default"]
    addresses: AddressesParams = ADDRESSES["default"]
    comparisons: bool = True
    footprints: bool = True
    layers: bool = True

    @property
    def anisotropy(self) -> int:
        """Most samples along a footprint."""
        return ANISOTROPY if self.footprints else 1

    def __post_init__(self):
        if set(self.cache.formats) & set(DEPTHS):
            raise InputError("formats", "be without those that comparisons bring", DEPTHS)

    @property
    def depths(self) -> tuple[StoredFormat, ...]:
        """Formats that are read for comparisons alone."""
        return DEPTHS if self.comparisons else ()

    @property
    def stored(self) -> TextureCacheParams:
        """The cache with all that is read: depths, and layers."""
        formats = (*self.cache.formats, *self.depths)
        return replace(self.cache, formats=formats, layers=self.layers)

    @property
    def compared(self) -> tuple[StoredFormat, ...]:
        """Formats that references are compared with."""
        known = self.stored.formats if self.comparisons else ()
        return tuple(form for form in COMPARED if form in known)

    @property
    def filter(self) -> FilterParams:
        """The filter that the formats and the footprints need."""
        formats = self.cache.formats
        bits = {
            channel.bits
            for form in formats
            for channel in (PLAIN[form].channels if form in PLAIN else ())
            if channel
        }
        return FilterParams(
            packed=any(UNIT[count] < 16 for count in bits),
            signed=any(form in BLOCKS and form.name.endswith("SNORM") for form in formats),
            footprints=self.footprints,
            floats=self.comparisons,
        )


def refused(state: View, params: TextureUnitParams) -> Value:
    """A STATE asks for what a unit lacks: it is one without a format."""
    compared = Mux(
        state.compares, among(state.format, params.compared), ~among(state.format, params.depths)
    )
    layers = state.last_layer.any() & (not params.layers)
    return ~compared | layers | (state.anisotropy > params.anisotropy)
