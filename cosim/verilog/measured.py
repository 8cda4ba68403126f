# SPDX-License-Identifier: BSD-2-Clause
"""Area and clock frequency of blocks, as ``make area`` measured them last."""

import json
from functools import cache
from pathlib import Path

FIGURES = Path(__file__).with_name("measured.json")


@cache
def _figures() -> dict:
    return json.loads(FIGURES.read_text())


def date() -> str:
    """Library and day."""
    return _figures()["when"]


def figures(stem: str, config: str) -> dict[str, int] | None:
    """``um2`` and ``mhz`` of a configuration, if they are known."""
    return _figures()["blocks"].get(f"{stem} ({config})")


def words(stem: str, config: str) -> str:
    """Area and MHz of a configuration, where they are known: ``; 135,818 um2, 282 MHz``."""
    row = figures(stem, config)
    return f"; {row['um2']:,} um2, {row['mhz']} MHz" if row else ""


def write(figures: dict[str, tuple[float, float]], date: str) -> None:
    """Keep um2 and MHz, by ``block (configuration)``."""
    blocks = {
        name: {"um2": round(um2), "mhz": round(mhz)} for name, (um2, mhz) in sorted(figures.items())
    }
    FIGURES.write_text(json.dumps({"when": date, "blocks": blocks}, indent=2) + "\n")
