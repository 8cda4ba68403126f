# SPDX-License-Identifier: BSD-2-Clause
"""Vertex fetch: elements of vertices and instances, from buffers into registers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fixfunc.models.frontend.input_assembler import WORD, Draw
from fixfunc.models.frontend.vertex_formats import LAYOUTS, decode
from fixfunc.models.payload import integer
from fixfunc.spec.draw import StepClass
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

SLOTS = 32
REGISTERS = 32
MOST_STRIDE = 2048  # bytes [fs 8.19.4]


@dataclass(frozen=True)
class Element:
    """An element of an input layout [fs 8.1.3].

    Parameters
    ----------
    register : int
        Of the vertex stage's inputs.
    form : Format
    slot : int
        Of the buffer.
    offset : int
        Bytes within the buffer's structure.
    step_class : StepClass
    step_rate : int
        Instances that see the same data; 0: all. Of vertex data it is 0.

    Raises
    ------
    InputError
        A field out of range, or an offset that is not aligned.
    """

    register: int
    form: Format
    slot: int = 0
    offset: int = 0
    step_class: StepClass = StepClass.PER_VERTEX
    step_rate: int = 0

    def __post_init__(self):
        integer("register", self.register, 0, REGISTERS - 1)
        integer("slot", self.slot, 0, SLOTS - 1)
        if self.form not in LAYOUTS:
            raise InputError("form", "be a vertex format", self.form)
        integer("offset", self.offset, 0, WORD)
        alignment = alignment_of(self.form)
        if self.offset % alignment:
            raise InputError("offset", f"be a multiple of {alignment}", self.offset)
        most = WORD if self.step_class == StepClass.PER_INSTANCE else 0
        integer("step_rate", self.step_rate, 0, most)


@dataclass(frozen=True)
class VertexBuffer:
    """A buffer in a slot.

    Parameters
    ----------
    data : ndarray of uint8, shape (bytes,)
    stride : int
        Bytes from one structure to the next, 0 to 2048.
    offset : int
        Bytes to the first.
    """

    data: np.ndarray
    stride: int
    offset: int = 0

    def __post_init__(self):
        integer("stride", self.stride, 0, MOST_STRIDE)
        integer("offset", self.offset, 0, WORD)


def alignment_of(form: Format) -> int:
    """Bytes that an element's address is a multiple of: its own, 4 at most [fs 4.4.6]."""
    return min(LAYOUTS[form].size, 4)


def check_layout(elements: Sequence[Element]) -> None:
    """Rules of a layout [fs 8.1.3]; one that is broken raises ``InputError``.

    At most 32 elements, one a register; a slot has one class and one step rate.
    """
    if len(elements) > REGISTERS:
        raise InputError("elements", f"be at most {REGISTERS}", len(elements))
    registers = [element.register for element in elements]
    if len(set(registers)) != len(registers):
        raise InputError("register", "be fed by one element", sorted(registers))
    steps: dict[int, tuple] = {}
    for element in elements:
        step = element.step_class, element.step_rate
        if steps.setdefault(element.slot, step) != step:
            raise InputError("step_rate", f"be the same in all of slot {element.slot}", step)


def fetch(
    draw: Draw,
    indices: np.ndarray,
    instance: int | np.ndarray,
    elements: Sequence[Element],
    buffers: Mapping[int, VertexBuffer],
) -> dict[int, np.ndarray]:
    """Registers of vertices.

    Parameters
    ----------
    draw : Draw
        Its base is added to indices, and its first instance to instances.
    indices : ndarray of uint32, shape (n,)
        VertexIDs.
    instance : int, or ndarray of uint32 of shape (n,)
        InstanceID.
    elements : sequence of Element
    buffers : mapping of slot to VertexBuffer
        A slot without one reads 0 in all channels; defaults do not count there [fs 8.20].

    Returns
    -------
    dict of register to ndarray of uint32, shape (n, 4)

    Raises
    ------
    InputError
        A layout that breaks a rule.

    Source: [fs 8.6.1, 8.19, 8.20]. Addresses wrap at 32 bits and are compared with the buffer
    afterwards, its offset being the lower bound; outside of it the channels of the format are 0.
    """
    check_layout(elements)
    indices = np.asarray(indices, np.uint32).astype(np.int64)
    instance = np.broadcast_to(np.asarray(instance, np.int64), indices.shape)
    registers = {}
    for element in elements:
        if element.slot not in buffers:
            registers[element.register] = np.zeros((len(indices), 4), np.uint32)
            continue
        buffer = buffers[element.slot]
        if element.step_class == StepClass.PER_VERTEX:
            row = (draw.base + indices) & WORD
        else:
            steps = instance // element.step_rate if element.step_rate else 0
            row = (draw.first_instance + steps) & WORD
        address = (buffer.offset + buffer.stride * row + element.offset) & WORD
        registers[element.register] = _read(
            buffer, np.broadcast_to(address, indices.shape), element
        )
    return registers


def _read(buffer, address, element):
    """Elements at addresses; those that do not lie whole in the buffer are of zeros."""
    size = LAYOUTS[element.form].size
    data = np.asarray(buffer.data, np.uint8)
    inside = (address >= buffer.offset) & (address + size <= len(data))
    raw = np.zeros((len(address), size), np.uint8)
    raw[inside] = data[address[inside, None] + np.arange(size)]
    return decode(raw, element.form)
