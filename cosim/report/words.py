# SPDX-License-Identifier: BSD-2-Clause
"""States of a draw in words."""

from enum import IntEnum

import numpy as np

from fixfunc.models.output.blend import Blend
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, LogicOp, StencilOp

_SIGNS = {
    BlendOp.ADD: "{0} + {1}",
    BlendOp.SUBTRACT: "{0} - {1}",
    BlendOp.REV_SUBTRACT: "{1} - {0}",
}
_WITHOUT_FACTORS = {BlendOp.MIN: "least of both", BlendOp.MAX: "greatest of both"}


def state(fields: np.void, blend: Blend | None, topology: str) -> dict[str, str]:
    """What a draw is set to, by subject.

    Parameters
    ----------
    fields : numpy.void
        The draw state: :data:`fixfunc.spec.payloads.DRAW_STATE`.
    blend : Blend, optional
        Of the first target; None: it is replaced.
    topology : str
    """
    return {
        "topology": topology,
        "depth": _depth(fields),
        "stencil": _stencil(fields),
        "blend": _blend(blend),
        "cull": _cull(fields),
        "tests": "before the shader" if fields["early_write"] else "before and behind the shader",
    }


def _name(kind: type[IntEnum], value: int) -> str:
    """A constant in words."""
    return kind(int(value)).name.lower().replace("_", " ")


def _depth(fields):
    if not fields["depth_test"]:
        return "off"
    written = "written" if fields["depth_write"] else "not written"
    biased = ", biased" if fields["bias_constant"] or fields["bias_slope"] else ""
    return f"{_name(Compare, fields['depth_compare'])}, {written}{biased}"


def _stencil(fields):
    if not fields["stencil_test"]:
        return "off"
    front, back = (_face(fields, side) for side in ("front", "back"))
    faces = front if front == back else f"front {front}; back {back}"
    masks = f"read {fields['stencil_read']:#04x}, written {fields['stencil_write']:#04x}"
    return f"reference {fields['stencil_ref']}, {masks}: {faces}"


def _face(fields, side):
    """A comparison, and what happens to the value."""
    done = {
        "fail": "where it fails",
        "depth_fail": "where depths fail",
        "pass": "where both pass",
    }
    operations = [
        f"{_name(StencilOp, fields[f'stencil_{side}_{name}'])} {where}"
        for name, where in done.items()
        if fields[f"stencil_{side}_{name}"] != StencilOp.KEEP
    ]
    compare = _name(Compare, fields[f"stencil_{side}_func"])
    return f"{compare}, {', '.join(operations) or 'kept'}"


def _blend(blend):
    if blend is None:
        return "off"
    channels = "".join(name for n, name in enumerate("rgba") if blend.write >> n & 1)
    written = "" if blend.write == 15 else f"; written: {channels or 'nothing'}"
    if blend.logic:
        return f"logic {_name(LogicOp, blend.logic_op)}{written}"
    if not blend.enable:
        return f"off{written}"
    colour = _equation(blend.op, blend.source, blend.target)
    alpha = _equation(blend.op_alpha, blend.source_alpha, blend.target_alpha)
    return f"{colour}{'' if alpha == colour else f'; alpha: {alpha}'}{written}"


def _equation(op, source, target):
    if op in _WITHOUT_FACTORS:
        return _WITHOUT_FACTORS[BlendOp(op)]
    terms = (
        f"{side} * {_name(BlendFactor, factor)}"
        for side, factor in (("source", source), ("target", target))
    )
    return _SIGNS[BlendOp(op)].format(*terms)


def _cull(fields):
    turns = "counter-clockwise" if fields["front_ccw"] else "clockwise"
    return f"{_name(Cull, fields['cull'])}; {turns} is front"
