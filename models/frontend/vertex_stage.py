# SPDX-License-Identifier: BSD-2-Clause
"""Vertex stage: a port to a shader, which takes waves of 32 vertices and returns their results."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from fixfunc.models.frontend.vertex_cache import BATCH
from fixfunc.spec.errors import InputError

LANES = BATCH
ATTRIBUTES = 16  # vec4 of a vertex, at most


class VertexWaves(NamedTuple):
    """Waves for a vertex shader: lanes that are masked out hold zeros, and their results vanish."""

    registers: Mapping[int, np.ndarray]  # uint32, shape (w, 32, 4)
    vertex: np.ndarray  # uint32, shape (w, 32): VertexID
    instance: np.ndarray  # uint32, shape (w, 32): InstanceID
    mask: np.ndarray  # bool, shape (w, 32)

    def floats(self, register: int) -> np.ndarray:
        """A register as float32, shape (w, 32, 4); one that nothing feeds raises ``InputError``."""
        if register not in self.registers:
            raise InputError("register", "be fed by the input layout", register)
        return self.registers[register].view(np.float32)


class VertexResults(NamedTuple):
    """What a vertex shader returns; a field that is missing has no channels."""

    position: np.ndarray  # float32, shape (w, 32, 4): clip space
    attributes: np.ndarray | None = None  # 32 bits each, shape (w, 32, a, 4)
    clip_distances: np.ndarray | None = None  # float32, shape (w, 32, c)
    cull_distances: np.ndarray | None = None  # float32, shape (w, 32, c)


class Vertices(NamedTuple):
    """Shaded vertices, in the order of the ring's slots."""

    position: np.ndarray  # float32, shape (n, 4)
    attributes: np.ndarray  # uint32, shape (n, a, 4)
    clip_distances: np.ndarray  # float32, shape (n, c)
    cull_distances: np.ndarray  # float32, shape (n, c)


def shade(
    shader: Callable[[VertexWaves], VertexResults],
    registers: Mapping[int, np.ndarray],
    vertex: np.ndarray,
    instance: np.ndarray,
    batch: np.ndarray,
) -> Vertices:
    """Send vertices to a shader.

    Parameters
    ----------
    shader : callable
        It may be asked of all waves at once: no wave sees another one.
    registers : mapping of register to ndarray of uint32, shape (n, 4)
    vertex, instance : ndarray of uint32, shape (n,)
    batch : ndarray of intp, shape (n,)
        In order, each of at most 32 vertices: a batch is a wave.

    Returns
    -------
    Vertices

    Raises
    ------
    InputError
        A result of another shape or type.
    """
    waves = int(batch[-1]) + 1 if len(batch) else 0
    place = batch, np.arange(len(batch)) - np.searchsorted(batch, batch)
    results = shader(
        VertexWaves(
            {number: spread(values, place, waves) for number, values in registers.items()},
            spread(np.asarray(vertex, np.uint32), place, waves),
            spread(np.asarray(instance, np.uint32), place, waves),
            spread(np.ones(len(batch), bool), place, waves),
        )
    )
    return collected(results, place, waves)


def spread(values: np.ndarray, place: tuple[np.ndarray, np.ndarray], waves: int) -> np.ndarray:
    """Values on lanes of waves, zeros elsewhere: shape (waves, 32, ...)."""
    out = np.zeros((waves, LANES, *values.shape[1:]), values.dtype)
    out[place] = values
    return out


def collected(results: VertexResults, place: tuple[np.ndarray, np.ndarray], waves: int) -> Vertices:
    """Results of lanes, in order; those of another shape or type raise ``InputError``."""
    of_kind(results, VertexResults)
    position = checked("position", results.position, np.float32, (waves, LANES, 4))
    attributes = results.attributes
    if attributes is None:
        attributes = np.zeros((waves, LANES, 0, 4), np.uint32)
    array("attributes", attributes)
    count = attributes.shape[2] if attributes.ndim == 4 else 0
    if count > ATTRIBUTES or attributes.dtype.itemsize != 4:
        raise InputError("attributes", f"be at most {ATTRIBUTES} of 32 bits", attributes.shape)
    attributes = checked("attributes", attributes, attributes.dtype, (waves, LANES, count, 4))
    distances = [
        _distances(name, getattr(results, name), waves)
        for name in ("clip_distances", "cull_distances")
    ]
    return Vertices(
        position[place],
        np.ascontiguousarray(attributes[place]).view(np.uint32),
        *(values[place] for values in distances),
    )


def _distances(name, values, waves):
    """Clip or cull distances, none if the shader has none."""
    if values is None:
        return np.zeros((waves, LANES, 0), np.float32)
    array(name, values)
    return checked(name, values, np.float32, (waves, LANES, *values.shape[2:3]))


def of_kind(results: object, kind: type) -> None:
    """Raise ``InputError`` for results of a shader that are of another class."""
    if not isinstance(results, kind):
        raise InputError("results of a shader", f"be {kind.__name__}", type(results).__name__)


def array(name: str, values: object) -> None:
    """Raise ``InputError`` for what is no array."""
    if not isinstance(values, np.ndarray | np.generic):
        raise InputError(name, "be an array", type(values).__name__)


def checked(name: str, values: np.ndarray, dtype: np.dtype | type, shape: tuple) -> np.ndarray:
    """An array of a type and a shape; another one raises ``InputError``."""
    array(name, values)
    if values.dtype != dtype or values.shape != shape:
        found = f"{values.dtype} of {values.shape}"
        raise InputError(name, f"be {np.dtype(dtype)} of shape {shape}", found)
    return values
