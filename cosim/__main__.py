# SPDX-License-Identifier: BSD-2-Clause
"""Commands of the product: Verilog, and frames; ``python -m fixfunc.cosim`` has these alone.

What a command needs is imported when it runs, so that each works with the extras that it names.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from fixfunc.cosim import command_line
from fixfunc.cosim.explore.command import add_command as add_explore
from fixfunc.cosim.sweep.command import add_command as add_sweep
from fixfunc.cosim.toolchain import version
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TOP_LIMIT

DECIMAL = r"[0-9]{1,9}(\.[0-9]{1,18})?"
LEAST_FACTOR = 2**-16


def main(arguments: list[str] | None = None) -> int:
    """Run one command of the product."""
    return command_line.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command_line.Parser(
        prog="fixfunc", description="Write Verilog, draw frames, compare them with golden models."
    )
    parser.add_argument("--version", action="version", version=f"fixfunc {version()}")
    add_commands(command_line.adder(parser))
    return parser


def add_commands(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add them by a function of :func:`fixfunc.cosim.command_line.adder`."""
    sub = command("list", list_blocks, "blocks, their configurations, area and clock frequency")
    sub.add_argument("block", nargs="?", help="this one, with its parameters; all by default")
    sub.add_argument("--json", action="store_true", help="with every parameter, for programs")
    sub = command(
        "verilog",
        write_verilog,
        "SystemVerilog of a block; with 'all', of every block, with cores, ports and a package "
        "of types",
    )
    sub.add_argument("block")
    command_line.add_configuration(sub, "with 'all', one that every block has")
    sub.add_argument(
        "-o",
        dest="output",
        help="file; or folder, with 'all' or where it ends in / or is there: the block with its "
        "core, its ports and the package of types; standard output by default",
    )
    sub = command(
        "frame",
        run_frame,
        "a frame of a mesh, of a scene, or a recorded one, golden and RTL, every stage compared",
    )
    sub.add_argument(
        "mesh",
        help="'teapot', a mesh file, a scene, .gltf or .glb, a folder of PNG, JPEG, DDS, KTX2, or "
        "a recorded frame, .npz",
    )
    sub.add_argument(
        "--size",
        help=f"width x height, pixels, 1280x720 by default; at most {TOP_LIMIT}x{TOP_LIMIT}, but "
        "with --golden",
    )
    sub.add_argument("--samples", type=command_line.integer, help="4 by default")
    sub.add_argument(
        "--divisions",
        type=command_line.integer,
        help="of each side of the teapot's patches, unless --patches divides them; 8 by default",
    )
    sub.add_argument(
        "--patches",
        metavar="FACTOR",
        help="the teapot through tessellator and domain matching, by a factor, or 'adaptive'",
    )
    sub.add_argument("--texture", metavar="FILE", help="around the mesh: DDS, KTX2 or PNG")
    sub.add_argument(
        "--camera", type=command_line.natural, help="of a scene, by number; 0 by default"
    )
    sub.add_argument(
        "--golden", action="store_true", help="no hardware: nothing is built, nothing compared"
    )
    sub.add_argument("--shade", action="store_true", help="fixed functions of a recorded frame")
    sub.add_argument(
        "--resolve",
        action="store_true",
        help="the hardware also makes pixels of the samples, and frame.png is what it left",
    )
    sub.add_argument(
        "--memory",
        help="behind the hardware: near, 0 to 8 clocks to an answer (default); far, 400 to 800; "
        "dram, with banks and rows; shared, the same, one channel for all ports; or several, as "
        "near,far",
    )
    sub.add_argument(
        "--pixel",
        dest="pixels",
        action="append",
        default=[],
        metavar="X,Y",
        help="whose history the report has, however large the frame; several may be given",
    )
    sub.add_argument(
        "--trace",
        metavar="FILE",
        help="what the hardware does clock by clock, for Perfetto: stages, ports, bursts, draws",
    )
    sub.add_argument(
        "--traffic",
        metavar="FOLDER",
        help="traffic of each AXI4 port, as text that Ramulator 2 and DRAMsim3 read; a new folder",
    )
    sub.add_argument(
        "--waves", metavar="FILE", help="waves of the top, FST, which is built once more for them"
    )
    sub.add_argument(
        "--clocks", metavar="FIRST:END", help="whose waves, since reset; those of the whole take GB"
    )
    sub.add_argument("-o", dest="output", default="out", help="folder")
    sub = command("compare", compare_frames, "two frames that were drawn: what differs, by weight")
    for name in ("first", "second"):
        sub.add_argument(name, help="folder of 'frame', or the frame.json in it")
    sub.add_argument("-o", dest="output", default="compare.html", help="file")
    add_sweep(command)
    add_explore(command)
    _add_record(command)


def _add_record(command):
    sub = command("record", record_frame, "a frame of an OpenGL program, as a file for 'frame'")
    sub.add_argument("program", help="its command line, one argument; or a trace of apitrace")
    sub.add_argument("--frame", type=command_line.positive, default=10, help="which, from 1 on")
    sub.add_argument(
        "--seconds", type=command_line.positive, default=5, help="for which the program runs"
    )
    sub.add_argument(
        "--api", choices=("gl", "egl"), default="gl", help="of its windows: GLX, or EGL"
    )
    sub.add_argument("-o", dest="output", default="frame.npz", help="file")


def list_blocks(options: argparse.Namespace) -> int:
    """Plain text: a line a block, and a line for each of its configurations; or JSON."""
    from fixfunc.cosim.verilog import listed, measured

    blocks = [listed.block(stem) for stem in ([options.block] if options.block else listed.names())]
    if options.json:
        print(json.dumps(blocks, indent=2))
        return 0
    for block in blocks:
        print(f"{block['block']}: {block['summary']}")
        for config, found in block["configurations"].items():
            said = measured.words(block["block"], config)
            print(f"    {config:<15}{found['purpose']}{said}")
    if options.block:
        print("Parameters, for --set:")
        for name, value in blocks[0]["configurations"]["default"]["parameters"].items():
            print(f"    {f'{name}={_word(value)}':<31} {blocks[0]['takes'][name]}")
    print(
        f"um2 of cells, memories apart, and MHz before layout, where measured: {measured.date()}."
    )
    return 0


def _word(value):
    """A value as --set takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_verilog(options: argparse.Namespace) -> int:
    """To a file, to standard output, or with what goes with it into a folder."""
    from fixfunc.cosim import catalogue, files
    from fixfunc.cosim.progress import Steps

    if options.block == "all":
        return _write_folder(options.output or "verilog", catalogue.blocks().values(), options)
    block = catalogue.block(options.block)
    block.parameters(options.config)
    if options.output and (options.output.endswith("/") or Path(options.output).is_dir()):
        return _write_folder(options.output, [block], options)
    path = files.open_file(Path(options.output)) if options.output else None
    with Steps() as step:
        step(f"writing {block.stem} ({options.config})")
        text = block.verilog(options.config).read_text()
    if path:
        files.write(path, text)
    else:
        sys.stdout.write(text)
    return 0


def _write_folder(output, blocks, options):
    """Blocks, and nothing of others; the package of types; benches in Verilog."""
    from fixfunc.cosim import files
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.verilog import export

    for block in blocks:
        block.parameters(options.config)
    folder = files.open_folder(Path(output))
    with Steps() as step:
        # Small ones first: what they are made of serves those that hold them.
        for n, block in enumerate(sorted(blocks, key=lambda block: len(block.sources))):
            step(f"writing {block.stem} ({options.config}), {n + 1} of {len(blocks)}")
            export.block(folder, block, options.config)
    export.package(folder, [block.stem for block in blocks])
    print(
        f"wrote {len(blocks)} block{'s' * (len(blocks) > 1)} ({options.config}) to {folder}: "
        f".sv, .core, .md; fixfunc_pkg.sv"
    )
    return 0


def run_frame(options: argparse.Namespace) -> int:
    """A picture; with hardware it fails where that drew anything else, or complains."""
    if options.mesh.endswith(".npz"):
        return _run_recorded(options)
    if options.shade:
        raise InputError("shade", "be of a recorded frame, .npz", options.mesh)
    if options.mesh.lower().endswith((".gltf", ".glb")) and not options.texture:
        return _run_scene(options)
    if options.mesh != "teapot" and Path(options.mesh).is_dir():
        return _run_scene(options)
    from fixfunc.cosim.frame import frame, mesh, texture
    from fixfunc.models.scene.scene import Scene, teapot_patches

    if options.camera is not None:
        raise InputError("camera", "be one of a scene, .gltf or .glb", options.camera)
    width, height, samples = _sides(options)
    _check_meaning(options)
    around = texture.load(options.texture) if options.texture else None
    if options.patches:
        scene = teapot_patches(_factor(options), width, height, samples)
    else:
        vertices, faces = (
            mesh.teapot(8 if options.divisions is None else options.divisions)
            if options.mesh == "teapot"
            else mesh.load(options.mesh)
        )
        scene = Scene(vertices, faces, width, height, samples)
    scene.texture = around
    result = frame.run(
        scene,
        Path(options.output),
        title=Path(options.mesh).stem,
        golden=options.golden,
        resolve=options.resolve,
        memory=options.memory or "near",
        pixels=_pixels(options),
        outputs=_outputs(options),
    )
    return 1 if result.failures else 0


def _outputs(options):
    """Files over time, which are of hardware."""
    from fixfunc.cosim.time.outputs import Outputs

    paths = {name: getattr(options, name) for name in ("trace", "traffic", "waves")}
    for name, path in paths.items():
        if path and options.golden:
            raise InputError(name, "be of a frame that the hardware draws", path)
    if bool(options.waves) != bool(options.clocks):
        raise InputError("waves", "be of a window, --clocks FIRST:END", options.clocks)
    found = re.fullmatch("([0-9]{1,18}):([0-9]{1,18})", options.clocks or "0:1")
    if not found:
        raise InputError("clocks", "be FIRST:END", options.clocks)
    first, end = map(int, found.groups())
    if not first < end:
        raise InputError("clocks", "be FIRST:END, the first less than the end", options.clocks)
    files = {name: path and Path(path) for name, path in paths.items()}
    return Outputs(**files, clocks=(first, end))


def _pixels(options: argparse.Namespace) -> list[tuple[int, int]]:
    """Of ``--pixel``, each as X,Y."""
    found = [re.fullmatch("([0-9]{1,9}),([0-9]{1,9})", text) for text in options.pixels]
    if None in found:
        raise InputError("pixel", "be X,Y", options.pixels[found.index(None)])
    return [(int(pair[1]), int(pair[2])) for pair in found]


def _sides(options: argparse.Namespace) -> tuple[int, int, int]:
    """Width, height and samples."""
    size = "1280x720" if options.size is None else options.size
    samples = 4 if options.samples is None else options.samples
    return *command_line.sides(size), samples


def _run_scene(options: argparse.Namespace) -> int:
    """A scene through device and context."""
    from fixfunc.cosim.scene import result

    width, height, samples = _sides(options)
    _check_meaning(options)
    for name in ("patches", "resolve", "texture"):
        if getattr(options, name):
            raise InputError(name, "be of a mesh alone, no scene", options.mesh)
    memory = None if options.golden else options.memory or "near"
    places = Path(options.mesh), Path(options.output)
    how = memory, options.camera, _pixels(options), _outputs(options)
    failures = result.run(*places, (width, height), samples, *how)
    return 1 if failures else 0


def compare_frames(options: argparse.Namespace) -> int:
    """A table on standard output, and a page."""
    from fixfunc.cosim.figures import comparison

    comparison.run((Path(options.first), Path(options.second)), Path(options.output))
    return 0


def _run_recorded(options: argparse.Namespace) -> int:
    """A recorded frame: all that options could say of a scene is in it."""
    from fixfunc.cosim.recorded import result

    for name in ("size", "samples", "divisions", "patches", "texture", "resolve", "camera"):
        value = getattr(options, name)
        if value not in (None, False):
            raise InputError(name, "be that of the recorded frame", value)
    _check_golden(options)
    if options.shade and not options.golden:
        raise InputError("shade", "be of a golden frame: --golden", options.memory or "near")
    memory = None if options.golden else options.memory or "near"
    how = memory, _pixels(options), _outputs(options), options.shade
    return 1 if result.run(Path(options.mesh), Path(options.output), *how) else 0


def record_frame(options: argparse.Namespace) -> int:
    """A program runs in a display of its own; one frame of it becomes a file."""
    import tempfile

    from fixfunc.cosim import files
    from fixfunc.cosim.progress import Steps
    from fixfunc.cosim.record import replay, trace
    from fixfunc.cosim.recorded import file

    taken = Path(options.program)
    if taken.suffix == ".trace" and not taken.is_file():
        raise InputError("trace", "be a file that exists", taken)
    path = files.open_file(Path(options.output))
    with tempfile.TemporaryDirectory() as folder, Steps() as step:
        if taken.suffix != ".trace":
            taken = Path(folder) / "program.trace"
            step(f"running {options.program}")
            trace.capture(options.program, taken, options.seconds, options.api)
        step(f"recording frame {options.frame}")
        frame = replay.record(trace.calls(taken), options.program, options.frame)
    files.write(path, file.write(frame))
    print(
        f"{path}: {len(frame.draws)} draws, {len(frame.fragments)} fragments of frame "
        f"{frame.number}; {len(frame.refused)} draws left out"
    )
    for line in frame.refused[:20]:
        print(f"left out: {line}")
    return 0


def _check_meaning(options: argparse.Namespace) -> None:
    """Refuse options that others leave without a meaning."""
    if options.divisions is not None and (options.patches or options.mesh != "teapot"):
        other = "--patches" if options.patches else options.mesh
        raise InputError(
            "divisions", "be those of the teapot alone", f"{options.divisions}, with {other}"
        )
    _check_golden(options)


def _check_golden(options: argparse.Namespace) -> None:
    """Hardware has a memory behind it, and a golden frame has none."""
    if options.golden and options.memory:
        rule = "be behind hardware, of which a golden frame has none"
        raise InputError("memory", rule, options.memory)


def _factor(options: argparse.Namespace) -> float | Literal["adaptive"]:
    """Of the teapot's patches."""
    if options.mesh != "teapot":
        raise InputError("mesh", "be teapot, whose patches are known", options.mesh)
    if options.patches == "adaptive":
        return "adaptive"
    factor = float(options.patches) if re.fullmatch(DECIMAL, options.patches) else 0
    if not LEAST_FACTOR <= factor <= 64:
        raise InputError("patches", "be adaptive, or a factor of 2^-16 to 64", options.patches)
    return factor


if __name__ == "__main__":
    sys.exit(main())
