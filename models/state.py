# SPDX-License-Identifier: BSD-2-Clause
"""The draw state that a STATE beat carries."""

from collections.abc import Sequence
from math import floor

import numpy as np

from fixfunc.models.formats import MOST
from fixfunc.models.payload import dtype, integers
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import (
    MOVED,
    PERMISSIONS,
    PERMITTED,
    SAMPLE_COUNTS,
    TARGET_LIMIT,
    UNSAFE,
    VIEWPORT_MAX,
    VIEWPORT_MIN,
    BlendFactor,
    BlendOp,
    Compare,
    Cull,
    DepthFormat,
    Kind,
)

DTYPE = dtype(payloads.DRAW_STATE)
# Factors made of the shader's first colour and of what is stored.
PLAIN_FACTORS = [factor for factor in BlendFactor if factor <= BlendFactor.SRC_ALPHA_SAT]
CONSTANT_FACTORS = BlendFactor.BLEND_FACTOR, BlendFactor.INV_BLEND_FACTOR
# Those of the shader's second colour [fs 17.6].
SECOND_FACTORS = (
    BlendFactor.SRC1_COLOR,
    BlendFactor.INV_SRC1_COLOR,
    BlendFactor.SRC1_ALPHA,
    BlendFactor.INV_SRC1_ALPHA,
)
FACTORS = "src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"
# Kinds of colour planes that are blended, and those whose bits logic operations combine.
BLENDED = ("UNORM", "SNORM", "SRGB")
COMBINED = ("UNORM", "UINT")
# Formats that are blended, have no alpha, and leave a shader's no room in 32 bits.
WITHOUT_ALPHA = Format.R16G16_UNORM, Format.R16G16_SNORM
OF_SHADER_ALPHA = (
    BlendFactor.SRC_ALPHA,
    BlendFactor.INV_SRC_ALPHA,
    BlendFactor.SRC_ALPHA_SAT,
    *SECOND_FACTORS[2:],
)
# Fields of a draw state that identify a target.
TARGET_FIELDS = ["target", "target_width", "target_height", "samples", "depth_format"]


def draw_state(
    width: int,
    height: int,
    samples: int = 1,
    viewport: Sequence[float] | None = None,
    scissor: Sequence[int] | None = None,
    cull: Cull = Cull.NONE,
    front_ccw: bool = False,
    does: Sequence[str] = ("plain",),
    **fields: int | np.integer,
) -> np.void:
    """A checked draw state.

    Parameters
    ----------
    width, height : int
        Size of the target, pixels, 1 to 16384.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8.
    viewport : (x0, y0, x1, y1) of float, optional
        Extents in pixels; the whole target by default. Each is rounded down: what lies beyond is
        not drawn [fs 15.7]. :func:`fixfunc.models.geometry.viewport.project` takes them as they
        are.
    scissor : (x0, y0, x1, y1) of int, optional
        Pixels, ``x1`` and ``y1`` exclusive; the whole target by default.
    cull : Cull
        Which triangles the setup drops by their winding.
    front_ccw : bool
        Counter-clockwise triangles face front.
    does : sequence of str
        What the draw's shader does, as in :data:`fixfunc.spec.state.PERMITTED`: it decides the four
        early permissions, and the direction in which depths move.
    **fields
        Any other field of :data:`fixfunc.spec.payloads.DRAW_STATE`, by name. ``depth_max`` is 1.0
        of the depth format by default; with ``blend_enable`` colours are mixed by their alpha.
        ``colour_format`` is R8G8B8A8_UNORM by default.

    Returns
    -------
    numpy.void
        One record of :data:`DTYPE`.

    Raises
    ------
    InputError
        A size, a rectangle or a field that breaks its rule [fs 15.6.1].
    """
    for name, size in (("width", width), ("height", height)):
        if not 1 <= size <= TARGET_LIMIT:
            raise InputError(name, f"lie in 1..{TARGET_LIMIT}", size)
    if samples not in SAMPLE_COUNTS:
        raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
    viewport = (0, 0, width, height) if viewport is None else viewport
    scissor = (0, 0, width, height) if scissor is None else scissor
    check_rectangles(viewport, scissor)
    viewport = [floor(np.float32(value)) for value in viewport]
    values = {
        "kind": Kind.STATE,
        "samples": samples.bit_length() - 1,
        "cull": cull,
        "front_ccw": front_ccw,
        "target_width": width,
        "target_height": height,
        "depth_format": DepthFormat.D24,
        "depth_max": MOST.get(fields.get("depth_format", DepthFormat.D24), 0),
        "depth_test": 1,
        "depth_write": 1,
        "depth_compare": Compare.LESS,
        "colour_write": 15,
        "colour_format": Format.R8G8B8A8_UNORM,
        "src_blend": BlendFactor.SRC_ALPHA,
        "dest_blend": BlendFactor.INV_SRC_ALPHA,
        "blend_op": BlendOp.ADD,
        "src_blend_alpha": BlendFactor.SRC_ALPHA,
        "dest_blend_alpha": BlendFactor.INV_SRC_ALPHA,
        "blend_op_alpha": BlendOp.ADD,
    }
    for action in does:
        if action not in PERMITTED:
            raise InputError("does", f"hold only {', '.join(PERMITTED)}", action)
    values |= {name: all(name in PERMITTED[action] for action in does) for name in PERMISSIONS}
    moved = [MOVED[action] for action in does if action in MOVED]
    values |= dict.fromkeys(moved, 1)
    if moved and fields.get("depth_compare", values["depth_compare"]) in UNSAFE:
        values["hiz_drop"] = 0
    for name, rectangle in (("viewport", viewport), ("scissor", scissor)):
        values |= dict(
            zip((f"{name}_{end}" for end in ("x0", "y0", "x1", "y1")), rectangle, strict=True)
        )
    values |= fields
    record = np.zeros((), DTYPE)
    for name, value in integers(values, payloads.DRAW_STATE, "draw state").items():
        record[name] = value
    check_depth_state(record)
    check_conservative(record)
    check_blend_state(record, second=True, floats=True)
    return record[()]


def check_draw_state(
    state: np.void,
    formats: Sequence[Format] = COLOUR_FORMATS,
    second: bool = False,
    planes: int = 1,
    floats: bool = False,
) -> None:
    """Check a draw state by the rules of :func:`draw_state` and of :func:`check_blend_state`.

    One that breaks a rule raises :class:`~fixfunc.spec.errors.InputError`.
    """
    for name in ("target_width", "target_height"):
        if not 1 <= state[name] <= TARGET_LIMIT:
            raise InputError(name, f"lie in 1..{TARGET_LIMIT}", int(state[name]))
    check_rectangles(
        *(
            [int(state[f"{name}_{end}"]) for end in ("x0", "y0", "x1", "y1")]
            for name in ("viewport", "scissor")
        )
    )
    if state["cull"] not in list(Cull):
        raise InputError("cull", f"be one of {', '.join(c.name for c in Cull)}", int(state["cull"]))
    check_depth_state(state)
    check_conservative(state)
    check_blend_state(state, formats, second, planes, floats)


def check_blend_state(
    state: np.void,
    formats: Sequence[Format] = COLOUR_FORMATS,
    second: bool = False,
    planes: int = 1,
    floats: bool = False,
) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for blending that there is not.

    The colour plane's format is one of ``formats``. It has the blending and the logic operation
    that are enabled: of floats where ``floats`` says so. A shader's alpha is not known where the
    format is one of :data:`WITHOUT_ALPHA`. Second colours are known where ``second`` says so, on
    the first of several ``planes`` alone.
    """
    if int(state["colour_format"]) not in formats:
        names = ", ".join(form.name for form in formats)
        raise InputError("colour_format", f"be one of {names}", int(state["colour_format"]))
    form = Format(int(state["colour_format"]))
    name = form.name
    kind = name.rpartition("_")[2]
    blended = (*BLENDED, "FLOAT") if floats else BLENDED
    for enable, kinds in (("blend_enable", blended), ("logic_op_enable", COMBINED)):
        if state[enable] and kind not in kinds:
            raise InputError(enable, f"be 0 for {name}", 1)
    if not state["blend_enable"]:
        return
    has_second = second and (planes == 1 or state["slot"] == 0)
    known = [factor for factor in BlendFactor if has_second or factor not in SECOND_FACTORS]
    for name in FACTORS:
        if state[name] not in known:
            names = ", ".join(factor.name for factor in known)
            raise InputError(name, f"be one of {names}", int(state[name]))
    for name in ("src_blend", "dest_blend"):
        if form in WITHOUT_ALPHA and state[name] in OF_SHADER_ALPHA:
            factor = BlendFactor(int(state[name])).name
            raise InputError(name, f"be of no shader's alpha for {form.name}", factor)
    for name in ("blend_op", "blend_op_alpha"):
        if state[name] not in list(BlendOp):
            names = ", ".join(op.name for op in BlendOp)
            raise InputError(name, f"be one of {names}", int(state[name]))


def needs_constant(state: np.void) -> bool:
    """Whether colours are blended with the blend constant."""
    return bool(state["blend_enable"]) and any(state[name] in CONSTANT_FACTORS for name in FACTORS)


def needs_second(state: np.void) -> bool:
    """Whether colours are blended with a shader's second one."""
    return bool(state["blend_enable"]) and any(state[name] in SECOND_FACTORS for name in FACTORS)


def blending_known(
    state: np.void,
    formats: Sequence[Format] = BASE_FORMATS,
    second: bool = False,
    planes: int = 1,
    floats: bool = False,
) -> bool:
    """Whether :func:`check_blend_state` has nothing to say."""
    try:
        check_blend_state(state, formats, second, planes, floats)
    except InputError:
        return False
    return True


def check_depth_state(state: np.void | np.ndarray) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a state that no depth unit can obey."""
    if state["depth_format"] not in list(DepthFormat):
        raise InputError(
            "depth_format",
            f"be one of {', '.join(f.name for f in DepthFormat)}",
            int(state["depth_format"]),
        )
    most = MOST[DepthFormat(state["depth_format"])]
    if state["depth_min"] > most:
        raise InputError("depth_min", f"not exceed 1.0, {most}", int(state["depth_min"]))
    if state["depth_min"] > state["depth_max"]:
        raise InputError(
            "depth_min", f"not exceed depth_max {state['depth_max']}", int(state["depth_min"])
        )
    for name in ("bias_slope", "bias_clamp"):
        if int(state[name]) >> 23 & 255 == 255:
            raise InputError(name, "be the bits of a finite float32", f"{int(state[name]):#010x}")


def check_conservative(state: np.void) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for what does not go with outer coverage.

    Pixels have one sample, and no depths: those of centres outside of their triangle fit no test.
    """
    if not state["conservative"]:
        return
    if state["samples"]:
        raise InputError("samples", "be 1 with conservative coverage", 1 << int(state["samples"]))
    for name in ("depth_test", "depth_write", "stencil_test"):
        if state[name]:
            raise InputError(name, "be 0 with conservative coverage", 1)


def check_rectangles(viewport: Sequence[float], scissor: Sequence[int]) -> None:
    """Check a viewport, of float, and a scissor, of int.

    One that breaks its rule raises :class:`~fixfunc.spec.errors.InputError`.
    """
    _check_rectangle("viewport", viewport, VIEWPORT_MIN, VIEWPORT_MAX)
    _check_rectangle("scissor", scissor, 0, TARGET_LIMIT)


def _check_rectangle(name, rectangle, low, high):
    x0, y0, x1, y1 = rectangle
    if not all(low <= v <= high for v in rectangle):
        raise InputError(name, f"lie within {low}..{high}", tuple(rectangle))
    if x0 > x1 or y0 > y1:
        raise InputError(name, "have x0 <= x1 and y0 <= y1", tuple(rectangle))
