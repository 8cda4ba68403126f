# SPDX-License-Identifier: BSD-2-Clause
"""A scene's frame on machines of any shape, by the performance model."""

from collections.abc import Callable
from pathlib import Path

from fixfunc.cosim.explore.machines import COLUMNS, MACHINES, WHAT_IF
from fixfunc.cosim.explore.subject import Numbers, Subject
from fixfunc.cosim.figures.bound import Term
from fixfunc.cosim.frame import job, mesh
from fixfunc.cosim.sweep.parameters import MESH, RECORDED, kind_of
from fixfunc.models.performance.events import FrameEvents
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.rtl.top import CONFIGS
from fixfunc.spec.errors import InputError

CONFIG = "frame"  # of the top


def subject(scene: str, size: tuple[int, int], samples: int, divisions: int) -> Subject:
    """A scene's frame, to be explored; the golden top draws it once.

    Parameters
    ----------
    scene : str
        ``teapot``, or a path of a mesh, a scene or a recorded frame.
    size : (int, int)
        Pixels; a recorded frame has its own.
    samples : int
        Of a pixel.
    divisions : int
        Of each side of the teapot's patches.

    Raises
    ------
    InputError
        A scene that cannot be read, or of which the top executes no draw.
    """
    events = _events(scene, size, samples, divisions)
    title = f"{Path(scene).stem} on several machines"
    evaluate = _evaluating(events)
    return Subject(title, COLUMNS, "clocks", "clocks", MACHINES, evaluate, WHAT_IF)


def _evaluating(events: FrameEvents) -> Callable[[MachineParams], Numbers]:
    def evaluate(machine: MachineParams) -> Numbers:
        found = predict(events, machine)
        values = {
            "clocks": int(found.clocks),
            "milliseconds": round(1000 * float(found.seconds), 4),
            "holding": found.holding,
            "depth_bytes": int(found.bytes["depth"]),
            "stencil_bytes": int(found.bytes["stencil"]),
            "colour_bytes": int(found.bytes["colour"]),
            "command_bytes": int(found.bytes["commands"]),
        }
        terms = [Term(name, round(float(busy))) for name, busy in found.busy.items() if busy]
        return Numbers(values, terms, int(found.clocks))

    return evaluate


def _events(scene, size, samples, divisions):
    """What a scene asks of a machine."""
    if scene != "teapot" and not Path(scene).exists():
        raise InputError("scene", "be 'teapot', 'bandwidth', or a path that exists", scene)
    kind = kind_of(scene)
    if kind == MESH:
        shape = mesh.teapot(divisions) if scene == "teapot" else mesh.load(scene)
        drawn = Scene(*shape, *size, samples)
        return job.FrameJob(drawn, render(drawn), CONFIGS[CONFIG]).events()
    from fixfunc.cosim.program.packets import ProgramJob
    from fixfunc.cosim.program.recording import Recording

    drawing = _recorded(scene) if kind == RECORDED else _scene(scene, size, samples)
    recording = Recording(drawing.device)
    drawing.draw()
    return ProgramJob(recording, CONFIGS[CONFIG]).events()


def _scene(scene, size, samples):
    """A scene of a file or a folder, through device and context."""
    from fixfunc.cosim.scene import gltf, pictures
    from fixfunc.cosim.scene.drawing import Drawing

    load = pictures.load if Path(scene).is_dir() else gltf.load
    return Drawing(load(Path(scene), size[0] / size[1]), *size, samples)


def _recorded(scene):
    """A recorded frame, shaded as the top shades."""
    from fixfunc.cosim.recorded import file
    from fixfunc.cosim.recorded.drawing import Player

    first = Player(file.read(Path(scene)))
    first.draw()
    return Player(file.read(Path(scene)), first.lookups)
