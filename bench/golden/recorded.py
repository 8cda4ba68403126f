# SPDX-License-Identifier: BSD-2-Clause
"""Recorded frames of three OpenGL programs: what differs, and what they ask of the top."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fixfunc.cosim import files
from fixfunc.cosim.record import replay, trace
from fixfunc.cosim.recorded import file, result

# Command line, seconds, and which frame.
PROGRAMS = {
    "glxgears": ("glxgears", 3, 20),
    "glmark2, shadow": ("glmark2 -b shadow -s 640x480", 8, 5),
    "Chromium B.S.U.": ("/usr/games/chromium-bsu --window --noaudio", 8, 40),
}


def rows(progress: Callable[[str], object]) -> Iterator[dict]:
    """Figures of each frame: as ``frame.json`` has them, and seconds."""
    for name, (command, seconds, number) in PROGRAMS.items():
        progress(f"recorded frame: {name}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "frame.npz"
            taken = path.with_suffix(".trace")
            trace.capture(command, taken, seconds)
            start = time.perf_counter()
            frame = replay.record(trace.calls(taken), command, number)
            recorded = time.perf_counter()
            files.write(path, file.write(frame))
            failures = result.run(path, Path(folder), "near")
            assert not failures, failures
            found = json.loads((Path(folder) / "frame.json").read_text())
            hardware = found["hardware"]["near"]
        yield {
            "name": name,
            "draws": len(found["draws"]),
            "pixels": int(frame.surfaces["width"][0]) * int(frame.surfaces["height"][0]),
            "blended": int(frame.draws["fragments"][frame.draws["blend_enable"]].sum()),
            "record": recorded - start,
            **{key: found[key] for key in ("triangles", "fragments", "missing", "extra", "beyond")},
            **{key: found[key] for key in ("passed", "wanted", "seconds")},
            "lacks": len(hardware["missing"]),
            "counters": hardware["counters"],
        }


def lines(figures: list[dict]) -> list[str]:
    """The figures as Markdown."""
    out = [
        "## Recorded frames",
        "",
        "Frames of OpenGL programs as they run here ([page](cosim/record.md)): fragments that "
        "Mesa's llvmpipe has drawn and the golden machine has not, or the other way around, and "
        "of these those of triangles beyond the window or the near plane; samples that pass all "
        "tests, and as many as were recorded; seconds to record and to draw.",
        "",
        "| frame | draws | triangles | fragments | that differ | of clipped triangles | passed | "
        "recorded | seconds |",
        "|---|" + "---|" * 8,
    ]
    out += [
        f"| {it['name']} | {it['draws']} | {it['triangles']} | {it['fragments']} | "
        f"{it['missing'] + it['extra']} | {it['beyond']} | {it['passed']} | {it['wanted']} | "
        f"{it['record']:.1f}, {it['seconds']:.1f} |"
        for it in figures
    ]
    out += [
        "",
        "What they ask of the top, configuration frame, memory 0 to 8 clocks away, every stream "
        "and all of memory compared. The bound is max(triangles, tiles touched).",
        "",
        "| frame | fragments a triangle | fragments a pixel | blended | culled | "
        "tiles a triangle | dropped by HiZ | accepted | clocks | of the bound | "
        "draws that it lacks something for |",
        "|---|" + "---|" * 10,
    ]
    return out + [_asked(it) for it in figures]


def _asked(it):
    counted = it["counters"]
    tiles = counted["tiles"]
    accepted = counted["tiles_accepted"] / tiles
    dropped = 1 - accepted - counted["tiles_tested"] / tiles
    bound = max(counted["triangles"], tiles)
    return (
        f"| {it['name']} | {it['fragments'] / it['triangles']:.1f} | "
        f"{it['fragments'] / it['pixels']:.2f} | {it['blended'] / it['fragments']:.0%} | "
        f"{1 - counted['set_up'] / counted['triangles']:.0%} | "
        f"{tiles / counted['set_up']:.1f} | {dropped:.0%} | {accepted:.0%} | "
        f"{counted['clocks']} | {counted['clocks'] / bound:.2f} | {it['lacks']} |"
    )
