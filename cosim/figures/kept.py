# SPDX-License-Identifier: BSD-2-Clause
"""Results that ``fixfunc frame`` has left: ``frame.json``, and the picture beside it."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TARGET_LIMIT

TOO_LARGE = Image.DecompressionBombError, Image.DecompressionBombWarning
LARGEST = TARGET_LIMIT**2  # pixels of a frame
RUN = "golden", "memory", "clocks", "clocks_of_bound", "stalls", "moved"  # of the hardware


class Kept(NamedTuple):
    """A frame that was drawn."""

    title: str
    figures: dict[str, Any]  # as in frame.json of a mesh
    picture: np.ndarray | None  # uint8, shape (height, width, 3); None: there is none


def read(path: Path) -> Kept:
    """Read a result.

    Parameters
    ----------
    path : Path
        A folder of ``fixfunc frame``, or the ``frame.json`` in it.

    Raises
    ------
    InputError
        It is no such thing.
    """
    file = path / "frame.json" if path.is_dir() else path
    if not file.is_file():
        raise InputError("result", "be a folder with frame.json, or such a file", path)
    try:
        data = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError("result", "be JSON", f"{file}: {error}") from error
    figures = _of_program(data) if isinstance(data, dict) and "kind" in data else data
    if not _is_frame(figures):
        raise InputError("result", "hold the figures of a frame", file)
    return Kept(figures["title"], figures, _picture(file.with_name("frame.png")))


def _of_program(data):
    """Of a scene, or a recorded frame; of several memories behind the hardware, the first."""
    runs = data.get("hardware")
    run = next(iter(runs.values()), None) if isinstance(runs, dict) else None
    run = run | {"streams": {}} if isinstance(run, dict) else None
    return of_program(data.get("title"), data.get("counters"), run)


def of_program(
    title: str, counters: dict[str, int], run: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Figures of a frame through device and context, under the names that those of a mesh have.

    Parameters
    ----------
    title : str
    counters : dict of int
        Of the golden machine.
    run : dict, optional
        Of the hardware: :func:`fixfunc.cosim.program.hardware.figures`.
    """
    figures = {"title": title, "counters": counters}
    if run is None:
        return figures
    streams = run["streams"]
    figures |= {name: run[name] for name in RUN if name in run}
    return figures | {
        "hardware": run.get("counters"),
        "rtl": streams,
        "mismatches": sum(stream["mismatches"] for stream in streams.values()),
    }


def _is_frame(figures):
    """Whether all that a comparison reads is there, and of its kind."""
    if not isinstance(figures, dict) or not isinstance(figures.get("title"), str):
        return False
    moved = figures.get("moved", [])
    return (
        _are_counters(figures.get("counters"))
        and _are_counters(figures.get("hardware", {}))
        and isinstance(figures.get("clocks", 0), int)
        and isinstance(figures.get("memory", ""), str)
        and _are_shares(figures.get("stalls", {}))
        and isinstance(moved, list)
        and all(_is_traffic(row) for row in moved)
    )


def _are_counters(values):
    return isinstance(values, dict) and all(isinstance(value, int) for value in values.values())


def _are_shares(values):
    return isinstance(values, dict) and all(
        isinstance(value, int | float) for value in values.values()
    )


def _is_traffic(row):
    """Client, cause, mode, count, bytes."""
    kinds = (str, str, str, int, int)
    return (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))
    )


def _picture(path):
    """Of a file that is there."""
    if not path.is_file():
        return None
    try:
        with _as_large_as_frames(), Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, *TOO_LARGE, OSError) as error:
        raise InputError("picture", "be one that can be read", path) from error


@contextmanager
def _as_large_as_frames() -> Iterator[None]:
    """Pillow reads pictures as large as golden frames may be, and refuses larger ones."""
    before = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = LARGEST
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    finally:
        Image.MAX_IMAGE_PIXELS = before
