# SPDX-License-Identifier: BSD-2-Clause
"""Meanings of fields: every port has them, and every export says them."""

import json

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.vectors.fields import tables
from fixfunc.cosim.verilog import export, packed
from fixfunc.cosim.verilog.generate import ports
from fixfunc.spec import payloads


@pytest.mark.parametrize("stem", catalogue.blocks())
def test_every_field_has_a_meaning(stem):
    """Of every port, in every configuration; numbers alone have no fields."""
    block = catalogue.block(stem)
    lacking = {
        f"{port.name} {table.name} {field.name} ({config})"
        for config in block.configurations
        for port in ports(block.create(config))
        for table in tables(port)
        for field in table.fields
        if not field.meaning
    }
    assert not lacking


def test_a_meaning_is_no_part_of_a_field():
    field = payloads.Field("x", 8)
    said = payloads.Field("x", 8, False, "pixels")
    assert field == said
    assert hash(field) == hash(said)


def test_meanings_are_exported(capsys):
    """Beside members of structs, in the page of a block, and in the list of blocks."""
    package = packed.text()
    assert "logic signed [23:0] x0;  // s15.8 pixels, y down" in package
    assert "logic [1:0] kind;  // Kind: which table reads the beat" in package
    members = [line for line in package.splitlines() if line.startswith("    logic ")]
    assert not [member for member in members if ";  // " not in member]
    page = export.page(catalogue.block("triangle_setup"), "default")
    assert "| 41:18 | `x0` | signed | s15.8 pixels, y down |" in page
    assert main(["list", "hiz", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["fields"]["feedback"]["fields"]["x"] == "of the tile, in tiles"
