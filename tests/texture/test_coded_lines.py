# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.events import Keep
from fixfunc.cosim.simulation.volume import NOWHERE, Memory
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.memory.layout import Layout
from fixfunc.models.output.colour_write import ColourTarget
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.models.texture.coded_lines import line_of, read_lines
from fixfunc.rtl.texture.coded_lines.coded_lines import CONFIGS
from fixfunc.rtl.texture.coded_lines.layouts import CodedLinesParams
from fixfunc.spec import payloads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.tb import catalogue
from fixfunc.tb.texture import coded_lines as bench
from tests import volume
from tests.bench import check_bench
from tests.tiers import COUNT, by_tier

BLOCK = STEM = "coded_lines"
WRONG = (2, 3, 4, 5, 7, 8, 15)  # modes that no tile of colours has
HEAD = 32  # bytes of the clear's colour, before the golden machine's tables
CLEARED = 0x40302010


def place(texel):
    """Column and row of a texel of a line: bits in turn."""
    return (texel & 1) + 2 * (texel >> 2 & 1), (texel >> 1 & 1) + 2 * (texel >> 3)


def plain(picture):
    """A picture as lines of a plain texture, by the columns and rows of these: texel by texel."""
    height, width = picture.shape[:2]
    out = np.zeros((-(-height // 4), -(-width // 4), 16, 4), np.uint8)
    for row, column, texel in np.ndindex(out.shape[:3]):
        x, y = place(texel)
        if 4 * row + y < height and 4 * column + x < width:
            out[row, column, texel] = picture[4 * row + y, 4 * column + x]
    return out


def reads_of(rows, columns, table, cleared=CLEARED):
    """Reads of all lines of a surface at 0, tile by tile."""
    reads = np.zeros(4 * rows * columns, dtype(CodedLinesParams().read))
    reads["line"] = np.arange(len(reads))
    reads["tile"] = np.arange(len(reads)) // 4
    reads["mode_table"] = table // 32
    reads["cleared"] = cleared
    return reads


def lines_of(memory, shape, table, cleared=CLEARED):
    """Texels of lines, by their columns and rows, and modes of tiles."""
    rows, columns = (-(-side // 8) for side in shape)
    found = read_lines(memory, reads_of(rows, columns, table, cleared))
    assert not found.failed.any()
    data = found.data.reshape(rows, columns, 2, 2, 16, 4).transpose(0, 2, 1, 3, 4, 5)
    whole = data.reshape(2 * rows, 2 * columns, 16, 4)
    return whole[: -(-shape[0] // 4), : -(-shape[1] // 4)], found.modes[::4]


def pictures(rng):
    """A photograph, slopes, noise, few colours, and a part that was cleared."""
    tiles = Image.open(ROOT / "docs/texture/tiles.png").convert("RGBA").resize((203, 117))
    photograph = Image.open(ROOT / "docs/pictures/teapot_textured.png").convert("RGBA")
    yield np.asarray(tiles)
    yield np.asarray(photograph.resize((256, 144)))
    y, x = np.mgrid[:61, :90]
    yield np.stack([x + y, 2 * x, 3 * y, 0 * x + 255], -1).astype(np.uint8)
    noise = rng.integers(0, 256, (45, 77, 4), np.uint8)
    yield noise
    yield noise & 0x80
    for bits in range(7):  # widths of every code
        yield ((noise & (1 << bits) - 1) + 64).astype(np.uint8)
    mixed = noise.copy()
    mixed[:, 30:] = np.array([CLEARED], "<u4").view(np.uint8)
    yield mixed


@pytest.mark.plan("coded-lines-1")
def test_lines_are_those_of_a_plain_texture():
    """Pictures that the golden machine has stored as coded surfaces, in every mode."""
    modes = Counter()
    for picture in pictures(np.random.default_rng(0)):
        height, width = picture.shape[:2]
        form = Format.R8G8B8A8_UNORM
        layout = Layout(form, width=width, height=height, tiled=True, coded=True)
        memory = np.zeros(1 << 20, np.uint8)
        rows, columns = (-(-side // 8) for side in (height, width))
        end = 256 * rows * columns
        memory[end : end + 4] = np.array([CLEARED], "<u4").view(np.uint8)
        layout.write(memory, 0, 0, picture.reshape(1, height, width, 1, 4))
        found, codes = lines_of(memory, (height, width), end + HEAD)
        wanted = plain(picture)
        within = plain(np.ones((height, width, 1), np.uint8)) == 1
        assert (found == wanted)[within].all()
        modes.update(TileMode(code) for code in codes)
    known = {TileMode.CLEARED, TileMode.PALETTE, TileMode.RAW}
    assert set(modes) == known | {TileMode(DIFFERENCES + n) for n in range(1, 7)}


@pytest.mark.plan("coded-lines-2")
def test_what_a_cache_left_is_read():
    """Drawn through the cache of colours; the plain texture is its image, tile by tile."""
    size = 45, 27
    rng = np.random.default_rng(2)
    rows, columns = 4, 6
    memory = rng.integers(0, 256, 1 << 16, np.uint8)
    unit = ColourTarget(memory)
    unit.state = draw_state(*size, 1)
    unit.clear((0, 0, *size), CLEARED)
    tiles = np.zeros(30, dtype(payloads.tile(8)))
    tiles["x"] = rng.integers(0, columns, len(tiles))
    tiles["y"] = rng.integers(0, rows - 1, len(tiles))
    tiles["mask"] = rng.integers(1, 1 << 64, len(tiles), np.uint64, endpoint=False)
    few = rng.integers(0, 1 << 32, (len(tiles), 3), np.uint32)
    colours = few[np.arange(len(tiles))[:, None], rng.integers(0, 3, (len(tiles), 64))]
    unit.draw(tiles, colours.reshape(-1, 8, 8))
    unit.flush()
    values = unit.cache.values().copy().view(np.uint8).reshape(rows, columns, 8, 8, 4)
    picture = values.transpose(0, 2, 1, 3, 4).reshape(8 * rows, 8 * columns, 4)
    found, codes = lines_of(memory, size[::-1], 256 * rows * columns)
    wanted = plain(picture[: size[1], : size[0]])
    within = plain(np.ones((*size[::-1], 1), np.uint8)) == 1
    assert (found == wanted)[within].all()
    assert TileMode.CLEARED in codes and len(set(codes.tolist())) > 2


@pytest.mark.plan("coded-lines-2")
def test_a_texel_has_its_line():
    rows, columns = 3, 5
    y, x = np.mgrid[: 8 * rows, : 8 * columns]
    found = line_of(x, y, 100, 4 * columns)
    for row, column in np.ndindex(found.shape):
        tile = row // 8 * columns + column // 8
        square = column // 4 % 2 + 2 * (row // 4 % 2)
        assert found[row, column] == 100 + 4 * tile + square


@pytest.mark.plan("coded-lines-4")
@pytest.mark.parametrize("config", by_tier(CONFIGS))
def test_volume(config):
    volume.check_paces(STEM, config, 600)


@pytest.mark.qualify
@pytest.mark.plan("coded-lines-4")
def test_many_lines():
    for n in range(-(-COUNT // 50_000)):
        rows = bench.requests(np.random.default_rng(n), 50_000, CONFIGS["default"])
        volume.check(STEM, "default", rows, seed=n)


@pytest.mark.plan("coded-lines-5")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


def outcome(memory, reads, fault=NOWHERE):
    """Lines of the hardware, bytes and errors; they are the golden ones."""
    params = CONFIGS["tiny"]
    own = np.zeros(len(reads), dtype(params.read))
    for name in own.dtype.names:
        own[name] = reads[name] if name != "id" else np.arange(len(reads)) % params.places
    rows = codec.pack(own, params.read)
    behind = Memory(memory, (0, 8), faults=(fault, NOWHERE))
    unit = volume.volume(STEM, "tiny")
    run = unit.run({"i": rows}, 4 * len(rows), memory=behind, limit=4000 + 100 * len(rows))
    golden = bench.transfers(memory, rows, params, None if fault == NOWHERE else fault)
    assert np.array_equal(run.outputs["o"], golden)
    return codec.unpack(golden, params.transfer, dtype(params.transfer))["error"][::2] == 1


@pytest.mark.plan("coded-lines-3")
@pytest.mark.parametrize("mode", WRONG)
def test_a_tile_that_cannot_be_is_an_error(mode):
    """Of its four lines; the next tile is there."""
    memory = np.zeros(1 << 12, np.uint8)
    memory[2048] = mode
    assert outcome(memory, reads_of(1, 2, 2048)).tolist() == [True] * 4 + [False] * 4


@pytest.mark.plan("coded-lines-3")
def test_a_palette_with_spare_bits_or_differences_that_go_on():
    """Header bits that are none, widths that a transfer has no room for."""
    memory = np.zeros(1 << 12, np.uint8)
    memory[: 2 * 256] = 0xFF
    memory[2048] = (DIFFERENCES + 1) | (DIFFERENCES + 6) << 4
    memory[2049] = TileMode.PALETTE
    assert outcome(memory, reads_of(1, 3, 2048)).tolist() == [True] * 8 + [False] * 4


@pytest.mark.plan("coded-lines-7")
@pytest.mark.parametrize("transfer", range(9))
def test_memory_that_fails_is_an_error(transfer):
    """One of the transfers of a raw tile, or of its mode: of that tile, and of no other."""
    memory = np.random.default_rng(0).integers(0, 256, 1 << 15, np.uint8)
    memory[1 << 14 :] = TileMode.RAW * 17
    reads = reads_of(6, 10, 1 << 14)
    reads["mode_table"][120:] += 1  # modes of the second half are in another transfer
    reads["tile"][120:] -= 30
    fault = 5 * 256 + 32 * transfer if transfer < 8 else 1 << 14
    fails = outcome(memory, reads, fault)
    wanted = np.arange(240) // 4 == 5 if transfer < 8 else np.arange(240) < 120
    assert (fails == wanted).all()


@pytest.mark.plan("coded-lines-7")
def test_a_surface_that_memory_does_not_have():
    """Tiles, or tables, at addresses of all bits; what is cleared reads no tile."""
    memory = np.zeros(1 << 12, np.uint8)
    memory[2048:] = TileMode.RAW * 17
    reads = reads_of(1, 4, 2048)
    reads["line"][4:8] = (1 << 26) - 4 + np.arange(4)
    reads["mode_table"][8:12] = (1 << 27) - 1
    reads["tile"][12:] = 2 << 20
    assert outcome(memory, reads).tolist() == [False] * 4 + [True] * 12
    memory[2048:] = TileMode.CLEARED
    assert outcome(memory, reads).tolist() == [False] * 8 + [True] * 8


@pytest.mark.plan("coded-lines-6")
@pytest.mark.parametrize("config", by_tier(["tiny", "default"]))
def test_lines_take_two_clocks_of_any_mode(config, monkeypatch):
    """Four lines of a tile take eight clocks, and so do transfers of a raw tile."""
    params = CONFIGS[config]
    tiles = 128
    reads = np.zeros(4 * tiles, dtype(params.read))
    reads["line"] = np.arange(len(reads))
    reads["tile"] = np.arange(len(reads)) // 4
    reads["mode_table"] = tiles * 256 // 32
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    for mode in (TileMode.CLEARED, TileMode.PALETTE, TileMode.RAW, TileMode.DIFFERENCES_1):
        data = np.zeros(tiles * 256 + 96, np.uint8)  # one line of the table is fetched ahead
        data[tiles * 256 :] = mode * 17
        monkeypatch.setattr(bench, "memory", lambda *_, data=data: data.copy())
        clocks = clocks_of(reads, config, 0)
        assert clocks < 2 * len(reads) + 160 + (800 if config == "tiny" else 0)
        if mode == TileMode.CLEARED:  # a line of the table is fetched once for its 64 tiles
            assert clocks_of(reads, config, 100) < clocks + 3 * 100


def clocks_of(reads, config, latency):
    """Clocks that lines take, which are as expected, from memory of this latency."""
    run, _, count, first = catalogue.block(STEM).compare(
        volume.volume(STEM, config),
        codec.pack(reads, CONFIGS[config].read),
        config,
        behaviour={"latency": (latency, latency), "ready": 256},
        limit=volume.LIMIT,
    )
    assert not count, first
    return run.clocks


@pytest.mark.qualify
@pytest.mark.plan("coded-lines-9")
def test_lines_of_the_table_are_fetched_ahead(monkeypatch):
    """Of six lines the first one is waited for, and the second, since reads come in order. The
    others come while 32 tiles of eight clocks wait, as many as there are reads.
    """
    config = "default"
    reads = reads_of(1, 384, 0)
    memory = np.full(256, TileMode.CLEARED * 17, np.uint8)
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    monkeypatch.setattr(bench, "memory", lambda *_: memory.copy())
    reads["id"] = np.arange(len(reads)) % CONFIGS[config].places
    reads = reads.astype(dtype(CONFIGS[config].read))
    assert clocks_of(reads, config, 100) < clocks_of(reads, config, 0) + 250


def addresses(memory, reads):
    """Bytes that the hardware reads from, burst by burst."""
    rows = codec.pack(reads.astype(dtype(CONFIGS["tiny"].read)), CONFIGS["tiny"].read)
    unit = volume.volume(STEM, "tiny")
    more = {"memory": Memory(memory, (20, 20)), "keep": Keep(bursts=100)}
    run = unit.run({"i": rows}, 4 * len(rows), limit=volume.LIMIT, **more)
    return run.events.bursts["address"].tolist()


@pytest.mark.plan("coded-lines-9")
def test_what_is_fetched_ahead_is_one_line_of_the_page():
    """The next line of a table, once, with the second tile; of the last line of 4 KB none."""
    memory = np.full(1 << 14, TileMode.CLEARED * 17, np.uint8)
    assert addresses(memory, reads_of(1, 1, 4096)) == [4096]
    assert addresses(memory, reads_of(1, 20, 4096)) == [4096, 4128]
    assert addresses(memory, reads_of(1, 65, 4096)) == [4096, 4128]
    assert addresses(memory, reads_of(1, 66, 4096)) == [4096, 4128, 4160]
    apart = reads_of(1, 129, 4096)[[0, 4, 4 * 128]]  # the third tile's line replaces the first one
    assert addresses(memory, apart) == [4096, 4128, 4160]
    assert addresses(memory, reads_of(1, 20, 8160)) == [8160]
    assert addresses(memory, reads_of(1, 65, 8128)) == [8128, 8160]


@pytest.mark.plan("coded-lines-9")
@pytest.mark.parametrize("tiles", [60, 70])
def test_a_line_that_is_fetched_ahead_fails_its_own_tiles(tiles):
    """If memory cannot give it, and one of them counts."""
    memory = np.full(1 << 12, TileMode.CLEARED * 17, np.uint8)
    fails = outcome(memory, reads_of(1, tiles, 2048), fault=2048 + 32)
    assert (fails == (np.arange(4 * tiles) >= 4 * 64)).all()


@pytest.mark.plan("coded-lines-8")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"places": 6}, "places must be a power of two from 4 on, not 6"),
        ({"tiles": 1}, "tiles must be a power of two from 2 on, not 1"),
        ({"mode_lines": 3}, "mode_lines must be a power of two from 2 on, not 3"),
        ({"reads": 2}, "reads must be above 2, not 2"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(InputError, match=message):
        CodedLinesParams(**fields)
