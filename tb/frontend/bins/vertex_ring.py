# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the vertex ring: packets, errors, what triangles use, and how full the ring is."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.frontend.vertex_ring import VertexRing, packets
from fixfunc.models.payload import dtype, unpack
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.spec import commands
from fixfunc.spec.commands import VERTEX_OPCODES, Opcode, RingKind, VertexError
from fixfunc.spec.payloads import TRANSFER
from fixfunc.tb.coverage.bins import Seen, cross, ends, equal, flag, of, ranges

CONFIG = "tiny"
COUNT = 4000


def bins(seen: Seen, params: VertexRingParams) -> dict[str, int]:
    """Counts of one batch."""
    kinds = seen.out["o"][:, 0] & np.uint64(3)
    of_kind = {
        kind: codec.unpack(seen.out["o"][kinds == kind], table, dtype(table))
        for kind, table in (
            (RingKind.TRIANGLE, commands.RING_TRIANGLE),
            (RingKind.ERROR, commands.RING_ERROR),
        )
    }
    triangles, errors = of_kind[RingKind.TRIANGLE], of_kind[RingKind.ERROR]
    used = equal(
        triangles["attributes"], {f"{n} attributes": n for n in range(params.attributes + 1)}
    )
    is_triangle = {
        name: hit
        for name, hit in of(VertexError, errors["error"]).items()
        if VertexError[name] >= VertexError.NOT_WRITTEN
    }
    return (
        cross("beat x the one before", of(RingKind, kinds[1:]), of(RingKind, kinds[:-1]))
        | cross("error", of(VertexError, errors["error"]))
        | cross("error of a list", is_triangle, flag(errors["at"], "first", "behind others"))
        | cross("triangle", flag(triangles["cut"], "whole", "cut"), used)
        | _packets(seen.rows, params)
    )


def _packets(rows, params):
    """Packets that break no rule of a header, and how full the ring is before them."""
    ring = VertexRing(params.slots, params.attributes)
    opcode, count, held = [], [], []
    for packet in packets(np.ascontiguousarray(rows).view(np.uint8).reshape(-1, TRANSFER // 8)):
        header = unpack(packet[:1], commands.VERTEX_PACKET)[0]
        before = ring.held
        beats = ring.execute(packet)
        if not beats or beats[0].kind != RingKind.ERROR:
            opcode.append(int(header["opcode"]))
            count.append(int(header["count"]))
            held.append(before)
    opcode, count, held = (np.array(values, int) for values in (opcode, count, held))
    packet = of(VERTEX_OPCODES, opcode)
    writes = opcode == Opcode.VERTICES
    return (
        cross(
            "packet x the one before",
            of(VERTEX_OPCODES, opcode[1:]),
            of(VERTEX_OPCODES, opcode[:-1]),
        )
        | cross("vertices", ends(held, 0, params.slots), where=writes)
        | cross("vertices fill the ring", {"": held + count == params.slots}, where=writes)
        | cross(
            "list",
            ranges(count, {"none": (0, 0), "a transfer": (1, 3), "several": (4, 99)}),
            where=packet["PRIMITIVES"],
        )
        | cross("all are released", {"": held == count}, where=packet["RELEASE"])
    )
