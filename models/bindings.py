# SPDX-License-Identifier: BSD-2-Clause
"""What is bound to a programmable stage: constants, resources, samplers, unordered access."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fixfunc.models.frontend.state_pieces import as_float, piece, table
from fixfunc.models.memory.layout import texture_at
from fixfunc.models.payload import enumerated
from fixfunc.models.texture import sampler, texture
from fixfunc.models.texture.container import DXGI
from fixfunc.models.texture.sampler import ADDRESSES, FILTERS, Sampler
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.descriptors import (
    BINDING,
    CONSTANTS,
    SAMPLER,
    VIEW,
    BindingKind,
    Dimension,
    Stage,
)
from fixfunc.spec.dxgi import Format
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
    textures: dict  # of views that have been read: bytes of the view -> Texture


class Bindings:
    """What is bound to a stage, for its shader.

    Parameters
    ----------
    shared : Shared
    entries : mapping of (BindingKind, slot) to (record, bytes)
    """

    def __init__(
        self, shared: Shared, entries: Mapping[tuple[BindingKind, int], tuple[np.void, bytes]]
    ) -> None:
        self._shared = shared
        self._entries = entries

    @property
    def resources(self) -> set[int]:
        """Addresses of resources that are bound to be read."""
        return {
            int(record["address"])
            for (kind, _), (record, _) in self._entries.items()
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
        """Bytes of a buffer that is bound for unordered access: uint8, to read and to write."""
        return self._bytes(BindingKind.UNORDERED, slot, "first", "size")

    def texture(self, slot: int) -> Texture | None:
        """A texture, with the levels and layers of its view; None, if none is bound."""
        entry = self._entries.get((BindingKind.RESOURCE, slot))
        if entry is None:
            return None
        view, data = entry
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
            return np.zeros((*coordinates.shape[:-1], 4), np.float32)
        entry = self._entries.get((BindingKind.SAMPLER, sampler_slot))
        state = DEFAULT if entry is None else sampler_of(entry[0])
        return sampler.sample(bound, state, coordinates, **how)

    def _bytes(self, kind, slot, first, size):
        entry = self._entries.get((kind, slot))
        if entry is None:
            return np.zeros(0, np.uint8)
        record, _ = entry
        begin = int(record["address"]) + (int(record[first]) if first != "address" else 0)
        return self._shared.memory[begin : begin + int(record[size])]


DEFAULT = Sampler(address=("clamp", "clamp"))


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
        entries[stage][kind, int(head["slot"])] = (
            piece(data, PAYLOADS[kind]),
            data,
        )
    return {stage: Bindings(shared, those) for stage, those in entries.items()}


def sampler_of(record: np.void) -> Sampler:
    """A sampler's state; an address mode that there is not raises ``InputError``."""
    return Sampler(
        *(FILTERS[record[name]] for name in ("minify", "magnify", "mip")),
        address=tuple(_address_mode(record[f"address_{axis}"]) for axis in "uv"),
        border=tuple(as_float(record[f"border{n}"]) for n in range(4)),
        bias=as_float(record["bias"]),
        min_lod=as_float(record["min_lod"]),
        max_lod=as_float(record["max_lod"]),
        anisotropy=max(int(record["anisotropy"]), 1),
    )


def _address_mode(number):
    if number >= len(ADDRESSES):
        raise InputError("address mode", f"lie in 0..{len(ADDRESSES) - 1}", int(number))
    return ADDRESSES[number]


def texture_of(memory: np.ndarray, view: np.void) -> Texture:
    """A texture as the sampler takes it.

    Raises
    ------
    InputError
        A format, a dimension or samples that the sampler does not read.
    """
    form = enumerated(Format, view["form"], "format of the view")
    if form not in DXGI:
        names = ", ".join(Format(number).name for number in DXGI)
        raise InputError("format of the view", f"be one of {names}", form.name)
    is_flat = view["dimension"] in (Dimension.TEXTURE2D, Dimension.CUBE) and view["depth"] == 1
    if view["samples"] or not is_flat:
        found = f"{view['dimension']} of {1 << int(view['samples'])} samples"
        raise InputError("view", "be a 2D texture or a cube, of one sample", found)
    layout, data = texture_at(memory, view)
    first = int(view["first_layer"])
    layers = range(first, first + int(view["layer_count"]))
    levels = [
        np.stack(
            [np.ascontiguousarray(layout.read(data, level, layer)).reshape(-1) for layer in layers]
        )
        for level in range(view["first_level"], view["first_level"] + view["level_count"])
    ]
    name, is_srgb = DXGI[form]
    width, height, _ = layout.size_of(int(view["first_level"]))
    faces = 6 if view["dimension"] == Dimension.CUBE else 1
    return texture.create(name, width, height, levels, faces=faces, srgb=is_srgb)
