# SPDX-License-Identifier: BSD-2-Clause
"""Rules of the command stream for several colour planes: golden and hardware."""

import dataclasses

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference.top import limits_of
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.frontend import command_reader as rtl
from fixfunc.spec.colours import COLOUR_FORMATS
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.state import Kind
from fixfunc.tb.frontend import command_reader as bench
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.streams import LISTS, PLANE, SIZE
from tests.plane_formats import REFUSED, legal, unchecked
from tests.volume import check_outputs, check_paces

BLOCK = "command_reader"
CONFIG = "tiny_planes"
PARAMS = rtl.CONFIGS[CONFIG]
TARGET = 24, 24
COLOUR = 2 * PLANE
OTHER = COLOUR + PLANE // 8  # of plane 1
THIRD = COLOUR + PLANE // 4


def state(plane=0, size=TARGET, **fields):
    made = draw_state(*size, **fields)
    made["slot"] = plane
    return made


def placed(packets, plane, base, size=TARGET):
    """The same packets, and a colour plane that begins at an address: a clear of all of it."""
    packets.target(0, PLANE, base, plane)
    return packets.clear((0, 0, *size), colour=1, colour_plane=plane)


def begun(*planes, size=TARGET):
    """A target, with states for these planes too, which have been cleared."""
    packets = CommandList().target(0, PLANE, COLOUR).state(state(size=size))
    packets.clear((0, 0, *size), depth=1, stencil=1, colour=1)
    for plane in planes:
        placed(packets, plane, COLOUR + plane * PLANE // 8, size).state(state(plane, size))
    return packets


def drawing(packets):
    return packets.triangles(np.zeros(1, TRIANGLE))


def last_packet(transfers):
    """Where it begins."""
    at = 0
    lengths = (transfers[:, 0] >> np.uint64(8) & np.uint64(0xFFFFFF)).astype(int)
    while at + lengths[at] < len(transfers):
        at += lengths[at]
    return at


def all_planes(packets, size=TARGET):
    return packets.clear((0, 0, *size), depth=1, stencil=1, colour=1)


NONE = CommandError.NONE
STATE = CommandError.STATE
ORDER = CommandError.ORDER
ADDRESS = CommandError.ADDRESS
OVERLAP = CommandError.OVERLAP
CASES = {
    "two planes": (drawing(begun(1)), NONE),
    "three planes": (drawing(begun(1, 2)), NONE),
    "not cleared": (drawing(begun().state(state(1))), ORDER),
    "not cleared, not written": (drawing(begun().state(state(1, colour_write=0))), NONE),
    "cleared in part": (begun().clear((0, 0, 24, 23), colour=1, colour_plane=1), ORDER),
    "cleared in part, later": (begun(1).clear((0, 0, 24, 23), colour=1, colour_plane=1), NONE),
    "depth alone, in part": (begun().clear((0, 0, 24, 23), depth=1, colour_plane=1), NONE),
    "a plane first": (CommandList().state(state(1)), STATE),
    "no such state": (begun().state(state(3)), STATE),
    "no such place": (drawing(begun().target(0, PLANE, 0, 3)), NONE),
    "no such clear": (begun().clear((0, 0, *TARGET), colour=1, colour_plane=3), STATE),
    "the first state begins anew": (drawing(begun().state(state(1)).state(state())), NONE),
    "a target of another plane": (
        CommandList()
        .state(state())
        .clear((0, 0, *TARGET), depth=1, stencil=1, colour=1, colour_plane=1),
        ORDER,
    ),
    "on the first": (placed(begun(), 1, COLOUR), OVERLAP),
    "on depths": (placed(begun(), 1, 0), OVERLAP),
    "on each other": (placed(begun(1), 2, OTHER), OVERLAP),
    "on the packets": (placed(begun(), 1, LISTS), OVERLAP),
    "not aligned": (placed(begun(), 1, OTHER + 128), ADDRESS),
    "beyond memory": (placed(begun(), 1, SIZE - 256), ADDRESS),
    "the first moves onto another": (placed(begun(1), 0, OTHER), OVERLAP),
    "the first is cleared alone": (
        drawing(begun(1).clear((0, 0, *TARGET), colour=1).state(state(1))),
        NONE,
    ),
    "begins behind work": (placed(drawing(begun()), 1, OTHER), ORDER),
    "begins behind work and a fence": (placed(drawing(begun()).fence(1), 1, OTHER), NONE),
    "begins behind a clear in part": (
        placed(begun().clear((0, 0, 5, 5), colour=1), 1, OTHER),
        ORDER,
    ),
    "begins behind a target that was cleared twice": (
        placed(all_planes(begun()), 1, OTHER),
        ORDER,
    ),
    "begins twice": (placed(begun(1), 1, OTHER), ORDER),
    "begins again behind a fence": (placed(begun(1).fence(1), 1, OTHER), NONE),
    "moves, and its old place is free": (
        placed(placed(begun(1).fence(1), 1, COLOUR + PLANE // 2), 2, OTHER),
        NONE,
    ),
    "moves onto another": (placed(begun(1, 2).fence(1), 1, THIRD), OVERLAP),
    "a target begins with work under way": (all_planes(drawing(begun(1))), ORDER),
    "a target begins with work on the other plane": (
        all_planes(drawing(begun(1).fence(1))),
        ORDER,
    ),
    "a target begins with work on the first plane": (
        all_planes(drawing(begun(1).fence(1).state(state()))),
        NONE,
    ),
    "with a clear under way": (all_planes(begun(1)), ORDER),
    "behind a fence": (all_planes(begun(1).fence(1)), NONE),
    "behind a fence, drawn to": (drawing(all_planes(begun(1).fence(1))), ORDER),
    "where another plane was": (all_planes(begun(1).fence(1).target(0, PLANE, OTHER)), NONE),
    "another size": (all_planes(begun(1).fence(1).state(state(size=(16, 9))), (16, 9)), NONE),
    "another size, the old planes": (
        drawing(
            all_planes(begun(1).fence(1).state(state(size=(16, 9))), (16, 9)).state(
                state(1, (16, 9))
            )
        ),
        ORDER,
    ),
}


# With eight colour planes a fourth is none that there is not; it lies at 0, where depths are.
EIGHT = {"no such state": NONE, "no such clear": OVERLAP}


@pytest.mark.plan("command-reader-12")
@pytest.mark.parametrize("config", ["tiny_planes", "planes"])
@pytest.mark.parametrize("case", CASES)
def test_a_rule_of_planes(case, config):
    """Golden and hardware stop at the last packet, or not at all."""
    packets, error = CASES[case]
    if config == "planes":
        error = EIGHT.get(case, error)
    params = rtl.CONFIGS[config]
    transfers = np.concatenate([packets.transfers, CommandList().fence(9).transfers])
    start = np.array([(LISTS, len(transfers), SIZE)], dtype(START))
    rows = np.concatenate([streams.mark(start), transfers])
    limits = limits_of(bench.shape_of(params))
    result = read(bench.memory(rows, params), LISTS, len(transfers), SIZE, limits)
    assert result.error == error
    assert result.at == (len(transfers) if error == NONE else last_packet(packets.transfers))
    status = codec.unpack(
        check_outputs(BLOCK, config, rows, ("full", "full"), 0)["status"], STATUS, dtype(STATUS)
    )
    assert status["error"].tolist() == [error]


def statuses(lists, config=CONFIG):
    """How lists end, golden and hardware alike."""
    rows = []
    at = LISTS
    for packets in lists:
        start = np.array([(at, len(packets.transfers), SIZE)], dtype(START))
        rows += [streams.mark(start), packets.transfers]
        at += 32 * len(packets.transfers)
    outputs = check_outputs(BLOCK, config, np.concatenate(rows), ("full", "full"), 0)
    return codec.unpack(outputs["status"], STATUS, dtype(STATUS))["error"].tolist()


@pytest.mark.plan("command-reader-13")
@pytest.mark.parametrize("plane", [0, 1])
def test_states_with_what_a_format_does_not_have(plane):
    """Numbers of no format, blending and logic operations that formats have not: refused."""
    lists = []
    for fields in REFUSED.values():
        wrong = unchecked(TARGET, slot=plane, **fields)
        lists.append(drawing(begun(1).state(wrong)))
    assert statuses(lists) == [STATE] * len(REFUSED)


@pytest.mark.plan("command-reader-13")
def test_states_with_all_that_a_format_has():
    lists = []
    for form in COLOUR_FORMATS:
        packets = begun(1)
        for fields in list(legal(form))[::3]:
            packets.state(state(1, colour_format=form, **fields))
        lists.append(drawing(packets))
    assert statuses(lists) == [NONE] * len(COLOUR_FORMATS)


@pytest.mark.plan("command-reader-12")
def test_one_plane_does_not_look_at_numbers():
    """Where targets have one colour plane, what says of which is not read."""
    packets = drawing(begun())
    packets.state(state(3)).target(0, PLANE, COLOUR, 5)
    packets.clear((0, 0, *TARGET), colour=1, colour_plane=6)
    transfers = packets.transfers
    start = np.array([(LISTS, len(transfers), SIZE)], dtype(START))
    rows = np.concatenate([streams.mark(start), transfers])
    status = check_outputs(BLOCK, "tiny", rows, ("full", "full"), 0)["status"]
    assert codec.unpack(status, STATUS, dtype(STATUS))["error"].tolist() == [NONE]


@pytest.mark.plan("command-reader-12")
@pytest.mark.parametrize("count", [0, 9])
def test_wrong_parameters(count):
    with pytest.raises(ValueError, match=rf"colour_planes must lie in 1\.\.8, not {count}"):
        dataclasses.replace(PARAMS, colour_planes=count)


@pytest.mark.plan("command-reader-12")
@pytest.mark.parametrize("config", ["tiny_planes", "planes"])
def test_volume(config):
    check_paces(BLOCK, config, 600)


@pytest.mark.plan("command-reader-12")
def test_random_streams_reach_every_plane():
    """States and clears of each, and streams that end in the errors that planes can have.

    States of every format, too.
    """
    rng = np.random.default_rng(2)
    limits = limits_of(bench.shape_of(PARAMS))
    ends = set()
    slots = set()
    formats = set()
    for _ in range(4):
        rows = streams.requests(rng, 900, bench.shape_of(PARAMS))
        memory = bench.memory(rows, PARAMS)
        for start, _ in streams.starts(rows):
            result = read(memory, *map(int, start), limits)
            ends.add(result.error)
            slots |= {
                (kind, int(records["slot"][0]))
                for kind, records in result.beats
                if kind in (Kind.STATE, Kind.CLEAR)
            }
            states = [records[0] for kind, records in result.beats if kind == Kind.STATE]
            formats |= {int(draw["colour_format"]) for draw in states}
    assert {STATE, ORDER, OVERLAP, NONE} <= ends
    assert slots == {(kind, n) for kind in (Kind.STATE, Kind.CLEAR) for n in range(3)}
    assert formats == set(COLOUR_FORMATS)
