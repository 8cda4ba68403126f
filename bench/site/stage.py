# SPDX-License-Identifier: BSD-2-Clause
"""Pages as they stand, laid out for Sphinx, with a table of contents and a page for each package.

The reference is of docstrings: of what programs import, and of hardware.
"""

import shutil
from pathlib import Path

from fixfunc import d3d11

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
TREES = ("docs", "fixfunc", "spec", "models", "rtl", "cosim", "tb", "tests", "bench", "examples")
REFERENCE = ("fixfunc", "spec", "models", "rtl", "cosim", "examples")
STAGES = ("machine", "scene", "frontend", "tessellation", "geometry", "raster", "depth", "pixel")
STAGES += ("texture", "output", "memory", "system", "architecture", "lib", "cosim", "coverage")
STAGES += ("proofs",)
LEFT = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
MAIN = "__main__"  # commands, whose module is no reference


def lay_out(folder: Path, root: Path, has_reference: bool) -> None:
    """Copy pages, and what they link; write the table of contents and the reference.

    Parameters
    ----------
    folder : Path
        Not there yet.
    root : Path
        A checkout.
    has_reference : bool
    """
    folder.mkdir(parents=True)
    for name in PAGES:
        shutil.copy(root / name, folder)
    for name in TREES:
        shutil.copytree(root / name, folder / name, ignore=LEFT)
    packages = reference(folder) if has_reference else []
    (folder / "index.md").write_text(contents(folder, packages))


def contents(folder: Path, packages: list[str]) -> str:
    """The table of contents: pages by stage, then the reference."""
    docs = folder / "docs"
    parts = {
        "Start": ["README", *_pages(docs / "guide"), "CONTRIBUTING", "CHANGELOG"],
        "The whole": _pages(docs),
    }
    parts |= {stage.capitalize(): _pages(docs / stage) for stage in STAGES}
    if packages:
        parts["Reference"] = [f"reference/{name}" for name in packages]
    trees = "".join(
        f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n\n"
        for caption, names in parts.items()
    )
    return f"# fixfunc\n\n{trees}"


def _pages(folder):
    """Pages of a folder, by their names in the table of contents."""
    root = folder.parent if folder.name == "docs" else folder.parent.parent
    return sorted(str(path.relative_to(root).with_suffix("")) for path in folder.glob("*.md"))


def reference(folder: Path) -> list[str]:
    """Write a page for each package, with the docstrings of its modules; returns their names."""
    names = []
    for tree in REFERENCE:
        for package in sorted({path.parent for path in (folder / tree).rglob("*.py")}):
            parts = package.relative_to(folder).parts
            name = ".".join(parts if tree == "fixfunc" else ("fixfunc", *parts))
            modules = sorted(path.stem for path in package.glob("*.py") if path.stem != MAIN)
            (folder / "reference").mkdir(exist_ok=True)
            (folder / "reference" / f"{name}.rst").write_text(_page(name, modules))
            names.append(name)
    return names


def _page(name, modules):
    """A package's page: its own docstring, then its modules'."""
    text = f"{name}\n{'=' * len(name)}\n\n"
    for module in sorted(modules, key=lambda it: it != "__init__"):
        title = f"{name}.{module}"
        if module == "__init__":
            text += f".. automodule:: {name}\n\n"
        else:
            text += f"{module}\n{'-' * len(module)}\n\n.. automodule:: {title}\n   :members:\n"
            text += "   :ignore-module-all:\n\n"  # a name is described where it is defined
        if title == d3d11.__name__:
            text += "".join(f"- :class:`{_home(name)}`\n" for name in d3d11.__all__) + "\n"
    return text


def _home(name):
    """Where a name of the interface is defined."""
    kind = getattr(d3d11, name)
    return f"{kind.__module__}.{kind.__qualname__}"
