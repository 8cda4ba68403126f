# SPDX-License-Identifier: BSD-2-Clause
"""What is bound to a programmable stage: constants, resources, samplers, unordered access."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.frontend.state.pieces import piece, table
from fixfunc.models.machine.textures.sampled import sampler_of, texels_of
from fixfunc.models.machine.unordered_access import Entry, Shared, UnorderedAccess
from fixfunc.models.payload import enumerated
from fixfunc.models.raster.forced_samples import positions_of
from fixfunc.models.texture import sampler
from fixfunc.models.texture.filtering import fetch
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
)
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import TRANSFER

PAYLOADS = {
    BindingKind.CONSTANTS: CONSTANTS,
    BindingKind.RESOURCE: VIEW,
    BindingKind.SAMPLER: SAMPLER,
    BindingKind.UNORDERED: VIEW,
}


class Bindings(UnorderedAccess):
    """What is bound to a stage, for its shader.

    Parameters and attributes are those of
    :class:`fixfunc.models.machine.unordered_access.UnorderedAccess`.
    """

    def addresses(self, *kinds: BindingKind) -> set[int]:
        """Of resources that are bound as one of some kinds."""
        return {
            int(entry.record["address"])
            for (kind, _), entry in self._entries.items()
            if kind in kinds
        }

    def constants(self, slot: int) -> np.ndarray:
        """A constant buffer: uint8; of no bytes, if none is bound.

        Of a part of a buffer, zeros where the buffer has ended [fs 5.3.4.3.2].
        """
        data = self._bytes(BindingKind.CONSTANTS, slot, "address", "size")
        entry = self._entries.get((BindingKind.CONSTANTS, slot))
        shown = 0 if entry is None else int(entry.record["shown"])
        if shown <= len(data):
            return data[:shown]
        padded = np.zeros(shown, np.uint8)
        padded[: len(data)] = data
        padded.flags.writeable = False
        return padded

    def floats(self, slot: int) -> np.ndarray:
        """A constant buffer as float32."""
        data = self.constants(slot)
        return data[: len(data) // 4 * 4].view("<f4")

    def buffer(self, slot: int) -> np.ndarray:
        """Bytes of a buffer that is bound as a resource: uint8."""
        return self._bytes(BindingKind.RESOURCE, slot, "first", "size")

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

        See :func:`fixfunc.models.texture.filtering.fetch.fetch`, and ``fetch_buffer``, whose places
        are numbers of elements. What is not bound reads zeros.
        """
        entry = self._entries.get((BindingKind.RESOURCE, slot))
        if entry is None:
            return np.zeros((*np.shape(places)[:-1], 4), np.float32)
        view = entry.record
        if view["dimension"] == Dimension.BUFFER:
            name, _ = texels_of(view)
            return self._counted(slot, fetch.fetch_buffer, self.buffer(slot), name, places, **how)
        return self._counted(slot, fetch.fetch, self.texture(slot), places, **how)

    def sample_count(self, slot: int) -> int:
        """Samples of a texture's texels [fs 22.4.21]; 0, if none is bound."""
        bound = self.texture(slot)
        if bound is not None and bound.dimension != 2:
            raise InputError("texture", "be 2D to have samples", bound.dimension)
        return 0 if bound is None else bound.samples

    def sample_position(self, slot: int, number: ArrayLike) -> np.ndarray:
        """Where a texture's samples lie: see
        :func:`fixfunc.models.raster.forced_samples.positions_of`.
        """
        return positions_of(self.sample_count(slot), number)

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
