# SPDX-License-Identifier: BSD-2-Clause
"""What hardware must equal has widths: golden models compute with numpy's types alone."""

import ast

import pytest

from fixfunc.cosim.toolchain import ROOT

STAGES = ("frontend", "geometry", "raster", "depth", "pixel", "texture", "output", "memory")
GOLDEN = [path for stage in STAGES for path in sorted((ROOT / "models" / stage).glob("*.py"))]
PAGE = ROOT / "docs" / "numerics.md"


def unbounded(tree):
    """Where numbers of any width are made: rationals, or arrays of Python's integers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [alias.name for alias in node.names] + [getattr(node, "module", "")]
            if {"fractions", "decimal"} & set(names):
                yield node.lineno
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(value, ast.Name) and value.id == "object" for value in given):
                yield node.lineno


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_rule_needs_integers_of_any_width(path):
    assert list(unbounded(ast.parse(path.read_text()))) == []


def test_what_has_no_width_is_found():
    source = "from fractions import Fraction\nimport numpy as np\nx = np.zeros(3, object)\n"
    assert list(unbounded(ast.parse(source))) == [1, 3]


def test_each_golden_stage_has_its_widths():
    """Rows of the table: stage, operation, operands, result, rounding."""
    text = PAGE.read_text().split("## Stages that are golden alone")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert all(len(row) == 5 and all(cell.strip() for cell in row) for row in rows)
    stages = {row[0].strip() for row in rows[1:]}
    wanted = "input assembler, vertex cache, vertex fetch, primitive assembly, clipper, viewport, "
    wanted += "expand, interpolator, sampler"
    assert stages == set(wanted.split(", "))
