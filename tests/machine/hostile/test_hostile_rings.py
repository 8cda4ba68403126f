# SPDX-License-Identifier: BSD-2-Clause
"""Rings of legal packets in which some bits are others: errors are typed, and the ring ends."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host.packets import RING, STATES
from fixfunc.models.machine.machine import Machine
from fixfunc.models.output.display.display import Display
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import TRANSFER, Stop
from tests.host.calls.worlds import BEGIN, World


def drawn():
    """A world after calls of every kind of packet."""
    world = World()
    for call in BEGIN:
        world.make(call)
    context = world.device.context
    made = world.results
    context.clear_render_target_view(made["target"][0], (0, 0.5, 1, 1))
    context.om.set_render_targets([made["target"][0]], made["depth"][0])
    context.clear_view(made["target"][0], (1, 0, 1, 0.5), [(1, 2, 5, 4)])
    context.clear_depth_stencil_view(made["depth"][0], 1.0, 3)
    context.draw(3)
    context.draw_indexed(6)
    context.ps.set_shader_resources(0, [made["view"][0]])
    context.ps.set_shader(made["pixel shader"][2])
    context.draw_instanced(3, 2)
    context.om.set_render_targets([made["target"][2]])
    context.draw(6)
    several, plain, levels = (made["texture"][n] for n in (3, 4, 2))
    context.resolve_subresource(plain, (0, 0), several, (0, 0))
    context.copy_subresource_region(levels, (1, 0), plain, (0, 0), box=(2, 2, 0, 5, 5, 1))
    context.generate_mips(made["view"][0])
    context.copy_buffer_region(made["buffer"][0], 0, made["buffer"][1], 16, 32)
    context.clear_unordered_access_view_uint(made["unordered"][0], 7)
    context.cs.set_unordered_access_views(0, [made["unordered"][0]])
    context.dispatch(1)
    context.cs.set_shader(made["compute shader"][1])
    context.cs.set_unordered_access_views(1, [made["unordered"][1]])
    context.dispatch(2)
    context.cs.set_shader(made["compute shader"][3])
    context.dispatch(1)
    context.copy_structure_count(made["buffer"][1], 4, made["unordered"][1])
    context.cs.set_shader(made["compute shader"][2])
    context.cs.set_unordered_access_views(0, [made["unordered"][2]])
    context.dispatch(1)
    context.clear_unordered_access_view_float(made["unordered"][2], (0, 0.5, 1, 1))
    made["swap chain"][0].present(0)
    for query in made["query"]:
        context.end(query)
    context.set_predication(made["query"][1])
    context.draw(3)
    return world.device, made["target"][0]


def payloads(memory, end):
    """Places of what packets and tables say: a loop of jumps may take minutes, so ops stay."""
    at = 0
    heads = np.zeros(end, bool)
    while at < end:
        heads[at : at + 4] = True
        at += TRANSFER * max(int(memory[at + 1]), 1)
    tables = RING + np.flatnonzero(memory[RING : RING + STATES])
    return np.concatenate([np.flatnonzero(~heads), tables])


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize("count", [60, pytest.param(10000, marks=pytest.mark.qualify)])
def test_bits_of_packets_and_tables_that_are_others(count):
    device, target = drawn()
    buffer = piece(target.encode(), VIEW)
    device.context.flush()
    end = device.machine.processor.read
    places = payloads(device.memory, end)
    rng = np.random.default_rng(3)
    outcomes = set()
    for _ in range(count):
        memory = device.memory.copy()
        for place in rng.choice(places, rng.integers(1, 5)):
            memory[place] ^= 1 << rng.integers(8) if rng.random() < 0.7 else rng.integers(256)
        machine = Machine(memory, 0, RING, device.context.shaders, most_work=1 << 8)
        machine.displays[0] = Display(memory, [buffer])
        try:
            stopped = machine.submit(end).stop
        except InputError:
            outcomes.add("refused")
            stopped = machine.processor.run().stop
        assert stopped in (Stop.EMPTY, Stop.WAIT, Stop.ERROR)
        assert not machine.processor.work
        outcomes.add(stopped)
    assert outcomes >= {"refused", Stop.EMPTY}
