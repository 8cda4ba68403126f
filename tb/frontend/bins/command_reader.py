# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the command reader: packets, why streams end, and at which packet."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.frontend.reader_params import CommandReaderParams
from fixfunc.spec import payloads
from fixfunc.spec.commands import STATUS, CommandError, Opcode
from fixfunc.spec.state import Kind
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, of
from fixfunc.tb.frontend import command_reader, edges, hostile, streams

LISTS = (1 << 12) - 6, 1 << 12  # triangles of the longest lists that are read to their ends


def bins(seen: Seen, _params: CommandReaderParams) -> dict[str, int]:
    """Counts of one batch."""
    status = codec.unpack(seen.out["status"], STATUS, dtype(STATUS))
    starts = streams.starts(seen.rows)
    ended = [
        _opcode(rows, int(word["at"])) for (_, rows), word in zip(starts, status, strict=False)
    ]
    error = of(CommandError, status["error"])
    errors = {name: hit for name, hit in error.items() if name not in ("NONE", "OPCODE")}
    opcode = of(Opcode, np.array(ended, int))
    length = np.array([int(start["transfers"]) for start, _ in starts])[: len(status)]
    address = np.array([int(start["address"]) for start, _ in starts])[: len(status)]
    kinds = seen.out["o"][:, 0] & 3
    clears = codec.unpack(seen.out["o"][kinds == Kind.CLEAR], payloads.CLEAR, dtype(payloads.CLEAR))
    planes = [flag(clears[name], f"no {name}", name) for name in ("depth", "stencil", "colour")]
    return (
        cross("error", error)
        | cross("error x packet", errors, opcode)
        | cross("stream ends", {"empty": length == 0, "all": status["at"] == length})
        | cross(
            "first packet in a page",
            {
                "begins a page": address % 4096 == 0,
                "ends one": address % 4096 == 4064,
                "within": address % 4096 < 4064,
            },
        )
        | cross("beat x the one before", of(Kind, kinds[1:]), of(Kind, kinds[:-1]))
        | cross("clear", *planes)
        | cross("list of triangles", equal(_lists(kinds), {"one": 1, "two": 2, "eight": 8}))
    )


def _opcode(rows, at):
    """The opcode at a transfer of a stream; 0 where there is none."""
    return int(rows[at, 0]) & 0xFF if at < len(rows) else 0


def _lists(kinds):
    """Lengths of runs of triangles."""
    work = np.concatenate([[False], kinds == Kind.WORK, [False]])
    borders = np.flatnonzero(np.diff(work.astype(int)))
    return borders[1::2] - borders[::2]


def directed(params: CommandReaderParams) -> np.ndarray:
    """Streams with any value in any field; long ones, of which most are cut short or refused."""
    rng = np.random.default_rng(0)
    shape = command_reader.shape_of(params)
    anywhere = edges.anywhere(rng, 200, shape)
    room = 32 * (max(LISTS) + 64)  # of a list, in bytes
    places = streams.SIZE - room, streams.SIZE - 2 * room, streams.SIZE - 3 * room
    return np.concatenate(
        [
            hostile.refused(rng, 40, shape),
            hostile.cut_short(rng, 24, shape, places[0]),
            *(streams.one_list(rng, n, shape, at) for n, at in zip(LISTS, places[1:], strict=True)),
            anywhere,
        ]
    )
