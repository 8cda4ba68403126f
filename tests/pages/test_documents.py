# SPDX-License-Identifier: BSD-2-Clause
"""The table of the documents' systems: what it names is there, and no part is left out."""

import re

import pytest

from fixfunc.cosim.toolchain import ROOT

PAGE = ROOT / "docs/machine/documents.md"
PARTS = {f"trip {n}" for n in range(1, 9)} | {"ia", "dmu", "fb"}
PARTS |= {f"rtr 23.{n}" for n in ("1", "1.1", "1.2", "2", "3", "4", "5", "6", "6.1", "6.2", "7")}
PARTS |= {f"rtr 23.{n}" for n in ("8", "9", "10", "10.1", "10.2", "10.3", "11")}


def rows():
    """System, parts, model, hardware, test of each."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1] != "document" and not set(cells[0]) <= set("-"):
            yield cells


def parts(text):
    """Marks of a cell, each whole: ``[trip 2, rtr 23.4, 23.5]`` has three."""
    assert re.fullmatch(r"\[[a-z0-9., ]+\]", text), text
    kind = ""
    for part in text[1:-1].split(", "):
        kind = part.split()[0] if part[0].isalpha() else kind
        yield part if part[0].isalpha() else f"{kind} {part}"


def paths(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row[0])
def test_a_row_names_what_is_there_or_says_absent(row):
    """A system with a model has a test, and one with hardware a model."""
    for cell, tree in zip(row[2:], ("models/", "rtl/", "tests/"), strict=True):
        found = paths(cell)
        assert bool(re.fullmatch("absent(: .+)?", cell)) == (not found)
        for path in found:
            assert path.startswith(tree), path
            assert (ROOT / path).is_file(), path
    model, hardware, test = (not cell.startswith("absent") for cell in row[2:])
    assert model == test
    assert model or not hardware


def test_every_part_of_the_documents_has_a_row():
    assert {part for row in rows() for part in parts(row[1])} == PARTS


def test_models_around_the_machine_are_all_there():
    """Those of system and architecture, but what others of them are made of."""
    inner = {"page_table", "sequence", "frame_work", "recording", "process", "window"}
    named = {path for row in rows() for cell in row[2:] for path in paths(cell)}
    for room in ("system", "architecture"):
        for path in (ROOT / "models" / room).rglob("*.py"):
            if path.stem not in inner | {"__init__"}:
                assert str(path.relative_to(ROOT)) in named
