# SPDX-License-Identifier: BSD-2-Clause
"""Waivers in TOML: entries of one table, each with the same fields."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from fixfunc.spec.errors import InputError


def entries(path: Path, table: str, fields: Sequence[str]) -> list[dict]:
    """Entries of a file's table.

    Raises
    ------
    InputError
        An entry has not just these fields.
    """
    found = tomllib.loads(path.read_text()).get(table, [])
    for entry in found:
        if set(entry) != set(fields):
            raise InputError(path.name, f"have {', '.join(fields)}", entry)
    return found
