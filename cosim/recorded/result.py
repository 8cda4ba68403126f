# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame is drawn, by the golden machine and by the hardware, and compared."""

import io
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from fixfunc.cosim import files
from fixfunc.cosim.figures import kept
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.recorded import file, shaded
from fixfunc.cosim.recorded.drawing import BEYOND, DIFFERS, Drawn, DrawnDraw, Player
from fixfunc.cosim.recorded.frame import Event, RecordedFrame
from fixfunc.cosim.recorded.texels import depths, differences, picture, stencil_values
from fixfunc.cosim.report import overlays, page
from fixfunc.cosim.report.capture import Capture
from fixfunc.cosim.report.history import depth_values
from fixfunc.cosim.time.outputs import NONE, Outputs
from fixfunc.models.memory.copies import DEPTHS
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.errors import InputError

WRITTEN = "frame.json", "frame.png", "recorded.png", "differences.png", "frame.html"
_COLOURS = {BEYOND: (255, 160, 0), DIFFERS: (255, 0, 0)}


def run(
    path: Path,
    output: Path,
    memory: str | None,
    pixels: Sequence[tuple[int, int]] = (),
    outputs: Outputs = NONE,
    shades: bool = False,
) -> list[str]:
    """Draw a file's frame, write pictures and figures, and say what was found.

    Parameters
    ----------
    path : Path
    output : Path
        A folder, for ``frame.png``, ``recorded.png``, ``differences.png``, ``frame.json`` and
        ``frame.html``. Without colours there is nothing to look at, and only ``frame.json``.
    memory : str, optional
        What lies behind the hardware; None: golden alone.
    pixels : sequence of (int, int)
        Whose history the report has, whatever there is.
    outputs : Outputs
        Files of the hardware over time.
    shades : bool
        Draws of fixed functions are shaded, and compared with their fragments.

    Returns
    -------
    list of str
        Why the frame is not believed, in words.
    """
    if memory is not None:
        _check_memory(memory)
    frame = file.read(path)
    shown = _shown(frame)
    capture = _capture(frame, shown, pixels)
    outputs.check()
    folder = files.open_folder(output)
    with Steps() as step:
        step(f"drawing {len(frame.draws)} draws")
        start = time.perf_counter()
        player = Player(frame, shades=shades)
        drawn = player.draw()
        seconds = time.perf_counter() - start
        step("drawing them as any shader is asked")
        again = Player(frame, player.lookups, capture, shown, shades)
        recording = _recording(again) if memory is not None else None
        second = again.draw()
    figures = figures_of(frame, drawn) | {"seconds": seconds}
    plain = {"triangles": figures["triangles"], "samples_passed": figures["passed"]}
    figures["counters"] = capture.counters if capture else plain
    failures = failures_of(figures) + _other_surfaces(drawn, second)
    if shades:
        figures["shading"] = shaded.figures_of(player.shaders)
        failures += shaded.failures_of(figures["shading"])
    _write_pictures(folder, drawn, player.marks, shown)
    print("\n".join(words(figures)))
    timeline = None
    if recording:
        timeline = _add_hardware(figures, recording, memory, failures, outputs)
        outputs.write(timeline)
    files.write(folder / "frame.json", json.dumps(figures, indent=2) + "\n")
    if capture:
        report = _report(frame, figures, drawn, again, capture, shown)
        report.timeline = timeline
        page.write(folder / "frame.html", report)
    for line in failures:
        print(line)
    print(f"wrote {', '.join(sorted(WRITTEN if capture else WRITTEN[:1]))} to {folder}")
    return failures


def _shown(frame):
    """The surface of colours that is looked at: the last that is drawn on; None without one."""
    kept = {frame.contents[n]["surface"] for kind, n in frame.events if kind == Event.RESULT}
    forms = frame.surfaces["form"]
    order = [
        number
        for number in frame.draws["colour"].tolist()
        if number in kept and Format(int(forms[number])) not in DEPTH_FORMATS
    ]
    return order[-1] if order else None


def _capture(frame, shown, pixels):
    """Listens to what is drawn on a surface."""
    if shown is None:
        if pixels:
            raise InputError("pixel", "be of a frame with colours", pixels[0])
        return None
    _, width, height = (int(value) for value in frame.surfaces[shown])
    return Capture(width, height, 1, pixels, turned=True)


def _report(frame, figures, drawn, player, capture, shown):
    """The page of a recorded frame."""
    of_shown = frame.draws["colour"] == shown
    last = [number for number in frame.draws["depth"][of_shown].tolist() if number >= 0]
    more = _depth_overlays(frame, player, last[-1], capture) if last else {}
    run_of = next(iter(figures.get("hardware", {}).values()), None)
    counted = kept.of_program(figures["title"], figures["counters"], run_of)
    counted["seconds"] = {"drawing": figures["seconds"]}
    (image,) = (picture(it.found, it.form) for it in drawn.surfaces if it.surface == shown)
    return page.Report(figures["title"], counted, image, capture, more, words(figures)[1:])


def _depth_overlays(frame, player, surface, capture):
    """Depths and stencil values of a surface of the picture's size."""
    form = Format(int(frame.surfaces[surface]["form"]))
    held = player.held(surface)
    if held.shape[1::-1] != capture.size:
        return {}
    values = depth_values(depths(held, form).astype(np.uint32), DEPTHS[form])
    more = {"depth": overlays.depths(values)}
    stencils = stencil_values(held, form)
    if stencils is not None and stencils.any():
        more["stencil"] = overlays.stencils(stencils)
    return more


def _other_surfaces(first, second):
    """Surfaces that are others where shaders are asked for other fragments, in words."""
    pairs = zip(first.surfaces, second.surfaces, strict=True)
    return [
        f"surface {one.surface} depends on what is shaded"
        for one, other in pairs
        if not np.array_equal(one.found, other.found)
    ]


def _recording(player):
    """Listens to its draws."""
    from fixfunc.cosim.program.recording import Recording

    return Recording(player.device)


def _check_memory(memory):
    """One is named, and there is such a one."""
    from fixfunc.cosim.frame import hardware

    if len(hardware.named(memory)) > 1:
        raise InputError("memory", "be one for a recorded frame", memory)


def figures_of(frame: RecordedFrame, drawn: Drawn) -> dict[str, Any]:
    """What became of a frame, as JSON has it."""
    totals = {
        name: sum(getattr(draw, name) for draw in drawn.draws) for name in DrawnDraw._fields[1:]
    }
    return {
        "kind": "recorded",
        "title": f"{frame.program}, frame {frame.number}",
        "program": frame.program,
        "frame": frame.number,
        "triangles": len(frame.vertices) // 3,
        **totals,
        "refused": frame.refused,
        "draws": [draw._asdict() for draw in drawn.draws],
        "surfaces": [
            {"surface": it.surface, "format": it.form.name}
            | differences(it.found, it.wanted, it.form)._asdict()
            for it in drawn.surfaces
        ],
    }


def failures_of(figures: dict[str, Any]) -> list[str]:
    """Fragments that differ without an excuse."""
    count = figures["missing"] + figures["extra"] - figures["beyond"]
    return [f"{count} fragments differ of triangles that nothing clips"] if count else []


def words(figures: dict[str, Any]) -> list[str]:
    """Lines to read."""
    lines = [
        f"{figures['program']}, frame {figures['frame']}: {len(figures['draws'])} draws, "
        f"{figures['triangles']} triangles, {figures['fragments']} fragments",
        f"fragments: {figures['missing']} missing, {figures['extra']} extra; of these "
        f"{figures['beyond']} of triangles beyond the window or the near plane",
        f"samples that passed all tests: {figures['passed']}, and {figures['wanted']} recorded",
    ]
    for it in figures["surfaces"]:
        apart = (
            f"{it['depths']} depths differ, by {it['deepest']} units at most, "
            f"{it['stencils']} stencil values"
            if it["format"].startswith("D")
            else f"{it['colours']} pixels differ, by {it['most']:g} at most"
        )
        lines.append(f"surface {it['surface']}, {it['format']}: {apart}")
    reasons = Counter(line.split(": ", 1)[-1] for line in figures["refused"])
    lines += [f"left out: {reason}: {count} draws" for reason, count in reasons.items()]
    return lines + shaded.words(figures.get("shading"))


def _write_pictures(folder, drawn, marks, shown):
    """A surface as it was drawn by us and as it was recorded, and where fragments differ."""
    for it in drawn.surfaces:
        if it.surface != shown:
            continue
        mine = picture(it.found, it.form)
        _write_picture(folder / "frame.png", mine)
        _write_picture(folder / "recorded.png", picture(it.wanted, it.form))
        dark = np.repeat(mine.mean(2, keepdims=True) / 2, 3, 2).astype(np.uint8)
        for mark, colour in _COLOURS.items():
            dark[(marks[it.surface][::-1] & mark) > 0] = colour
        _write_picture(folder / "differences.png", dark)


def _write_picture(path, pixels):
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "png")
    files.write(path, data.getvalue())


def _add_hardware(figures, recording, memory, failures, outputs):
    """The same frame by the top; what it executes is compared, stream by stream; its time."""
    from fixfunc.cosim.program import hardware

    with Steps() as step:
        step("drawing it by the hardware, which is built once")
        run = hardware.draw(recording, memory, outputs)
    failures += hardware.failures(run)
    told = hardware.figures(run)
    figures["hardware"] = {memory: told}
    print("\n".join(hardware.words(told)))
    return run.timeline
