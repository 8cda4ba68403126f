# SPDX-License-Identifier: BSD-2-Clause
"""Sources that pages link become pages themselves, with highlighted text."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

LANGUAGES = {".py": "python", ".sv": "systemverilog", ".toml": "toml", ".json": "json", "": "text"}
FOLDER = "source"


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build."""
    app.connect("doctree-read", _link)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": False}


def _link(app, doctree):
    """Links that would download a source lead to its page."""
    linked = app.env.__dict__.setdefault("linked_sources", set())
    for node in list(doctree.findall(addnodes.download_reference)):
        target = posixpath.normpath(
            posixpath.join(posixpath.dirname(app.env.docname), node["reftarget"])
        )
        if Path(target).suffix not in LANGUAGES or not (Path(app.srcdir) / target).is_file():
            continue
        linked.add(target)
        here = posixpath.dirname(app.env.docname)
        uri = posixpath.relpath(f"{FOLDER}/{target}.html", here or ".")
        node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """A page for each source that is linked."""
    for name in sorted(getattr(app.env, "linked_sources", ())):
        path = Path(app.srcdir) / name
        language = LANGUAGES[path.suffix]
        body = app.builder.highlighter.highlight_block(path.read_text(), language, linenos="table")
        yield f"{FOLDER}/{name}", {"title": name, "body": f"<h1>{name}</h1>{body}"}, "page.html"
