# SPDX-License-Identifier: BSD-2-Clause
"""The fixed-function half of a D3D11-class GPU; docs/architecture.md is the map of its folders."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("fixfunc")
