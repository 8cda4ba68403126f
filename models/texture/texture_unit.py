# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the texture unit: coordinates of quads become filtered texels."""

from dataclasses import replace

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.payload import carried, dtype
from fixfunc.models.texture.addresses import address_quads
from fixfunc.models.texture.cube_faces import faces_of_quads
from fixfunc.models.texture.filter import filter_quads, units
from fixfunc.models.texture.filtering.filtering import sample_place
from fixfunc.models.texture.filtering.reduction import ONE
from fixfunc.models.texture.level_of_detail import levels_of_quads
from fixfunc.models.texture.texels import DXGI, TEXELS
from fixfunc.models.texture.texture_cache import QuadCache, QuadCacheShape, forms_of
from fixfunc.models.texture.unit.cube_grids import joined, parts_of, with_corners
from fixfunc.models.texture.unit.places import FRACTION, layer_of, place_of
from fixfunc.models.texture.unit.texture_rules import is_beyond_points
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.addresses import ADDRESS_QUAD, ADDRESS_STATE, Address
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    CODED_STATE,
    DEPTHS,
    FLOATS,
    LINEAR,
    POINT_SAMPLED,
    StoredFormat,
)
from fixfunc.spec.textures.cube import CUBE_GRADIENTS, CUBE_QUAD, CUBE_STATE
from fixfunc.spec.textures.filter import (
    CHANNELS,
    CORNERS,
    FILTER_STATE,
    FILTER_TAPS,
    FilterOp,
    Unit,
)
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, GRADIENTS, LOD_QUAD, LOD_STATE
from fixfunc.spec.textures.unit import COMPARED, NO_FORMAT, SAMPLE_STATE, TEXTURED_QUAD

PIXELS = 4


class TextureUnit:
    """Samples textures in memory.

    Parameters
    ----------
    shape : QuadCacheShape
        Of the cache. Of its formats those of float32 are sampled by points, and gathered but from
        cubes; else a state is refused.
    memory : ndarray of uint8
        Textures in Morton order; reads beyond its end fail.
    unreadable : int, optional
        A byte whose line cannot be read.
    comparisons : bool
        References are compared with texels, of depths of 24 and 32 bits, too; else a state that
        compares is refused. So is one of such depths that does not.
    footprints : bool
        Anisotropic filters have up to 16 samples; else a state that asks for several is refused.
    layers : bool
        Textures may be arrays; else a state of one is refused.
    cubes : bool
        Textures may be cubes; else a state of one is refused.
    gradients : bool
        Quads may bring gradients; else a state whose quads do is refused.
    """

    def __init__(
        self,
        shape: QuadCacheShape,
        memory: np.ndarray,
        unreadable: int | None = None,
        comparisons: bool = True,
        footprints: bool = True,
        layers: bool = True,
        cubes: bool = True,
        gradients: bool = False,
    ) -> None:
        self._sampled = set(shape.formats)
        self._formats = tuple({*shape.formats, *(DEPTHS if comparisons else ())})
        known = self._formats if comparisons else ()
        self._compared = [form for form in COMPARED if form in known]
        self._footprints = footprints
        self._layers = layers
        self._cubes = cubes
        self._gradients = gradients
        self._coded = shape.coded
        self._linear = shape.linear
        shape = replace(shape, formats=self._formats, layers=layers)
        self._cache = QuadCache(shape, memory, unreadable)

    def sample(self, states: np.ndarray, quads: np.ndarray, state_of: np.ndarray) -> np.ndarray:
        """Filtered texels of quads, in order.

        Parameters
        ----------
        states : structured ndarray, shape (s,)
            As :data:`fixfunc.spec.textures.unit.SAMPLE_STATE`, with ``CODED_STATE`` of coded
            surfaces, and ``LINEAR``; fields that it lacks are 0.
        quads : structured ndarray, shape (n,)
            As :data:`fixfunc.spec.textures.unit.TEXTURE_QUAD`; where a state says that they bring
            gradients, :data:`fixfunc.spec.textures.cube.CUBE_GRADIENTS`, too.
        state_of : ndarray of intp, shape (n,)
            The state of each.

        Returns
        -------
        structured ndarray, shape (n,)
            As :data:`fixfunc.spec.textures.unit.TEXTURED_QUAD`.

        Source: [trip 4] [fs 7.18].
        """
        out = np.zeros(len(quads), dtype(TEXTURED_QUAD))
        if not len(quads):
            return out
        states = carried(states, (*SAMPLE_STATE, *CODED_STATE, LINEAR))
        compares = states["compares"] == 1
        refused = compares & ~np.isin(forms_of(states), self._compared)
        refused |= ~compares & np.isin(forms_of(states), list({*DEPTHS} - self._sampled))
        words = ~compares & np.isin(forms_of(states), POINT_SAMPLED)
        refused |= words & is_beyond_points(states)
        refused |= (states["last_layer"] > 0) & (not self._layers)
        refused |= (states["cube"] == 1) & (not self._cubes)
        states["coded"] &= self._coded
        several = (states["last"] > 0) | (states["last_layer"] > 0) | (states["cube"] == 1)
        states["linear"] &= self._linear
        refused |= (states["coded"] | states["linear"] == 1) & several
        states["cube"] &= self._cubes
        refused |= (states["explicit_gradients"] == 1) & (not self._gradients)
        states["explicit_gradients"] &= self._gradients
        refused |= states["anisotropy"] > (ANISOTROPY if self._footprints else 1)
        stored = carried(states, CACHE_STATE)
        stored["format"][refused] = NO_FORMAT
        states["compares"][refused] = 0
        quads, lods, faces = levels_on_faces(states, quads, state_of, self._footprints)
        number, grids = grids_of(states[state_of], quads, lods)
        which = state_of[number]
        is_cube = states["cube"][which] == 1
        parts = parts_of(grids.to_cache, grids.outside, faces[number], grids.extent, is_cube)
        texels = self._cache.read(stored, parts.to_cache, which[parts.grid])
        for name in ("lookups", "misses", "lines"):
            out[name] = np.bincount(number[parts.grid], texels[name], len(quads))
        np.maximum.at(out["status"], number[parts.grid], texels["status"])
        taps = _taps(states[which], joined(texels, parts), grids)
        halves = np.isin(forms_of(states)[which], FLOATS)
        taps, number = with_corners(taps, number, parts.missing, halves)
        which = state_of[number]
        for pixel in range(PIXELS):
            bits = quads[f"reference{pixel}"][number].astype(np.int64)
            taps[f"reference{pixel}"] = _reference(bits, states["format"][which])
        filtered = filter_quads(self._filter_states(states, refused), taps, which)
        for name in filtered.dtype.names:
            out[name] = filtered[name]
        return out

    def _filter_states(self, states, refused):
        """As :data:`fixfunc.spec.textures.filter.FILTER_STATE`."""
        out = carried(states, FILTER_STATE)
        out["floats"] = states["format"] == StoredFormat.R32_FLOAT
        for n, form in enumerate(forms_of(states)):
            known = form in self._sampled and not states["compares"][n]
            known &= form not in POINT_SAMPLED or not refused[n]
            found = units_of(int(form)) if known else [Unit.UNORM16] * 4
            for name, unit in zip(CHANNELS, found, strict=True):
                out[f"unit_{name}"][n] = unit
        return out


def levels_on_faces(
    states: np.ndarray, quads: np.ndarray, state_of: np.ndarray, footprints: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quads with places on faces of cubes, levels of detail, and those faces, int64 of (n, 4).

    Parameters are those of :meth:`TextureUnit.sample`.
    """
    is_cube = (states["cube"] == 1)[state_of]
    cubes = carried(states, CUBE_STATE), carried(quads, (*CUBE_QUAD, *CUBE_GRADIENTS))
    found = faces_of_quads(*cubes, state_of)
    faces = np.stack([found[f"face{pixel}"] for pixel in range(PIXELS)], 1).astype(np.int64)
    quads = quads.copy()
    for name in (f"{axis}{pixel}" for axis in "uv" for pixel in range(PIXELS)):
        quads[name] = np.where(is_cube, found[name], quads[name])
    lod_states = carried(states, LOD_STATE)
    lod_states["explicit_gradients"] |= states["cube"]
    lod_quads = carried(quads, (*LOD_QUAD, *GRADIENTS))
    for field in GRADIENTS:
        name = field.name
        lod_quads[name] = np.where(is_cube, found[name], lod_quads[name])
    return quads, levels_of_quads(lod_states, lod_quads, state_of, footprints), faces


def _reference(bits, form):
    """A reference as the format stores it: float32, or the nearest UNORM."""
    wide = np.where(
        form == StoredFormat.R24_UNORM_X8_TYPELESS,
        float32.unorm(bits, (1 << 24) - 1),
        float32.unorm(bits),
    )
    return np.where(form == StoredFormat.R32_FLOAT, bits, wide)


class Grids:
    """Grids of quads, one or two each: structured arrays of shape (n,).

    Attributes
    ----------
    to_cache : ndarray
        As :data:`fixfunc.spec.textures.cache.CACHE_QUAD`.
    taps : ndarray
        As :data:`fixfunc.spec.textures.filter.FILTER_TAPS`, without texels.
    borders : ndarray of int64, shape (n, 4)
        Corners that are the border, of each pixel.
    outside : ndarray of bool, shape (n, 4, 4)
        Of each pixel, which of left, right, upper and lower lie beyond the texture.
    extent : ndarray of int64, shape (n, 4)
        Width of the level of each pixel.
    """

    def __init__(self, count: int) -> None:
        self.to_cache = np.zeros(count, dtype(CACHE_QUAD))
        self.taps = np.zeros(count, dtype(FILTER_TAPS))
        self.borders = np.zeros((count, PIXELS), np.int64)
        self.outside = np.zeros((count, PIXELS, CORNERS), bool)
        self.extent = np.ones((count, PIXELS), np.int64)


def grids_of(state: np.ndarray, quads: np.ndarray, lods: np.ndarray) -> tuple[np.ndarray, Grids]:
    """Grids of quads: one a sample of the longest footprint, or two where a pixel that has it lies
    between two levels, of which the first is that of the smaller level.

    Parameters
    ----------
    state, quads : structured ndarray, shape (n,)
        Each quad, and its state.
    lods : structured ndarray, shape (n,)
        As :data:`fixfunc.spec.textures.level_of_detail.FOOTPRINTS_OF_QUAD`, or ``LOD_OF_QUAD``.

    Returns
    -------
    ndarray of intp, shape (g,), and Grids
        The quad of each grid.
    """
    gathers = state["op"] == FilterOp.GATHER
    live = np.stack([quads["live"] >> pixel & 1 for pixel in range(PIXELS)], 1) == 1
    fraction = np.stack([lods[f"fraction{pixel}"] for pixel in range(PIXELS)], 1).astype(np.int64)
    fraction = np.where(gathers[:, None] | ~live, 0, fraction)
    count = _counts(lods, live & ~gathers[:, None])
    number, sample, second = _rounds(count, fraction)
    count = count[number]
    active = sample[:, None] < count
    fraction = np.where(active, fraction[number], 0)
    state, live = state[number], live[number] & active
    is_cube = state["cube"] == 1
    places = np.zeros(len(number), dtype(ADDRESS_QUAD))
    out = Grids(len(number))
    out.taps["kind"], out.to_cache["kind"] = 1, 1
    out.taps["end"] = np.append(number[1:] != number[:-1], True)[: len(number)]
    coordinates = _coordinates(quads, lods, number, sample, count)
    for pixel in range(PIXELS):
        own = fraction[:, pixel]
        minifies = lods[f"minifies{pixel}"][number] == 1
        level = np.where(gathers[number], 0, lods[f"level{pixel}"][number]).astype(np.int64)
        level += ~second & (own > 0)
        places[f"level{pixel}"] = level
        linear = np.where(minifies, state["minify"], state["magnify"]) == 1
        places[f"smooth{pixel}"] = linear | gathers[number]
        out.to_cache[f"level{pixel}"] = level
        out.to_cache[f"layer{pixel}"] = layer_of(
            quads[f"layer{pixel}"][number], state["last_layer"].astype(np.int64)
        )
        weight = np.where(second == (own > 0), ONE - own, own)
        out.taps[f"weight{pixel}"] = np.where(active[:, pixel], weight, 0)
        out.taps[f"count{pixel}"] = count[:, pixel]
        for n, (axis, place, size) in enumerate((("u", "x", "width"), ("v", "y", "height"))):
            extent = np.maximum(state[size].astype(np.int64) >> level, 1)
            repeats = np.isin(state[f"mode_{axis}"], (Address.WRAP, Address.MIRROR)) & ~is_cube
            bits = np.ascontiguousarray(coordinates[:, pixel, n]).view(np.uint32).astype(np.int64)
            found = place_of(bits, extent, repeats)
            smooth = places[f"smooth{pixel}"] == 1
            # A far edge of a face is the face's own for a point.
            held = np.clip(found, 0, (extent << FRACTION) - ~smooth)
            places[f"{place}{pixel}"] = np.where(is_cube, held, found)
            first = held - np.where(smooth, ONE // 2, 0) >> FRACTION
            out.outside[:, pixel, 2 * n] = first < 0
            out.outside[:, pixel, 2 * n + 1] = first + 1 >= extent
            out.extent[:, pixel] = extent
    states = carried(state, ADDRESS_STATE)
    for name, value in (("mode", Address.CLAMP), ("offset", 0)):
        for axis in "uv":
            states[f"{name}_{axis}"][is_cube] = value
    states["gathers"] = gathers[number]
    found = address_quads(states, places, np.arange(len(number)))
    for pixel in range(PIXELS):
        for name in ("left", "right", "upper", "lower", "u", "v"):
            out.to_cache[f"{name}{pixel}"] = found[f"{name}{pixel}"]
        counts = live[:, pixel] & (~second | (fraction[:, pixel] > 0))
        out.to_cache[f"reads{pixel}"] = np.where(counts, found[f"reads{pixel}"], 0)
        out.borders[:, pixel] = found[f"borders{pixel}"]
    return number, out


def _counts(lods, several):
    """Numbers of samples, shape (n, 4); of pixels that have no more than their place, one."""
    if "count0" not in lods.dtype.names:
        return np.ones(several.shape, np.int64)
    count = np.stack([lods[f"count{pixel}"] for pixel in range(PIXELS)], 1).astype(np.int64)
    return np.where(several, count, 1)


def _rounds(count, fraction):
    """Of each grid its quad, its sample, and whether it is the second one of that."""
    quad = np.repeat(np.arange(len(count)), count.max(1, initial=1))
    sample = np.arange(len(quad)) - np.searchsorted(quad, quad)
    between = ((fraction[quad] > 0) & (sample[:, None] < count[quad])).any(1)
    which = np.repeat(np.arange(len(quad)), 1 + between)
    second = np.append(False, which[1:] == which[:-1])[: len(which)]
    return quad[which], sample[which], second


def _coordinates(quads, lods, number, sample, count):
    """Coordinates of grids, float32 of shape (g, 4, 2): moved along the axes of footprints."""
    bits = [[quads[f"{axis}{pixel}"][number] for axis in "uv"] for pixel in range(PIXELS)]
    found = np.array(bits).transpose(2, 0, 1).copy().view(np.float32)
    if "count0" in lods.dtype.names:
        for pixel in range(PIXELS):
            along = [lods[f"along_{axis}{pixel}"][number] for axis in "uv"]
            along = np.stack(along, 1).view(np.float32)
            found[:, pixel] = sample_place(found[:, pixel], along, sample, count[:, pixel])
    return found


def units_of(form: int) -> list[Unit]:
    """Units of the channels of a format: as of alpha which is 1 of those that it lacks."""
    name, srgb = DXGI[Format[StoredFormat(form).name]]
    stored = TEXELS[name]
    if form in POINT_SAMPLED:
        lacking = len(CHANNELS) - stored.channels
        return [Unit.WORD] * stored.channels + [Unit.UNORM16] * lacking
    if stored.kind == "FLOAT":
        return [Unit.HALF] * len(CHANNELS)
    one = Unit.SNORM15 if stored.kind == "SNORM" else Unit.UNORM16
    found = [one] * stored.channels if srgb or stored.edge > 1 else units(stored)
    return [*found, *[one] * (len(CHANNELS) - len(found))]


def _taps(state, texels, grids):
    """Texels that were read, the border, and weights: as the filter takes them."""
    taps = grids.taps
    for pixel in range(PIXELS):
        for axis in "uv":
            taps[f"{axis}{pixel}"] = grids.to_cache[f"{axis}{pixel}"]
        for corner in range(CORNERS):
            is_border = grids.borders[:, pixel] >> corner & 1 == 1
            for n, name in enumerate(CHANNELS):
                texel = f"t{pixel}_{corner}_{n}"
                taps[texel] = np.where(is_border, state[f"border_{name}"], texels[texel])
    return taps
