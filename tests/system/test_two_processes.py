# SPDX-License-Identifier: BSD-2-Clause
"""Two processes fill rectangles through one golden machine, and neither sees the other."""

from itertools import pairwise

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.system.scheduler import Scheduler, Submission
from fixfunc.models.system.user_mode_driver import SetState, UserModeDriver
from fixfunc.spec.dxgi import Format

SIZE = 24
COLOUR, TARGET = range(2)  # pieces of state
PROCESSES = ("first", "second")


def programs(rng):
    """Of each process: colours that are set and rectangles that are filled, in order."""
    found = {}
    for name in PROCESSES:
        calls = []
        for _ in range(30):
            if rng.random() < 0.5:
                calls.append((*rng.choice([0, 1], 3).tolist(), 1))
            x, y, width, height = rng.integers(1, 16, 4).tolist()
            calls.append([(x, y, x + width, y + height)])
        found[name] = [(1, 1, 0, 1), *calls]
    return found


def buffers_of(name, calls):
    """Command buffers of a process, by its driver."""
    driver = UserModeDriver(slots=2, words=16)
    driver.set_state(TARGET, name)
    for call in calls:
        if isinstance(call, tuple):
            driver.set_state(COLOUR, call)
        else:
            driver.draw(call)
    driver.flush()
    return driver.buffers


def pictures(order, saved):
    """What a machine leaves of command buffers: (process, buffer) in order.

    ``saved``: the state of a process is kept when another one has the card, and put back.
    """
    device = Device()
    textures = {
        name: device.create_texture2d(Format.R8G8B8A8_UNORM, SIZE, SIZE, bind=Bind.RENDER_TARGET)
        for name in PROCESSES
    }
    views = {name: device.create_render_target_view(it) for name, it in textures.items()}
    for view in views.values():
        device.context.clear_render_target_view(view, (0, 0, 0, 0))
    contexts = {name: {} for name in PROCESSES}
    shared = {}
    for name, buffer in order:
        state = contexts[name] if saved else shared
        for command in buffer:
            if isinstance(command, SetState):
                state[command.slot] = command.value
            else:
                device.context.clear_view(views[state[TARGET]], state[COLOUR], command.call)
    return {name: device.context.read(it) for name, it in textures.items()}


def painted(calls):
    """A process' picture, rectangle by rectangle."""
    found = np.zeros((SIZE, SIZE, 1, 4), np.uint8)
    colour = None
    for call in calls:
        if isinstance(call, tuple):
            colour = call
        else:
            x0, y0, x1, y1 = call[0]
            found[y0:y1, x0:x1, 0] = np.array(colour) * 255
    return found


@pytest.mark.plan("submission-5")
@pytest.mark.parametrize("time_slice", [None, 0, 25])
def test_pictures_of_two_processes_are_their_own(time_slice):
    """Whoever has the card when; without a switch of state they draw into each other's."""
    calls = programs(np.random.default_rng(5))
    buffers = {name: buffers_of(name, calls[name]) for name in PROCESSES}
    times = {name: [Submission(0, len(it)) for it in buffers[name]] for name in PROCESSES}
    scheduler = Scheduler(switch=3, time_slice=time_slice, timeout=100, reset=0)
    executions = scheduler.run(times)
    order = [(it.process, buffers[it.process][it.number]) for it in executions]
    found = pictures(order, saved=True)
    for name in PROCESSES:
        assert (found[name] == painted(calls[name])).all()
    changes = sum(one[0] != two[0] for one, two in pairwise(order))
    if time_slice is not None:
        assert changes > 2
        mixed = pictures(order, saved=False)
        assert any((mixed[name] != found[name]).any() for name in PROCESSES)
