# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.surface import PLANE_BITS, plane_bytes, tiles_of
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.frontend import command_reader as rtl
from fixfunc.spec import commands
from fixfunc.spec.commands import STATUS, CommandError, Opcode
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat, Kind
from fixfunc.tb.frontend import command_reader as bench
from fixfunc.tb.frontend import streams, texture_edges
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check, check_outputs, check_paces, volume

BLOCK = "command_reader"
LIMIT = 1 << 20
AT = 1 << 18
ALL_PLANES = {
    "depth": 1,
    "stencil": 1,
    "colour": 1,
    "depth_value": 5,
    "stencil_value": 6,
    "colour_value": 0x12345678,
}


def cleared(packets, state=None, **fields):
    """Packets of a target, its state and a clear of all of it."""
    state = draw_state(40, 24) if state is None else state
    size = int(state["target_width"]), int(state["target_height"])
    clear = ALL_PLANES | fields
    return packets.target(0, 1 << 14, 1 << 15).state(state).clear((0, 0, *size), **clear)


def read_packets(packets, limits=None, at=AT, limit=LIMIT):
    """The result of reading packets at an address."""
    memory = np.zeros(LIMIT, np.uint8)
    transfers = packets.transfers
    memory[AT : AT + 32 * len(transfers)] = np.ascontiguousarray(transfers).view(np.uint8).ravel()
    return read(memory, at, len(transfers), limit, limits)


@pytest.mark.plan("command-reader-1")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stencil_value": 256}, "stencil_value must lie in 0..255, not 256"),
        ({"stencil_value": -1}, "stencil_value must lie in 0..255, not -1"),
        ({"depth_value": 0.5}, "depth_value must be an integer, not 0.5"),
        ({"depth_value": 1 << 80}, "depth_value must lie in 0.."),
        ({"colour": 1, "color_value": 0}, "packet field must be one of"),
    ],
)
def test_packets_hold_what_was_said_or_none_is_written(fields, message):
    packets = CommandList()
    with pytest.raises(InputError, match=message):
        packets.clear((0, 0, 8, 8), **fields)
    assert not packets.parts


@pytest.mark.plan("command-reader-1")
@pytest.mark.parametrize("least", [0, -1 << 38])
def test_packets_that_were_written_are_read(least):
    """Depths below zero have upper bits, which take a transfer for every eight triangles."""
    rng = np.random.default_rng(0)
    state = draw_state(40, 24, 4, viewport=(-7, -8, 30, 20), bias_constant=0xFFFFFFF0, state=9)
    triangles = np.zeros(50, TRIANGLE)
    for name in ("x0", "y0", "x1", "y1", "x2", "y2"):
        triangles[name] = rng.integers(-1 << 23, 1 << 23, 50)
    triangles["z0"] = rng.integers(least, 1 << 32, 50)
    triangles["slot"] = rng.integers(0, 1 << 12, 50)
    result = read_packets(cleared(CommandList(), state).triangles(triangles).fence(77, 1))
    kinds = [kind for kind, _ in result.beats]
    assert kinds == [Kind.STATE, Kind.CLEAR, Kind.WORK, Kind.FENCE]
    assert result.error == CommandError.NONE
    assert result.at == 1 + 2 + 1 + 51 + 1 + (7 if least else 0)
    assert result.beats[0][1][0] == state
    assert all(result.beats[1][1][name][0] == value for name, value in ALL_PLANES.items())
    assert result.beats[1][1]["stencil_base"][0] == 1 << 14
    read_back = result.beats[2][1]
    assert (read_back["state"] == 9).all()
    assert all(
        (read_back[name] == triangles[name]).all() for name in TRIANGLE.names if name != "state"
    )
    assert [result.beats[3][1][name][0] for name in ("sequence", "flush", "slot")] == [77, 1, 1]


def broken(change):
    """A draw state that was not checked."""
    state = draw_state(40, 24)
    for name, value in change.items():
        state[name] = value
    return state


BROKEN = [
    {"target_width": 0},
    {"target_height": 4000},
    {"samples": 3, "target_width": 1 << 14},
    {"viewport_x0": 50},
    {"viewport_x1": 32768 + 9},
    {"viewport_y0": -32769},
    {"scissor_y0": 30},
    {"scissor_x1": 16385},
    {"cull": 3},
    {"depth_format": 3},
    {"depth_min": 9, "depth_max": 8},
    {"depth_min": 1 << 24, "depth_max": 1 << 25},
    {"bias_slope": 0x7F800000},
    {"bias_clamp": 0xFFC00000},
    {"blend_enable": 1, "src_blend": 0},
    {"blend_enable": 1, "dest_blend": 12},
    {"blend_enable": 1, "src_blend_alpha": 13},
    {"blend_enable": 1, "dest_blend_alpha": 16},
    {"blend_enable": 1, "blend_op": 0},
    {"blend_enable": 1, "blend_op_alpha": 6},
    {"colour_format": 0},
    {"colour_format": Format.R8G8B8A8_UNORM_SRGB},
    {"colour_format": Format.R16G16_UNORM},
]


@pytest.mark.plan("command-reader-2")
@pytest.mark.parametrize("change", BROKEN)
def test_unsupported_states(change):
    result = read_packets(CommandList().state(broken(change)))
    assert (result.error, result.at, len(result.beats)) == (CommandError.STATE, 0, 1)


@pytest.mark.plan("command-reader-2")
def test_hardware_refuses_the_same_states():
    """Every broken state is refused; the one that they were made of is not."""
    rows = []
    at = streams.LISTS
    for change in [{}, *BROKEN]:
        transfers = CommandList().state(broken(change)).transfers
        start = np.array([(at, len(transfers), streams.SIZE)], dtype(commands.START))
        rows += [streams.mark(start), transfers]
        at += 32 * len(transfers)
    assert len(check(BLOCK, "tiny", np.concatenate(rows))) == 1 + 1 + len(BROKEN)


@pytest.mark.plan("command-reader-2")
def test_stencil_without_stencil():
    packets = CommandList().state(broken({"stencil_test": 1}))
    assert read_packets(packets).error == CommandError.NONE
    assert read_packets(packets, CommandLimits(stencil=False)).error == CommandError.STATE


@pytest.mark.plan("command-reader-3")
@pytest.mark.parametrize(
    ("packets", "error", "at"),
    [
        (CommandList().add(0, commands.PACKET), CommandError.OPCODE, 0),
        (cleared(CommandList()).add(200, commands.PACKET), CommandError.OPCODE, 4),
        (CommandList().add(Opcode.TARGET, commands.PACKET, 0), CommandError.LENGTH, 0),
        (CommandList().add(Opcode.TARGET, commands.PACKET, 2), CommandError.LENGTH, 0),
        (cleared(CommandList()).add(Opcode.TRIANGLES, commands.PACKET, 3), CommandError.LENGTH, 4),
        (CommandList().clear((0, 0, 9, 9), **ALL_PLANES), CommandError.ORDER, 0),
        (
            CommandList().state(draw_state(9, 9)).triangles(np.zeros(1, TRIANGLE)),
            CommandError.ORDER,
            2,
        ),
        (CommandList().state(draw_state(9, 9)).clear((0, 0, 9, 9), depth=1), CommandError.ORDER, 2),
        (
            CommandList().state(draw_state(9, 9)).clear((0, 0, 9, 8), **ALL_PLANES),
            CommandError.ORDER,
            2,
        ),
        (
            cleared(CommandList()).state(draw_state(41, 24)).triangles(np.zeros(1, TRIANGLE)),
            CommandError.ORDER,
            6,
        ),
        (cleared(CommandList(), depth_value=1 << 24), CommandError.STATE, 3),
        (
            CommandList()
            .target(128, 0, 0)
            .state(draw_state(9, 9))
            .clear((0, 0, 9, 9), **ALL_PLANES),
            CommandError.ADDRESS,
            3,
        ),
        (
            CommandList()
            .target(0, 0, LIMIT - 256)
            .state(draw_state(9, 9))
            .clear((0, 0, 9, 9), **ALL_PLANES),
            CommandError.ADDRESS,
            3,
        ),
    ],
)
def test_packets_that_break_a_rule(packets, error, at):
    result = read_packets(packets)
    assert (result.error, result.at) == (error, at)
    assert result.beats[-1][1]["slot"][0] == 1


@pytest.mark.plan("command-reader-3")
@pytest.mark.parametrize(
    "change",
    [
        {"target": 1},
        {"target_width": 39},
        {"target_height": 25},
        {"samples": 1},
        {"depth_format": DepthFormat.D16},
        {"depth_format": DepthFormat.D32F},
    ],
    ids="-".join,
)
def test_a_target_that_differs_in_anything_has_not_been_cleared(change):
    """Neither side draws on it; on one that differs in nothing both do."""
    for fields, error, beats in ((change, CommandError.ORDER, 4), ({}, CommandError.NONE, 5)):
        packets = cleared(CommandList()).state(broken({"depth_max": 0} | fields))
        packets.triangles(np.zeros(1, TRIANGLE))
        assert read_packets(packets).error == error
        transfers = packets.transfers
        start = np.array([(streams.LISTS, len(transfers), streams.SIZE)], dtype(commands.START))
        assert (
            len(check(BLOCK, "default", np.concatenate([streams.mark(start), transfers]))) == beats
        )


@pytest.mark.plan("command-reader-4")
def test_a_plane_may_end_at_the_limit():
    state = draw_state(40, 24)
    last = LIMIT - plane_bytes(tiles_of(state), "colour")
    for base, error in (
        (last // 256 * 256, CommandError.NONE),
        (last // 256 * 256 + 256, CommandError.ADDRESS),
    ):
        packets = (
            CommandList().target(0, 1 << 14, base).state(state).clear((0, 0, 40, 24), **ALL_PLANES)
        )
        assert read_packets(packets).error == error


SIZES = {plane: plane_bytes(tiles_of(draw_state(40, 24)), plane) for plane in PLANE_BITS}


def behind(plane, base):
    """The first boundary behind a plane."""
    return -(-(base + SIZES[plane]) // 256) * 256


STENCIL = behind("depth", 0)
COLOUR = behind("stencil", STENCIL)
BEFORE = (AT - SIZES["colour"]) // 256 * 256  # of a colour plane in front of the packets
DENSE = 0, STENCIL, COLOUR


@pytest.mark.plan("command-reader-11")
@pytest.mark.parametrize(
    ("bases", "moved", "at"),
    [
        (DENSE, DENSE, None),
        ((0, STENCIL - 256, COLOUR), DENSE, 3),
        ((0, STENCIL, COLOUR - 256), DENSE, 3),
        ((AT, STENCIL, COLOUR), DENSE, 3),
        ((0, STENCIL, BEFORE), DENSE, None),
        ((0, STENCIL, BEFORE + 256), DENSE, 3),
        # The planes that are not cleared again stay where they were.
        (DENSE, (AT, AT, BEFORE), None),
        (DENSE, (AT, AT, BEFORE + 256), 5),
        (DENSE, (AT, AT, AT), 5),
        (DENSE, (AT, AT, AT + 256), None),
        (DENSE, (AT, AT, STENCIL), 5),
    ],
)
def test_planes_do_not_overlap(bases, moved, at):
    """A clear of all planes, then one of the colours in another place: both sides agree."""
    packets = CommandList().target(*bases).state(draw_state(40, 24))
    packets.clear((0, 0, 40, 24), **ALL_PLANES).target(*moved).clear((0, 0, 40, 24), colour=1)
    end = len(packets.transfers)
    result = read_packets(packets)
    error = CommandError.NONE if at is None else CommandError.OVERLAP
    assert (result.error, result.at) == (error, end if at is None else at)

    rows = packets.transfers.copy()
    for n, places in ((0, bases), (4, moved)):
        high = [base + streams.LISTS - AT for base in places]
        rows[n, :2] = CommandList().target(*high).transfers[0, :2]
    start = np.array([(streams.LISTS, end, streams.SIZE)], dtype(commands.START))
    beats = check(BLOCK, "default", np.concatenate([streams.mark(start), rows]))
    assert len(beats) == {3: 2, 5: 3, None: 4}[at]


@pytest.mark.plan("command-reader-4")
@pytest.mark.parametrize(("at", "limit"), [(AT + 4, LIMIT), (LIMIT - 32, LIMIT), (AT, AT + 32)])
def test_a_start_beyond_memory(at, limit):
    assert read_packets(cleared(CommandList()), at=at, limit=limit).error == CommandError.ADDRESS
    assert read(np.zeros(64, np.uint8), 0, 0, 64).error == CommandError.ADDRESS


@pytest.mark.plan("command-reader-5")
@given(st.binary(min_size=32, max_size=320), st.integers(0, 7))
def test_any_bytes_end(data, opcode):
    """Reading any bytes ends within them, with a FENCE."""
    memory = np.frombuffer(data[: len(data) // 32 * 32], np.uint8).copy()
    memory[0] = opcode
    result = read(memory, 0, len(memory) // 32, len(memory))
    assert 0 <= result.at <= len(memory) // 32
    assert result.beats[-1][0] == Kind.FENCE


@pytest.mark.plan("command-reader-6")
@pytest.mark.parametrize(
    ("transfer", "at", "beats", "beyond"),
    [
        *((0, 0, 1, 0), (1, 1, 1, 0), (2, 1, 1, 0), (3, 3, 2, 0), (4, 4, 3, 0), (5, 4, 3, 0)),
        *((13, 4, 11, 0), (14, 14, 12, 0)),
        *((5, 4, 3, 1), (6, 4, 3, 1), (14, 4, 11, 1), (15, 4, 11, 1), (16, 16, 12, 1)),
    ],
)
def test_memory_that_cannot_be_read(transfer, at, beats, beyond):
    """Packets before the fault are passed on; reading stops with an error, at its packet."""
    shape = bench.shape_of(rtl.CONFIGS["tiny"])
    rows = streams.one_list(np.random.default_rng(1), 9, shape, beyond=beyond)
    fence = CommandList().fence(1).transfers
    start = np.array([(streams.LISTS, len(rows), streams.SIZE)], dtype(commands.START))
    rows = np.concatenate([streams.mark(start), rows[1:], fence])
    data = bench.memory(rows, rtl.CONFIGS["tiny"])
    faults = streams.LISTS + 32 * transfer, (1 << 64) - 1
    run = volume(BLOCK, "tiny").run(
        bench.inputs(rows, rtl.CONFIGS["tiny"]),
        100,
        memory=Memory(data, faults=faults),
        limit=100_000,
    )
    status = codec.unpack(run.outputs["status"], STATUS, dtype(STATUS))[0]
    assert status["error"] == CommandError.READ
    assert status["at"] == at
    assert len(run.outputs["o"]) == beats


@pytest.mark.plan("command-reader-10")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"colour_formats": ()}, r"colour_formats must be some of .*, each once, R8G8B8A8_UNORM"),
        ({"pixels": 0}, r"pixels must lie in 1\.\.16384, not 0"),
        ({"edge": 6}, "edge must be"),
        ({"samples": 5}, "samples must be"),
        ({"resolve_samples": 3}, "resolve_samples must be one of 0, 1, 2, 4, 8, not 3"),
        ({"ahead": 16}, "ahead must be a multiple of 16 above it, not 16"),
        ({"ahead": 40}, "ahead must be a multiple of 16 above it, not 40"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(ValueError, match=message):
        rtl.CommandReaderParams(**fields)


@pytest.mark.plan("command-reader-9")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("command-reader-7")
@pytest.mark.parametrize("config", by_tier(["tiny", "tiny_ring", "default"], also=["default"]))
def test_volume(config):
    check_paces(BLOCK, config, 600)


@pytest.mark.plan("command-reader-4")
@pytest.mark.parametrize("config", ["tiny", "tiny_ring"])
def test_edges_of_the_rules(config):
    """Hundreds of streams, most of them at the edge of a rule."""
    rows = bench.requests(np.random.default_rng(3), 8000, rtl.CONFIGS[config])
    check(BLOCK, config, rows)


@pytest.mark.plan("command-reader-4")
def test_textures_at_the_edges_of_the_rules():
    params = bench.shape_of(rtl.CONFIGS["tiny_ring"])
    rows = texture_edges.requests(np.random.default_rng(5), 12_000, params)
    outputs = check_outputs(BLOCK, "tiny_ring", rows, ("full", "full"), 0)
    errors = Counter(bench.errors(outputs))
    assert min(errors[kind] for kind in (CommandError.STATE, CommandError.ADDRESS)) > 50
