# SPDX-License-Identifier: BSD-2-Clause
"""Pixel stage: a port to a shader, which takes quads and returns colours, discards and depths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_stage import array, checked, of_kind
from fixfunc.models.lib.annotations import check_types
from fixfunc.models.pixel import interpolator
from fixfunc.models.pixel.quads import Quads
from fixfunc.spec.errors import InputError

MODES = ("perspective", "linear", "constant")  # of an attribute
DEPTHS = (None, "any", "greater_equal", "less_equal")  # what a shader does to depths
TARGETS = 8


class PixelQuads(NamedTuple):
    """Quads for a pixel shader: no quad sees another."""

    x: np.ndarray  # int64, shape (q, 2, 2): pixels of the target, [quad, y, x]
    y: np.ndarray
    attributes: np.ndarray  # uint32, shape (q, 2, 2, a, 4)
    covered: np.ndarray  # bool, shape (q, 2, 2, samples): helpers have none
    front: np.ndarray  # bool, shape (q,)
    primitive: np.ndarray  # uint32, shape (q,): PrimitiveID
    inner: np.ndarray  # bool, shape (q, 2, 2): with conservative coverage, the triangle has it all

    def floats(self, attribute: int) -> np.ndarray:
        """An attribute as float32, shape (q, 2, 2, 4)."""
        return self.attributes[..., attribute, :].view(np.float32)


class PixelResults(NamedTuple):
    """What a pixel shader returns."""

    # float32, or int32 or uint32 for formats of integers, shape (q, 2, 2, 4): red, green, blue,
    # alpha; of several targets one each
    colour: np.ndarray | Sequence[np.ndarray]
    discarded: np.ndarray | None = None  # bool, shape (q, 2, 2)
    depth: np.ndarray | None = None  # float32, shape (q, 2, 2): 0 to 1


@dataclass(frozen=True)
class PixelShader:
    """A pixel shader and what it declares [fs 16].

    Parameters
    ----------
    function : callable
        Takes :class:`PixelQuads`, returns :class:`PixelResults`.
    modes : sequence of str
        How attributes are interpolated: ``perspective``, ``linear``, or ``constant``, which is the
        value at the leading vertex; those that are not named ``perspective``.
    discards : bool
        It may discard pixels.
    depth : str, optional
        It puts depths out: ``any``, or on one side of the triangle's [fs 16.9.3].
    early : bool
        Depth and stencil tests come first whatever it does [fs 16.12.1].

    Raises
    ------
    InputError
        Another mode, or another kind of depths.
    """

    function: Callable[..., PixelResults]
    modes: Sequence[str] = ()
    discards: bool = False
    depth: str | None = None
    early: bool = False

    def __post_init__(self):
        check_types(self)
        for mode in self.modes:
            if mode not in MODES:
                raise InputError("modes", f"hold only {', '.join(MODES)}", mode)
        if self.depth not in DEPTHS:
            raise InputError("depth", f"be one of {', '.join(map(str, DEPTHS))}", self.depth)

    @property
    def does(self) -> tuple[str, ...]:
        """What it does, as :func:`fixfunc.models.state.draw_state` takes it."""
        if self.early:
            return ("plain",)
        depth = () if self.depth is None else (f"depth_{self.depth}".replace("any", "output"),)
        return (*(("discard",) if self.discards else ()), *depth) or ("plain",)


class Triangles(NamedTuple):
    """What a pixel stage needs of triangles: arrays by triangle."""

    corners: interpolator.Corners
    values: np.ndarray  # uint32, shape (n, 3, a, 4): attributes at their primitives' corners
    original: np.ndarray  # float32, shape (n, 3, 3): weights of their corners there
    primitive: np.ndarray  # uint32, shape (n,)

    def take(self, numbers: np.ndarray) -> "Triangles":
        """Some of them, in an order."""
        corners = interpolator.Corners(*(value[numbers] for value in self.corners))
        return Triangles(corners, *(value[numbers] for value in self[1:]))


def shade(
    shader: PixelShader,
    function: Callable[[PixelQuads], PixelResults],
    quads: Quads,
    triangles: Triangles,
    front: np.ndarray,
    conservative: bool = False,
) -> PixelResults:
    """Interpolate attributes of quads, and ask the shader.

    Parameters
    ----------
    shader : PixelShader
    function : callable
        Its function, with what is bound to it.
    quads : Quads
    triangles : Triangles
        That of each quad.
    front : ndarray of bool, shape (q,)
    conservative : bool
        Inner coverage is asked for.

    Returns
    -------
    PixelResults
        Colours of every target, checked.

    Raises
    ------
    InputError
        A result of another shape or type.
    """
    count = len(quads.x)
    x = np.broadcast_to(quads.x[:, None, None] + np.arange(2)[None, None, :], (count, 2, 2))
    y = np.broadcast_to(quads.y[:, None, None] + np.arange(2)[None, :, None], (count, 2, 2))
    pixels = triangles.take(np.repeat(np.arange(count), 4))
    at = [256 * place.reshape(-1) + 128 for place in (x, y)]
    inner = np.zeros((count, 2, 2), bool)
    if conservative:
        inner = interpolator.inside(pixels.corners, *at).reshape(count, 2, 2)
    inputs = PixelQuads(
        x,
        y,
        _interpolated(shader, pixels, at),
        quads.covered,
        front,
        triangles.primitive,
        inner,
    )
    made = function(inputs)
    of_kind(made, PixelResults)
    colours = made.colour if isinstance(made.colour, list | tuple) else [made.colour]
    if len(colours) > TARGETS:
        raise InputError("colours", f"be at most {TARGETS}", len(colours))
    checked_colours = [
        checked("colour", colour, _kind(colour), (count, 2, 2, 4)) for colour in colours
    ]
    discarded = made.discarded
    if discarded is None:
        discarded = np.zeros((count, 2, 2), bool)
    checked("discarded", discarded, np.bool_, (count, 2, 2))
    if discarded.any() and not shader.discards:
        raise InputError("discarded", "be none, as the shader declares", int(discarded.sum()))
    if (made.depth is None) != (shader.depth is None):
        raise InputError("depth", f"be put out as declared, {shader.depth}", made.depth)
    if made.depth is not None:
        checked("depth", made.depth, np.float32, (count, 2, 2))
    return PixelResults(checked_colours, discarded, made.depth)


def _kind(colour):
    """The type that colours should have."""
    array("colour", colour)
    return colour.dtype if colour.dtype in (np.int32, np.uint32) else np.float32


def _interpolated(shader, pixels, at):
    """Attributes at pixels' centres: uint32, shape (q, 2, 2, a, 4)."""
    many = pixels.values.shape[2]
    count = len(pixels.values) // 4
    out = np.empty((count, 2, 2, many, 4), np.uint32)
    if not many:
        return out
    modes = [*shader.modes, *["perspective"] * many][:many]
    for mode in set(modes):
        chosen = [n for n, its in enumerate(modes) if its == mode]
        values = pixels.values[:, :, chosen]
        if mode == "constant":
            result = values[:, 0]
        else:
            share = interpolator.weights(pixels.corners, *at, perspective=mode == "perspective")
            result = interpolator.attributes(values.view(np.float32), share, pixels.original)
        out[..., chosen, :] = (
            np.ascontiguousarray(result).view(np.uint32).reshape(count, 2, 2, len(chosen), 4)
        )
    return out
