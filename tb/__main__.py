# SPDX-License-Identifier: BSD-2-Clause
"""The command line of benches, ``python -m fixfunc.tb``: what tests blocks, and what shows them."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from fixfunc.cosim import command_line
from fixfunc.cosim.command_line import natural


def main(arguments: list[str] | None = None) -> int:
    """Run one command of the benches."""
    return command_line.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command_line.Parser(
        prog="python -m fixfunc.tb", description="Hold blocks to their golden models."
    )
    command = command_line.adder(parser)
    add_commands(command)
    sub = command("mutate", run_mutate, "changes of a block's source that its tests must notice")
    sub.add_argument("block")
    sub.add_argument("--config", default="tiny")
    sub.add_argument("--count", type=natural, default=40, help="mutants to draw")
    sub.add_argument("--seed", type=natural, default=0)
    sub.add_argument("--out", type=Path, help="folder of mutation.json and mutation.md")
    sub.add_argument(
        "--mutant",
        action="append",
        default=[],
        help="this one alone, by its name or its change; several may be given; nothing is written",
    )
    sub = command("coverage", run_coverage, "what the stimuli of blocks have tried, and what not")
    sub.add_argument("block", nargs="*", help="all, if none is named")
    sub.add_argument("--seed", type=natural, default=0)
    sub.add_argument("--batches", type=natural, default=16, help="of beats, of a block")
    sub.add_argument("--bins", action="store_true", help="bins that need no event, alone")
    sub.add_argument("--out", type=Path, help="folder of results.json and README.md")
    sub = command("prove", run_prove, "proofs of properties of the hardware, for all inputs")
    sub.add_argument("proof", nargs="*", help="this one alone; several may be given")
    sub.add_argument("--out", type=Path, help="folder of proofs.json and proofs.md")
    sub = command("show", run_show, "a picture that the hardware scans out of memory")
    sub.add_argument("mesh", nargs="?", default="teapot", help="name or file of a mesh")
    sub.add_argument("--size", default="640x360", help="pixels")
    sub.add_argument("--config", default="default")
    sub.add_argument("-o", "--out", type=Path, default=Path("out"), help="folder of scan_out.png")
    return parser


def add_commands(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands that need no checkout, which ``fixfunc`` has, too."""
    sub = command("run", run_bench, "a block's bench on one simulator")
    sub.add_argument("block")
    sub.add_argument("--config", default="default")
    sub.add_argument("--sim", default="verilator")
    sub.add_argument("--seed", type=natural, default=0)
    sub.add_argument("--tests", help="regular expression of the tests to run")
    sub.add_argument("--waves", action="store_true", help="record waves of the run, FST")
    sub = command("volume", run_volume, "many transactions of a block against its golden model")
    sub.add_argument("block")
    sub.add_argument("--config", default="default")
    sub.add_argument(
        "--count", type=natural, default=1_000_000, help="beats out to compare, at least"
    )
    sub.add_argument("--seed", type=natural, default=0)
    sub = command("vectors", write_vectors, "beats of a block, and what has to come out, as files")
    sub.add_argument("block")
    command_line.add_configuration(sub)
    sub.add_argument("--count", type=natural, default=1000, help="beats in, about as many")
    sub.add_argument("--seed", type=natural, default=0)
    sub.add_argument("-o", dest="output", type=Path, required=True, help="folder")


def run_bench(options: argparse.Namespace) -> int:
    """A bench; its failures come with a line that repeats them."""
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.simulation import runner
    from fixfunc.tb import catalogue

    block = catalogue.block(options.block)
    block.parameters(options.config)
    runner.check(options.sim)
    runner.check_filter(options.tests)
    title = f"{block.stem} ({options.config}) on {options.sim}, seed {options.seed}"
    with Steps() as step:
        step(title)
        result = runner.run(
            block, options.config, options.sim, options.seed, options.waves, options.tests
        )
    print(f"{title}: {result.tests} tests, {len(result.failures)} failed")
    for name, message in result.failures:
        print(f"  {name}: {message}")
    if result.waves:
        print(f"  waves: {result.waves}")
    if not result.tests:
        print("  no test ran")
    elif result.failures and not options.waves:
        print(
            f"  reproduce: "
            f"{runner.reproduce(block, options.config, options.sim, options.seed, options.tests)}"
        )
    return 0 if result.tests and not result.failures else 1


def run_volume(options: argparse.Namespace) -> int:
    """Batches of random beats, at every pair of paces in turn."""
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.simulation import batches
    from fixfunc.tb import catalogue

    block = catalogue.block(options.block)
    block.parameters(options.config)
    with Steps() as step:
        totals = batches.run(block, options.config, options.count, options.seed, step)
    print(f"{block.stem} ({options.config}), seed {options.seed}")
    for name, value in totals.rows():
        print(f"  {name:<28}{value:>14}")
    if totals.first:
        print(totals.first)
        print(
            f"reproduce: python -m fixfunc.tb volume {block.stem} --config {options.config} "
            f"--count {options.count} --seed {options.seed}"
        )
    return 0 if totals.good else 1


def write_vectors(options: argparse.Namespace) -> int:
    """Beats in and golden beats out, with what reads them; nothing is built."""
    from fixfunc.cosim import catalogue as blocks
    from fixfunc.cosim import files
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.vectors import vectors
    from fixfunc.spec.errors import InputError
    from fixfunc.tb import catalogue

    block = catalogue.block(options.block)
    if not vectors.has_vectors(block):
        stems = [stem for stem in blocks.blocks() if vectors.has_vectors(catalogue.block(stem))]
        rule = f"be one of {', '.join(stems)}, whose beats out follow from those in alone"
        raise InputError("block", rule, block.stem)
    block.parameters(options.config)
    vectors.check_count(block, options.count)
    folder = files.free_folder(options.output)
    title = f"{block.stem} ({options.config}), seed {options.seed}"
    with Steps() as step:
        step(f"{title}: golden model")
        found = vectors.draw(block, options.config, options.count, options.seed)
        step(f"{title}: files")
        files.write_folder(folder, found.files(block, options.config, options.seed))
    counts = ", ".join(f"{len(found.beats[port.name]):,} of {port.name}" for port in found.ports)
    print(f"wrote {title} to {options.output}: beats {counts}")
    return 0


def run_mutate(options: argparse.Namespace) -> int:
    """Mutants of a block; each that survives comes with a line that repeats it."""
    from fixfunc.cosim.progress import Steps
    from fixfunc.tb import catalogue, stamp
    from fixfunc.tb.mutation import places, report, run

    block = catalogue.block(options.block)
    block.parameters(options.config)
    mark = stamp.stamp(run.digest(block, options.config, options.count))
    mutants = run.chosen(block, options.config, options.count, options.seed, options.mutant)
    with Steps() as step:
        outcomes = run.mutate(block, options.config, mutants, step)
    for mutant, verdict, waiver in outcomes:
        said = f"killed by {verdict.test}: {verdict.message}" if verdict.killed else "survives"
        if waiver:
            said = f"waived, but {said}" if verdict.killed else f"equivalent: {waiver.reason}"
        print(f"{mutant.name}\n  {said}")
    survivors = [outcome.mutant for outcome in outcomes if outcome.survives]
    wrong = [outcome.mutant for outcome in outcomes if outcome.waiver and outcome.verdict.killed]
    killed = sum(outcome.verdict.killed for outcome in outcomes)
    print(
        f"{block.stem} ({options.config}), seed {options.seed}: {len(outcomes)} mutants, "
        f"{killed} killed, {len(outcomes) - killed - len(survivors)} equivalent, "
        f"{len(survivors)} survive"
    )
    for mutant in survivors:
        print(f"reproduce: {run.repeat(block, options.config, mutant)}")
    for mutant in wrong:
        print(f"not equivalent: {mutant.name}")
    if not options.mutant:
        known = len(places.all_mutants(block, options.config))
        folder = options.out or report.FOLDER
        report.record(block, options.config, options.seed, known, outcomes, mark, folder)
    return 1 if survivors or wrong else 0


def run_coverage(options: argparse.Namespace) -> int:
    """Blocks with what they have missed; each that is not closed comes with a line to repeat it."""
    from fixfunc.cosim import catalogue as cosim_catalogue
    from fixfunc.cosim.progress import Steps
    from fixfunc.tb import catalogue, stamp
    from fixfunc.tb.coverage import report, run

    stems = options.block or list(cosim_catalogue.blocks())
    blocks = [catalogue.block(stem) for stem in stems]
    marks = [stamp.stamp(run.digest(block, options.batches, options.bins)) for block in blocks]
    open_blocks = []
    with Steps() as step:
        for block, mark in zip(blocks, marks, strict=True):
            outcome = run.cover(block, options.seed, step, options.batches, options.bins)
            folder = options.out or report.FOLDER
            report.record(block, options.seed, options.batches, outcome, mark, folder)
            print("\n".join(report.said(block, outcome)))
            if not outcome.passes:
                open_blocks.append(block.stem)
    for stem in open_blocks:
        print(
            f"reproduce: python -m fixfunc.tb coverage {stem} --seed {options.seed} "
            f"--batches {options.batches}{' --bins' * options.bins}"
        )
    return 1 if open_blocks else 0


def run_prove(options: argparse.Namespace) -> int:
    """Proofs; each that fails shows the run that breaks it."""
    from fixfunc.cosim.progress import Steps
    from fixfunc.tb import stamp
    from fixfunc.tb.proofs import catalogue, report, run

    proofs = catalogue.chosen(options.proof)
    marks = {proof.name: stamp.stamp(run.digest(proof)) for proof in proofs}

    def keep(outcome):
        report.record(outcome, marks[outcome.proof.name], options.out or report.FOLDER)

    with Steps() as step:
        outcomes = run.prove(proofs, step, keep=keep)
    failed = [outcome for outcome in outcomes if not outcome.good]
    for proof, verdict in failed:
        print(f"{proof.name}: {verdict.result}: {verdict.reason}")
        if verdict.trace:
            print(verdict.trace.table())
        if verdict.waves:
            print(f"waves: {verdict.waves}")
    print(run.table(outcomes))
    print(f"{len(outcomes)} proofs, {len(failed)} not proved")
    for proof, _ in failed:
        print(f"reproduce: python -m fixfunc.tb prove {proof.name}")
    return 1 if failed else 0


def run_show(options: argparse.Namespace) -> int:
    """A frame of the golden pipeline, coded in memory, scanned out, held to itself, written."""
    from fixfunc.tb.output import show

    picture = show.write(options.mesh, options.size, options.config, options.out)
    print(f"{picture}: written; every pixel is that of the frame")
    return 0


if __name__ == "__main__":
    sys.exit(main())
