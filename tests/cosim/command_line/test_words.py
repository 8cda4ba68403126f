# SPDX-License-Identifier: BSD-2-Clause
"""Words of a command line that are none: each is one line that names what is wrong, and exit 2."""

import pytest

from fixfunc.__main__ import main

ARABIC_FOUR = "\N{ARABIC-INDIC DIGIT FOUR}"


@pytest.fixture
def refused(capsys, tmp_path, monkeypatch):
    """The line that arguments are refused by; nothing is written where they were typed."""
    monkeypatch.chdir(tmp_path)

    def refuse(*arguments):
        assert main([*arguments]) == 2
        assert not list(tmp_path.iterdir())
        shown = capsys.readouterr()
        assert not shown.out
        assert shown.err.startswith("fixfunc: ")
        assert shown.err.count("\n") == 1
        return shown.err.removeprefix("fixfunc: ").removesuffix("\n")

    return refuse


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: command: see fixfunc --help"),
        (["run"], "the following arguments are required: block: see fixfunc run --help"),
        (["list", "--jason"], "unrecognized arguments: --jason: see fixfunc --help"),
        (["list", "a", "b\nc"], r"unrecognized arguments: b\nc: see fixfunc --help"),
        (
            ["frame", "teapot", "--size"],
            "argument --size: expected one argument: see fixfunc frame",
        ),
        (["draw"], "command must be one of list, verilog, frame, "),
        (["record", "x", "--api", "vk"], "api must be one of gl, egl, not vk"),
        (["volume", "hiz", "--count", "-1"], "count must be at least 0, not -1"),
        (["run", "hiz", "--seed", "x"], "seed must be an integer, not x"),
        (["record", "x", "--frame", "0"], "frame must be at least 1, not 0"),
        (["record", "x", "--seconds", "0"], "seconds must be at least 1, not 0"),
    ],
)
def test_words_that_the_parser_refuses(arguments, said, refused):
    """Without the usage before them."""
    assert refused(*arguments).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["list", ""], "block"),
        (["verilog", ""], "block"),
        (["verilog", "hiz", "-o", ""], "output"),
        (["verilog", "hiz", "--config="], "config"),
        (["verilog", "hiz", "--set", ""], "set"),
        (["frame", ""], "mesh"),
        (["frame", "teapot", "--memory", ""], "memory"),
        (["frame", "teapot", "--golden", "--patches", ""], "patches"),
        (["frame", "teapot", "-o", ""], "output"),
        (["compare", "a", ""], "second"),
        (["sweep", ""], "scenes"),
        (["record", ""], "program"),
        (["run", "hiz", "--tests", ""], "tests"),
        (["vectors", "hiz", "-o", ""], "output"),
    ],
)
def test_an_empty_word_is_no_default(arguments, name, refused):
    assert refused(*arguments) == f"{name} must have a value, not ''"


@pytest.mark.parametrize("number", [ARABIC_FOUR, "6_4", " 64", "+64", "64.0", "9" * 5000])
def test_numbers_are_plain_digits(number, refused):
    """In every option that takes some."""
    assert refused("frame", "teapot", "--size", f"{number}x48").startswith("size must be WIDTHx")
    assert refused("frame", "teapot", "--samples", number).startswith("samples must be an integer")
    assert refused("frame", "teapot", "--pixel", f"1,{number}").startswith("pixel must be X,Y")
    window = ("--waves", "waves.fst", "--clocks", f"0:{number}")
    assert refused("frame", "teapot", *window).startswith("clocks must be FIRST:END")
    assert refused("volume", "hiz", "--seed", number).startswith("seed must be an integer")
    size = refused("sweep", "--golden", "--over", f"size={number}x48")
    assert size.startswith("size must be WIDTHxHEIGHT")


@pytest.mark.parametrize(
    "factor", [ARABIC_FOUR, "1_0", "1e-300", "1e1", "nan", "0", "0.00001", "-1"]
)
def test_a_factor_is_a_plain_number_that_leaves_patches(factor, refused):
    said = refused("frame", "teapot", "--golden", f"--patches={factor}")
    assert said == f"patches must be adaptive, or a factor of 2^-16 to 64, not {factor}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "a\nb"],
        ["verilog", "hiz", "--config", "a\nb"],
        ["verilog", "hiz", "--set", "a\nb=1"],
        ["verilog", "hiz", "-o", "a\nb/c.sv"],
        ["frame", "a\nb.obj"],
        ["frame", "a\nb"],
        ["frame", "teapot", "--texture", "a\nb.png"],
        ["frame", "a\nb.gltf"],
        ["frame", "a\nb.npz"],
        ["compare", "a\nb", "c"],
        ["sweep", "a\nb"],
        ["record", "a\nb.trace"],
        ["run", "a\nb"],
    ],
)
def test_a_newline_in_a_name_is_shown_as_one(arguments, refused):
    assert r"a\nb" in refused(*arguments)


def test_a_trace_is_there_before_it_is_read(refused):
    assert refused("record", "no.trace") == "trace must be a file that exists, not no.trace"
