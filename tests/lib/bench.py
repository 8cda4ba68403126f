# SPDX-License-Identifier: BSD-2-Clause
"""Primitives on their benches: in simulators, in Python, broken on purpose; and their pages."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from fixfunc.cosim import toolchain
from fixfunc.cosim.simulation import runner
from fixfunc.cosim.verilog import sources
from fixfunc.cosim.verilog.generate import generate
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import harness, waveform
from tests import tiers

CLOCKS = 600  # of what is simulated in Python


class Primitives:
    """All primitives, as the runner builds a block; the bench is that of one file.

    Its configuration ``alone`` has the primitives of that file: Icarus compiles at once, and
    simulates slowly whatever there is.
    """

    stem = "primitives"

    def __init__(self, stem: str) -> None:
        self.bench = importlib.import_module(f"fixfunc.tb.lib.{stem}")

    def simulated_verilog(self, config: str = "default") -> Path:
        """Path of the harness's Verilog, elaborated once."""
        benches = [self.bench] if config == "alone" else harness.BENCHES
        digest = sources.digest(harness.__name__, *(bench.__name__ for bench in benches))
        return toolchain.once(
            toolchain.BUILD / "verilog" / f"{self.stem}-{digest}.sv",
            lambda out: out.write_text(generate(harness.Harness(benches), self.stem, config)),
        )


def check_bench(stem: str, simulator: str) -> None:
    """Every test of a primitive's bench passes, and there is at least one."""
    tests = {"icarus": "^(?!.*pace=(full|bursty|starved))"}.get(simulator)
    simulator = simulator.removesuffix("_every_pace")
    config = "alone" if simulator == "icarus" else "default"
    result = runner.run(Primitives(stem), config, simulator, tiers.SEED, tests=tests)
    assert result.tests, f"no test ran\n{result.log[-2000:]}"
    assert not result.failures, "\n".join(f"{name}: {text}" for name, text in result.failures)


def check_page(stem: str) -> None:
    """The page has waveforms, and they are what is simulated."""
    text = (waveform.PAGES / f"{stem}.md").read_text()
    assert waveform.BLOCK.search(text)
    assert waveform.page(text) == text, "python -m fixfunc.tb.lib.waveform draws them anew"


def broken(stem: str, right: str, wrong: str) -> ModuleType:
    """A file of ``rtl`` with one text replaced, as a module; its imports are whole.

    ``stem`` is its path in dots: ``lib.fifo``, ``depth.test.sample_depths``.
    """
    path = Path(importlib.import_module(f"fixfunc.rtl.{stem}").__file__)
    source = path.read_text()
    assert source.count(right) == 1, f"{path.name}: {source.count(right)} times {right!r}"
    module = ModuleType(f"broken_{stem}")
    sys.modules[module.__name__] = module
    exec(compile(source.replace(right, wrong), path, "exec"), module.__dict__)
    return module


def is_caught(stem: str, name: str, right: str, wrong: str) -> bool:
    """Whether a case of the benches tells a broken primitive from a whole one.

    ``name`` is that of a case; the class with the same name is taken from the broken file.
    """
    case = harness.CASES[name]
    trace = case.trace(np.random.default_rng(tiers.SEED), CLOCKS)
    assert clocked.difference(trace, clocked.simulate(case.create(), trace)) is None
    make = case.create
    kind = getattr(broken(f"lib.{stem}", right, wrong), make.func.__name__)
    component = kind(*make.args, **make.keywords)
    return clocked.difference(trace, clocked.simulate(component, trace)) is not None
