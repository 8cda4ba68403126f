# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame is drawn, by the golden machine and by the hardware, and compared."""

import io
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from fixfunc.cosim import files
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.recorded import file
from fixfunc.cosim.recorded.drawing import BEYOND, DIFFERS, Drawn, DrawnDraw, Player
from fixfunc.cosim.recorded.frame import RecordedFrame
from fixfunc.cosim.recorded.texels import differences, picture
from fixfunc.spec.dxgi import DEPTH_FORMATS
from fixfunc.spec.errors import InputError

_COLOURS = {BEYOND: (255, 160, 0), DIFFERS: (255, 0, 0)}


def run(path: Path, output: Path, memory: str | None) -> list[str]:
    """Draw a file's frame, write pictures and figures, and say what was found.

    Parameters
    ----------
    path : Path
    output : Path
        A folder, for ``frame.png``, ``recorded.png``, ``differences.png`` and ``frame.json``.
    memory : str, optional
        What lies behind the hardware; None: golden alone.

    Returns
    -------
    list of str
        Why the frame is not believed, in words.
    """
    if memory is not None:
        _check_memory(memory)
    frame = file.read(path)
    folder = files.open_folder(output)
    with Steps() as step:
        step(f"drawing {len(frame.draws)} draws")
        start = time.perf_counter()
        player = Player(frame)
        drawn = player.draw()
        seconds = time.perf_counter() - start
    figures = figures_of(frame, drawn) | {"seconds": seconds}
    failures = failures_of(figures)
    _write_pictures(folder, frame, drawn, player.marks)
    print("\n".join(words(figures)))
    if memory is not None:
        with Steps() as step:
            step("drawing it by the hardware, which is built once")
            figures["hardware"], lines = _hardware(frame, player, drawn, memory, failures)
        print("\n".join(lines))
    files.write(folder / "frame.json", json.dumps(figures, indent=2) + "\n")
    for line in failures:
        print(line)
    print(f"wrote frame.png, recorded.png, differences.png and frame.json to {folder}")
    return failures


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
    return lines


def _write_pictures(folder, frame, drawn, marks):
    """What was drawn last, by us and as it was recorded, and where fragments differ."""
    shown = {it.surface: it for it in drawn.surfaces if it.form not in DEPTH_FORMATS}
    order = [number for number in frame.draws["colour"].tolist() if number in shown]
    if not order:
        return
    it = shown[order[-1]]
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


def _hardware(frame, player, drawn, memory, failures):
    """The same frame by the top; what it executes is compared, stream by stream."""
    from fixfunc.cosim.program import hardware
    from fixfunc.cosim.program.recording import Recording

    again = Player(frame, player.lookups)
    recording = Recording(again.device)
    second = again.draw()
    for one, other in zip(drawn.surfaces, second.surfaces, strict=True):
        if not np.array_equal(one.found, other.found):
            failures.append(f"surface {one.surface} depends on what is shaded")
    run = hardware.draw(recording, memory)
    failures += hardware.failures(run)
    return hardware.figures(run), hardware.words(hardware.figures(run))
