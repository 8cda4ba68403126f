# SPDX-License-Identifier: BSD-2-Clause
"""The machine's draws: triangles of a program become depths and colours of views."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from fixfunc.models.back_half.back_half import BackHalf, Probe, Work
from fixfunc.models.depth import stencil
from fixfunc.models.formats import encode
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.front_half import Part
from fixfunc.models.machine.statistics import losses
from fixfunc.models.machine.targets import HeldTargets, Target, ViewColours, at_layer
from fixfunc.models.machine.tile_shading import TileShading
from fixfunc.models.memory.copies import DEPTHS
from fixfunc.models.raster import forced_samples
from fixfunc.models.state import draw_state
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT, DepthFormat, Outcome


class DrawProbe(Probe, Protocol):
    """A probe of the machine's draws."""

    def list(self, part: Part, run: np.ndarray, state: BackState | None) -> None:
        """Triangles of a part are drawn at once: those with these numbers.

        Of a command stream there is no state but the stream's own.
        """


def draw(
    part: Part, state: BackState, held: HeldTargets, probe: DrawProbe | None = None
) -> Counter:
    """Draw triangles in order.

    Returns
    -------
    Counter
        Those of the part; ``samples_passed`` and ``ps_invocations``; quads that were shaded, the
        helpers in them, and those that could share one; tiles by what HiZ found; and what was left
        out: see :mod:`fixfunc.models.machine.statistics.losses`.
    """
    counters = Counter(part.counters)
    if state.is_off:
        del counters["c_invocations"], counters["c_primitives"]
    for run in part_runs(part, state):
        counters += _draw_run(part, run, state, held, probe)
    return counters


def _draw_run(part, run, state, held, probe):
    """Triangles of a viewport and a layer."""
    counters = Counter()
    number = int(part.viewport[run[0]])
    layer = int(part.layer[run[0]])
    targets = [at_layer(view, layer) for view in state.colours]
    depth = at_layer(state.depth, layer)
    fields, samples = draw_fields(state, number, targets, depth)
    colours = ViewColours(held, targets, fields, state, probe)
    back = BackHalf(held.depth(depth, fields), colours, probe=probe)
    faces = None if part.faces is None else part.faces[run]
    work = Work(part.triangles[run], fields, faces, state.forced_samples, state.target_mask)
    found = back.find(work)
    if probe:
        probe.list(part, run, state)
    counters += losses.of_triangles(work, found)
    if not len(found.tiles):
        return counters + losses.of_samples(found, counters)
    shading = TileShading(part, state, found.tiles, run[found.triangle], fields, found.pattern)
    tested = back.draw(found, fields, shading)
    counters["samples_passed"] = (
        int(tested.passed.sum())
        if found.pattern is None
        else forced_samples.passed_count(tested.passed, found.pattern, samples)
    )
    counters.update({f"hiz_{o.name.lower()}": int((tested.outcome == o).sum()) for o in Outcome})
    counters += shading.counters
    counters += losses.of_samples(found, counters)
    shaded = zip(targets, state.blends, shading.colours, strict=False)
    if any(target is not None and blend.write for target, blend, _ in shaded):
        counters["samples_coloured"] = counters["samples_written"]
    if (fields["depth_test"] and fields["depth_write"]) or stencil.changes(fields):
        counters["samples_in_depths"] = int(tested.passed.sum())
    return counters


def part_runs(part: Part, state: BackState) -> list[np.ndarray]:
    """Triangles that are drawn at once: those of one viewport and one layer in a row.

    Returns ndarrays of intp, indices of them; none, if nothing could have an effect.
    """
    if not len(part.triangles) or state.is_off:
        return []
    changes = (np.diff(part.viewport) != 0) | (np.diff(part.layer) != 0)
    return np.split(np.arange(len(part.triangles)), np.flatnonzero(changes) + 1)


def draw_fields(
    state: BackState, number: int, targets: Sequence[Target | None], depth: Target | None
) -> tuple[np.void, int]:
    """The draw state of a viewport's triangles, colours apart, and log2 of the samples."""
    first = depth or next((target for target in targets if target), None)
    samples = int(first.view["samples"]) if first else 0  # without any, one [fs 16.11]
    width, height = first.size if first else (TARGET_LIMIT, TARGET_LIMIT)
    viewport, scissor = state.rectangles[number]
    fields = dict(state.draw)
    if depth is None:
        fields |= {"depth_test": 0, "depth_write": 0, "stencil_test": 0}
        form = DepthFormat.D24
    else:
        stored = Format(int(depth.view["form"]))
        form = DEPTHS[stored]
        if not DEPTH_FORMATS[stored]:
            fields["stencil_test"] = 0
        if depth.view["read_only_depth"]:
            fields["depth_write"] = 0
        if depth.view["read_only_stencil"]:
            fields["stencil_write"] = 0
    low, high = (int(encode(np.float32(v), form)) for v in state.depth_ranges[number])
    x0, y0, x1, y1 = scissor
    return draw_state(
        width,
        height,
        SAMPLE_COUNTS[samples],
        viewport,
        (x0, y0, max(x0, x1), max(y0, y1)),
        does=state.does,
        depth_format=form,
        depth_min=low,
        depth_max=high,
        conservative=state.conservative,
        **fields,
    ), samples
