# SPDX-License-Identifier: BSD-2-Clause
"""State of samplers: filters, address modes, levels of detail, reductions."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.annotations import check_types
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare

ADDRESSES = "wrap", "mirror", "clamp", "border", "mirror_once"
FILTERS = "point", "linear"
REDUCTIONS = "standard", "comparison", "minimum", "maximum"


@dataclass(frozen=True)
class Sampler:
    """State of a sampler.

    Parameters
    ----------
    minify, magnify, mip : str
        Filters: ``point`` or ``linear``. ``mip`` selects levels.
    address : tuple of str
        Address modes of u, v and w: wrap, mirror, clamp, border, mirror_once. Cubes ignore them.
    border : tuple of float
        Red, green, blue, alpha outside of the texture, as linear colours; clamped to what the
        format can hold.
    bias : float
        It is added to levels of detail.
    min_lod, max_lod : float
        Levels of detail are clamped to this range; ``min_lod`` prevails.
    anisotropy : int
        Greatest number of samples along a footprint of a 2D texture: 1 to 16.
    reduction : str
        What becomes of a filter's texels: ``standard``, their weighted mean; ``comparison``, the
        mean of what compares true, for :func:`fixfunc.models.texture.sampler.sample_compare`;
        ``minimum`` or ``maximum`` of those that have weight.
    comparison : Compare
        Of the reference with red.
    """

    minify: str = "linear"
    magnify: str = "linear"
    mip: str = "linear"
    address: tuple[str, ...] = ("wrap", "wrap", "wrap")
    border: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    bias: float = 0.0
    min_lod: float = 0.0
    max_lod: float = 31.0
    anisotropy: int = 1
    reduction: str = "standard"
    comparison: Compare = Compare.NEVER

    def __post_init__(self):
        check_types(self)
        for name in ("minify", "magnify", "mip"):
            check_name(name, getattr(self, name), FILTERS)
        for value in self.address:
            check_name("address", value, ADDRESSES)
        check_name("reduction", self.reduction, REDUCTIONS)
        if self.comparison not in list(Compare):
            raise InputError("comparison", "be one of Compare", self.comparison)
        if self.anisotropy not in range(1, 17):
            raise InputError("anisotropy", "be 1 to 16", self.anisotropy)
        if not -16 <= self.bias < 16:
            raise InputError("bias", "be at least -16 and below 16", self.bias)
        for name in ("min_lod", "max_lod"):
            if np.isnan(getattr(self, name)):
                raise InputError(name, "be a number", getattr(self, name))
        if np.shape(self.border) != (4,) or np.isnan(self.border).any():
            raise InputError("border", "be four numbers", self.border)


def by_request(name: str, value: ArrayLike, shape: tuple) -> np.ndarray:
    """Numbers of requests of a shape, flat; what does not fit it raises ``InputError``."""
    try:
        found = np.broadcast_to(np.asarray(value), shape).reshape(-1)
    except ValueError:
        raise InputError(name, f"be of shape {shape}, or one for all", np.shape(value)) from None
    if found.dtype.kind not in "biuf":
        raise InputError(name, "be numbers", found.dtype.name)
    return found


def whole_steps(offset: Sequence[int], allowed: range, most: int) -> tuple[int, ...]:
    """An offset of up to so many axes; others, and steps not allowed, raise ``InputError``."""
    try:
        steps = tuple(operator.index(step) for step in offset)
    except TypeError:
        raise InputError("offset", "be integers by axis", offset) from None
    if len(steps) > most or any(step not in allowed for step in steps):
        rule = f"be up to {most} of {allowed[0]} to {allowed[-1]} texels"
        raise InputError("offset", rule, steps)
    return steps


def check_name(name: str, value: str, valid: Sequence[str]) -> None:
    """Raise ``InputError`` for a name that is not among those that are valid."""
    if value not in valid:
        raise InputError(name, f"be one of {', '.join(valid)}", value)
