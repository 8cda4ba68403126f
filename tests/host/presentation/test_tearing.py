# SPDX-License-Identifier: BSD-2-Clause
"""A person sees a buffer that is drawn while it is scanned out: two pictures meet at a line."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.output.display.display import Display
from fixfunc.models.output.scan_out import Scan, setup_of
from fixfunc.spec.descriptors import VIEW
from fixfunc.tb.output.show import picture
from tests.host.drawing import LEFT, WHOLE, Scene
from tests.host.presentation.screen import SIDE, Screen

# A bar that moves from the left half to the right one.
OLD, NEW, EMPTY = np.zeros((3, SIDE, SIDE, 3), np.uint8)
OLD[:, : SIDE // 2] = 255
NEW[:, SIDE // 2 :] = 255
WHITE, BLACK = (255,) * 3, (0,) * 3


def bar(screen, part):
    """Draw the bar in a half of the back buffer."""
    screen.draw("whole", BLACK)
    screen.draw(part, WHITE)


def moved(line, interval, **chain):
    """Two frames from the end of one on: a bar is shown, and moves behind some lines."""
    screen = Screen(**chain)
    bar(screen, "left")
    screen.chain.present(0)
    display = screen.chain.display
    lines = [display.line() for _ in range(line)]
    bar(screen, "right")
    screen.chain.present(interval)
    assert not screen.chain.frames
    lines += [display.line() for _ in range(2 * SIDE - line)]
    return np.stack(lines).reshape(2, SIDE, SIDE, 3), screen


def torn(line):
    """The old picture above a line, the new one from it on."""
    return np.concatenate([OLD[:line], NEW[line:]])


@pytest.mark.plan("swap-chain-8")
@pytest.mark.parametrize(
    ("interval", "chain"),
    [
        (0, {"buffers": 2}),
        (0, {"buffers": 3}),
        (None, {"buffers": 2, "vsync": False}),
        (None, {"buffers": 3, "vsync": False}),
        (0, {"buffers": 2, "coded": True}),
        (0, {"buffers": 1}),
        (1, {"buffers": 1}),  # of one buffer whatever is asked for
        (4, {"buffers": 1, "vsync": False}),
    ],
)
def test_a_frame_is_torn_at_the_line_that_the_scan_has_reached(interval, chain):
    for line in range(1, SIDE):
        frames, _ = moved(line, interval, **chain)
        assert (frames[0] == torn(line)).all(), line
        assert (frames[1] == NEW).all(), line


@pytest.mark.plan("swap-chain-8")
@pytest.mark.parametrize(
    ("interval", "chain"),
    [
        (1, {"buffers": 2}),
        (1, {"buffers": 3}),
        (None, {"buffers": 2}),
        (None, {"buffers": 3, "coded": True}),
        (1, {"buffers": 2, "vsync": False}),
    ],
)
def test_no_frame_is_torn_with_an_interval(interval, chain):
    for line in range(SIDE):
        frames, _ = moved(line, interval, **chain)
        assert (frames[0] == OLD).all(), line
        assert (frames[1] == NEW).all(), line


@pytest.mark.plan("swap-chain-8")
@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_between_two_frames_nothing_is_torn(buffers):
    frames, _ = moved(0, 0, buffers=buffers)
    assert (frames == NEW).all()


@pytest.mark.plan("swap-chain-8")
def test_two_tears_in_one_frame_are_three_pictures():
    """Frames that come faster than the screen shows them; the one between is seen, too."""
    screen = Screen(buffers=3)
    lines = []
    for part in ("left", "right", "left"):
        bar(screen, part)
        screen.chain.present(0)
        lines += [screen.chain.display.line() for _ in range(5)]
    lines.append(screen.chain.display.line())
    assert (np.stack(lines) == np.concatenate([OLD[:5], NEW[5:10], OLD[10:]])).all()


@pytest.mark.plan("swap-chain-8")
@pytest.mark.parametrize("interval", [0, 1])
def test_no_frame_that_is_half_drawn_is_seen(interval):
    """What is drawn to the back buffer is not shown before it is presented, torn or not."""
    screen = Screen(buffers=2)
    bar(screen, "left")
    screen.chain.present(0)
    display = screen.chain.display
    lines = [display.line() for _ in range(4)]
    screen.draw("whole", BLACK)
    screen.scene.context.flush()
    lines += [display.line() for _ in range(4)]
    screen.draw("right", WHITE)
    screen.scene.context.flush()
    lines += [display.line() for _ in range(4)]
    screen.chain.present(interval)
    lines += [display.line() for _ in range(4)]
    assert (np.stack(lines) == (OLD if interval else torn(12))).all()


@pytest.mark.plan("display-6")
@pytest.mark.parametrize("coded", [False, True])
def test_a_target_that_is_scanned_out_shows_each_draw_from_its_line_on(coded):
    """Without a back buffer a frame that is half drawn is seen: it flickers."""
    scene = Scene(SIDE, SIDE, coded=coded)
    scene.context.om.set_render_targets([scene.target])
    display = Display(scene.device.memory, [piece(scene.target.encode(), VIEW)])

    def draw(points, colour):
        scene.draw(points, (*colour, 1))
        scene.context.flush()

    draw(LEFT, (1, 1, 1))
    lines = [display.line() for _ in range(4)]
    draw(WHOLE, (0, 0, 0))
    lines += [display.line() for _ in range(5)]
    draw(LEFT + (1, 0), (1, 1, 1))
    lines += [display.line() for _ in range(SIDE - 9)]
    assert (np.stack(lines) == np.concatenate([OLD[:4], EMPTY[4:9], NEW[9:]])).all()
    assert (display.frame() == NEW).all()


@pytest.mark.plan("display-6")
def test_hardware_shows_a_tear_between_rows_of_tiles():
    """Where buffers change between two rows of tiles, both show the same torn frame."""
    for line in (8, 16):
        screen = Screen(SIDE, 24, buffers=2)
        bar(screen, "left")
        screen.chain.present(0)
        display = screen.chain.display
        before = display.front
        lines = [display.line() for _ in range(line)]
        bar(screen, "right")
        screen.chain.present(0)
        lines += [display.line() for _ in range(24 - line)]
        seen = Scan(screen.device.memory, setup_of(screen.device.memory, display.buffers))
        fronts = [before if row * 8 < line else display.front for row in range(3)]
        beats = seen.frame(fronts, 8)
        assert (picture(beats, (SIDE, 24), False, 8) == np.stack(lines)).all()
        assert (lines[line - 1] == OLD[0]).all() and (lines[line] == NEW[0]).all()
