# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.output.scan_out import Scan, setup_of
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, READ, Scene
from tests.host.presentation.screen import PARTS, SIDE, Screen
from tests.tiers import SEED

TILE = 256  # bytes of a raw tile


class Queue:
    """What a display shows, by pictures alone: one is shown, one may wait.

    Pictures have alpha, which is in memory and is not shown. ``moved`` counts tiles of one or two
    buffers: those that differ from what the buffer holds, all of one that was never written.
    """

    def __init__(self, count):
        self.count = count
        self.shown = np.zeros((SIDE, SIDE, 4), np.uint8)
        self.written = None  # what is shown, if it was presented
        self.hidden = None  # what the other buffer holds
        self.waiting = None
        self.y = 0
        self.moved = 0

    def line(self):
        row = self.shown[self.y, :, :3]
        self.y = (self.y + 1) % SIDE
        if self.y == 0 and self.waiting is not None:
            picture, frames = self.waiting
            self.waiting = (picture, frames - 1) if frames > 1 else None
            if frames == 1:
                self._swap(picture)
        return row

    def present(self, picture, interval):
        """Returns frames that are shown until there is a buffer."""
        waited = []
        while self.count == 2 and self.waiting is not None:
            waited.append(np.stack([self.line() for _ in range(SIDE - self.y)]))
        before = self.written if self.count == 1 else self.hidden
        differs = np.ones_like(picture) if before is None else picture != before
        self.moved += int(differs.reshape(2, 8, 2, 8, 4).any((1, 3, 4)).sum())
        self.hidden = picture
        if interval and self.count > 1:
            self.waiting = picture, interval
        else:
            self.waiting = None
            self._swap(picture)
        return waited

    def _swap(self, picture):
        self.hidden = self.written
        self.shown = self.written = picture


COLOUR = st.sampled_from(((0, 0, 0), (255, 0, 0), (0, 7, 255)))
STEP = st.one_of(
    st.tuples(st.sampled_from(sorted(PARTS)), COLOUR),
    st.tuples(st.just("present"), st.sampled_from((None, 0, 1, 1, 2, 4))),
    st.tuples(st.just("lines"), st.sampled_from((1, 5, SIDE, 3 * SIDE))),
)


@pytest.mark.plan("swap-chain-1")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("vsync", [False, True])
@pytest.mark.parametrize("coded", [False, True])
def test_draws_presents_and_lines_in_any_order(count, vsync, coded):
    @seed(SEED)
    @settings(max_examples=12, deadline=None, database=None)
    @given(st.lists(STEP, min_size=4, max_size=16))
    def check(steps):
        elimination = {"transaction_elimination": True}
        screen = Screen(coded=coded, buffers=count, vsync=vsync, **elimination)
        queue = Queue(count)
        picture = np.zeros((SIDE, SIDE, 4), np.uint8)
        presents = 0
        for what, value in (*steps, ("lines", 5 * SIDE)):
            if what == "present":
                waited = queue.present(picture.copy(), int(vsync) if value is None else value)
                screen.chain.present(value)
                presents += 1
                for expected in waited:
                    assert (screen.chain.frames.popleft() == expected).all()
                assert not screen.chain.frames
            elif what == "lines":
                for _ in range(value):
                    assert (screen.chain.display.line() == queue.line()).all()
            else:
                screen.draw(what, value)
                half = {"whole": slice(None), "left": slice(0, 8), "right": slice(8, 16)}
                picture[:, half[what]] = *value, 255
        display = screen.chain.display
        if not coded:
            assert display.moved + display.kept == presents * 4 * TILE
            assert count == 3 or display.moved == queue.moved * TILE

    check()


@pytest.mark.plan("swap-chain-2")
@pytest.mark.parametrize("form", [Format.R8G8B8A8_UNORM, Format.B8G8R8A8_UNORM_SRGB])
@pytest.mark.parametrize("coded", [False, True])
def test_a_frame_of_any_size_and_format_is_shown(form, coded):
    screen = Screen(13, 9, coded, form=form, buffers=1)
    # Red, green and blue are 0 or 1, which sRGB keeps.
    screen.draw("whole", (255, 0, 0))
    screen.draw("right", (0, 255, 0))
    screen.chain.present()
    frame = screen.chain.display.frame()
    assert frame.shape == (9, 13, 3)
    # The halves meet in the middle of a pixel, at 6.5: its centre lies on the edge of both, and is
    # the right one's, whose left edge it is [fs 3.4.2.1].
    assert (frame[:, :6] == (255, 0, 0)).all() and (frame[:, 6:] == (0, 255, 0)).all()


@pytest.mark.plan("swap-chain-2")
@pytest.mark.parametrize("bind", [DRAWN, DRAWN | READ, DRAWN | Bind.UNORDERED_ACCESS])
@pytest.mark.parametrize("coded", [False, True])
def test_the_hardware_can_scan_out_what_is_presented(coded, bind):
    """Whether or not the back buffer is coded as buffers of the display are."""
    screen = Screen(29, 19, coded, bind=bind, dither=True)
    screen.draw("whole", (3, 200, 100))
    screen.draw("right", (90, 1, 255))
    screen.chain.present(0)
    display = screen.chain.display
    setup = setup_of(screen.device.memory, display.buffers, dither=True)
    seen = Scan(screen.device.memory, setup)
    beats = seen.frame([display.front] * seen.rows, 1)
    frame = display.frame()
    assert len(np.unique(frame)) > 4  # dithered, of two colours
    assert not beats["error"].any()
    assert (beats["pixel0"].reshape(19, 29) == frame).all()


@pytest.mark.plan("swap-chain-2")
def test_the_back_buffer_keeps_its_views_and_its_frame():
    screen = Screen(bind=DRAWN | READ)
    for level in (10, 20, 30):
        screen.show(level)
        held = screen.scene.context.read(screen.chain.buffer)
        assert (held[..., :3] == level).all()
    screen.draw("left", (1, 1, 1))  # the right half is that of the frame before
    screen.chain.present(0)
    assert (screen.chain.display.frame()[:, 8:] == 30).all()
    assert screen.device.create_shader_resource_view(screen.chain.buffer)


@pytest.mark.plan("swap-chain-3")
@pytest.mark.parametrize("interval", [1, 2, 3, 4])
def test_a_frame_is_shown_behind_so_many(interval):
    screen = Screen()
    screen.show(1, 0)
    screen.greys(5)
    screen.show(2, np.int64(interval))
    before = 11 + SIDE * (interval - 1)
    assert screen.greys(before + SIDE) == [1] * before + [2] * SIDE


@pytest.mark.plan("swap-chain-3")
def test_an_interval_of_none_tears_a_frame():
    screen = Screen(vsync=False)
    screen.show(1)
    assert screen.greys(6) == [1] * 6
    screen.show(2)
    assert screen.greys(SIDE) == [2] * SIDE
    screen.show(3, 1)  # not at once, although by default it is
    assert screen.greys(10) == [2] * 10
    assert screen.greys(1) == [3]


@pytest.mark.plan("swap-chain-3")
def test_of_three_buffers_the_newest_is_shown():
    screen = Screen(buffers=3)
    for level in range(1, 9):
        screen.show(level)
    assert screen.greys(2 * SIDE) == [0] * SIDE + [8] * SIDE
    assert not screen.chain.frames
    screen.show(9, 4)
    screen.show(10, 1)  # the one that waits is forgotten, with its interval
    assert screen.greys(SIDE + 1) == [8] * SIDE + [10]


@pytest.mark.plan("swap-chain-4")
def test_frames_that_are_shown_meanwhile_are_kept():
    screen = Screen()
    screen.show(1)
    assert screen.greys(10) == [0] * 10
    screen.show(2)
    assert [len(frame) for frame in screen.chain.frames] == [6]
    assert not screen.chain.frames.popleft().any()
    for level in range(3, 30):
        screen.show(level)
    assert [int(frame[0, 0, 0]) for frame in screen.chain.frames] == list(range(12, 28))


@pytest.mark.plan("swap-chain-6")
def test_a_command_list_draws_to_the_back_buffer():
    screen = Screen(vsync=False)
    deferred = screen.device.create_deferred_context()
    deferred.clear_render_target_view(screen.target, (0, 1, 0, 1))
    commands = deferred.finish_command_list()
    for level in (1, 2):
        screen.show(level)
        screen.scene.context.execute_command_list(commands, restore_state=True)
        assert screen.greys(SIDE) == [level] * SIDE
        screen.chain.present()
        assert (screen.chain.display.frame() == (0, 255, 0)).all()


@pytest.mark.plan("swap-chain-4")
def test_one_of_two_chains_waits_for_its_own_display():
    screen = Screen()
    other = screen.device.create_swap_chain(SIDE, SIDE)
    for level in (1, 2):
        screen.show(level)
    other.present()
    assert not other.frames and len(screen.chain.frames) == 1
    assert not other.display.frame().any() and screen.greys(1) == [1]


@pytest.mark.plan("swap-chain-5")
def test_tiles_that_are_there_do_not_move():
    screen = Screen(32, 24, transaction_elimination=True, vsync=False)
    display = screen.chain.display
    moved = []
    for level in (1, 1, 1, 2, 2, 2):
        before = display.moved
        screen.draw("whole", (9, 9, 9))
        screen.draw("left", (level,) * 3)
        screen.chain.present()
        moved.append((display.moved - before) // TILE)
    # Each of two buffers has all once, and the left half again.
    assert moved == [12, 12, 0, 6, 6, 0]
    assert display.kept == 36 * TILE

    plain = Screen(32, 24, vsync=False)
    for _ in range(3):
        plain.show(1)
    assert (plain.chain.display.moved, plain.chain.display.kept) == (36 * TILE, 0)


@pytest.mark.plan("swap-chain-6")
def test_a_predicate_leaves_no_present_out():
    """Present is not affected by predication [fs 20.2]."""
    screen = Screen(vsync=False)
    context = screen.scene.context
    query = screen.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.begin(query)
    context.end(query)
    screen.draw("whole", (5, 5, 5))
    context.set_predication(query, False)
    screen.draw("whole", (6, 6, 6))
    screen.chain.present()
    assert screen.greys(SIDE) == [5] * SIDE


@pytest.mark.plan("swap-chain-6")
def test_a_chain_gives_its_memory_back():
    screen = Screen()
    device = screen.device
    before = device.heap.taken
    chains = [device.create_swap_chain(8, 8) for _ in range(15)]
    with pytest.raises(InputError, match=r"swap chains must lie in 1\.\.16, not 17"):
        device.create_swap_chain(8, 8)
    device.release(chains[3].buffer)
    with pytest.raises(InputError, match=r"SwapChain\.present: buffer must not be released"):
        chains[3].present()
    for chain in chains:
        device.release(chain)
        with pytest.raises(InputError, match="swap chain must not be released"):
            chain.present()
        with pytest.raises(InputError, match="swap chain must not be released"):
            chain.display.line()
    with pytest.raises(InputError, match="resource must not be released"):
        device.release(chains[0])
    assert device.heap.taken == before
    with pytest.raises(InputError, match="fit memory"):
        device.create_swap_chain(2048, 1024, buffers=1)  # one of the two would
    assert device.heap.taken == before
    screen.show(1, 0)
    assert screen.greys(1) == [1]


@pytest.mark.plan("swap-chain-6")
@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"buffers": 0}, r"buffers must lie in 1\.\.3, not 0"),
        ({"buffers": 4}, r"buffers must lie in 1\.\.3, not 4"),
        ({"form": Format.R16G16B16A16_FLOAT}, "format must be one of R8G8B8A8_UNORM,"),
        ({"form": Format.D32_FLOAT}, "format must be one of R8G8B8A8_UNORM,"),
        ({"bind": READ}, "bind must include RENDER_TARGET"),
        ({"width": 0}, r"width must lie in 1\.\.16384"),
        ({"vsync": "yes"}, "vsync must be"),
    ],
)
def test_what_is_no_swap_chain_is_refused(given, text):
    device = Scene().device
    before = device.heap.taken
    with pytest.raises(InputError, match=rf"Device\.create_swap_chain: {text}"):
        device.create_swap_chain(**{"width": 8, "height": 8, **given})
    assert device.heap.taken == before


@pytest.mark.plan("swap-chain-6")
@pytest.mark.parametrize("interval", [-1, 5, 1 << 40, 0.5])
def test_intervals_that_there_are_not_are_refused(interval):
    screen = Screen()
    with pytest.raises(InputError, match=r"SwapChain\.present: sync_interval must"):
        screen.chain.present(interval)
    assert screen.chain.display.moved == 0
