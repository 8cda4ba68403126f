# SPDX-License-Identifier: BSD-2-Clause
"""Patches to triangles: hull stage, tessellator, domain matching, and the domain stage on waves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.domain_matching import ONE, DomainMatchingUnit, MatchCounters
from fixfunc.models.tessellation.tessellator import FACTORS, tessellate
from fixfunc.models.tessellation.wave_constructor import Wave, WaveConstructor
from fixfunc.spec.errors import InputError
from fixfunc.spec.points import DOMAIN_POINT
from fixfunc.spec.state import PointKind

PATCH_LIMIT = 1 << 16


@dataclass
class PatchDraw:
    """A draw of patches.

    Parameters
    ----------
    control : ndarray, shape (patches, ...)
        Control points of each patch, in the form that both stages expect.
    hull : callable
        Function of ``control``; it returns outer and inner factors, two arrays of shapes (patches,
        outer) and (patches, inner).
    domain : callable
        Function of the control points of each lane's patch, shape (lanes, ...), and of (u, v) as
        float64, shape (lanes, 2); it returns positions, shape (lanes, 3). It is called for one wave
        at a time.
    kind : "triangle" or "quad"
        Domain of the patches.
    partitioning : str
        A partitioning of :func:`fixfunc.models.tessellation.tessellator.tessellate`.
    """

    control: np.ndarray
    hull: Callable
    domain: Callable
    kind: str = "quad"
    partitioning: str = "fractional_odd"


class Tessellated(NamedTuple):
    """A tessellated draw, as :func:`run` returns it."""

    vertices: np.ndarray  # float32, shape (n, 3): one for each lane that was shaded
    faces: np.ndarray  # int64, shape (m, 3)
    places: np.ndarray  # int64, shape (n, 3): patch, u and v of each vertex, 1.16
    points: np.ndarray  # DOMAIN_POINT beats into the domain-matching unit, with an END
    counters: MatchCounters
    waves: int


def run(draw: PatchDraw) -> Tessellated:
    """Tessellate and shade a draw.

    Raises
    ------
    InputError
        The tessellator refuses the factors or the domain; the draw has isolines, which are no
        triangles; or it has more than 65536 patches.
    """
    if draw.kind not in ("triangle", "quad"):
        raise InputError("domain of a draw of triangles", "be triangle or quad", draw.kind)
    outer, inner = (
        np.asarray(factors, np.float32).reshape(len(draw.control), count)
        for factors, count in zip(draw.hull(draw.control), FACTORS[draw.kind], strict=True)
    )
    divided = divide(outer, inner, draw.kind, draw.partitioning, "triangle_cw")
    shaded = [np.zeros((0, 3))]
    for wave in divided.waves:
        patch, u, v = np.array(wave.points, np.int64).T
        shaded.append(draw.domain(draw.control[patch], np.stack([u, v], -1) / ONE))
    return Tessellated(
        np.concatenate(shaded).astype(np.float32),
        divided.primitives,
        divided.vertices,
        divided.points,
        divided.counters,
        len(divided.waves),
    )


class Divided(NamedTuple):
    """Divided patches, as :func:`divide` returns them."""

    points: np.ndarray  # DOMAIN_POINT beats into the domain-matching unit, with an END
    vertices: np.ndarray  # int64, shape (n, 3): patch, u and v, 1.16, of each vertex to be shaded
    primitives: np.ndarray  # int64, shape (m, 1 to 3): vertices, in order of drawing
    patch: np.ndarray  # int64, shape (m,): of each primitive
    waves: list[Wave]  # of the vertices, in their order
    counters: MatchCounters


def divide(
    outer: np.ndarray, inner: np.ndarray, kind: str, partitioning: str, output: str
) -> Divided:
    """Divide patches, and match points that several primitives share.

    Parameters
    ----------
    outer, inner : ndarray of float32, shapes (patches, outer) and (patches, inner)
        Factors.
    kind, partitioning, output : str
        As :func:`fixfunc.models.tessellation.tessellator.tessellate` takes them.

    Returns
    -------
    Divided
        A patch that is culled has no primitive [fs 11.7.12].

    Raises
    ------
    InputError
        The tessellator refuses a name, or there are more than 65536 patches.
    """
    if len(outer) > PATCH_LIMIT:
        raise InputError("patches", f"be at most {PATCH_LIMIT}", len(outer))
    streams = []
    corners = {"point": 1, "line": 2}.get(output, 3)
    for n in range(len(outer)):
        patch = tessellate(kind, outer[n], inner[n], partitioning, output)
        records = np.zeros(patch.primitives.size, dtype(DOMAIN_POINT))
        records["u"], records["v"] = patch.points[patch.primitives.ravel()].T
        records["patch"] = n
        records["first"][:1] = 1
        streams.append(records)
    streams.append(np.zeros(1, dtype(DOMAIN_POINT)))
    streams[-1]["kind"] = PointKind.END
    points = np.concatenate(streams)
    unit, waves, order = _match(points[:-1])
    vertices = np.array([point for wave in waves for point in wave.points], np.int64)
    return Divided(
        points,
        vertices.reshape(-1, 3),
        order.reshape(-1, corners),
        points["patch"][:-1:corners].astype(np.int64),
        waves,
        unit.counters,
    )


def _match(points):
    """Match points: the unit, its waves, and the index of each point's vertex.

    Vertices are numbered in the order of the waves.
    """
    unit = DomainMatchingUnit()
    constructor = WaveConstructor()
    waves = []
    order = []
    vertex = {}
    for first, patch, u, v in zip(
        *(points[name].tolist() for name in ("first", "patch", "u", "v")), strict=True
    ):
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
