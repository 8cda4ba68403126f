# SPDX-License-Identifier: BSD-2-Clause
"""Predicted clocks: beside those that the hardware took, and where one station alone decides."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.models.performance.events import (
    BEAT,
    PACKET,
    PLANES,
    SURFACE,
    USE,
    Beat,
    FrameEvents,
)
from fixfunc.models.performance.params import (
    FAR,
    MEMORIES,
    NEAR,
    CacheParams,
    MachineParams,
    MemoryParams,
    QueueParams,
)
from fixfunc.models.performance.predict import predict
from fixfunc.spec.commands import Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Outcome
from tests.performance.frames import MEASURED, events

SIZES = [0, 32, 64, 96, 128, 160, 192, *[-1] * 9]
TOLERANCE = 0.10  # of clocks, beside the hardware's


def made(beats, packets=(), uses=(), plane="depth", tiles=4096):
    """Events of beats alone; ``uses`` of one plane."""
    empty = {name: np.zeros(0, USE) for name in PLANES}
    surface = np.array([(0, 0, tiles, 64, SIZES)], SURFACE)
    return FrameEvents(
        beats,
        np.array(list(packets), PACKET),
        empty | {plane: np.array(list(uses), USE)},
        dict.fromkeys(PLANES, np.zeros(0, SURFACE)) | ({plane: surface} if len(uses) else {}),
    )


def tiles(count, quads=1, triangles=1, **fields):
    """So many tiles of a triangle each, or all of one."""
    beats = np.zeros(count, BEAT)
    beats["kind"] = Beat.TILE
    beats["outcome"] = Outcome.ACCEPT
    beats["triangle"] = np.arange(count) * triangles // count
    beats["first"] = np.append(True, np.diff(beats["triangle"]) > 0)
    for name, value in (fields | {"quads": quads}).items():
        beats[name] = value
    return beats


@pytest.mark.plan("performance-4")
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", MEASURED)
def test_clocks_are_those_of_the_hardware(name, memory):
    clocks = MEASURED[name][list(MEMORIES).index(memory)]
    found = predict(events(name), MachineParams(memory=MEMORIES[memory]))
    assert abs(found.clocks / clocks - 1) < TOLERANCE


@pytest.mark.plan("performance-4")
def test_all_of_them_within_five_percent_on_average():
    errors = [
        abs(predict(events(name), MachineParams(memory=memory)).clocks / clocks - 1)
        for name, measured in MEASURED.items()
        for clocks, memory in zip(measured, MEMORIES.values(), strict=True)
    ]
    assert np.mean(errors) < 0.05


@pytest.mark.plan("performance-5")
def test_one_station_alone_decides():
    """Clocks beyond the way through the machine are those of the slowest station."""
    way = predict(made(tiles(1))).clocks
    count = 4000
    for beats, station, clocks in (
        (tiles(count), "raster", count),
        (tiles(count, 5, shaded=True, built_in=True, attributes=1), "pixels", 5 * count),
        (tiles(count, 5, shaded=True, built_in=True, attributes=3), "pixels", 15 * count),
        (
            tiles(count, 1, count, shaded=True, built_in=True, attributes=2),
            "fetch",
            6 * count,
        ),
        (tiles(count, shaded=True, groups=3), "colour", 3 * count),
    ):
        found = predict(made(beats))
        assert found.holding == station
        assert clocks <= found.clocks <= clocks + way + 200
        assert predict(made(beats), free=[station]).clocks < 0.9 * found.clocks or (
            station == "raster"
        )


@pytest.mark.plan("performance-5")
def test_rasterizers_share_tiles():
    """Tiles of a checkerboard: each of two has half of them, in order."""
    beats = tiles(8192)
    beats["x"] = np.arange(8192) % 64
    one, two, eight = (
        predict(made(beats), MachineParams(rasterizers=n, pixel_pipes=n)).clocks for n in (1, 2, 8)
    )
    assert 0.5 <= two / one < 0.55
    assert eight < 0.2 * one
    # Tiles of one column belong to one of eight.
    beats["x"] = beats["y"] = 0
    assert predict(made(beats), MachineParams(rasterizers=8, pixel_pipes=8)).clocks == one


@pytest.mark.plan("performance-5")
def test_slots_of_the_ring_hold_the_reader():
    """Vertices wait until a RELEASE before them has come out at the end."""
    beats = np.concatenate([tiles(64, triangles=64), np.zeros(1, BEAT), tiles(64, triangles=64)])
    beats["kind"][64] = Beat.RELEASE
    beats["triangle"][65:] += 64
    packets = [
        (Opcode.VERTICES, 65, 64, 0),
        (Opcode.RELEASE, 1, 64, 64),
        (Opcode.VERTICES, 65, 64, 65),
    ]
    told = made(beats, packets)
    small = predict(told, MachineParams(queues=QueueParams(slots=64)))
    large = predict(told, MachineParams(queues=QueueParams(slots=128)))
    assert small.waits["slots"] > 200
    assert not large.waits["slots"]
    assert small.clocks > large.clocks + 200


@pytest.mark.plan("performance-5")
def test_memory_decides_where_all_tiles_miss():
    """Raw tiles of six transfers: each takes 6 x 1.28 clocks to read, 6 x 1.6 to write."""
    count = 4000
    uses = [(n, n % 4096, True, True, True, 6) for n in range(count)]
    again = [(count + n, n % 4096, True, True, True, 6) for n in range(count)]
    told = made(tiles(2 * count), uses=uses + again)
    found = predict(told)
    assert found.holding == "depth write"
    assert found.clocks > 1.6 * 6 * count
    # All come back, 1,024 stay; the clear writes 64 lines of modes.
    assert found.bytes["depth"] == 192 * (count + 2 * count - 1024) + 64 * 32
    assert found.clocks <= predict(told, MachineParams(memory=FAR)).clocks
    faster = MemoryParams((0, 8), 0.5, 0.5, 0.5)
    assert predict(told, MachineParams(memory=faster)).clocks < 0.5 * found.clocks
    # One channel for all takes at least all of its transfers.
    shared = predict(told, MachineParams(memory=replace(NEAR, shared=True)))
    assert shared.clocks > 0.99 * (1.28 * 6 * count + 1.6 * 6 * (2 * count - 1024))
    # Where all of them stay on chip, none is read.
    whole = predict(told, MachineParams(cache=CacheParams(sets=1024, ways=4)))
    assert whole.clocks < 0.5 * found.clocks


@pytest.mark.plan("performance-5")
def test_a_blended_tile_that_is_filled_takes_all_groups():
    count = 1000
    beats = tiles(count, shaded=True, groups=1)
    fills = [(n, n, True, True, True, 1) for n in range(count)]
    hits = [(n, 0, True, True, True, 1) for n in range(count)]
    filled = predict(made(beats, uses=fills, plane="colour"))
    known = predict(made(beats, uses=hits, plane="colour"))
    assert filled.busy["colour"] == 4 * count
    assert known.busy["colour"] == 4 + count - 1
    assert predict(made(beats), MachineParams(lanes=2)).busy["colour"] == count


@pytest.mark.plan("performance-5")
def test_the_pixel_pipe_stops_where_colours_wait():
    """Each hundredth tile comes from far memory; a pipe that held all colours would not wait."""
    count = 3000
    beats = tiles(count, 8, shaded=True, built_in=True, attributes=1)
    beats["groups"] = 0
    uses = [(n, n % 1500, True, True, True, 6) for n in range(count)]
    told = made(beats, uses=uses, plane="colour")
    small, quads, waiting = (
        predict(told, MachineParams(memory=FAR, queues=QueueParams(colours=4, **queues)))
        for queues in (
            {"pipe": 72, "dispatch": 1},
            {"pipe": 1 << 20, "dispatch": 1},
            {"pipe": 72, "dispatch": count},
        )
    )
    assert small.clocks > 1.05 * quads.clocks
    assert small.clocks > 1.05 * waiting.clocks


@pytest.mark.plan("performance-5")
def test_a_late_tile_is_tested_twice():
    count = 4000
    found = predict(made(tiles(count, late=True)))
    assert found.holding == "depth"
    assert found.busy["depth"] == 2 * count
    assert found.clocks >= 2 * count


@pytest.mark.plan("performance-5")
def test_what_is_behind_a_fence_waits_until_it_has_come_out():
    fence = np.zeros(1, BEAT)
    fence["kind"] = Beat.FENCE
    before, behind = tiles(64), tiles(64)
    behind["triangle"] += 1
    first = predict(made(np.concatenate([before, fence]))).clocks
    both = predict(made(np.concatenate([before, fence, behind]))).clocks
    assert both >= first + predict(made(behind)).clocks


@pytest.mark.plan("performance-5")
def test_triangles_that_are_never_shaded_free_their_rows_by_a_fence():
    """64 triangles through a table of 16: three times nothing is read until all are out."""
    told = made(tiles(64, triangles=64, built_in=True))
    small = predict(told, MachineParams(queues=QueueParams(triangles=16)))
    large = predict(told, MachineParams(queues=QueueParams(triangles=64)))
    way = predict(made(tiles(1))).clocks
    assert not large.waits["rows"]
    assert small.waits["rows"] > 3 * way
    assert small.clocks > large.clocks + 3 * way


@pytest.mark.plan("performance-5")
def test_each_rasterizer_brings_a_port():
    count = 4000
    told = made(tiles(count), uses=[(n, n % 4096, True, True, True, 6) for n in range(count)])
    one, two = (predict(told, MachineParams(rasterizers=n)).busy for n in (1, 2))
    for way in ("depth read", "depth write"):
        assert two[way] == pytest.approx(one[way] / 2)


@pytest.mark.plan("performance-5")
def test_a_victim_whose_write_back_is_under_way_is_read_on_chip():
    """Three tiles in turn through a cache of one; far memory answers late."""
    told = made(tiles(90), uses=[(n, n % 3, True, True, True, 6) for n in range(90)])
    caches = [CacheParams(sets=1, ways=1, victims=n) for n in (512, 1)]
    kept, left = (predict(told, MachineParams(memory=FAR, cache=it)) for it in caches)
    assert left.busy["depth read"] == pytest.approx(87 * 6 * FAR.read_clocks)
    assert kept.busy["depth read"] < 0.6 * left.busy["depth read"]
    assert kept.bytes == left.bytes


@pytest.mark.plan("performance-5")
def test_reads_of_a_shared_channel_have_what_writes_leave():
    """The pixel pipe takes 40 clocks of a tile, so that the channel is never full."""
    count = 2000
    beats = tiles(count, 40, shaded=True, built_in=True, attributes=1)
    uses = [(n, n % (count // 2), True, True, True, 6) for n in range(count)]
    told = made(beats, uses=uses)
    cache = CacheParams(sets=1)
    alone = predict(told, MachineParams(cache=cache))
    shared = predict(told, MachineParams(cache=cache, memory=replace(NEAR, shared=True)))
    for way, other in (("depth read", "depth write"), ("depth write", "depth read")):
        left = 1 - alone.utilisation[other]
        assert 0.5 < left < 1
        assert shared.busy[way] == pytest.approx(alone.busy[way] / left)


@pytest.mark.plan("performance-5")
def test_reads_in_flight_hide_latency():
    """With one read in flight, each of the tiles that come back takes its latency."""
    count = 300
    uses = [(n, n % count, True, True, True, 6) for n in range(2 * count)]
    told = made(tiles(2 * count), uses=uses)
    caches = [CacheParams(sets=1, victims=1, reads=n) for n in (1, 2, 256)]
    one, two, many = (predict(told, MachineParams(memory=FAR, cache=it)).clocks for it in caches)
    assert one > 400 * count
    assert 0.45 * one < two < 0.6 * one
    assert many < 0.1 * one


@pytest.mark.plan("performance-6")
def test_a_clear_that_fetches_more_tiles_than_reads_in_flight_ends():
    """A clear of a part of a target asks for all of its tiles at once."""
    count = 8
    beats = tiles(count + 1)
    beats["kind"][count] = Beat.CLEAR
    uses = [(min(n, count), n % count, True, True, True, 6) for n in range(2 * count)]
    few = CacheParams(sets=1, ways=1, reads=1)
    assert predict(made(beats, uses=uses), MachineParams(cache=few)).clocks > 0


@pytest.mark.plan("performance-6")
def test_frames_without_anything():
    found = predict(made(np.zeros(0, BEAT)))
    assert found.clocks == 0
    assert not any(found.busy.values())


@pytest.mark.plan("performance-6")
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: MachineParams(rasterizers=0), "rasterizers must lie in 1..2"),
        (lambda: MachineParams(rasterizers=65), "rasterizers must be at most 64, not 65"),
        (lambda: MachineParams(clock=0.0), "clock must be above 0, not 0.0"),
        (lambda: MachineParams(clock="fast"), "clock must be a number, not fast"),
        (lambda: CacheParams(sets=3), "sets must be a power of two, not 3"),
        (lambda: QueueParams(slots=0), "slots must lie in 1..2"),
        (lambda: MemoryParams((8, 0)), "latency must be two numbers of clocks in order"),
        (lambda: MemoryParams(read_clocks=-1.0), "read_clocks must be above 0"),
        (
            lambda: predict(made(tiles(1)), free=["shader"]),
            "free must be of commands, reader, raster",
        ),
    ],
)
def test_parameters_that_are_none(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
