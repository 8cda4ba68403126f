# SPDX-License-Identifier: BSD-2-Clause
"""What a file says that fragments are made of: every number is checked."""

import numpy as np

from fixfunc.cosim.recorded.checks import each, finite, one_of, spans, within
from fixfunc.cosim.recorded.frame import (
    Address,
    Base,
    Environment,
    Fog,
    Interpolation,
    Kind,
    Location,
    RecordedFrame,
)
from fixfunc.models.texture.texels import DXGI, PAIRS
from fixfunc.models.texture.texture import FACES, LAYERS, bytes_of, check_shape
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare

_ONE = 5  # of a swizzle, the greatest
_ANISOTROPY = 16
_BIAS = 16  # levels, below which it is
_FORMS = [int(form) for form, (name, _) in DXGI.items() if name not in PAIRS]


def check_shading(frame: RecordedFrame) -> None:
    """Raise ``InputError`` for a number that no frame may have; its array, row and field named."""
    _check_varyings(frame)
    _check_samplers(frame.samplers)
    _check_textures(frame)
    _check_bindings(frame)
    _check_draws(frame)


def _check_varyings(frame):
    rows = frame.varyings
    within(rows, "varyings", "name", 0, len(frame.names) - 1)
    for field, kind in (("kind", Kind), ("interpolation", Interpolation), ("location", Location)):
        one_of(f"varyings.{field}", rows[field], kind)
    within(rows, "varyings", "components", 1, 4)
    legal = (rows["kind"] == Kind.FLOAT) | (rows["interpolation"] == Interpolation.CONSTANT)
    each("varyings.interpolation", rows["interpolation"], legal, "be 2 CONSTANT, of integers")


def _check_samplers(rows):
    for field in ("min_filter", "mag_filter", "mip_filter"):
        within(rows, "samplers", field, 0, 1)
    one_of("samplers.address", rows["address"], Address)
    within(rows, "samplers", "clamped", 0, 7)
    for field in ("border", "min_lod", "max_lod"):
        finite(rows, "samplers", field)
    legal = (rows["bias"] >= -_BIAS) & (rows["bias"] < _BIAS)
    each("samplers.bias", rows["bias"], legal, f"be at least -{_BIAS} and below {_BIAS}")
    within(rows, "samplers", "anisotropy", 1, _ANISOTROPY)
    one_of("samplers.comparison_func", rows["comparison_func"], Compare)


def _check_textures(frame):
    rows = frame.textures
    each("textures.form", rows["form"], np.isin(rows["form"], _FORMS), "be one that shaders read")
    within(rows, "textures", "dimension", 1, 3)
    within(rows, "textures", "layers", 1, LAYERS)
    within(rows, "textures", "swizzle", 0, _ONE)
    one_of("textures.base", rows["base"], Base)
    within(rows, "textures", "converted", -1, len(frame.names) - 1)
    flat = rows["dimension"] == 1
    each("textures.height", rows["height"], ~flat | (rows["height"] == 1), "be 1 of a line")
    solid = rows["dimension"] == 3
    each("textures.depth", rows["depth"], solid | (rows["depth"] == 1), "be 1 but of a volume")
    each("textures.layers", rows["layers"], ~solid | (rows["layers"] == 1), "be 1 of a volume")
    legal = ~rows["cube"] | ((rows["dimension"] == 2) & (rows["layers"] % len(FACES) == 0))
    each("textures.cube", rows["cube"], legal, "be of six 2D layers each")
    legal = ~rows["rectangle"] | ((rows["dimension"] == 2) & (rows["levels"] == 1))
    each("textures.rectangle", rows["rectangle"], legal, "be 2D, of one level")
    sizes = np.array([_octets(n, row) for n, row in enumerate(rows)], np.uint64)
    spans(rows, "textures", "first", sizes, np.uint64(len(frame.octets)), "octets")


def _octets(number, row):
    """Bytes of a texture; a shape that D3D11 has not is refused."""
    name = DXGI[Format(int(row["form"]))][0]
    width, height, depth, levels, layers = (
        int(row[field]) for field in ("width", "height", "depth", "levels", "layers")
    )
    try:
        check_shape(name, width, height, levels, len(FACES) if row["cube"] else 1, depth)
    except InputError as error:
        raise InputError(f"textures[{number}].{error.field}", error.rule, error.value) from error
    sizes = [[max(side >> level, 1) for side in (width, height, depth)] for level in range(levels)]
    return layers * sum(bytes_of(name, *size[:2]) * size[2] for size in sizes)


def _check_bindings(frame):
    rows = frame.bindings
    within(rows, "bindings", "name", 0, len(frame.names) - 1)
    within(rows, "bindings", "texture", -1, len(frame.textures) - 1)
    within(rows, "bindings", "sampler", 0, len(frame.samplers) - 1)
    one_of("bindings.environment", rows["environment"], Environment)


def _check_draws(frame):
    rows = frame.shadings
    if len(rows) not in (0, len(frame.draws)):
        rule = f"be as many as draws, {len(frame.draws)}, or none"
        raise InputError("shadings", rule, len(rows))
    within(rows, "shadings", "reason", -1, len(frame.names) - 1)
    within(rows, "shadings", "provoking", 0, 2)
    one_of("shadings.fog", rows["fog"], Fog)
    for field in ("fog_colour", "fog_density", "fog_start", "fog_end"):
        finite(rows, "shadings", field)
    for many, first in (("varyings", "first_varying"), ("bindings", "first_binding")):
        end = np.uint64(len(getattr(frame, many)))
        spans(rows, "shadings", first, rows[many].astype(np.uint64), end, many)
    if not len(rows):
        return
    # Of each draw the components of its varyings, from sums of all before.
    ends = np.concatenate([[0], np.cumsum(frame.varyings["components"], dtype=np.uint64)])
    first = rows["first_varying"]
    components = ends[first + rows["varyings"]] - ends[first]
    count = components * frame.draws["vertices"].astype(np.uint64)
    spans(rows, "shadings", "first_value", count, np.uint64(len(frame.values)), "values")
