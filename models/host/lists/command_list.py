# SPDX-License-Identifier: BSD-2-Clause
"""Command lists: calls that are made later, as often as one likes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fixfunc.models.host.memory import Heap
from fixfunc.models.host.queries import Query
from fixfunc.models.host.resources import Texture


class Call(NamedTuple):
    """A call of a context, or of a group of it."""

    group: str  # none: of the context
    name: str
    arguments: tuple[Any, ...]
    more: dict[str, Any]


class CommandList:
    """What a deferred context has noted [fs 6.3.1].

    Parameters
    ----------
    calls : tuple of Call
    heap : Heap
        That of the device.

    Attributes
    ----------
    queries : list of Query
        Those that it begins or ends.
    objects : list of Query and Texture
        Those that it may change, beside memory.
    """

    released = False

    def __init__(self, calls: tuple[Call, ...], heap: Heap) -> None:
        self.heap = heap
        self._calls = calls
        self.queries = [query for call in calls for query in _queries(call)]
        textures = (value for call in calls for value in _values(call) if type(value) is Texture)
        inner = (held for call in calls for value in _values(call) for held in _objects(value))
        self.objects = [*self.queries, *textures, *inner]

    def make(self, context: object) -> None:
        """Make the calls, in order, of a context."""
        for group, name, arguments, more in self._calls:
            owner = getattr(context, group) if group else context
            getattr(owner, name)(*arguments, **more)


def _values(call: Call) -> Iterator[Any]:
    yield from call.arguments
    yield from call.more.values()


def _queries(call):
    """Queries that a call begins or ends."""
    for value in _values(call):
        if isinstance(value, CommandList):
            yield from value.queries
        elif isinstance(value, Query) and call.name in ("begin", "end"):
            yield value


def _objects(value):
    return value.objects if isinstance(value, CommandList) else ()


def copied(value: Any) -> Any:
    """A value that nobody changes afterwards: arrays, lists and mappings are copied."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value


def bound_of(group: object) -> dict[str, Any]:
    """What a group has bound: what it holds by public names, but the heap."""
    fields = {name: value for name, value in vars(group).items() if not name.startswith("_")}
    fields.pop("heap", None)
    return copied(fields)
