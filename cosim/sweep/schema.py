# SPDX-License-Identifier: BSD-2-Clause
"""Columns of the table of a sweep: names, types and words, in order."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pyarrow as pa

from fixfunc.cosim.figures import counters
from fixfunc.cosim.sweep.parameters import PARAMETERS
from fixfunc.spec.counters import CLIENTS
from fixfunc.spec.descriptors import TOTALS

_TYPES = {bool: pa.bool_(), int: pa.int64(), str: pa.string()}
_TERM = pa.struct([("words", pa.string()), ("clocks", pa.int64())])
_DEVICE = {  # of fixfunc.models.machine.machine.Machine, beside those of its queries
    "index_out_of_bounds": "indices beyond the vertices",
    "quads": "quads to the pixel shader",
    "quad_helpers": "pixels of them that are shaded for derivatives alone",
    "samples_written": "samples whose tests all passed",
    "samples_coloured": "samples that went to a target of colours",
    "samples_in_depths": "samples that lie in a target of depths",
    "samples_rejected": "samples that failed the depth or the stencil test",
    "texture_taps": "texels that shaders read",
    "texture_hits": "blocks of texels that were on chip",
    "texture_misses": "blocks of texels that had to be decoded",
    "texture_lines": "lines of 64 bytes read for texels",
    "texture_bytes_read": "bytes read for texels",
}
_BEFORE = (
    ("scene", pa.string(), "as it was named"),
    ("machine", pa.string(), "golden or hardware"),
)
_BEHIND = (
    ("bytes_read", pa.int64(), "of depth, stencil, colour and resolves"),
    ("bytes_written", pa.int64(), "likewise"),
    ("least_clocks", pa.int64(), "the largest term: no frame is faster"),
    ("bound", pa.string(), "the largest term in words"),
    ("terms", pa.list_(_TERM), "all terms of the bound"),
    ("missing", pa.int64(), "draws that the hardware does not execute"),
    ("failures", pa.list_(pa.string()), "why the frame is not believed; empty if it is"),
    ("picture", pa.string(), "SHA-256 of its height, width and bytes, red first"),
    ("scene_hash", pa.string(), "of the scene's files"),
    ("source_hash", pa.string(), "of fixfunc's sources behind the point"),
    ("seconds", pa.float64(), "that drawing, simulating and comparing took"),
    ("key", pa.string(), "it names the point"),
)


class Column(NamedTuple):
    """A column of the table."""

    name: str
    type: pa.DataType
    words: str


@cache
def columns() -> tuple[Column, ...]:
    """All of them; a name is there once."""
    return tuple({column.name: column for column in _columns()}.values())


def _columns() -> Iterator[Column]:
    yield from (Column(*one) for one in _BEFORE)
    for one in PARAMETERS:
        yield Column(one.name, _TYPES[type(one.default)], f"parameter: {one.words}")
    for name, one in counters.table().items():
        yield Column(name, pa.int64(), f"counter, {one.unit}: {one.words}")
    for name in TOTALS:
        yield Column(name, pa.int64(), "counter of the golden machine's queries")
    for name, words in _DEVICE.items():
        yield Column(name, pa.int64(), f"counter: {words}")
    for client in CLIENTS:
        for done in ("read", "written"):
            yield Column(f"{client}_bytes_{done}", pa.int64(), f"counter: bytes {done}")
    yield from (Column(*one) for one in _BEHIND)


@cache
def schema() -> pa.Schema:
    """Of the table; each field's metadata has its words."""
    return pa.schema(
        [pa.field(one.name, one.type, metadata={"words": one.words}) for one in columns()]
    )
