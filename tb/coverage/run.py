# SPDX-License-Identifier: BSD-2-Clause
"""The coverage run of one block: random beats, at every pair of paces, held to the golden model."""

import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.progress import Steps
from fixfunc.cosim.simulation.batches import CLOCKS_A_BEAT
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.volume import PACES, Volume
from fixfunc.cosim.verilog import sources
from fixfunc.spec.errors import InputError
from fixfunc.tb.coverage import events, named, netlist, points
from fixfunc.tb.coverage.bins import Batch, Seen, add
from fixfunc.tb.coverage.waivers import KINDS, Verdict, Waiver, judge, waivers

TOGGLES = "toggle"  # they are counted, and no gate

# A copy of the Verilog has counters in its combinational processes.
LINT = "/* verilator lint_off UNOPTFLAT */\n"
BATCHES = len(PACES) ** 2


class Difference(AssertionError):
    """The block differs from its golden model: what it has tried says nothing."""


class Outcome(NamedTuple):
    """What a run came to: beats in, and the verdict of each kind of points that was counted."""

    config: str
    beats: int
    verdicts: dict[str, Verdict]

    @property
    def passes(self) -> bool:
        """Every gate does: bins and lines."""
        return all(self.verdicts[kind].passes for kind in KINDS if kind in self.verdicts)


def declared(block: Bench) -> ModuleType:
    """The module of a block's bins, which lies beside its bench.

    It has ``bins(seen, params)`` and, where they are not the default, ``CONFIG``, the configuration
    of the run; ``COUNT``, beats a batch; ``EVENTS``; ``directed(params)``, beats of a last batch or
    a list of :class:`~fixfunc.tb.coverage.bins.Batch`; ``PARTS``, instances within the block that
    are blocks of their own, as ``instance.instance``, and the block whose row counts each.
    """
    place = f"{block.stage}.bins" if block.stage else "bins"
    name = f"fixfunc.tb.{place}.{block.stem}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise InputError("block", "have bins", block.stem) from error
        raise


def configuration(block: Bench) -> str:
    """The configuration of a block's coverage run."""
    return getattr(declared(block), "CONFIG", "tiny")


def digest(block: Bench, batches: int = BATCHES, bins_alone: bool = False) -> str:
    """Hash of all that decides a run's outcome but its seed, found without a run."""
    waived = [repr(one) for one in waivers() if one.block == block.stem]
    return sources.behind(
        [block.bench.__name__, declared(block).__name__, __name__],
        block.digest(configuration(block)),
        f"{batches} {bins_alone}",
        *waived,
    )


def cover(
    block: Bench,
    seed: int = 0,
    step: Steps | None = None,
    batches: int = BATCHES,
    bins_alone: bool = False,
    known: tuple[Waiver, ...] | None = None,
) -> Outcome:
    """Run a block, and judge what it has tried.

    Parameters
    ----------
    block : fixfunc.cosim.simulation.bench.Bench
    seed : int
    step : fixfunc.cosim.progress.Steps, optional
    batches : int
        Of beats; each pair of paces has its turn in sixteen.
    bins_alone : bool
        Count bins that need no event within the hardware, on the block as it is in volume.
    known : tuple of Waiver, optional
        In place of those of the project.

    Raises
    ------
    Difference
        The block is not its golden model.
    """
    config = configuration(block)
    module = declared(block)
    title = f"{block.stem} ({config})"
    watched = () if bins_alone else getattr(module, "EVENTS", ())
    if step:
        step(f"{title}: building")
    source = None
    if bins_alone:
        volume = block.volume(config)
    else:
        source = LINT + named.marked(
            events.watched(block.simulated_verilog(config).read_text(), watched),
            block.stem,
            getattr(module, "PARTS", ()),
        )
        volume = Volume(block.simulated(config), block.stem, source, covered=True)
    if step:
        step(f"{title}: running")
    counts, beats = _run(block, volume, seed, batches, step)
    if not source:
        return Outcome(config, beats, _judged({"bin": counts}, block.stem, known, bins_alone))
    seen = _points(volume, source)
    for event in watched:
        counts[event.name] = seen.events.get(events.label(event.name), 0)
    if step:
        step(f"{title}: netlist")
    verilog = block.simulated_verilog(config).read_text()
    return Outcome(config, beats, by_netlist(verilog, source, block.stem, counts, seen, known))


def by_netlist(
    verilog: str,
    source: str,
    stem: str,
    counts: Mapping[str, int],
    seen: points.Points,
    known: tuple[Waiver, ...] | None = None,
) -> dict[str, Verdict]:
    """Verdicts of bins, lines and toggles, less what the netlist says can never be.

    Parameters
    ----------
    verilog, source : str
        What is simulated, without and with what counts.
    stem : str
        Name of its module, and of the block that waivers are of.
    counts : mapping
        Of bins.
    seen : fixfunc.tb.coverage.points.Points
    known : tuple of Waiver, optional
        In place of those of the project.
    """
    nets = netlist.netlist(verilog, stem)
    moving, constant = netlist.toggles(nets, seen.toggles)
    dead = netlist.dead(nets, seen, source)
    lines = {name: count for name, count in seen.lines.items() if name not in dead}
    verdicts = _judged({"bin": counts, "line": lines}, stem, known, False)
    verdicts[TOGGLES] = judge(moving, stem, TOGGLES, ())
    verdicts["line"] = verdicts["line"]._replace(constant=len(dead))
    verdicts[TOGGLES] = verdicts[TOGGLES]._replace(constant=len(constant))
    return verdicts


def _run(block, volume, seed, batches, step):
    config = configuration(block)
    params = block.parameters(config)
    module = declared(block)
    counts = {}
    beats = 0
    for batch, given in enumerate(_batches(block, module, params, seed, batches)):
        run, _, _, first = block.compare(
            volume,
            given.rows,
            config,
            given.paces,
            seed + batch,
            given.memory,
            limit=CLOCKS_A_BEAT * len(given.rows),
        )
        if first:
            raise Difference(f"{block.stem} ({config}), batch {batch}: {first}")
        add(counts, module.bins(Seen(given.rows, run.outputs), params))
        beats += len(given.rows)
        if step:
            missed = sum(not count for count in counts.values())
            step.note(f"{block.stem} ({config}): {beats:,} beats, {missed} bins to go")
    return counts, beats


def _batches(block, module, params, seed, batches):
    """Random batches at every pair of paces, then directed ones."""
    for batch in range(batches):
        rng = np.random.default_rng((seed, batch))
        rows = block.bench.requests(rng, getattr(module, "COUNT", 1000), params)
        yield Batch(rows, (PACES[batch % 4], PACES[batch // 4 % 4]))
    directed = module.directed(params) if hasattr(module, "directed") else []
    if isinstance(directed, np.ndarray):
        directed = [Batch(directed, (PACES[batches % 4], PACES[batches // 4 % 4]))]
    yield from directed


def _points(volume: Volume, source: str) -> points.Points:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.dat"
        volume.coverage(path)
        return points.read(path, source)


def _judged(every: Mapping[str, Mapping[str, int]], stem, known, bins_alone):
    known = waivers() if known is None else known
    if bins_alone:  # what waits for an event is judged where there are events
        own = every["bin"]
        known = tuple(
            one._replace(names=tuple(name for name in one.names if _is_of(name, own)))
            for one in known
        )
    return {kind: judge(every[kind], stem, kind, known) for kind in KINDS if kind in every}


def _is_of(pattern, counts):
    title = pattern.split("*")[0].split(":")[0]
    return any(name.startswith(title) for name in counts)
