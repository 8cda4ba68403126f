# SPDX-License-Identifier: BSD-2-Clause
"""Traces, read by Perfetto's own schema and by the rules of its track events."""

from collections import defaultdict

import numpy as np
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from fixfunc.cosim.figures.counters import STREAMS
from fixfunc.cosim.time import timeline
from fixfunc.cosim.time.trace import trace
from tests.cosim.time import runs

KINDS = {
    TrackEvent.TYPE_SLICE_BEGIN: "begin",
    TrackEvent.TYPE_SLICE_END: "end",
    TrackEvent.TYPE_INSTANT: "instant",
    TrackEvent.TYPE_COUNTER: "counter",
}


def read(data):
    """Events by path of the track: kind, time, event; what no trace may be is refused.

    A track is described before it is used, once; its parent is described, too. Of one track times
    never fall, slices end as often as they begin, and a counter has nothing but values.
    """
    parsed = Trace.FromString(data)
    assert parsed.SerializeToString() == data
    paths = {}
    units = {}
    events = defaultdict(list)
    for packet in parsed.packet:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            it = packet.track_descriptor
            assert it.uuid and it.uuid not in paths
            above = paths[it.parent_uuid] if it.parent_uuid else ()
            paths[it.uuid] = (*above, it.name)
            units[paths[it.uuid]] = it.counter.unit_name if it.HasField("counter") else None
            continue
        event = packet.track_event
        path = paths[event.track_uuid]
        kind = KINDS[event.type]
        assert (
            (kind == "counter")
            == (units[path] is not None)
            == event.HasField("double_counter_value")
        )
        events[path].append((kind, packet.timestamp, event))
    assert len(set(paths.values())) == len(paths)
    for found in events.values():
        assert [time for _, time, _ in found] == sorted(time for _, time, _ in found)
        depth = np.cumsum([{"begin": 1, "end": -1}.get(kind, 0) for kind, _, _ in found])
        assert set(depth.tolist()) <= {0, 1} and depth[-1] == 0
    return dict(events)


def values(events):
    return [(time, event.double_counter_value) for _, time, event in events]


@pytest.mark.plan("time-10")
def test_stages_and_ports_have_counters():
    """Percent of the clocks, where they change, and 0 in the end."""
    found = read(trace(timeline.of(*runs.run())))
    stages = {path[1] for path in found if path[0] == "stages"}
    assert stages == {f"{producer}, {name}" for name, (producer, _) in STREAMS.items()}
    stage = "stages", "command reader, commands"
    assert values(found[(*stage, "busy")]) == [
        (0, 0), (10, 20), (20, 30), (30, 0), (40, 10), (60, 0), (70, 0)
    ]  # fmt: skip
    assert values(found[(*stage, "stalled: waits for triangle setup")]) == [
        (0, 0), (20, 100), (50, 60), (60, 0), (70, 0)
    ]  # fmt: skip
    assert values(found["memory", "depth_memory", "write"]) == [
        (0, 0), (20, 20), (30, 0), (40, 10), (50, 0), (70, 0)
    ]  # fmt: skip


@pytest.mark.plan("time-10")
def test_draws_are_slices_and_the_rest_instants():
    found = read(trace(timeline.of(*runs.run())))["draws",]
    assert [(kind, time, event.name) for kind, time, event in found] == [
        ("instant", 10, "state"),
        ("instant", 10, "clear"),
        ("begin", 20, "draw 0"),
        ("end", 20, ""),
        ("instant", 20, "state"),
        ("begin", 40, "draw 1"),
        ("end", 50, ""),
        ("instant", 50, "fence"),
        ("instant", 60, "status"),
    ]


@pytest.mark.plan("time-11")
def test_every_burst_is_a_slice():
    """From address or data to the answer; of those under way at a time none shares a row."""
    found = read(trace(timeline.of(*runs.run())))
    slices = {
        path[1:]: [(time, event.name) for _, time, event in events]
        for path, events in found.items()
        if path[0] == "memory" and "bursts" in path[-1]
    }
    assert slices == {
        ("commands_memory", "read bursts 0"): [(3, "read 128 bytes"), (13, "")],
        ("commands_memory", "read bursts 1"): [(4, "read 32 bytes"), (15, "")],
        ("depth_memory", "read bursts 0"): [(42, "read 64 bytes"), (52, "")],
        ("depth_memory", "write bursts 0"): [
            (21, "write 64 bytes"), (41, ""), (42, "write 32 bytes"), (45, "")
        ],
    }  # fmt: skip
    _, _, event = found["memory", "depth_memory", "write bursts 0"][0]
    notes = {note.name: note.uint_value for note in event.debug_annotations}
    assert notes == {"address": 0x100, "id": 0, "first": 41, "last": 42, "due": 60}


@pytest.mark.plan("time-11")
@pytest.mark.parametrize("seed", range(4))
def test_random_bursts_need_as_many_rows_as_are_under_way(seed):
    """And those that are never answered last to the end."""
    rng = np.random.default_rng(seed)
    outputs, events = runs.run()
    bursts = np.zeros(200, events.bursts.dtype)
    bursts["write"] = rng.integers(0, 2, 200)
    bursts["transfers"] = 1
    bursts["addressed"] = np.sort(rng.integers(20, 80, 200))
    bursts["first"] = bursts["last"] = bursts["addressed"] + np.uint64(1)
    bursts["answered"] = np.minimum(bursts["last"] + rng.integers(0, 20, 200).astype("u8"), 90)
    bursts["answered"][::50] = 0
    found = read(trace(timeline.of(outputs, events._replace(bursts=bursts))))
    ends = np.where(bursts["answered"] > 0, bursts["answered"], 90)
    for write, way in enumerate(("read", "write")):
        rows = [path for path in found if path[-1].startswith(f"{way} bursts")]
        chosen = bursts["write"] == write
        begins = sum(kind == "begin" for path in rows for kind, _, _ in found[path])
        assert begins == chosen.sum()
        at_a_time = [
            ((bursts["addressed"] <= clock) & (ends > clock))[chosen].sum() for clock in range(100)
        ]
        assert len(rows) == max(at_a_time)
