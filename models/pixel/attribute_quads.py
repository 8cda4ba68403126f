# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the interpolator's block: quads, each with the attributes of its triangle."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.pixel import interpolator
from fixfunc.models.pixel.pixel_inputs import CENTRE, Locations
from fixfunc.models.pixel.quads import ALL, Quads
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, Where, attribute_quad
from fixfunc.spec.points import QUAD, QUAD_SAMPLES

FOUR = np.uint32(0x01010101)  # times a mask: that of four pixels
WHERE = {Where.CENTRE: "centre", Where.CENTROID: "centroid", Where.SAMPLE: "sample"}


class Beats(NamedTuple):
    """What goes into the block, by kind, and whose everything is."""

    corners: np.ndarray  # structured, shape (t,)
    attributes: np.ndarray  # structured, shape (a,): in order
    attribute_of: np.ndarray  # intp, shape (a,): the triangle of each, not descending
    quads: np.ndarray  # structured, shape (q,)
    quad_of: np.ndarray  # intp, shape (q,)


def interpolate(beats: Beats, components: int = len(COMPONENTS)) -> np.ndarray:
    """Quads with their attributes.

    Parameters
    ----------
    beats : Beats
        In the layouts of :mod:`fixfunc.spec.pixels.interpolation`.
    components : int
        Of an attribute in one record.

    Returns
    -------
    structured ndarray
        As :func:`fixfunc.spec.pixels.interpolation.attribute_quad`: quad by quad, attribute by
        attribute. A quad of a triangle without any is there once, with zeros. Samples that the
        sample mask leaves out are not covered [fs 3.5.5, 16.3.2].
    """
    covered = beats.quads["covered"] & FOUR * beats.corners["sample_mask"][beats.quad_of]
    beats = beats._replace(quads=beats.quads.copy())
    beats.quads["covered"] = covered
    parts = len(COMPONENTS) // components
    counts = np.bincount(beats.attribute_of, minlength=len(beats.corners))
    first = np.concatenate([[0], np.cumsum(counts)])
    own = counts[beats.quad_of]
    times = np.maximum(own, 1) * np.where(own, parts, 1)
    quad = np.repeat(np.arange(len(beats.quads)), times)
    step = np.arange(len(quad)) - np.repeat(np.cumsum(times) - times, times)
    out = np.zeros(len(quad), dtype(attribute_quad(components)))
    for field in QUAD:
        out[field.name] = beats.quads[field.name][quad]
    out["attribute"], out["part"] = np.divmod(step, parts)
    out["end"] = step == times[quad] - 1
    out["inner"] = _inner(beats)[quad]
    asks = own[quad] > 0
    attribute = first[beats.quad_of[quad[asks]]] + step[asks] // parts
    values = np.zeros((len(quad), 4, len(COMPONENTS)), np.uint32)
    values[asks] = _values(beats, quad[asks], attribute)
    for pixel in range(4):
        for n in range(components):
            lane = out["part"] * components + n
            out[f"p{pixel}_{n}"] = values[np.arange(len(quad)), pixel, lane]
    return out


def _inner(beats):
    """Inner coverage of quads: uint8, shape (q,)."""
    corners = beats.corners[beats.quad_of]
    x, y = (
        256 * (beats.quads[axis].astype(np.int64)[:, None] + step) + CENTRE
        for axis, step in (("x", [0, 1, 0, 1]), ("y", [0, 0, 1, 1]))
    )
    found = interpolator.inside(_corners(corners), x.ravel(), y.ravel()).reshape(-1, 4)
    return (found * [1, 2, 4, 8]).sum(1).astype(np.uint8) * corners["conservative"]


def _corners(corners):
    """Corners of the triangle of each of a quad's pixels."""
    rhw = np.stack([corners[f"rhw{k}"] for k in range(3)], -1).astype(np.uint32).view(np.float32)
    four = np.repeat(np.arange(len(corners)), 4)
    return interpolator.Corners(*(its[four] for its in interpolator.corners(corners, rhw)))


def _values(beats, quad, attribute):
    """An attribute of each of some quads: uint32, shape (n, 4, 4)."""
    given = beats.attributes[attribute]
    corners = beats.corners[beats.quad_of[quad]]
    quads = beats.quads[quad]
    values = np.stack([[given[f"{name}{k}"] for name in COMPONENTS] for k in range(3)])
    values = values.transpose(2, 0, 1).astype(np.uint32)
    found = np.broadcast_to(values[:, None, 0], (len(quad), 4, len(COMPONENTS))).copy()
    for how in (How.LINEAR, How.PERSPECTIVE):
        for where, name in WHERE.items():
            some = (given["how"] == how) & (given["where"] == where)
            for samples in np.unique(quads["samples"][some]):
                for mask in np.unique(corners["sample_mask"][some]):
                    these = np.flatnonzero(
                        some & (quads["samples"] == samples) & (corners["sample_mask"] == mask)
                    )
                    x, y = _places(quads[these], int(samples), int(mask), name)
                    found[these] = _of(corners[these], values[these], x, y, how)
    return found


def _places(quads, samples, mask, where):
    """Positions of quads' pixels: s15.8, two of shape (4 q,)."""
    count = 1 << samples
    bits = quads["covered"][:, None] >> QUAD_SAMPLES * np.arange(4, dtype=np.uint32) & 255
    coverage = (bits[..., None] >> np.arange(count, dtype=np.uint32) & 1).astype(bool)
    coverage = coverage.reshape(len(quads), 2, 2, count)
    sample = np.where(quads["by_sample"], quads["sample"].astype(np.int64), ALL)
    x, y = (quads[axis].astype(np.int64) for axis in "xy")
    split = Quads(np.arange(len(quads)), x, y, coverage, sample)
    locations = Locations(split, coverage, mask)
    return locations.at(locations.offsets(where))


def _of(corners, values, x, y, how):
    """Attributes at positions: uint32, shape (q, 4, 4)."""
    four = np.repeat(np.arange(len(corners)), 4)
    at = _corners(corners)
    shares = interpolator.ONE * np.float64(1)
    second, third = (np.stack([corners[f"{n}{k}"] for k in range(3)], -1) / shares for n in "uv")
    whole = np.broadcast_to(np.eye(3), (len(corners), 3, 3))
    original = np.stack([1 - second - third, second, third], -1)
    original = np.where(corners["cut"][:, None, None] == 1, original, whole)[four]
    weights = interpolator.weights(at, x, y, how == How.PERSPECTIVE, original)
    found = interpolator.attributes(values[four].view(np.float32), weights)
    return np.ascontiguousarray(found).view(np.uint32).reshape(len(corners), 4, len(COMPONENTS))
