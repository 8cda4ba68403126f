# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory, Volume
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.output.display.display import Display, dithered
from fixfunc.models.output.scan_out import Scan, setup_of
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.display import scan_out as rtl
from fixfunc.spec.colours import scanned
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode
from fixfunc.tb.__main__ import main
from fixfunc.tb.output import scan_out as bench
from fixfunc.tb.output.show import picture, scanned_out
from tests.bench import check_bench
from tests.host.drawing import MEMORY, WHOLE, Scene
from tests.tiers import by_tier
from tests.volume import LIMIT, check_paces, volume

BLOCK = "scan_out"
TINY = rtl.CONFIGS["tiny"]
FORMS = (Format.R8G8B8A8_UNORM, Format.B8G8R8A8_UNORM_SRGB)


def scan(setup, orders, data, config="tiny", paces=("full", "full"), **memory):
    """Records of beats, and the clocks that they took."""
    fields = scanned(rtl.CONFIGS[config].pixels)
    rows = bench.ordered(setup, orders)
    run = volume(BLOCK, config).run(
        {"i": rows}, 1 << 18, paces, limit=LIMIT, memory=Memory(data.copy(), **memory)
    )
    assert not len(run.outside)
    return codec.unpack(run.outputs["o"], fields, dtype(fields)), run.clocks


def noise(seed=0):
    return np.random.default_rng(seed).integers(0, 256, bench.SIZE, np.uint8)


def fronts(beats):
    """Buffers of frames: of each the buffer of every line."""
    lines = beats[beats["line_end"] == 1]
    return [
        frame["buffer"].tolist()
        for frame in np.split(lines, np.flatnonzero(lines["frame_end"]) + 1)
        if len(frame)
    ]


def device_with(views, form, size, coded):
    """A device with buffers of noise and flat parts, and their views."""
    device = Device(MEMORY, coded=coded)
    rng = np.random.default_rng(size)
    found = []
    for _ in range(views):
        texels = rng.integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
        texels[: size[1] // 2] = texels[0, 0]
        texture = device.create_texture2d(form, *size, data=[texels], bind=Bind.RENDER_TARGET)
        found.append(piece(device.create_render_target_view(texture).encode(), VIEW))
    return device, found


# Golden.


@pytest.mark.plan("scan-out-1")
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("dither", [False, True])
def test_beats_are_lines_of_the_display(form, coded, dither):
    for size in ((1, 1), (29, 19), (64, 8)):
        device, views = device_with(3, form, size, coded)
        display = Display(device.memory, views, dither=dither)
        setup = setup_of(device.memory, views, dither=dither)
        seen = Scan(device.memory, setup)
        for _ in range(3):
            front = display.front
            frame = display.frame()
            beats = seen.frame([front] * seen.rows, 8)
            assert not beats["error"].any() and (beats["buffer"] == front).all()
            assert picture(beats, size, bool(dither), 8).tolist() == frame.tolist()
            display.present()
            display.frame()


@pytest.mark.plan("scan-out-1")
def test_what_is_not_tiled_has_no_setup():
    device = Device(MEMORY)
    texture = device.create_texture2d(FORMS[0], 8, 8)
    view = piece(device.create_shader_resource_view(texture).encode(), VIEW)
    with pytest.raises(InputError, match="target must be tiled"):
        setup_of(device.memory, [view])


# Hardware.


@pytest.mark.plan("scan-out-2")
@pytest.mark.parametrize(
    ("config", "count"), by_tier([("tiny", 300), ("default", 60)], also=["default"])
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("scan-out-3")
def test_two_buffers_wait_for_the_frame_or_tear_it():
    size = (64, 64)
    setup = bench.setup_at(size, buffers=2)
    beats, _ = scan(setup, "FPFPFF", noise())
    assert fronts(beats) == [[0] * 64, [1] * 64, [0] * 64, [0] * 64]
    setup["vsync"] = 0
    beats, _ = scan(setup, "FPF", noise())
    torn, after = fronts(beats)
    assert torn == sorted(torn) and {*torn} == {0, 1} and torn.index(1) % 8 == 0
    assert after == [1] * 64


@pytest.mark.plan("scan-out-3")
def test_one_buffer_is_shown_whatever_is_presented():
    for vsync in (0, 1):
        beats, _ = scan(bench.setup_at((9, 9), vsync=vsync), "PPFPPF", noise())
        assert fronts(beats) == [[0] * 9] * 2


@pytest.mark.plan("scan-out-3")
def test_three_buffers_never_wait_and_show_the_newest():
    setup = bench.setup_at((64, 64), buffers=3)
    beats, _ = scan(setup, "FPFPPFPPPFF", noise())
    # Drawn behind the first frame: 1; behind the next ones 2, then 0; 2, 1, then 2 again.
    assert [front[0] for front in fronts(beats)] == [0, 1, 0, 2, 2]


@pytest.mark.plan("scan-out-5")
@pytest.mark.parametrize("coded", [0, 1])
@pytest.mark.parametrize(("width", "latency"), [(2048, 200), (1000, 100)])
def test_eight_pixels_a_clock_at_full_width(width, latency, coded):
    """Of tiles of 8 transfers and of none: once a row of tiles has come no clock is lost, to a
    memory that answers later by fewer clocks than a row has tiles, and moves 32 bytes in each.
    """
    data = np.zeros(bench.SIZE, np.uint8) if coded else noise()
    setup = bench.setup_at((width, 24), coded=coded, buffers=2)
    beats, clocks = scan(setup, "F", data, "default", latency=(latency,) * 2, ready=256)
    row = -(-width // 8)
    assert len(beats) == 24 * row
    assert clocks < len(beats) + 8 * row + 300


@pytest.mark.plan("scan-out-5")
def test_a_beat_a_clock():
    """Once a row of tiles has come, as long as the next one comes in time."""
    beats, clocks = scan(bench.setup_at((64, 64)), "F", noise(), latency=(8, 8), ready=256)
    assert len(beats) == 1024
    assert clocks < 1024 + 64 + 60


@pytest.mark.plan("scan-out-10")
def test_no_code_is_read_before_its_line_has_come():
    """More reads in flight than a line of the table has codes, to a memory that answers late."""
    params = rtl.ScanOutParams(pixels=8, side=2048, reads=256)
    rng = np.random.default_rng(2)
    data = noise()
    setup = bench.setup_at((2048, 16), coded=1, cleared0=0x123456)
    table = int(setup["table0"])
    data[table : table + 256] = rng.choice([0, 0x10, 0x01], 256) * rng.integers(0, 2, 256)
    component = bench.Harness(params)
    run = Volume(component, BLOCK).run(
        {"i": bench.ordered(setup, "F")}, 1 << 14, memory=Memory(data, (800, 800), 256)
    )
    fields = scanned(params.pixels)
    beats = codec.unpack(run.outputs["o"], fields, dtype(fields))
    assert (beats == Scan(data, setup).frame([0, 0], params.pixels)).all()


@pytest.mark.plan("scan-out-6")
@pytest.mark.parametrize("coded", [0, 1])
def test_a_frame_says_that_memory_failed(coded):
    """One transfer at a time: of a tile, of the table; the next buffer is whole."""
    setup = bench.setup_at((60, 20), coded=coded, buffers=2, vsync=0)
    data = noise()
    places = int(setup["base0"]), int(setup["table0"])
    data[places[1] : places[1] + 12] = TileMode.PALETTE | TileMode.RAW << 4
    data[int(setup["table1"]) :][:12] = TileMode.RAW * 17
    for fault, errors in (
        (places[0], 1),
        (places[0] + 255, 0 if coded else 1),
        (places[0] + 256 + 255, 1),
        (places[0] + 23 * 256 + 32, 1),
        (places[1] + 31, coded),
        (places[1] + 32, 0),
        (places[0] + 24 * 256 + 32, 0),
    ):
        beats, _ = scan(setup, "FPF", data, faults=(fault, fault))
        ends = beats[beats["frame_end"] == 1]
        first = Scan(data, setup, TINY.side, fault)
        golden = first.frame([0] * 3, TINY.pixels)
        assert golden["error"][-1] == min(errors, 1)
        if beats["buffer"][: len(golden)].any():
            golden = first.frame(fronts(beats)[0][::8], TINY.pixels)
        assert (beats[: len(golden)] == golden).all()
        assert ends["error"][1] == 0


@pytest.mark.plan("scan-out-6")
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, 0),
        ({"buffers": 0}, 1),
        ({"width": 0}, 1),
        ({"height": 0}, 1),
        ({"width": 65}, 1),
        ({"height": 65}, 1),
        ({"height": 4095, "width": 4095}, 1),
    ],
)
def test_setups_that_are_refused(fields, error):
    """A black beat with an error is a frame of theirs; the next setup counts."""
    setup = bench.setup_at((64, 64), **fields)
    data = noise()
    rows = np.concatenate([bench.ordered(setup, "FPF"), bench.ordered(bench.setup_at((8, 8)), "F")])
    fields = scanned(TINY.pixels)
    run = volume(BLOCK, "tiny").run({"i": rows}, 1 << 16, limit=LIMIT, memory=Memory(data))
    beats = codec.unpack(run.outputs["o"], fields, dtype(fields))
    ends = beats[beats["frame_end"] == 1]
    assert ends["error"].tolist() == [error, error, 0]
    assert len(beats) == 2 * (1 if error else 1024) + 16


@pytest.mark.plan("scan-out-7")
def test_every_value_is_dithered_at_every_threshold():
    values = np.arange(256, dtype=np.uint8).reshape(16, 16).repeat(4, 0).repeat(4, 1)
    texels = np.stack([values, values[::-1], values[:, ::-1], values], -1)
    data = np.zeros(bench.SIZE, np.uint8)
    tiles = texels.reshape(8, 8, 8, 8, 4).swapaxes(1, 2)
    data[: texels.size] = tiles.reshape(-1)
    beats, _ = scan(bench.setup_at((64, 64), dither=1), "F", data)
    assert (picture(beats, (64, 64), True, TINY.pixels) == dithered(texels[..., :3])).all()


@pytest.mark.plan("scan-out-8")
def test_a_drawn_frame_is_shown_from_scan_out(tmp_path):
    """Drawn by device and context, scanned out by the hardware, written, and read back."""
    scene = Scene(60, 44, coded=True)
    scene.context.clear_render_target_view(scene.target, (0.1, 0.2, 0.3, 1))
    for n in range(7):
        scene.draw(WHOLE * np.float32(0.4 - 0.05 * n), (n / 7, 1 - n / 7, 0.5, 1), 0.9 - 0.1 * n)
    scene.context.flush()
    drawn = scene.context.read(scene.colours)[:, :, 0]
    view = piece(scene.target.encode(), VIEW)
    image = scanned_out(scene.device.memory, setup_of(scene.device.memory, [view]), "tiny")
    Image.fromarray(image).save(tmp_path / "scan_out.png")
    read = np.asarray(Image.open(tmp_path / "scan_out.png"))
    assert len(np.unique(read.reshape(-1, 3), axis=0)) > 5
    assert (read == drawn[..., :3]).all()


@pytest.mark.plan("scan-out-8")
def test_a_command_writes_a_picture(tmp_path, capsys):
    arguments = ["show", "--size", "64x48", "--config", "tiny", "-o", str(tmp_path)]
    assert main(arguments) == 0
    assert "every pixel is that of the frame" in capsys.readouterr().out
    image = np.asarray(Image.open(tmp_path / "scan_out.png"))
    assert image.shape == (48, 64, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    assert main(["show", "--size", "64", "-o", str(tmp_path)]) == 2
    assert "size must be WIDTHxHEIGHT in pixels, not 64" in capsys.readouterr().err


# Icarus takes minutes for tiles of this width.
@pytest.mark.plan("scan-out-4")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("scan-out-9")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pixels": 2}, "pixels must be 4 or 8, not 2"),
        ({"side": 4096}, r"side must lie in 8\.\.2048, not 4096"),
        ({"side": 7}, r"side must lie in 8\.\.2048, not 7"),
        ({"reads": 2}, "reads must be above 2, not 2"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(InputError, match=message):
        rtl.ScanOutParams(**fields)
