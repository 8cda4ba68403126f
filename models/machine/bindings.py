# SPDX-License-Identifier: BSD-2-Clause
"""What is bound to a programmable stage: constants, resources, samplers, unordered access."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fixfunc.models.frontend.state_pieces import piece, table
from fixfunc.models.machine import structures
from fixfunc.models.machine.textures import images
from fixfunc.models.machine.textures.sampled import sampler_of, texels_of
from fixfunc.models.machine.textures.texture_reads import TextureReads
from fixfunc.models.machine.undo import UndoLog
from fixfunc.models.payload import enumerated
from fixfunc.models.texture import fetch, sampler
from fixfunc.models.texture.sampler import Sampler
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
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import TRANSFER

PAYLOADS = {
    BindingKind.CONSTANTS: CONSTANTS,
    BindingKind.RESOURCE: VIEW,
    BindingKind.SAMPLER: SAMPLER,
    BindingKind.UNORDERED: VIEW,
}


class Shared(NamedTuple):
    """What all stages have in common."""

    memory: np.ndarray  # uint8
    undo: UndoLog  # is told what shaders may write
    reads: TextureReads


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

    def addresses(self, *kinds: BindingKind) -> set[int]:
        """Of resources that are bound as one of some kinds."""
        return {
            int(entry.record["address"])
            for (kind, _), entry in self._entries.items()
            if kind in kinds
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
        if entry is not None and entry.record["dimension"] != Dimension.BUFFER:
            raise InputError("view", "be of a buffer to have bytes", slot)
        return self._bytes(BindingKind.UNORDERED, slot, "first", "size")

    def load(self, slot: int, places: np.ndarray, layer: ArrayLike = 0) -> np.ndarray:
        """Load texels of a view for unordered access, which has the format R32 [fs 22.4.8].

        Parameters
        ----------
        slot : int
        places : ndarray of int, shape (..., dimension)
            As :meth:`fetch` takes them: x, y and z, from the view's first slice on; of a buffer
            shape (...), numbers of elements.
        layer : array of int
            From the view's first one on.

        Returns
        -------
        ndarray of float32, uint32 or int32, shape (..., 4)
            Where there is no texel, and without a view: 0, 0, 0, 1.

        Errors are those of :func:`fixfunc.models.machine.textures.images.load`, and of a shader
        that has not declared unordered access.
        """
        image = self._image(slot)
        if image is None:
            return np.zeros((*np.shape(places)[:-1], 4), np.float32)
        return images.load(image, places, layer)

    def store(
        self,
        slot: int,
        mask: np.ndarray,
        places: np.ndarray,
        values: np.ndarray,
        layer: ArrayLike = 0,
    ) -> None:
        """Store texels of the lanes of a mask [fs 22.4.9]; without a view they are dropped.

        Values have the type and the four channels that :meth:`load` returns, in any format that is
        drawn to but sRGB; errors are those of :func:`fixfunc.models.machine.textures.images.store`.
        """
        image = self._image(slot)
        if image is not None:
            images.store(image, self._shared.undo, mask, places, values, layer)

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
        return self._shared.reads.texture(data, view)

    def sample(
        self, slot: int, sampler_slot: int, coordinates: np.ndarray, **how: Any
    ) -> np.ndarray:
        """Sample a texture: see :func:`fixfunc.models.texture.sampler.sample`.

        An unbound texture reads zeros [fs 7.18]; an unbound sampler is D3D11's default.
        """
        bound = self.texture(slot)
        if bound is None:
            return np.zeros((*np.shape(coordinates)[:-1], 4), np.float32)
        state = self.sampler(sampler_slot)
        return self._counted(slot, sampler.sample, bound, state, coordinates, **how)

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
        function = sampler.sample_compare
        return self._counted(slot, function, bound, state, coordinates, reference, **how)

    def gather(
        self, slot: int, sampler_slot: int, coordinates: np.ndarray, **how: Any
    ) -> np.ndarray:
        """Gather: see :func:`fixfunc.models.texture.sampler.gather`."""
        bound = self.texture(slot)
        if bound is None:
            return np.zeros((*np.shape(coordinates)[:-1], 4), np.float32)
        state = self.sampler(sampler_slot)
        return self._counted(slot, sampler.gather, bound, state, coordinates, **how)

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
            name, _ = texels_of(view)
            return self._counted(slot, fetch.fetch_buffer, self.buffer(slot), name, places, **how)
        return self._counted(slot, fetch.fetch, self.texture(slot), places, **how)

    def sampler(self, slot: int) -> Sampler:
        """A sampler's state; D3D11's default, if none is bound."""
        entry = self._entries.get((BindingKind.SAMPLER, slot))
        return DEFAULT if entry is None else sampler_of(entry.record)

    def _counted(self, slot, function, *arguments, **how):
        """What a function reads of the resource of a slot, by way of the texture cache."""
        taps = self._shared.reads.taps()
        found = function(*arguments, **how, taps=taps)
        view, data, _ = self._entries[BindingKind.RESOURCE, slot]
        self._shared.reads.count(data, view, taps)
        return found

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

    def _image(self, slot):
        """What is bound for typed unordered access; None, if nothing is."""
        self._check_declared(slot)
        entry = self._entries.get((BindingKind.UNORDERED, slot))
        return None if entry is None else images.image_at(self._shared.memory, entry.record)

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
