# SPDX-License-Identifier: BSD-2-Clause
"""What is bound to a programmable stage: constants, resources, samplers, unordered access."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from fixfunc.models.frontend.state_pieces import as_float, piece, table
from fixfunc.models.machine import structures
from fixfunc.models.machine.undo import UndoLog
from fixfunc.models.memory.layout import texture_at
from fixfunc.models.payload import enumerated
from fixfunc.models.texture import fetch, sampler, texture
from fixfunc.models.texture.footprint import LOD_BITS
from fixfunc.models.texture.sampler import ADDRESSES, FILTERS, REDUCTIONS, Sampler
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.descriptors import (
    BINDING,
    CONSTANTS,
    SAMPLER,
    VIEW,
    BindingKind,
    Dimension,
    Stage,
    UnorderedFlag,
)
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import TRANSFER
from fixfunc.spec.state import SAMPLE_COUNTS, Compare

PAYLOADS = {
    BindingKind.CONSTANTS: CONSTANTS,
    BindingKind.RESOURCE: VIEW,
    BindingKind.SAMPLER: SAMPLER,
    BindingKind.UNORDERED: VIEW,
}


class Shared(NamedTuple):
    """What all stages have in common."""

    memory: np.ndarray  # uint8
    textures: dict  # of views that have been read: bytes of the view -> Texture
    undo: UndoLog  # is told what shaders may write


class Entry(NamedTuple):
    """What is bound to a slot."""

    record: np.void
    data: bytes  # of the record
    head: np.void  # BINDING


class Bindings:
    """What is bound to a stage, for its shader.

    Parameters
    ----------
    shared : Shared
    entries : mapping of (BindingKind, slot) to Entry

    Attributes
    ----------
    declared : bool
        The stage's shader has declared unordered access: without, it is refused.
    """

    def __init__(self, shared: Shared, entries: Mapping[tuple[BindingKind, int], Entry]) -> None:
        self._shared = shared
        self._entries = entries
        self._steps: dict[int, int] = {}  # by counter, in this piece of work
        self.declared = True

    @property
    def resources(self) -> set[int]:
        """Addresses of resources that are bound to be read."""
        return {
            int(entry.record["address"])
            for (kind, _), entry in self._entries.items()
            if kind == BindingKind.RESOURCE
        }

    def constants(self, slot: int) -> np.ndarray:
        """A constant buffer: uint8; of no bytes, if none is bound."""
        return self._bytes(BindingKind.CONSTANTS, slot, "address", "size")

    def floats(self, slot: int) -> np.ndarray:
        """A constant buffer as float32."""
        data = self.constants(slot)
        return data[: len(data) // 4 * 4].view("<f4")

    def buffer(self, slot: int) -> np.ndarray:
        """Bytes of a buffer that is bound as a resource: uint8."""
        return self._bytes(BindingKind.RESOURCE, slot, "first", "size")

    def unordered(self, slot: int) -> np.ndarray:
        """Bytes of a buffer that is bound for unordered access: uint8, to read and to write.

        A shader that has not declared it raises :class:`~fixfunc.spec.errors.InputError`, and so
        does a view to append to: its structures have no fixed places [fs 22.3.44].
        """
        self._check_declared(slot)
        entry = self._entries.get((BindingKind.UNORDERED, slot))
        if entry is not None and entry.head["flag"] == UnorderedFlag.APPEND:
            raise InputError("flag of the view", "not be APPEND", slot)
        return self._bytes(BindingKind.UNORDERED, slot, "first", "size")

    def append(self, slot: int, mask: np.ndarray, values: np.ndarray) -> None:
        """Append structures of the lanes of a mask [fs 5.3.10]; without a view they are dropped.

        Parameters
        ----------
        slot : int
            Of a view with the flag APPEND.
        mask : ndarray of bool
        values : ndarray, shape (*mask.shape, ...)
            Of as many bytes a lane as a structure has.

        Raises
        ------
        InputError
            A view without the flag, structures of another size, a counter that has been counted
            down in this piece of work.
        """
        numbers = self._count(UnorderedFlag.APPEND, slot, mask, 1)
        if numbers is not None:
            structures.store(self._rows(slot), numbers, mask, values)

    def consume(self, slot: int, mask: np.ndarray, structure: DTypeLike) -> np.ndarray:
        """Take the last structures from a buffer [fs 5.3.10]: shape of the mask.

        Those that there are not, and of the other lanes, are zeros. Errors are those of
        :meth:`append`.
        """
        numbers = self._count(UnorderedFlag.APPEND, slot, mask, -1)
        if numbers is None:
            return np.zeros(mask.shape, structure)
        return structures.load(self._rows(slot), numbers, mask, np.dtype(structure))

    def increment(self, slot: int, mask: np.ndarray) -> np.ndarray:
        """Count lanes of a mask up: uint32, what the counter was before each [fs 22.17.17].

        The view has the flag COUNTER; without a view lanes get zeros. Errors are those of
        :meth:`append`.
        """
        numbers = self._count(UnorderedFlag.COUNTER, slot, mask, 1)
        return np.zeros(mask.shape, np.uint32) if numbers is None else numbers

    def decrement(self, slot: int, mask: np.ndarray) -> np.ndarray:
        """Count lanes of a mask down: uint32, what the counter is behind each [fs 22.17.18]."""
        numbers = self._count(UnorderedFlag.COUNTER, slot, mask, -1)
        return np.zeros(mask.shape, np.uint32) if numbers is None else numbers

    def texture(self, slot: int) -> Texture | None:
        """A texture, with the levels and layers of its view; None, if none is bound."""
        entry = self._entries.get((BindingKind.RESOURCE, slot))
        if entry is None:
            return None
        view, data, _ = entry
        if data not in self._shared.textures:
            self._shared.textures[data] = texture_of(self._shared.memory, view)
        return self._shared.textures[data]

    def sample(
        self, slot: int, sampler_slot: int, coordinates: np.ndarray, **how: Any
    ) -> np.ndarray:
        """Sample a texture: see :func:`fixfunc.models.texture.sampler.sample`.

        An unbound texture reads zeros [fs 7.18]; an unbound sampler is D3D11's default.
        """
        bound = self.texture(slot)
        if bound is None:
            return np.zeros((*np.shape(coordinates)[:-1], 4), np.float32)
        return sampler.sample(bound, self.sampler(sampler_slot), coordinates, **how)

    def sample_compare(
        self,
        slot: int,
        sampler_slot: int,
        coordinates: np.ndarray,
        reference: np.ndarray,
        **how: Any,
    ) -> np.ndarray:
        """Compare: see :func:`fixfunc.models.texture.sampler.sample_compare`."""
        bound = self.texture(slot)
        if bound is None:
            return np.zeros(np.shape(coordinates)[:-1], np.float32)
        state = self.sampler(sampler_slot)
        return sampler.sample_compare(bound, state, coordinates, reference, **how)

    def gather(
        self, slot: int, sampler_slot: int, coordinates: np.ndarray, **how: Any
    ) -> np.ndarray:
        """Gather: see :func:`fixfunc.models.texture.sampler.gather`."""
        bound = self.texture(slot)
        if bound is None:
            return np.zeros((*np.shape(coordinates)[:-1], 4), np.float32)
        return sampler.gather(bound, self.sampler(sampler_slot), coordinates, **how)

    def level_of_detail(
        self, slot: int, sampler_slot: int, coordinates: np.ndarray, **how: Any
    ) -> np.ndarray:
        """The level: see :func:`fixfunc.models.texture.sampler.level_of_detail`."""
        bound = self.texture(slot)
        if bound is None:
            return np.zeros((*np.shape(coordinates)[:-1], 2), np.float32)
        return sampler.level_of_detail(bound, self.sampler(sampler_slot), coordinates, **how)

    def fetch(self, slot: int, places: np.ndarray, **how: Any) -> np.ndarray:
        """Fetch texels of a texture, or elements of a buffer with a format.

        See :func:`fixfunc.models.texture.fetch.fetch`, and ``fetch_buffer``, whose places are
        numbers of elements. What is not bound reads zeros.
        """
        entry = self._entries.get((BindingKind.RESOURCE, slot))
        if entry is None:
            return np.zeros((*np.shape(places)[:-1], 4), np.float32)
        view = entry.record
        if view["dimension"] == Dimension.BUFFER:
            return fetch.fetch_buffer(self.buffer(slot), _texels(view)[0], places, **how)
        return fetch.fetch(self.texture(slot), places, **how)

    def sampler(self, slot: int) -> Sampler:
        """A sampler's state; D3D11's default, if none is bound."""
        entry = self._entries.get((BindingKind.SAMPLER, slot))
        return DEFAULT if entry is None else sampler_of(entry.record)

    def _bytes(self, kind, slot, first, size):
        entry = self._entries.get((kind, slot))
        if entry is None:
            return np.zeros(0, np.uint8)
        record = entry.record
        begin = int(record["address"]) + (int(record[first]) if first != "address" else 0)
        found = self._shared.memory[begin : begin + int(record[size])]
        found.flags.writeable = kind == BindingKind.UNORDERED
        if found.flags.writeable:
            self._shared.undo.keep(found)
        return found

    def _check_declared(self, slot):
        if not self.declared:
            raise InputError("unordered access", "be declared by the shader", slot)

    def _count(self, flag, slot, mask, step):
        """Count with the counter of a view; None, if none is bound."""
        self._check_declared(slot)
        entry = self._entries.get((BindingKind.UNORDERED, slot))
        if entry is None:
            return None
        found = enumerated(UnorderedFlag, entry.head["flag"], "flag of the view")
        if found != flag:
            raise InputError("flag of the view", f"be {flag.name}", found.name)
        address = int(entry.head["counter_address"])
        counter = self._shared.memory[address : address + 4]
        if len(counter) < 4:
            raise InputError("counter", "lie within memory", address)
        if self._steps.setdefault(address, step) != step:  # [fs 22.17.17]
            raise InputError("counter", "be counted up or down, not both", slot)
        self._shared.undo.keep(counter)
        return structures.count(counter.view("<u4"), mask, step)

    def _rows(self, slot):
        """Structures of a view: uint8, shape (structures, stride)."""
        stride = int(self._entries[BindingKind.UNORDERED, slot].record["stride"])
        if not stride:
            raise InputError("stride", "be that of a structure", stride)
        data = self._bytes(BindingKind.UNORDERED, slot, "first", "size")
        return data[: len(data) // stride * stride].reshape(-1, stride)


DEFAULT = Sampler(address=("clamp",) * 3)


def bindings(shared: Shared, address: int, transfers: int) -> dict[Stage, Bindings]:
    """What is bound to each stage, from a table of pairs: BINDING, then what it is.

    Raises
    ------
    InputError
        The table goes on beyond memory, or names a stage that there is not.
    """
    heads = table(shared.memory, address, transfers, BINDING)[::2]
    entries: dict[Stage, dict] = {stage: {} for stage in Stage}
    for n, head in enumerate(heads):
        stage = enumerated(Stage, head["stage"], "stage")
        kind = BindingKind(int(head["kind"]))
        begin = int(address) + (2 * n + 1) * TRANSFER
        data = shared.memory[begin : begin + TRANSFER].tobytes()
        record = piece(data, PAYLOADS[kind])
        entries[stage][kind, int(head["slot"])] = Entry(record, data, head)
    return {stage: Bindings(shared, those) for stage, those in entries.items()}


def sampler_of(record: np.void) -> Sampler:
    """A sampler's state; an address mode that there is not raises ``InputError``."""
    return Sampler(
        *(FILTERS[record[name]] for name in ("minify", "magnify", "mip")),
        address=tuple(_address_mode(record[f"address_{axis}"]) for axis in "uvw"),
        border=tuple(as_float(record[f"border{n}"]) for n in range(4)),
        bias=as_float(record["bias"]),
        min_lod=as_float(record["min_lod"]),
        max_lod=as_float(record["max_lod"]),
        anisotropy=max(int(record["anisotropy"]), 1),
        reduction=REDUCTIONS[record["reduction"]],
        comparison=Compare(int(record["comparison"])),
    )


def _address_mode(number):
    if number >= len(ADDRESSES):
        raise InputError("address mode", f"lie in 0..{len(ADDRESSES) - 1}", int(number))
    return ADDRESSES[number]


def _texels(view):
    """The name of a view's format among those of texels, and whether it is sRGB."""
    form = enumerated(Format, view["form"], "format of the view")
    if form not in DXGI:
        raise InputError("format of the view", "be one that a shader reads", form.name)
    return DXGI[form]


def texture_of(memory: np.ndarray, view: np.void) -> Texture:
    """A texture as the sampler takes it.

    Raises
    ------
    InputError
        A format that no shader reads, a buffer, a cube that is not one.
    """
    name, is_srgb = _texels(view)
    dimension = enumerated(Dimension, view["dimension"], "dimension")
    if dimension == Dimension.BUFFER:
        raise InputError("view", "be of a texture", dimension.name)
    layout, data = texture_at(memory, view)
    is_volume = dimension == Dimension.TEXTURE3D
    first = 0 if is_volume else int(view["first_layer"])
    layers = range(first, first + (1 if is_volume else int(view["layer_count"])))
    first = int(view["first_level"])
    levels = [
        np.stack(
            [np.ascontiguousarray(layout.read(data, level, layer)).reshape(-1) for layer in layers]
        )
        for level in range(first, first + int(view["level_count"]))
    ]
    width, height, depth = layout.size_of(first)
    return texture.create(
        name,
        width,
        height,
        levels,
        faces=6 if dimension == Dimension.CUBE else 1,
        srgb=is_srgb,
        dimension=DIMENSIONS[dimension],
        depth=depth,
        samples=SAMPLE_COUNTS[view["samples"]],
        min_lod=int(view["min_lod"]) - (first << LOD_BITS),
    )


DIMENSIONS = {
    Dimension.TEXTURE1D: 1,
    Dimension.TEXTURE2D: 2,
    Dimension.TEXTURE3D: 3,
    Dimension.CUBE: 2,
}
