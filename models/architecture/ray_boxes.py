# SPDX-License-Identifier: BSD-2-Clause
"""A ray-box unit: slabs in few bits, and never a box that is missed by mistake [rtr 23.11].

Everything is an integer, on the grid of the scene: 16 bits a coordinate. Boxes lose bits outwards,
reciprocals of directions are kept as two bounds of few bits.
"""

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

GRID = 1 << 16  # coordinates of boxes are 0 to GRID
FAR = 1 << 17  # origins lie within this of 0, on either side
STEEPEST = 1 << 15  # of a direction's components, either sign
POINT = 32  # fraction bits of a reciprocal

RAY = np.dtype([("origin", "i8", 3), ("direction", "i8", 3)])
BOX = np.dtype([("low", "i8", 3), ("high", "i8", 3)])


def check_rays(rays: np.ndarray) -> None:
    """Refuse rays that the unit does not take."""
    if rays.dtype != RAY:
        raise InputError("rays", "be of RAY", rays.dtype)
    for name, most in (("origin", FAR), ("direction", STEEPEST)):
        found = np.abs(rays[name]).max(initial=0)
        if found > most:
            raise InputError(name, f"lie in {-most}..{most}", int(found))
    if not rays["direction"].any(-1).all():
        raise InputError("direction", "not be zero", (0, 0, 0))


def check_boxes(boxes: np.ndarray) -> None:
    """Refuse boxes that are none: outside of the grid, or with a side below nothing."""
    if boxes.dtype != BOX:
        raise InputError("boxes", "be of BOX", boxes.dtype)
    least = boxes["low"].min(initial=0)
    most = boxes["high"].max(initial=0)
    if least < 0 or most > GRID:
        raise InputError("boxes", f"lie in 0..{GRID}", int(least if least < 0 else most))
    if (boxes["low"] > boxes["high"]).any():
        raise InputError("boxes", "not have a low above its high", "one")


def reduced(boxes: np.ndarray, parents: np.ndarray, bits: int) -> np.ndarray:
    """Boxes as their nodes hold them: each side a number of steps from the parent's low corner.

    A step is the power of two by which the parent's side is at most 2^bits steps. Low sides are
    rounded down, high sides up, so that a box is never smaller than it was.

    Parameters
    ----------
    boxes, parents : ndarray of BOX, shape (n,)
        A box lies within its parent, as the parent's node holds it.
    bits : int
        Of a side, 1 to 16.

    Returns
    -------
    ndarray of BOX, shape (n,)
        What a node's bits stand for; within the parent's steps, not always within the parent.
    """
    integer("bits", bits, 1, 16)
    side = parents["high"] - parents["low"]
    # Of a side of up to 2^bits units the step is one unit.
    shift = np.zeros(side.shape, np.int64)
    while (over := side > (np.int64(1) << (shift + bits))).any():
        shift += over
    found = np.empty(boxes.shape, BOX)
    low = boxes["low"] - parents["low"]
    high = boxes["high"] - parents["low"]
    found["low"] = parents["low"] + (low >> shift << shift)
    found["high"] = parents["low"] + (-(-high >> shift) << shift)
    return found


def reciprocals(size: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of 2^32 over a size: not above it, and above it; the highest bits alone.

    Parameters
    ----------
    size : ndarray of int64
        1 to 2^15; of 0 both bounds are those of 1, and mean nothing.
    bits : int
        Of a bound, 2 to 33.
    """
    integer("bits", bits, 2, POINT + 1)
    exact = (np.int64(1) << POINT) // np.maximum(size, 1)
    shift = np.zeros(exact.shape, np.int64)
    while (over := exact >> shift >= np.int64(1) << bits).any():
        shift += over
    low = exact >> shift
    return low << shift, low + 1 << shift


def hits(rays: np.ndarray, boxes: np.ndarray, bits: int = 12) -> np.ndarray:
    """Whether rays meet boxes: never no where they do; rarely yes where they do not.

    A ray begins at its origin and has no end; faces belong to a box.

    Parameters
    ----------
    rays : ndarray of RAY, shape (...)
    boxes : ndarray of BOX
        Of a shape that broadcasts with that of the rays.
    bits : int
        Of the reciprocals.

    Returns
    -------
    ndarray of bool
    """
    check_rays(rays)
    direction = rays["direction"]
    backwards = direction < 0
    low = boxes["low"] - rays["origin"]
    high = boxes["high"] - rays["origin"]
    # Distances along the direction: backwards the far side comes first, with the other sign.
    near = np.where(backwards, -high, low)
    far = np.where(backwards, -low, high)
    less, more = reciprocals(np.abs(direction), bits)
    still = direction == 0
    enter = np.where(still, 0, near * np.where(near < 0, more, less))
    leave = np.where(still, np.int64(1) << 62, far * np.where(far < 0, less, more))
    beside = still & ((near > 0) | (far < 0))
    return (np.maximum(enter.max(-1), 0) <= leave.min(-1)) & ~beside.any(-1)
