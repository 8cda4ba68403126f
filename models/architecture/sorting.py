# SPDX-License-Identifier: BSD-2-Clause
"""Where parallel pipelines sort: what each way moves, does twice, and leaves uneven [rtr 23.9]."""

import heapq
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fixfunc.models.architecture.frame_work import FrameWork, Screen
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare


class OrderError(InputError):
    """Images cannot be merged by depth: which one is seen depends on the order of drawing."""


@dataclass(frozen=True)
class Sizes:
    """Bytes that are moved for each.

    Parameters
    ----------
    primitive : int
        A triangle before geometry: three vertices of 32.
    transformed : int
        A triangle behind it: three vertices of 48.
    fragment : int
        Place, depth, attributes.
    pixel : int
        Colour and depth.
    batch : int
        Triangles that go to one geometry unit together.
    """

    primitive: int = 96
    transformed: int = 144
    fragment: int = 32
    pixel: int = 8
    batch: int = 16

    def __post_init__(self):
        for name, value in vars(self).items():
            integer(name, value, 1, 1 << 20)


@dataclass(frozen=True)
class Distribution:
    """A frame's work, shared by as many units of each kind.

    Parameters
    ----------
    moved : dict of str to int
        Bytes between units, by what they carry: primitives, transformed, fragments, pixels.
    geometry : ndarray of int64, shape (units,)
        Triangles that each transforms.
    setup : ndarray of int64, shape (units,)
        Triangles that each rasterizer is given.
    raster, pixel : ndarray of int64, shape (units,)
        Fragments that each makes, and that each shades.
    """

    moved: dict[str, int]
    geometry: np.ndarray
    setup: np.ndarray
    raster: np.ndarray
    pixel: np.ndarray

    @property
    def bytes(self) -> int:
        """Everything that is moved."""
        return sum(self.moved.values())

    def overlap(self, triangles: int) -> Fraction:
        """Rasterizers that a triangle is given to, on average; 1 of none."""
        return Fraction(int(self.setup.sum()), triangles) if triangles else Fraction(1)

    def imbalance(self, stage: str) -> Fraction:
        """The most work of a unit over the mean: ``geometry``, ``setup``, ``raster``, ``pixel``.

        So many times longer does the stage take than if all units had the same; 1 of no work.
        """
        work = getattr(self, stage)
        total = int(work.sum())
        return Fraction(int(work.max()) * len(work), total) if total else Fraction(1)


class _Frame:
    """What all ways of sorting look at."""

    def __init__(self, frame, screen, sizes):
        self.units = screen.units
        triangle, x, y = frame.touched(screen.tile)
        pairs = np.unique(triangle * self.units + screen.owner(x, y))
        self.receivers = self.count(pairs % self.units)  # triangles by owner of what they touch
        self.pairs = len(pairs)
        self.turn = np.arange(frame.triangles) // sizes.batch % self.units
        self.of_turn = self.count(self.turn)
        found = frame.fragments
        self.owned = self.count(screen.owner(found["x"] // screen.tile, found["y"] // screen.tile))
        self.made = self.count(self.turn[found["triangle"]])
        self.fragments = len(found)

    def count(self, units):
        return np.bincount(units, minlength=self.units)


def sort_first(frame: FrameWork, screen: Screen, sizes: Sizes) -> Distribution:
    """Primitives go to the pipelines whose tiles they touch, before geometry.

    A triangle is transformed by each of them.
    """
    found = _Frame(frame, screen, sizes)
    moved = {"primitives": found.pairs * sizes.primitive}
    return Distribution(moved, found.receivers, found.receivers, found.owned, found.owned)


def sort_middle(frame: FrameWork, screen: Screen, sizes: Sizes) -> Distribution:
    """Geometry in turn; transformed triangles go to the rasterizers whose tiles they touch."""
    found = _Frame(frame, screen, sizes)
    moved = {"transformed": found.pairs * sizes.transformed}
    return Distribution(moved, found.of_turn, found.receivers, found.owned, found.owned)


def sort_last_fragment(frame: FrameWork, screen: Screen, sizes: Sizes) -> Distribution:
    """Geometry and rasterization in turn; each fragment goes to the owner of its pixel.

    Nothing is done twice, but a unit whose turn are large triangles has more to rasterize.
    """
    found = _Frame(frame, screen, sizes)
    moved = {"fragments": found.fragments * sizes.fragment}
    return Distribution(moved, found.of_turn, found.of_turn, found.made, found.owned)


def sort_last_image(
    frame: FrameWork, screen: Screen, sizes: Sizes, ordered: bool = True
) -> Distribution:
    """Whole pipelines in turn; each has an image with depths, and all are merged by depth.

    Parameters
    ----------
    frame : FrameWork
    screen : Screen
    sizes : Sizes
    ordered : bool
        Something of the frame must be drawn in order: see :func:`image_order_needed`.

    Raises
    ------
    OrderError
        A frame that is ordered.
    """
    if ordered:
        raise OrderError("frame", "be drawn in any order where images are merged", "ordered")
    found = _Frame(frame, screen, sizes)
    moved = {"pixels": found.units * frame.width * frame.height * sizes.pixel}
    return Distribution(moved, found.of_turn, found.of_turn, found.made, found.made)


def sort_everywhere(frame: FrameWork, screen: Screen, sizes: Sizes) -> Distribution:
    """A network behind every stage: geometry in turn, a triangle to the rasterizer that has least.

    Fragments go to the owners of their pixels, pixels to the display. A rasterizer's work is a
    triangle's fragments, and one for its setup.
    """
    found = _Frame(frame, screen, sizes)
    fragments = np.bincount(frame.fragments["triangle"], minlength=frame.triangles)
    load = [(0, unit) for unit in range(found.units)]
    unit_of = np.zeros(frame.triangles, np.int64)
    for triangle, count in enumerate(fragments.tolist()):
        work, unit = load[0]
        unit_of[triangle] = unit
        heapq.heapreplace(load, (work + count + 1, unit))
    moved = {
        "transformed": frame.triangles * sizes.transformed,
        "fragments": found.fragments * sizes.fragment,
        "pixels": frame.width * frame.height * sizes.pixel,
    }
    setup = found.count(unit_of)
    raster = found.count(unit_of[frame.fragments["triangle"]])
    return Distribution(moved, found.of_turn, setup, raster, found.owned)


def image_order_needed(
    *,
    depth_test: bool,
    depth_write: bool,
    depth_compare: Compare,
    blend: bool = False,
    logic_operation: bool = False,
    stencil_test: bool = False,
) -> bool:
    """Whether a draw forbids that images are merged by the least depth.

    It does unless the nearest sample alone is seen, and its depth is there to tell. That leaves
    equal depths, which :func:`merge` finds.

    Parameters
    ----------
    depth_test, depth_write : bool
    depth_compare : Compare
    blend, logic_operation, stencil_test : bool
    """
    nearest = depth_test and depth_write and depth_compare in (Compare.LESS, Compare.LESS_EQUAL)
    return not nearest or blend or logic_operation or stencil_test


def merge(depths: np.ndarray, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One image of those of several pipelines: at each pixel that with the least depth.

    Parameters
    ----------
    depths, colours : ndarray of uint32, shape (images, height, width)
        A pixel that a pipeline has not drawn has the depth of the clear, and its colour.

    Returns
    -------
    depths, colours : ndarray of uint32, shape (height, width)

    Raises
    ------
    OrderError
        Two images have the least depth of a pixel, and different colours: the one that was drawn
        first, and nobody knows which.
    """
    if depths.ndim != 3 or depths.shape != colours.shape or not len(depths):
        raise InputError("colours", f"have the shape of depths, {depths.shape}", colours.shape)
    least = depths.min(0)
    chosen = depths.argmin(0)
    found = np.take_along_axis(colours, chosen[None], 0)[0]
    tied = ((depths == least) & (colours != found)).any(0)
    if tied.any():
        y, x = (int(it[0]) for it in np.nonzero(tied))
        raise OrderError(f"depths at {x},{y}", "differ where colours do", int(least[y, x]))
    return least, found
