# SPDX-License-Identifier: BSD-2-Clause
"""The top resolves surfaces: those that lie in memory, and a target that it has drawn."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.formats import MOST
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.surface import to_image
from fixfunc.models.output.averages import mean
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.rtl.output.merger.formats import UNORM_AND_SRGB
from fixfunc.rtl.output.resolve.resolve import ResolveParams
from fixfunc.spec.colours import SCAN_SETUP
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.counters import COUNTERS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import DepthFormat
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.bench import depths
from fixfunc.tb.frontend import streams
from fixfunc.tb.output.show import scanned_out
from tests.volume import LIMIT, check_outputs, check_paces, volume

BLOCK = "top"
SMALL = rtl.CONFIGS["tiny"]
NOWHERE = (1 << 64) - 1, (1 << 64) - 1
SIZE = 60, 44
BACKGROUND = 0xFF204060
SOURCE = 2 * streams.PLANE
TARGET = streams.PLANE + streams.PLANE // 2
EDGE = 8


def frame(samples, seed=0, **fields):
    """A target, triangles on it, and a FENCE; fields are those of the draw state."""
    rng = np.random.default_rng(seed)
    packets = CommandList().target(0, streams.PLANE, SOURCE)
    packets.state(draw_state(*SIZE, samples, **fields))
    packets.clear(
        (0, 0, *SIZE),
        depth=1,
        stencil=1,
        colour=1,
        depth_value=MOST[DepthFormat.D24],
        colour_value=BACKGROUND,
    )
    return packets.triangles(depths.triangles(rng, 40, SIZE)).fence(1)


def resolve(packets, samples, **more):
    """The target's colours become pixels."""
    fields = {
        "samples": samples.bit_length() - 1,
        "width": SIZE[0],
        "height": SIZE[1],
        "source": SOURCE,
        "target": TARGET,
        "source_cleared": BACKGROUND,
        "target_cleared": BACKGROUND,
    }
    return packets.resolve(**fields | more)


def rows_of(packets):
    start = np.zeros(1, dtype(START))
    start["address"] = streams.LISTS
    start["transfers"] = len(packets.transfers)
    start["limit"] = streams.SIZE
    return np.concatenate([streams.mark(start), packets.transfers])


def surface(memory, base, samples):
    """Samples of a surface in memory, as rows of pixels: uint8, shape (height, width, n, 4)."""
    log2 = samples.bit_length() - 1
    lx, ly = ((0, 0), (0, 1), (1, 1), (1, 2))[log2]
    rows, columns = -(-(SIZE[1] << ly) // EDGE), -(-(SIZE[0] << lx) // EDGE)
    cleared = np.array([BACKGROUND], "<u4").view(np.uint8)
    tiles = CodedTiles(memory[base:], rows, columns, 4, log2, cleared).read()
    values = np.ascontiguousarray(tiles).view("<u4")[..., 0]
    image = to_image(values, *SIZE, samples)
    return np.ascontiguousarray(image)[..., None].view(np.uint8)


def setup():
    """What a display scans out: the pixels."""
    out = np.zeros(1, dtype(SCAN_SETUP))[0]
    tiles = -(-SIZE[0] // EDGE) * -(-SIZE[1] // EDGE)
    fields = {
        "buffers": 1,
        "vsync": 1,
        "coded": 1,
        "width": SIZE[0],
        "height": SIZE[1],
        "base0": TARGET,
        "table0": TARGET + 256 * tiles,
        "cleared0": BACKGROUND,
    }
    for name, value in fields.items():
        out[name] = value
    return out


def transfers(outputs):
    """Of resolves, as counted."""
    counted = dict(zip(COUNTERS, outputs["counter_value"][:, 0].tolist(), strict=False))
    return counted["resolve_transfers"]


def statuses(outputs):
    return codec.unpack(outputs["o"], STATUS, dtype(STATUS))


@pytest.mark.plan("top-21")
@pytest.mark.parametrize("paces", [("full", "full"), ("random", "bursty"), ("bursty", "starved")])
def test_random_streams_with_resolves(paces):
    """Memory equals that of the golden machine; draws go on behind a RESOLVE."""
    rows = streams.requests(np.random.default_rng(3), 1500, SMALL)
    outputs = check_outputs(BLOCK, "tiny", rows, paces, 2)
    assert not statuses(outputs)["failed"].any()
    assert transfers(outputs) > 100


def fails(packets, fault=NOWHERE):
    """Bits of failures of the statuses of a stream, in hardware; ``fault`` is a byte of memory."""
    rows = rows_of(packets)
    run = volume(BLOCK, "tiny").run(
        bench.inputs(rows, SMALL),
        1 << 16,
        memory=Memory(streams.memory(rows, SMALL), faults=(fault[0], fault[1])),
        limit=LIMIT,
    )
    status = statuses(run.outputs)
    assert status["error"][-1] == CommandError.NONE
    return status["failed"].tolist()


@pytest.mark.plan("top-21")
@pytest.mark.parametrize("why", ["noise", "unreadable", "unwritable"])
def test_a_resolve_that_fails_is_told_by_the_next_fence(why):
    """And by no other."""
    source = 0 if why == "noise" else streams.SURFACE["source"]
    packets = CommandList().fence(1).resolve(**streams.SURFACE | {"source": source})
    second = streams.SURFACE["source"] + 256  # a raw tile
    fault = {
        "noise": NOWHERE,
        "unreadable": (second, NOWHERE[1]),
        "unwritable": (NOWHERE[0], streams.SURFACE["target"]),
    }[why]
    assert fails(packets.fence(2).fence(3), fault) == [0, 4, 0]


@pytest.mark.plan("top-21")
@pytest.mark.qualify
def test_volume():
    """At every pair of paces, and after a reset in the middle of a resolve."""
    check_paces(BLOCK, "tiny", 300)


@pytest.mark.plan("top-21")
def test_a_failure_lasts_until_it_is_told():
    """Over a resolve that does not fail; in the end by the status of the START."""
    wrong = streams.SURFACE | {"source": 0}
    elsewhere = streams.SURFACE | {"target": streams.SURFACE["target"] + (1 << 14)}
    assert fails(CommandList().resolve(**wrong).resolve(**elsewhere).fence(1)) == [4]
    assert fails(CommandList().resolve(**elsewhere).resolve(**wrong).fence(1)) == [4]
    assert fails(CommandList().fence(1).resolve(**wrong)) == [0, 4]


@pytest.mark.plan("top-21")
def test_transfers_are_counted():
    """Of one raw tile, which becomes another one: of each its line and itself."""
    one = {"samples": 0, "width": 8, "height": 8, "source_cleared": 0, "target_cleared": 1}
    packets = CommandList().resolve(**streams.SURFACE | one).fence(1)
    rows = rows_of(packets)
    data = streams.memory(rows, SMALL)
    noise = np.random.default_rng(0).integers(0, 256, (1, 1, EDGE, EDGE, 4), np.uint8)
    CodedTiles(data[streams.SURFACE["source"] :], 1, 1, 4, 0, np.zeros(4, np.uint8)).write(noise)
    run = volume(BLOCK, "tiny").run(
        bench.inputs(rows, SMALL), 1 << 16, memory=Memory(data), limit=LIMIT
    )
    assert transfers(run.outputs) == 2 * (1 + 8)


@pytest.mark.plan("top-21")
def test_srgb_is_averaged_as_linear_colours():
    """Memory equals that of the golden machine, and is not what means of bytes leave."""
    found = []
    for srgb in (0, 1):
        packets = frame(1).resolve(**streams.SURFACE | {"srgb": srgb}).fence(2)
        outputs = check_outputs(BLOCK, "tiny", rows_of(packets), ("full", "full"), 0)
        found.append(np.ascontiguousarray(outputs["memory"]).view(np.uint8).ravel())
    differs = np.flatnonzero(found[0][: streams.LISTS] != found[1][: streams.LISTS])
    tiles = -(-streams.SURFACE["width"] // EDGE) * -(-streams.SURFACE["height"] // EDGE)
    target = streams.SURFACE["target"]
    assert len(differs) > 100
    assert target <= differs[0]
    assert differs[-1] < target + 256 * tiles + 32


@pytest.mark.plan("top-22")
def test_srgb_that_was_drawn_becomes_means_of_linear_colours():
    """Golden, with tiles of 8x8 as they are drawn: blended, resolved, and not as bytes are."""
    form = Format.R8G8B8A8_UNORM_SRGB
    whole = rtl.CONFIGS["default"]
    params = replace(
        whole,
        reader=replace(whole.reader, colour_formats=UNORM_AND_SRGB, ring=None, texture_formats=()),
        pixels=None,
        colour=replace(whole.colour, formats=UNORM_AND_SRGB),
        resolve=ResolveParams(srgb=True),
    )
    found = []
    for srgb in (0, 1):
        packets = frame(4, colour_format=form, blend_enable=1, flat_colour=0x80C08040)
        rows = rows_of(resolve(packets, 4, srgb=srgb))
        memory = streams.memory(rows, params)
        ((start, _),) = streams.starts(rows)
        status = bench.machine(params, memory).draw(*map(int, start)).status
        assert status["error"][-1] == CommandError.NONE
        drawn = surface(memory, SOURCE, 4)
        found.append(surface(memory, TARGET, 1)[:, :, 0])
        assert (found[-1] == mean(drawn, UNORM_AND_SRGB[srgb])).all()
    assert len(np.unique(drawn[..., 0])) > 2
    assert (found[0] != found[1]).any()


@pytest.mark.plan("top-21")
def test_the_golden_machine_tells_it_too():
    packets = CommandList().fence(1).resolve(**streams.SURFACE | {"source": 0}).fence(2).fence(3)
    rows = rows_of(packets)
    golden = bench.machine(SMALL, streams.memory(rows, SMALL))
    ((start, _),) = streams.starts(rows)
    assert golden.draw(*map(int, start)).status["failed"].tolist() == [0, 4, 0]


@pytest.mark.plan("top-13")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"resolve": None}, r"reader\.resolve_samples must be 0, as resolve is None, not 8"),
        (
            {
                "reader": replace(rtl.TopParams().reader, colour_formats=UNORM_AND_SRGB),
                "colour": replace(rtl.TopParams().colour, formats=UNORM_AND_SRGB),
            },
            r"resolve\.srgb must be True, as of colour\.formats, not False",
        ),
        (
            {"resolve": ResolveParams(srgb=True)},
            r"resolve\.srgb must be False",
        ),
        ({"resolve": ResolveParams(samples=4)}, r"reader\.resolve_samples must be 4, as .*, not 8"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(ValueError, match=message):
        rtl.TopParams(**fields)


@pytest.mark.plan("top-21")
def test_a_top_without_it():
    assert "resolve_memory" in catalogue.block(BLOCK).create("tiny").signature.members
    assert "resolve_memory" not in catalogue.block(BLOCK).create("tiny_bytes").signature.members


# With tiles of 8x8, as they are drawn: the top takes minutes to build.


@pytest.mark.plan("top-22")
@pytest.mark.qualify
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_pixels_are_the_means_of_what_was_drawn(samples):
    """Memory equals that of the golden machine, holds the means, and the display shows them."""
    packets = resolve(frame(samples), samples)
    paces = ("full", "full") if samples < 4 else ("random", "starved")
    outputs = check_outputs(BLOCK, "default", rows_of(packets), paces, samples)
    assert [int(word["failed"]) for word in statuses(outputs)] == [0, 0]
    memory = np.ascontiguousarray(outputs["memory"]).view(np.uint8).ravel()
    drawn = surface(memory, SOURCE, samples).astype(int)
    assert len(np.unique(drawn[..., 0])) > 20
    means = (drawn.sum(2) + samples // 2) // samples
    assert (surface(memory, TARGET, 1)[:, :, 0] == means).all()
    assert transfers(outputs) > 100
    assert (scanned_out(memory, setup()) == means[..., :3]).all()


@pytest.mark.plan("top-22")
@pytest.mark.qualify
def test_a_draw_goes_on_behind_a_resolve():
    """Its target is what it was; what was resolved first is not."""
    packets = resolve(frame(4), 4)
    packets.triangles(depths.triangles(np.random.default_rng(1), 40, SIZE)).fence(2)
    packets = resolve(packets, 4, target=TARGET + (1 << 15))
    outputs = check_outputs(BLOCK, "default", rows_of(packets), ("full", "full"), 1)
    memory = np.ascontiguousarray(outputs["memory"]).view(np.uint8).ravel()
    first, second = (surface(memory, base, 1) for base in (TARGET, TARGET + (1 << 15)))
    assert (first != second).any()
