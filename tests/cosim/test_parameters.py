# SPDX-License-Identifier: BSD-2-Clause
"""Parameters of blocks: listed, and changed by words."""

import dataclasses
import json
import re

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.verilog import listed
from fixfunc.spec.state import DepthFormat


def every_parameter(params, prefix=""):
    """Names of all fields, those of parts with a dot; a part has a word if it may be left out."""
    out = []
    for field in dataclasses.fields(params):
        value = getattr(params, field.name)
        is_part = dataclasses.is_dataclass(value)
        if not is_part or "None" in str(field.type):
            out.append(prefix + field.name)
        if is_part:
            out += every_parameter(value, f"{prefix}{field.name}.")
    return out


@pytest.mark.parametrize("stem", catalogue.blocks())
def test_a_block_is_listed_with_its_parameters(stem, capsys):
    """Each as ``--set`` takes it: the same parameters come back."""
    assert main(["list", stem]) == 0
    said = capsys.readouterr().out
    block = catalogue.block(stem)
    assert said.startswith(f"{stem}: {block.summary}\n")
    assert all(purpose in said for purpose in block.purposes.values())
    told = re.findall(r"(?m)^    ([\w.]+=\S+) +(.+)$", said)
    words = [word for word, _ in told]
    assert all(takes for _, takes in told)
    assert [word.partition("=")[0] for word in words] == every_parameter(block.parameters())
    assert block.parameters(",".join(["default", *words])) == block.parameters()
    others = [name for name in catalogue.blocks() if name not in (stem, "top")]
    assert not [name for name in others if f"\n{name}: " in said]


def as_word(value):
    return str(value).lower() if isinstance(value, bool) else value


def test_programs_read_the_list(capsys):
    """Blocks, configurations, every parameter as ``--set`` takes it, and what is measured."""
    assert main(["list", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert [described["block"] for described in every] == list(catalogue.blocks())
    for described in every:
        block = catalogue.block(described["block"])
        assert (described["summary"], described["stage"]) == (block.summary, block.stage)
        for config, found in described["configurations"].items():
            assert found["purpose"] == block.purposes[config]
            params = block.parameters(config)
            assert list(found["parameters"]) == every_parameter(params)
            assert found["parameters"].keys() <= described["takes"].keys()
            words = [f"{name}={as_word(value)}" for name, value in found["parameters"].items()]
            assert block.parameters(",".join([config, *words])) == params
        assert described["configurations"].keys() == block.configurations.keys()
    evaluator = next(found for found in every if found["block"] == "edge_evaluator")
    tiny = evaluator["configurations"]["tiny"]["parameters"]
    assert tiny == {"edge": 4, "samples": 8, "step_bits": 10, "adder": "carry_save"}
    assert evaluator["configurations"]["default"]["mhz"] > 100
    assert main(["list", "edge_evaluator", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [evaluator]


def test_the_list_is_that_of_the_hardware():
    """A record that is behind: ``python -m fixfunc.cosim.verilog.listed`` writes it anew."""
    assert json.loads(listed.RECORD.read_text()) == listed.of_hardware()


@pytest.mark.parametrize(
    ("stem", "given", "same"),
    [
        ("edge_evaluator", ["--config", "tiny", "--set", "adder=shared"], "tiny_shared"),
        ("edge_evaluator", ["--set", "adder=shared", "--config", "tiny"], "tiny_shared"),
        ("edge_evaluator", ["--config", "tiny_shared", "--set", "adder=carry_save"], "tiny"),
        ("edge_evaluator", ["--config", "tiny", "--set", "edge=8", "--set", "edge=4"], "tiny"),
        ("float_unit", ["--set", "op=ADD"], "add"),
        ("block_decode", ["--set", "formats=BC4U+BC4S+BC5U+BC5S"], "bc4_5"),
        ("block_decode", ["--config", "bc7", "--set", "formats=BC6HU+BC6HS"], "bc6h"),
    ],
)
def test_parameters_take_the_place_of_a_configuration_s(stem, given, same, capsys):
    """What is changed into another configuration is that one, but for its name.

    Assignments have the order that Yosys gives them.
    """

    def lines(text):
        body = re.sub(r"choice_\d+", "choice", text[text.index("\nmodule ") :])
        return sorted(body.splitlines())

    block = catalogue.block(stem)
    assert main(["verilog", stem, *given]) == 0
    text = capsys.readouterr().out
    name = re.search(rf"{stem} \((.*?)\)", text)[1]
    assert lines(text) == lines(block.verilog(same).read_text())
    assert block.parameters(name) == block.parameters(same)
    assert ", with " in block.purpose(name)


def test_parts_of_the_top_change_together():
    """Rules between parts see every change; a part may go, and come back with its defaults."""
    top = catalogue.block("top")
    lean = top.parameters("default,resolve=none,reader.resolve_samples=0")
    assert lean.resolve is None
    back = top.parameters("frame,resolve=present,reader.resolve_samples=8")
    assert back.resolve == top.parameters().resolve
    depths = top.parameters("tiny,reader.formats=D24,depth.formats=D24,setup.queue=16")
    assert (depths.reader.formats, depths.setup.queue) == ((DepthFormat.D24,), 16)


def test_many_words_make_no_name_of_a_file(tmp_path):
    """A file system has names of 255 bytes; the formats that are drawn to are longer."""
    formats = "+".join(form.name for form in catalogue.block("output_merger").parameters().formats)
    assert len(formats) > 255
    path = tmp_path / "output_merger.sv"
    command = ["verilog", "output_merger", "--config", "lean", "--set", f"formats={formats}"]
    assert main([*command, "-o", str(path)]) == 0
    assert formats in path.read_text()
