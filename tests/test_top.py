# SPDX-License-Identifier: BSD-2-Clause
import dataclasses
import itertools

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.simulation.volume import Memory, SimulationError
from fixfunc.models.depth.depth_test import DepthBuffer
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.counters import counter_record
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.rtl.geometry.triangle_setup import TriangleSetupParams
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.counters import COUNTERS, PROBES
from fixfunc.spec.state import Compare, DepthFormat, Kind
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.bench import depths
from fixfunc.tb.frontend import streams
from tests import tiers
from tests.bench import check_bench
from tests.plane_formats import refused_by, unchecked
from tests.volume import LIMIT, check, check_paces, volume

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
CONFIGS = tiers.by_tier([CONFIG, "tiny_bytes", "tiny_floats"], later=("tiny_bytes", "tiny_floats"))


def lattice(samples, share):
    """Triangles of a small lattice of half pixels, both windings, as a command stream: one in
    ``share`` of all."""
    points = np.array(list(itertools.product(range(-128, 641, 128), repeat=2)))
    corners = points[np.array(list(itertools.permutations(range(len(points)), 3)))[::2]]
    triangles = np.zeros(len(corners), TRIANGLE)
    for k in range(3):
        triangles[f"x{k}"], triangles[f"y{k}"] = corners[:, k].T
    return drawn(draw_state(4, 3, samples), triangles[samples % share :: share])


def drawn(state, triangles):
    """A target, and triangles on it."""
    size = int(state["target_width"]), int(state["target_height"])
    packets = CommandList().target(0, streams.PLANE, 2 * streams.PLANE).state(state)
    if state["built_in"]:
        packets.pixel_state(alpha_test=Compare.ALWAYS)
    packets.clear(
        (0, 0, *size), depth=1, stencil=1, colour=1, depth_value=int(state["depth_max"])
    ).triangles(triangles).fence(3)
    start = np.zeros(1, dtype(START))
    start["address"] = streams.LISTS
    start["transfers"] = len(packets.transfers)
    start["limit"] = streams.SIZE
    return np.concatenate([streams.mark(start), packets.transfers])


def random_rows(seed, count=300):
    return streams.requests(np.random.default_rng(seed), count, PARAMS)


def machine(rows, **more):
    data = streams.memory(rows, PARAMS)
    made = bench.machine(PARAMS, data, shader=bench.shade, **more)
    return made, [made.draw(*(int(v) for v in start)) for start, _ in streams.starts(rows)], data


@pytest.mark.plan("top-1")
def test_memory_is_what_stages_say():
    """Memory, decoded, has the colours and depths of the samples that passed.

    They are written one after the other.
    """
    rows = streams.one_list(np.random.default_rng(4), 60, PARAMS)
    made, (result,), _ = machine(rows)
    state = next(records for kind, records in result.probes["commands"] if kind == Kind.STATE)[0]
    plain = DepthBuffer(state, 4)
    image = np.zeros_like(made.colour.planes[0].cache.values())
    plain.clear((0, 0, 24, 24), int(state["depth_max"]), 0)
    for tiles, shaded, colours in zip(
        *(
            ([records for kind, records in result.probes[name] if kind == Kind.WORK])
            for name in ("raster", "quads", "colours")
        ),
        strict=True,
    ):
        for batch in rounds(tiles["y"].astype(int) * plain.depth.shape[1] + tiles["x"]):
            plain.test(tiles[batch])
        for tile, colour in zip(shaded, colours.colours, strict=True):
            image[tile["y"], tile["x"]] = np.where(
                unpack(tile["mask"][None], 4)[0], colour, image[tile["y"], tile["x"]]
            )
    assert len(shaded) > 50
    assert (made.colour.planes[0].cache.values() == image).all()
    assert (made.depth.caches["depth"].values() == plain.depth).all()


@pytest.mark.plan("top-1")
def test_what_hiz_found_changes_no_picture():
    rows = random_rows(5)
    with_hiz, first, _ = machine(rows)
    without_hiz, second, _ = machine(rows, outcomes=lambda tiles: np.zeros(len(tiles), np.uint8))
    assert [list(part.status) for part in first] == [list(part.status) for part in second]
    pictures = [machine.colour.planes[0].cache.values() for machine in (with_hiz, without_hiz)]
    assert (pictures[0] == pictures[1]).all()
    assert with_hiz.depth.traffic["depth"] != without_hiz.depth.traffic["depth"]


@pytest.mark.plan("top-5")
def test_nothing_is_written_after_an_error():
    """Behind a wrong packet there is a clear, and triangles: neither is seen."""
    right = streams.one_list(np.random.default_rng(1), 9, PARAMS)
    wrong = np.concatenate([right, np.full((1, 4), 0xEE, np.uint64), right[2:]])
    wrong[:1] = streams.mark(
        np.array([(streams.LISTS, len(wrong) - 1, streams.SIZE)], dtype(START))
    )
    (_, one, _) = machine(right)
    (_, two, _) = machine(wrong)
    assert (one[-1].status["error"][-1], two[-1].status["error"][-1]) == (
        CommandError.NONE,
        CommandError.OPCODE,
    )
    assert two[-1].status["at"][-1] == len(right) - 1
    check(BLOCK, CONFIG, wrong)


@pytest.mark.plan("top-2")
@pytest.mark.plan("tile-rasterizer-3")
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("samples", [1, 2, 4])
@pytest.mark.parametrize("share", [40, pytest.param(5, marks=pytest.mark.qualify)])
def test_triangles_of_a_lattice(samples, share, config):
    status = check(BLOCK, config, lattice(samples, share))
    assert codec.unpack(status, STATUS, dtype(STATUS))["passed"][0] > 0


@pytest.mark.plan("top-20")
def test_depths_lie_where_colours_lay():
    """Depths and colours change places, and nothing is drawn where colours lay, which are late.

    Memory that hardly takes anything keeps them on their way, and holds the same in the end."""
    size = 24, 24
    packets = CommandList()
    for number in range(4):
        depth, colour = (0, 2 * streams.PLANE)[:: -1 if number % 2 else 1]
        packets.target(depth, streams.PLANE, colour)
        packets.state(draw_state(*size, target=number, depth_test=0))
        packets.clear((0, 0, *size), depth=1, stencil=1, colour=1, depth_value=(1 << 24) - 1)
        if number % 2 == 0:
            packets.triangles(np.concatenate([_triangles(seed) for seed in range(4)]))
        packets.fence(number)
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    rows = np.concatenate([streams.mark(start), packets.transfers])
    status = codec.unpack(check(BLOCK, CONFIG, rows), STATUS, dtype(STATUS))
    assert status["passed"].any()

    def memory_behind(ready):
        memory = Memory(streams.memory(rows, PARAMS), (0, 8), ready=ready)
        volume(BLOCK, CONFIG).run(bench.inputs(rows, PARAMS), 100_000, memory=memory, limit=LIMIT)
        return memory.data

    assert (memory_behind(256) == memory_behind(32)).all()


@pytest.mark.plan("top-6")
def test_reset_in_mid_frame_is_a_fresh_start():
    """Wherever it comes: the same beats, and the same bytes, as of a top that never ran."""
    rows = random_rows(5, 60)
    given = bench.inputs(rows, PARAMS)
    block = volume(BLOCK, CONFIG)
    fresh = Memory(streams.memory(rows, PARAMS), (0, 8))
    wanted = block.run(given, 100_000, memory=fresh, limit=LIMIT)
    for clocks in (100, 700, 1500, 4000):
        with pytest.raises(SimulationError, match=f"not drained after {clocks} clocks"):
            block.run(
                given, 100_000, memory=Memory(streams.memory(rows, PARAMS), (0, 8)), limit=clocks
            )
        again = Memory(streams.memory(rows, PARAMS), (0, 8))
        got = block.run(given, 100_000, memory=again, limit=LIMIT)
        assert all((got.outputs[name] == beats).all() for name, beats in wanted.outputs.items())
        assert (again.data == fresh.data).all()


@pytest.mark.plan("top-8")
@pytest.mark.qualify
def test_memory_that_fails():
    """Writes of depths fail: the status reports it, and the top drains.

    More samples pass than should: the pixel pipe has colours for them.
    """
    state = draw_state(64, 64, built_in=1)
    rows = drawn(state, np.concatenate([_triangles(3), _triangles(3)]))
    given = bench.inputs(rows, PARAMS)
    memory = Memory(streams.memory(rows, PARAMS), (0, 8), faults=((1 << 64) - 1, 64))
    run = volume(BLOCK, CONFIG).run(given, 100_000, memory=memory, limit=LIMIT)
    assert codec.unpack(run.outputs["o"], STATUS, dtype(STATUS))["failed"][0] == 4


def _triangles(seed):
    """Over all of a target."""
    out = np.zeros(4, TRIANGLE)
    out["x1"] = out["y2"] = 64 * 512
    out["z0"], out["z1"], out["z2"] = np.random.default_rng(seed).integers(0, 1 << 31, (3, 4))
    return out


@pytest.mark.plan("top-8")
def test_a_colour_that_cannot_be_written():
    """Nobody reads it back: the golden beats fit, but for the status that reports it."""
    rows = drawn(draw_state(24, 24), _triangles(3)[:2])
    memory = Memory(streams.memory(rows, PARAMS), (0, 8), faults=((1 << 64) - 1, 2 * streams.PLANE))
    run = volume(BLOCK, CONFIG).run(bench.inputs(rows, PARAMS), 100_000, memory=memory, limit=LIMIT)
    (wanted,) = machine(rows, outcomes=bench.HizOutcomes(run.outputs["probe_hiz"], 4))[1]
    status = codec.unpack(run.outputs["o"], STATUS, dtype(STATUS))
    assert status["failed"].tolist() == [4]
    status["failed"] = 0
    assert (status == wanted.status).all()


@pytest.mark.plan("top-9")
def test_counters():
    """They are the golden ones, but for what depends on when; other addresses read as zero."""
    rows = random_rows(8)
    given = bench.inputs(rows, PARAMS)
    run = volume(BLOCK, CONFIG).run(
        given,
        100_000,
        memory=Memory(streams.memory(rows, PARAMS), (0, 8)),
        limit=LIMIT,
    )
    values = run.outputs["counter_value"][:, 0].tolist()
    assert len(values) == 256
    assert not any(values[len(COUNTERS) :])
    counted = dict(zip(COUNTERS, values, strict=False))
    made, parts, _ = machine(rows, outcomes=bench.HizOutcomes(run.outputs["probe_hiz"], 4))
    beats = {
        name: [
            records for part in parts for kind, records in part.probes[name] if kind == Kind.WORK
        ]
        for name in ("commands", "setup", "raster", "hiz")
    }
    for counter, probe in (("triangles", "commands"), ("set_up", "setup"), ("tiles", "raster")):
        assert counted[counter] == sum(map(len, beats[probe])) > 0
    for counter, probe in (("samples_covered", "raster"), ("samples_tested", "hiz")):
        masks = (tiles["mask"] for tiles in beats[probe])
        assert counted[counter] == sum(int(np.bitwise_count(mask).sum()) for mask in masks) > 0
    draws = [draw for part in parts for draw in part.draws]
    assert counted["samples_passed"] == sum(int(draw.passed.sum()) for draw in draws) > 0
    quads = sum(len(records) for part in parts for _, records in part.probes["quads"])
    assert counted["tiles_shaded"] == quads > 0
    outcome = np.concatenate([draw.outcome for draw in draws])
    assert [
        counted["tiles"] - counted["tiles_accepted"] - counted["tiles_tested"],
        counted["tiles_accepted"],
    ] == [(outcome == n).sum() for n in (1, 2)]
    for plane, moves in made.traffic.items():
        record = counter_record(moves)
        assert record["table_clear"] > 0
        for name in record.dtype.names:
            assert counted[f"{plane}_{name}"] == record[name], name
    assert counted["clocks"] > counted["tiles"]
    assert all(counted[f"stall_{probe}"] < counted["clocks"] for probe in PROBES)
    assert counted["command_transfers"] >= sum(part.status["at"][-1] for part in parts)


@pytest.mark.plan("top-14")
def test_counters_are_read_behind_the_last_start():
    """The harness holds their addresses back until as many lists are done as ``starts`` says."""
    rows = streams.one_list(np.random.default_rng(2), 5, PARAMS)
    beats = bench.inputs(rows, PARAMS)
    assert beats["starts"].tolist() == [[1]]
    block = volume(BLOCK, CONFIG)
    memory = Memory(streams.memory(rows, PARAMS), (0, 8))
    run = block.run(beats, 100_000, memory=memory, limit=LIMIT)
    assert len(run.outputs["counter_value"]) == bench.COUNTER_ADDRESSES
    beats["starts"] = np.array([[2]], np.uint64)
    memory = Memory(streams.memory(rows, PARAMS), (0, 8))
    n = [port.name for port in block.outputs].index("counter_value")
    with pytest.raises(SimulationError, match=rf"\[(\d+, ){{{n}}}0\b"):
        block.run(beats, 100_000, memory=memory, limit=2 * run.simulated)


@pytest.mark.plan("top-10")
@pytest.mark.parametrize(
    ("stage", "module", "name"),
    [
        ("probe_setup", "fixfunc.models.geometry.triangle_setup", "setup"),
        ("probe_raster", "fixfunc.models.raster.tile_rasterizer", "rasterize"),
        ("probe_depth", "fixfunc.models.depth.cached_depth", "CachedDepth.test"),
        ("probe_quads", "fixfunc.models.top.top", "quads_of"),
        ("memory", "fixfunc.models.output.colour_write", "blend"),
    ],
)
def test_the_first_stage_that_differs_is_blamed(stage, module, name, monkeypatch):
    """A golden stage that is wrong: those before it agree, and what differs is told in words."""
    rows = streams.one_list(np.random.default_rng(3), 20, PARAMS)
    block = catalogue.block(BLOCK)
    memory = Memory(streams.memory(rows, PARAMS), (0, 8))
    outputs = (
        volume(BLOCK, CONFIG)
        .run(bench.inputs(rows, PARAMS), 100_000, memory=memory, limit=LIMIT)
        .outputs
    )
    outputs["memory"] = memory.data.view(np.uint64).reshape(-1, 4)
    _break(monkeypatch, module, name)
    count, first = block.differences(outputs, bench.replay(rows, outputs, PARAMS), CONFIG)
    assert count
    assert first.startswith(f"{stage}: "), first


def _break(monkeypatch, module, name):
    """The last bit of what it gives is wrong."""
    target = __import__("importlib").import_module(module)
    owner = getattr(target, name.split(".")[0]) if "." in name else target
    right = getattr(owner, name.split(".")[-1])

    def wrong(*given, **more):
        out = right(*given, **more)
        if name == "setup":
            out.records["c0"] ^= 1
        elif name == "rasterize":
            out[0]["dx"] ^= 1
        elif name == "CachedDepth.test":
            out[0][:, 0, 0] ^= True
        elif name == "quads_of":
            out["helpers"] ^= 1
        else:
            out = out ^ np.uint32(1)
        return out

    monkeypatch.setattr(owner, name.split(".")[-1], wrong)


@pytest.mark.plan("top-13")
def test_wrong_parameters():
    with pytest.raises(ValueError, match=r"setup\.edge must be raster\.edge 8, not 4"):
        rtl.TopParams(setup=TriangleSetupParams(edge=4))
    colour = dataclasses.replace(rtl.CONFIGS["default"].colour, shader_depths=False)
    with pytest.raises(ValueError, match=r"colour\.shader_depths must be .* True, not False"):
        rtl.TopParams(colour=colour)
    with pytest.raises(ValueError, match=r"reader\.colour_planes must be colour\.planes 8, not 1"):
        rtl.TopParams(colour=rtl.CONFIGS["planes"].colour)
    reader = dataclasses.replace(rtl.CONFIGS["planes"].reader, colour_formats=BASE_FORMATS)
    with pytest.raises(ValueError, match=r"reader\.colour_formats must be colour\.formats .*, not"):
        dataclasses.replace(rtl.CONFIGS["planes"], reader=reader)
    colour = dataclasses.replace(rtl.CONFIGS["default"].colour, second=True)
    with pytest.raises(ValueError, match=r"reader\.second must be colour\.second True, not False"):
        rtl.TopParams(colour=colour)
    with pytest.raises(ValueError, match=r"reader\.stencil must be depth\.stencil True, not False"):
        rtl.TopParams(reader=dataclasses.replace(rtl.CONFIGS["default"].reader, stencil=False))


@pytest.mark.plan("top-19")
@pytest.mark.parametrize("config", CONFIGS)
def test_formats_that_colour_planes_do_not_have(config):
    """A list ends before what is drawn with them; memory is the golden one."""
    size = 12, 9
    triangles = depths.triangles(np.random.default_rng(4), 3, size)
    reader = rtl.CONFIGS[config].reader
    known, formats = reader.colour_formats, list(COLOUR_FORMATS)
    refused = refused_by(reader.second, reader.floats)
    if not tiers.QUALIFY:  # each takes a START: all that are known, and some of the others
        refused, formats = refused[::5], [*known, *formats[::5]]
    rows = []
    at = streams.LISTS
    for fields in [*refused, *({"colour_format": form} for form in formats)]:
        packets = CommandList().target(**streams.PLACES).state(draw_state(*size))
        packets.clear(
            (0, 0, *size), depth=1, stencil=1, colour=1, depth_value=MOST[DepthFormat.D24]
        )
        packets.triangles(triangles)
        packets.state(unchecked(size, **fields)).triangles(triangles)
        start = np.array([(at, len(packets.transfers), streams.SIZE)], dtype(START))
        rows += [streams.mark(start), packets.transfers]
        at += 32 * len(packets.transfers)
    status = codec.unpack(check(BLOCK, config, np.concatenate(rows)), STATUS, dtype(STATUS))
    wanted = [CommandError.STATE] * len(refused)
    wanted += [CommandError.NONE if form in known else CommandError.STATE for form in formats]
    assert status["error"][status["last"] == 1].tolist() == wanted


@pytest.mark.plan("top-4")
def test_bench(simulator):
    check_bench(BLOCK, CONFIG, simulator)


@pytest.mark.plan("top-3", "top-23", "pixel-pipe-2")
@pytest.mark.parametrize("config", CONFIGS[:2])
def test_volume(config):
    check_paces(BLOCK, config, 320)
