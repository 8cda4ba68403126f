# SPDX-License-Identifier: BSD-2-Clause
"""Scalar twins in exact integers: slow, and too plain to be wrong in the same way."""

# 1/16 pixel from the centre, by samples of a pixel: typed once more, from the specification.
POSITIONS = {
    1: [(0, 0)],
    2: [(4, 4), (-4, -4)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
}


def covered(triangle, x, y):
    """Whether a triangle, corners in 1/256 pixel, owns a point: inside, on a top or a left edge."""
    (x0, y0), (x1, y1), (x2, y2) = ((int(a), int(b)) for a, b in triangle)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return False
    corners = [(x0, y0), (x1, y1), (x2, y2)] if area > 0 else [(x0, y0), (x2, y2), (x1, y1)]
    for k in range(3):
        ax, ay = corners[k]
        bx, by = corners[(k + 1) % 3]
        side = (ay - by) * (x - ax) + (bx - ax) * (y - ay)
        top = ay == by and bx > ax
        left = by < ay
        if side < 0 or (side == 0 and not (top or left)):
            return False
    return True


def sample_points(width, height, samples):
    """(row, column, sample, x, y) of every sample, x and y in 1/256 pixel."""
    for row in range(height):
        for column in range(width):
            for n, (dx, dy) in enumerate(POSITIONS[samples]):
                yield row, column, n, 256 * column + 128 + 16 * dx, 256 * row + 128 + 16 * dy


def compare(function, new, old):
    """A comparison by its number, in the order of D3D11."""
    signs = (), (-1,), (0,), (-1, 0), (1,), (-1, 1), (0, 1), (-1, 0, 1)
    return (new > old) - (new < old) in signs[function]


def operate(operation, old, ref):
    """A stencil operation by its number, in the order of D3D11."""
    saturated = min(old + 1, 255), max(old - 1, 0)
    return (old, 0, ref, *saturated, old ^ 255, (old + 1) % 256, (old - 1) % 256)[operation]


def tested(state, face, new, depth, stencil):
    """One sample that its shader has kept, as if tested after it: passed, depth, stencil value.

    ``state``: plain integers by name; ``face``: "front" or "back"; ``new``: what it is tested with.
    """
    depth_passes = not state["depth_test"] or compare(state["depth_compare"], new, depth)
    stencil_passes = True
    if state["stencil_test"]:
        read = state["stencil_read"]
        function = state[f"stencil_{face}_func"]
        stencil_passes = compare(function, state["stencil_ref"] & read, stencil & read)
        name = "fail" if not stencil_passes else "pass" if depth_passes else "depth_fail"
        changed = operate(state[f"stencil_{face}_{name}"], stencil, state["stencil_ref"])
        write = state["stencil_write"]
        stencil = (stencil & ~write) | (changed & write)
    passed = stencil_passes and depth_passes
    written = passed and state["depth_test"] and state["depth_write"]
    return passed, new if written else depth, stencil
