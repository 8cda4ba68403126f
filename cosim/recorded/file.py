# SPDX-License-Identifier: BSD-2-Clause
"""Files of recorded frames: written, and read with every number checked."""

import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fixfunc.cosim.recorded.checks import each, finite, one_of, spans, within
from fixfunc.cosim.recorded.frame import (
    ARRAYS,
    SHADING_ARRAYS,
    VERSION,
    VERSIONS,
    Event,
    RecordedFrame,
)
from fixfunc.cosim.recorded.shading_checks import check_shading
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.output.formats import RENDERABLE
from fixfunc.spec.dxgi import DEPTH_FORMATS, FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TARGET_LIMIT, BlendFactor, BlendOp, Compare, Cull, StencilOp

MOST = 1 << 31  # bytes of all arrays
_HEAD = {"version": np.dtype("<u4"), "number": np.dtype("<u4")}
_TEXTS = {"program": 0, "refused": 1, "names": 1}  # and their dimensions
_TYPES = ARRAYS | SHADING_ARRAYS
_LATER = {"names", *SHADING_ARRAYS}  # than version 1
_MEMBERS = (*_HEAD, *_TEXTS, *_TYPES)
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_FLOATS = {form for form in RENDERABLE if "INT" not in form.name}


def write(frame: RecordedFrame) -> bytes:
    """A frame as a file: compressed arrays of NumPy, by name."""
    arrays = {name: getattr(frame, name) for name in _TYPES}
    arrays["version"] = np.array(VERSION, "<u4")
    arrays["number"] = np.array(frame.number, "<u4")
    arrays["program"] = np.array(frame.program, str)
    arrays["refused"] = np.array(frame.refused, str)
    arrays["names"] = np.array(frame.names, str)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def read(path: Path) -> RecordedFrame:
    """A frame of a file.

    Nothing is allocated but what the file says that it holds, at most :data:`MOST` bytes.

    Raises
    ------
    InputError
        No such file; another version; arrays that are missing, of another type or size; a number
        that is out of its range. The error names file, array, row and field.
    """
    if not path.is_file():
        raise InputError("frame", "be a file that exists", path)
    try:
        found = _arrays(path)
        frame = RecordedFrame(
            str(found.pop("program")),
            int(found.pop("number")),
            refused=found.pop("refused").tolist(),
            names=found.pop("names", np.zeros(0, str)).tolist(),
            **found,
        )
    except InputError as error:
        raise InputError(f"{path.name}: {error.field}", error.rule, error.value) from error
    except Exception as error:  # whatever zipfile and NumPy meet in a broken file
        rule = "be a frame as 'fixfunc record' writes it"
        raise InputError(path.name, rule, str(error) or type(error).__name__) from error
    try:
        _check(frame)
    except InputError as error:
        raise InputError(f"{path.name}: {error.field}", error.rule, error.value) from error
    return frame


def _arrays(path):
    """Arrays by name, of the types that they should have."""
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        version = VERSION
        if "version" in infos:
            version = int(_array(archive, "version", infos["version"]))
            if version not in VERSIONS:
                raise InputError("version", f"be {' or '.join(map(str, VERSIONS))}", version)
        members = [name for name in _MEMBERS if version > 1 or name not in _LATER]
        if len(archive.infolist()) != len(members) or set(infos) != set(members):
            found = ", ".join(sorted(info.filename for info in archive.infolist())[:20])
            raise InputError("arrays", f"be {', '.join(sorted(members))}", found or "none")
        size = sum(info.file_size for info in infos.values())
        if size > MOST:
            raise InputError("arrays", f"have at most {MOST} bytes", size)
        return {name: _array(archive, name, infos[name]) for name in members if name != "version"}


def _array(archive, name, info):
    """An array, allocated when its header agrees with its size."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise InputError(name, "be of NumPy's format 1.0 or 2.0", version)
        shape, by_column, kind = _HEADERS[version](stream)
        wanted = _HEAD.get(name, _TYPES.get(name))
        if kind.kind != "U" if wanted is None else kind != wanted:
            raise InputError(f"type of {name}", f"be {wanted or 'text'}", kind)
        dimensions = {"vertices": 2, **_TEXTS, **dict.fromkeys(_HEAD, 0)}.get(name, 1)
        if len(shape) != dimensions or by_column or (name == "vertices" and shape[1] != 4):
            rule = "be (n, 4)" if dimensions == 2 else f"have {dimensions} dimensions"
            raise InputError(f"shape of {name}", rule, shape)
        size = info.file_size - stream.tell()
        if math.prod(shape) * kind.itemsize != size:
            raise InputError(f"shape of {name}", f"be that of {size} bytes of {kind}", shape)
        data = stream.read(size)
    return np.frombuffer(data, kind).reshape(shape) if size else np.zeros(shape, kind)


# What numbers may be.


def _check(frame):
    """Every number is one that a frame may have."""
    _check_surfaces(frame)
    _check_contents(frame)
    _check_clears(frame)
    _check_draws(frame)
    _check_fragments(frame)
    _check_events(frame)
    check_shading(frame)


def _check_surfaces(frame):
    surfaces = frame.surfaces
    forms = _FLOATS | set(DEPTH_FORMATS)
    legal = np.isin(surfaces["form"], [int(form) for form in forms])
    each("surfaces.form", surfaces["form"], legal, "be a format of targets, not of integers")
    for side in ("width", "height"):
        within(surfaces, "surfaces", side, 1, TARGET_LIMIT)


def _check_contents(frame):
    contents = frame.contents
    within(contents, "contents", "surface", 0, len(frame.surfaces) - 1)
    sides = frame.surfaces[contents["surface"]]
    texels = sides["width"].astype(np.uint64) * sides["height"]
    spans(contents, "contents", "first", texels, np.uint64(len(frame.texels)), "texels")
    most = np.zeros(len(frame.texels), "<u4")
    for row, count in zip(contents, texels.tolist(), strict=True):
        form = Format(int(frame.surfaces[row["surface"]]["form"]))
        bits = {Format.D16_UNORM: 16, Format.D24_UNORM_S8_UINT: 24}.get(form, 32)
        bits *= form in DEPTH_FORMATS
        most[int(row["first"]) : int(row["first"]) + count] = (1 << bits) - 1
    depths = frame.texels["depth"]
    each("texels.depth", depths, depths <= most, "have the bits of its surface's format")


def _check_clears(frame):
    clears = frame.clears
    within(clears, "clears", "surface", 0, len(frame.surfaces) - 1)
    _check_views(frame, clears, "clears", "surface")
    within(clears, "clears", "planes", 1, 3)
    forms = frame.surfaces[clears["surface"]]["form"]
    has_stencil = np.isin(forms, [int(form) for form, has in DEPTH_FORMATS.items() if has])
    legal = has_stencil | (clears["planes"] == 1)
    each("clears.planes", clears["planes"], legal, "be those of its surface")
    finite(clears, "clears", "colour")
    legal = (clears["depth"] >= 0) & (clears["depth"] <= 1)
    each("clears.depth", clears["depth"], legal, "be 0 to 1")


def _check_views(frame, rows, array, field):
    """Views are of their surfaces' families."""
    families = {int(form): int(info.family) for form, info in FORMATS.items()}
    live = rows[rows[field] >= 0]
    of = frame.surfaces[live[field]]["form"]
    numbers = [int(form) for form in _FLOATS | set(DEPTH_FORMATS)]
    same = [
        families.get(int(form)) == families[int(its)]
        for form, its in zip(live["form"], of, strict=True)
    ]
    legal = np.isin(live["form"], numbers) & np.array(same, bool)
    each(f"{array}.form", live["form"], legal, "be of the family of its surface")


_ENUMERATIONS = {
    "cull": Cull,
    "depth_func": Compare,
    "alpha_func": Compare,
}
_FINITE = (
    *("viewport", "slope_scaled_depth_bias", "depth_bias_clamp", "blend_factor", "alpha_ref"),
)


def _check_draws(frame):
    draws = frame.draws
    for side, is_depth in (("colour", False), ("depth", True)):
        within(draws, "draws", side, -1, len(frame.surfaces) - 1)
        forms = frame.surfaces["form"][draws[side]] if len(frame.surfaces) else draws[side]
        depths = np.isin(forms, [int(form) for form in DEPTH_FORMATS])
        legal = (draws[side] < 0) | (depths == is_depth)
        kind = "depths" if is_depth else "colours"
        each(f"draws.{side}", draws[side], legal, f"be a surface of {kind}")
    legal = (draws["colour"] >= 0) | (draws["depth"] >= 0)
    each("draws.colour", draws["colour"], legal, "be a surface, or depth be one")
    _check_views(frame, draws, "draws", "colour")
    for field, kind in _ENUMERATIONS.items():
        one_of(f"draws.{field}", draws[field], kind)
    for field in _FINITE:
        finite(draws, "draws", field)
    _check_blend(draws)
    for side in ("front_face", "back_face"):
        for operation in ("fail", "depth_fail", "pass"):
            one_of(f"draws.{side}.{operation}", draws[side][operation], StencilOp)
        one_of(f"draws.{side}.func", draws[side]["func"], Compare)
    within(draws, "draws", "write_mask", 0, 15)
    _rows(draws, "viewport", lambda draw: Viewport(*draw["viewport"].tolist()))
    spans(
        draws,
        "draws",
        "first_vertex",
        draws["vertices"],
        np.uint64(len(frame.vertices)),
        "vertices",
    )
    each("draws.vertices", draws["vertices"], draws["vertices"] % 3 == 0, "be three a triangle")
    spans(
        *(draws, "draws", "first_fragment", draws["fragments"]),
        *(np.uint64(len(frame.fragments)), "fragments"),
    )


def _check_blend(draws):
    for field in draws["blend"].dtype.names:
        kind = BlendOp if "op" in field else BlendFactor
        one_of(f"draws.blend.{field}", draws["blend"][field], kind)
        if field in ("src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"):
            legal = draws["blend"][field] < BlendFactor.SRC1_COLOR
            each(f"draws.blend.{field}", draws["blend"][field], legal, "be of one source")


def _rows(draws: np.ndarray, field: str, make: Callable[[np.void], object]) -> None:
    """Refuse rows that a model refuses."""
    for n, draw in enumerate(draws):
        try:
            make(draw)
        except InputError as error:
            raise InputError(f"draws[{n}].{field}", error.rule, error.value) from error


def _check_fragments(frame):
    fragments = frame.fragments
    for draw in frame.draws:
        some = frame.draw_fragments(draw)
        width, height = frame.size(draw)
        each("fragments.x", some["x"], some["x"] < width, f"be below {width}, of its target")
        each("fragments.y", some["y"], some["y"] < height, f"be below {height}, of its target")
    legal = (fragments["depth"] >= 0) & (fragments["depth"] <= 1)
    each("fragments.depth", fragments["depth"], legal, "be 0 to 1")


def _check_events(frame):
    events = frame.events
    one_of("events.kind", events["kind"], Event)
    for kind, rows in (
        (Event.CONTENTS, frame.contents),
        (Event.RESULT, frame.contents),
        (Event.CLEAR, frame.clears),
        (Event.DRAW, frame.draws),
    ):
        some = events["number"][events["kind"] == kind]
        each(f"events.{kind.name.lower()}", some, some < len(rows), f"be below {len(rows)}")
    drawn = events["number"][events["kind"] == Event.DRAW]
    if not np.array_equal(drawn, np.arange(len(frame.draws))):
        raise InputError("events", "draw each draw once, in order", drawn.tolist()[:20])
