# SPDX-License-Identifier: BSD-2-Clause
"""Parts of constant buffers [fs 5.3.4.3.2]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.errors import InputError
from tests.host.drawing import LEFT, MEMORY, RIGHT, WHOLE, Scene

CONSTANT = 16  # bytes
MOST = 4096  # constants that a shader sees


def seen(device, slot=0):
    """What a compute shader sees of a slot: uint32, shape (constants, 4)."""
    found = []
    shader = ComputeShader(lambda _, bound: found.append(bound.constants(slot)))
    device.context.cs.set_shader(device.create_compute_shader(shader))
    device.context.dispatch(1)
    (data,) = found
    assert not data.flags.writeable
    return data.view("<u4").reshape(-1, 4)


def numbered(device, count):
    """A buffer of constants, all of whose words differ, and these words."""
    words = 1 + np.arange(4 * count, dtype="<u4").reshape(count, 4)
    return device.create_buffer(data=words, bind=Bind.CONSTANT_BUFFER), words


@pytest.mark.plan("host-28")
@pytest.mark.parametrize(
    ("first", "count"), [(0, 0), (0, 16), (16, 16), (32, 48), (80, 32), (96, 16), (1 << 27, 4096)]
)
def test_a_shader_sees_a_part_and_zeros_behind_its_buffer(first, count):
    device = Device(MEMORY)
    buffer, words = numbered(device, 100)
    numbered(device, 200)  # what lies behind it is not seen
    device.context.cs.set_constant_buffers(2, [buffer], [first], [count])
    right = np.zeros((count, 4), np.uint32)
    held = words[first : first + count]
    right[: len(held)] = held
    assert (seen(device, 2) == right).all()


@pytest.mark.plan("host-28")
def test_a_greater_buffer_is_seen_up_to_4096_constants():
    device = Device(MEMORY)
    for count in (1, 4096, 4097, 5000):
        buffer, words = numbered(device, count)
        device.context.cs.set_constant_buffers(0, [buffer])
        assert (seen(device) == words[:MOST]).all()
        device.context.cs.set_constant_buffers(0, [buffer], [16])
        assert (seen(device) == words[16 : 16 + MOST]).all()
    device.context.cs.set_constant_buffers(0, [buffer], [4992], [4096])
    assert (seen(device)[:8] == words[4992:]).all()
    assert not seen(device)[8:].any()


@pytest.mark.plan("host-28")
def test_draws_take_parts_of_one_buffer():
    """All constants of a frame are written at once; a list brings back what was bound."""
    scene = Scene()
    context = scene.context
    colours = np.zeros((48, 4), "<f4")
    colours[[0, 16, 32]] = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)
    buffer = scene.device.create_buffer(data=colours, bind=Bind.CONSTANT_BUFFER)

    def plain(quads, bound):
        return PixelResults(np.broadcast_to(bound.floats(1)[:4], (*quads.x.shape, 4)).copy())

    scene.shade(plain)
    context.om.set_render_targets([scene.target])
    deferred = scene.device.create_deferred_context()
    deferred.ps.set_constant_buffers(1, [buffer], [32], [16])
    commands = deferred.finish_command_list()
    for number, points in enumerate((WHOLE, LEFT, RIGHT)):
        context.ps.set_constant_buffers(1, [buffer], [16 * number], [16])
        context.execute_command_list(commands, restore_state=True)
        scene.draw(points)
    assert (scene.image()[:, :16, 0] == (0, 255, 0, 255)).all()
    assert (scene.image()[:, 16:, 0] == (0, 0, 255, 255)).all()


@pytest.mark.plan("host-28")
@pytest.mark.parametrize(
    ("given", "text"),
    [
        (([8], [16]), "first constant must be a multiple of 16, not 8"),
        (([16], [8]), "constant count must be a multiple of 16, not 8"),
        (([0], [4112]), r"constant count must lie in 0\.\.4096, not 4112"),
        (([-16], [16]), r"first constant must lie in 0\.\.268435455, not -16"),
        (([0, 0], [16, 16]), r"first_constants must lie in 1\.\.1, not 2"),
        (([0], []), r"constant_counts must lie in 1\.\.1, not 0"),
        (([0.5], [16]), "first_constants must"),
    ],
)
def test_parts_that_break_a_rule(given, text):
    device = Device(MEMORY)
    buffer, words = numbered(device, 64)
    device.context.cs.set_constant_buffers(0, [buffer])
    with pytest.raises(InputError, match=rf"ShaderStage\.set_constant_buffers: {text}"):
        device.context.cs.set_constant_buffers(0, [buffer], *given)
    assert (seen(device) == words).all()


@pytest.mark.plan("host-28")
def test_a_part_of_a_released_buffer_is_not_used():
    device = Device(MEMORY)
    buffer, _ = numbered(device, 64)
    device.context.cs.set_constant_buffers(0, [buffer], [16], [16])
    device.release(buffer)
    with pytest.raises(InputError, match="constants 0 must not be released"):
        seen(device)
