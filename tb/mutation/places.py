# SPDX-License-Identifier: BSD-2-Clause
"""All mutants of a block, and those of them that a run draws."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from fixfunc.cosim.catalogue import Block, blocks
from fixfunc.cosim.toolchain import ROOT
from fixfunc.cosim.verilog import sources
from fixfunc.tb.mutation import schemata, source
from fixfunc.tb.mutation.schemata import Site
from fixfunc.tb.mutation.trace import traced

# Files that no block owns: primitives have benches of their own, and probes are the bench's.
SHARED = ("lib", "payload.py", "probes.py")


class Mutant(NamedTuple):
    """One change of a block's source.

    ``name`` is ``file:line: kind: before -> after``; it tells the mutants of a block apart, and is
    what the command takes to repeat one. ``text`` is the line of the source.
    """

    site: Site
    file: str
    line: int
    kind: str
    before: str
    after: str
    text: str
    ordinal: int = 1

    @property
    def name(self) -> str:
        """See the class."""
        again = f" #{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.file}:{self.line}: {self.change}{again}"

    @property
    def change(self) -> str:
        """What the mutant does, wherever its line may be."""
        return f"{self.kind}: {self.before} -> {self.after}"


def own_files(block: Block) -> set[Path]:
    """Files of a block: what its module imports of ``rtl``, but nothing that is another's.

    Another's are files of :data:`SHARED`, unless the block lies beside them, and those of the
    blocks that it imports.
    """
    modules = {f"fixfunc.rtl.{block.place}": block for block in blocks().values()}
    paths = {ROOT / "rtl" / f"{one.place.replace('.', '/')}.py": one for one in blocks().values()}
    module = f"fixfunc.rtl.{block.place}"
    assert module in modules
    mine = _hardware(module)
    if block.stage in SHARED:
        folder = (ROOT / "rtl" / block.place.replace(".", "/")).parent
        mine |= {path for path in sources.files(module) if path.parent == folder}
    others = set()
    for path in mine:
        if path in paths and paths[path].stem != block.stem:
            others |= _hardware(f"fixfunc.rtl.{paths[path].place}")
    return mine - others


def _hardware(module: str) -> set[Path]:
    rtl = ROOT / "rtl"
    return {
        path
        for path in sources.files(module)
        if path.is_relative_to(rtl) and path.relative_to(rtl).parts[0] not in SHARED
    }


def described(sites: Collection[Site]) -> list[Mutant]:
    """Mutants of sites, in the order of the source, each with a name of its own."""
    seen = Counter()
    mutants = []
    for site in sorted(sites):
        before, after = source.words(site)
        span = site.span
        if before.startswith("m.State("):
            continue  # a state that is never entered hangs at once: nothing is learned of it
        mutant = Mutant(
            site,
            str(Path(span.file).relative_to(ROOT)),
            span.line,
            site.kind,
            before,
            after,
            source.lines(span.file)[span.line - 1],
        )
        seen[mutant.name] += 1
        mutants.append(mutant._replace(ordinal=seen[mutant.name]))
    return mutants


def all_mutants(block: Block, config: str) -> list[Mutant]:
    """Every mutant of what is simulated of a block in a configuration."""
    with traced(own_files(block)) as trace:
        return described(schemata.sites(block.simulated(config), trace))


def draw(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """``count`` of the mutants, or all: balanced over kinds, and within a kind over files."""
    by_kind = defaultdict(lambda: defaultdict(list))
    for mutant in mutants:
        by_kind[mutant.kind][mutant.file].append(mutant)
    queues = []
    for kind, files in sorted(by_kind.items()):
        rng = random.Random(f"{seed} {kind}")  # no kind's draw depends on another's places
        for queue in files.values():
            rng.shuffle(queue)
            _spread(queue)
        in_files = list(files.values())
        rng.shuffle(in_files)
        queues.append(_in_turn(in_files))
    return sorted(_in_turn(queues)[:count])


def _in_turn(queues: list[list]) -> list:
    """One of each list in turn, until all are empty."""
    longest = max(map(len, queues), default=0)
    return [queue[n] for n in range(longest) for queue in queues if n < len(queue)]


def _spread(queue: list[Mutant]) -> None:
    """Sort so that no piece of the source has its second change before each has its first."""
    met = Counter()
    rank = {}
    for mutant in queue:
        rank[mutant] = met[mutant.site.span]
        met[mutant.site.span] += 1
    queue.sort(key=rank.get)
