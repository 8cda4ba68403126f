# SPDX-License-Identifier: BSD-2-Clause
"""A process' device and context: calls are checked at once, and executed when the card is its."""

from typing import Any, Protocol

import numpy as np

from fixfunc.models.frontend.command_processor import Stopped
from fixfunc.models.host.context import Context
from fixfunc.models.host.device import Device
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.packets import RING, STATES, Packets, encoded
from fixfunc.models.host.presentation.swap_chain import SwapChain
from fixfunc.models.host.queries import Query
from fixfunc.models.host.resources import Buffer, Texture, Usage
from fixfunc.models.machine.machine import Machine
from fixfunc.models.system.page_table import SMALL
from fixfunc.models.system.user_mode_driver import DrawCall, SetState, UserModeDriver
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Event, Place, RingError, RingOp, Stop

IN_SYSTEM = Usage.DYNAMIC, Usage.STAGING  # the host writes these often: they stay in its memory


class Owner(Protocol):
    """What a device and its context need of their process."""

    def finish(self) -> None:
        """Execute what has been recorded, and bring results to the host."""

    def written(self, address: int) -> None:
        """The host has written to a resource."""

    def created(self, address: int, in_system: bool) -> None:
        """A resource has been created."""

    def released(self, address: int) -> None:
        """A resource's memory has been given back."""


class RecordedPackets(Packets):
    """Packets that go to a user-mode driver instead of a ring.

    Parameters
    ----------
    memory : ndarray of uint8
    machine : Machine
    driver : UserModeDriver
    owner : Owner
    """

    def __init__(
        self, memory: np.ndarray, machine: Machine, driver: UserModeDriver, owner: Owner
    ) -> None:
        super().__init__(memory, machine)
        self._driver = driver
        self._owner = owner

    def has_room(self) -> bool:
        """Whether tables of a draw fit; if not, all that is recorded is executed before."""
        if super().has_room():
            return True
        self._owner.finish()
        self._driver.forget()  # what lies at an address is not what the card knows
        return False

    def put(self, op: RingOp, *more: bytes, **fields: int) -> None:
        """Record a packet: state for the driver to filter, or work."""
        if op == RingOp.SET_STATE:
            self._driver.set_state(fields["state_kind"], b"".join(more))
        else:
            self._driver.draw(encoded(op, *more, **fields))

    def go_on(self) -> Stopped:
        """Nothing is executed yet."""
        return Stopped(Stop.EMPTY, RingError.NONE, 0)


def octets(buffer: list[SetState | DrawCall]) -> bytes:
    """A command buffer of the driver as packets, with the RETURN behind them."""
    packets = [
        it.call
        if isinstance(it, DrawCall)
        else encoded(RingOp.SET_STATE, it.value, state_kind=it.slot)
        for it in buffer
    ]
    return b"".join(packets) + encoded(RingOp.RETURN)


class RecordingContext(Context):
    """A context whose calls are checked at once and executed later.

    What reads results, or writes a resource that may be in use, waits for all of it. Predication
    and command lists, which decide at once, are refused.
    """

    def __init__(
        self, memory: np.ndarray, heap: Heap, machine: Machine, driver: UserModeDriver, owner: Owner
    ) -> None:
        super().__init__(memory, heap, machine)
        self.packets = RecordedPackets(memory, machine, driver, owner)
        self._owner = owner

    def set_predication(self, query: Query | None, value: bool = False) -> None:
        """Refused, but for what turns it off."""
        if query is not None:
            rule = "be None where work is recorded"
            raise InputError("query", rule, (query.kind.name, value))

    def execute_command_list(self, *_: Any, **__: Any) -> None:
        """Refused."""
        raise InputError("commands", "be executed by the context that draws at once", "a list")

    def get_data(self, query: Query) -> object:
        """What a query tells, when all before it is done."""
        self._settled()
        return super().get_data(query)

    def _settled(self):
        self._owner.finish()
        return self._memory

    def _set_word(self, address, value):
        where = {"place": Place.MEMORY, "where": address, "value": value}
        self.packets.put(RingOp.EVENT, event=Event.ALL_DONE, **where)

    def _write_buffer(self, buffer, offset, data):
        super()._write_buffer(buffer, offset, data)
        self._owner.written(buffer.address)

    def _write_texture(self, texture, place, texels):
        super()._write_texture(texture, place, texels)
        self._owner.written(texture.address)

    def _write_mapped(self, resource, place, data):
        super()._write_mapped(resource, place, data)
        self._owner.written(resource.address)


class RecordingDevice(Device):
    """A device of a process: its memory is the host's, its machine the card's.

    Parameters
    ----------
    memory : ndarray of uint8
        The process' part of system memory.
    machine : Machine
        It has the shaders of all processes.
    driver : UserModeDriver
    owner : Owner
    """

    def __init__(
        self, memory: np.ndarray, machine: Machine, driver: UserModeDriver, owner: Owner
    ) -> None:
        # Not Device's own: that makes a memory, and a machine in it.
        self.memory = memory
        self.heap = Heap(RING + STATES, len(memory), SMALL)  # no two resources share a page
        self.machine = machine
        self.context = RecordingContext(memory, self.heap, machine, driver, owner)
        self._coded = True
        self._shaders = machine.shaders
        self._owner = owner

    def create_buffer(self, *arguments: Any, **more: Any) -> Buffer:
        """Create a buffer: see :meth:`fixfunc.models.host.device.Device.create_buffer`."""
        found = super().create_buffer(*arguments, **more)
        self._owner.created(found.address, found.usage in IN_SYSTEM)
        return found

    def create_swap_chain(self, *_: Any, **__: Any) -> SwapChain:
        """Refused: a display reads memory without an MMU."""
        raise InputError("swap chain", "be made where there is no MMU", "behind one")

    def release(self, resource: Buffer | Texture | Query) -> None:
        """Give a resource's memory back, when what uses it is done."""
        self._owner.finish()
        super().release(resource)
        self._owner.released(resource.address)

    def _texture(self, *arguments):
        found = super()._texture(*arguments)
        self._owner.created(found.address, found.usage in IN_SYSTEM)
        return found
