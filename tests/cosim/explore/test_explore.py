# SPDX-License-Identifier: BSD-2-Clause
"""Exploring: the documents' table, frames on machines, the page, what is refused."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from fixfunc.__main__ import main
from fixfunc.cosim.explore import bandwidth, charts, explore, frame, machines, page
from fixfunc.cosim.explore.subject import Numbers, configuration
from fixfunc.cosim.figures.bound import Term
from fixfunc.cosim.frame import job, mesh
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.performance.params import FAR, MachineParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.rtl.top import CONFIGS

TEAPOT = ["explore", "teapot", "--size", "64x48", "--divisions", "2"]


@pytest.fixture(scope="module")
def table():
    return explore.run(bandwidth.subject(), [], {})


def numbers(found, name, parameter="", value=""):
    """Values of one row."""
    (row,) = (
        row
        for row in [*found.rows, *found.changed]
        if (row.configuration, row.parameter, row.value) == (name, parameter, value)
    )
    return row.numbers.values


@pytest.mark.plan("explore-1")
def test_the_table_has_the_numbers_of_the_documents(table):
    """Overdraw 2.083, and 8, 8, 16 and 8 Gb/s; times 10, 4, and n passes [fb]."""
    first = numbers(table, "1080p60")
    assert first["overdraw"] == 2.083
    found = [
        first[name] for name in ("colour_written", "colour_blended", "depth_read", "depth_written")
    ]
    assert [round(it / 8) * 8 for it in found] == [8, 8, 16, 8]
    assert numbers(table, "4k144")["times"] == 9.6  # the document says about 10
    assert numbers(table, "msaa4")["times"] == 4
    for passes in range(1, 5):
        assert numbers(table, "1080p60", "passes", str(passes))["total"] == pytest.approx(
            passes * first["total"], abs=0.002
        )
    assert first["total"] == pytest.approx(
        (2.0833 * 32 + 4 * 32 + 2.0833 * 32) * 1920 * 1080 * 60 / 1e9, abs=0.01
    )


@pytest.mark.plan("explore-2")
def test_a_row_is_the_model_of_that_machine():
    """As it is, and with one parameter changed; all others are those of the configuration."""
    subject = frame.subject("teapot", (64, 48), 4, 2)
    over = {"cache.sets": ["1", "64"], "memory.latency": ["0+8", "400+800"]}
    found = explore.run(subject, ["near", "far"], over)
    scene = Scene(*mesh.teapot(2), 64, 48, 4)
    events = job.FrameJob(scene, render(scene), CONFIGS["frame"]).events()
    for name, machine in (("near", MachineParams()), ("far", MachineParams(memory=FAR))):
        small = replace(machine, cache=replace(machine.cache, sets=1))
        slow = replace(machine, memory=replace(machine.memory, latency=(400, 800)))
        for expected, changed in (
            (predict(events, machine), ("", "")),
            (predict(events, small), ("cache.sets", "1")),
            (predict(events, slow), ("memory.latency", "400+800")),
        ):
            values = numbers(found, name, *changed)
            assert values["clocks"] == expected.clocks
            assert values["holding"] == expected.holding
            assert values["colour_bytes"] == expected.bytes["colour"]
            assert values["milliseconds"] == pytest.approx(1000 * expected.seconds, abs=1e-4)
            assert list(values) == list(subject.columns)  # words stand beside their numbers
            for plane in ("depth", "stencil"):
                assert values[f"{plane}_bytes"] == expected.bytes[plane]
    near, far = (row.numbers.values["clocks"] for row in found.rows)
    assert far > near
    assert [row.value for row in found.changed] == [
        value for values in over.values() for value in values for _ in range(2)
    ]


@pytest.mark.plan("explore-2")
@pytest.mark.parametrize("path", ["examples/data/house.glb"])
def test_scenes_are_explored_too(path):
    subject = frame.subject(str(ROOT / path), (64, 48), 4, 4)
    (row,) = explore.run(subject, ["near"], {"lanes": ["1"]}).rows
    assert row.numbers.values["clocks"] > 100
    assert row.numbers.values["command_bytes"] > 0


class Reader(HTMLParser):
    """Sliders, tables and what a page asks others for."""

    def __init__(self, text):
        super().__init__()
        self.sliders, self.cells, self.foreign, self._open = {}, [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self._open.append(tag)
        if attributes.get("type") == "range":
            self.sliders[attributes["data-parameter"]] = int(attributes["max"])
        for name in ("src", "href"):
            target = attributes.get(name) or attributes.get(f"xlink:{name}")
            if target and not target.startswith("#"):
                self.foreign.append(target)

    def handle_data(self, data):
        if self._open and self._open[-1] in ("td", "th"):
            self.cells.append(data)


@pytest.mark.plan("explore-3")
def test_the_page_has_every_number_and_needs_nothing_else(table):
    subject = bandwidth.subject()
    text = page.page(subject, table)
    read = Reader(text)
    assert not read.foreign
    assert read.sliders == {name: len(values) - 1 for name, values in subject.what_if.items()}
    for row in [*table.rows, *table.changed]:
        assert set(page.cells(row)) <= set(read.cells)
    for name in subject.configurations:
        assert f"<h3>{name}</h3>" in text
        present = table.present[name]
        assert set(present) | set(present.values()) <= set(read.cells)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    for parameter, values in subject.what_if.items():
        assert data[parameter]["values"] == values
        for n, value in enumerate(values):
            change, *lines = data[parameter]["rows"][n]
            assert change[0] == "change of total"
            expected = [
                page.cells(row)
                for row in table.changed
                if (row.parameter, row.value) == (parameter, value)
            ]
            assert [line[1:] for line in lines] == [list(it) for it in zip(*expected, strict=True)]
    assert data["passes"]["rows"][1][0] == ["change of total", *["+100.0%"] * 3, "-50.0%"]


@pytest.mark.plan("explore-3")
def test_a_chart_has_a_line_of_the_measure_for_each_configuration(table, monkeypatch):
    drawn = []
    monkeypatch.setattr(charts, "inline", lambda figure, label: drawn.append(figure) or label)
    rows = [row for row in table.changed if row.parameter == "passes"]
    assert charts.chart("passes", "total", rows) == "total over passes"
    (axes,) = drawn[0].axes
    assert [it.get_text() for it in axes.get_xticklabels()] == bandwidth.WHAT_IF["passes"]
    for line, name in zip(axes.get_lines(), bandwidth.CONFIGURATIONS, strict=True):
        totals = [row.numbers.values["total"] for row in rows if row.configuration == name]
        assert line.get_label() == name
        assert list(line.get_ydata()) == totals


@pytest.mark.plan("explore-3")
def test_names_are_text_and_no_markup(tmp_path):
    """A file's name is a configuration's, wherever a page has it."""
    path = tmp_path / "<script>&.json"
    path.write_text("{}")
    subject = bandwidth.subject()
    found = explore.run(subject, [str(path)], {"passes": ["1", "2"]})
    text = page.page(subject, found)
    assert "<script>&" not in text
    assert "&lt;script&gt;&amp;" in text


@pytest.mark.plan("explore-3")
def test_a_roofline_has_its_terms():
    row = explore.Row("one", "", "", Numbers({"total": 5}, [Term("reads", 1234)], 2345))
    subject = bandwidth.subject()._replace(columns={"total": "all"})
    text = page.page(subject, explore.Explored([row], [], {"one": {"width": "1"}}))
    assert "reads: 1,234" in text
    assert "Mb/s; red: all of it, 2,345" in text


@pytest.mark.plan("explore-4")
def test_a_configuration_is_a_name_or_a_file(tmp_path):
    path = tmp_path / "mine.json"
    subject = bandwidth.subject()._replace(configurations=machines.MACHINES)
    assert configuration(subject, "far") == ("far", machines.MACHINES["far"])
    path.write_text('{"base": "far", "cache.sets": 16, "tiles": 0.5, "memory.latency": [4, 9]}')
    name, found = configuration(subject, str(path))
    far = machines.MACHINES["far"]
    assert name == "mine"
    assert found == replace(
        far,
        tiles=0.5,
        cache=replace(far.cache, sets=16),
        memory=replace(far.memory, latency=(4, 9)),
    )


@pytest.mark.plan("explore-4")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["teapot", "--on", "mars"], "configuration must be one of near, far, "),
        (["bandwidth", "--on", "near"], "configuration must be one of 1080p60, "),
        (["bandwidth", "--on", "no.json"], "configuration must be a file that can be read"),
        (["bandwidth", "--on", "bad.json"], "configuration must be JSON, not bad.json"),
        (["bandwidth", "--on", "deep.json"], "configuration must be JSON, not deep.json"),
        (["bandwidth", "--on", "list.json"], "configuration must be an object of JSON"),
        (["bandwidth", "--on", "long.json"], "configuration must have at most 1048576 bytes"),
        (["bandwidth", "--on", "null.json"], "width of null.json must be a number, a word"),
        (["bandwidth", "--on", "key.json"], "parameter of key must be name=value of width"),
        (["bandwidth", "--on", "base.json"], "base of base.json must be one of 1080p60"),
        (["bandwidth", "--over", "passes"], "over must be name=value,value, each name once"),
        (["bandwidth", "--over", "passes=1,"], "over must be name=value,value"),
        (["bandwidth", "--over", "passes=0"], "parameters of 1080p60 must be ones that it has"),
        (["bandwidth", "--over", "depth=x"], "depth must be an integer, not x"),
        (["bandwidth", "--over", "clock=1"], "parameter of 1080p60 must be name=value of width"),
        (["bandwidth", "--on", "4k144", "--on", "4k144"], "configurations must have different"),
        (["bandwidth", "--size", "8x8"], "size must be that of bandwidth, not 8x8"),
        (["no.obj"], "scene must be 'teapot', 'bandwidth', or a path that exists, not no.obj"),
        (["no.obj", "--divisions", "4"], "divisions must be those of the teapot alone, not 4"),
        (["teapot", "--size", "5000x8"], "width must be at most 2048"),
        (["teapot", "--samples", "3"], "samples must be one of 1, 2, 4, 8, not 3"),
        (["bandwidth", "-o", "no/page.html"], "output file must lie in a folder that exists"),
        (
            ["bandwidth", "--over", f"width={','.join(map(str, range(1, 900)))}"],
            "configurations and values must make at most 1024 rows, not 3600",
        ),
    ],
)
def test_what_is_refused(arguments, said, tmp_path, monkeypatch, capsys):
    """One line, exit code 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    files = {
        "bad.json": "{",
        "deep.json": "[" * 100_000,
        "list.json": "[]",
        "long.json": " " * ((1 << 20) + 1),
        "null.json": '{"width": null}',
        "key.json": '{"mars": 1}',
        "base.json": '{"base": "mars"}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(["explore", *arguments]) == 2
    shown = capsys.readouterr().err.splitlines()
    assert shown[-1].startswith(f"fixfunc: {said}")
    assert {path.name for path in tmp_path.iterdir()} == set(files)


@pytest.mark.plan("explore-4")
def test_the_command_writes_table_and_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*TEAPOT, "--on", "near", "--over", "cache.sets=4,64"]) == 0
    shown = capsys.readouterr().out
    assert "wrote explore.html" in shown
    assert "cache.sets" in shown
    assert "</html>" in (tmp_path / "explore.html").read_text()
    assert main(["explore", "bandwidth", "--parameters"]) == 0
    assert "complexity=4: an integer" in capsys.readouterr().out.splitlines()
    assert main(["explore", "--parameters"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "memory.latency=0+8: 2 integers, joined by +" in shown
    assert "tiles=1.0: a number" in shown
