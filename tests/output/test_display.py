# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.frontend.state_pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.output.display.display import Display, dithered
from fixfunc.models.output.transaction_elimination import TransactionElimination, signatures
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, Stalled
from tests.host.drawing import MEMORY, WHOLE, Scene

RGBA8 = Format.R8G8B8A8_UNORM


class Screen:
    """A display of buffers that a scene draws to."""

    def __init__(self, count, form=RGBA8, **display):
        self.scene = Scene(32, 24)
        device = self.scene.device
        textures = [
            device.create_texture2d(form, 32, 24, bind=Bind.RENDER_TARGET) for _ in range(count)
        ]
        self.targets = [device.create_render_target_view(texture) for texture in textures]
        self.views = [piece(view.encode(), VIEW) for view in self.targets]
        self.display = Display(device.memory, self.views, **display)

    def draw(self, colour):
        """Fill the buffer that is drawn to."""
        self.scene.context.om.set_render_targets([self.targets[self.display.back]])
        self.scene.draw(WHOLE, (*(value / 255 for value in colour), 1))
        self.scene.context.flush()


def lines(display, count):
    return np.stack([display.line() for _ in range(count)])


@pytest.mark.plan("display-1")
@pytest.mark.parametrize("form", [RGBA8, Format.B8G8R8A8_UNORM], ids=lambda form: form.name)
def test_what_has_been_drawn_is_scanned_out(form):
    screen = Screen(2, form)
    screen.draw((10, 20, 30))
    screen.display.present()
    assert not screen.display.frame().any()
    assert (screen.display.frame() == (10, 20, 30)).all()


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
def test_one_buffer_shows_what_is_being_drawn():
    screen = Screen(1)
    assert not lines(screen.display, 12).any()
    screen.draw((1, 2, 3))
    screen.display.present()
    assert (lines(screen.display, 12) == (1, 2, 3)).all()


@pytest.mark.plan("display-2")
def test_two_buffers_wait_for_the_frame_or_tear_it():
    screen = Screen(2)
    screen.draw((1, 1, 1))
    lines(screen.display, 10)
    screen.display.present()
    with pytest.raises(Stalled):
        _ = screen.display.back
    assert not lines(screen.display, 14).any()
    screen.draw((2, 2, 2))
    assert (screen.display.frame() == 1).all()

    torn = Screen(2, vsync=False)
    torn.draw((1, 1, 1))
    upper = lines(torn.display, 10)
    torn.display.present()
    assert torn.display.back == 0
    lower = lines(torn.display, 14)
    assert not upper.any() and (lower == 1).all()


@pytest.mark.plan("display-2")
@pytest.mark.parametrize("vsync", [False, True])
def test_three_buffers_never_wait_and_show_the_newest(vsync):
    screen = Screen(3, vsync=vsync)
    rng = np.random.default_rng(3)
    newest = 0
    for n in range(1, 60):
        screen.draw((n, n, n))
        assert screen.display.back != screen.display.front
        screen.display.present()
        newest = n
        if rng.random() < 0.4:
            shown = screen.display.frame()
            assert len(np.unique(shown)) == 1
            shown = screen.display.frame()
            assert (shown == newest).all()


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
    screen = Screen(1, dither=True)
    screen.draw((100, 150, 200))
    frame = screen.display.frame()
    assert frame.dtype == np.uint16
    assert (frame == dithered(np.full((24, 32, 3), (100, 150, 200), np.uint8))).all()


@pytest.mark.plan("display-4")
def test_an_identical_frame_moves_nothing():
    screen = Screen(1)
    writer = TransactionElimination(screen.scene.device.memory, screen.views[0])
    rng = np.random.default_rng(4)
    tiles = rng.integers(0, 256, (3, 4, 8, 8, 4), dtype=np.uint8)
    assert writer.write(tiles).all()
    assert (writer.moved, writer.kept) == (3 * 4 * 256, 0)
    first = screen.display.frame()
    assert not writer.write(tiles).any()
    assert (writer.moved, writer.kept) == (3 * 4 * 256, 3 * 4 * 256)
    tiles[1, 2, 7, 7, 3] ^= 1
    tiles[0, 0, 0, 0, 0] ^= 128
    changed = writer.write(tiles)
    assert np.argwhere(changed).tolist() == [[0, 0], [1, 2]]
    assert writer.moved == 14 * 256
    second = screen.display.frame()
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
    screen = Screen(2)
    memory = screen.scene.device.memory
    with pytest.raises(InputError, match=r"buffers must lie in 1\.\.3, not 0"):
        Display(memory, [])
    wrong = Scene(32, 24, samples=4)
    view = piece(wrong.target.encode(), VIEW)
    with pytest.raises(InputError, match="buffer must be of one sample"):
        Display(wrong.device.memory, [view])
    small = screen.scene.device.create_texture2d(RGBA8, 16, 8, bind=Bind.RENDER_TARGET)
    small_view = piece(screen.scene.device.create_render_target_view(small).encode(), VIEW)
    with pytest.raises(InputError, match="buffers must be of one size"):
        Display(memory, [screen.views[0], small_view])
