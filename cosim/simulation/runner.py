# SPDX-License-Identifier: BSD-2-Clause
"""The protocol tier: a block's cocotb bench on one simulator."""

import contextlib
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cocotb_tools.runner import get_runner

from fixfunc.cosim import toolchain
from fixfunc.cosim.catalogue import Block
from fixfunc.cosim.simulation import waves as fst
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.simulation.library import split
from fixfunc.spec.errors import InputError

VERILATOR_OPTIONS = [
    "-Wall",
    "--no-public-flat-rw",
    "-CFLAGS",
    "-O0",
]  # Python takes most of the time


class Result(NamedTuple):
    """Outcome of a bench."""

    tests: int
    failures: list  # (name, message)
    seed: int
    log: str
    waves: Path | None


def check(simulator: str) -> None:
    """Refuse a simulator that cannot run.

    Raise :class:`~fixfunc.spec.errors.InputError` for one that is not known, ``ToolError`` for one
    that is missing.
    """
    if simulator not in toolchain.SIMULATORS:
        raise InputError("simulator", f"be one of {', '.join(toolchain.SIMULATORS)}", simulator)
    if simulator == "icarus":
        toolchain.icarus()
    else:
        toolchain.verilator()


def check_filter(tests: str | None) -> None:
    """Refuse names of tests that are no regular expression, by ``InputError``."""
    try:
        re.compile(tests or "")
    except re.error as error:
        raise InputError("tests", "be a regular expression", f"{tests}: {error}") from None


def run(
    block: Bench,
    config: str,
    simulator: str,
    seed: int = 0,
    waves: bool = False,
    tests: str | None = None,
) -> Result:
    """Build a block and run its bench.

    Parameters
    ----------
    block : fixfunc.cosim.simulation.bench.Bench
    config : str
        Name of a configuration.
    simulator : str
        ``icarus`` or ``verilator``.
    seed : int
        Of stimuli and paces.
    waves : bool
        Record them.
    tests : str, optional
        Regular expression of the tests to run.

    Returns
    -------
    Result
    """
    check(simulator)
    folder = _build(block, config, simulator, waves)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    results = place / "results.xml"
    with contextlib.suppress(
        SystemExit
    ):  # raised under pytest where a test failed: the results say which
        get_runner(simulator).test(
            hdl_toplevel=block.stem,
            hdl_toplevel_lang="verilog",
            test_module=block.bench.__name__,
            seed=seed,
            test_dir=place,
            results_xml=str(results),
            build_dir=folder / "build",
            log_file=place / "log",
            test_filter=tests,
            waves=waves,
            extra_env={"FIXFUNC_CONFIG": config, "COCOTB_ANSI_OUTPUT": "0"},
        )
    log = (place / "log").read_text(errors="replace")
    count, failures = _outcome(results)
    recorded = (
        next(
            iter([*place.glob("*.fst"), *place.glob("*.vcd"), *(folder / "build").glob("*.fst")]),
            None,
        )
        if waves
        else None
    )
    if not failures and not waves:
        shutil.rmtree(place, ignore_errors=True)
    return Result(count, failures, seed, log, recorded)


def _build(block, config, simulator, waves):
    """Compile for a simulator once.

    Returns the folder, which is named by the hash of what goes in.
    """
    source = block.simulated_verilog(config)
    text = source.read_text()
    arguments = [*VERILATOR_OPTIONS, *split(text, optimise="0")] if simulator == "verilator" else []
    if waves and simulator == "verilator":
        fst.check()
        arguments += fst.OPTIONS
    parts = [text, simulator, str(waves), *arguments, *toolchain.versions("cocotb", "verilator")]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    folder = toolchain.BUILD / "protocol" / f"{block.stem}-{simulator}-{digest}"

    def make(built):
        only_ports = []
        if (
            simulator == "verilator"
        ):  # benches see ports alone: all else public makes ten times the C++
            (folder / "ports.vlt").write_text(
                f'`verilator_config\npublic_flat_rw -module "{block.stem}" -var "*"\n'
            )
            only_ports = [str(folder / "ports.vlt")]
        try:
            get_runner(simulator).build(
                sources=[source],
                hdl_toplevel=block.stem,
                build_dir=folder / "build",
                timescale=("1ns", "1ps"),
                build_args=[*arguments, *only_ports],
                waves=waves,
                log_file=folder / "log",
                always=True,
            )
        except (SystemExit, subprocess.CalledProcessError) as error:
            raise toolchain.ToolError(
                f"{simulator} failed on {block.stem}: see {folder / 'log'}"
            ) from error
        built.touch()

    toolchain.once(folder / "built", make)
    return folder


def _outcome(results):
    """Number of tests in a results file, and the failed ones."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [
        (
            case.get("name"),
            (case.find("failure") if case.find("failure") is not None else case.find("error")).get(
                "message", ""
            ),
        )
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    return len(cases), failed


def reproduce(
    block: Block, config: str, simulator: str, seed: int, tests: str | None = None
) -> str:
    """The line that runs a bench again, with waves."""
    only = f" --tests '{tests}'" if tests else ""
    return (
        f"python -m fixfunc.tb run {block.stem} --config {config} --sim {simulator} "
        f"--seed {seed}{only} --waves"
    )
