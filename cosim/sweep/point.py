# SPDX-License-Identifier: BSD-2-Clause
"""A point of a sweep is drawn, and becomes a row of the table."""

import hashlib
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import job, mesh
from fixfunc.cosim.recorded import file
from fixfunc.cosim.recorded.drawing import Player
from fixfunc.cosim.recorded.result import failures_of, figures_of
from fixfunc.cosim.recorded.texels import picture
from fixfunc.cosim.scene import gltf, pictures
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.cosim.sweep.parameters import MESH, RECORDED, Point, kind_of
from fixfunc.cosim.verilog import sources
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.rtl.top import CONFIGS
from fixfunc.spec.counters import CLIENTS
from fixfunc.spec.dxgi import DEPTH_FORMATS

CONFIG = "frame"  # of the top: it has no resolves, and simulates faster
TEAPOT = "teapot"


@cache
def source_hash() -> str:
    """Of all sources that a row depends on: a row of other sources is stale."""
    return sources.behind([__name__])


def scene_hash(scene: str) -> str:
    """Of a scene's files: those beside a glTF file count, which may name them."""
    text = hashlib.sha256()
    if scene != TEAPOT:
        path = Path(scene)
        folder = path if path.is_dir() else path.parent
        every = path.is_dir() or path.suffix.lower() == ".gltf"
        for one in sorted(folder.iterdir()) if every else [path]:
            if one.is_file():
                text.update(f"\0{one.name}\0".encode() + one.read_bytes())
    return text.hexdigest()[:16]


def draw(point: Point) -> dict[str, Any]:
    """Draw a point.

    Returns
    -------
    dict
        A row: values by the names of :func:`fixfunc.cosim.sweep.schema.columns`; those that the
        point does not have are left out.

    Raises
    ------
    InputError
        A scene that cannot be read, or that the machine cannot draw.
    """
    start = time.perf_counter()
    kind = kind_of(point.scene)
    drawn = {MESH: _mesh, RECORDED: _recorded}.get(kind, _scene)(point)
    head = {
        "scene": point.scene,
        "machine": "golden" if point.golden else "hardware",
        "scene_hash": scene_hash(point.scene),
        "source_hash": source_hash(),
        "key": point.key,
        "failures": [],
    }
    seconds = time.perf_counter() - start
    return head | point.values | drawn | {"seconds": seconds}


def _mesh(point):
    """A mesh by the models, or by the top."""
    width, height, samples = point.size
    teapot = point.scene == TEAPOT
    vertices, faces = mesh.teapot(point.values["divisions"]) if teapot else mesh.load(point.scene)
    scene = Scene(vertices, faces, width, height, samples)
    frame = render(scene, reuse=point.values.get("reuse", "batch"))
    work = job.FrameJob(scene, frame, CONFIGS[CONFIG])
    counted = dict(frame.part.counters) | frame.counters
    if point.golden:
        bounds = point.values["hiz"]
        counted |= work.replay(point.cache(), None if bounds == "none" else bounds)
        return _row(counted, frame.colour, _moved(counted))
    drawn, held, failures = _simulated(work, point)
    counters = job.counters(drawn.outputs["counter_value"])
    row = _row(counted | counters, work.picture(held.data), _moved(counters), point)
    return row | {"failures": failures}


def _simulated(work, point):
    """The hardware's run, what its memory holds, and what differs."""
    from fixfunc.cosim.frame import hardware

    volume = hardware.library("top", CONFIG)
    fields = point.memory_fields()
    drawn, held = hardware.run(work, volume, work.inputs(), point.values["memory"], **fields)
    expected, _, golden = work.expected(drawn.outputs)
    found = hardware.differences(drawn.outputs, expected)
    counted = job.counters(drawn.outputs["counter_value"])
    found["counters"] = hardware.counter_differences(counted, golden)
    figures = {"rtl": found, "status": job.status(drawn.outputs["o"])}
    return drawn, held, hardware.failures(figures)


def _scene(point):
    """A scene of a file or a folder, through device and context."""
    width, height, samples = point.size
    path = Path(point.scene)
    load = pictures.load if path.is_dir() else gltf.load
    machine = {}
    if point.golden:
        machine = {"coded": point.values["coded"], "texture_cache": point.texture_cache()}
    drawing = Drawing(load(path, width / height), width, height, samples, **machine)
    recording = _recording(drawing.device, point)
    image = drawing.draw()
    return _of_device(drawing.device, image, recording, point)


def _recorded(point):
    """A recorded frame: its last picture, of which fragments were held to the recorded ones."""
    frame = file.read(Path(point.scene))
    player = Player(frame)
    drawn = player.draw()
    failures = failures_of(figures_of(frame, drawn))
    shown = [it for it in drawn.surfaces if it.form not in DEPTH_FORMATS]
    image = picture(shown[-1].found, shown[-1].form) if shown else np.zeros((0, 0, 3), np.uint8)
    recording = None
    if not point.golden:
        player = Player(frame, player.lookups)  # shaded as the top shades
        recording = _recording(player.device, point)
        player.draw()
    row = _of_device(player.device, image, recording, point)
    return row | {"failures": failures + row.get("failures", [])}


def _recording(device, point):
    """Listens to what is drawn, for the hardware."""
    from fixfunc.cosim.program.recording import Recording

    return None if point.golden else Recording(device)


def _of_device(device, image, recording, point):
    """What a device has counted, or the hardware of the same draws."""
    if recording is None:
        device.machine.settle()
        totals = dict(device.machine.totals)
        totals["texture_bytes_read"] = totals.pop("texture_bytes", 0)
        return _row(totals, image, _moved_of_device(totals))
    from fixfunc.cosim.program import hardware

    memory = point.values["memory"]
    run = hardware.draw(recording, memory, **point.memory_fields())
    row = _row(run.counters, image, _moved(run.counters), point)
    return row | {"failures": hardware.failures(run), "missing": len(run.job.missing)}


def _moved(counted):
    return job.traffic({"resolve_transfers": 0} | counted)


def _moved_of_device(totals):
    """Bytes by client and cause; targets of a device have tiles of several sizes."""
    causes = {"read": "fill", "written": "write_back"}
    return [
        (client, cause, "", 0, totals.get(f"{client}_bytes_{done}", 0))
        for client in CLIENTS
        for done, cause in causes.items()
    ]


def _row(
    counted: Mapping[str, int], image: np.ndarray, moved: list, point: Point | None = None
) -> dict[str, Any]:
    """Counters, bytes, bound and picture; the point is that of hardware."""
    memory = point.values["memory"] if point else "near"
    terms = bound.terms(counted, moved, memory)
    most = max(terms, key=lambda term: term.clocks, default=bound.Term("", 0))
    read = sum(size for _, cause, *_, size in moved if cause in bound.READS)
    return dict(counted) | {
        "bytes_read": read,
        "bytes_written": sum(size for *_, size in moved) - read,
        "terms": [term._asdict() for term in terms],
        "bound": most.words,
        "least_clocks": most.clocks,
        "picture": _hash(image),
    }


def _hash(image):
    """Of a picture: uint8, shape (height, width, 3)."""
    size = np.array(image.shape, "<u4").tobytes()
    return hashlib.sha256(size + np.ascontiguousarray(image).tobytes()).hexdigest()
