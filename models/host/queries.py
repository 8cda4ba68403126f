# SPDX-License-Identifier: BSD-2-Clause
"""Queries: what lies between two places of a command stream."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from fixfunc.models.host.memory import Heap
from fixfunc.spec.descriptors import BUFFERS, TOTALS

RECORD = 256  # bytes of the totals at one end
FREQUENCY = 1_000_000  # ticks a second that a timestamp claims: it counts pieces of work


class QueryKind(IntEnum):
    """D3D11_QUERY."""

    EVENT = 0
    OCCLUSION = 1
    TIMESTAMP = 2
    TIMESTAMP_DISJOINT = 3
    PIPELINE_STATISTICS = 4
    OCCLUSION_PREDICATE = 5
    SO_STATISTICS = 6
    SO_OVERFLOW_PREDICATE = 7
    SO_STATISTICS_STREAM0 = 8
    SO_OVERFLOW_PREDICATE_STREAM0 = 9
    SO_STATISTICS_STREAM1 = 10
    SO_OVERFLOW_PREDICATE_STREAM1 = 11
    SO_STATISTICS_STREAM2 = 12
    SO_OVERFLOW_PREDICATE_STREAM2 = 13
    SO_STATISTICS_STREAM3 = 14
    SO_OVERFLOW_PREDICATE_STREAM3 = 15


ENDS_ALONE = QueryKind.EVENT, QueryKind.TIMESTAMP  # they have no beginning


class PipelineStatistics(NamedTuple):
    """D3D11_QUERY_DATA_PIPELINE_STATISTICS [fs 20.4.7]."""

    ia_vertices: int
    ia_primitives: int
    vs_invocations: int
    gs_invocations: int
    gs_primitives: int
    c_invocations: int
    c_primitives: int
    ps_invocations: int
    hs_invocations: int
    ds_invocations: int
    cs_invocations: int


class StreamStatistics(NamedTuple):
    """D3D11_QUERY_DATA_SO_STATISTICS: primitives."""

    written: int
    needed: int


class Disjoint(NamedTuple):
    """D3D11_QUERY_DATA_TIMESTAMP_DISJOINT."""

    frequency: int
    disjoint: bool


@dataclass(eq=False)
class Query:
    """A query, and where its totals lie.

    Parameters
    ----------
    kind : QueryKind
    address : int
        Of the totals at its beginning; those at its end follow, 256 bytes behind.
    begun, ended : bool
    heap : Heap, optional
        That of its device.
    released : bool
        Its memory has been given back.
    """

    kind: QueryKind
    address: int
    begun: bool = False
    ended: bool = False
    heap: Heap | None = field(default=None, repr=False)
    released: bool = False

    @property
    def is_predicate(self) -> bool:
        """It is true or false, and may decide about work."""
        return "PREDICATE" in self.kind.name

    @property
    def streams(self) -> range:
        """Streams that an overflow predicate, or stream statistics, are about."""
        if self.kind == QueryKind.SO_OVERFLOW_PREDICATE:
            return range(BUFFERS)
        if self.kind == QueryKind.SO_STATISTICS:
            return range(1)
        number = int(self.kind.name[-1]) if self.kind.name[-1].isdigit() else 0
        return range(number, number + 1)

    def decides(self, value: bool) -> dict[str, int]:
        """Fields of the packet that leaves out work where this predicate is ``value``."""
        return {
            "enable": 1,
            "value": bool(value),
            "begin": self.address,
            "end": self.address + RECORD,
            "overflow": "OVERFLOW" in self.kind.name,
            "streams": sum(1 << n for n in self.streams),
        }

    def result(self, begin: dict[str, int], end: dict[str, int]) -> object:
        """What it tells, from the totals at both ends."""
        grown = {name: end[name] - begin[name] for name in TOTALS}
        if self.kind == QueryKind.EVENT:
            return True
        if self.kind == QueryKind.TIMESTAMP:
            return end["timestamp"]
        if self.kind == QueryKind.TIMESTAMP_DISJOINT:
            return Disjoint(FREQUENCY, False)
        if self.kind == QueryKind.PIPELINE_STATISTICS:
            return PipelineStatistics(*(grown[name] for name in PipelineStatistics._fields))
        if self.kind == QueryKind.OCCLUSION:
            return grown["samples_passed"]
        if self.kind == QueryKind.OCCLUSION_PREDICATE:
            return grown["samples_passed"] != 0
        if self.is_predicate:
            return any(grown[f"so_written_{n}"] != grown[f"so_needed_{n}"] for n in self.streams)
        (stream,) = self.streams
        return StreamStatistics(grown[f"so_written_{stream}"], grown[f"so_needed_{stream}"])
