# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from amaranth.back import rtlil

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import NOWHERE, Memory
from fixfunc.models.memory import copies
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.layout import Layout
from fixfunc.models.output.colour_write import ColourTarget
from fixfunc.models.output.resolve import resolve
from fixfunc.models.output.scan_out import Scan
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import draw_state
from fixfunc.rtl.output.resolve.averages import PixelMeans
from fixfunc.rtl.output.resolve.resolve import CONFIGS, ResolveParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import RESOLVE, RESOLVED, SCAN_SETUP, ResolveError
from fixfunc.spec.descriptors import VIEW, Dimension
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import RESOLVE as RESOLVE_PACKET
from fixfunc.spec.state import TARGET_LIMIT, TileMode
from fixfunc.tb.output import resolve as bench
from tests import tiers
from tests.bench import check_bench
from tests.oracles.naive_frame.formats import byte_of_light, light
from tests.volume import LIMIT, check_paces, volume

BLOCK = "resolve"
WITHOUT_SRGB = pytest.param("tiny", marks=pytest.mark.qualify)  # "tiny_srgb" has all of it

BASE = 1 << 20  # of the target
SIZES = [(1, 1), (9, 8), (64, 17), (65, 3), (37, 41)]


def request(samples, size, **fields):
    record = np.zeros((), dtype(RESOLVE))
    values = {"samples": samples, "width": size[0], "height": size[1], "target": BASE} | fields
    for name, value in values.items():
        record[name] = value
    return record[()]


def source(rng, record):
    """Memory with a source, and its pixels: shape (height, width, samples, 4)."""
    memory = np.zeros(2 * BASE, np.uint8)
    bench.put_source(rng, memory, record)
    lx, ly = LANE_SHAPE[record["samples"]]
    cleared = np.array([record["source_cleared"]], "<u4").view(np.uint8)
    shape = bench.surface_shape(record)
    tiles = CodedTiles(memory, *shape, 4, int(record["samples"]), cleared).read()
    rows, columns = (8 * n for n in shape)
    lanes = tiles.transpose(0, 2, 1, 3, 4).reshape(rows, columns, 4)
    pixels = lanes.reshape(rows >> ly, 1 << ly, columns >> lx, 1 << lx, 4)
    pixels = pixels.transpose(0, 2, 1, 3, 4).reshape(rows >> ly, columns >> lx, -1, 4)
    return memory, pixels[: record["height"], : record["width"]]


def picture(memory, record):
    """Pixels of the target."""
    rows, columns = -(-int(record["height"]) // 8), -(-int(record["width"]) // 8)
    cleared = np.array([record["target_cleared"]], "<u4").view(np.uint8)
    tiles = CodedTiles(memory[BASE:], rows, columns, 4, 0, cleared).read()
    whole = tiles.transpose(0, 2, 1, 3, 4).reshape(8 * rows, 8 * columns, 4)
    return whole, whole[: record["height"], : record["width"]]


@pytest.mark.plan("resolve-1")
@pytest.mark.parametrize("samples", range(4))
@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_means_of_their_samples(samples, size):
    """Beyond the source's tiles lies the colour that it was cleared to."""
    record = request(samples, size, source_cleared=0x40302010, target_cleared=0x40302010)
    memory, pixels = source(np.random.default_rng(samples), record)
    assert resolve(memory, record) == ResolveError.NONE
    whole, found = picture(memory, record)
    count = 1 << samples
    assert pixels.std() > 0
    assert (found == (2 * pixels.astype(int).sum(2) + count) // (2 * count)).all()
    lx, ly = LANE_SHAPE[samples]
    rows, columns = bench.surface_shape(record)
    beyond = whole[8 * rows >> ly :], whole[:, 8 * columns >> lx :]
    assert all((part == [0x10, 0x20, 0x30, 0x40]).all() for part in beyond)


@pytest.mark.plan("resolve-1")
@pytest.mark.parametrize("samples", range(4))
def test_srgb_is_averaged_as_linear_colours(samples):
    """Of a mean of 16 bits the nearest byte; alpha is linear."""
    record = request(samples, (9, 8), srgb=1)
    memory, pixels = source(np.random.default_rng(samples), record)
    assert resolve(memory, record) == ResolveError.NONE
    count = 1 << samples
    wanted = np.zeros((*pixels.shape[:2], 4), int)
    for (y, x, channel), _ in np.ndenumerate(wanted):
        values = pixels[y, x, :, channel].tolist()
        total = sum(257 * byte if channel == 3 else light()[byte] for byte in values)
        mean = (2 * total + count) // (2 * count)
        wanted[y, x, channel] = (mean + 128) // 257 if channel == 3 else byte_of_light(mean)
    found = picture(memory, record)[1]
    assert (found == wanted).all()
    of_bytes = (2 * pixels.astype(int).sum(2) + count) // (2 * count)
    assert (found[..., :3] != of_bytes[..., :3]).any() == (samples > 0)


@pytest.mark.plan("resolve-2")
@pytest.mark.parametrize("samples", range(4))
@pytest.mark.parametrize("form", [Format.R8G8B8A8_UNORM, Format.B8G8R8A8_UNORM_SRGB])
def test_it_is_the_resolve_of_the_machine(samples, form):
    """Of coded textures, whose mode tables lie a transfer further."""
    record = request(samples, (37, 21), srgb=form != Format.R8G8B8A8_UNORM)
    memory, pixels = source(np.random.default_rng(samples), record)
    resolve(memory, record)
    sides = {"width": 37, "height": 21}
    shape = {"form": form, "stored": form, "dimension": Dimension.TEXTURE2D, "tiled": 1, "coded": 1}
    ones = dict.fromkeys(("depth", "levels", "layers", "level_count", "layer_count"), 1)
    views = np.zeros(2, dtype(VIEW))
    for name, value in (shape | ones | sides).items():
        views[name] = value
    views["samples"][0] = samples
    views["address"][1] = BASE
    data = np.zeros(2 * BASE, np.uint8)
    layout = Layout(form, **sides, samples=1 << samples, tiled=True, coded=True)
    layout.write(data, 0, 0, pixels.reshape(1, 21, 37, -1, 4))
    packet = np.zeros((), dtype(RESOLVE_PACKET))
    packet["form"] = form
    copies.resolve(data, *views, packet[()])
    target = Layout(form, **sides, tiled=True, coded=True).read(data[BASE:], 0)
    assert (target[0, :, :, 0] == picture(memory, record)[1]).all()


@pytest.mark.plan("resolve-10")
def test_what_a_cache_left_is_resolved_and_shown():
    """Drawn at 4x through the cache of colours, resolved, and scanned out: the means of samples."""
    size = 45, 27
    rng = np.random.default_rng(10)
    record = request(2, size, source_cleared=0x40302010, target_cleared=0x40302010)
    rows, columns = bench.surface_shape(record)
    memory = rng.integers(0, 256, 2 * BASE, np.uint8)
    unit = ColourTarget(memory)
    unit.state = draw_state(*size, 4)
    unit.clear((0, 0, *size), 0x40302010)
    tiles = np.zeros(60, dtype(payloads.tile(8)))
    tiles["x"] = rng.integers(0, columns, len(tiles))
    tiles["y"] = rng.integers(0, rows, len(tiles))
    tiles["mask"] = rng.integers(1, 1 << 64, len(tiles), np.uint64, endpoint=False)
    few = rng.integers(0, 1 << 32, (len(tiles), 3), np.uint32)
    chosen = rng.integers(0, 3, (len(tiles), 64))
    unit.draw(tiles, np.take_along_axis(few, chosen, 1).reshape(-1, 8, 8))
    unit.flush()
    samples = unit.cache.values().copy().view(np.uint8).reshape(rows, columns, 4, 2, 4, 2, 4)
    pixels = samples.transpose(0, 2, 1, 4, 3, 5, 6).reshape(4 * rows, 4 * columns, 4, 4)
    means = (2 * pixels.astype(int).sum(2) + 4) // 8

    assert resolve(memory, record) == ResolveError.NONE
    assert (picture(memory, record)[1] == means[: size[1], : size[0]]).all()
    setup = np.zeros((), dtype(SCAN_SETUP))
    shape = [-(-side // 8) for side in size]
    fields = {"buffers": 1, "coded": 1, "width": size[0], "height": size[1], "base0": BASE}
    fields |= {"table0": BASE + 256 * shape[0] * shape[1], "cleared0": 0x40302010}
    for name, value in fields.items():
        setup[name] = value
    shown, wrong = Scan(memory, setup).picture(0)
    assert not wrong.any()
    assert (shown == means[: size[1], : size[0], :3]).all()
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 100


@pytest.mark.plan("resolve-3")
@pytest.mark.parametrize(
    "config",
    [WITHOUT_SRGB, *tiers.by_tier(["tiny_srgb", "default", "srgb"])],
)
def test_volume(config):
    check_paces(BLOCK, config, 400)


# To build tiles of this width takes minutes in the protocol tier; Icarus takes as many to run them.
@pytest.mark.plan("resolve-4", "resolve-5", "resolve-6")
@pytest.mark.qualify
@pytest.mark.parametrize("config", ["tiny", "tiny_srgb"])
def test_bench(config, simulator):
    check_bench(BLOCK, config, simulator)


@pytest.mark.plan("resolve-5")
@pytest.mark.parametrize("config", [WITHOUT_SRGB, "tiny_srgb"])
@pytest.mark.parametrize("kind", ["cleared", "coded"])
def test_a_tile_a_clock(kind, config):
    """Tiles that take no memory, or a transfer each; a line of the table takes a clock, too."""
    clocks = []
    for height in (32, 96):
        record = request(1, (512, height), srgb=config == "tiny_srgb")
        data = np.zeros(2 * BASE, np.uint8)
        if kind == "coded":
            shape = bench.surface_shape(record)
            tiles = CodedTiles(data, *shape, 4, 1, np.zeros(4, np.uint8))
            tiles.write(np.full((*shape, 8, 8, 4), 7, np.uint8))
            assert (tiles.codes == TileMode.PALETTE).all()
        rows = codec.pack(np.array([record]), RESOLVE)
        memory = Memory(data, (0, 0), ready=256)
        clocks.append(volume(BLOCK, config).run({"i": rows}, 1, memory=memory).clocks)
    tiles = 512 * 64 // 32  # more of them
    assert tiles <= clocks[1] - clocks[0] <= tiles * 65 / 64 + 8


def errors(memory, *requests, config="tiny_srgb", **faults):
    """What the hardware tells of requests."""
    rows = codec.pack(np.array(requests), RESOLVE)
    places = faults.get("read", NOWHERE), faults.get("write", NOWHERE)
    behind = Memory(memory, (0, 8), faults=places)
    run = volume(BLOCK, config).run({"i": rows}, len(rows), memory=behind, limit=LIMIT)
    return codec.unpack(run.outputs["o"], RESOLVED, dtype(RESOLVED))["error"].tolist()


@pytest.mark.plan("resolve-6")
def test_memory_that_fails_is_told():
    """Its table, a tile; a tile of the target, its table; then a request that can."""
    record = request(1, (70, 40), source_cleared=1)
    memory, _ = source(np.random.default_rng(0), record)
    rows, columns = bench.surface_shape(record)
    table = 256 * rows * columns
    right = request(1, (20, 9), source=BASE >> 1, target=BASE + (BASE >> 1))
    bench.put_source(np.random.default_rng(1), memory, right)
    stored = CodedTiles(memory, rows, columns, 4, 1, np.array([1, 0, 0, 0], np.uint8))
    tile = 256 * int(np.flatnonzero(stored.sizes.ravel())[5])
    for place in (tile, table):
        assert errors(memory.copy(), record, right, read=place) == [ResolveError.READ, 0]
    for place in (BASE + 256 * 4, BASE + 256 * 45):
        assert errors(memory.copy(), record, right, write=place) == [ResolveError.WRITE, 0]
    assert errors(memory.copy(), record, right) == [0, 0]


@pytest.mark.plan("resolve-6")
@pytest.mark.parametrize("place", [0, 4])
def test_nothing_is_written_behind_an_error(place):
    """Of tiles that come long after it, and of the table, memory stays as it was."""
    record = request(1, (70, 40), source_cleared=1)
    memory, _ = source(np.random.default_rng(0), record)
    memory[BASE:] = 0xA5
    done = memory.copy()
    assert errors(done, record) == [0]
    assert errors(memory, record, write=BASE + 256 * place) == [ResolveError.WRITE]
    late = slice(BASE + 256 * 24, BASE + 256 * 46)
    assert (done[late] != 0xA5).any() and (memory[late] == 0xA5).all()


@pytest.mark.plan("resolve-6")
@pytest.mark.parametrize("end", ["source", "target"])
def test_a_surface_that_memory_does_not_have(end):
    """At addresses of all bits."""
    wrong = ResolveError.READ if end == "source" else ResolveError.WRITE
    for address in (1 << 31, (1 << 32) - (1 << 16)):
        record = request(1, (70, 40), **{end: address})
        assert errors(np.zeros(2 * BASE, np.uint8), record, request(0, (8, 8))) == [wrong, 0]


@pytest.mark.plan("resolve-6")
@pytest.mark.parametrize("mode", [2, 3, 4, 5, 7, 8, 15])
def test_a_tile_that_cannot_be(mode):
    """A mode that there is not; the golden model writes nothing then."""
    record = request(1, (30, 20))
    memory, _ = source(np.random.default_rng(2), record)
    rows, columns = bench.surface_shape(record)
    memory[256 * rows * columns + 2] &= 0xF0
    memory[256 * rows * columns + 2] |= mode
    before = memory.copy()
    assert resolve(memory, record) == ResolveError.WRONG_TILE
    assert (memory == before).all()
    assert errors(memory, record) == [ResolveError.WRONG_TILE]


@pytest.mark.plan("resolve-7")
def test_wrong_parameters():
    with pytest.raises(InputError, match="samples"):
        ResolveParams(samples=3)
    for reads in (2, 6):
        with pytest.raises(InputError, match="reads"):
            ResolveParams(reads=reads)


@pytest.mark.plan("resolve-7")
def test_srgb_of_one_sample_needs_no_tables():
    """A mean of one byte is that byte: means come as soon as without sRGB."""
    assert PixelMeans(0, srgb=True).latency == PixelMeans(0, srgb=False).latency
    assert "table" not in rtlil.convert(PixelMeans(0, srgb=True))


@pytest.mark.plan("resolve-7")
@pytest.mark.parametrize(
    ("samples", "size"),
    [
        (0, (0, 8)),
        (1, (8, 0)),
        (0, (TARGET_LIMIT + 1, 8)),
        (0, (8, (1 << 15) - 1)),
        (0, (TARGET_LIMIT, TARGET_LIMIT)),
        (3, (8, 8)),
    ],
)
def test_what_is_refused(samples, size):
    """By the golden model, and by hardware of two samples; 2^22 tiles are one too many."""
    refused(request(samples, size), "tiny_srgb")


@pytest.mark.plan("resolve-7")
@pytest.mark.parametrize("config", [WITHOUT_SRGB])
def test_srgb_that_is_not_known_is_refused(config):
    refused(request(1, (8, 8), srgb=1), config)


def refused(record, config):
    """Golden model and hardware refuse a request, and serve the next."""
    memory = np.zeros(2 * BASE, np.uint8)
    assert resolve(memory, record, 1, CONFIGS[config].srgb) == ResolveError.REFUSED
    answers = errors(memory, record, request(0, (8, 8)), config=config)
    assert answers == [ResolveError.REFUSED, 0]
    assert not memory[:BASE].any()


@pytest.mark.plan("resolve-7")
@pytest.mark.parametrize("config", tiers.by_tier(["tiny_srgb", "default"]))
def test_the_greatest_sides(config):
    """One tile wide, or one high: every row, and every column, that a target may have."""
    samples = CONFIGS[config].most
    for size in ((1, TARGET_LIMIT), (TARGET_LIMIT, 1)):
        record = request(samples, size, target=4 * BASE)
        memory = np.zeros(8 * BASE, np.uint8)
        bench.put_source(np.random.default_rng(4), memory, record)
        wanted = memory.copy()
        assert resolve(wanted, record, samples) == ResolveError.NONE
        behind = Memory(memory, (0, 8))
        rows = codec.pack(np.array([record]), RESOLVE)
        run = volume(BLOCK, config).run({"i": rows}, 1, memory=behind, limit=LIMIT)
        assert not run.outputs["o"].any() and (behind.data == wanted).all()


@pytest.mark.plan("resolve-7")
def test_a_surface_beyond_memory():
    memory = np.zeros(1 << 12, np.uint8)
    with pytest.raises(InputError, match="target"):
        resolve(memory, request(0, (8, 8), target=(1 << 12) - 256))
