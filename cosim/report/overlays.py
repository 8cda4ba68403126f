# SPDX-License-Identifier: BSD-2-Clause
"""Maps as colours over a picture, with legends and values to read out."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.report.maps import Maps
from fixfunc.spec.state import DIFFERENCES, Outcome, TileMode

DARK = (12, 10, 30)
RAMP = np.array([DARK, (92, 22, 110), (214, 70, 66), (250, 180, 60), (252, 252, 220)], float)
STEPS = 5  # of a legend's ramp
OUTCOME_COLOURS = {
    Outcome.DROP: (214, 70, 66),
    Outcome.ACCEPT: (90, 190, 110),
    Outcome.TEST: (70, 110, 220),
}
_OUTCOMES = {Outcome.DROP: "dropped", Outcome.ACCEPT: "accepted unread", Outcome.TEST: "tested"}
_MODES = {
    (TileMode.CLEARED,): (DARK, "cleared"),
    (TileMode.PLANES_1,): ((40, 120, 80), "1 plane"),
    (TileMode.PLANES_2,): ((90, 190, 110), "2 planes"),
    (TileMode.PLANES_3,): ((190, 210, 80), "3 planes"),
    (TileMode.PLANES_4,): ((250, 220, 60), "4 planes"),
    (TileMode.ANCHOR, *range(DIFFERENCES + 1, 16)): ((240, 150, 50), "differences"),
    (TileMode.RAW,): ((214, 70, 66), "raw"),
}


class Entry(NamedTuple):
    """A colour of a legend."""

    colour: tuple[int, int, int]
    text: str


class Overlay(NamedTuple):
    """A map of a picture, a value a cell."""

    title: str
    unit: str
    cell: tuple[int, int]  # pixels: (width, height)
    colours: np.ndarray  # uint8, shape (rows, columns, 3)
    legend: list[Entry]
    values: dict[str, np.ndarray]  # to be read out, by what they are: shape (rows, columns)
    names: dict[int, str] | None = None  # of values that are no numbers

    def thinned(self) -> "Overlay":
        """Every second cell of every second row, for the place of four."""
        return self._replace(
            cell=(2 * self.cell[0], 2 * self.cell[1]),
            colours=self.colours[::2, ::2],
            values={name: it[::2, ::2] for name, it in self.values.items()},
        )

    def spread(self, width: int, height: int) -> np.ndarray:
        """A colour a pixel: uint8, shape (height, width, 3)."""
        wide, high = self.cell
        return np.repeat(np.repeat(self.colours, high, 0), wide, 1)[:height, :width]


def of_maps(maps: Maps) -> dict[str, Overlay]:
    """Those of what has been counted, by name."""
    return {
        "triangles": counts("triangles a tile", "triangles", maps.triangles, maps.tile),
        "overdraw": counts("overdraw", "times shaded", maps.overdraw, (1, 1)),
        "overshading": counts("quad overshading", "quads shaded", maps.overshading, (2, 2)),
        "hiz": outcomes(maps.outcomes, maps.tile),
    }


def counts(title: str, unit: str, values: np.ndarray, cell: tuple[int, int]) -> Overlay:
    """Numbers, dark to bright on a logarithmic scale."""
    most = int(max(values.max(initial=0), 1))
    marks = np.unique(np.rint(np.expm1(np.linspace(0, np.log1p(most), STEPS)))).astype(int)
    ramp = _ramp(np.log1p(marks) / np.log1p(most))
    legend = [Entry(tuple(map(int, it)), f"{mark:,}") for it, mark in zip(ramp, marks, strict=True)]
    colours = _ramp(np.log1p(values) / np.log1p(most))
    return Overlay(title, unit, cell, colours, legend, {"": values})


def outcomes(found: dict[Outcome, np.ndarray], cell: tuple[int, int]) -> Overlay:
    """What HiZ found of the triangles of a tile: a colour each, mixed by how often."""
    total = sum(found.values())
    mixed = sum(count[..., None] * np.array(OUTCOME_COLOURS[it]) for it, count in found.items())
    mixed = mixed / np.maximum(total, 1)[..., None]
    colours = np.where(total[..., None] > 0, mixed, DARK).astype(np.uint8)
    legend = [Entry(OUTCOME_COLOURS[it], name) for it, name in _OUTCOMES.items()]
    values = {name: found[it] for it, name in _OUTCOMES.items()}
    return Overlay("HiZ outcome", "triangles of a tile", cell, colours, legend, values)


def modes(coded: np.ndarray, cell: tuple[int, int]) -> Overlay:
    """How tiles of depths lie in memory.

    ``coded`` is a :class:`~fixfunc.spec.state.TileMode` of every tile: uint8, (rows, columns).
    """
    table = np.zeros((16, 3), np.uint8)
    names = {}
    for numbers, (colour, text) in _MODES.items():
        table[list(numbers)] = colour
        names |= dict.fromkeys(map(int, numbers), text)
    legend = [Entry(*entry) for entry in _MODES.values()]
    return Overlay(
        "coding of depths", "mode of a tile", cell, table[coded], legend, {"": coded}, names
    )


def depths(values: np.ndarray) -> Overlay:
    """Depths of the first sample of each pixel, near to far: float32, shape (height, width)."""
    finite = values[np.isfinite(values)]
    is_drawn = finite < 1
    low, high = (
        (float(end(finite[is_drawn])) for end in (np.min, np.max)) if is_drawn.any() else (0, 1)
    )
    share = np.clip((high - np.nan_to_num(values, nan=1.0)) / max(high - low, 1e-30), 0, 1)
    grey = np.where(values < 1, 40 + 215 * share, 0).astype(np.uint8)
    legend = [
        Entry((255,) * 3, f"near, {low:.6f}"),
        Entry((40,) * 3, f"far, {high:.6f}"),
        Entry((0,) * 3, "1, or beyond"),
    ]
    return Overlay(
        "depth", "0 near, 1 far", (1, 1), np.repeat(grey[..., None], 3, 2), legend, {"": values}
    )


def stencils(values: np.ndarray) -> Overlay:
    """Stencil values of the first sample of each pixel: uint8, shape (height, width)."""
    found = np.unique(values)
    table = _ramp(np.arange(256) / max(int(found.max(initial=0)), 1))
    shown = (
        found if len(found) <= STEPS else found[np.linspace(0, len(found) - 1, STEPS).astype(int)]
    )
    legend = [Entry(tuple(map(int, table[value])), f"{value}") for value in shown]
    return Overlay("stencil", "value", (1, 1), table[values], legend, {"": values})


def levels(values: np.ndarray) -> Overlay:
    """Levels of detail of the base texture: float32, shape (height, width); NaN where none is."""
    is_read = np.isfinite(values)
    most = float(max(values[is_read].max(initial=0), 1))
    colours = np.where(is_read[..., None], _ramp(np.nan_to_num(values) / most), 0).astype(np.uint8)
    marks = np.linspace(0, most, STEPS)
    ramp = _ramp(marks / most)
    legend = [
        Entry(tuple(map(int, it)), f"{mark:.1f}") for it, mark in zip(ramp, marks, strict=True)
    ]
    legend.append(Entry((0, 0, 0), "no texture"))
    return Overlay("texture level", "level, 0 the largest", (1, 1), colours, legend, {"": values})


def _ramp(share):
    """Colours of shares of 0 to 1: uint8, with an axis more."""
    place = np.clip(share, 0, 1) * (len(RAMP) - 1)
    low = np.minimum(place.astype(int), len(RAMP) - 2)
    return (RAMP[low] + (place - low)[..., None] * (RAMP[low + 1] - RAMP[low])).astype(np.uint8)
