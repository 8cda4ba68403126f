# SPDX-License-Identifier: BSD-2-Clause
"""Why a draw left nothing, in words: counts of what was lost, and the state that did it."""

from collections.abc import Iterable, Mapping

from fixfunc.models.machine.back_state import BackState
from fixfunc.spec.state import Cull

# By name of the count: what primitives are lost by, those of the first three before they are
# triangles.
CLIPPED = {
    "rejected": "lie outside of the view volume",
    "culled_by_distance": "are culled by a distance",
    "not_a_number": "have a position that is no number",
}
LOST = {
    "zero_area": "have no area",
    "outside_viewport": "lie outside of the viewport",
    "outside_scissor": "lie outside of the scissor",
    "outside_target": "lie outside of the target",
    "between_samples": "lie between samples",
}


def reason(counts: Mapping[str, int], state: BackState | None) -> str:
    """Why no target of colours holds a sample of a draw; empty, if one does.

    Without a target of colours it is about depths and stencil values.

    Parameters
    ----------
    counts : mapping of str to int
        Of the front half, of :mod:`fixfunc.models.machine.statistics.losses`, and of shading.
    state : BackState, optional
        None: a predicate left the draw out.
    """
    if state is None:
        return "a predicate left it out"
    has_colours = any(view is not None for view in state.colours)
    if counts["samples_coloured" if has_colours else "samples_in_depths"]:
        return ""
    if not counts["ia_primitives"]:
        return "no primitive is complete"
    if state.is_off:
        return "no pixel shader is set, and no test of depths or stencil values is on"
    if not counts["c_invocations"]:
        return _before_clipping(counts)
    if counts["samples_covered"]:
        return _of_samples(counts, state)
    return _of_primitives(counts, state)


def _before_clipping(counts):
    """No primitive has come to the clipper."""
    if counts["gs_primitives"]:
        return "the stream that its primitives are in is not rasterized"
    if counts["gs_invocations"]:
        return f"the geometry shader made no primitive in {counts['gs_invocations']} invocations"
    if counts["hs_invocations"]:
        return f"the tessellator made no primitive of {counts['hs_invocations']} patches"
    return "no stream is rasterized"


def _of_primitives(counts, state):
    """Nothing has covered a sample."""
    if all(x0 >= x1 or y0 >= y1 for (x0, y0, x1, y1), _ in state.rectangles):
        return "no viewport is set, or none with an area"
    found = [f"{counts[name]} {what}" for name, what in CLIPPED.items() if counts[name]]
    parts = [f"of {counts['c_invocations']} primitives {_joined(found)}"] if found else []
    facing = counts["facing"] + counts["wireframes_facing"]
    found = [_facing(facing, state)] if facing else []
    found += [f"{counts[name]} {what}" for name, what in LOST.items() if counts[name]]
    if found:
        count = counts["triangles"] or counts["c_primitives"]
        parts.append(f"of {count} triangles {_joined(found)}")
    return "; ".join(parts) or f"of {counts['c_primitives']} primitives none hits a pixel"


def _facing(count, state):
    side = "back" if state.draw["cull"] == Cull.BACK else "front"
    front = "counter-clockwise" if state.draw["front_ccw"] else "clockwise"
    return f"{count} face {side}, which is culled ({front} is front)"


def _of_samples(counts, state):
    """Samples were covered, and no target took one."""
    what = {
        "samples_masked": f"are left out by the sample mask {state.sample_mask:#x}",
        "samples_rejected": f"are rejected by the {_tests(state)}",
        "samples_discarded": "are discarded",
        "samples_written": f"pass, but {_untaken(state)}",
    }
    found = [f"{counts[name]} {what}" for name, what in what.items() if counts[name]]
    return f"of {counts['samples_covered']} samples {_joined(found)}"


def _tests(state):
    on = [name for name in ("depth", "stencil") if state.draw[f"{name}_test"]]
    return f"{' or '.join(on)} test"


def _untaken(state):
    """Why no target takes what passes."""
    bound = [blend for view, blend in zip(state.colours, state.blends) if view is not None]
    if not bound and state.depth is None:
        return "no target is bound"
    if bound and not any(blend.write for blend in bound):
        return "write masks are 0"
    if bound and state.shader is None:
        return "no pixel shader is set"
    if bound:
        return "the pixel shader puts out no colour of a target that is bound"
    return "neither depths nor stencil values are written"


def _joined(parts: Iterable[str]) -> str:
    """Parts as an enumeration."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
