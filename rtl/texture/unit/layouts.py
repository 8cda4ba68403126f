# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of the texture unit hand to each other.

A beat of each is a grid of a quad, or a STATE: the row of a texture state, for what comes behind.
"""

from dataclasses import dataclass, replace

from amaranth.hdl import Cat, Const, Mux, Value, ValueLike
from amaranth.lib.data import ArrayLayout, StructLayout, UnionLayout, View

from fixfunc.rtl.lib.bits import among
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.addresses.addresses import CONFIGS as ADDRESSES
from fixfunc.rtl.texture.addresses.addresses import AddressesParams
from fixfunc.rtl.texture.cache.formats import PLAIN, UNBLOCKED, UNIT, format_of
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.cache.texture_cache import CONFIGS as CACHES
from fixfunc.rtl.texture.descriptors.texture_check import is_beyond_points
from fixfunc.rtl.texture.filter.filter import FilterParams
from fixfunc.rtl.texture.level_of_detail.level_of_detail import LevelOfDetailParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import (
    CODED_STATE,
    DEPTHS,
    FLOATS,
    FORMAT,
    LINEAR,
    POINT_SAMPLED,
    StoredFormat,
)
from fixfunc.spec.textures.cube import CUBE_GRADIENTS
from fixfunc.spec.textures.descriptors import sampled
from fixfunc.spec.textures.filter import CORNERS
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, GRADIENTS
from fixfunc.spec.textures.unit import COMPARED, SAMPLE_STATE, TEXTURE_QUAD

PIXELS = 4
WORD = 4  # bytes of a float32
STATES = 4  # texture states on chip, a power of two
HEAD = {"kind": 1, "row": range(STATES)}  # TextureKind, and the row of a STATE


def _beats(pixel, **fields):
    return StructLayout(HEAD | fields | {"pixels": ArrayLayout(StructLayout(pixel), PIXELS)})


COORDINATES = {"u": 32, "v": 32}
# Beside the level of detail.
QUADS = _beats(COORDINATES, live=PIXELS)
COUNT = ANISOTROPY.bit_length()
COUNTS = ArrayLayout(COUNT, PIXELS)
PLACE = 25  # bits of s16.8
# Of a pixel of a grid that is read: its level, whether it reads, and with which weight.
GRID = {"level": 4, "reads": 1, "weight": 9}
# The axis that moves a sample of a footprint: by float32, and the pixel's samples.
AXIS = {"along_u": 32, "along_v": 32, "count": COUNT}


class GridBeats:
    """Beats of grids on their way to the filter.

    Parameters
    ----------
    cubes : bool
        Textures may be cubes, whose grids need more fields.
    corners : bool
        Of cubes of halves, too: the filter is told which texel is missing.

    Attributes
    ----------
    to_move, to_place : StructLayout
        Of a sample of a footprint, and at its place.
    placed : StructLayout
        In texels.
    levels : StructLayout
        Beside the addresses.
    edges, found : StructLayout
        Of a part of a grid of cubes, with texels: before and behind the face is known.
    parts : StructLayout
        Of a cube, beside the cache: what it needs to become a grid again.
    weights : StructLayout
        For the filter; a ``copy`` of a grid does not count for halves.
    """

    def __init__(self, cubes: bool, corners: bool = False) -> None:
        self.corners = corners
        of_cube = {"cube": 1, "gathers": 1} if cubes else {}
        several = {"several": 1} if cubes else {}
        last = {"last": EXTENT} if cubes else {}
        ways = {"width": EXTENT + 1, "height": EXTENT + 1, "repeats_u": 1, "repeats_v": 1}
        ways |= {"end": 1} | of_cube
        pixel = {"smooth": 1} | GRID | several
        self.to_place = _beats(COORDINATES | pixel, **ways)
        self.to_move = _beats(COORDINATES | AXIS | pixel, sample=range(ANISOTROPY), **ways)
        self.placed = _beats({"x": PLACE, "y": PLACE} | pixel | last, end=1, **of_cube)
        self.levels = _beats(GRID | several | last, end=1, **of_cube)
        texels = dict.fromkeys(("left", "right", "upper", "lower"), EXTENT)
        texels |= {"u": 8, "v": 8, "borders": CORNERS}
        own = {"level": 4, "weight": 9, "face": 3, "several": 1}
        self.edges = _beats(
            own | texels | {"last": EXTENT, "counts": CORNERS}, end=1, cube=1, part=2, part_end=1
        )
        joint = {"swaps": 1, "missing": CORNERS}
        self.found = _beats(own | texels | joint | {"reads": CORNERS}, end=1, part_end=1)
        beside = {"borders": CORNERS, "weight": 9, "several": 1}
        self.parts = _beats(beside | joint, end=1, part_end=1)
        tripled = {"tripled": 1} if cubes else {}
        of_pixel = {"borders": CORNERS, "weight": 9} | tripled
        of_pixel |= {"missing": CORNERS} if corners else {}
        self.weights = _beats(of_pixel, end=1, **({"copy": 1} if corners else {}))


@dataclass(frozen=True)
class TextureUnitParams:
    """Shape of a :class:`~fixfunc.rtl.texture.unit.texture_unit.TextureUnit`.

    Parameters
    ----------
    cache : TextureCacheParams
        Its formats are those that are sampled: R32_FLOAT and R32G32_FLOAT by points alone, and
        gathered, but from cubes. They need floats that are filtered beside them.
    addresses : AddressesParams
        Greatest width and height.
    comparisons : bool
        References are compared with texels, of depths of 24 and 32 bits, too; else a STATE that
        compares is refused.
    footprints : bool
        Anisotropic filters have up to 16 samples; else a STATE that asks for several is refused.
    layers : bool
        Textures may be arrays; else a STATE of one is refused.
    cubes : bool
        Textures may be cubes; else a STATE of one is refused. With layers alone.
    gradients : bool
        Quads may bring gradients; else a STATE whose quads do is refused.
    """

    cache: TextureCacheParams = CACHES["default"]
    addresses: AddressesParams = ADDRESSES["default"]
    comparisons: bool = True
    footprints: bool = True
    layers: bool = True
    cubes: bool = False
    gradients: bool = False

    @property
    def quad(self) -> tuple[Field, ...]:
        """Field table of a quad in."""
        return (*TEXTURE_QUAD, *gradient_fields(self.gradients, self.cubes))

    @property
    def state(self) -> tuple[Field, ...]:
        """Field table of a STATE; of coded surfaces and rows, where the cache has them, last."""
        linear = (LINEAR,) if self.cache.linear else ()
        return (*SAMPLE_STATE, *(CODED_STATE if self.coded else ()), *linear)

    @property
    def sampled(self) -> tuple[Field, ...]:
        """Field table of what a pixel state samples."""
        return sampled(self.cache.format > FORMAT, self.coded > 0, self.cache.linear)

    @property
    def coded(self) -> int:
        """Decoded tiles on chip, of textures that are coded surfaces; 0: all are plain."""
        return self.cache.coded

    @property
    def requests(self) -> UnionLayout:
        """Layout of a beat in."""
        return UnionLayout({"kind": 1, "state": layout(self.state), "quad": layout(self.quad)})

    @property
    def level_of_detail(self) -> LevelOfDetailParams:
        """The level of detail that footprints, cubes and gradients need."""
        return LevelOfDetailParams(self.footprints, gradients=self.cubes or self.gradients)

    @property
    def beats(self) -> GridBeats:
        """Layouts of grids."""
        return GridBeats(self.cubes, self.corners)

    @property
    def anisotropy(self) -> int:
        """Most samples along a footprint."""
        return ANISOTROPY if self.footprints else 1

    def __post_init__(self):
        if set(self.cache.formats) & set(DEPTHS) - set(POINT_SAMPLED):
            raise InputError("formats", "be without those that comparisons bring", DEPTHS)
        if self.words and not self.halves:
            raise InputError("formats", "have filtered floats beside float32", self.words)
        if self.cubes and not self.layers:
            raise InputError("cubes", "be False without layers", self.cubes)

    @property
    def depths(self) -> tuple[StoredFormat, ...]:
        """Formats that are read for comparisons alone."""
        known = DEPTHS if self.comparisons else ()
        return tuple(form for form in known if form not in self.cache.formats)

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
    def halves(self) -> tuple[StoredFormat, ...]:
        """Formats whose texels are halves on chip."""
        return tuple(form for form in self.cache.formats if form in FLOATS)

    @property
    def words(self) -> tuple[StoredFormat, ...]:
        """Formats whose texels are float32 on chip."""
        return tuple(form for form in self.cache.formats if form in POINT_SAMPLED)

    @property
    def points(self) -> tuple[StoredFormat, ...]:
        """Formats of which nothing but points can be asked for: neither is anything compared."""
        return tuple(form for form in self.words if form not in self.compared)

    @property
    def corners(self) -> bool:
        """Grids of halves may lack a texel."""
        return self.cubes and bool(self.halves)

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
            signed=any(form.name.endswith("SNORM") for form in formats),
            footprints=self.footprints or self.cubes,
            floats=self.comparisons,
            halves=bool(self.halves),
            corners=self.corners,
            words=bool(self.words),
        )


def gradient_fields(gradients: bool, cubes: bool) -> tuple[Field, ...]:
    """Fields of gradients behind those of a quad; of a unit without them none."""
    if not gradients:
        return ()
    return CUBE_GRADIENTS if cubes else GRADIENTS


def brings_gradients(state: View, params: TextureUnitParams) -> Value:
    """Quads under a STATE bring gradients to the level of detail; those of cubes have faces'."""
    return (state.cube & params.cubes) | (state.explicit_gradients & params.gradients)


def refused(state: View, params: TextureUnitParams) -> Value:
    """A STATE asks for what a unit lacks: it is one without a format."""
    form = format_of(state)
    compared = Mux(state.compares, among(form, params.compared), ~among(form, params.depths))
    layers = state.last_layer.any() & (not params.layers)
    cubes = state.cube & (not params.cubes)
    gradients = state.explicit_gradients & (not params.gradients)
    missing = layers | cubes | gradients | is_surface_refused(state, params)
    if params.words:
        missing |= among(form, params.words) & ~state.compares & is_beyond_points(state)
    return ~compared | missing | (state.anisotropy > params.anisotropy)


def among_words(state: View, params: TextureUnitParams) -> list[Value]:
    """Of texels of a STATE, word by word, whether they are float32 that the filter passes."""
    passes = ~state.compares & ~refused(state, params)
    sizes = {form: UNBLOCKED[form].size // WORD for form in params.words}
    most = max(sizes.values(), default=0)
    wide = ([form for form in sizes if sizes[form] > n] for n in range(most))
    return [passes & among(format_of(state), forms) for forms in wide]


def is_surface_refused(state: View, params: TextureUnitParams) -> ValueLike:
    """A coded surface, or one of rows, has more than one level, or layers, or is a cube."""
    coded = [state.coded] if params.coded else []
    linear = [state.linear] if params.cache.linear else []
    if not coded and not linear:
        return Const(0, 1)
    return Cat(coded, linear).any() & (state.last.any() | state.last_layer.any() | state.cube)
