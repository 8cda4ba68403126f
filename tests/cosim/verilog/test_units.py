# SPDX-License-Identifier: BSD-2-Clause
"""Components that are generated once: which are equal, what is kept, how they stand together."""

import re

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import EnableInserter, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import catalogue, toolchain
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog import hierarchy, identity, units, yosys
from fixfunc.cosim.verilog.generate import generate
from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.raster.tile_rasterizer import CONFIGS, TileRasterizer


class Squares(wiring.Component):
    """Two squares and a product, through multipliers of two kinds; it stops as a whole."""

    i: In(stream.Signature(8))
    o: Out(stream.Signature(48))

    def elaborate(self, _platform):
        m = Module()
        inner = Module()
        products = []
        for n, width in enumerate((8, 8, 9)):
            inner.submodules[f"square_{n}"] = multiplier = Multiplier(width, 8, 16)
            m.d.comb += [multiplier.a.eq(self.i.payload + n), multiplier.b.eq(self.i.payload)]
            products.append(multiplier.o)
        valid = Signal(Multiplier(8, 8).latency)
        inner.d.sync += valid.eq((valid << 1) | self.i.valid)
        enable = Signal()
        m.submodules.inner = EnableInserter(enable)(inner)
        m.d.comb += [
            enable.eq(~valid[-1] | self.o.ready),
            self.i.ready.eq(enable),
            self.o.valid.eq(valid[-1]),
            *(self.o.payload[16 * n : 16 * n + 16].eq(p) for n, p in enumerate(products)),
        ]
        return m


@pytest.fixture
def store(monkeypatch, tmp_path):
    """An empty one."""
    monkeypatch.setattr(toolchain, "BUILD", tmp_path)
    return units.Store()


def made(monkeypatch):
    """Names of the classes that are elaborated from now on, in order."""
    names = []
    make = units.Store._make

    def counted(self, component, *more):
        names.append(type(component).__name__)
        return make(self, component, *more)

    monkeypatch.setattr(units.Store, "_make", counted)
    return names


def test_what_is_equal_is_one_module_and_what_is_not_another():
    text = generate(Squares(), "squares")
    names = [*hierarchy.modules(text)]
    assert names == ["squares", "squares__inner", "squares_multiplier", "squares_multiplier_2"]
    paths = hierarchy.paths(text, "squares")
    assert paths["squares.inner.square_0"] == paths["squares.inner.square_1"]
    assert paths["squares.inner.square_2"] == "squares_multiplier_2"


def test_names_of_modules_and_instances_that_verilog_escapes():
    text = (
        "module top(a);\n  \\top.inner  \\inner$1  (\n    .a(a)\n  );\nendmodule\n"
        "module \\top.inner (a);\n  deep \\output  (\n    .a(a)\n  );\nendmodule\n"
        "module deep(a);\nendmodule\n"
    )
    assert hierarchy.paths(text, "top") == {
        "top": "top",
        "top.inner$1": "top.inner",
        "top.inner$1.output": "deep",
    }
    assert hierarchy.part(text, "top") == text
    assert [*hierarchy.modules(hierarchy.around(text, "top", "top.inner"))] == ["top"]


@pytest.mark.parametrize("paces", [("full", "full"), ("bursty", "random")])
def test_instances_stop_with_the_pipeline_that_they_stand_in(paces):
    beats = np.random.default_rng(1).integers(0, 256, 500).astype(np.uint64)
    run = Volume(Squares(), "squares").run({"i": beats[:, None]}, 500, paces)
    signed = beats.astype(np.int64) - 256 * (beats > 127)

    def factor(n):
        value = (beats.astype(np.int64) + n) % (256 if n < 2 else 512)
        return np.where(n < 2, value - 256 * (value > 127), value - 512 * (value > 255))

    expected = sum((factor(n) * signed % 65536) << (16 * n) for n in range(3))
    assert (run.outputs["o"][:, 0].astype(np.int64) == expected).all()


def test_identity_is_of_what_decides_the_hardware():
    def text(component):
        return identity.identity(component)[0]

    assert text(Multiplier(8, 8)) == text(Multiplier(8, 8))
    assert text(Multiplier(8, 8)) != text(Multiplier(8, 9))
    assert text(DelayLine(8, 4)) != text(DelayLine(8, 5))
    assert text(CreditCounter(4)) != text(CreditCounter(5))
    modules = identity.identity(TileRasterizer(CONFIGS["tiny"]))[1]
    assert {"fixfunc.rtl.raster.tile_rasterizer"} <= modules


def test_what_has_no_name_is_elaborated_where_it_stands(store):
    """A signal, and a closure: nobody can say whether two of them are the same."""
    for kept in (Signal(4), lambda value: value):
        component = Multiplier(4, 4)
        component.kept = kept
        with pytest.raises(identity.Unknown):
            identity.identity(component)
        assert store.unit(component, False) is None


def test_a_change_touches_what_holds_what_was_changed(store, monkeypatch):
    names = made(monkeypatch)
    store.assembled(units.netlist(Squares(), "squares", store), "squares")
    assert names == ["Multiplier", "Multiplier"]
    names.clear()
    again = units.Store()
    again.assembled(units.netlist(Squares(), "squares", again), "squares")
    assert names == []
    # Its sources change.
    monkeypatch.setattr(identity, "_sources", lambda module: f"changed {module}")
    changed = units.Store()
    changed.assembled(units.netlist(Squares(), "squares", changed), "squares")
    assert names == ["Multiplier", "Multiplier"]


def test_a_text_depends_on_its_component_alone(store, monkeypatch):
    """Not on what was made before or beside it, nor on which process did."""
    first = generate(catalogue.block("edge_evaluator").create("tiny"), "edge_evaluator")
    netlist = units.netlist(Squares(), "squares", store)
    whole = rtlil.convert(catalogue.block("edge_evaluator").create("tiny"), name="edges")
    for text in (netlist, whole):
        assert yosys.verilog([text, text]) == yosys.verilog([text]) * 2
    monkeypatch.setattr(toolchain, "BUILD", toolchain.BUILD / "other")
    monkeypatch.setattr(units, "ahead", lambda *_: None)
    assert generate(catalogue.block("edge_evaluator").create("tiny"), "edge_evaluator") == first


def test_units_are_made_ahead_on_all_cores(store, monkeypatch):
    names = made(monkeypatch)
    component = TileRasterizer(CONFIGS["tiny"])
    units.ahead(component, store)
    assert names == []  # other processes did it
    units.netlist(component, "tile_rasterizer", units.Store())
    assert names == []


def test_what_fails_in_a_process_fails_where_it_is_asked_for(store):
    class Broken(wiring.Component):
        def __init__(self):
            super().__init__({"o": Out(1)})

        def elaborate(self, _platform):
            raise ValueError("broken on purpose")

    Broken.__module__ = Multiplier.__module__
    Broken.__qualname__ = "Multiplier"

    class Two(wiring.Component):
        o: Out(2)

        def elaborate(self, _platform):
            m = Module()
            m.submodules.first = Broken()
            m.submodules.second = Broken()
            return m

    units.ahead(Two(), store)
    with pytest.raises(ValueError, match="broken on purpose"):
        units.netlist(Two(), "two", store)


def test_ports_are_declared_in_the_head_with_their_fields():
    text = catalogue.block("triangle_setup").verilog("tiny").read_text()
    head = text[text.index("\nmodule") : text.index("\n);")]
    assert head.index("wire clk") < head.index("wire rst") < head.index("i__payload")
    assert head.index("i__payload") < head.index("o__payload")
    assert re.search(r"// i triangle: kind \[1:0\], state \[5:2\], .*x0 \[41:18\] signed", head)
    inside = text[text.index("\n);") : text.index("\nendmodule")]
    assert not re.search(r"(?m)^  (input|output) ", inside)


def test_enables_are_conditions_and_multiplexers_assignments():
    text = catalogue.block("tile_rasterizer").verilog("tiny").read_text()
    assert "else if (" in text
    assert "function" not in text
    assert "always @*" not in text
    assert "always_comb" not in text


def test_a_module_may_be_named_as_a_keyword_is():
    text = generate(Multiplier(4, 4), "wire")
    assert "module \\wire  (" in text
    assert "input wire clk" in text[: text.index("\n);")]
