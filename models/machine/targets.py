# SPDX-License-Identifier: BSD-2-Clause
"""Targets of the back half: slices of textures, and what is held of them on chip."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.depth_cache import drawn_planes
from fixfunc.models.depth.depth_test import in_range, new_depths
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.depth.plane_table import PlaneTable
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.layout import target_at, target_place

SHAPE = "stored", "samples", "tiled", "coded", "width", "height", "depth", "levels", "layers"


class Target(NamedTuple):
    """A slice of a texture that is drawn to."""

    view: np.void  # spec.descriptors.VIEW
    layer: int  # of the view

    @property
    def key(self) -> tuple[int, ...]:
        """It tells targets apart: by place, and by shape, of which a ring may claim any."""
        shape = (int(self.view[name]) for name in SHAPE)
        return int(self.view["address"]), *target_place(self.view, self.layer), *shape

    def tiles(self, memory: np.ndarray) -> list[np.ndarray]:
        """Its planes of tiles, to read and to write: of a target that is not coded."""
        layout, data = target_at(memory, self.view)
        return layout.tiles(data, *target_place(self.view, self.layer))

    def coded(self, memory: np.ndarray) -> list[CodedTiles]:
        """Its planes, if they are coded; else none."""
        layout, data = target_at(memory, self.view)
        place = target_place(self.view, self.layer)
        planes = range(len(layout.planes) if layout.coded else 0)
        return [layout.coded_tiles(data, *place, plane) for plane in planes]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        level = int(self.view["first_level"])
        return tuple(max(int(self.view[side]) >> level, 1) for side in ("width", "height"))


class ColourTiles(NamedTuple):
    """Colours of a target, to read and to write."""

    tiles: np.ndarray  # uint8, shape (rows, columns, 8, 8, bytes)
    changed: np.ndarray  # bool, shape (rows, columns): what memory does not have
    coded: CodedTiles | None  # where they lie; None: ``tiles`` are the memory


class HeldDepths(NamedTuple):
    """Depths and stencil values of a target, behind HiZ."""

    target: Target
    unit: DepthUnit
    stored: list[np.ndarray]  # planes of tiles, uint8: what memory has; if they are coded a copy
    drawn: PlaneTable | None  # what gives depths that are coded by planes

    def planes(self) -> list[np.ndarray]:
        """Planes of tiles as they should be in memory: uint8."""
        values = (self.unit.buffer.depth, self.unit.buffer.stencil)
        return [
            octets(plane, stored.shape[-1])
            for plane, stored in zip(values, self.stored, strict=False)
        ]

    def follow(self, tiles: np.ndarray, passed: np.ndarray, has_depths: bool) -> None:
        """Keep which planes give depths that a draw has written.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
        passed : ndarray of bool, shape (n, 8, 8)
        has_depths : bool
            The shader put depths out: no plane gives them.
        """
        state = self.unit.state
        if self.drawn is None or not (state["depth_test"] and state["depth_write"]):
            return
        some = passed.any((1, 2))
        tiles = tiles[some]
        passed = passed[some]
        new = in_range(new_depths(tiles, state), state)
        planes, exact = drawn_planes(tiles, passed, state, new)
        place = tiles["y"].astype(np.int64) * self.unit.buffer.depth.shape[1] + tiles["x"]
        self.drawn.write(place, passed, planes, exact & (not has_depths))

    def copy(self) -> "HeldDepths":
        """The same, written apart."""
        return self._replace(unit=deepcopy(self.unit), drawn=deepcopy(self.drawn))


def at_layer(view: np.void | None, layer: int) -> Target | None:
    """A view's slice of a primitive; beyond its layers the first [fs 15.15]."""
    if view is None:
        return None
    return Target(view, layer if layer < view["layer_count"] else 0)


def restore(unit: DepthUnit) -> None:
    """Tell HiZ what a target holds that comes from memory."""
    saved = unit.hiz.save()
    low, high = unit.buffer.bounds(saved)
    saved["low"], saved["high"] = unit.hiz.cut(low), unit.hiz.cut(high)
    saved["stencil_low"], saved["stencil_high"] = 0, 255
    unit.hiz.restore(saved)


def words(plane: np.ndarray) -> np.ndarray:
    """Values of a plane of up to four bytes a sample: uint32."""
    wide = np.zeros((*plane.shape[:4], 4), np.uint8)
    wide[..., : plane.shape[4]] = plane
    return wide.view("<u4")[..., 0]


def octets(values: np.ndarray, size: int) -> np.ndarray:
    """The inverse of :func:`words`."""
    return np.ascontiguousarray(values, "<u4").view(np.uint8).reshape(*values.shape, 4)[..., :size]
