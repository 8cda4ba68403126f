# SPDX-License-Identifier: BSD-2-Clause
"""A frame over time as a trace that Perfetto shows: a clock is a nanosecond there."""

import heapq
from collections.abc import Iterator

import numpy as np
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    CounterDescriptor,
    TracePacket,
    TrackEvent,
)
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from fixfunc.cosim.figures.counters import STREAMS
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.cosim.time.traffic import BYTES

SEQUENCE = 1  # there is one writer


def trace(timeline: Timeline) -> bytes:
    """The trace of a timeline that has bursts: its clocks count from ``timeline.start`` on.

    Tracks: draws; of every stage how many of the clocks a beat left it, and waited; of every port
    how many of the clocks its data moved, and each burst from its address to its answer, in as many
    rows as are under way at a time.
    """
    writer = _Writer(timeline.start)
    _draws(writer, timeline)
    stages = writer.track("stages")
    for name, (producer, consumer) in STREAMS.items():
        stage = writer.track(f"{producer}, {name}", stages)
        writer.shares(stage, "busy", timeline, timeline.beats[name])
        writer.shares(stage, f"stalled: waits for {consumer}", timeline, timeline.stalls[name])
    ports = writer.track("memory")
    for number, port in enumerate(timeline.ports):
        of_port = writer.track(port, ports)
        bursts = timeline.bursts[timeline.bursts["port"] == number]
        for write, way in enumerate(("read", "write")):
            writer.shares(of_port, way, timeline, timeline.moved[f"{port}.{way}"])
            _bursts(writer, of_port, way, bursts[bursts["write"] == write], timeline.edges[-1])
    return writer.serialize()


class _Writer:
    """Packets of a trace."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._trace = TraceProtoBuilder()
        self._tracks = 0

    def track(self, name: str, parent: int = 0, unit: str = "") -> int:
        """A track, of a counter if it has a unit; returns what names it."""
        self._tracks += 1
        packet = self._packet()
        packet.track_descriptor.uuid = self._tracks
        packet.track_descriptor.name = name
        if parent:
            packet.track_descriptor.parent_uuid = parent
        if unit:
            packet.track_descriptor.counter.unit = CounterDescriptor.UNIT_UNSPECIFIED
            packet.track_descriptor.counter.unit_name = unit
        if self._tracks == 1:
            packet.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        return self._tracks

    def event(self, track: int, kind: int, clock: int, name: str = "") -> TrackEvent:
        """An event of a track at a clock since reset."""
        packet = self._packet()
        packet.timestamp = int(clock) - self._start
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        if name:
            packet.track_event.name = name
        return packet.track_event

    def shares(self, parent: int, name: str, timeline: Timeline, values: np.ndarray) -> None:
        """A counter in percent of the clocks, where it changes."""
        track = self.track(name, parent, "% of clocks")
        shares = 100 * values.astype(np.float64) / timeline.interval
        changes = np.flatnonzero(np.diff(shares, prepend=np.nan))
        for n in changes:
            clock = timeline.edges[n]
            self.event(track, TrackEvent.TYPE_COUNTER, clock).double_counter_value = shares[n]
        self.event(track, TrackEvent.TYPE_COUNTER, timeline.edges[-1]).double_counter_value = 0

    def serialize(self) -> bytes:
        return self._trace.serialize()

    def _packet(self) -> TracePacket:
        packet = self._trace.add_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet


def _draws(writer, timeline):
    """A draw lasts until what follows it begins; everything else is an instant."""
    track = writer.track("draws")
    ends = [mark.clock for mark in timeline.marks[1:]] + [int(timeline.edges[-1])]
    number = 0
    for mark, end in zip(timeline.marks, ends):
        if mark.words != "draw":
            writer.event(track, TrackEvent.TYPE_INSTANT, mark.clock, mark.words)
            continue
        writer.event(track, TrackEvent.TYPE_SLICE_BEGIN, mark.clock, f"draw {number}")
        writer.event(track, TrackEvent.TYPE_SLICE_END, end)
        number += 1


def _bursts(writer, parent, way, bursts, end):
    """Bursts of a port: those under way at a time lie in rows of their own."""
    tracks = {}
    for row, burst, begin, answered in _rows(bursts, end):
        if row not in tracks:
            tracks[row] = writer.track(f"{way} bursts {row}", parent)
        size = int(burst["transfers"]) * BYTES
        event = writer.event(tracks[row], TrackEvent.TYPE_SLICE_BEGIN, begin, f"{way} {size} bytes")
        for name in ("address", "id", "first", "last", "due"):
            note = event.debug_annotations.add()
            note.name = name
            note.uint_value = int(burst[name])
        writer.event(tracks[row], TrackEvent.TYPE_SLICE_END, answered)


def _rows(bursts, end) -> Iterator[tuple[int, np.void, int, int]]:
    """The row of each burst, the burst, and the clocks in which it begins and ends."""
    first = np.where(bursts["last"] > 0, bursts["first"], bursts["addressed"])
    begins = np.minimum(bursts["addressed"], first)  # data may come before their address
    answers = np.where(bursts["answered"] > 0, bursts["answered"], end)
    free = []
    under_way = []
    for n in np.argsort(begins, kind="stable").tolist():
        while under_way and under_way[0][0] <= begins[n]:
            heapq.heappush(free, heapq.heappop(under_way)[1])
        row = heapq.heappop(free) if free else len(under_way)
        heapq.heappush(under_way, (int(answers[n]), row))
        yield row, bursts[n], int(begins[n]), int(answers[n])
