# SPDX-License-Identifier: BSD-2-Clause
"""A design that is mostly one module: its library beside that of the whole."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import toolchain
from fixfunc.cosim.simulation import parts
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog import hierarchy
from fixfunc.cosim.verilog.generate import generate
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier

LANES = 16
PART = "lanes_multiplier"


class Lanes(wiring.Component):
    """Products of a word and each of the numbers from 0 on, free-running; the last word waits."""

    i: In(stream.Signature(16))
    o: Out(stream.Signature(32 * LANES))

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        lanes = [Multiplier(16, 16) for _ in range(LANES)]
        # A product is taken when it is that of the word at the input.
        age = Signal(range(lanes[0].latency + 1))
        done = age == lanes[0].latency
        m.d.comb += [
            self.o.valid.eq(self.i.valid & done),
            self.i.ready.eq(self.o.ready & done),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += age.eq(0)
        with m.Elif(self.i.valid & ~done):
            m.d.sync += age.eq(age + 1)
        for n, lane in enumerate(lanes):
            m.submodules[f"lane_{n}"] = lane
            m.d.comb += [
                lane.a.eq(self.i.payload),
                lane.b.eq(n),
                self.o.payload.word_select(n, 32).eq(lane.o),
            ]
        return m


@pytest.fixture(scope="module")
def source():
    return generate(Lanes(), "lanes")


@pytest.fixture
def small(monkeypatch):
    """Designs of any size have a part."""
    monkeypatch.setattr(parts, "EXPANDED", 0)
    monkeypatch.setattr(parts, "SHARE", 0.1)


def products(source, paces):
    words = np.random.default_rng(5).integers(0, 1 << 15, (200, 1), np.uint64)
    run = Volume(Lanes(), "lanes", source).run({"i": words}, 200, paces, seed=2)
    assert (run.outputs["o"].view(np.uint32)[:, :LANES] == words * np.arange(LANES)).all()
    assert len(run.outputs["o"]) == 200
    return run.clocks


def test_a_small_design_is_built_as_a_whole(source):
    assert parts.repeated(source, "lanes") is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("limit", "value"), [("SHARE", 0.999), ("INSTANCES", LANES + 1)])
def test_what_is_most_of_a_design_and_stands_often_is_a_part(source, limit, value, monkeypatch):
    assert parts.repeated(source, "lanes") == PART
    monkeypatch.setattr(parts, limit, value)
    assert parts.repeated(source, "lanes") is None


def test_every_instance_counts(source):
    modules = hierarchy.modules(source)
    sizes = hierarchy.sizes(source, "lanes")
    assert sizes[PART] == (LANES, len(modules[PART]))
    assert sizes["lanes"] == (1, len(modules["lanes"]) + LANES * len(modules[PART]))
    assert [*hierarchy.modules(hierarchy.around(source, "lanes", PART))] == ["lanes"]


@pytest.mark.parametrize("paces", [("full", "full"), ("random", "random"), ("full", "starved")])
def test_a_library_of_its_own_changes_nothing(source, paces, monkeypatch):
    whole = products(source, paces)
    monkeypatch.setattr(parts, "EXPANDED", 0)
    monkeypatch.setattr(parts, "SHARE", 0.1)
    assert products(source, paces) == whole


@pytest.mark.usefixtures("small")
def test_what_verilator_says_of_a_part_is_kept(source, monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "BUILD", tmp_path)
    wrong = source.replace(f"module {PART}(", f"module {PART}(missing, ", 1)
    with pytest.raises(toolchain.ToolError, match="(?s)lanes: see .*missing"):
        Volume(Lanes(), "lanes", wrong)
