# SPDX-License-Identifier: BSD-2-Clause
"""Parameters that can be swept, and the points of a sweep."""

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fixfunc.cosim import command_line
from fixfunc.cosim.parameters import value_of
from fixfunc.models.frontend.vertex_cache import REUSES
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.payload import integer
from fixfunc.models.state import draw_state
from fixfunc.models.tessellation import bezier
from fixfunc.models.texture.cache.texture_cache import CacheShape as TextureShape
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TOP_LIMIT

MEMORIES = ("near", "far", "dram", "shared")  # of fixfunc.cosim.simulation.volume.MEMORIES
TIMED = ("near", "far")  # those whose answers take ``latency``; of others DRAM says when
BOUNDS = ("both", "max", "none")  # of fixfunc.models.depth.hiz.HiZ
MOST_LATENCY = 1 << 16  # clocks: a frame of ten thousand misses then takes minutes
MOST_POINTS = 1 << 16
FROM_NAME = -1  # of latency: what the memory's name says
MESH, SCENE, RECORDED = KINDS = ("mesh", "scene", "recorded")


class Parameter(NamedTuple):
    """A parameter of a machine or of what is drawn."""

    name: str
    default: bool | int | str
    kinds: tuple[str, ...]  # of scenes that have it
    machines: tuple[str, ...]
    words: str


_ANY = ("golden", "hardware")
_GOLDEN, _HARDWARE = (_ANY[:1], _ANY[1:])
_SIZED = (MESH, SCENE)
PARAMETERS = (
    Parameter("size", "1280x720", _SIZED, _ANY, "pixels of the target, width x height"),
    Parameter("samples", 4, _SIZED, _ANY, "samples of a pixel: 1, 2, 4, 8"),
    Parameter("divisions", 8, (MESH,), _ANY, "of each side of the teapot's patches"),
    Parameter("memory", "near", KINDS, _HARDWARE, f"behind the hardware: {', '.join(MEMORIES)}"),
    Parameter("latency", FROM_NAME, KINDS, _HARDWARE, "clocks to every answer of near or far"),
    Parameter("ready", 160, KINDS, _HARDWARE, "clocks of 256 in which a channel does not stall"),
    Parameter("sets", 64, (MESH,), _GOLDEN, "of every tile cache, a power of two"),
    Parameter("ways", 4, (MESH,), _GOLDEN, "of every tile cache"),
    Parameter("table_lines", 256, (MESH,), _GOLDEN, "transfers of a mode table on chip"),
    Parameter("coding", "differences", (MESH,), _GOLDEN, "of depths: differences, anchor, raw"),
    Parameter("colours", "differences", (MESH,), _GOLDEN, "coding of colours: differences, raw"),
    Parameter("fast_clear", True, (MESH,), _GOLDEN, "a cleared tile is told by the table alone"),
    Parameter("hiz", "both", (MESH,), _GOLDEN, f"bounds of a tile in HiZ: {', '.join(BOUNDS)}"),
    Parameter("reuse", "batch", (MESH,), _GOLDEN, f"of vertices: {', '.join(REUSES)}"),
    Parameter("coded", True, (SCENE,), _GOLDEN, "targets are coded in memory"),
    Parameter("texture_bytes", 8192, (SCENE,), _GOLDEN, "first level of the texture cache"),
    Parameter("texture_ways", 4, (SCENE,), _GOLDEN, "of its first level"),
    Parameter("texture_second", 131072, (SCENE,), _GOLDEN, "bytes of its second level"),
    Parameter("texture_second_ways", 16, (SCENE,), _GOLDEN, "of its second level"),
)
CACHE = ("sets", "ways", "table_lines", "coding", "colours", "fast_clear")
TEXTURE = {
    "texture_bytes": "bytes",
    "texture_ways": "ways",
    "texture_second": "second",
    "texture_second_ways": "second_ways",
}


class Point(NamedTuple):
    """A scene, and every parameter that it has."""

    scene: str
    golden: bool
    values: dict[str, bool | int | str]

    @property
    def key(self) -> str:
        """It names the point: 16 hexadecimal digits."""
        text = json.dumps([self.scene, self.golden, sorted(self.values.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def size(self) -> tuple[int, int, int]:
        """Width and height in pixels, samples."""
        width, height = command_line.sides(self.values["size"])
        return width, height, int(self.values["samples"])

    def cache(self) -> CacheShape:
        """Of the tile caches of a golden mesh."""
        return CacheShape(**{name: self.values[name] for name in CACHE})

    def texture_cache(self) -> TextureShape:
        """Of a golden scene."""
        return TextureShape(**{field: self.values[name] for name, field in TEXTURE.items()})

    def memory_fields(self) -> dict[str, Any]:
        """Of :class:`fixfunc.cosim.simulation.volume.Memory`, in the place of the name's."""
        latency = self.values["latency"]
        fields = {"ready": self.values["ready"]}
        return fields if latency == FROM_NAME else fields | {"latency": (latency, latency)}


def kind_of(scene: str) -> str:
    """What a name or a path is: a mesh, a scene of a file or a folder, a recorded frame."""
    if scene.endswith(".npz"):
        return RECORDED
    is_folder = scene != "teapot" and Path(scene).is_dir()
    return SCENE if is_folder or scene.lower().endswith((".gltf", ".glb")) else MESH


def points(scenes: Sequence[str], over: Sequence[str], golden: bool) -> list[Point]:
    """Every scene at every combination of values, the last parameter fastest.

    Parameters
    ----------
    scenes : sequence of str
        ``teapot`` or paths.
    over : sequence of str
        ``name=value,value`` each.
    golden : bool
        The golden machine's, else the hardware's.

    Raises
    ------
    InputError
        A parameter that a scene does not have on this machine, twice the same, a value that breaks
        its rule, more than 65,536 points.
    """
    swept = dict(_parsed(over, golden))
    if len(swept) != len(over):
        raise InputError("parameters", "be named once each", " ".join(over))
    count = len(scenes)
    for values in swept.values():
        count *= len(values)
    if count > MOST_POINTS:
        raise InputError("points", f"be at most {MOST_POINTS}", count)
    out = []
    for scene in dict.fromkeys(scenes):
        known = known_of(scene, golden)
        for name in swept:
            if name not in known:
                rule = f"be one of {', '.join(known)}, which {_said(scene, golden)} has"
                raise InputError("parameter", rule, name)
        for values in itertools.product(*swept.values()):
            out.append(Point(scene, golden, known | dict(zip(swept, values, strict=True))))
            check(out[-1])
    return out


def known_of(scene: str, golden: bool) -> dict[str, bool | int | str]:
    """Parameters that a scene has on a machine, with their defaults."""
    machine = _ANY[not golden]
    kind = kind_of(scene)
    return {
        one.name: one.default
        for one in PARAMETERS
        if kind in one.kinds
        and machine in one.machines
        and (one.name != "divisions" or scene == "teapot")
    }


def _said(scene, golden):
    return f"{scene} on the {'golden machine' if golden else 'hardware'}"


def _parsed(over: Sequence[str], golden: bool) -> Iterator[tuple[str, list]]:
    """Names and values."""
    known = {one.name: one for one in PARAMETERS if _ANY[not golden] in one.machines}
    for text in over:
        name, equals, values = text.partition("=")
        if name not in known or not equals:
            rule = f"be name=value,value of {', '.join(known)}"
            raise InputError(f"parameter of the {_ANY[not golden]} machine", rule, text)
        kind = type(known[name].default)
        yield name, list(dict.fromkeys(value_of(name, one, kind) for one in values.split(",")))


def check(point: Point) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for values that break a rule."""
    values = point.values
    kind = kind_of(point.scene)
    if point.scene != "teapot" and not Path(point.scene).exists():
        raise InputError("scene", "be 'teapot', or a file or folder that exists", point.scene)
    if "size" in values:
        draw_state(*point.size)
    if "divisions" in values:
        integer("divisions", values["divisions"], 1, bezier.MOST_DIVISIONS)
    if not point.golden:
        _check_hardware(point)
    elif kind == MESH:
        point.cache()
        _check_word("hiz", values["hiz"], BOUNDS)
        _check_word("reuse", values["reuse"], REUSES)
    elif kind == SCENE:
        point.texture_cache()


def _check_hardware(point):
    values = point.values
    if "size" in values:
        for name, side in zip(("width", "height"), point.size[:2], strict=True):
            if side > TOP_LIMIT:
                rule = f"be at most {TOP_LIMIT}, the largest target of the top"
                raise InputError(name, rule, side)
    _check_word("memory", values["memory"], MEMORIES)
    latency = values["latency"]
    if latency != FROM_NAME and not 0 <= latency <= MOST_LATENCY:
        raise InputError("latency", f"lie in 0..{MOST_LATENCY} clocks", latency)
    if latency != FROM_NAME and values["memory"] not in TIMED:
        said = f"{latency}, with {values['memory']}"
        raise InputError("latency", f"be that of memory {' or '.join(TIMED)}", said)
    if not 1 <= values["ready"] <= 256:
        raise InputError("ready", "lie in 1..256 clocks of 256", values["ready"])


def _check_word(name, value, words):
    if value not in words:
        raise InputError(name, f"be one of {', '.join(words)}", value)
