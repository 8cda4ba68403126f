# SPDX-License-Identifier: BSD-2-Clause
"""Every function in every format and mode, every stencil operation at every place, in turn.

Random draws come to all of them too, but to some only after very many.
"""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.depth.stencil import OPERATE
from fixfunc.models.formats import MOST
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.test.depth_test import DepthTestParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, DepthFormat, Kind, StencilOp
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.bench.depths import WIDTH

# Of depths: the least, the greatest, the middle, which is the one that stays when all are written.
UNITS = 0, (1 << 24) - 1, 1 << 23
EXPONENT = 126  # of D32F: units of 2^-24
REFERENCE = 77  # of stencil operations
# Where a stencil value changes -> functions of stencil and depth that lead there.
WAYS = {
    "fail": (Compare.NEVER, Compare.ALWAYS),
    "depth_fail": (Compare.ALWAYS, Compare.NEVER),
    "pass": (Compare.ALWAYS, Compare.ALWAYS),
}


def rows(params: DepthTestParams) -> np.ndarray:
    """Packed beats for a depth test."""
    out = [scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, begin=1)]
    rng = np.random.default_rng(0)
    for form in depths.formats(params):
        for mode in params.modes:
            out += _functions(rng, params, form, mode)
        out += _ranges(rng, params.edge, form)
    if params.stencil:
        for operation in StencilOp:
            for stored in (0, 100, 255):
                out += _operations(rng, params, operation, stored)
    # A clear of no plane and no pixel.
    out.append(scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH))
    return np.concatenate(out)


def _functions(rng, params, form, mode):
    """Every function of depth, and of stencil on both faces, behind a clear."""
    edge = params.edge
    # The clear takes its target from the state before it.
    out = [_state(form, mode, edge), _clear(edge, form, 3)]
    for compare in Compare:
        for n, stencil in enumerate((False, params.stencil)):
            state = {
                "depth_compare": Compare.ALWAYS if stencil else compare,
                "depth_write": (compare ^ n ^ mode) & 1,
                "stencil_test": stencil,
                "stencil_ref": 3 + (compare + mode) % 3 - 1,
            }
            for face in ("front", "back"):
                state[f"stencil_{face}_func"] = compare
            if not stencil:
                out.append(_state(form, mode, edge, depth_write=1))
                out.append(_tiles(rng, 3, edge, form))
            out += [_state(form, mode, edge, **state), _tiles(rng, 12, edge, form)]
            if not stencil:  # what was kept is written, and the other way round
                state["depth_write"] = ~state["depth_write"] & 1
                out += [_state(form, mode, edge, **state), _tiles(rng, 6, edge, form)]
    return out


def _ranges(rng, edge, form):
    """The greatest depth behind ends of the range below 1.0 and beyond; a bias on the other side.

    It equals what a clear has left only where it is cut to the nearer of both.
    """
    out = []
    most = MOST[form]
    for end, bias, exponent in ((most // 2, most, EXPONENT), ((1 << 32) - 1, 0, EXPONENT + 1)):
        state = {"depth_compare": Compare.EQUAL, "depth_max": end, "bias_constant": bias}
        out += [
            _state(form, 0, edge, **state),
            _clear(edge, form, 0, depth_value=min(end, most)),
            _tiles(rng, 3, edge, form, exponent=exponent),
        ]
    return out


def _operations(rng, params, operation, stored):
    """One operation at every place, on both faces, on a stencil value; then a look at it."""
    edge = params.edge
    form = depths.formats(params)[0]
    made = {"stencil_test": 1, "stencil_ref": OPERATE[operation](np.int64(stored), REFERENCE)}
    made |= {f"stencil_{face}_func": Compare.EQUAL for face in ("front", "back")}
    out = []
    for place, (stencil, depth) in WAYS.items():
        state = {"stencil_test": 1, "depth_compare": depth, "stencil_ref": REFERENCE}
        for face in ("front", "back"):
            state[f"stencil_{face}_func"] = stencil
            state[f"stencil_{face}_{place}"] = operation
        for back in (0, 1):
            out += [_state(form, 0, edge, **state), _clear(edge, form, stored)]
            out.append(_tiles(rng, 1, edge, form, back=back))
            out += [_state(form, 0, edge, **made), _tiles(rng, 1, edge, form)]
    return out


def _state(form, mode, edge, **fields):
    state = draw_state(
        edge,
        edge,
        1 << mode,
        depth_format=form,
        stencil_read=255,
        stencil_write=255,
        **{"depth_test": 1, "depth_compare": Compare.ALWAYS, "depth_max": MOST[form]} | fields,
    )
    return codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, WIDTH)


def _clear(edge, form, value, **fields):
    return scenes.control_beat(
        payloads.CLEAR,
        Kind.CLEAR,
        WIDTH,
        depth=1,
        stencil=1,
        x1=edge,
        y1=edge,
        stencil_value=value,
        **{"depth_value": MOST[form] // 2} | fields,
    )


def _tiles(rng, count, edge, form, back=None, exponent=EXPONENT):
    """Whole flat tiles of the first place, of three depths."""
    tiles = np.zeros(count, dtype(payloads.tile(edge)))
    tiles["mask"] = (1 << edge**2) - 1
    tiles["full"] = tiles["last"] = 1
    tiles["back"] = rng.integers(0, 2, count) if back is None else back
    units = np.array(UNITS)[np.arange(count) % 3 if count <= 3 else rng.integers(0, 3, count)]
    tiles["z0"] = units << 8
    tiles["exponent"] = exponent if form == DepthFormat.D32F else 0
    tiles["zmin"] = tiles["zmax"] = units
    return codec.pack(tiles, payloads.tile(edge), WIDTH)
