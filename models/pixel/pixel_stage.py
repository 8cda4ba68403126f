# SPDX-License-Identifier: BSD-2-Clause
"""Pixel stage: a port to a shader, which takes quads and returns colours, discards and depths."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_stage import array, checked, of_kind
from fixfunc.models.lib import float32
from fixfunc.models.pixel import interpolator
from fixfunc.models.pixel.pixel_inputs import (
    Evaluator,
    Locations,
    PixelQuads,
    Triangles,
    sample_index,
)
from fixfunc.models.pixel.pixel_shader import PixelResults, PixelShader
from fixfunc.models.pixel.quads import Quads
from fixfunc.spec.errors import InputError

__all__ = ["Fragments", "PixelQuads", "PixelResults", "PixelShader", "Triangles", "shade"]

TARGETS = 8


class Fragments(NamedTuple):
    """Quads, and what they are shaded from."""

    quads: Quads
    triangles: Triangles  # that of each quad
    front: np.ndarray  # bool, shape (q,)
    coverage: np.ndarray  # bool, shape (q, 2, 2, samples): by the triangle and the sample mask
    # Takes offsets from pixels' centres, 1/16 pixel, shape (q, 2, 2, 2), and linear weights there,
    # shape (4 q, 3); returns z, float32, shape (q, 2, 2).
    depth: Callable[[np.ndarray, np.ndarray], np.ndarray]
    sample_mask: int = 0xFFFFFFFF
    conservative: bool = False  # inner coverage is asked for


def shade(
    shader: PixelShader, function: Callable[[PixelQuads], PixelResults], fragments: Fragments
) -> PixelResults:
    """Interpolate attributes of quads, and ask the shader.

    Parameters
    ----------
    shader : PixelShader
    function : callable
        Its function, with what is bound to it.
    fragments : Fragments

    Returns
    -------
    PixelResults
        Colours of every target, checked.

    Raises
    ------
    InputError
        A result of another shape or type.
    """
    inputs = _inputs(shader, fragments)
    made = function(inputs)
    of_kind(made, PixelResults)
    shape = inputs.x.shape
    colours = made.colour if isinstance(made.colour, list | tuple) else [made.colour]
    if len(colours) > TARGETS:
        raise InputError("colours", f"be at most {TARGETS}", len(colours))
    checked_colours = [checked("colour", colour, _kind(colour), (*shape, 4)) for colour in colours]
    discarded = np.zeros(shape, bool) if made.discarded is None else made.discarded
    checked("discarded", discarded, np.bool_, shape)
    if discarded.any() and not shader.discards:
        raise InputError("discarded", "be none, as the shader declares", int(discarded.sum()))
    if (made.depth is None) != (shader.depth is None):
        raise InputError("depth", f"be put out as declared, {shader.depth}", made.depth)
    if made.depth is not None:
        checked("depth", made.depth, np.float32, shape)
    if (made.coverage is None) == shader.coverage:
        raise InputError("coverage", f"be put out as declared, {shader.coverage}", made.coverage)
    if made.coverage is not None:
        checked("coverage", made.coverage, np.uint32, shape)
    return PixelResults(checked_colours, discarded, made.depth, made.coverage)


def _inputs(shader, fragments):
    """What the shader takes."""
    quads = fragments.quads
    locations = Locations(quads, fragments.coverage, fragments.sample_mask)
    pixels = fragments.triangles.take(np.repeat(np.arange(len(quads.x)), 4))
    many = pixels.values.shape[2]
    modes = [*shader.modes, *["perspective"] * many][:many]
    evaluator = Evaluator(modes, pixels, locations)
    inner = np.zeros(locations.x.shape, bool)
    if fragments.conservative:
        centres = locations.at(locations.offsets("centre"))
        inner = interpolator.inside(pixels.corners, *centres).reshape(inner.shape)
    bits = np.left_shift(1, np.arange(fragments.coverage.shape[3]))
    return PixelQuads(
        locations.x,
        locations.y,
        evaluator.declared(),
        quads.covered,
        fragments.front,
        fragments.triangles.primitive,
        inner,
        _position(shader, pixels, locations, fragments.depth),
        (fragments.coverage * bits).sum(3).astype(np.uint32),
        sample_index(quads),
        evaluator,
    )


def _position(shader, pixels, locations, depth):
    """Positions of pixels: float32, shape (q, 2, 2, 4) [fs 16.3]."""
    offsets = locations.offsets(shader.position)
    at = locations.at(offsets)
    # 1/w is linear on the screen.
    share = interpolator.weights(pixels.corners, *at, perspective=False)
    rhw = interpolator.attributes(pixels.rhw, share)
    out = np.empty((*locations.x.shape, 4), np.float32)
    # Exact: s15.8.
    out[..., 0], out[..., 1] = (place.reshape(locations.x.shape) / np.float32(256) for place in at)
    out[..., 2] = depth(offsets, share)
    out[..., 3] = float32.reciprocal(rhw).reshape(locations.x.shape)
    return out


def _kind(colour):
    """The type that colours should have."""
    array("colour", colour)
    return colour.dtype if colour.dtype in (np.int32, np.uint32) else np.float32
