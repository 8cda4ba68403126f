# SPDX-License-Identifier: BSD-2-Clause
"""Examples of the pages run, and what pages name is there.

Examples of a page run in order, in one namespace, as a reader types them.
"""

import inspect
import re
import shlex
from typing import get_args, get_type_hints

import pytest

from fixfunc import d3d11
from fixfunc.__main__ import main
from fixfunc.cosim.toolchain import ROOT
from tests import tiers

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# A comment above an example that builds hardware: it waits for ``make qualify``.
BUILDS = "<!-- builds hardware -->\n"
EXAMPLE = re.compile(rf"(?ms)^({BUILDS})?```python\n(.*?)^```$")
# Commands of a page that make the files which its examples read.
MADE = re.compile(r"(?m)^fixfunc (?:vectors .*|sweep .* --golden .*|explore .*)$")
# Options of commands that draw frames: small ones in ``make test``, since pages read columns alone.
SMALL = {
    "sweep": ["--over", "size=64x48", "--over", "divisions=2"],
    "explore": ["--size", "64x48", "--divisions", "2"],
}
# What programs never type: state on its way to the machine.
INNER = {"BindingKind", "Blend", "Sampler"}


def examples(page, builds):
    """Code of a page, as one text whose lines are those of the page."""
    text = page.read_text()
    lines = [""] * len(text.splitlines())
    for found in EXAMPLE.finditer(text):
        if builds or not found[1]:
            first = text.count("\n", 0, found.start(2))
            code = found[2].splitlines()
            lines[first : first + len(code)] = code
    return "\n".join(lines)


def run(page):
    """Run the examples of a page in the folder that is the current one; returns their names."""
    for command in MADE.findall(page.read_text()):
        words = shlex.split(command, comments=True)[1:]
        draws = "teapot" in words and not tiers.QUALIFY
        assert main([*words, *(SMALL[words[0]] if draws else [])]) == 0, command
    return namespace_of(page, builds=False)


def namespace_of(page, builds):
    """What the examples of a page have defined."""
    namespace = {"__name__": page.stem}
    exec(compile(examples(page, builds), page, "exec"), namespace)
    return namespace


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [it for it in PAGES if examples(it, False).strip()], ids=named)
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.qualify
@pytest.mark.parametrize("page", [it for it in PAGES if BUILDS in it.read_text()], ids=named)
def test_examples_that_build_hardware_run(page):
    namespace_of(page, builds=True)


def test_examples_of_device_and_context_draw(tmp_path, monkeypatch):
    """A triangle over a quarter of the picture, then a texture, points, and a clear by a list."""
    monkeypatch.chdir(tmp_path)
    made = run(ROOT / "docs/machine/host.md")
    assert made["image"][..., 3].astype(bool).mean() == pytest.approx(0.7 * 1.5 / 4, abs=0.01)
    assert made["context"].read(made["arguments"]).view("<u4")[0] == 1023  # points above the axis
    assert (made["context"].read(made["picture"]) == (0, 0, 0, 255)).all()


def test_an_undefined_name_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n```python\na = 1\n```\ntext\n```python\nb = a + c\n```\n")
    with pytest.raises(NameError, match="'c'") as error:
        run(page)
    assert error.traceback[-1].lineno + 1 == 7  # the page's own line


def test_no_language_is_misspelt():
    """A fence of Python that is marked otherwise would not run."""
    for page in PAGES:
        fences = re.findall(r"(?m)^```(.+)$", page.read_text())
        assert {*fences} <= {"python", "verilog", "cpp", "diff"}, page


def test_files_that_pages_name_are_there():
    trees = "spec|models|rtl|cosim|tb|tests|bench|examples|docs|fixfunc"
    name = re.compile(rf"`((?:{trees})/[\w/.-]+\.\w+)(?:::\w+)?`")
    found = {(page, path) for page in PAGES for path in name.findall(page.read_text())}
    assert len(found) > 300
    assert not [(named(page), path) for page, path in found if not (ROOT / path).is_file()]


def classes_of(hint):
    """Classes of the project within an annotation."""
    if inspect.isclass(hint) and hint.__module__.startswith("fixfunc."):
        yield hint
    for inner in get_args(hint):
        yield from classes_of(inner)


def test_one_import_has_what_calls_take_and_return():
    """``from fixfunc import d3d11``: classes that annotate public methods."""
    methods = [d3d11.Device.__init__]
    for kind in map(d3d11.__dict__.get, d3d11.__all__):
        found = inspect.getmembers(kind, inspect.isfunction)
        methods += [method for name, method in found if not name.startswith("_")]
    hints = [hint for it in methods for hint in get_type_hints(inspect.unwrap(it)).values()]
    needed = {kind.__name__ for hint in hints for kind in classes_of(hint)}
    assert needed - {*d3d11.__all__} == INNER
