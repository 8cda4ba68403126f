# SPDX-License-Identifier: BSD-2-Clause
"""Small frames by the hardware: the clocks that other tests take as measured, and every byte."""

import pytest

from fixfunc.cosim.frame import hardware
from fixfunc.cosim.frame.job import counters, traffic
from fixfunc.models.performance.params import MEMORIES, MachineParams
from fixfunc.models.performance.predict import predict
from tests.performance.frames import MEASURED, job

CLIENTS = "depth", "stencil", "colour"


@pytest.mark.qualify
@pytest.mark.plan("performance-4")
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", MEASURED)
def test_the_hardware_takes_what_is_predicted(name, memory):
    """With the outcomes of its own HiZ; where the clocks differ from MEASURED, that is old."""
    own = job(name)
    run, _ = hardware.run(own, hardware.library("top", "frame"), own.inputs(), memory)
    counted = counters(run.outputs["counter_value"])
    told = own.events(run.outputs)
    found = predict(told, MachineParams(memory=MEMORIES[memory]))
    assert counted["clocks"] == MEASURED[name][list(MEMORIES).index(memory)]
    assert abs(found.clocks / counted["clocks"] - 1) < 0.10
    moved = dict.fromkeys(CLIENTS, 0)
    for client, *_, size in traffic(counted):
        moved[client] += size
    assert {name: found.bytes[name] for name in CLIENTS} == moved
    assert found.counts == {name: counted[name] for name in found.counts}
    assert found.bytes["commands"] == 32 * counted["command_transfers"]
