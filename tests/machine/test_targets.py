# SPDX-License-Identifier: BSD-2-Clause
"""Targets that are held on chip, of which a ring may call the same bytes by several names."""

from collections import Counter

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.memory.undo import UndoLog
from fixfunc.models.machine.targets import HeldTargets, at_layer
from fixfunc.models.memory.surface import to_image
from fixfunc.models.memory.tile_cache import words
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from tests.host.drawing import Scene

SIZE = 24, 16
ALL = ~np.uint64(0)


class Names:
    """One target of colours, which two views call by different formats, and one of depths."""

    def __init__(self, coded):
        scene = Scene(*SIZE, coded=coded)
        form = Format.R32_TYPELESS
        made = scene.device.create_texture2d(form, *SIZE, bind=Bind.RENDER_TARGET)
        view = scene.device.create_render_target_view(made, Format.R32_UINT)
        scene.context.clear_render_target_view(view, [0, 0, 0, 0])
        scene.context.flush()
        self.memory = scene.device.memory
        self.undo = UndoLog()
        self.counters = Counter()
        self.held = HeldTargets(self.memory, self.counters, self.undo)
        self.state = draw_state(*SIZE)
        words_of, bytes_of = (piece(view.encode(), VIEW).copy() for _ in range(2))
        bytes_of["stored"] = bytes_of["form"] = Format.R8G8B8A8_UNORM
        self.names = [at_layer(its, 0) for its in (words_of, bytes_of)]
        self.depth = at_layer(piece(scene.depth.encode(), VIEW), 0)

    def put(self, name, tile, value):
        """Write all of a tile."""
        tiles = np.zeros(1, dtype(payloads.TILE))
        tiles["x"], tiles["y"] = tile
        tiles["mask"] = ALL
        every = np.ones((1, 8, 8), bool)
        cache = self.held.colour(self.names[name], self.state)
        cache.merge(tiles, every, every, True, lambda _lanes, old: np.full_like(old, value))

    def image(self):
        """What memory holds in the end: bytes of each pixel's first channel."""
        self.held.write_back()
        (surface,) = self.names[0].surfaces(self.memory)
        tiles = words(surface.tiles()).reshape(*surface.shape, 8, 8)
        return to_image(tiles, *SIZE, 1)[..., 0] & 255


@pytest.mark.plan("machine-9")
@pytest.mark.parametrize("coded", [False, True])
def test_bytes_of_two_names_are_the_same_bytes(coded):
    target = Names(coded)
    for number, tile in enumerate([(0, 0), (1, 0), (0, 0), (2, 1), (1, 1)], 1):
        target.undo.begin()
        target.put(number % 2, tile, number)
    image = target.image()[::8, ::8]
    assert image.tolist() == [[3, 2, 0], [0, 5, 4]]


@pytest.mark.plan("machine-9")
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_work_that_fails_changes_no_bytes_of_either_name(coded, first):
    target = Names(coded)
    target.undo.begin()
    target.put(first, (0, 0), 1)
    target.undo.begin()
    for name, tile in ((0, (0, 0)), (1, (1, 0)), (0, (2, 0)), (1, (0, 0))):
        target.put(name, tile, 9)
    target.undo.roll_back()
    target.put(first, (2, 1), 2)
    assert target.image()[::8, ::8].tolist() == [[1, 0, 0], [0, 0, 2]]


@pytest.mark.plan("machine-9")
def test_what_is_held_of_other_targets_stays():
    """A target that shares no byte with another is written back when all are."""
    target = Names(True)
    target.put(0, (0, 0), 1)
    target.held.depth(target.depth, target.state)
    assert not target.counters
    target.held.write_back()
    assert target.counters["colour_write_back_1"] == 1
    assert not target.counters["depth_write_back_1"]
