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


@pytest.mark.parametrize(("bit", "edge"), [("4", "0->1"), ("4", "1->0"), ("7", "1->0")])
def test_a_constant_that_moves_is_an_error(verilog, bit, edge):
    nets = netlist.netlist(verilog, "parts")
    with pytest.raises(ToolError, match="was seen, but its netlist holds it at 0"):
        netlist.toggles(nets, {f"parts.masked[{bit}]:{edge}": 1})


def judged(verilog, values, folder):
    source = run.LINT + named.marked(verilog, "parts")
    volume = Volume(Parts(), "parts", source, covered=True)
    volume.run({"i": np.array(values, np.uint64)[:, None]}, 1000, ("full", "full"))
    volume.coverage(folder / "coverage.dat")
    seen = points.read(folder / "coverage.dat", source)
    return run.by_netlist(verilog, source, "parts", {}, seen, ())


def test_constants_are_not_asked_for(verilog, tmp_path):
    rng = np.random.default_rng(0)
    verdicts = judged(verilog, [*rng.integers(0, 256, 600), 255, 0], tmp_path)
    assert verdicts["toggle"].missed == ["parts.o__ready:1->0"]  # always at full pace
    assert verdicts["toggle"].constant == 2 * (4 + 3)  # held, and passed above
    # The branch that waits for held[2].
    assert not verdicts["line"].missed
    assert verdicts["line"].constant == 1


def test_verilog_that_yosys_does_not_read_is_an_error():
    with pytest.raises(ToolError, match="Yosys failed on the netlist of lost"):
        netlist.netlist("module found(); endmodule", "lost")
