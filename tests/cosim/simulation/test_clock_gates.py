# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a design with clocks of their own: what they hold, and what is left out."""

import numpy as np
import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation import clock_gates
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog import hierarchy
from fixfunc.cosim.verilog.generate import generate
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.tb import catalogue

BLOCK = "hiz"
CONFIG = "tiny"
ROOM = 1 << 16
LIMIT = 30_000  # clocks, far above what they take


class Late(wiring.Component):
    """Words, and whether they are any, through a delay line; nobody may hold them up."""

    i: In(stream.Signature(16))
    o: Out(stream.Signature(16))

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        m.submodules.line = line = DelayLine(17, 40, near=True)
        m.d.comb += [
            self.i.ready.eq(1),
            line.i.eq(Cat(self.i.payload, self.i.valid)),
            Cat(self.o.payload, self.o.valid).eq(line.o),
        ]
        return m


@pytest.fixture(scope="module")
def source():
    return catalogue.block(BLOCK).simulated_verilog(CONFIG).read_text()


@pytest.fixture
def small(monkeypatch):
    """Designs of any size have parts."""
    monkeypatch.setattr(clock_gates, "EXPANDED", 0)


def test_a_small_design_has_one_clock(source):
    assert clock_gates.parts(source, BLOCK) == []


@pytest.mark.usefixtures("small")
def test_parts_are_large_and_stand_where_they_are_written_once(source):
    found = hierarchy.paths(source, BLOCK)
    sizes = hierarchy.sizes(source, BLOCK)
    places = clock_gates.parts(source, BLOCK)
    assert len(places) > 2
    assert [*places] == sorted(places, key=lambda place: place.count("."))
    for place in places:
        assert sizes[found[place]][1] >= clock_gates.SHARE * sizes[BLOCK][1]
        assert sizes[found[place.rpartition(".")[0]]][0] == 1


@pytest.mark.usefixtures("small")
def test_each_part_has_a_clock(source):
    places = clock_gates.parts(source, BLOCK)
    text = clock_gates.clocked(source, BLOCK, places)
    for n, place in enumerate(places):
        assert text.count(f"$root.{BLOCK}.gate_{n})") == 1
        assert hierarchy.paths(text, BLOCK)[place] == hierarchy.paths(source, BLOCK)[place]
    assert text.count(clock_gates.CLOCK) == source.count(clock_gates.CLOCK) - len(places)


@pytest.mark.parametrize("paces", [("full", "full"), ("random", "random"), ("bursty", "starved")])
def test_clocks_that_are_left_out_change_nothing(paces, monkeypatch):
    block = catalogue.block(BLOCK)
    rows = block.bench.requests(np.random.default_rng(6), 400, block.parameters(CONFIG))
    whole = block.run(block.volume(CONFIG), rows, ROOM, CONFIG, paces)
    monkeypatch.setattr(clock_gates, "EXPANDED", 0)
    gated, _, mismatches, first = block.compare(
        block.volume(CONFIG), rows, CONFIG, paces, limit=LIMIT
    )
    assert not mismatches, first
    assert 0 == whole.left_out < gated.left_out
    assert (gated.clocks, gated.simulated) == (whole.clocks, whole.simulated)
    for name, beats in whole.outputs.items():
        assert (gated.outputs[name] == beats).all(), name


def test_a_delay_line_is_quiet_only_where_nothing_is_on_its_way(monkeypatch):
    """Equal words far apart: a clock overwrites a row by what it holds while one is on its way."""
    monkeypatch.setattr(clock_gates, "EXPANDED", 0)
    monkeypatch.setattr(clock_gates, "WRAPPED", 1)
    source = generate(Late(), "late")
    assert clock_gates.parts(source, "late") == ["late.line"]
    words = np.full((300, 1), 5, np.uint64)
    for pace in ("full", "random", "bursty", "starved"):
        run = Volume(Late(), "late", source).run({"i": words}, ROOM, (pace, "full"), limit=LIMIT)
        assert run.outputs["o"].tolist() == words.tolist()
        assert run.left_out > 0


@pytest.mark.usefixtures("small")
def test_a_port_of_unknown_form_is_refused(source):
    """It would not be seen to change."""
    place = clock_gates.parts(source, BLOCK)[0]
    module = hierarchy.paths(source, BLOCK)[place]
    before = hierarchy.modules(source)[module]
    after = source.replace(before, before.replace("  input clk;", "  input odd clk;"))
    with pytest.raises(ToolError, match=f"{module} has ports of no known form"):
        clock_gates.clocked(after, BLOCK, [place])


@pytest.mark.usefixtures("small")
def test_a_model_without_a_part_is_refused(source, tmp_path):
    (tmp_path / f"V{BLOCK}__Syms.h").write_text("")
    places = clock_gates.parts(source, BLOCK)
    with pytest.raises(ToolError, match=f"model of {BLOCK} lacks {places[0]}"):
        clock_gates.clocks(source, BLOCK, places, tmp_path)


@pytest.mark.usefixtures("small")
def test_a_value_of_unknown_form_is_refused(source, tmp_path):
    """What is not known to be state would be left out of it."""
    place = clock_gates.parts(source, BLOCK)[0]
    name = "TOP__" + place.replace(".", "__")
    (tmp_path / f"V{BLOCK}__Syms.h").write_text(f"    Vpart   {name};\n")
    (tmp_path / "Vpart.h").write_text("// DESIGN SPECIFIC STATE\n  CData/*0:0*/ a;\n  Odd b;\n\n")
    with pytest.raises(ToolError, match=r"Vpart\.h has a value of no known form: Odd b;"):
        clock_gates.clocks(source, BLOCK, [place], tmp_path)
