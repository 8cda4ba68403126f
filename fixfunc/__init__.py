# SPDX-License-Identifier: BSD-2-Clause
"""The fixed-function half of a D3D11-class GPU; docs/architecture.md is the map of its folders.

``Device``, ``Frame``, ``load`` and ``render`` are for notebooks: docs/guide/notebook.md. Each is
imported when it is first asked for: ``import fixfunc`` itself needs no other package.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fixfunc.models.host.device import Device
    from fixfunc.notebook import Frame, load, render

__all__ = ["Device", "Frame", "__version__", "load", "render"]

__version__ = version("fixfunc")

_HOMES = {
    "Device": "fixfunc.models.host.device",
    **dict.fromkeys(("Frame", "load", "render"), "fixfunc.notebook"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fixfunc' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
