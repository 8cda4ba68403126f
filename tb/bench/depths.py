# SPDX-License-Identifier: BSD-2-Clause
"""Draws that find mistakes of depth and stencil: close depths, every state, illegal states."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import ONE, Z_MAX
from fixfunc.models.memory.contract import StageLimits
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.hiz.hiz import HizParams
from fixfunc.rtl.depth.test.depth_test import DepthTestParams
from fixfunc.spec import payloads
from fixfunc.spec.state import PERMITTED, DepthFormat, Kind
from fixfunc.tb.bench import scenes

WIDTH = max(map(payloads.width, payloads.CONTROL.values()))  # of a beat with tiles

# Fields that no part of the depth stage reads.
UNREAD = {"slot", *payloads.RASTER_STATE, *payloads.OUTPUT_STATE}
UNREAD_CLEAR = {
    *("slot", "state", "colour", "colour_value", "colour_base", "constant"),
    *(field.name for field in payloads.BLEND_CONSTANT),
}


def blend_constant(rng: np.random.Generator) -> np.ndarray:
    """Any constant, most of it within the range: float32, shape (4,)."""
    some = rng.uniform(-0.6, 1.2, 4).astype(np.float32)
    edges = (0, 1, -1, 2, 1 - 2**-24, 2**-16, 1 / 65280, 1e-42, np.nan, np.inf, -np.inf)
    return np.where(rng.random(4) < 0.3, rng.choice(np.float32(edges), 4), some)


def float_bits(value: float) -> int:
    """Bits of a float32."""
    return int(np.float32(value).view(np.uint32))


def does(rng: np.random.Generator) -> list[str]:
    """What a draw's shader does: half of all draws are plain."""
    other = [action for action in PERMITTED if action != "plain"]
    return ["plain" if rng.random() < 0.5 else rng.choice(other)]


def byte(rng: np.random.Generator) -> int:
    """A stencil value or mask: an end of 0..255, its middle, a bit, a small one, or any."""
    special = 0, 255, rng.integers(127, 129), 1 << rng.integers(0, 8)
    return int(rng.choice([*special, rng.integers(0, 4), rng.integers(0, 256)]))


def finite_bits(rng: np.random.Generator) -> int:
    """Bits of a float32 at an end of its range: zeros, denormals, the least, the greatest."""
    magnitude = rng.choice([0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, rng.integers(0, 0x7F800000)])
    return int(magnitude) | int(rng.integers(0, 2)) << 31


def state(
    rng: np.random.Generator,
    size: tuple[int, int],
    samples: int,
    form: DepthFormat,
    stencil: bool = True,
) -> np.void:
    """A random state of a draw on a target of ``size`` pixels."""
    most = MOST[form]
    keeps = [0] * rng.choice([0, 3])
    operations = {
        f"stencil_{face}_{name}": rng.choice([*keeps, rng.integers(0, 8)])
        for face in ("front", "back")
        for name in ("fail", "depth_fail", "pass")
    }
    values = {
        "stencil_ref": rng.choice([rng.integers(0, 4), byte(rng)]),
        "stencil_read": rng.choice([255, 3, byte(rng)]),
        "stencil_write": rng.choice([255, 6, byte(rng)]),
        "stencil_front_func": rng.integers(0, 8),
        "stencil_back_func": rng.integers(0, 8),
        "stencil_test": stencil and rng.random() < 0.4,
    }
    bias = {
        "bias_constant": rng.choice([0, 0, 1, 0xFFFFFFF0, rng.integers(0, 1 << 32)]),
        "bias_slope": float_bits(
            rng.choice([0, 0, 1.5, -0.25, rng.normal() * 2.0 ** rng.integers(-40, 40)])
        ),
        "bias_clamp": float_bits(rng.choice([0, 0, 1e-3, -1e-5, 1e30])),
    }
    bias |= {name: finite_bits(rng) for name in ("bias_slope", "bias_clamp") if rng.random() < 0.1}
    span = np.sort(rng.integers(0, most + 1, 2)) if rng.random() < 0.2 else (0, most)
    return draw_state(
        *size,
        samples,
        depth_format=form,
        depth_min=span[0],
        depth_max=span[1],
        depth_compare=rng.integers(0, 8),
        depth_test=rng.random() < 0.9,
        depth_write=rng.random() < 0.8,
        state=rng.integers(0, 16),
        does=does(rng),
        **operations,
        **values,
        **bias,
    )


def spoil(rng: np.random.Generator, draw: np.void) -> np.void:
    """The same state with a field that breaks its rule, or is another target's."""
    name, value = [
        ("depth_format", 3),
        ("depth_min", int(draw["depth_max"]) + 1),
        ("bias_slope", float_bits(rng.choice([np.inf, -np.inf, np.nan]))),
        ("bias_clamp", float_bits(rng.choice([np.inf, -np.inf, np.nan]))),
        ("target", draw["target"] ^ 1 << rng.integers(0, 3)),
        ("depth_format", (draw["depth_format"] + 1) % 3),
    ][rng.integers(0, 6)]
    wrong = draw.copy()
    wrong[name] = value
    return wrong


def unread(rng: np.random.Generator, draw: np.void) -> np.void:
    """The same state with random bits in fields that the depth stage passes on unread."""
    return scenes.unread(rng, draw, payloads.DRAW_STATE, UNREAD)


def clear_beat(rng: np.random.Generator, **fields: int | np.integer) -> np.ndarray:
    """A packed CLEAR, with random bits in what the depth stage passes on unread."""
    record = np.zeros(1, dtype(payloads.CLEAR))
    for name, value in ({"kind": Kind.CLEAR} | fields).items():
        record[name] = value
    return codec.pack(
        scenes.unread(rng, record, payloads.CLEAR, UNREAD_CLEAR), payloads.CLEAR, WIDTH
    )


def triangles(
    rng: np.random.Generator,
    n: int,
    size: tuple[int, int],
    form: DepthFormat = DepthFormat.D24,
    beyond: float = 0.1,
) -> np.ndarray:
    """Triangles of every kind, close in depth; a share of them far beyond the range."""
    most = ONE if form == DepthFormat.D32F else Z_MAX
    out = scenes.triangles(rng, n, *size, form)
    level = int(rng.integers(0, most))
    for k in range(3):
        out[f"z{k}"] = np.clip(level + rng.integers(0, 1 << rng.integers(4, 31), n), 0, most)
    other = rng.spawn(1)[0]
    far = np.flatnonzero(other.random(n) < beyond)
    z = scenes.far(other, len(far), form)
    for k in range(3):
        out[f"z{k}"][far] = z[:, k]
    return out


def clear(
    rng: np.random.Generator, size: tuple[int, int], form: DepthFormat, whole: bool = False
) -> dict[str, int | np.integer]:
    """Fields of a CLEAR, by name.

    Its rectangle lies on the target or in part beyond it; some lack one row or column.
    """
    x0, x1, y0, y1 = (int(v) for side in size for v in np.sort(rng.integers(0, side + 9, 2)))
    if rng.spawn(1)[0].random() < 0.1:  # nothing of it
        x1 = x0
    if whole or rng.random() < 0.4:
        x0, y0, x1, y1 = 0, 0, *size
        lacks = rng.choice(["", "left", "top", "right", "bottom"], p=[0.6] + [0.1] * 4)
        if not whole:
            x0, y0 = int(lacks == "left"), int(lacks == "top")
            x1, y1 = x1 - (lacks == "right"), y1 - (lacks == "bottom")
    planes = (
        {"depth": 1, "stencil": 1}
        if whole
        else {"depth": rng.random() < 0.7, "stencil": rng.random() < 0.7}
    )
    value = rng.choice(
        [0, MOST[form], rng.integers(0, MOST[form] + 1), MOST[form] + (not whole)],
        p=[0.3, 0.3, 0.3, 0.1],
    )
    return planes | {
        "x0": x0,
        "y0": y0,
        "x1": x1,
        "y1": y1,
        "depth_value": value,
        "stencil_value": rng.choice([rng.integers(0, 4), byte(rng)]),
    }


def formats(params: DepthTestParams) -> list[DepthFormat]:
    """The formats that a unit knows."""
    return [DepthFormat(form) for form in params.formats]


def limits(params: DepthTestParams | HizParams, tiles: int | None = None) -> StageLimits:
    """What a unit supports, with so many tiles on chip."""
    return StageLimits(params.edge, params.samples, tuple(params.formats), params.stencil, tiles)
