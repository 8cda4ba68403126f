# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the edge evaluator: steps at their ends, and how an edge lies over a tile."""

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.tb.coverage.bins import Seen, cross, samples_of
from fixfunc.tb.raster.edge_evaluator import fields


def bins(seen: Seen, params: EdgeEvaluatorParams) -> dict[str, int]:
    """Counts of one batch."""
    table = fields(params)
    records = codec.unpack(seen.rows, table, dtype(table))
    mask = seen.out["o"][:, 0]
    limit = 1 << params.step_bits - 1
    steps = {}
    for name in "ab":
        value = records[name].astype(int)
        steps[name] = {
            "least": value == -limit,
            "negative": (value < 0) & (value > -limit),
            "zero": value == 0,
            "positive": (value > 0) & (value < limit - 1),
            "greatest": value == limit - 1,
        }
    every = (1 << params.edge**2) - 1
    covered = {
        "none": mask == 0,
        "some": (mask != 0) & (mask != every),
        "all": mask == every,
    }
    samples = samples_of(records["samples"], range(params.samples.bit_length()))
    c = records["c"].astype(int)
    sign = {"below zero": c < 0, "zero": c == 0, "above zero": c > 0}
    return (
        cross("samples x covered", samples, covered)
        | cross("steps a x b", steps["a"], steps["b"])
        | cross("E at the first sample x covered", sign, covered)
    )
