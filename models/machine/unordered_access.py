# SPDX-License-Identifier: BSD-2-Clause
"""What is bound to a programmable stage for unordered access [fs 5.3.9]."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fixfunc.models.machine.memory.undo import UndoLog
from fixfunc.models.machine.textures.texture_reads import TextureReads
from fixfunc.models.machine.unordered import atomics, images, structures
from fixfunc.models.payload import enumerated
from fixfunc.spec.descriptors import BindingKind, Dimension, UnorderedFlag
from fixfunc.spec.errors import InputError


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


class UnorderedAccess:
    """What is bound to a stage for unordered access, for its shader.

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
            As :meth:`fixfunc.models.machine.bindings.Bindings.fetch` takes them: x, y and z, from
            the view's first slice on; of a buffer shape (...), numbers of elements.
        layer : array of int
            From the view's first one on.

        Returns
        -------
        ndarray of float32, uint32 or int32, shape (..., 4)
            Where there is no texel: 0, 0, 0, 1. Without a view: zeros.

        Errors are those of :func:`fixfunc.models.machine.unordered.images.load`, and of a shader
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
        drawn to but sRGB. Errors are those of
        :func:`fixfunc.models.machine.unordered.images.store`.
        """
        image = self._image(slot)
        if image is not None:
            images.store(image, self._shared.undo, mask, places, values, layer)

    def atomic(
        self,
        slot: int,
        op: str,
        mask: np.ndarray,
        places: np.ndarray,
        operand: np.ndarray,
        compared: np.ndarray | None = None,
        layer: ArrayLike = 0,
    ) -> np.ndarray:
        """Change words of a view for unordered access [fs 22.17.8-22.17.28].

        Parameters
        ----------
        slot : int
            Of a view as R32_UINT or R32_SINT, or of a buffer of words or of structures.
        op : str
            ``and``, ``or``, ``xor``, ``add``, ``min``, ``max``, ``exchange``, or
            ``compare_exchange``, which writes the operand where the word equals ``compared``.
        mask : ndarray of bool
            Lanes that take part.
        places : ndarray of int
            Texels as :meth:`load` takes them. Of words bytes, shape of the mask; of structures
            pairs of a number and a byte within, shape ``(*mask.shape, 2)``.
        operand, compared : ndarray of uint32 or int32, shape of the mask
            The operand's type says whether ``min`` and ``max`` are those of numbers with a sign.
        layer : array of int
            Of textures, from the view's first one on.

        Returns
        -------
        ndarray of the operand's type, shape of the mask
            What the word was before each lane, in the order of the arrays; 0 of lanes that take no
            part, outside of the view, and without a view.

        Raises
        ------
        InputError
            Another operation or format, a view with the flag APPEND, lanes of another shape or
            type, bytes that are no multiple of 4.
        """
        self._check_declared(slot)
        atomics.check(op, mask, operand, compared)
        before = np.zeros(mask.shape, operand.dtype)
        if (BindingKind.UNORDERED, slot) in self._entries:
            data, inside, offsets = self._words(slot, mask, places, layer)
            some = None if compared is None else compared[inside]
            before[inside] = atomics.apply(data, offsets, op, operand[inside], some)
        return before

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

    def _words(self, slot, mask, places, layer):
        """What a view shows, which lanes of a mask name a word of it, and where these begin."""
        record = self._entries[BindingKind.UNORDERED, slot].record
        if record["dimension"] == Dimension.BUFFER and not record["form"]:
            data = self.unordered(slot)
            return data, *atomics.offsets_in(data, int(record["stride"]), places, mask)
        image = images.image_at(self._shared.memory, record)
        if image.form not in atomics.FORMATS:
            names = " or ".join(form.name for form in atomics.FORMATS)
            rule = f"be {names} for atomic operations"
            raise InputError("format of the view", rule, image.form.name)
        self._shared.undo.keep(image.data)
        return image.data, *image.offsets(places, layer, mask)

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
