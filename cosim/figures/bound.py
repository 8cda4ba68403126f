# SPDX-License-Identifier: BSD-2-Clause
"""What no frame is faster than, by counters: a term for each stage and each channel of memory."""

from typing import Any, NamedTuple

from fixfunc.cosim.figures.counters import STREAMS
from fixfunc.spec.payloads import TRANSFER

TRANSFER_BYTES = TRANSFER // 8
NEAR = 0.75  # of a frame's clocks: a term that takes more of them bounds the frame
READS = ("fill", "table_fill")  # causes of what memory is asked for; all others are written
_STAGES = {  # what each takes a clock for, at the least; counters that add up to it
    "commands, 32 bytes a clock": ("command_transfers",),
    "triangles, one a clock": ("triangles",),
    "tiles rasterized, one a clock": ("tiles",),
    "tiles depth-tested, one a clock": ("tiles_accepted", "tiles_tested"),
    "tiles shaded, one a clock": ("tiles_shaded",),
    "quads of the pixel pipe, one a clock": ("pipe_quads",),
    "attributes of quads, one a clock": ("pipe_attributes",),
    "blocks of texels decoded, one a clock": ("texture_misses",),
    "lines of textures, one every other clock": ("texture_lines", "texture_lines"),
}


class Term(NamedTuple):
    """A stage, or a channel of memory, and the clocks that it takes at the least."""

    words: str
    clocks: int


def terms(counters: dict[str, int], moved: list, memory: str = "near") -> list[Term]:
    """Terms of the bound, in the order of the pipeline.

    Parameters
    ----------
    counters : dict of int
        By name, of hardware or of a golden frame. A term is left out whose counters are not there.
    moved : list of (client, cause, mode, count, bytes)
        As :func:`fixfunc.cosim.frame.job.traffic` has them.
    memory : str
        A name of :data:`~fixfunc.cosim.simulation.volume.MEMORIES`.
    """
    out = [
        Term(words, sum(counters[name] for name in names))
        for words, names in _STAGES.items()
        if counters.keys() >= set(names)
    ]
    channels = channel_transfers(moved)
    if memory == "shared":
        total = sum(channels.values()) + counters.get("command_transfers", 0)
        return [*out, Term("all of memory, 64 bytes a clock", -(-total // 2))]
    return out + [Term(f"{name}, 32 bytes a clock", count) for name, count in channels.items()]


def of_figures(figures: dict[str, Any]) -> list[Term]:
    """Terms of a frame by its figures, as in ``frame.json``: by hardware's counters, or golden."""
    counted = figures.get("hardware") or figures["counters"]
    memory = figures.get("memory", "").split(":")[0]
    return terms(counted, figures.get("moved", []), memory)


def channel_transfers(moved: list) -> dict[str, int]:
    """Transfers of each channel that reads or writes: it takes a clock each.

    Those of resolves are counted together, and half of them is the least of either channel.
    """
    sizes = {}
    for client, cause, _, _, size in moved:
        name = channel(client, cause)
        sizes[name] = sizes.get(name, 0) + (-(-size // 2) if client == "resolve" else size)
    return {name: -(-size // TRANSFER_BYTES) for name, size in sizes.items() if size}


def channel(client: str, cause: str) -> str:
    """Which channel of memory a client's traffic of a cause goes through, in words."""
    if client == "resolve":
        return "resolve, read or written"
    return f"{client} {'read' if cause in READS else 'written'}"


def of_bound(clocks: int, found: list[Term]) -> float:
    """Clocks, of what no frame is faster than."""
    return clocks / max(1, *(term.clocks for term in found))


def sentence(clocks: int | None, found: list[Term], stalls: dict[str, float]) -> str:
    """What bounds a frame, with the numbers behind it.

    Parameters
    ----------
    clocks : int, optional
        None of a golden frame, which has none.
    found : list of Term
        Of the frame.
    stalls : dict of float
        By probe, the share of the clocks in which a beat waited.
    """
    if not found:
        return "Nothing that it counts takes a clock."
    most = max(found, key=lambda term: term.clocks)
    if clocks is None:
        return (
            f"No hardware has drawn this frame; it takes at least {most.clocks:,} clocks, for "
            f"{most.words}."
        )
    share = most.clocks / max(clocks, 1)
    taken = f"{most.words}, for {most.clocks:,} of its {clocks:,} clocks ({share:.1%})"
    if share >= NEAR:
        return f"This frame is bound by {taken}. {_waiting(stalls)}"
    return f"This frame is bound by waiting: most work is {taken}. {_waiting(stalls)}"


def _waiting(stalls):
    """Where beats wait: a stage that is late holds up those before it, so the last is to blame.

    The shader answers ahead of colour write: its colours wait in the fastest of frames.
    """
    waits = {name: stalls.get(name, 0) for name in STREAMS if name != "colours"}
    longest = max(waits.values())
    if longest < (1 - NEAR) / 2:
        return "Stages lack input: between them no beat waits for long."
    name = [name for name, share in waits.items() if share >= longest / 2][-1]
    producer, consumer = STREAMS[name]
    return f"Beats of {producer} wait for {consumer} in {waits[name]:.1%} of the clocks."
