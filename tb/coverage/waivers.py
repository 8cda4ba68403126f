# SPDX-License-Identifier: BSD-2-Clause
"""What cannot be hit: bins and lines of a block, each by a pattern and a reason."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fixfunc.spec.errors import InputError
from fixfunc.tb.waivers import entries

PATH = Path(__file__).with_name("waivers.toml")
KINDS = ("bin", "line")


class Waiver(NamedTuple):
    """One entry of ``waivers.toml``.

    ``kind`` is ``bin`` or ``line``; ``names`` are patterns in which a star stands for any text.
    What they match must be missed: a bin that is hit, or a pattern that matches nothing, is an
    error. Of lines, whose patterns stand for many, those that are hit count as hit.
    """

    block: str
    kind: str
    names: tuple[str, ...]
    reason: str


@cache
def waivers(path: Path = PATH) -> tuple[Waiver, ...]:
    """All waivers, one for each block of an entry whose ``block`` is a list of them.

    An entry with other fields raises :class:`~fixfunc.spec.errors.InputError`.
    """
    found = entries(path, "waiver", Waiver._fields)
    for entry in found:
        if entry["kind"] not in KINDS:
            raise InputError(f"kind in {path.name}", f"be one of {', '.join(KINDS)}", entry["kind"])
    return tuple(
        Waiver(**entry | {"block": block, "names": tuple(entry["names"])})
        for entry in found
        for block in ([entry["block"]] if isinstance(entry["block"], str) else entry["block"])
    )


def matches(pattern: str, name: str) -> bool:
    """Whether a name is what a pattern says; stars alone are special."""
    return _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


class Verdict(NamedTuple):
    """What a gate says of points of one kind.

    Parameters
    ----------
    declared, hit : int
    waived : dict
        Names that were missed and are waived, by the reason.
    missed : list
        Those that are not.
    stale : list
        Patterns of waivers that match nothing that was missed, or a bin that was hit.
    constant : int
        What cannot be, by the netlist, and is not among the declared.
    """

    declared: int
    hit: int
    waived: dict[str, list[str]]
    missed: list[str]
    stale: list[str]
    constant: int = 0

    @property
    def passes(self) -> bool:
        """All is hit or waived, and every waiver is needed."""
        return not self.missed and not self.stale


def judge(counts: Mapping[str, int], block: str, kind: str, known: tuple[Waiver, ...]) -> Verdict:
    """The gate: counts by name, against the waivers of a block."""
    own = [one for one in known if (one.block, one.kind) == (block, kind)]
    missed = [name for name, count in counts.items() if not count]
    waived = {}
    unwaived = set(missed)
    stale = []
    for one in own:
        for pattern in one.names:
            found = [name for name in missed if matches(pattern, name)]
            hit = kind == "bin" and any(
                count and matches(pattern, name) for name, count in counts.items()
            )
            if hit or not found:
                stale.append(pattern)
            new = [name for name in found if name in unwaived]
            waived.setdefault(one.reason, []).extend(new)
            unwaived.difference_update(new)
    return Verdict(
        len(counts),
        len(counts) - len(missed),
        waived,
        [name for name in missed if name in unwaived],
        stale,
    )
