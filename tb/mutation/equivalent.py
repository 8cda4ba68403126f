# SPDX-License-Identifier: BSD-2-Clause
"""Waivers: mutants that no test can tell from the block, each by a name and a reason."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fixfunc.tb.mutation.places import Mutant
from fixfunc.tb.waivers import entries

PATH = Path(__file__).with_name("equivalent.toml")


class Waiver(NamedTuple):
    """One entry of ``equivalent.toml``.

    ``file``, ``line`` (its text, not its number) and ``change`` name the mutant, so that it is
    found wherever its line has moved to. Where the line or the change is another, it is no longer
    waived. ``block`` is the one in whose tests, and in whose configuration, nobody can tell.
    """

    name: str
    block: str
    file: str
    line: str
    change: str
    reason: str


@cache
def waivers(path: Path = PATH) -> tuple[Waiver, ...]:
    """All waivers; an entry with other fields raises :class:`~fixfunc.spec.errors.InputError`."""
    return tuple(Waiver(**entry) for entry in entries(path, "equivalent", Waiver._fields))


def waiver(mutant: Mutant, block: str, known: Iterable[Waiver] | None = None) -> Waiver | None:
    """The waiver of a block's mutant, if it has one."""
    key = block, mutant.file, mutant.text, mutant.change
    known = waivers() if known is None else known
    return next((one for one in known if (one.block, one.file, one.line, one.change) == key), None)
