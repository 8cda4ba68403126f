# SPDX-License-Identifier: BSD-2-Clause
"""The page of conformance: as its table says, with tests, and with every section that is cited."""

import itertools
import re

import pytest

from bench.assess import conformance
from fixfunc.cosim.toolchain import ROOT

SECTIONS = [row for _, rows in conformance.chapters().values() for row in rows]
ASKED = {"3", "5", "7", "8", "11", *map(str, range(13, 23))}  # of the specification's chapters
CITED = re.compile(r"\[fs ([\d., -]+)[,\]]")
TREES = ("models", "rtl", "cosim", "tb", "spec", "tests", "bench", "examples", "docs")


def key(number):
    return tuple(int(part) for part in number.split("."))


def ends(number):
    """First and last section of a range."""
    first, _, last = number.partition("-")
    return key(first), key(last or first)


def of_citation(text):
    """Sections that a citation names: "15.10-15.13", "17.10-11", "3.2, 8.19"."""
    for part in re.findall(r"[\d.]+(?:-[\d.]+)?", text):
        first, _, last = part.strip(".").partition("-")
        yield first
        if last:
            yield last if "." in last else f"{first.rpartition('.')[0]}.{last}"


def is_listed(number):
    """A row is the section, or a range that it lies in; or it is a whole chapter."""
    if number in conformance.chapters():
        return True
    wanted = key(number)
    for row in SECTIONS:
        first, last = ends(row.number)
        if len(first) == len(wanted) and first <= wanted <= last:
            return True
    return False


def cited():
    """Files that cite a section, by its number."""
    found = {}
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*")):
            if path.suffix in (".py", ".md") and path != conformance.PAGE:
                for text in CITED.findall(path.read_text()):
                    for number in of_citation(text):
                        found.setdefault(number, path)
    return found


def test_the_page_is_written_from_its_table():
    assert conformance.PAGE.read_text() == conformance.page(), "python -m bench.assess.conformance"


def test_every_chapter_that_is_asked_for_is_there():
    assert set(conformance.chapters()) >= ASKED
    for number, (_, rows) in conformance.chapters().items():
        assert rows
        order = [ends(row.number) for row in rows]
        assert all(first[0] == last[0] == int(number) for first, last in order)
        assert all(first <= last for first, last in order)
        assert all(a[0] < b[0] for a, b in itertools.pairwise(order)), number


@pytest.mark.parametrize("row", SECTIONS, ids=lambda row: row.number)
def test_what_is_done_has_tests_and_what_is_not_a_reason(row):
    states = {row.golden, row.hardware}
    assert states <= set(conformance.STATES)
    assert set(row.tests) <= conformance.plans().keys()
    assert bool(row.tests) == bool(states & {"done", "part"})
    if row.golden in ("part", "absent") or row.hardware == "part":
        assert row.note
    assert "|" not in row.title + row.note


def test_sections_that_are_cited_are_on_the_page():
    found = cited()
    assert len(found) > 150
    missing = {number: str(path) for number, path in found.items() if not is_listed(number)}
    assert not missing


def test_citations_are_read_as_they_are_written():
    assert list(of_citation("15.10-15.13, 3.2")) == ["15.10", "15.13", "3.2"]
    assert list(of_citation("17.10-11")) == ["17.10", "17.11"]
    assert is_listed("19.5.7") and not is_listed("19.5.7.1") and not is_listed("23")
