# SPDX-License-Identifier: BSD-2-Clause
"""Docstrings as they stand in sources, made readable for Sphinx."""

import re
from itertools import groupby
from typing import Any

from sphinx.application import Sphinx

ENTRY = re.compile(r"\w[\w, ]* : \S")
RULE = re.compile(r"-{3,}$")
COLUMNS = re.compile(r"\S {2,}\S")
BEFORE_NAPOLEON = 400


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build."""
    app.connect("autodoc-process-docstring", _prepare, priority=BEFORE_NAPOLEON)
    return {"parallel_read_safe": True}


def _prepare(_app, what, _name, _thing, _options, lines):
    if what == "module":
        lines[:] = columns_kept(lines)
    elif what in ("property", "attribute"):
        lines[:] = untyped(lines)
    else:
        lines[:] = sections_ended(titled(lines))


def untyped(lines: list[str]) -> list[str]:
    """Napoleon takes what the first line of a property has before a colon for a type.

    It skips empty lines; an escaped space is a line, and nothing on the page.
    """
    return ["\\ ", *lines]


def columns_kept(lines: list[str]) -> list[str]:
    """Paragraphs of a package that have columns, of files and what they are, stay as they are."""
    out = []
    for is_text, paragraph in groupby(lines, bool):
        text = list(paragraph)
        if is_text and any(map(COLUMNS.search, text)):
            out += ["::", "", *(f"   {line}" for line in text)]
        else:
            out += text
    return out


def titled(lines: list[str]) -> list[str]:
    """Entries of a docstring without any section are members."""
    first = next((n for n, line in enumerate(lines) if ENTRY.match(line)), None)
    if first is None or any(map(RULE.match, lines)):
        return lines
    return [*lines[:first], "Members", "-------", *lines[first:]]


def sections_ended(lines: list[str]) -> list[str]:
    """A paragraph behind a section is no entry of it: two empty lines end one for napoleon."""
    out = []
    has_section = False
    for n, line in enumerate(lines):
        is_title = n + 1 < len(lines) and RULE.match(lines[n + 1])
        has_section |= bool(is_title)
        if has_section and line and line[0] != " " and n and not lines[n - 1] and not is_title:
            out.append("")
            has_section = False
        out.append(line)
    return out
