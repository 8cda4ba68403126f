# SPDX-License-Identifier: BSD-2-Clause
"""Patches to triangles: hull stage, tessellator, domain matching, and the domain stage on waves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.domain_matching import ONE, DomainMatchingUnit, MatchCounters
from fixfunc.models.tessellation.tessellator import FACTORS, tessellate
from fixfunc.models.tessellation.wave_constructor import WaveConstructor
from fixfunc.spec.errors import InputError
from fixfunc.spec.points import DOMAIN_POINT
from fixfunc.spec.state import PointKind

MOST_PATCHES = 1 << 16


@dataclass
class PatchDraw:
    """A draw of patches.

    Parameters
    ----------
    control : ndarray, shape (patches, ...)
        Control points of each patch, as both stages want them.
    hull : callable
        ``control`` -> outer and inner factors: two arrays, shapes (patches, outer), (patches, inner).
    domain : callable
        Control points of the patch of each lane, shape (lanes, ...), and (u, v) as float64, shape (lanes, 2) -> positions,
        shape (lanes, 3). It is called for one wave at a time.
    kind : "triangle" or "quad"
    partitioning
        As of :func:`fixfunc.models.tessellation.tessellator.tessellate`.
    """

    control: np.ndarray
    hull: Callable
    domain: Callable
    kind: str = "quad"
    partitioning: str = "fractional_odd"


class Tessellated(NamedTuple):
    """What :func:`run` returns."""

    vertices: np.ndarray  # float32, shape (n, 3): once for each time that the domain stage shaded it
    faces: np.ndarray  # int64, shape (m, 3)
    places: np.ndarray  # int64, shape (n, 3): patch, u, v of each vertex, 1.16
    points: np.ndarray  # what entered the domain-matching unit, as fixfunc.spec.points.DOMAIN_POINT; an END behind them
    counters: MatchCounters
    waves: int


def run(draw: PatchDraw) -> Tessellated:
    """Tessellate and shade a draw.

    Raises
    ------
    InputError
        Factors, or a domain, that the tessellator refuses; isolines, which are no triangles; more than 65536 patches.
    """
    if draw.kind not in ("triangle", "quad"):
        raise InputError("domain of a draw of triangles", "be triangle or quad", draw.kind)
    if len(draw.control) > MOST_PATCHES:
        raise InputError("patches", f"be at most {MOST_PATCHES}", len(draw.control))
    outer, inner = (np.asarray(factors, np.float32).reshape(len(draw.control), count)
                    for factors, count in zip(draw.hull(draw.control), FACTORS[draw.kind], strict=True))
    streams = []
    for n in range(len(draw.control)):
        found = tessellate(draw.kind, outer[n], inner[n], draw.partitioning, "triangle_cw")
        records = np.zeros(found.primitives.size, dtype(DOMAIN_POINT))
        records["u"], records["v"] = found.points[found.primitives.ravel()].T
        records["patch"], records["first"][:1] = n, 1
        streams.append(records)
    streams.append(np.zeros(1, dtype(DOMAIN_POINT)))
    streams[-1]["kind"] = PointKind.END
    points = np.concatenate(streams)
    unit, waves, order = _match(points[:-1])
    places = np.array([point for wave in waves for point in wave.points], np.int64).reshape(-1, 3)
    shaded = [np.zeros((0, 3))]
    for wave in waves:
        patch, u, v = np.array(wave.points, np.int64).T
        shaded.append(draw.domain(draw.control[patch], np.stack([u, v], -1) / ONE))
    return Tessellated(np.concatenate(shaded).astype(np.float32), order.reshape(-1, 3), places, points, unit.counters, len(waves))


def _match(points):
    """The unit, the waves that it made, and of each point which vertex it is: waves hold them in order."""
    unit, constructor, waves, order, vertex = DomainMatchingUnit(), WaveConstructor(), [], [], {}
    for first, patch, u, v in zip(*(points[name].tolist() for name in ("first", "patch", "u", "v")), strict=True):
        if first:
            unit.start_patch()
        dsid, hit = unit.step((u, v))
        if not hit:
            vertex[dsid] = unit.counters.misses - 1
            waves += constructor.push((patch, u, v), dsid)
        order.append(vertex[dsid])
        unit.release(dsid)
    unit.end_draw()
    return unit, waves + constructor.flush(), np.array(order, np.int64)
