# SPDX-License-Identifier: BSD-2-Clause
"""Mapping: the CPU has a subresource for a while, and nothing else uses it [fs 5.6.1]."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from fixfunc.models.host.resources import Buffer, CpuAccess, Texture, Usage
from fixfunc.spec.errors import InputError


class MapType(IntEnum):
    """D3D11_MAP: what the CPU does with a subresource."""

    READ = 1
    WRITE = 2
    READ_WRITE = 3
    WRITE_DISCARD = 4  # what was there before is not needed
    WRITE_NO_OVERWRITE = 5  # nothing is written that work so far reads


NEEDS = {
    MapType.READ: CpuAccess.READ,
    MapType.WRITE: CpuAccess.WRITE,
    MapType.READ_WRITE: CpuAccess.READ | CpuAccess.WRITE,
    MapType.WRITE_DISCARD: CpuAccess.WRITE,
    MapType.WRITE_NO_OVERWRITE: CpuAccess.WRITE,
}
RENAMING = MapType.WRITE_DISCARD, MapType.WRITE_NO_OVERWRITE


@dataclass(frozen=True, eq=False)
class Mapped:
    """A subresource that the CPU has; as a context manager it is unmapped in the end.

    Parameters
    ----------
    data : ndarray of uint8
        Of a buffer shape (size,); of a texture (slices, rows, bytes of a row), rows of blocks where
        the format has such. To be read alone with READ, and after it is unmapped.
    map_type : MapType
    unmap : callable
        Brings what was written to memory.
    """

    data: np.ndarray
    map_type: MapType
    unmap: Callable[[], None]

    @property
    def row_pitch(self) -> int:
        """Bytes from a row to the next; of a buffer all."""
        return self.data.shape[-1]

    @property
    def depth_pitch(self) -> int:
        """Bytes from a slice to the next; of a buffer all."""
        return int(np.prod(self.data.shape[-2:]))

    def __enter__(self) -> "Mapped":
        return self

    def __exit__(self, *_error: object) -> None:
        self.unmap()


def check(resource: Buffer | Texture, map_type: MapType, place: tuple[int, int]) -> None:
    """Raise ``InputError`` for a subresource that may not be mapped so [fs 5.6.1.1]."""
    if NEEDS[map_type] & ~resource.cpu_access:
        found = CpuAccess(resource.cpu_access)
        raise InputError("cpu_access", f"be what {map_type.name} needs", found)
    is_dynamic = resource.usage == Usage.DYNAMIC
    if is_dynamic != (map_type in RENAMING):
        rule = "be WRITE_DISCARD or WRITE_NO_OVERWRITE of DYNAMIC resources, and of no others"
        raise InputError("map_type", rule, map_type.name)
    if map_type == MapType.WRITE_NO_OVERWRITE and not isinstance(resource, Buffer):
        raise InputError("map_type", "be WRITE_NO_OVERWRITE of a buffer alone", map_type.name)
    check_unmapped("subresource", resource, place)


def check_unmapped(
    name: str, resource: Buffer | Texture, place: tuple[int, int] | None = None
) -> None:
    """Raise ``InputError`` where the CPU has a subresource; by default, any."""
    for held in resource.mapped:
        if place is None or held == place:
            raise InputError(name, "not be mapped", held)


def stored(memory: np.ndarray, resource: Buffer | Texture, place: tuple[int, int]) -> np.ndarray:
    """Bytes of a subresource as :class:`Mapped` has them: a view of memory.

    What can be mapped is no target, so that rows lie without gaps.
    """
    if isinstance(resource, Buffer):
        return memory[resource.address : resource.address + resource.size]
    texels = resource.layout.read(memory[resource.address :], *place)
    return texels.reshape(*texels.shape[:2], -1)
