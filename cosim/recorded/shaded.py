# SPDX-License-Identifier: BSD-2-Clause
"""What became of shaded draws: figures, and words."""

from collections import Counter
from typing import Any

from fixfunc.cosim.recorded.shaders import TOLERANCES, Shaders

_SHOWN = 20  # draws of the table: all are in frame.json


def figures_of(shaders: Shaders) -> dict[str, Any]:
    """How far draws are from what was recorded, as JSON has it."""
    return {
        "kinds": [it._asdict() for it in shaders.kinds()],
        "draws": [it._asdict() for it in shaders.draws],
    }


def failures_of(figures: dict[str, Any]) -> list[str]:
    """Kinds of draws that are farther from what was recorded than they may be."""
    found = []
    for it in figures["kinds"]:
        tolerance = TOLERANCES[it["kind"]]
        if not it["believed"]:
            found.append(
                f"{it['kind']}: {it['within']:.2%} of fragments are within {tolerance.units:g}/255 "
                f"of what was recorded, not {tolerance.share:.1%}"
            )
    return found


def words(figures: dict[str, Any] | None) -> list[str]:
    """Lines to read: kinds, the draws that differ most, and those that were not shaded."""
    if figures is None:
        return []
    head = f"{'differences in 1/255':<26}{'fragments':>10}{'differ':>9}{'99.9 %':>8}{'most':>8}"
    lines = [head]
    for it in figures["kinds"]:
        lines.append(_row(f"{it['kind']}, {it['draws']}", it))
    shaded = [it for it in figures["draws"] if not it["reason"]]
    worst = sorted(shaded, key=lambda it: (-it["largest"], -it["percentile"]))[:_SHOWN]
    for it in worst:
        more = f"  {it['texture']}" + (f", {it['tests']} tests of alpha" if it["tests"] else "")
        lines.append((_row(f"call {it['call']}", it) + more).rstrip())
    if len(shaded) > len(worst):
        lines.append(f"and {len(shaded) - len(worst)} draws that differ no more")
    reasons = Counter(it["reason"] for it in figures["draws"] if it["reason"])
    return lines + [f"not shaded: {reason}: {count} draws" for reason, count in reasons.items()]


def _row(name, it):
    return (
        f"{name:<26}{it['fragments']:>10}{it['differing']:>9}{it['percentile']:>8g}"
        f"{it['largest']:>8g}"
    )
