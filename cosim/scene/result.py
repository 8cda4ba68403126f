# SPDX-License-Identifier: BSD-2-Clause
"""A scene is drawn, by the golden machine and by the hardware, and compared."""

import io
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from fixfunc.cosim import files
from fixfunc.cosim.figures import kept
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.report import overlays, page
from fixfunc.cosim.report.capture import Capture
from fixfunc.cosim.report.history import depth_values
from fixfunc.cosim.scene import gltf, pictures
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.cosim.scene.scene import Scene
from fixfunc.cosim.time.outputs import NONE, Outputs
from fixfunc.models.state import draw_state
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TOP_LIMIT, DepthFormat

_SHOWN = 20  # lines of what is left out; frame.json has all


def run(
    path: Path,
    output: Path,
    size: tuple[int, int],
    samples: int,
    memory: str | None,
    camera: int | None = None,
    pixels: Sequence[tuple[int, int]] = (),
    outputs: Outputs = NONE,
) -> list[str]:
    """Draw the scene of a file or a folder, write picture and figures, and say what was left out.

    Parameters
    ----------
    path : Path
    output : Path
        A folder, for ``frame.png``, ``frame.json`` and ``frame.html``.
    size : (int, int)
        Width and height, pixels.
    samples : int
    memory : str, optional
        What lies behind the hardware, or several with commas between them; None: golden alone.
    camera : int, optional
        Which of the file's cameras looks.
    pixels : sequence of (int, int)
        Whose history the report has, whatever there is.
    outputs : Outputs
        Files of the hardware over time.

    Returns
    -------
    list of str
        Why the frame is not believed, in words.
    """
    draw_state(*size, samples)
    if memory is not None:
        _check_hardware(size, memory)
    capture = Capture(*size, samples, pixels)
    scene = _load(path, size[0] / size[1], camera)
    drawing = Drawing(scene, *size, samples, capture)
    recording = _recording(drawing) if memory is not None else None
    outputs.check()
    folder = files.open_folder(output)
    with Steps() as step:
        step("drawing the scene")
        start = time.perf_counter()
        image = drawing.draw()
        seconds = time.perf_counter() - start
    _write_picture(folder / "frame.png", image)
    figures = _figures(path, size, samples, scene, drawing) | {
        "counters": capture.counters,
        "seconds": seconds,
    }
    print(_words(figures))
    failures, timeline = [], None
    if recording:
        failures, timeline = _add_hardware(figures, recording, memory, outputs)
        outputs.write(timeline)
    files.write(
        folder / "frame.json", json.dumps(figures | {"failures": failures}, indent=2) + "\n"
    )
    report = _report(figures, drawing, capture, image)
    report.timeline = timeline
    page.write(folder / "frame.html", report)
    for line in failures:
        print(line)
    print(f"wrote frame.png, frame.json and frame.html to {folder}")
    return failures


def _add_hardware(figures, recording, memory, outputs):
    """The hardware draws it, with each memory; why that is not believed, and the first's time."""
    from fixfunc.cosim.program import hardware

    failures = []
    timelines = []
    figures["hardware"] = {}
    for number, name in enumerate(memory.split(",")):
        with Steps() as step:
            step(f"drawing it by the hardware, which is built once; memory: {name}")
            run_of = hardware.draw(recording, name, NONE if number else outputs)
        failures += hardware.failures(run_of)
        timelines.append(run_of.timeline)
        figures["hardware"][name] = hardware.figures(run_of)
        print("\n".join(hardware.words(figures["hardware"][name])))
    return failures, timelines[0]


def _report(figures, drawing, capture, image):
    """The page of a scene."""
    words = drawing.depths[:, :, 0]
    first = depth_values(words & (1 << 24) - 1, DepthFormat.D24)
    more = {
        "depth": overlays.depths(first),
        "modes": overlays.modes(drawing.modes, capture.maps.tile),
    }
    if np.isfinite(capture.levels).any():
        more["levels"] = overlays.levels(capture.levels)
    run_of = next(iter(figures.get("hardware", {}).values()), None)
    counted = kept.of_program(figures["title"], figures["counters"], run_of)
    counted["seconds"] = {"drawing": figures["seconds"]}
    notes = [f"{len(figures['left_out'])} things of the file are not drawn: see frame.json."]
    title = f"{figures['title']}, {figures['width']}x{figures['height']}, {figures['samples']}x"
    return page.Report(title, counted, image, capture, more, notes if figures["left_out"] else [])


def _load(path, aspect, camera):
    """The scene of a file, or of a folder."""
    if not path.is_dir():
        return gltf.load(path, aspect, camera)
    if camera is not None:
        raise InputError("camera", "be one of a file, since a folder has none", camera)
    return pictures.load(path, aspect)


def _check_hardware(size, memory):
    """The top holds such a target, and there are such memories."""
    from fixfunc.cosim.frame import hardware

    for name, side in zip(("width", "height"), size, strict=True):
        if side > TOP_LIMIT:
            raise InputError(name, f"be at most {TOP_LIMIT}, the largest target of the top", side)
    hardware.named(memory)


def _recording(drawing):
    """Listens to the scene's draws."""
    from fixfunc.cosim.program.recording import Recording

    return Recording(drawing.device)


def _figures(path, size, samples, scene: Scene, drawing: Drawing) -> dict[str, Any]:
    """What has been drawn, as JSON has it."""
    return {
        "kind": "scene",
        "title": path.resolve().name,
        "width": size[0],
        "height": size[1],
        "samples": samples,
        "meshes": len(scene.placed),
        "instances": sum(len(placed.places) for placed in scene.placed),
        "draws": drawing.draws,
        "triangles": drawing.triangles,
        "camera": "of the scene" if scene.camera is not None else "all in view",
        "left_out": scene.left_out,
    }


def _words(figures):
    """Lines to read."""
    lines = [
        f"{figures['title']}: {figures['instances']} instances, {figures['draws']} draws, "
        f"{figures['triangles']} triangles; camera: {figures['camera']}"
    ]
    lines += [f"left out: {line}" for line in figures["left_out"][:_SHOWN]]
    more = len(figures["left_out"]) - _SHOWN
    if more > 0:
        lines.append(f"left out: {more} more, in frame.json")
    return "\n".join(lines)


def _write_picture(path, pixels):
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "png")
    files.write(path, data.getvalue())
