# SPDX-License-Identifier: BSD-2-Clause
"""What frame buffers ask of memory, before caches and compression: the documents' table [fb]."""

from dataclasses import replace

from fixfunc.cosim.explore.subject import Numbers, Subject
from fixfunc.cosim.figures.bound import Term
from fixfunc.models.architecture.frame_bandwidth import FrameRate

NAME = "bandwidth"
BITS = 10**9  # of a gigabit
BASE = FrameRate()
CONFIGURATIONS = {
    "1080p60": BASE,
    "4k144": replace(BASE, width=3840, height=2160, hertz=144),
    "msaa4": replace(BASE, samples=4),
    "passes4": replace(BASE, passes=4),
}
COLUMNS = {
    "overdraw": "fragments a sample that pass the depth test",
    "colour_written": "Gb/s of colours that are written",
    "colour_blended": "Gb/s that blending reads beside them",
    "depth_read": "Gb/s of depths that are read",
    "depth_written": "Gb/s of depths that are written",
    "total": "Gb/s of opaque colours and depths",
    "times": "of 1920 x 1080 at 60 Hz",
}
WHAT_IF = {
    "complexity": ["1", "2", "4", "8", "16"],
    "hertz": ["30", "60", "120", "144", "240"],
    "samples": ["1", "2", "4", "8"],
    "passes": ["1", "2", "3", "4"],
}


def subject() -> Subject:
    """The table, to be explored."""
    title = "Bandwidth of frame buffers"
    return Subject(title, COLUMNS, "total", "Mb/s", CONFIGURATIONS, _numbers, WHAT_IF)


def _numbers(rate: FrameRate) -> Numbers:
    moved = {
        "colour_written": rate.colour_written(),
        "depth_read": rate.depth_read(),
        "depth_written": rate.depth_written(),
    }
    total = sum(moved.values())
    first = sum((BASE.colour_written(), BASE.depth_read(), BASE.depth_written()))
    values = {name: round(float(bits / BITS), 3) for name, bits in moved.items()}
    values |= {
        "overdraw": round(float(rate.overdraw), 3),
        "colour_blended": values["colour_written"],
        "total": round(float(total / BITS), 3),
        "times": round(float(total / first), 3),
    }
    terms = [Term(COLUMNS[name].partition(" of ")[2], round(moved[name] / 10**6)) for name in moved]
    return Numbers({name: values[name] for name in COLUMNS}, terms, round(total / 10**6))
