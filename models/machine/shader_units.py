# SPDX-License-Identifier: BSD-2-Clause
"""Shader units: what a stage hands to its shader goes to clusters in batches.

Batches finish in any order, and their results come back in API order.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.models.frontend.compute_stage import ComputeWaves
from fixfunc.models.frontend.vertex_stage import LANES, VertexWaves
from fixfunc.models.frontend.work_distributor import Distributor
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.payload import integer
from fixfunc.models.pixel.pixel_inputs import Evaluator, PixelQuads
from fixfunc.models.tessellation.stages import DomainWaves
from fixfunc.spec.errors import InputError

# Lanes of a row of a stage's inputs; a patch, or a primitive, is one.
OF_A_ROW = {VertexWaves: LANES, DomainWaves: LANES, ComputeWaves: LANES, PixelQuads: 4}


def oldest(_in_flight: int) -> int:
    """Batches finish in the order in which they were given away."""
    return 0


class Shaded(NamedTuple):
    """A batch that a shader has finished."""

    first: int  # row of the inputs
    rows: int
    results: Any


@dataclass(frozen=True)
class ShaderUnits:
    """Clusters of shaders behind the work distributor.

    Parameters
    ----------
    clusters, room : int
        As :class:`~fixfunc.models.frontend.work_distributor.Distributor` takes them.
    lanes : int
        Of a batch, at most: it has whole waves, quads, patches, primitives and thread groups, one
        at least.
    finishes : callable
        Takes how many batches are in flight, oldest first; returns which of them finishes next.

    A batch is shaded when it finishes: what it writes by unordered access comes in that order, as
    between waves on hardware [fs 5.3.9].
    """

    clusters: int = 4
    room: int = 2
    lanes: int = 1 << 15
    finishes: Callable[..., int] = oldest

    def __post_init__(self):
        check_types(self)
        integer("lanes", self.lanes, 1, 1 << 30)
        Distributor(self.clusters, self.room)

    def run(self, function: Callable[..., Any], bound: object, inputs: Any) -> Any:
        """What a shader makes of a stage's inputs, and of what is bound to the stage.

        Raises
        ------
        InputError
            Results of batches that do not fit together; those of one are checked by their stage.
        """
        rows = len(next(value for value in _values(inputs) if isinstance(value, np.ndarray)))
        size = max(self.lanes // OF_A_ROW.get(type(inputs), 1), 1)
        if isinstance(inputs, ComputeWaves):
            group = -(-prod(inputs.threads) // LANES)
            size = max(size // group, 1) * group
        shaded = self._distributed(
            [(first, min(size, rows - first)) for first in range(0, max(rows, 1), size)],
            lambda first, count: function(_taken(inputs, slice(first, first + count)), bound),
        )
        return shaded[0].results if len(shaded) == 1 else _joined(shaded)

    def _distributed(self, batches, shade):
        """Batches that have been shaded, in API order."""
        distributor = Distributor(self.clusters, self.room)
        waiting = deque(batches)
        in_flight = []
        results = {}
        left = []
        while waiting or in_flight:
            while waiting and len(in_flight) < self.clusters * self.room:
                in_flight.append(distributor.give(waiting.popleft()))
            done = in_flight.pop(self.finishes(len(in_flight)))
            results[done.ticket] = shade(*done.batch)
            left += distributor.finish(done)
        return [Shaded(*one.batch, results[one.ticket]) for one in left]


def _values(inputs):
    """Fields of a stage's inputs, or of a shader's results."""
    if is_dataclass(inputs):
        return [getattr(inputs, field.name) for field in fields(inputs)]
    return list(inputs)


def _taken(inputs, rows):
    """Some rows of a stage's inputs."""
    return type(inputs)(*(_rows(value, rows) for value in _values(inputs)))


def _rows(value, rows):
    """Some rows of a field; what all rows share stays."""
    if isinstance(value, np.ndarray):
        return value[rows]
    if isinstance(value, Mapping):
        return {name: values[rows] for name, values in value.items()}
    return value.take(rows) if isinstance(value, Evaluator) else value


def _joined(shaded):
    """Results of batches as those of one."""
    first = shaded[0].results
    if isinstance(first, Emitted):
        shaded = [_numbered(batch) for batch in shaded]
    elif type(first) in (list, tuple):
        return [
            _joined([batch._replace(results=results) for batch, results in zip(shaded, streams)])
            for streams in _alike([batch.results for batch in shaded])
        ]
    elif not hasattr(first, "_fields"):
        return first  # its stage refuses it, or does not look at it
    return type(first)(
        *(
            _field(name, values, None if isinstance(first, Emitted) else shaded)
            for name, values in zip(first._fields, _alike([batch.results for batch in shaded]))
        )
    )


def _numbered(batch):
    """Emitted vertices with the numbers that their invocations have among those of all batches."""
    invocation = np.asarray(batch.results.invocation)
    if invocation.size and not 0 <= invocation.min() <= invocation.max() < batch.rows:
        raise InputError("invocation", f"be in order, below {batch.rows}", invocation)
    return batch._replace(results=batch.results._replace(invocation=invocation + batch.first))


def _field(name, values, shaded):
    """A field of all batches; ``shaded`` tells how many rows each has."""
    if all(value is None for value in values):
        return None
    if all(isinstance(value, list | tuple) for value in values):
        return [_field(name, parts, shaded) for parts in _alike(values)]
    found = [np.asarray(value) for value in values]
    if len({(value.dtype, value.shape[1:], value.ndim > 0) for value in found}) > 1:
        kinds = [f"{value.dtype} of {value.shape}" for value in found]
        raise InputError(name, "have one type and one shape in all batches", kinds)
    if shaded and [len(value) for value in found] != [batch.rows for batch in shaded]:
        rows = [batch.rows for batch in shaded]
        raise InputError(name, f"have rows as batches have, {rows}", [len(v) for v in found])
    return np.concatenate(found)


def _alike(results):
    """Fields of all batches, field by field; those of other kinds raise ``InputError``."""
    kinds = {(type(one), len(one) if hasattr(one, "__len__") else 0) for one in results}
    if len(kinds) > 1:
        names = sorted(kind.__name__ for kind, _ in kinds)
        raise InputError("results of a shader", "be alike in all batches", names)
    return list(zip(*results, strict=True))
