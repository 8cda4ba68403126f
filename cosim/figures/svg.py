# SPDX-License-Identifier: BSD-2-Clause
"""Charts by Matplotlib as elements of a page."""

import io
import re

from matplotlib.figure import Figure

INK = "#ddd"
STYLE = {
    "svg.fonttype": "none",  # text that can be searched, read aloud and quoted
    "svg.hashsalt": "fixfunc",  # the same figures, the same file
    "font.family": "sans-serif",
    "font.size": 10,
}


def inline(figure: Figure, label: str) -> str:
    """An element of a page: no prologue, no size but the page's, no names of other sites."""
    out = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(out, format="svg", transparent=True, metadata=nothing)
    text = out.getvalue()
    box = re.search(r'viewBox="[^"]*"', text)[0]
    body = text[text.index(">", text.index("<svg")) + 1 :]
    return f'<svg role="img" aria-label="{label}" {box}>{body}'
