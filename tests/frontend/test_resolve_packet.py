# SPDX-License-Identifier: BSD-2-Clause
"""RESOLVE packets: which are refused, in the golden model and in hardware."""

import dataclasses
import itertools

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference.top import limits_of
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.surface import plane_bytes, tiles_of
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.frontend import command_reader as rtl
from fixfunc.spec import commands
from fixfunc.spec.colours import RESOLVE
from fixfunc.spec.commands import CommandError, Opcode
from fixfunc.tb.frontend import command_reader as bench
from fixfunc.tb.frontend import edges, streams
from tests.volume import check_outputs

BLOCK = "command_reader"
SIZE = 40, 24
SAMPLES = 2  # log2
SOURCE_BYTES = plane_bytes(tiles_of(draw_state(*SIZE, 1 << SAMPLES)), "colour")
TARGET_BYTES = plane_bytes(tiles_of(draw_state(*SIZE)), "colour")
PLANES = 0, 1 << 14, 1 << 15  # of a target that is drawn
SOURCE = 1 << 16
FREE = 1 << 17
FIELDS = {
    "samples": SAMPLES,
    "width": SIZE[0],
    "height": SIZE[1],
    "source": SOURCE,
    "target": FREE,
    "source_cleared": 0x12345678,
    "target_cleared": 0xFEDCBA98,
    "srgb": 0,
}


def up(value):
    """The next boundary of planes."""
    return -(-value // commands.ALIGNED) * commands.ALIGNED


def drawn(packets=None, size=SIZE):
    """A target that has been cleared, and a FENCE behind it."""
    packets = packets or CommandList()
    packets.target(*PLANES).state(draw_state(*size))
    return packets.clear((0, 0, *size), depth=1, stencil=1, colour=1).fence(1)


def both(packets, limit=streams.SIZE, config="default"):
    """Read by the golden model and by hardware, which agree: what the first says."""
    params = rtl.CONFIGS[config]
    transfers = packets.transfers
    start = np.array([(streams.LISTS, len(transfers), limit)], dtype(commands.START))
    rows = np.concatenate([streams.mark(start), transfers])
    check_outputs(BLOCK, config, rows, ("full", "full"), 0)
    limits = limits_of(bench.shape_of(params))
    return read(bench.memory(rows, params), streams.LISTS, len(transfers), limit, limits)


@pytest.mark.plan("command-reader-14")
def test_what_is_asked_for_is_what_the_packet_says():
    result = both(CommandList().resolve(**FIELDS).resolve(**FIELDS | {"width": 1}))
    assert (result.error, len(result.beats)) == (CommandError.NONE, 1)
    assert [(n, int(request["width"])) for n, request in result.resolves] == [(0, SIZE[0]), (0, 1)]
    for field in RESOLVE:
        assert result.resolves[0][1][field.name] == FIELDS[field.name]


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"width": 0}, CommandError.STATE),
        ({"height": 0}, CommandError.STATE),
        ({"width": 2049, "height": 1}, CommandError.STATE),
        ({"height": 2049, "width": 1}, CommandError.STATE),
        ({"source": SOURCE + 128}, CommandError.ADDRESS),
        ({"target": FREE + 32}, CommandError.ADDRESS),
        ({"source": up(streams.SIZE - SOURCE_BYTES)}, CommandError.ADDRESS),
        ({"target": up(streams.SIZE - TARGET_BYTES)}, CommandError.ADDRESS),
        ({"source": (1 << 32) - 256}, CommandError.ADDRESS),
        ({"source": up(streams.SIZE - SOURCE_BYTES) - 256}, CommandError.NONE),
        ({"target": up(streams.SIZE - TARGET_BYTES) - 256}, CommandError.NONE),
        # The target, and what it must not lie on.
        ({"target": SOURCE}, CommandError.OVERLAP),
        ({"target": up(SOURCE + SOURCE_BYTES) - 256}, CommandError.OVERLAP),
        ({"target": up(SOURCE + SOURCE_BYTES)}, CommandError.NONE),
        ({"source": FREE - SOURCE_BYTES // 256 * 256}, CommandError.OVERLAP),
        ({"source": FREE - up(SOURCE_BYTES)}, CommandError.NONE),
        ({"source": up(FREE + TARGET_BYTES)}, CommandError.NONE),
        ({"source": up(FREE + TARGET_BYTES) - 256}, CommandError.OVERLAP),
        ({"target": streams.LISTS}, CommandError.OVERLAP),
        ({"target": streams.LISTS - up(TARGET_BYTES)}, CommandError.NONE),
        ({"target": streams.LISTS - up(TARGET_BYTES) + 256}, CommandError.OVERLAP),
        ({"source": streams.LISTS}, CommandError.NONE),
    ],
)
def test_a_rule(change, error):
    result = both(CommandList().fence(1).resolve(**FIELDS | change))
    assert (result.error, result.at) == (error, 1 if error else 2)
    assert len(result.resolves) == (error == CommandError.NONE)


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize("samples", range(4))
def test_samples_that_the_unit_does_not_know(samples):
    packets = CommandList().resolve(**FIELDS | {"samples": samples})
    error = CommandError.NONE if samples <= 1 else CommandError.STATE
    assert both(packets, config="tiny").error == error


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize(
    ("config", "error"),
    [("default", CommandError.STATE), ("tiny_planes", CommandError.NONE)],
)
def test_srgb_is_known_where_planes_may_be_srgb(config, error):
    result = both(CommandList().resolve(**FIELDS | {"srgb": 1}), config=config)
    assert result.error == error
    assert [int(request["srgb"]) for _, request in result.resolves] == [1] * (
        error == CommandError.NONE
    )


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize(
    ("first", "second"), [*itertools.combinations(("order", "state", "address", "overlap"), 2)]
)
def test_the_first_rule_that_is_broken_is_told(first, second):
    broken = {
        "order": {},
        "state": {"width": 0},
        "address": {"source": SOURCE + 128},
        "overlap": {"target": streams.LISTS},
    }
    packets = drawn()
    if first == "order":
        packets.triangles(np.zeros(1, TRIANGLE))
    packets.resolve(**FIELDS | broken[second] | broken[first])
    assert both(packets).error == CommandError[first.upper()]


@pytest.mark.plan("command-reader-14")
def test_colour_planes_are_not_resolved_to():
    """But for those that the target does not have, as none of them has been cleared."""
    at = 1 << 16
    apart = FIELDS | {"samples": 0, "source": FREE, "target": at}
    begun = drawn().target(*PLANES[:2], at, 1).clear((0, 0, *SIZE), colour=1, colour_plane=1)
    for packets, error in ((begun.fence(2), CommandError.OVERLAP), (drawn(), CommandError.NONE)):
        assert both(packets.resolve(**apart), config="tiny_planes").error == error


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize("plane", range(3))
@pytest.mark.parametrize("fences", [0, 1])
def test_planes_that_are_drawn_on_are_not_resolved_to(plane, fences):
    """Their caches would not know; beside them a draw goes on behind the RESOLVE."""
    triangles = np.zeros(1, TRIANGLE)
    for target, error in ((FREE, CommandError.NONE), (PLANES[plane], CommandError.OVERLAP)):
        packets = drawn()
        for _ in range(fences):
            packets.fence(2)
        packets.resolve(**FIELDS | {"target": target}).triangles(triangles)
        result = both(packets)
        assert result.error == error
        assert len(result.resolves) == (error == CommandError.NONE)


@pytest.mark.plan("command-reader-14")
@pytest.mark.parametrize("plane", range(3))
def test_planes_lie_where_they_were_cleared(plane):
    """Not where a TARGET says since: no clear has moved them, whatever bits the RESOLVE has."""
    moved = [*PLANES]
    moved[plane] = FREE
    for target, error in ((FREE, CommandError.NONE), (PLANES[plane], CommandError.OVERLAP)):
        packets = drawn().target(*moved)
        # In a CLEAR these samples and an odd width would mean all three planes.
        packets.resolve(**FIELDS | {"samples": 3, "width": SIZE[0] - 1, "target": target})
        assert both(packets).error == error


@pytest.mark.plan("command-reader-14")
def test_a_target_that_is_not_in_force_ends():
    """Its planes may have been resolved to: it is cleared before it is drawn on again."""
    triangles = np.zeros(1, TRIANGLE)
    packets = drawn().state(draw_state(9, 9)).resolve(**FIELDS | {"target": 0})
    assert both(packets).error == CommandError.NONE
    assert both(packets.state(draw_state(*SIZE)).triangles(triangles)).error == CommandError.ORDER
    again = drawn(drawn().state(draw_state(9, 9)).resolve(**FIELDS | {"target": 0}))
    assert both(again.triangles(triangles)).error == CommandError.NONE


@pytest.mark.plan("command-reader-14")
def test_it_stands_behind_a_fence():
    """Or what it reads may not be in memory yet. A draw state writes nothing."""
    triangles = np.zeros(1, TRIANGLE)
    assert both(drawn().state(draw_state(*SIZE)).resolve(**FIELDS)).error == CommandError.NONE
    drawing = drawn().triangles(triangles)
    assert both(drawing.resolve(**FIELDS)).error == CommandError.ORDER
    clearing = drawn().clear((0, 0, 1, 1), depth=1)
    assert both(clearing.resolve(**FIELDS)).error == CommandError.ORDER
    fenced = drawn().triangles(triangles).fence(2)
    assert both(fenced.resolve(**FIELDS)).error == CommandError.NONE
    nothing = drawn().triangles(triangles[:0])
    assert both(nothing.resolve(**FIELDS)).error == CommandError.NONE


@pytest.mark.plan("command-reader-14")
def test_its_length():
    packets = CommandList().add(Opcode.RESOLVE, commands.RESOLVE_PACKET, 2).fence(1)
    assert both(packets).error == CommandError.LENGTH


@pytest.mark.plan("command-reader-14")
def test_a_reader_without_it():
    packets = CommandList().resolve(**FIELDS)
    data = np.zeros(1 << 18, np.uint8)
    data[: 32 * len(packets.transfers)] = packets.transfers.view(np.uint8).ravel()
    limits = CommandLimits(resolve_samples=0)
    assert read(data, 0, 1, len(data), limits).error == CommandError.OPCODE
    params = dataclasses.replace(rtl.CONFIGS["tiny"], resolve_samples=0)
    assert "resolve" not in rtl.CommandReader(params).signature.members


@pytest.mark.plan("command-reader-7")
def test_random_streams_reach_every_rule():
    """Every way in which a RESOLVE ends, and many that are executed."""
    params = rtl.CONFIGS["tiny"]
    ends = set()
    executed = 0
    for seed in (2, 3):
        rows = edges.requests(np.random.default_rng(seed), 20_000, bench.shape_of(params))
        out = bench.expected(rows, params)
        executed += len(out["resolve"])
        status = codec.unpack(out["status"], commands.STATUS, dtype(commands.STATUS))
        for (_, transfers), word in zip(streams.starts(rows), status, strict=True):
            at = int(word["at"])
            if at < len(transfers) and int(transfers[at, 0]) & 0xFF == Opcode.RESOLVE:
                ends.add(CommandError(word["error"]))
    assert ends >= {
        CommandError.STATE,
        CommandError.ADDRESS,
        CommandError.ORDER,
        CommandError.OVERLAP,
    }
    assert executed > 40
