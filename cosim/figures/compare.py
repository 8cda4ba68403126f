# SPDX-License-Identifier: BSD-2-Clause
"""Two frames that were drawn: what differs, by weight."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.figures import bound, counters
from fixfunc.cosim.figures.counters import Words
from fixfunc.cosim.figures.kept import Kept


class Difference(NamedTuple):
    """A number of two frames; None where a frame does not have it."""

    words: Words
    first: int | None
    second: int | None
    weight: float  # their difference, of the largest number of the same unit in either frame


def differences(first: Kept, second: Kept) -> list[Difference]:
    """Clocks, bytes and counters that differ or are of one frame alone, the heaviest first."""
    tables = [_numbers(kept.figures) for kept in (first, second)]
    largest = {}
    for table in tables:
        for words, value in table.items():
            largest[words.unit] = max(largest.get(words.unit, 0), value)
    out = []
    for words in tables[0] | tables[1]:
        values = [table.get(words) for table in tables]
        if values[0] != values[1]:
            apart = abs((values[1] or 0) - (values[0] or 0))
            out.append(Difference(words, *values, apart / max(largest[words.unit], 1)))
    return sorted(out, key=lambda it: -it.weight)


def _numbers(figures):
    """Numbers of a frame by their words; where golden models and hardware count, hardware's."""
    values = figures["counters"] | figures.get("hardware", {})
    out = {words: values[name] for name, words in counters.table().items() if name in values}
    for client, cause, _, _, size in figures.get("moved", []):
        name = bound.channel(client, cause)
        text = f"Bytes of this channel of memory in the whole frame: {name}."
        words = Words("Memory", name, "bytes", text)
        out[words] = out.get(words, 0) + size
    return out


def sentences(first: Kept, second: Kept) -> list[str]:
    """What stands above a comparison: clocks, pictures, and what bounds each frame."""
    return [
        _clocks(*(kept.figures.get("clocks") for kept in (first, second))),
        pictures(first.picture, second.picture),
        *(
            f"{side}, {kept.title}: {_bound(kept.figures)}"
            for side, kept in (("First", first), ("Second", second))
        ),
    ]


def _clocks(first, second):
    if None in (first, second):
        return "Clocks are not compared: hardware has drawn one of the frames at most."
    if first == second:
        return f"Both frames take {first:,} clocks."
    return (
        f"The second frame takes {second:,} clocks, the first {first:,}: "
        f"{second / max(first, 1):.3f} times as many."
    )


def _bound(figures):
    found = bound.of_figures(figures)
    return bound.sentence(figures.get("clocks"), found, figures.get("stalls", {}))


def pictures(first: np.ndarray | None, second: np.ndarray | None) -> str:
    """How two pictures differ, in words."""
    if first is None or second is None:
        return "Pictures are not compared: one of the frames has none."
    if first.shape != second.shape:
        sizes = [f"{picture.shape[1]}x{picture.shape[0]}" for picture in (first, second)]
        return f"Pictures are not compared: their sizes are {' and '.join(sizes)}."
    apart = np.abs(first.astype(int) - second).max(2)
    count = int((apart > 0).sum())
    if not count:
        return f"The pictures are the same, all {apart.size:,} pixels."
    return f"{count:,} of {apart.size:,} pixels differ, by {apart.max()} of 255 at most."


def marked(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The first picture, dark, with pixels that differ in red: as the pictures, of one shape."""
    out = (first // 3).astype(np.uint8)
    out[(first != second).any(2)] = (255, 60, 60)
    return out
