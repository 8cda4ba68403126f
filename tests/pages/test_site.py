# SPDX-License-Identifier: BSD-2-Clause
"""The site: every link and anchor leads somewhere, and nothing is loaded from outside."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from sphinx.ext.napoleon.docstring import NumpyDocstring

from bench.site import docstrings, stage
from fixfunc.cosim.toolchain import ROOT
from tests.project.test_structure import TREES, files

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
ROLE = re.compile(r":(class|func|data|attr|meth|mod|exc):`~?([\w.]+)`")


class Page(HTMLParser):
    """Links, anchors, and what is loaded with a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.anchors |= {named[name] for name in ("id", "name") if named.get(name)}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif named.get(LOADED.get(tag)):
            self.loaded.append(named[LOADED[tag]])


def broken(folder):
    """Links of a site that lead nowhere, and what it loads from outside."""
    page_of = cache(Page)
    for path in sorted(folder.rglob("*.html")):
        page = page_of(path)
        for link in (*page.links, *page.loaded):
            parts = urlparse(link)
            if parts.scheme in ("http", "https", "") and parts.netloc:
                if link in page.loaded:
                    yield path, link
                continue
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or (
                target.suffix == ".html"
                and (unquote(parts.fragment) not in page_of(target).anchors)
            ):
                yield path, link
    for path in folder.rglob("*.css"):
        for found in re.findall(r"(?:url\(|@import)[^;)]*", path.read_text()):
            if "//" in found and "data:" not in found:
                yield path, found


def built(folder, *options):
    """Run the command; returns its exit code and what it says."""
    command = [sys.executable, "-m", "bench.site", "-o", folder, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A site of the pages alone: the reference takes a minute."""
    folder = tmp_path_factory.mktemp("site")
    assert built(folder, "--pages") == (0, f"{folder / 'index.html'}: written\n")
    return folder


@pytest.mark.plan("site-1")
def test_every_page_is_there_and_every_link_leads_somewhere(pages):
    for path in (ROOT / "docs").rglob("*.md"):
        assert (pages / path.relative_to(ROOT).with_suffix(".html")).is_file(), path
    assert {"README.html", "index.html", "search.html"} <= {it.name for it in pages.glob("*.html")}
    assert not list(broken(pages))


@pytest.mark.plan("site-3")
def test_sources_that_pages_link_are_pages(pages):
    text = (pages / "source/examples/__init__.py.html").read_text()
    assert "Draws through D3D11" in text
    assert (
        'href="../../source/examples/__init__.py.html"'
        in (pages / "docs/machine/program.html").read_text()
    )


@pytest.mark.plan("site-1")
@pytest.mark.qualify
def test_the_reference(tmp_path):
    assert built(tmp_path)[0] == 0
    assert not list(broken(tmp_path))
    page = (tmp_path / "reference/fixfunc.models.raster.html").read_text()
    assert 'id="fixfunc.models.raster.tile_rasterizer.coverage"' in page


@pytest.mark.plan("site-2")
def test_broken_pages_fail(tmp_path):
    """Each kind of a link that leads nowhere is told, and nothing else."""
    root = tmp_path / "root"
    for name in (*stage.TREES, "docs/guide"):
        (root / name).mkdir(parents=True)
    for name in stage.PAGES:
        (root / name).write_text("# Page\n")
    (root / "docs/other.md").write_text("# Other\n")
    page = root / "docs/page.md"
    page.write_text("# Page\n[a](other.md#other) [b](other.md)\n")
    assert built(tmp_path / "right", "--pages", "--root", root)[0] == 0
    wrong = ["[a](none.md)", "[a](#none)", "![a](none.png)", "[a](other.md#none)", "{doc}`none`"]
    page.write_text("# Page\n" + "\n\n".join(wrong) + "\n")
    code, text = built(tmp_path / "wrong", "--pages", "--root", root)
    assert code != 0
    lines = re.findall(r"docs/page\.md:(\d+): WARNING", text)
    assert {int(line) for line in lines} == {2, 4, 6, 8, 10}, text


@pytest.mark.plan("site-5")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    code, text = built(path)
    assert code == 2
    assert "output folder must be a folder that can be written" in text.splitlines()[-1]


@pytest.mark.plan("site-1")
def test_what_is_broken_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html">1</a><a href="#there">2</a><a href="#here">3</a>'
        '<a href="https://example.org">4</a><img src="//example.org/a.png">'
        '<script src="https://example.org/a.js"></script>'
    )
    (tmp_path / "a.css").write_text("@import url(https://example.org/a.css);")
    found = [link for _, link in broken(tmp_path)]
    assert found[:4] == [
        "b.html",
        "#there",
        "//example.org/a.png",
        "https://example.org/a.js",
    ]
    assert len(found) == 5


@pytest.mark.plan("site-1")
def test_a_reader_finds_every_page():
    """Folders of docs that the table of contents does not know would be left out."""
    folders = {path.parent.name for path in (ROOT / "docs").rglob("*.md")}
    assert folders == {*stage.STAGES, "docs", "guide"}


@pytest.mark.plan("site-4")
def test_docstrings_are_prepared():
    assert docstrings.columns_kept(["Files.", "", "a.py  what", "b.py  what"]) == [
        "Files.", "", "::", "", "   a.py  what", "   b.py  what",
    ]  # fmt: skip
    text = ["What.", "", "Returns", "-------", "int", "    A number.", "", "Source: [fs 3]."]
    assert docstrings.sections_ended(text) == [*text[:-1], "", text[-1]]
    assert docstrings.titled(["A.", "", "b : In(1)"]) == [
        "A.", "", "Members", "-------", "b : In(1)",
    ]  # fmt: skip


@pytest.mark.plan("site-4")
def test_a_property_has_words_and_no_type():
    """What is said of it may have a colon: nothing before that is looked up."""
    text = ["Corners of triangles, in pixels: int32, shape (n, 6).", "", "More."]
    written = NumpyDocstring(docstrings.untyped(text), what="property", name="edges").lines()
    assert not any(line.startswith(":type:") for line in written)
    assert text[0] in written


def named(module, owner, name):
    """What a role names: from anywhere, from its module, or from its class."""
    things = [module, getattr(module, owner or "", None)]
    parts = name.split(".")
    for n in range(len(parts) if parts[0] in sys.modules else 0, 0, -1):
        try:
            things.append((importlib.import_module(".".join(parts[:n])), parts[n:]))
            break
        except ImportError:
            continue
    for thing in things:
        found, rest = thing if isinstance(thing, tuple) else (thing, parts)
        for part in rest:
            fields = getattr(found, "__annotations__", {})
            found = getattr(found, part, None) or fields.get(part)
        if found is not None:
            return found
    return None


def roles(tree):
    """Roles of docstrings: file, class, name."""
    for path in files(tree):
        text = path.read_text()
        owners = [
            (node.lineno, node.end_lineno, node.name)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ClassDef)
        ]
        for found in ROLE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            inside = [name for first, last, name in owners if first <= line <= last]
            yield path, inside[-1] if inside else None, found[2]


@pytest.mark.plan("site-4")
@pytest.mark.parametrize("tree", TREES)
def test_roles_name_what_is_there(tree):
    unknown = []
    for path, owner, name in roles(tree):
        inside = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(f"fixfunc.{inside}".removesuffix(".__init__"))
        siblings = [it.read_text() for it in path.parent.glob("*.py")]
        is_sibling = any(re.search(rf"^class {name.split('.')[0]}\b", it, re.M) for it in siblings)
        if named(module, owner, name) is None and not (is_set(path, name) or is_sibling):
            unknown.append(f"{Path(inside)}: {name}")
    assert not unknown


def is_set(path, name):
    """An attribute that ``__init__`` sets, or a member of a signature."""
    return re.search(rf"self\.{name}\b|\"{name}\"|^\s+{name} :", path.read_text(), re.M)
