# SPDX-License-Identifier: BSD-2-Clause
"""What a netlist proves constant, and what it must not: on a module whose bits are known."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog.generate import generate
from fixfunc.tb.coverage import named, netlist, points, run
from fixfunc.tb.coverage.waivers import Waiver


class Parts(wiring.Component):
    """Bits that move, bits that only seem to stay, and bits that stay."""

    i: In(stream.Signature(8))
    o: Out(stream.Signature(8))

    def elaborate(self, _platform):
        m = Module()
        beat = self.i.payload
        masked = Signal(8)  # the four bits above stay 0
        doubled = Signal(9)  # the lowest bit stays 0
        rare = Signal()  # one beat in 256 sets it
        held = Signal(4)  # what is written in is what it begins with
        copied = Signal(4)  # the net of masked, a clock later
        again = Signal(4)
        passed = Signal(8)  # behind a memory that only masked is written to
        choice = Signal(8)
        m.submodules.rows = rows = memory.Memory(shape=8, depth=4, init=[])
        write = rows.write_port()
        read = rows.read_port(domain="comb")
        m.d.comb += [
            masked.eq(beat & 0xF),
            doubled.eq((beat + 1) << 1),
            rare.eq(beat == 255),
            write.addr.eq(beat[:2]),
            write.data.eq(masked + 1),
            write.en.eq(self.i.valid),
            read.addr.eq(beat[2:4]),
            passed.eq(read.data ^ masked),
        ]
        m.d.sync += [copied.eq(masked + 3), again.eq(masked + 3)]
        with m.If(rare):
            m.d.sync += held.eq(0)
        with m.If(held[2]):
            m.d.comb += choice.eq(beat + 3)
        with m.Else():
            m.d.comb += choice.eq(beat + 5)
        m.d.comb += [
            self.o.payload.eq(doubled ^ copied ^ again ^ passed ^ choice ^ rare),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
        ]
        return m


@pytest.fixture(scope="module")
def verilog():
    return generate(Parts(), "parts")


def constant(nets, signal, width):
    return {n for n in range(width) if nets.bit(f"parts.{signal}[{n}]") in ("0", "1")}


def test_bits_are_constant_for_every_input_or_not_at_all(verilog):
    nets = netlist.netlist(verilog, "parts")
    assert constant(nets, "masked", 8) == {4, 5, 6, 7}
    assert constant(nets, "doubled", 9) == {0}
    assert constant(nets, "held", 4) == {0, 1, 2, 3}
    assert constant(nets, "passed", 8) == {5, 6, 7}
    assert nets.bit("parts.rare") not in ("0", "1", "x")
    assert not constant(nets, "i__payload", 8)
    assert nets.bit("parts.rst") not in ("0", "1", "x")


def test_a_name_that_is_not_there_is_not_known(verilog):
    nets = netlist.netlist(verilog, "parts")
    assert nets.bit("parts.lost") == "x"
    assert nets.bit("parts.masked[8]") == "x"
    assert nets.bit("parts.masked") == "x"
    assert netlist.toggles(nets, {"parts.lost[0]:0->1": 0}) == ({"parts.lost[0]:0->1": 0}, {})


def test_a_net_is_counted_once_by_its_first_name(verilog):
    nets = netlist.netlist(verilog, "parts")
    assert nets.bit("parts.copied[1]") == nets.bit("parts.again[1]")
    assert nets.bit("parts.copied[1]") != nets.bit("parts.copied[2]")
    counts = {"parts.copied[1]:0->1": 0, "parts.again[1]:0->1": 2, "parts.again[1]:1->0": 1}
    moving, _ = netlist.toggles(nets, counts)
    assert moving == {"parts.copied[1]:0->1": 2, "parts.again[1]:1->0": 1}


def test_what_follows_from_a_bit_that_is_held(verilog):
    nets = netlist.netlist(verilog, "parts", {"parts.i__payload[3]": 0, "parts.masked[0]": 0})
    assert constant(nets, "masked", 8) == {0, 3, 4, 5, 6, 7}
    assert constant(nets, "i__payload", 8) == {0, 3}  # bit 0 is the net of masked[0]
    # One more than 0, 2, 4 and 6 is written.
    assert constant(nets, "passed", 8) == {3, 4, 5, 6, 7}
    assert nets.bit("parts.rare") == "0"


@pytest.mark.parametrize(("bit", "edge"), [("4", "0->1"), ("4", "1->0"), ("7", "1->0")])
def test_a_constant_that_moves_is_an_error(verilog, bit, edge):
    nets = netlist.netlist(verilog, "parts")
    with pytest.raises(ToolError, match="was seen, but its netlist holds it at 0"):
        netlist.toggles(nets, {f"parts.masked[{bit}]:{edge}": 1})


def judged(verilog, values, folder, known=()):
    source = run.LINT + named.marked(verilog, "parts")
    volume = Volume(Parts(), "parts", source, covered=True)
    volume.run({"i": np.array(values, np.uint64)[:, None]}, 1000, ("full", "full"))
    volume.coverage(folder / "coverage.dat")
    seen = points.read(folder / "coverage.dat", source)
    return run.by_netlist(verilog, source, "parts", {}, seen, known)


def test_constants_are_not_asked_for(verilog, tmp_path):
    rng = np.random.default_rng(0)
    verdicts = judged(verilog, [*rng.integers(0, 256, 600), 255, 0], tmp_path)
    assert verdicts["toggle"].missed == ["parts.o__ready:1->0"]  # always at full pace
    assert verdicts["toggle"].constant >= 2 * (4 + 4 + 3)
    # The branch that waits for held[2].
    assert not verdicts["line"].missed
    assert verdicts["line"].constant == 1


def test_what_follows_from_a_waiver_is_waived_and_nothing_else(verilog, tmp_path):
    rng = np.random.default_rng(0)
    values = [*(rng.integers(0, 256, 600) & 0x7F), 0]
    missed = judged(verilog, values, tmp_path)["toggle"].missed
    assert "parts.rare:0->1" in missed
    assert "parts.i__payload[7]:0->1" in missed
    known = (Waiver("parts", "toggle", ("parts.i__payload[7]:*",), "beats have seven bits"),)
    waived = judged(verilog, values, tmp_path, known)["toggle"]
    assert {"parts.rare:0->1", "parts.rare:1->0"} <= set(waived.waived[run.FOLLOWS])
    values = [*(rng.integers(0, 256, 600) & 0x7B), 0]
    still = judged(verilog, values, tmp_path, known)["toggle"].missed
    assert "parts.i__payload[2]:0->1" in still
    assert "parts.rare:0->1" not in still


def test_verilog_that_yosys_does_not_read_is_an_error():
    with pytest.raises(ToolError, match="Yosys failed on the netlist of lost"):
        netlist.netlist("module found(); endmodule", "lost")


def test_held_bits_are_tied_at_once(verilog, monkeypatch, tmp_path):
    """However many there are, Yosys has two runs: one flattens, the other optimises."""
    scripts = []
    yosys = netlist._yosys

    def counted(script, *more):
        scripts.append(script)
        return yosys(script, *more)

    monkeypatch.setattr(netlist, "_yosys", counted)
    monkeypatch.setattr(netlist.toolchain, "BUILD", tmp_path)
    netlist.netlist(verilog, "parts")
    assert len(scripts) == 1
    held = {f"parts.i__payload[{n}]": 0 for n in range(1, 8)} | {"parts.rare": 0}
    nets = netlist.netlist(verilog, "parts", held)
    assert len(scripts) == 3
    assert not any(name in script for script in scripts for name in ("i__payload", "rare"))
    assert constant(nets, "i__payload", 8) == set(range(1, 8))


def test_a_held_bit_is_a_register_that_begins_otherwise(verilog):
    """All names of its net are tied; what it is computed from, and what has the same value, not."""
    nets = netlist.netlist(verilog, "parts", {"parts.held[1]": 0, "parts.copied[1]": 0})
    assert nets.bit("parts.held[1]") == nets.bit("parts.copied[1]") == "0"
    assert nets.bit("parts.again[1]") == "0"  # the same net where nothing is held
    assert not {"0", "1"} & {nets.bit("parts.masked[1]"), nets.bit("parts.copied[2]")}


def flat():
    """A register of two bits, which begins as 3, under two names; an input that its driver reads"""
    return {
        "ports": {"i": {"direction": "input", "bits": [2]}, "o": {"bits": [4, 5, "0"]}},
        "cells": {
            "register": {
                "port_directions": {"D": "input", "Q": "output"},
                "connections": {"D": [2, "1"], "Q": [4, 5]},
            },
            "reader": {"port_directions": {"A": "input"}, "connections": {"A": [5, 4]}},
        },
        "netnames": {
            "i": {"bits": [2], "attributes": {}},
            "register": {"bits": [4, 5], "attributes": {"init": "11"}},
            "o": {"bits": [4, 5, "0"], "attributes": {"init": "x11"}},
        },
    }


def test_a_held_bit_is_cut_off_its_driver():
    """Everyone who reads it reads the value, under each of its names; no constant is begun with."""
    module = flat()
    netlist.hold(module, {("o", 1): "0", ("i", 0): "1"})
    cells = {name: cell["connections"] for name, cell in module["cells"].items()}
    assert cells["reader"]["A"] == ["0", 4]
    assert cells["register"]["D"] == ["1", "1"]
    low, high = cells["register"]["Q"]
    assert low == 4
    assert high not in (2, 4, 5)
    assert [port["bits"] for port in module["ports"].values()] == [["1"], [4, "0", "0"]]
    names = module["netnames"]
    assert names["register"] == {"bits": [4, "0"], "attributes": {"init": "x1"}}
    assert names["o"] == {"bits": [4, "0", "0"], "attributes": {"init": "xx1"}}


def test_a_constant_that_is_held_ties_nothing_else():
    module = flat()
    netlist.hold(module, {("o", 2): "1"})
    assert module["ports"]["o"]["bits"] == [4, 5, "0"]
    assert module["cells"] == flat()["cells"]
