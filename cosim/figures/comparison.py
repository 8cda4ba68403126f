# SPDX-License-Identifier: BSD-2-Clause
"""A comparison of two frames as a table, and as one HTML file that needs nothing else."""

import base64
import html
import io
from pathlib import Path
from string import Template

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from fixfunc.cosim import files
from fixfunc.cosim.figures import compare, kept
from fixfunc.cosim.figures.compare import Difference
from fixfunc.cosim.figures.kept import Kept

PAGE = Path(__file__).with_name("compare.html.in")
STYLE = Path(__file__).with_name("page.css.in")


def run(paths: tuple[Path, Path], output: Path, console: Console | None = None) -> None:
    """Compare two results, print what differs and write the page.

    Parameters
    ----------
    paths : (Path, Path)
        As :func:`fixfunc.cosim.figures.kept.read` takes them.
    output : Path
        An HTML file.
    console : rich.console.Console, optional

    Raises
    ------
    InputError
        A path is of no result, or the file cannot be written.
    """
    first, second = (kept.read(path) for path in paths)
    files.open_file(output)
    console = console or Console()
    said = compare.sentences(first, second)
    found = compare.differences(first, second)
    for sentence in said:
        console.print(sentence, markup=False, highlight=False)
    if found:
        console.print(_table(found))
    names = (first.title, second.title)
    if names[0] == names[1]:
        names = tuple(f"{name} of {path}" for name, path in zip(names, paths, strict=True))
    files.write(output, page(first, second, said, found, " and ".join(names)))
    console.print(f"wrote {output}", markup=False)


def _table(found):
    table = Table("number", "of")
    for name in ("first", "second"):
        table.add_column(name, justify="right")
    table.add_column("unit")
    table.add_column("weight", justify="right")
    for it in found:
        words = it.words
        numbers = _number(it.first), _number(it.second)
        table.add_row(words.words, words.group, *numbers, words.unit, f"{it.weight:.1%}")
    return table


def _number(value):
    """With its thousands apart; a dash for none."""
    return "\u2013" if value is None else f"{value:,}"


def page(first: Kept, second: Kept, said: list[str], found: list[Difference], title: str) -> str:
    """HTML of a comparison: sentences, table, pictures, and where these differ."""
    shown = {"first": first.picture, "second": second.picture}
    shapes = [picture.shape for picture in shown.values() if picture is not None]
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        shown["red: pixels that differ"] = compare.marked(first.picture, second.picture)
    return Template(PAGE.read_text()).substitute(
        title=html.escape(title),
        style=STYLE.read_text(),
        sentences="\n".join(f"<p class='bound'>{html.escape(text)}</p>" for text in said),
        rows="\n".join(_row(it) for it in found),
        pictures="\n".join(
            _figure(name, picture) for name, picture in shown.items() if picture is not None
        ),
    )


def _row(it):
    words = [html.escape(text) for text in it.words]
    group, name, unit, explanation = words
    return (
        f'<tr><td><span class="why" tabindex="0">{name}<span>{explanation}</span></span></td>'
        f'<td>{group}</td><td class="n">{_number(it.first)}</td>'
        f'<td class="n">{_number(it.second)}</td><td>{unit}</td>'
        f'<td>{it.weight:.1%}<div class="bar" style="width:{100 * it.weight:.1f}%"></div></td></tr>'
    )


def _figure(name: str, picture: np.ndarray) -> str:
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "png")
    text = base64.b64encode(data.getvalue()).decode()
    return (
        f'<figure><figcaption>{name}</figcaption><img alt="{name}" '
        f'src="data:image/png;base64,{text}"></figure>'
    )
