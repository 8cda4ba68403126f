# SPDX-License-Identifier: BSD-2-Clause
"""Bins of triangle setup: culling, boxes and their cuts, slopes, formats of depth."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import DTYPE, TRIANGLE
from fixfunc.models.state import draw_state
from fixfunc.rtl.geometry.triangle_setup import TriangleSetupParams
from fixfunc.spec import payloads
from fixfunc.spec.state import TARGET_LIMIT, VIEWPORT_MAX, Cull, DepthFormat, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.scenes import HIGH, LOW
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, samples_of
from fixfunc.tb.depth.bins.hiz import states_of
from fixfunc.tb.geometry.triangle_setup import IN

CONFIG = "half"  # multipliers and dividers take turns


def bins(seen: Seen, _params: TriangleSetupParams) -> dict[str, int]:
    """Counts of one batch."""
    work = seen.rows[:, 0] & 3 == Kind.WORK
    triangles = codec.unpack(seen.rows[work], payloads.TRIANGLE, TRIANGLE)
    states = states_of(seen.rows)[work]
    out = seen.out["o"]
    is_setup = out[:, 0] & 3 == Kind.WORK
    records = codec.unpack(out[is_setup], payloads.SETUP, DTYPE)
    out_states = states_of(out)[is_setup]
    forms = of(DepthFormat, out_states["depth_format"])
    samples = samples_of(records["samples"])
    return (
        cross("cull x winding", of(Cull, states["cull"]), winding(triangles), _faces(states))
        | cross("coverage x winding", _coverage(states), winding(triangles))
        | cross("coverage x box", _coverage(out_states), _boxes(records))
        | cross("cull x face", of(Cull, out_states["cull"]), flag(records["back"], "front", "back"))
        | cross("format x samples", forms, samples)
        | cross("format x steep", forms, flag(records["steep"], "flat", "steep"))
        | cross("box cut", cuts(records, out_states))
        | cross("box", _boxes(records))
        | cross("slopes of depth", _signs(records, "zx"), _signs(records, "zy"))
        | cross("corner at an end of its range", _ends(triangles))
        | {
            name: count
            for edge in range(3)
            for name, count in cross(
                f"edge {edge}", _signs(records, f"a{edge}"), _signs(records, f"b{edge}")
            ).items()
        }
    )


def directed(_params: TriangleSetupParams) -> np.ndarray:
    """Viewports and scissors that begin anywhere, each with triangles around its first pixel."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(60):
        corners = np.sort(rng.integers(0, TARGET_LIMIT + 1, (2, 2)), 0)
        far = np.sort(rng.integers(0, VIEWPORT_MAX + 1, (2, 2)), 0)
        state = draw_state(
            *(int(v) for v in rng.integers(1, TARGET_LIMIT + 1, 2)),
            samples=int(rng.choice((1, 2, 4, 8))),
            scissor=tuple(int(v) for v in corners.ravel()),
            viewport=tuple(int(v) for v in far.ravel()),
        )
        triangles = scenes.triangles(rng, 10, 64, 64)
        for axis, first in zip("xy", np.maximum(corners, far)[0], strict=True):
            for k in range(3):
                place = triangles[f"{axis}{k}"].astype(int) + int(first) * 256
                triangles[f"{axis}{k}"] = np.minimum(place, HIGH)
        rows += [
            codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, IN),
            codec.pack(triangles, payloads.TRIANGLE, IN),
        ]
    return np.concatenate(rows)


def _faces(states):
    return flag(states["front_ccw"], "clockwise is front", "counter-clockwise is front")


def _coverage(states):
    return flag(states["conservative"], "of samples", "conservative")


def _signs(records, name):
    value = records[name].astype(np.int64)
    return {f"{name} -": value < 0, f"{name} 0": value == 0, f"{name} +": value > 0}


def winding(triangles: np.ndarray) -> dict[str, np.ndarray]:
    """Winding by twice the area."""
    x, y = ([triangles[f"{axis}{k}"].astype(object) for k in range(3)] for axis in "xy")
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    area = area.astype(float)
    return {"one way": area > 0, "the other": area < 0, "no area": area == 0}


def cuts(records: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    """What ends a box: the scissor or the viewport, and so the target."""
    found = {}
    for by in ("scissor", "viewport"):
        for axis in "xy":
            for side, offset in ((0, 0), (1, -1)):
                end = states[f"{by}_{axis}{side}"].astype(int) + offset
                found[f"{by} {axis}{side}"] = records[f"{axis}{side}"].astype(int) == end
    return found


def _boxes(records):
    across, down = (
        records[f"{axis}1"].astype(int) - records[f"{axis}0"].astype(int) for axis in "xy"
    )
    return {
        "a pixel": (across == 0) & (down == 0),
        "a row": (across > 0) & (down == 0),
        "a column": (across == 0) & (down > 0),
        "small": (across > 0) & (down > 0) & (across < 64) & (down < 64),
        "large": (across >= 1024) | (down >= 1024),
    }


def _ends(triangles):
    return {
        f"{axis}{k} {name}": triangles[f"{axis}{k}"].astype(int) == value
        for axis in "xy"
        for k in range(3)
        for name, value in (("least", LOW), ("greatest", HIGH))
    }
