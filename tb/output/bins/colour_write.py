# SPDX-License-Identifier: BSD-2-Clause
"""Bins of colour write: masks of channels, blending, samples; clears; what meets in the cache."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.colour_write import ColourWriteParams
from fixfunc.spec import payloads
from fixfunc.spec.quads import quads
from fixfunc.spec.state import Kind
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, samples_of
from fixfunc.tb.depth.bins.cached_depth import moved
from fixfunc.tb.depth.bins.depth_test import of_beats
from fixfunc.tb.depth.bins.hiz import states_of
from fixfunc.tb.memory.bins.tile_cache import EVENTS as CACHE

EVENTS = CACHE


def bins(seen: Seen, params: ColourWriteParams) -> dict[str, int]:
    """Counts of one batch."""
    rows = seen.rows
    kind = rows[:, 0] & 3
    table = payloads.tile(params.edge)
    work = kind == Kind.WORK
    tiles = codec.unpack(rows[work], table, dtype(table))
    states = states_of(rows)[work]
    fences = codec.unpack(rows[kind == Kind.FENCE], payloads.FENCE, dtype(payloads.FENCE))
    clears = codec.unpack(rows[kind == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    handed = codec.unpack(seen.out["probe_quads"], quads(params.edge), dtype(quads(params.edge)))
    samples = samples_of(handed["samples"], range(params.samples.bit_length()))
    mask = tiles["mask"].astype(np.uint64)
    covered = {
        "nothing": mask == 0,
        "some": (mask != 0) & (tiles["full"] == 0),
        "all": (mask != 0) & (tiles["full"] == 1),
    }
    blend = flag(states["blend"], "replaces", "blends")
    channels = equal(states["colour_write"], {f"{n:04b}": n for n in range(16)})
    helpers = handed["helpers"].astype(np.uint64) != 0
    return (
        cross("channels x blend", channels, blend, where=mask != 0)
        | cross("covered x write", covered, flag(states["early_write"], "late", "early"))
        | cross("samples x helpers", samples, flag(helpers, "none", "helper pixels"))
        | cross("samples x face", samples, flag(handed["back"], "front", "back"))
        | cross("fence", flag(fences["flush"], "goes on", "flushes"))
        | cross("colour clear", flag(clears["colour"], "not cleared", "cleared"))
        | {k: v for k, v in of_beats(rows, params.edge).items() if k.startswith("the same tile")}
        | moved(seen.out["colour_counted"], "colour")
    )
