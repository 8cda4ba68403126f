# SPDX-License-Identifier: BSD-2-Clause
"""Hull and domain stage: ports to shaders, with the tessellator between them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.topology import ragged
from fixfunc.models.frontend.vertex_stage import (
    VertexResults,
    Vertices,
    checked,
    collected,
    of_kind,
    spread,
)
from fixfunc.models.tessellation import patches
from fixfunc.models.tessellation.domain_matching import ONE, MatchCounters
from fixfunc.models.tessellation.tessellator import FACTORS


class HullPatches(NamedTuple):
    """Patches for a hull shader, in API order."""

    position: np.ndarray  # float32, shape (p, points, 4)
    attributes: np.ndarray  # uint32, shape (p, points, a, 4)
    primitive: np.ndarray  # uint32, shape (p,): PrimitiveID


class HullResults(NamedTuple):
    """What a hull shader returns."""

    outer: np.ndarray  # float32, shape (p, outer factors)
    inner: np.ndarray  # float32, shape (p, inner factors)
    control: np.ndarray  # shape (p, ...): control points, as the domain shader takes them
    constants: np.ndarray | None = None  # shape (p, ...)


class DomainWaves(NamedTuple):
    """Waves of domain points: lanes that are masked out hold zeros, of patch 0."""

    uv: np.ndarray  # float32, shape (w, 32, 2): exact, of 1.16
    patch: np.ndarray  # int64, shape (w, 32): which of ``hull``
    mask: np.ndarray  # bool, shape (w, 32)
    hull: HullResults


@dataclass(frozen=True)
class Tessellation:
    """Tessellation of a draw [fs 10, 11, 12].

    Parameters
    ----------
    hull : callable
        Takes :class:`HullPatches`, returns :class:`HullResults`.
    domain : callable
        Takes :class:`DomainWaves`, returns
        :class:`~fixfunc.models.frontend.vertex_stage.VertexResults`.
    kind, partitioning, output : str
        As :func:`fixfunc.models.tessellation.tessellator.tessellate` takes them.
    """

    hull: Callable[[HullPatches], HullResults]
    domain: Callable[[DomainWaves], VertexResults]
    kind: str = "quad"
    partitioning: str = "fractional_odd"
    output: str = "triangle_cw"


class Tessellated(NamedTuple):
    """Primitives of patches."""

    vertices: Vertices
    primitives: np.ndarray  # int64, shape (m, 1 to 3): slots
    patch: np.ndarray  # int64, shape (m,): of each primitive, its patch
    counters: MatchCounters


def run(stages: Tessellation, hull_patches: HullPatches) -> Tessellated:
    """Take patches to shaded points, lines or triangles.

    Raises
    ------
    InputError
        A name that the tessellator refuses, or results of another shape or type.
    """
    count = len(hull_patches.primitive)
    results = stages.hull(hull_patches)
    of_kind(results, HullResults)
    factors = [
        checked(name, getattr(results, name), np.float32, (count, number))
        for name, number in zip(("outer", "inner"), FACTORS.get(stages.kind, (0, 0)), strict=True)
    ]
    # A point's patch has 16 bits: what has more patches is divided in several turns.
    limit = patches.PATCH_LIMIT
    turns = [
        _turn(stages, results, [values[first : first + limit] for values in factors], first)
        for first in range(0, max(count, 1), limit)
    ]
    base = np.cumsum([0, *(len(turn.vertices.position) for turn in turns)])
    return Tessellated(
        Vertices(*(np.concatenate(values) for values in zip(*(t.vertices for t in turns)))),
        np.concatenate(
            [turn.primitives + first for turn, first in zip(turns, base[:-1], strict=True)]
        ),
        np.concatenate([turn.patch for turn in turns]),
        MatchCounters(
            **{
                field.name: sum(getattr(turn.counters, field.name) for turn in turns)
                for field in fields(MatchCounters)
            }
        ),
    )


def _turn(stages, results, factors, first):
    """Primitives of some patches, from a number on."""
    divided = patches.divide(*factors, stages.kind, stages.partitioning, stages.output)
    sizes = [len(wave.points) for wave in divided.waves]
    place = ragged(np.array(sizes, np.int64))
    patch, u, v = divided.vertices.T
    patch = patch + first
    # Both are exact: 17 bits.
    uv = np.stack([u, v], -1).astype(np.float32) / np.float32(ONE)
    waves = len(sizes)
    shaded = stages.domain(
        DomainWaves(
            spread(uv, place, waves),
            spread(patch, place, waves),
            spread(np.ones(len(patch), bool), place, waves),
            results,
        )
    )
    return Tessellated(
        collected(shaded, place, waves),
        divided.primitives,
        divided.patch + first,
        divided.counters,
    )
