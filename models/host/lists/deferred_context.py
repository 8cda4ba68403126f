# SPDX-License-Identifier: BSD-2-Clause
"""Deferred context: calls are checked, and noted for a list."""

import functools
import inspect
from functools import partial
from typing import Any

import numpy as np

from fixfunc.models.host.calls import names_calls
from fixfunc.models.host.context import Context
from fixfunc.models.host.lists.command_list import Call, CommandList, copied
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.queries import Query
from fixfunc.models.host.resources import Buffer, Texture
from fixfunc.models.host.transfers import mapping
from fixfunc.models.host.transfers.mapping import RENAMING, Mapped, MapType
from fixfunc.models.machine.machine import Machine
from fixfunc.spec.errors import InputError

GROUPS = ("ia", "so", "rs", "om", "vs", "hs", "ds", "gs", "ps", "cs")
NOTED_OTHERWISE = ("finish_command_list", "map", "unmap")


class NoPackets:
    """The end of a ring that leads nowhere."""

    def has_room(self) -> bool:
        """Always."""
        return True

    def place(self, _rows: list[bytes]) -> int:
        """Nowhere."""
        return 0

    def put(self, *_packet: Any, **_fields: int) -> None:
        """Nothing is put anywhere."""

    emit = put


class NotedGroup:
    """A group of a deferred context: calls of it are noted, the rest is its own."""

    def __init__(self, context: "DeferredContext", name: str) -> None:
        self._group = getattr(context, name)
        self._context = context
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._group, name)
        return self._context.noting(self._name, name, found) if inspect.ismethod(found) else found


def notes_calls(kind: type) -> type:
    """A deferred context whose public calls are noted, those within calls aside."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and name not in (*NOTED_OTHERWISE, "noting"):
            setattr(kind, name, _noted(name, method))
    return kind


def _noted(name, method):
    @functools.wraps(method)
    def noted(self, *arguments, **more):
        return self.noting("", name, partial(method, self))(*arguments, **more)

    return noted


@notes_calls
@names_calls
class DeferredContext(Context):
    """A context whose calls happen later, by way of a list [fs 6.3].

    Calls are checked as those of the immediate context, against what is bound here, and again when
    they are made. What would tell something of the machine is refused [fs 6.3.2].

    Parameters
    ----------
    memory : ndarray of uint8
    heap : Heap
    machine : Machine
        Those of the device.
    """

    def __init__(self, memory: np.ndarray, heap: Heap, machine: Machine) -> None:
        super().__init__(memory, heap, machine)
        self.packets = NoPackets()
        self._calls: list[Call] = []
        self._is_within = False
        self._begun: set[Query] = set()
        self._written: dict[tuple, np.ndarray] = {}  # of what has been discarded in this list
        for name in GROUPS:
            setattr(self, name, NotedGroup(self, name))

    def noting(self, group: str, name: str, method: Any) -> Any:
        """A call that is noted when it has been made, if no other call makes it."""

        @functools.wraps(method)
        def noted(*arguments, **more):
            if self._is_within:
                return method(*arguments, **more)
            self._is_within = True
            try:
                kept = copied(arguments), copied(more)
                result = method(*arguments, **more)
                self._calls.append(Call(group, name, *kept))
                return result
            finally:
                self._is_within = False

        return noted

    def finish_command_list(self, restore_state: bool = False) -> CommandList:
        """End the list, and begin another.

        Queries that have begun end with it [fs 6.3.6]. What is bound stays with ``restore_state``,
        for the next list, too; without, nothing is.
        """
        for resource, place in self._mapped:
            if not resource.released:
                raise InputError("subresources", "be unmapped at the end of a list", place)
        for query in list(self._begun):
            self.end(query)
        commands = CommandList(tuple(self._calls), self.heap)
        self._calls.clear()
        self._written.clear()
        if restore_state:
            self._calls.append(Call("", "_bind", (self._bound(),), {}))
        else:
            self.clear_state()
            self._calls.clear()
        return commands

    def execute_command_list(self, commands: CommandList, restore_state: bool = False) -> None:
        """Note the calls of another list: see :meth:`Context.execute_command_list`."""
        self._check_queries(commands)
        if not restore_state:
            self.clear_state()

    def map(
        self,
        resource: Buffer | Texture,
        map_type: MapType,
        subresource: tuple[int, int] = (0, 0),
    ) -> Mapped:
        """Give a DYNAMIC resource to the CPU; what is written comes to memory with the list.

        The first of a list is WRITE_DISCARD, others of a buffer may be WRITE_NO_OVERWRITE
        [fs 6.3.8].
        """
        place = resource.subresource(*subresource)
        if map_type not in RENAMING:
            rule = "be WRITE_DISCARD or WRITE_NO_OVERWRITE of a deferred context"
            raise InputError("map_type", rule, map_type.name)
        mapping.check(resource, map_type, place)
        data = np.zeros_like(mapping.stored(self._memory, resource, place))
        if map_type == MapType.WRITE_NO_OVERWRITE:
            if (resource, place) not in self._written:
                raise InputError("map_type", "be WRITE_DISCARD first in a list", map_type.name)
            data[:] = self._written[resource, place]
        return self._given(resource, place, data, map_type)

    def unmap(self, resource: Buffer | Texture, subresource: tuple[int, int] = (0, 0)) -> None:
        """Take it back, and note what the CPU has written."""
        place = resource.subresource(*subresource)
        data = self._taken_back(resource, place).data
        self._written[resource, place] = data
        self._calls.append(Call("", "_write_mapped", (resource, place, data), {}))

    # Nothing happens, and nothing is told.

    def _nothing(self, *_what):
        pass

    _write_buffer = _write_texture = _set_word = _set_min_lod = _nothing

    def _refused(self, *_what):
        raise InputError("context", "be immediate to tell what has been done", "deferred")

    _settled = _totals = _refused

    def _has_begun(self, query):
        return query in self._begun

    def _has_ended(self, query):
        return query not in self._begun

    def _mark(self, query, begun):
        if begun:
            self._begun.add(query)
        else:
            self._begun.discard(query)
