# SPDX-License-Identifier: BSD-2-Clause
"""Kept results, as a golden frame and as the hardware leave them, without hardware."""

import json
from pathlib import Path

import numpy as np

from fixfunc.cosim.figures import bound, counters
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.frame.frame import run
from fixfunc.cosim.frame.job import FrameJob, traffic
from fixfunc.cosim.reference import top
from fixfunc.cosim.report import overlays, page
from fixfunc.cosim.report.capture import Capture
from fixfunc.cosim.report.history import depth_values
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.scene.shading import BACKGROUND
from fixfunc.rtl.top import TopParams
from fixfunc.spec.counters import COUNTERS, PROBES
from fixfunc.spec.state import DepthFormat

SIZE = (160, 90, 4)


def golden(folder: Path) -> Path:
    """By the golden models alone."""
    run(Scene(*mesh.teapot(2), *SIZE), folder, title="teapot", golden=True)
    return folder


def counted(folder: Path, clocks: int = 30_000, **changed: int) -> Path:
    """Golden counters in the place of the hardware's; ``clocks``, and those that are changed."""
    scene = Scene(*mesh.teapot(2), *SIZE)
    frame = render(scene)
    job = FrameJob(scene, frame, TopParams())
    memory = job.data.copy()
    capture = Capture(*SIZE)
    capture.fill(BACKGROUND)
    machine = top.machine(job.params, memory, shader=job._shader, probe=capture)
    with capture.draw("teapot", "triangle list"):
        capture.list(frame.part, np.arange(len(frame.triangles)), None)
        drawn = machine.draw(*job.start)
    replayed = counters.replayed(machine, drawn)
    hardware = dict.fromkeys(COUNTERS, 0) | replayed | {"clocks": clocks, "stall_setup": 5432}
    hardware |= changed
    moved = traffic(hardware)
    folder.mkdir(exist_ok=True)
    run(scene, folder, title="teapot", golden=True)
    figures = json.loads((folder / "frame.json").read_text()) | {
        "hardware": hardware,
        "golden": replayed,
        "clocks": clocks,
        "clocks_of_bound": bound.of_bound(clocks, bound.terms(hardware, moved)),
        "stalls": {name: hardware[f"stall_{name}"] / clocks for name in PROBES},
        "moved": moved,
        "memory": "near: answers after 0 to 8 clocks",
        "rtl": {"memory": {"beats": 4321, "mismatches": 0}},
    }
    (folder / "frame.json").write_text(json.dumps(figures))
    coded = job.modes(memory).reshape(capture.maps.triangles.shape)
    depth = depth_values(frame.depth[:, :, 0], DepthFormat.D24)
    more = {
        "depth": overlays.depths(depth),
        "modes": overlays.modes(coded, capture.maps.tile),
    }
    page.write(folder / "frame.html", page.Report("teapot", figures, frame.colour, capture, more))
    return folder
