"""The protocol tier: a block's cocotb bench on one simulator."""

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cocotb_tools.runner import get_runner

from cosim import toolchain
from cosim.verilog import generate
from spec.errors import InputError

SIMULATORS = ("icarus", "verilator")


class Result(NamedTuple):
    """Outcome of a bench."""

    tests: int
    failures: list  # (name, message)
    seed: int
    log: str
    waves: Path | None


def run(block, config, simulator, seed=0, waves=False, tests=None):
    """Build a block and run its bench.

    Parameters
    ----------
    block : cosim.catalogue.Block
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
    if simulator not in SIMULATORS:
        raise InputError("simulator", f"be one of {', '.join(SIMULATORS)}", simulator)
    if simulator == "icarus":
        toolchain.icarus()
    else:
        toolchain.verilator()
    runner, folder = _build(block, config, simulator, waves)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    results = place / "results.xml"
    with contextlib.suppress(SystemExit):  # raised under pytest where a test failed: the results say which
        runner.test(
            hdl_toplevel=block.stem, test_module=f"tb.{block.place}", seed=seed, test_dir=place, results_xml=str(results),
            build_dir=folder / "build", log_file=place / "log", test_filter=tests, waves=waves,
            extra_env={"FIXFUNC_CONFIG": config, "PYTHONPATH": str(toolchain.ROOT), "COCOTB_ANSI_OUTPUT": "0"},
        )
    log = (place / "log").read_text(errors="replace")
    count, failures = _outcome(results)
    recorded = next(iter([*place.glob("*.fst"), *place.glob("*.vcd"), *(folder / "build").glob("*.fst")]), None) if waves else None
    if not failures and not waves:
        shutil.rmtree(place, ignore_errors=True)
    return Result(count, failures, seed, log, recorded)


def _build(block, config, simulator, waves):
    """Compile for a simulator once: the folder is named by the hash of what goes in."""
    source = generate(block.simulated(config), block.stem)
    arguments = ["-Wall", *toolchain.waivers(), "--no-public-flat-rw"] if simulator == "verilator" else []
    digest = hashlib.sha256("\0".join([source, simulator, str(waves), *arguments]).encode()).hexdigest()[:16]
    folder = toolchain.BUILD / "protocol" / f"{block.stem}-{simulator}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    runner = get_runner(simulator)
    path = folder / f"{block.stem}.sv"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path.write_text(source)
        if simulator == "verilator":  # benches see ports alone: all else public makes ten times the C++
            (folder / "ports.vlt").write_text(f'`verilator_config\npublic_flat_rw -module "{block.stem}" -var "*"\n')
            arguments.append(str(folder / "ports.vlt"))
        runner.build(sources=[path], hdl_toplevel=block.stem, build_dir=folder / "build", timescale=("1ns", "1ps"),
                     build_args=arguments, waves=waves, log_file=folder / "log",
                     always=simulator == "icarus" and not (folder / "built").exists())
        (folder / "built").touch()
    return runner, folder


def _outcome(results):
    """Number of tests in a results file, and the failed ones."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [(case.get("name"), (case.find("failure") if case.find("failure") is not None else case.find("error")).get("message", ""))
              for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), failed


def reproduce(block, config, simulator, seed, tests=None):
    """The line that runs a bench again, with waves."""
    only = f" --tests '{tests}'" if tests else ""
    return f"python -m cosim run {block.stem} --config {config} --sim {simulator} --seed {seed}{only} --waves"
