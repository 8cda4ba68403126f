# SPDX-License-Identifier: BSD-2-Clause
"""What the golden DRAM makes of a frame's traffic: clocks, row hits, efficiency by port."""

import numpy as np

from fixfunc.cosim.time import traffic
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.models.memory.dram.configurations import GTX_480, GTX_1080
from fixfunc.models.memory.dram.controller import Dram
from fixfunc.models.memory.dram.service import serve

DRAMS = {"GTX 480": GTX_480, "GTX 1080": GTX_1080}
MOST = 1 << 16  # transfers: a quarter of a minute
HEADS = "port", "read", "written", "row hits", "closed", "conflicts", "latency", "data lines"


def text(timeline: Timeline) -> str:
    """A table for each named DRAM; "" where nothing has moved.

    Transfers come when they came, in clocks of the top; of more than 65,536 the first ones count.
    """
    accesses = traffic.accesses(timeline)
    if not len(accesses):
        return ""
    parts = [_table(name, dram, accesses, timeline.ports) for name, dram in DRAMS.items()]
    return "\n".join(parts)


def _table(name: str, dram: Dram, accesses: np.ndarray, ports: tuple[str, ...]) -> str:
    found = serve(dram, accesses[:MOST])
    some = "" if len(accesses) <= MOST else f", the first of {len(accesses):,}"
    head = (
        f"{name}: {len(found.accesses):,} transfers of 32 bytes{some}, {found.clocks:,} clocks, "
        f"{found.efficiency:.1%} of the data lines"
    )
    rows = [
        (
            ports[row["client"]],
            f"{row['read']:,}",
            f"{row['written']:,}",
            f"{row['hits'] / row['accesses']:.1%}",
            f"{row['closed']:,}",
            f"{row['conflicts']:,}",
            f"{row['latency']:.0f}",
            f"{row['efficiency']:.2%}",
        )
        for row in found.clients()
    ]
    widths = [max(map(len, column)) for column in zip(HEADS, *rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in (HEADS, *rows)
    ]
    return "\n".join([head, *lines, ""])
