# SPDX-License-Identifier: BSD-2-Clause
"""The block's own tests as judge of its mutants.

Within :func:`judging` every component that a test simulates in volume has the mutants that were
drawn; the tests are those of the suite, at the suite's counts, and do not know.
"""

import io
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fixfunc.cosim.simulation import runner
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.volume import CLOCK_LIMIT, Volume
from fixfunc.cosim.toolchain import ROOT, ToolError
from fixfunc.cosim.verilog.generate import generate
from fixfunc.tb.mutation.schemata import Mutated, Site
from fixfunc.tb.mutation.trace import Trace

# A mutant that takes this many times the clocks of the longest run of the block hangs.
PATIENCE = 8
# The same in seconds of all tests of the block, for what hangs outside of the simulation.
SECONDS = 20
# Choices lie in combinational loops that are none; a comparison that was changed may be constant.
LINT = "".join(
    f"/* verilator lint_off {name} */\n" for name in ("UNOPTFLAT", "UNSIGNED", "CMPCONST")
)
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "--durations=0", "--tb=short")


class Verdict(NamedTuple):
    """What became of a mutant: whether it was killed, by which test, and what that said."""

    killed: bool
    test: str = ""
    message: str = ""
    seconds: float = 0.0


class Judge:
    """See :func:`judging`."""

    def __init__(self, block: Bench, config: str, chosen: dict[Site, int], trace: Trace) -> None:
        self._block = block
        self._config = config
        self._chosen = chosen
        self._trace = trace
        self._sources: dict[tuple[str, str], str] = {}
        self._mutated: set[int] = set()
        self._longest = 0
        self._tests: dict[str, float] = {}
        self.active = 0
        self.used = False

    # In place of the volume library.

    def build(self, volume: Volume, plain: Any, component: Any, name: str, *rest: Any) -> None:
        """Build a component with its choices, or as it is if it has no place that was drawn."""
        source, *optimise = rest or (None,)
        mutated = Mutated(component, self._chosen, self._trace)
        text = self._sources.get((name, source or ""))
        if text is None:
            text = LINT + generate(mutated, name)
            if not mutated.schemata.inserted:
                plain(volume, component, name, source, *optimise)
                return
            if source:
                self._sources[name, source] = text
        plain(volume, mutated, name, text, *optimise)
        self._mutated.add(id(volume))
        self._keep = [*getattr(self, "_keep", []), volume]

    def run(self, volume: Volume, plain: Any, *arguments: Any, limit: int, **more: Any) -> Any:
        """One run, of the active mutant."""
        if id(volume) not in self._mutated:
            return plain(volume, *arguments, limit=limit, **more)
        self.used = True
        volume.hold("mutant", self.active)
        if self.active:
            limit = min(limit, PATIENCE * self._longest + 65536)
        result = plain(volume, *arguments, limit=limit, **more)
        if not self.active:
            self._longest = max(self._longest, result.simulated)
        return result

    def refused(self, block: Bench, config: str) -> bool:
        """Whether a block is another than the one that is judged, or in another configuration."""
        return (block.stem, config) != (self._block.stem, self._config)

    # The tests.

    def baseline(self) -> dict[str, float]:
        """Run the block as it was written: the tests that judge, with their seconds.

        Raises
        ------
        ToolError
            One of them fails, or there is none.
        """
        recorder = _Recorder(self)
        said = _pytest([*map(str, test_files(self._block)), *OPTIONS], recorder)
        if recorder.failed:
            test, message = recorder.failed
            raise ToolError(f"{test} fails without a mutant: {message}")
        if not recorder.seconds:
            raise ToolError(f"no test simulates {self._block.stem}: {said[-300:]}")
        # The shortest first: what random beats kill in volume, a few directed ones often kill too.
        self._tests = dict(sorted(recorder.seconds.items(), key=lambda row: row[1]))
        return self._tests

    def judge(self, number: int) -> Verdict:
        """Run the tests on a mutant, in a process of its own, up to the first that fails."""
        start = time.perf_counter()
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _in_child(self, number, self._tests, writer)
        os.close(writer)
        with os.fdopen(reader) as said:
            text = said.read()
        _, status = os.waitpid(child, 0)
        seconds = time.perf_counter() - start
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return Verdict(True, "", f"ended by {name}", seconds)
        if not text:
            return Verdict(True, "", f"ended with status {status}", seconds)
        failed = json.loads(text)
        return Verdict(bool(failed), *failed, seconds=seconds)


def _in_child(judge: Judge, number: int, tests: dict[str, float], writer: int) -> None:
    """The tests on one mutant; what failed goes into a pipe."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        signal.alarm(int(60 + SECONDS * sum(tests.values())))
        judge.active = number
        recorder = _Recorder(judge)
        _pytest([*(str(ROOT / test) for test in tests), *OPTIONS], recorder)
        os.write(writer, json.dumps(recorder.failed or []).encode())
    finally:
        os._exit(0)


class _Recorder:
    """A plugin of pytest: which tests simulate the block, and the first that fails."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.seconds: dict[str, float] = {}
        self.failed: tuple[str, str] | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Whether a test simulates the block, and how long it takes."""
        self._judge.used = False
        start = time.perf_counter()
        result = yield
        if self._judge.used:
            self.seconds[item.nodeid] = time.perf_counter() - start
        return result

    def pytest_runtest_logreport(self, report):
        """The first failure in a line."""
        if report.failed and not self.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else str(report.longrepr)
            self.failed = report.nodeid, " ".join(message.split())[:200]


def _pytest(arguments: list[str], plugin: object) -> str:
    """Run pytest in this process; what it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        pytest.main(["--rootdir", str(ROOT), *arguments], plugins=[plugin])
    return said.getvalue()


def test_files(block: Bench) -> list[Path]:
    """Files of tests that name a block: in its stage, and in that of memory, which many share.

    Tests of the top, which has no stage, lie beside the stages.
    """
    folders = [ROOT / "tests" / stage for stage in dict.fromkeys((block.stage, "memory"))]
    files = [
        path
        for folder in folders
        for path in sorted(folder.rglob("test_*.py"))
        if block.stage or path.parent == folder
    ]
    return [path for path in files if re.search(rf"\b{block.stem}\b", path.read_text())]


@contextmanager
def judging(block: Bench, config: str, chosen: dict[Site, int], trace: Trace) -> Iterator[Judge]:
    """Within, tests simulate the mutants of a block in one configuration.

    Everything else is skipped that they would simulate: other blocks, other configurations, and
    benches on simulators, which take longer than all else and say the same.
    """
    judge = Judge(block, config, chosen, trace)
    init = Volume.__init__
    run = Volume.run
    of_block = Bench.volume
    on_simulator = runner.run

    def built(self, component, name, *rest, **more):
        judge.build(self, init, component, name, *rest, *more.values())

    def ran(self, *arguments, limit=CLOCK_LIMIT, **more):
        return judge.run(self, run, *arguments, limit=limit, **more)

    def volume(self, config="default", *rest):
        if judge.refused(self, config):
            pytest.skip("another block or configuration")
        return of_block(self, config, *rest)

    def simulated(*_arguments, **_more):
        pytest.skip("no bench on a simulator")

    Volume.__init__ = built
    Volume.run = ran
    Bench.volume = volume
    runner.run = simulated
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    old = os.environ.get("ORACLE")
    os.environ["ORACLE"] = "none"
    try:
        yield judge
    finally:
        Volume.__init__ = init
        Volume.run = run
        Bench.volume = of_block
        runner.run = on_simulator
        if old is None:
            del os.environ["ORACLE"]
        else:
            os.environ["ORACLE"] = old
