"""The command line: ``python -m cosim``."""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cosim import catalogue, cores, frame, mesh, runner, toolchain
from cosim.verilog import generate
from cosim.volume import PACES, SimulationError, Volume
from spec.errors import InputError

BATCH = 1000  # beats given to a component at a time: small, so that every pair of paces has its turn


def main(arguments=None):
    """Run one command; bad input is one line on standard error and exit code 2."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (InputError, toolchain.ToolError, SimulationError, OSError) as error:
        print(f"cosim: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2


def _parser():
    parser = argparse.ArgumentParser(prog="python -m cosim", description="Run benches, write Verilog, compare with golden models.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name, run, text):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    command("list", list_blocks, "the blocks and their configurations")
    sub = command("verilog", write_verilog, "SystemVerilog of a block, or of all")
    sub.add_argument("block")
    sub.add_argument("--config", default="default")
    sub.add_argument("-o", dest="output", help="file; with 'all', folder; standard output by default")
    sub = command("run", run_bench, "a block's bench on one simulator")
    sub.add_argument("block")
    sub.add_argument("--config", default="default")
    sub.add_argument("--sim", default="verilator")
    sub.add_argument("--seed", type=_natural, default=0)
    sub.add_argument("--tests", help="regular expression of the tests to run")
    sub.add_argument("--waves", action="store_true", help="record waves")
    sub = command("volume", run_volume, "many transactions of a block against its golden model")
    sub.add_argument("block")
    sub.add_argument("--config", default="default")
    sub.add_argument("--count", type=_natural, default=1_000_000, help="beats out to compare, at least")
    sub.add_argument("--seed", type=_natural, default=0)
    sub = command("frame", run_frame, "a frame of a mesh, golden and RTL")
    sub.add_argument("mesh", help="'teapot', or a mesh file")
    sub.add_argument("--size", default="1280x720", help="width x height, pixels")
    sub.add_argument("--samples", type=int, default=4)
    sub.add_argument("--divisions", type=int, default=8, help="of each side of the teapot's patches")
    sub.add_argument("--patches", metavar="FACTOR", help="the teapot through tessellator and domain matching, by a factor, or 'adaptive'")
    sub.add_argument("--texture", metavar="FILE", help="around the mesh: DDS, KTX2 or PNG")
    sub.add_argument("-o", dest="output", default="out", help="folder")
    return parser


def _natural(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, not {value}")
    return value


def list_blocks(_options):
    table = Table()
    for heading in ("block", "what", "configurations"):
        table.add_column(heading)
    for block in catalogue.blocks().values():
        table.add_row(block.stem, block.summary, ", ".join(block.configurations))
    Console().print(table)
    return 0


def write_verilog(options):
    if options.block == "all":
        folder = Path(options.output or "verilog")
        with Progress(console=Console(stderr=True), transient=True) as progress:
            for block in progress.track(catalogue.blocks().values(), description="writing Verilog"):
                cores.give_away(folder, block, "default")
        print(f"wrote {len(catalogue.blocks())} blocks to {folder}: .sv, .core, .md")
        return 0
    block = catalogue.block(options.block)
    text = generate(block.create(options.config), block.stem)
    if options.output:
        Path(options.output).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


def run_bench(options):
    block = catalogue.block(options.block)
    block.parameters(options.config)
    with Console(stderr=True).status(f"{block.stem} ({options.config}) on {options.sim}, seed {options.seed}"):
        result = runner.run(block, options.config, options.sim, options.seed, options.waves, options.tests)
    print(f"{block.stem} ({options.config}) on {options.sim}, seed {options.seed}: {result.tests} tests, {len(result.failures)} failed")
    for name, message in result.failures:
        print(f"  {name}: {message}")
    if result.waves:
        print(f"  waves: {result.waves}")
    if not result.tests:
        print("  no test ran")
    elif result.failures and not options.waves:
        print(f"  reproduce: {runner.reproduce(block, options.config, options.sim, options.seed, options.tests)}")
    return 0 if result.tests and not result.failures else 1


def run_volume(options):
    """Batches of random beats, at every pair of paces in turn."""
    block = catalogue.block(options.block)
    params = block.parameters(options.config)
    console = Console(stderr=True)
    with console.status(f"building {block.stem}"):
        volume = Volume(block.simulated(options.config), block.stem)
    totals = dict.fromkeys(("beats in", "beats out", "mismatches", "clocks", "full-speed beats", "full-speed clocks"), 0)
    spent, first = 0.0, None
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(f"{block.stem} ({options.config})", total=options.count)
        batch = 0
        while totals["beats out"] < options.count:
            rows = block.bench.requests(np.random.default_rng((options.seed, batch)), BATCH, params)
            paces = PACES[batch % 4], PACES[batch // 4 % 4]
            out, expected, mismatches, words = block.compare(volume, rows, options.config, paces, options.seed + batch)
            if first is None and words:
                first = f"batch {batch}, {words}"
            totals["beats in"] += len(rows)
            totals["beats out"] += len(expected["o"])
            totals["mismatches"] += mismatches
            totals["clocks"] += out.clocks
            spent += out.seconds
            if paces == ("full", "full"):
                totals["full-speed beats"] += max(len(rows), len(expected["o"]))
                totals["full-speed clocks"] += out.clocks
            progress.update(task, completed=totals["beats out"])
            batch += 1
    table = Table(title=f"{block.stem} ({options.config}), seed {options.seed}", show_header=False)
    for name, value in totals.items():
        table.add_row(name, f"{value:,}")
    table.add_row("beats a clock at full speed", f"{totals['full-speed beats'] / max(totals['full-speed clocks'], 1):.4f}")
    table.add_row("clocks a second", f"{totals['clocks'] / max(spent, 1e-9):,.0f}")
    Console().print(table)
    if first:
        print(first)
        print(f"reproduce: python -m cosim volume {block.stem} --config {options.config} --count {options.count} --seed {options.seed}")
    return 1 if totals["mismatches"] or not totals["beats out"] else 0


def run_frame(options):
    try:
        width, height = (int(side) for side in options.size.lower().split("x"))
    except ValueError:
        raise InputError("size", "be WIDTHxHEIGHT in pixels", options.size) from None
    texture = catalogue.texture(options.texture) if options.texture else None
    if options.patches:
        scene = catalogue.golden().teapot_patches(_factor(options), width, height, options.samples)
    else:
        vertices, faces = catalogue.teapot(options.divisions) if options.mesh == "teapot" else mesh.load(options.mesh)
        scene = catalogue.golden().Scene(vertices, faces, width, height, options.samples)
    scene.texture = texture
    figures = frame.run(scene, Path(options.output), title=Path(options.mesh).stem)
    return 1 if figures["mismatches"] else 0


def _factor(options):
    """Of the teapot's patches."""
    if options.mesh != "teapot":
        raise InputError("mesh", "be teapot, whose patches are known", options.mesh)
    try:
        factor = options.patches if options.patches == "adaptive" else float(options.patches)
    except ValueError:
        factor = 0
    if factor != "adaptive" and not 0 < factor <= 64:
        raise InputError("patches", "be adaptive, or a factor above 0 and up to 64", options.patches)
    return factor


if __name__ == "__main__":
    sys.exit(main())
