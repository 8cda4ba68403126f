# SPDX-License-Identifier: BSD-2-Clause
"""Files that a component's hardware is written in: their hash names what is generated from them."""

import hashlib
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from fixfunc.cosim import toolchain
from fixfunc.cosim.toolchain import ROOT

IMPORT = re.compile(r"(?m)^\s*import (fixfunc\.[\w.]+)")
FROM = re.compile(
    r"(?m)^\s*from (fixfunc[\w.]*) import (?:\(([^)]*)\)|(.*))$"
)  # a parser takes ten times as long
GENERATORS = ("generate.py", "identity.py", "units.py", "yosys.py")  # what writes Verilog
HARDWARE = ("rtl", "spec")  # folders that hold hardware, or what its widths come from


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


def files(module: str) -> set[Path]:
    """Files of a module and of all that it imports, within :data:`HARDWARE` and its own folder.

    A harness lies elsewhere than the hardware, and may be made of several files.
    """
    folders = {*HARDWARE, module.split(".")[1]}
    sources = set()
    waiting = list(_paths(module, folders))
    while waiting:
        path = waiting.pop()
        if path not in sources:
            sources.add(path)
            waiting += [other for name in _imports(path) for other in _paths(name, folders)]
    return sources


def _paths(name: str, folders: Collection[str]) -> Iterator[Path]:
    """Files behind a dotted name: packages on the way, and the module, if it is one."""
    first, *parts = name.split(".")
    if first != "fixfunc" or not parts or parts[0] not in folders:
        return
    for n in range(1, len(parts) + 1):
        place = ROOT.joinpath(*parts[:n])
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                yield path


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
