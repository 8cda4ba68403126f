# SPDX-License-Identifier: BSD-2-Clause
"""Counters of the top, by address: what each counts since reset, 64 bits."""

from fixfunc.spec.memory.caching import counted

PROBES = (
    "commands",
    "setup",
    "raster",
    "hiz",
    "depth",
    "quads",
    "colours",
)  # streams between stages
CLIENTS = ("depth", "stencil", "colour")  # of memory, with a cache

EVENTS = (
    "clocks",  # from a START to the end of it
    "command_transfers",  # of 32 bytes, read
    "triangles",  # in
    "set_up",  # triangles that were not culled
    "tiles",  # touched by triangles: those that the rasterizer gives
    "tiles_accepted",  # by HiZ
    "tiles_tested",  # the others it did not drop
    "samples_covered",  # of all tiles
    "samples_tested",  # of those that HiZ did not drop
    "samples_passed",
    "tiles_shaded",  # those of which a sample goes to the shader
    *(f"stall_{probe}" for probe in PROBES),  # clocks of those in which a beat waited there
)
MOVED = tuple(
    f"{client}_{field.name}"
    for client in CLIENTS
    for field in counted(differences=client != "stencil")
)  # tiles by mode, transfers; of the last fence
RESOLVES = ("resolve_transfers",)  # of 32 bytes, read and written by resolves
PIXELS = (
    "pipe_quads",  # shaded by the pixel pipe
    "pipe_helpers",  # pixels of these that are shaded for their neighbours
    "pipe_attributes",  # of these quads; one of a quad without any
    "texture_lookups",  # blocks of 4x4 texels that quads ask the texture cache for
    "texture_misses",  # of those, blocks that were not on chip
    "texture_lines",  # of 64 bytes that were read for them
)
COUNTERS = EVENTS + MOVED + RESOLVES + PIXELS  # address: the place in this list
