# SPDX-License-Identifier: BSD-2-Clause
"""What the model says would help, tried on the hardware."""

from collections.abc import Iterator
from dataclasses import replace

from bench import frames
from bench.predicted.rows import measured
from fixfunc.cosim.frame import hardware
from fixfunc.cosim.frame.job import FrameJob
from fixfunc.cosim.frame.vertex_list import GROUPS
from fixfunc.models.performance.params import NEAR, MachineParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.scene.render import render

STEADY = replace(NEAR, address_clocks=1.0, write_clocks=1.0)
MEMORY = "memory whose channels never stall"
EARLIER = "slots released a group of vertices earlier"
CHANGES = {
    "slivers and fans, 1x": MEMORY,
    "bunny, 1x": EARLIER,
    "torus of 100,352 triangles, 1x": EARLIER,
    "teapot, adaptive patches, 1x": EARLIER,
}


def rows() -> Iterator[dict]:
    """Clocks of frames that something was changed for, measured and predicted."""
    params = hardware.bench("top").parameters("frame")
    scenes = dict(frames.scenes())
    for name, change in CHANGES.items():
        scene = scenes[name]
        is_earlier = change == EARLIER
        job = FrameJob(scene, render(scene), params, ahead=GROUPS // 4 * (1 + is_earlier))
        counted, events, _ = measured(job, "near", **({} if is_earlier else {"ready": 256}))
        machine = MachineParams(memory=NEAR if is_earlier else STEADY)
        yield {
            "name": name,
            "change": change,
            "measured": counted["clocks"],
            "predicted": predict(events, machine).clocks,
        }
