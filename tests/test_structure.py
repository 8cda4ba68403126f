# SPDX-License-Identifier: BSD-2-Clause
"""The house rules: imports point down, a block is five files, plans name real tests."""

import ast
import os
import re

import pytest

from fixfunc.cosim.toolchain import ROOT

TREES = ("spec", "models", "rtl", "cosim", "tb")
OURS = {*TREES, "tests", "bench"}
ALLOWED = {
    "spec": {"spec"}, "models": {"spec", "models"}, "rtl": {"spec", "rtl"}, "cosim": {"spec", "models", "rtl", "cosim"},
    "tb": {"spec", "models", "rtl", "cosim", "tb"},
}
FORBIDDEN = {
    "spec": {"numpy", "amaranth", "cocotb"}, "models": {"amaranth", "cocotb", "cocotb_tools"},
    "rtl": {"numpy", "cocotb", "cocotb_tools"}, "cosim": {"cocotb"}, "tb": set(),
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
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        for first, *more in (name.split(".") for name in names):
            assert first not in TREES, f"{path} imports {first} instead of fixfunc.{first}"
            yield more[0] if first == "fixfunc" and more else first


@pytest.mark.parametrize("tree", TREES)
def test_imports_point_down(tree):
    assert files(tree)
    for path in files(tree):
        for name in imports(path):
            assert name not in OURS - ALLOWED[tree], f"{path} imports {name}"
            assert name not in FORBIDDEN[tree], f"{path} imports {name}"


BLOCKS = [path for path in sorted((ROOT / "rtl").glob("*/*.py")) if not path.stem.startswith("_")]


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_a_block_is_five_files(path):
    stage, stem = path.parent.name, path.stem
    for other in (f"models/{stage}/{stem}.py", f"tb/{stage}/{stem}.py", f"tests/{stage}/test_{stem}.py", f"docs/{stage}/{stem}.md"):
        assert (ROOT / other).is_file(), other


def test_every_source_has_its_licence():
    named = [ROOT / name for name in ("Makefile", "pyproject.toml", "setup.py", "constraints.txt", ".ci/run")]
    kinds = {".py", ".sh", ".in", ".sv"}
    sources = named + [path for tree in (*TREES, "tests", "bench", "examples") for path in (ROOT / tree).rglob("*") if path.suffix in kinds]
    assert len(sources) > 250
    for path in sources:
        assert any("SPDX-License-Identifier: BSD-2-Clause" in line for line in path.read_text().splitlines()[:3]), path


@pytest.mark.parametrize("tree", [*TREES, "tests", "bench"])
def test_rooms_are_small(tree):
    for path in files(tree):
        assert len(path.read_text().splitlines()) <= 400, path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name == "elaborate":
                assert node.end_lineno - node.lineno <= 80, f"{path}: elaborate"


def public_functions(body):
    """Functions of a module, and methods of its classes, that no underscore hides; a dunder counts only if it is ``__init__``."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (node.name == "__init__" or not node.name.startswith("_")):
            yield node


@pytest.mark.parametrize("tree", TREES)
def test_public_functions_have_type_hints(tree):
    """``py.typed`` promises them: of every parameter, and of what is returned."""
    for path in files(tree):
        if path.stem.startswith("_") and path.stem != "__init__":
            continue
        for node in public_functions(ast.parse(path.read_text()).body):
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
            hinted = all(one.annotation or one.arg in ("self", "cls") for one in every)
            assert hinted and node.returns, f"{path}:{node.lineno} {node.name}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_plans_name_real_tests(page):
    """A row of a test plan names ``file::test``."""
    for file, name in re.findall(r"`(tests/[\w/]+\.py|tb/[\w/]+\.py)::(\w+)`", page.read_text()):
        path = ROOT / file
        assert path.is_file(), file
        assert re.search(rf"def {name}\b", path.read_text()), f"{page.name}: {file} has no {name}"


def test_every_block_page_has_a_plan():
    for path in BLOCKS:
        text = (ROOT / "docs" / path.parent.name / f"{path.stem}.md").read_text()
        assert len(re.findall(r"`tests/[\w/]+\.py::\w+`", text)) >= 5, path.stem



@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process takes all")
def test_a_process_takes_a_group(request):
    """Without its groups the suite takes twice as long, and nobody is told."""
    assert request.node.nodeid.endswith("@structure")
