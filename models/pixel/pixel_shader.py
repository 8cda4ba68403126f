# SPDX-License-Identifier: BSD-2-Clause
"""What a pixel shader declares, and what it returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.spec.errors import InputError

LOCATIONS = ("centre", "centroid", "sample")  # where an attribute is evaluated
# Modes of an attribute: how it is interpolated, and where.
MODES = (
    *(
        kind if where == "centre" else f"{kind}_{where}"
        for kind in ("perspective", "linear")
        for where in LOCATIONS
    ),
    "constant",
)
DEPTHS = (None, "any", "greater_equal", "less_equal")  # what a shader does to depths


class PixelResults(NamedTuple):
    """What a pixel shader returns."""

    # float32, or int32 or uint32 for formats of integers, shape (q, 2, 2, 4): red, green, blue,
    # alpha; of several targets one each; of none no item
    colour: np.ndarray | Sequence[np.ndarray]
    discarded: np.ndarray | None = None  # bool, shape (q, 2, 2)
    depth: np.ndarray | None = None  # float32, shape (q, 2, 2): 0 to 1
    coverage: np.ndarray | None = None  # uint32, shape (q, 2, 2): samples that are left


@dataclass(frozen=True)
class PixelShader:
    """A pixel shader and what it declares [fs 16].

    Parameters
    ----------
    function : callable
        Takes :class:`fixfunc.models.pixel.pixel_inputs.PixelQuads`, returns :class:`PixelResults`.
    modes : sequence of str
        How attributes are interpolated: ``perspective``, ``linear``, both with ``_centroid`` or
        ``_sample`` behind it, or ``constant``, which is the value at the leading vertex; those that
        are not named ``perspective``.
    discards : bool
        It may discard pixels.
    depth : str, optional
        It puts depths out: ``any``, or on one side of the triangle's [fs 16.9.3].
    early : bool
        Depth and stencil tests come first whatever it does [fs 16.12.1].
    position : str
        Where the position is taken: ``centre``, ``centroid`` or ``sample``.
    sample_index : bool
        It reads which sample it shades.
    coverage : bool
        It puts out which samples are left.
    unordered : bool
        It reads or writes what is bound for unordered access.

    Raises
    ------
    InputError
        Another mode, another location, or another kind of depths.
    """

    function: Callable[..., PixelResults]
    modes: Sequence[str] = ()
    discards: bool = False
    depth: str | None = None
    early: bool = False
    position: str = "centre"
    sample_index: bool = False
    coverage: bool = False
    unordered: bool = False

    def __post_init__(self):
        check_types(self)
        for mode in self.modes:
            if mode not in MODES:
                raise InputError("modes", f"hold only {', '.join(MODES)}", mode)
        if self.depth not in DEPTHS:
            raise InputError("depth", f"be one of {', '.join(map(str, DEPTHS))}", self.depth)
        if self.position not in LOCATIONS:
            raise InputError("position", f"be one of {', '.join(LOCATIONS)}", self.position)

    @property
    def by_sample(self) -> bool:
        """It is asked for each sample: it reads something that each has of its own [fs 16.4]."""
        where = [self.position, *(mode.split("_")[-1] for mode in self.modes)]
        return self.sample_index or "sample" in where

    @property
    def does(self) -> tuple[str, ...]:
        """What it does, as :func:`fixfunc.models.state.draw_state` takes it."""
        if self.early:
            return ("plain",)
        found = []
        if self.discards or self.coverage:
            found.append("discard")
        if self.depth is not None:
            found.append(f"depth_{self.depth}".replace("any", "output"))
        if self.unordered:
            found.append("uav_writes")
        return tuple(found) or ("plain",)
