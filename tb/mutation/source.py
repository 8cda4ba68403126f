# SPDX-License-Identifier: BSD-2-Clause
"""A change of the source in words: the piece as it is written, and what stands in its place."""

import ast
import copy
from functools import cache
from pathlib import Path

from fixfunc.tb.mutation.schemata import Site

BINARY = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
}
COMPARED = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
KEYWORDS = ("If", "Elif", "State", "Case")


@cache
def _nodes(file: str) -> tuple[dict, dict]:
    """Nodes of a file by their places, and the node around each."""
    places = {}
    around = {}
    for node in ast.walk(ast.parse(Path(file).read_text())):
        for child in ast.iter_child_nodes(node):
            around[child] = node
        if hasattr(node, "lineno"):
            key = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
            places.setdefault(key, node)
    return places, around


@cache
def lines(file: str) -> list[str]:
    """Lines of a file, without what surrounds their text."""
    return [line.strip() for line in Path(file).read_text().splitlines()]


def _node(site: Site) -> ast.AST | None:
    """The piece of the source that a site stands for."""
    span = site.span
    places, around = _nodes(span.file)
    node = places.get((span.line, span.column, span.end_line, span.end_column))
    if node is None:  # a call of a method that spans lines begins at the method's name
        ends = [
            ending
            for (_, _, *end), ending in places.items()
            if tuple(end) == (span.end_line, span.end_column) and ending.lineno <= span.line
        ]
        node = max(ends, key=lambda ending: ending.lineno, default=None)
    while isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
        node = around[node]  # m.next = ...
    if isinstance(node, ast.With):  # of which Amaranth sees the end
        calls = [item.context_expr for item in node.items]
        wanted = ("Case", "State") if site.words == "case never" else ("If", "Elif")
        node = next((call for call in calls if _called(call) in wanted), calls[0])
    return node


def words(site: Site) -> tuple[str, str]:
    """The source before and after the change."""
    node = _node(site)
    before = ast.unparse(node) if node is not None else lines(site.span.file)[site.span.line - 1]
    before = " ".join(before.split())
    after = _after(site, node) if node is not None else None
    note = f" ({site.subject})" if site.subject else ""
    return before + note, " ".join((after or f"{before} [{site.words}]").split())


def _after(site: Site, node: ast.AST) -> str | None:
    if site.kind == "assignment":
        return "nothing"
    if site.kind == "condition" and _called(node) in KEYWORDS:
        return _condition(site, node)
    new = copy.deepcopy(node)
    if site.kind == "operator" and " becomes " in site.words:
        old, _, operator = site.words.partition(" becomes ")
        if isinstance(new, ast.BinOp) and isinstance(new.op, BINARY.get(old, ())):
            new.op = BINARY[operator]()
            return ast.unparse(new)
        if _compares(new) and isinstance(new.ops[0], COMPARED.get(old, ())):
            new.ops = [COMPARED[operator]()]
            return ast.unparse(new)
        if _called(node) in ("any", "all"):
            new.func.attr = "all" if node.func.attr == "any" else "any"
            return ast.unparse(new)
    if isinstance(new, ast.UnaryOp) and site.words.endswith(" lost"):
        return ast.unparse(new.operand)
    if isinstance(new, ast.BinOp) and site.kind == "term":
        return ast.unparse(new.right if site.words.startswith("left") else new.left)
    if isinstance(new, ast.Attribute) and site.kind == "field":
        new.attr = site.words.rpartition(" ")[2]
        return ast.unparse(new)
    if site.kind == "constant":
        return _constant(site, new)
    return None


def _constant(site: Site, new: ast.AST) -> str | None:
    """A constant operand, or an assigned constant, off by one."""
    what, _, step = site.words.rpartition(" ")
    if what.startswith("operand"):
        place = int(what.split()[1])
        if isinstance(new, ast.BinOp):
            name = ("left", "right")[place]
            setattr(new, name, _shifted(getattr(new, name), int(step)))
            return ast.unparse(new)
        if _compares(new):
            if place:
                new.comparators = [_shifted(new.comparators[0], int(step))]
            else:
                new.left = _shifted(new.left, int(step))
            return ast.unparse(new)
    if what == "value" and _called(new) == "eq" and len(new.args) == 1:
        new.args = [_shifted(new.args[0], int(step))]
        return ast.unparse(new)
    return None


def _shifted(node: ast.expr, step: int) -> ast.expr:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(node.value + step)
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _condition(site: Site, node: ast.Call) -> str:
    name = ast.unparse(node.func)
    inside = ", ".join(map(ast.unparse, node.args))
    return {
        "negated": f"{name}(~({inside}))",
        "always": f"{name}(1)",
        "never": f"{name}(0)",
        "case never": f"no {name}({inside})",
    }[site.words]


def _called(node: ast.AST) -> str | None:
    """Name of the method that is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return None


def _compares(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1
