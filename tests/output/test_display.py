# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.output.display.display import Display, dithered
from fixfunc.models.output.transaction_elimination import TransactionElimination, signatures
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, Stalled
from tests.host.drawing import MEMORY, Scene
from tests.host.presentation.screen import Screen

RGBA8 = Format.R8G8B8A8_UNORM


@pytest.mark.plan("display-1")
@pytest.mark.parametrize("form", [RGBA8, Format.B8G8R8A8_UNORM], ids=lambda form: form.name)
def test_what_has_been_drawn_is_scanned_out(form):
    screen = Screen(32, 24, form=form)
    screen.draw("whole", (10, 20, 30))
    screen.chain.present()
    assert not screen.chain.display.frame().any()
    assert (screen.chain.display.frame() == (10, 20, 30)).all()


@pytest.mark.plan("display-1")
@pytest.mark.parametrize("coded", [False, True])
def test_a_level_of_a_layer_and_a_slice_are_scanned_out(coded):
    device = Device(MEMORY, coded=coded)
    volume = device.create_texture3d(RGBA8, 16, 12, 8, 2, Bind.RENDER_TARGET)
    several = device.create_texture2d(RGBA8, 16, 12, 2, 3, bind=Bind.RENDER_TARGET)
    for texture in (volume, several):
        view, other = (
            device.create_render_target_view(texture, first_level=1, first_layer=n, layer_count=1)
            for n in (2, 1)
        )
        device.context.clear_render_target_view(view, (1, 0, 1, 1))
        device.context.clear_render_target_view(other, (0, 1, 0, 1))
        frame = Display(device.memory, [piece(view.encode(), VIEW)]).frame()
        assert frame.shape == (6, 8, 3) and (frame == (255, 0, 255)).all()


@pytest.mark.plan("display-1")
def test_one_buffer_shows_at_once_what_comes_to_it():
    screen = Screen(32, 24, buffers=1)
    assert screen.greys(12) == [0] * 12
    screen.show(3)
    assert screen.greys(12) == [3] * 12


@pytest.mark.plan("display-2")
def test_two_buffers_wait_for_the_frame_or_tear_it():
    screen = Screen(32, 24)
    assert screen.greys(10) == [0] * 10
    screen.show(1)
    with pytest.raises(Stalled):
        _ = screen.chain.display.back
    assert screen.greys(38) == [0] * 14 + [1] * 24

    torn = Screen(32, 24, vsync=False)
    assert torn.greys(10) == [0] * 10
    torn.show(1)
    assert torn.chain.display.back == 0
    assert torn.greys(14) == [1] * 14


@pytest.mark.plan("display-2")
@pytest.mark.parametrize("vsync", [False, True])
def test_three_buffers_never_wait_and_show_the_newest(vsync):
    screen = Screen(32, 24, buffers=3, vsync=vsync)
    display = screen.chain.display
    rng = np.random.default_rng(3)
    for newest in range(1, 60):
        assert display.back != display.front
        screen.show(newest)
        if rng.random() < 0.4:
            assert len(np.unique(display.frame())) == 1
            assert (display.frame() == newest).all()
    assert not screen.chain.frames


@pytest.mark.plan("display-3")
def test_dithering_keeps_the_mean_and_the_ends():
    for value in range(256):
        block = np.full((4, 4, 3), value, np.uint8)
        packed = dithered(block).astype(int)
        for shift, most in ((11, 31), (5, 63), (0, 31)):
            levels = packed >> shift & most
            mean = Fraction(int(levels.sum()), 16)
            assert abs(mean - Fraction(value * most, 255)) <= Fraction(1, 32)
            assert levels.max() - levels.min() <= 1
            if value in (0, 255):
                assert (levels == value * most // 255).all()
    whole = np.random.default_rng(1).integers(0, 256, (12, 16, 3), dtype=np.uint8)
    rows = [dithered(whole[n : n + 1], n)[0] for n in range(12)]
    assert (np.stack(rows) == dithered(whole)).all()


@pytest.mark.plan("display-3")
def test_a_dithered_frame_is_that_of_its_colours():
    screen = Screen(32, 24, buffers=1, dither=True)
    screen.draw("whole", (100, 150, 200))
    screen.chain.present()
    frame = screen.chain.display.frame()
    assert frame.dtype == np.uint16
    assert (frame == dithered(np.full((24, 32, 3), (100, 150, 200), np.uint8))).all()


@pytest.mark.plan("display-4")
def test_an_identical_frame_moves_nothing():
    screen = Screen(32, 24, buffers=1)
    display = screen.chain.display
    writer = TransactionElimination(screen.device.memory, display.buffers[0])
    rng = np.random.default_rng(4)
    tiles = rng.integers(0, 256, (3, 4, 8, 8, 4), dtype=np.uint8)
    assert writer.write(tiles).all()
    assert (writer.moved, writer.kept) == (3 * 4 * 256, 0)
    first = display.frame()
    assert not writer.write(tiles).any()
    assert (writer.moved, writer.kept) == (3 * 4 * 256, 3 * 4 * 256)
    tiles[1, 2, 7, 7, 3] ^= 1
    tiles[0, 0, 0, 0, 0] ^= 128
    changed = writer.write(tiles)
    assert np.argwhere(changed).tolist() == [[0, 0], [1, 2]]
    assert writer.moved == 14 * 256
    second = display.frame()
    assert (first != second).any(2).sum() == 1
    with pytest.raises(InputError, match="tiles must be uint8 of shape"):
        writer.write(tiles[:1])


@pytest.mark.plan("display-4")
def test_signatures_are_crc_64():
    text = np.frombuffer(b"123456789", np.uint8)
    # The published check value of CRC-64/XZ.
    assert signatures(text[None])[0] == 0x995DC9BBDF1939FA
    rng = np.random.default_rng(5)
    tiles = rng.integers(0, 256, (500, 256), dtype=np.uint8)
    bits = tiles.copy()
    bits[np.arange(500), rng.integers(0, 256, 500)] ^= 1 << rng.integers(0, 8, 500).astype(np.uint8)
    assert (signatures(tiles) != signatures(bits)).all()
    assert len(np.unique(signatures(tiles))) == 500


@pytest.mark.plan("display-5")
def test_buffers_that_do_not_fit_are_refused():
    screen = Screen(32, 24)
    memory = screen.device.memory
    with pytest.raises(InputError, match=r"buffers must lie in 1\.\.3, not 0"):
        Display(memory, [])
    wrong = Scene(32, 24, samples=4)
    view = piece(wrong.target.encode(), VIEW)
    with pytest.raises(InputError, match="buffer must be of one sample"):
        Display(wrong.device.memory, [view])
    small = screen.device.create_texture2d(RGBA8, 16, 8, bind=Bind.RENDER_TARGET)
    small_view = piece(screen.device.create_render_target_view(small).encode(), VIEW)
    with pytest.raises(InputError, match="buffers must be of one size"):
        Display(memory, [screen.chain.display.buffers[0], small_view])
