# SPDX-License-Identifier: BSD-2-Clause
"""Triangles and samples that the back half leaves out, counted by cause."""

from collections import Counter

import numpy as np

from fixfunc.models.back_half.back_half import Found, Work
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.geometry.triangle_setup import cut, is_empty, limits, sample_box, vertices


def of_triangles(work: Work, found: Found) -> Counter:
    """Count triangles, and those that cover no sample, whatever the sample mask leaves.

    Parameters
    ----------
    work : Work
    found : Found
        What the back half has found of it.

    Returns
    -------
    Counter
        ``triangles``; ``zero_area``; ``facing``, culled by winding; ``outside_viewport``,
        ``outside_scissor`` and ``outside_target``, each of what the causes before it leave; and
        ``between_samples``.
    """
    made = found.setup or _single(work)
    losses = Counter(zero_area=int(made.zero_area.sum()), facing=int(made.facing.sum()))
    x, y, _ = vertices(work.triangles[made.no_sample])
    boxes = sample_box(x, y, work.state)
    boxes = boxes[~is_empty(boxes)]
    for name, limit in limits(work.state).items():
        boxes = cut(boxes, limit)
        losses[f"outside_{name}"] = int(is_empty(boxes).sum())
        boxes = boxes[~is_empty(boxes)]
    count = len(work.triangles)
    losses["between_samples"] = count - found.covering - losses.total()
    losses["triangles"] = count
    return losses


def _single(work):
    """Setup at a forced number of samples, whose triangles have those of one sample a pixel."""
    state = work.state.copy()
    state["samples"] = 0
    state["conservative"] |= work.forced_samples > 1
    return triangle_setup.setup(work.triangles, state, faces=work.faces)


def of_samples(found: Found, counted: Counter) -> Counter:
    """Count samples of a list of triangles, and those that are left out.

    Parameters
    ----------
    found : Found
    counted : Counter
        Of its shading: ``samples_discarded`` and ``samples_written``.

    Returns
    -------
    Counter
        ``samples_covered``; ``samples_masked``, which the sample mask leaves out; and
        ``samples_rejected`` by the tests of depths and stencil values.
    """
    live = int(np.bitwise_count(found.tiles["mask"]).sum())
    kept = counted["samples_discarded"] + counted["samples_written"]
    return Counter(
        samples_covered=found.covered,
        samples_masked=found.covered - live,
        samples_rejected=live - kept,
    )
