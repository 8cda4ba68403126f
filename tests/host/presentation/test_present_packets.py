# SPDX-License-Identifier: BSD-2-Clause
"""PRESENT packets of a ring, without the host's swap chain."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import encode, piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.machine import Machine
from fixfunc.models.output.display.display import Display
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import FIELDS, LENGTHS, RingOp, Stop
from tests.host.drawing import MEMORY

RING = 1 << 12  # bytes


class Ring:
    """A machine with displays, a texture that is presented, and the host's end of a ring."""

    def __init__(self, *counts):
        self.device = Device(MEMORY, coded=False)
        self.memory = self.device.memory
        self.frame = self._view()
        base = self.device.heap.take(RING)
        self.machine = Machine(self.memory, base, RING, {})
        for n, count in enumerate(counts):
            views = [piece(self._view().encode(), VIEW) for _ in range(count)]
            self.machine.displays[n] = Display(self.memory, views)
        self.write = base

    def _view(self, samples=1, **texture):
        given = {"form": Format.R8G8B8A8_UNORM, "width": 8, "height": 8, **texture}
        made = self.device.create_texture2d(**given, sample_count=samples, bind=Bind.RENDER_TARGET)
        return self.device.create_render_target_view(made)

    def put(self, op, *more, **fields):
        data = encode(FIELDS[op], opcode=op, length=LENGTHS[op], **fields) + b"".join(more)
        self.memory[self.write : self.write + len(data)] = np.frombuffer(data, np.uint8)
        self.write += len(data)

    def present(self, level, display=0, sync_interval=1, **changed):
        """A clear, and a PRESENT behind it."""
        bits = int(np.float32(level / 255).view(np.uint32))
        values = dict.fromkeys(("value0", "value1", "value2", "value3"), bits)
        self.put(RingOp.CLEAR, self.frame.encode(), colour=1, **values)
        view = piece(self.frame.encode(), VIEW)
        fields = {name: int(view[name]) for name in view.dtype.names} | changed
        more = encode(VIEW, **fields)
        self.put(RingOp.PRESENT, more, display=display, sync_interval=sync_interval)

    def go_on(self):
        return self.machine.submit(self.write).stop

    def shown(self, display=0):
        frame = self.machine.displays[display].frame()
        assert (frame == frame[0, 0, 0]).all()
        return int(frame[0, 0, 0])


@pytest.mark.plan("swap-chain-4")
def test_the_processor_waits_until_a_buffer_is_free():
    ring = Ring(2)
    for level in (1, 2, 3):
        ring.present(level)
    shown = []
    for _ in range(2):
        assert ring.go_on() == Stop.WAIT
        assert ring.go_on() == Stop.WAIT  # it waits for the display alone
        shown.append(ring.shown())
    assert ring.go_on() == Stop.EMPTY
    shown += [ring.shown(), ring.shown()]
    assert shown == [0, 1, 2, 3]


@pytest.mark.plan("swap-chain-4")
@pytest.mark.parametrize("count", [1, 3])
def test_the_processor_does_not_wait_for_one_buffer_or_three(count):
    ring = Ring(count)
    for level in range(1, 9):
        ring.present(level)
    assert ring.go_on() == Stop.EMPTY
    assert [ring.shown(), ring.shown()] == [8 if count == 1 else 0, 8]


@pytest.mark.plan("swap-chain-4")
def test_a_display_that_waits_holds_the_ring_up():
    """Packets are executed in order: what is behind one that waits is another display's, too."""
    ring = Ring(2, 2)
    for display, level in ((0, 1), (1, 2), (0, 3), (1, 4)):
        ring.present(level, display)
    assert ring.go_on() == Stop.WAIT
    assert [ring.shown(1), ring.shown(1)] == [0, 2]
    assert ring.go_on() == Stop.WAIT
    assert [ring.shown(0), ring.shown(0)] == [0, 1]
    assert ring.go_on() == Stop.EMPTY
    assert [ring.shown(0), ring.shown(0)] == [1, 3]
    assert [ring.shown(1), ring.shown(1)] == [2, 4]


@pytest.mark.plan("swap-chain-7")
@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"display": 1}, r"display must be one of \[0\], not 1"),
        ({"display": 15}, r"display must be one of \[0\], not 15"),
        ({"sync_interval": 5}, r"sync_interval must lie in 0\.\.4, not 5"),
        ({"sync_interval": 7}, r"sync_interval must lie in 0\.\.4, not 7"),
        ({"address": MEMORY - 64}, "texture must end within memory"),
        ({"width": 9}, "frame must be of 8 by 8"),
        ({"width": 0}, "texture must have a format, a size and levels"),
        ({"levels": 2, "first_level": 1}, "frame must be of 8 by 8"),
        ({"first_layer": 1}, "layers of the view must be some of 1"),
        ({"form": Format.B8G8R8A8_UNORM}, "must be of R8G8B8A8_UNORM's family"),
        ({"form": Format.R8G8B8A8_UINT}, "frame must be of one sample, and of R8G8B8A8_UNORM"),
        ({"form": 255}, "format of the view must be one of"),
        ({"stored": Format.R16G16B16A16_FLOAT}, "must be of R16G16B16A16_FLOAT's family"),
        ({"stored": Format.UNKNOWN}, "texture must have a format"),
        ({"samples": 2}, "frame must be of one sample"),
        ({"tiled": 0}, "target must be tiled"),
    ],
)
def test_packets_that_are_wrong_are_refused(changed, text):
    ring = Ring(2)
    ring.present(1)
    ring.go_on()
    ring.shown()
    ring.present(2, **changed)
    ring.present(3)
    with pytest.raises(InputError, match=text):
        ring.go_on()
    # It counts as done, and shows nothing; what is behind it goes on.
    assert [ring.shown(), ring.shown()] == [1, 3]


@pytest.mark.plan("swap-chain-7")
def test_coded_tiles_that_cannot_be_decoded_are_refused():
    ring = Ring(2)
    address = MEMORY - 1024
    ring.memory[address + 256 + 32] = 15  # in the mode table, behind a tile and its head
    ring.present(1, address=address, coded=1)
    with pytest.raises(InputError, match="of a coded target must have a code"):
        ring.go_on()
    assert ring.shown() == 0


@pytest.mark.plan("swap-chain-7")
def test_a_machine_without_a_display_refuses():
    ring = Ring()
    ring.present(1)
    with pytest.raises(InputError, match=r"display must be one of \[\], not 0"):
        ring.go_on()
