# SPDX-License-Identifier: BSD-2-Clause
"""Benches by the names of their blocks."""

import importlib

from fixfunc.cosim import catalogue
from fixfunc.cosim.simulation.bench import Bench


def block(stem: str) -> Bench:
    """A block with its bench, which lies in the same stage of ``tb`` under the same name.

    An unknown name raises :class:`~fixfunc.spec.errors.InputError`.
    """
    known = catalogue.block(stem)
    place = f"{known.stage}.{stem}" if known.stage else stem
    return Bench.of(known, importlib.import_module(f"fixfunc.tb.{place}"))
