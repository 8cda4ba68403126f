# SPDX-License-Identifier: BSD-2-Clause
"""State of a draw in D3D11's names, and what of OpenGL cannot be carried."""

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.targets import SRGB, STORED_SRGB, Bound, Refused
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, StencilOp

# Kinds of primitives that triangles are made of.
TRIANGLES = (*(T.TRIANGLES, T.TRIANGLE_STRIP, T.TRIANGLE_FAN, T.QUADS, T.QUAD_STRIP, T.POLYGON),)
COMPARES = {T.NEVER + int(compare): compare for compare in Compare}  # both in one order
_STENCIL = {
    T.KEEP: StencilOp.KEEP,
    T.ZERO: StencilOp.ZERO,
    T.REPLACE: StencilOp.REPLACE,
    T.INCR: StencilOp.INCR_SAT,
    T.DECR: StencilOp.DECR_SAT,
    T.INVERT: StencilOp.INVERT,
    T.INCR_WRAP: StencilOp.INCR,
    T.DECR_WRAP: StencilOp.DECR,
}
_FACTORS = {
    T.ZERO: BlendFactor.ZERO,
    T.ONE: BlendFactor.ONE,
    T.SRC_COLOR: BlendFactor.SRC_COLOR,
    T.ONE_MINUS_SRC_COLOR: BlendFactor.INV_SRC_COLOR,
    T.SRC_ALPHA: BlendFactor.SRC_ALPHA,
    T.ONE_MINUS_SRC_ALPHA: BlendFactor.INV_SRC_ALPHA,
    T.DST_ALPHA: BlendFactor.DEST_ALPHA,
    T.ONE_MINUS_DST_ALPHA: BlendFactor.INV_DEST_ALPHA,
    T.DST_COLOR: BlendFactor.DEST_COLOR,
    T.ONE_MINUS_DST_COLOR: BlendFactor.INV_DEST_COLOR,
    T.SRC_ALPHA_SATURATE: BlendFactor.SRC_ALPHA_SAT,
    T.CONSTANT_COLOR: BlendFactor.BLEND_FACTOR,
    T.ONE_MINUS_CONSTANT_COLOR: BlendFactor.INV_BLEND_FACTOR,
    T.CONSTANT_ALPHA: BlendFactor.BLEND_FACTOR,
    T.ONE_MINUS_CONSTANT_ALPHA: BlendFactor.INV_BLEND_FACTOR,
}
# D3D11 has no colours as factors of alpha, where OpenGL takes their alpha.
_OF_ALPHA = {
    BlendFactor.SRC_COLOR: BlendFactor.SRC_ALPHA,
    BlendFactor.INV_SRC_COLOR: BlendFactor.INV_SRC_ALPHA,
    BlendFactor.DEST_COLOR: BlendFactor.DEST_ALPHA,
    BlendFactor.INV_DEST_COLOR: BlendFactor.INV_DEST_ALPHA,
}
_OPERATIONS = {
    T.FUNC_ADD: BlendOp.ADD,
    T.FUNC_SUBTRACT: BlendOp.SUBTRACT,
    T.FUNC_REVERSE_SUBTRACT: BlendOp.REV_SUBTRACT,
    T.MIN: BlendOp.MIN,
    T.MAX: BlendOp.MAX,
}
_CONSTANT_COLOURS = {T.CONSTANT_COLOR, T.ONE_MINUS_CONSTANT_COLOR}
_CONSTANT_ALPHAS = {T.CONSTANT_ALPHA, T.ONE_MINUS_CONSTANT_ALPHA}


def check_mode(gl: Functions, mode: int) -> None:
    """Refuse primitives that are no filled triangles."""
    if mode in (T.LINES, T.LINE_STRIP, T.LINE_LOOP):
        wide = gl.floats(T.LINE_WIDTH, 1)[0] != 1
        raise Refused("wide lines" if wide else "lines")
    if mode == T.POINTS:
        raise Refused("points")
    if mode == T.PATCHES:
        raise Refused("tessellation")
    if mode not in TRIANGLES:
        raise Refused("primitives with adjacency: a geometry shader")
    if set(gl.integers(T.POLYGON_MODE, 2)) - {T.FILL, 0}:
        raise Refused("polygons as lines or points")


def check(gl: Functions) -> None:
    """Refuse state that D3D11 has not, or that this format does not carry."""
    reasons = {
        T.RASTERIZER_DISCARD: "no rasterizer",
        T.COLOR_LOGIC_OP: "logic operations",
        T.POLYGON_SMOOTH: "smooth polygons",
        T.POLYGON_STIPPLE: "a stipple of polygons",
        T.VERTEX_PROGRAM_ARB: "a vertex program in assembly language",
        T.SAMPLE_MASK: "a sample mask",
    } | {T.CLIP_DISTANCE0 + n: "clip planes" for n in range(8)}
    for name, reason in reasons.items():
        if gl.glIsEnabled(name):
            raise Refused(reason)
    if gl.integer(T.PROGRAM_PIPELINE_BINDING) and not gl.integer(T.CURRENT_PROGRAM):
        raise Refused("a pipeline of programs")
    if gl.integer(T.CLIP_ORIGIN) == T.UPPER_LEFT:
        raise Refused("clip space from above")


def is_culled(gl: Functions) -> bool:
    """Triangles of both faces are culled, so that nothing can come of a draw."""
    return bool(gl.glIsEnabled(T.CULL_FACE)) and gl.integer(T.CULL_FACE_MODE) == T.FRONT_AND_BACK


def read(gl: Functions, targets: Bound) -> dict:
    """Fields of :data:`fixfunc.cosim.recorded.frame.DRAW` that are state, by name."""
    return (
        _rasterizer(gl, targets)
        | _depth(gl, targets)
        | _stencil(gl, targets)
        | _blend(gl, targets)
        | _alpha(gl)
    )


def _rasterizer(gl, targets):
    width, height = targets.size
    x, y, wide, high = gl.floats(T.VIEWPORT, 4)
    box = 0, 0, width, height
    if gl.glIsEnabled(T.SCISSOR_TEST):
        left, low, across, up = gl.integers(T.SCISSOR_BOX, 4)
        box = left, low, left + across, low + up
    cull = Cull.NONE
    if gl.glIsEnabled(T.CULL_FACE):
        cull = Cull.FRONT if gl.integer(T.CULL_FACE_MODE) == T.FRONT else Cull.BACK
    constant = slope = clamp = 0.0
    if gl.glIsEnabled(T.POLYGON_OFFSET_FILL):
        (constant,) = gl.floats(T.POLYGON_OFFSET_UNITS, 1)
        (slope,) = gl.floats(T.POLYGON_OFFSET_FACTOR, 1)
        (clamp,) = gl.floats(T.POLYGON_OFFSET_CLAMP, 1)
        if constant != int(constant):
            raise Refused("an offset of depths that is no whole number of units")
        if constant and targets.depth and targets.depth.internal == T.DEPTH_COMPONENT32:
            raise Refused("an offset of depths in units of 32 bits")
    near, far = gl.floats(T.DEPTH_RANGE, 2)
    if near > far:
        raise Refused("a range of depths from far to near")
    return {
        "viewport": (x, y, wide, high, near, far),
        "scissor": [
            min(max(side, 0), most) for side, most in zip(box, (width, height) * 2, strict=True)
        ],
        "cull": cull,
        # Rows are kept bottom up, so that what OpenGL sees counter-clockwise is clockwise.
        "front_counter_clockwise": gl.integer(T.FRONT_FACE) == T.CW,
        "depth_clip": not gl.glIsEnabled(T.DEPTH_CLAMP),
        "zero_to_one": gl.integer(T.CLIP_DEPTH_MODE) == T.ZERO_TO_ONE,
        "depth_bias": int(constant),
        "slope_scaled_depth_bias": slope,
        "depth_bias_clamp": clamp,
    }


def _depth(gl, targets):
    on = targets.depth is not None and bool(gl.glIsEnabled(T.DEPTH_TEST))
    return {
        "depth_enable": on,
        "depth_write": on and bool(gl.integer(T.DEPTH_WRITEMASK)),
        "depth_func": COMPARES[gl.integer(T.DEPTH_FUNC)],
    }


def _stencil(gl, targets):
    on = (
        targets.depth is not None
        and targets.depth.has_stencil
        and bool(gl.glIsEnabled(T.STENCIL_TEST))
    )
    faces = [
        {
            name: gl.integer(getattr(T, f"STENCIL_{face}{name}"))
            for name in (
                *("FAIL", "PASS_DEPTH_FAIL", "PASS_DEPTH_PASS", "FUNC"),
                *("VALUE_MASK", "WRITEMASK", "REF"),
            )
        }
        for face in ("", "BACK_")
    ]
    front, back = faces
    if gl.glIsEnabled(T.CULL_FACE):
        # A face that is culled has no values of its own.
        one = gl.integer(T.CULL_FACE_MODE) == T.FRONT
        front = back = back if one else front
    for name, words in (
        ("VALUE_MASK", "masks of stencil values"),
        ("WRITEMASK", "masks of stencil values"),
        ("REF", "references of stencil values"),
    ):
        if on and front[name] & 0xFF != back[name] & 0xFF:
            raise Refused(f"{words} of each face its own")
    return {
        "stencil_enable": on,
        "stencil_read_mask": front["VALUE_MASK"] & 0xFF,
        "stencil_write_mask": front["WRITEMASK"] & 0xFF,
        "stencil_ref": min(max(front["REF"], 0), 255),
        "front_face": _face(front),
        "back_face": _face(back),
    }


def _face(values):
    return (
        _STENCIL[values["FAIL"]],
        _STENCIL[values["PASS_DEPTH_FAIL"]],
        _STENCIL[values["PASS_DEPTH_PASS"]],
        COMPARES[values["FUNC"]],
    )


def _blend(gl, targets):
    mask = sum(bool(channel) << n for n, channel in enumerate(gl.integers(T.COLOR_WRITEMASK, 4)))
    fields = {
        "form": colour_form(gl, targets),
        "blend_enable": False,
        "blend": (
            *(BlendFactor.ONE, BlendFactor.ZERO, BlendOp.ADD),
            *(BlendFactor.ONE, BlendFactor.ZERO, BlendOp.ADD),
        ),
        "blend_factor": (1, 1, 1, 1),
        "write_mask": mask if targets.colour else 0,
    }
    if not targets.colour or not gl.glIsEnabled(T.BLEND):
        return fields
    names = [gl.integer(getattr(T, f"BLEND_{name}")) for name in _BLENDS]
    unknown = [name for name in (names[0], names[1], *names[3:5]) if name not in _FACTORS]
    if unknown or names[2] not in _OPERATIONS or names[5] not in _OPERATIONS:
        raise Refused("a second colour of the source, or another equation of blending")
    source, target, operation, source_alpha, target_alpha, operation_alpha = names
    factor = gl.floats(T.BLEND_COLOR, 4)
    colours = {source, target}
    if colours & _CONSTANT_ALPHAS:
        if colours & _CONSTANT_COLOURS:
            raise Refused("a constant colour and a constant alpha as factors")
        factor = [factor[3]] * 4
    return fields | {
        "blend_enable": True,
        "blend": (
            *(_FACTORS[source], _FACTORS[target], _OPERATIONS[operation]),
            _OF_ALPHA.get(_FACTORS[source_alpha], _FACTORS[source_alpha]),
            _OF_ALPHA.get(_FACTORS[target_alpha], _FACTORS[target_alpha]),
            _OPERATIONS[operation_alpha],
        ),
        "blend_factor": factor,
    }


_BLENDS = "SRC_RGB", "DST_RGB", "EQUATION_RGB", "SRC_ALPHA", "DST_ALPHA", "EQUATION_ALPHA"


def colour_form(gl: Functions, targets: Bound) -> Format:
    """The format by which colours are written: of sRGB only where OpenGL converts."""
    colour = targets.colour
    if colour is None:
        return Format.UNKNOWN
    if colour.internal in STORED_SRGB and gl.glIsEnabled(T.FRAMEBUFFER_SRGB):
        return SRGB[colour.form]
    return colour.form


def _alpha(gl):
    """The test of alpha, as a rule of discards."""
    if not gl.glIsEnabled(T.ALPHA_TEST):
        return {"alpha_func": Compare.ALWAYS, "alpha_ref": 0}
    return {
        "alpha_func": COMPARES[gl.integer(T.ALPHA_TEST_FUNC)],
        "alpha_ref": gl.floats(T.ALPHA_TEST_REF, 1)[0],
    }
