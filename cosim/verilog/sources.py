# SPDX-License-Identifier: BSD-2-Clause
"""Files that a thing depends on: their hash names what was generated, and what was measured."""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from fixfunc.cosim import toolchain
from fixfunc.cosim.toolchain import ROOT

OURS = r"(?:fixfunc|tests|bench)\b"
IMPORT = re.compile(rf"(?m)^\s*import ({OURS}\.[\w.]+)")
FROM = re.compile(
    rf"(?m)^\s*from ({OURS}[\w.]*) import (?:\(([^)]*)\)|(.*))$"
)  # a parser takes ten times as long
GENERATORS = ("generate.py", "identity.py", "units.py", "yosys.py")  # what writes Verilog
HARDWARE = ("rtl", "spec")  # folders that hold hardware, or what its widths come from
# And what holds it to its golden model. What drives both, in ``cosim``, changes no verdict.
BENCHES = (*HARDWARE, "models", "tb")


def digest(module: str, *more: str) -> str:
    """Hash of all that decides a module's Verilog: 16 hexadecimal digits.

    Parameters
    ----------
    module : str
        Where the component is defined, such as ``fixfunc.rtl.top``.
    more : str
        Its parameters, as text.
    """
    text = hashlib.sha256(
        "\0".join(
            [
                *more,
                repr(toolchain.WAIVERS),
                toolchain.version(),
                *toolchain.versions("amaranth", "pyosys"),
            ]
        ).encode()
    )
    own = [Path(__file__).with_name(name) for name in GENERATORS]
    for path in [*own, *sorted(files(module))]:
        text.update(b"\0" + path.read_bytes())
    return text.hexdigest()[:16]


def behind(modules: Iterable[str], *more: str) -> str:
    """Hash of all that a verdict on hardware depends on: 16 hexadecimal digits.

    Parameters
    ----------
    modules : iterable of str
        What is run, such as a bench: with all that they import within :data:`BENCHES` and their own
        folders.
    more : str
        What else decides the verdict, as text, such as the :func:`digest` of the hardware.
    """
    text = hashlib.sha256("\0".join(more).encode())
    for path in sorted(_files(modules, BENCHES)):
        text.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return text.hexdigest()[:16]


def files(module: str) -> set[Path]:
    """Files of a module and of all that it imports, within :data:`HARDWARE` and its own folder.

    A harness lies elsewhere than the hardware, and may be made of several files.
    """
    return _files([module], HARDWARE)


def _files(modules: Iterable[str], folders: Iterable[str]) -> set[Path]:
    """Files of modules and of all that they import, within folders and those of the modules.

    What a command line imports is not followed: it imports all.
    """
    waiting = list(modules)
    within = {*folders, *map(_folder, waiting)}
    names = set()
    sources = set()
    while waiting:
        name = waiting.pop()
        if name not in names and _folder(name) in within:
            names.add(name)
            for path in _paths(ROOT, name):
                if path not in sources:
                    sources.add(path)
                    waiting += _imports(path) if path.name != "__main__.py" else ()
    return sources


def _folder(name: str) -> str:
    """The folder at the top of the project that a module lies in."""
    return _parts(name)[0]


def _parts(name: str) -> list[str]:
    """Folders on the way to a module, and the module."""
    first, *more = name.split(".")
    return more if first == "fixfunc" else [first, *more]


@cache
def _paths(root: Path, name: str) -> tuple[Path, ...]:
    """Files behind a dotted name: packages on the way, and the module, if it is one."""
    parts = _parts(name)
    places = [root.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
    both = [path for one in places for path in (one / "__init__.py", one.with_suffix(".py"))]
    return tuple(path for path in both if path.is_file())


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Dotted names that a file imports.

    Those of ``from a import b`` as ``a.b``, which may be a module or not.
    """
    text = path.read_text()
    names = [
        f"{module}.{name}"
        for module, several, one in FROM.findall(text)
        for name in re.findall(r"\w+", several or one)
    ]
    return (*names, *IMPORT.findall(text))
