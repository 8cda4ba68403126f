# SPDX-License-Identifier: BSD-2-Clause
"""Area and clock frequency of blocks, as ``make bench`` measured them last."""

import json
from functools import cache
from pathlib import Path

FIGURES = Path(__file__).with_name("measured.json")


@cache
def _figures() -> dict:
    return json.loads(FIGURES.read_text())


def when() -> str:
    """Day, machine and tools."""
    return _figures()["when"]


def words(stem: str, config: str) -> str:
    """Cells and MHz of a configuration, where they are known: ``; 4,717 cells, 136 MHz``."""
    found = _figures()["blocks"].get(f"{stem} ({config})", {})
    parts = [f"{found['cells']:,} cells"] if "cells" in found else []
    parts += [f"{found['mhz']:.0f} MHz"] if "mhz" in found else []
    return f"; {', '.join(parts)}" if parts else ""


def write(cells: dict[str, int], mhz: dict[str, float], when: str) -> None:
    """Keep what was measured, by ``block (configuration)``."""
    blocks = {name: ({"cells": cells[name]} if name in cells else {}) | ({"mhz": round(mhz[name], 1)} if name in mhz else {})
              for name in sorted({*cells, *mhz})}
    FIGURES.write_text(json.dumps({"when": when, "blocks": blocks}, indent=2) + "\n")
