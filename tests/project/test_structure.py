# SPDX-License-Identifier: BSD-2-Clause
"""The house rules: imports point down, a block is five files, plans name real tests."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.toolchain import ROOT

TREES = ("spec", "models", "rtl", "cosim", "tb")
OURS = {*TREES, "tests", "bench"}
ALLOWED = {
    "spec": {"spec"},
    "models": {"spec", "models"},
    "rtl": {"spec", "rtl"},
    "cosim": {"spec", "models", "rtl", "cosim"},
    "tb": {"spec", "models", "rtl", "cosim", "tb"},
}
FORBIDDEN = {
    "spec": {"numpy", "amaranth", "cocotb"},
    "models": {"amaranth", "cocotb", "cocotb_tools"},
    "rtl": {"numpy", "cocotb", "cocotb_tools"},
    "cosim": {"cocotb"},
    "tb": set(),
}


def files(tree):
    return sorted((ROOT / tree).rglob("*.py"))


def imports(path):
    """What a file imports: the folder of the project, without ``fixfunc``, or the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
        elif not isinstance(node, ast.Import):
            continue
        names = (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        )
        for first, *more in (name.split(".") for name in names):
            assert first not in TREES, f"{path} imports {first} instead of fixfunc.{first}"
            yield more[0] if first == "fixfunc" and more else first


def named_modules(path):
    """Folders of modules that a file names in text that begins so, as importlib takes them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.match(r"fixfunc\.(\w*)", node.value)
            if found:
                assert found[1], f"{path}:{node.lineno} makes up the name of a module"
                yield found[1]


@pytest.mark.parametrize("tree", TREES)
def test_imports_point_down(tree):
    assert files(tree)
    for path in files(tree):
        for name in imports(path):
            assert name not in OURS - ALLOWED[tree], f"{path} imports {name}"
            assert name not in FORBIDDEN[tree], f"{path} imports {name}"
        for name in named_modules(path):
            assert name not in OURS - ALLOWED[tree], f"{path} names a module of {name}"


def import_graph():
    """What every file of the project imports of it: names of modules, wherever in the file."""
    paths = {
        ".".join(["fixfunc", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path
        for tree in TREES
        for path in files(tree)
    }
    graph = {}
    for module, path in paths.items():
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= (inside & paths.keys()) or {node.module}
        graph[module] = (names & paths.keys()) - {module}
    return graph


def circle(graph):
    """A list of modules, each of which imports the next; the last one the first. None: none do."""
    done = set()
    for first in graph:
        path = [first]
        ahead = [iter(sorted(graph[first] - done))]
        while path:
            module = next(ahead[-1], None)
            if module in path:
                return path[path.index(module) :]
            if module is None:
                done.add(path.pop())
                ahead.pop()
            elif module not in done:
                path.append(module)
                ahead.append(iter(sorted(graph[module] - done)))
    return None


def test_no_file_imports_itself_by_way_of_others():
    """Imports within functions and of types count: files in a circle are one file."""
    graph = import_graph()
    assert "fixfunc.models.back_half.back_half" in graph["fixfunc.models.machine.draws"]
    assert circle(graph) is None


def test_a_circle_is_found():
    graph = {"a": {"b", "c"}, "b": set(), "c": {"b", "d"}, "d": {"c"}}
    assert circle(graph) == ["c", "d"]
    assert circle(graph | {"d": {"b"}}) is None


def test_state_and_formats_lie_below_the_stages():
    """What every stage reads imports no stage."""
    for stem in ("payload", "formats", "state"):
        for node in ast.walk(ast.parse((ROOT / "models" / f"{stem}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("fixfunc.models."):
                assert node.module.count(".") == 2, f"{stem} imports {node.module}"


def test_a_module_named_in_text_is_an_import(tmp_path):
    path = tmp_path / "some.py"
    path.write_text('a = f"fixfunc.tb.{b}"\nc = "fixfunc.spec.errors"\nd = "see fixfunc.rtl"\n')
    assert set(named_modules(path)) == {"tb", "spec"}
    path.write_text('a = f"fixfunc.{b}"\n')
    with pytest.raises(AssertionError, match="makes up the name"):
        list(named_modules(path))


BLOCKS = [block for stem, block in catalogue.blocks().items() if stem != "top"]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.stem)
def test_a_block_is_five_files(block):
    stage = block.stage
    stem = block.stem
    for name in (
        f"models/{stage}/{stem}.py",
        f"tb/{stage}/{stem}.py",
        f"tests/{stage}/test_{stem}.py",
        f"docs/{stage}/{stem}.md",
    ):
        assert (ROOT / name).is_file(), name


def test_every_source_has_its_licence():
    named = [
        ROOT / name
        for name in ("Makefile", "pyproject.toml", "setup.py", "constraints.txt", ".ci/run")
    ]
    kinds = {".py", ".sh", ".in", ".sv"}
    sources = named + [
        path
        for tree in (*TREES, "fixfunc", "tests", "bench", "examples")
        for path in (ROOT / tree).rglob("*")
        if path.suffix in kinds
    ]
    assert len(sources) > 250
    for path in sources:
        assert any(
            "SPDX-License-Identifier: BSD-2-Clause" in line
            for line in path.read_text().splitlines()[:3]
        ), path


def python_files():
    return [path for tree in (*TREES, "fixfunc", "tests", "bench") for path in files(tree)]


@pytest.mark.parametrize("rule", [["check"], ["format", "--check"]], ids=" ".join)
def test_lint(rule):
    done = subprocess.run(
        [Path(sys.executable).with_name("ruff"), *rule, ROOT], capture_output=True, text=True
    )
    assert not done.returncode, done.stdout


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT))
        for path in python_files()
        if len(path.read_text().splitlines()) >= 400
    }
    assert not long


def test_pages_have_at_most_120_columns():
    """Tables apart, whose rows are lines."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for page in [*pages, *(ROOT / "docs").rglob("*.md")]:
        for n, line in enumerate(page.read_text().splitlines(), 1):
            assert len(line) <= 120 or line.startswith("|"), f"{page}:{n}"


def hardware_lines(node):
    """Lines of ``elaborate``, and of all methods of a class that describe hardware."""
    methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
    lines = {item.name: item.end_lineno - item.lineno + 1 for item in methods}
    private = sum(n for name, n in lines.items() if name.startswith("_") and name[1] != "_")
    return lines["elaborate"], lines["elaborate"] + private


def test_classes_are_short():
    long_elaborates = set()
    long_classes = set()
    for path in files("rtl"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and any(
                isinstance(item, ast.FunctionDef) and item.name == "elaborate" for item in node.body
            ):
                elaborate, hardware = hardware_lines(node)
                long_elaborates |= {node.name} if elaborate >= 80 else set()
                long_classes |= {node.name} if hardware >= 150 else set()
    assert not long_elaborates
    assert not long_classes


@pytest.mark.parametrize("tree", ["spec", "models", "rtl", "cosim", "tb", "bench"])
def test_a_folder_says_what_is_inside(tree):
    """Its ``__init__`` names every file and every folder in it."""
    folders = {path.parent for path in files(tree)} - {ROOT / "tb" / "lib"}  # as rtl/lib
    for folder in folders:
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        inside = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        inside += [path.name for path in folder.iterdir() if path in folders]
        assert not [name for name in inside if not re.search(rf"\b{name}\b", text)], folder


def test_rooms_hold_at_most_twelve_files():
    for tree in ("spec", "models", "rtl", "cosim", "tb", "tests", "bench", "docs", "examples"):
        for folder in [ROOT / tree, *(path for path in (ROOT / tree).rglob("*") if path.is_dir())]:
            inside = [
                path
                for path in folder.iterdir()
                if path.is_file() and path.name not in ("py.typed", "__init__.py")
            ]
            assert len(inside) <= 12 or folder.name == "__pycache__", folder


# Amaranth offers no other way to put an instance in the place of a submodule; pyproject.toml holds
# its version.
OF_AMARANTH = ROOT / "cosim" / "verilog" / "units.py"


def test_nothing_private_leaves_its_folder():
    """What another folder imports has no leading underscore, nor is it reached by its name."""
    for path in (path for path in python_files() if path != OF_AMARANTH):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and path.parts[-2] != "project":
                home = node.module.split(".")
                names = [*home, *(alias.name for alias in node.names)]
                private = [n for n in names if n.startswith("_") and not n.startswith("__")]
                assert not private, f"{path}:{node.lineno} imports {private}"


def public_functions(body):
    """Functions of a module, and methods of its classes, that no underscore hides.

    A dunder counts only if it is ``__init__``.
    """
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
            node.name == "__init__" or not node.name.startswith("_")
        ):
            yield node


def imported_from_other_folders():
    """Files of the project that some other folder of it imports."""
    found = set()
    for path in (path for tree in TREES for path in files(tree)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("fixfunc."):
                base = ROOT / node.module.removeprefix("fixfunc.").replace(".", "/")
                names = [base, *(base / alias.name for alias in node.names)]
                found |= {name.with_suffix(".py") for name in names if name.parent != path.parent}
    return found


@pytest.mark.parametrize("tree", TREES)
def test_public_functions_have_type_hints(tree):
    """``py.typed`` promises them: of every parameter, and of what is returned.

    Parts that their own folder alone imports may do without.
    """
    shared = imported_from_other_folders()
    stems = catalogue.blocks()
    for path in files(tree):
        if tree in ("models", "rtl", "tb") and path not in shared and path.stem not in stems:
            continue
        for node in public_functions(ast.parse(path.read_text()).body):
            given = node.args
            every = [
                *given.posonlyargs,
                *given.args,
                *given.kwonlyargs,
                *filter(None, (given.vararg, given.kwarg)),
            ]
            hinted = all(
                argument.annotation or argument.arg in ("self", "cls") for argument in every
            )
            assert hinted and node.returns, f"{path}:{node.lineno} {node.name}"


# A row of a test plan: its id, and the rest, where ``file::test`` names a test.
ROW = re.compile(r"(?m)^\| ([a-z][a-z0-9-]*-\d+) \|(.*)$")
TEST = re.compile(r"`((?:tests|tb)/[\w/]+\.py::\w+)`")


def plan_rows():
    """Tests of every row of every plan, by its id."""
    rows = {}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        above, _, _ = page.read_text().partition("<details><summary>Test plan</summary>\n\n")
        assert not ROW.search(above), f"{page.name}: its plan lies above the fold"
        for row, text in ROW.findall(page.read_text()):
            assert row not in rows, f"{page.name}: {row} twice"
            rows[row] = set(TEST.findall(text))
    return rows


def named_rows():
    """Rows that every test names: by a marker ``plan``, or in ``tb`` a comment above the test."""
    named = {}
    for path in (path for tree in ("tests", "tb") for path in files(tree)):
        lines = path.read_text().splitlines()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found = [
                    argument.value
                    for mark in node.decorator_list
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.plan"
                    for argument in mark.args
                ]
                first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                comment = re.fullmatch(r"# plan: (.*)", lines[first - 2])
                found += comment[1].split(", ") if comment else []
                if found:
                    named[f"{path.relative_to(ROOT)}::{node.name}"] = set(found)
    return named


def test_plans_and_tests_name_each_other():
    rows = plan_rows()
    named = named_rows()
    assert len(rows) > 100
    for row, tests in rows.items():
        assert tests, f"{row} names no test"
        for test in tests:
            assert row in named.get(test, ()), f"{test} does not name {row}"
    for test, ids in named.items():
        for row in ids:
            assert test in rows.get(row, ()), f"{row} does not name {test}"


def test_every_named_test_is_there():
    """Outside of plans too."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for file, name in (test.split("::") for test in TEST.findall(page.read_text())):
            path = ROOT / file
            assert path.is_file(), f"{page.name}: {file}"
            assert re.search(rf"def {name}\b", path.read_text()), f"{page.name}: {file} {name}"


def test_every_block_page_has_a_plan():
    rows = plan_rows()
    for block in BLOCKS:
        stem = block.stem.replace("_", "-")
        assert sum(row.rsplit("-", 1)[0] == stem for row in rows) >= 5, block.stem


def test_every_file_of_the_hardware_is_named_on_a_page():
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    for path in files("rtl"):
        name = str(path.relative_to(ROOT))
        assert path.name == "__init__.py" or f"`{name}`" in pages, name


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process takes all")
def test_a_process_takes_a_group(request):
    """Without its groups the suite takes twice as long, and nobody is told."""
    assert request.node.nodeid.endswith("@structure")
