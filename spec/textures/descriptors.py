# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the descriptor pool, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.cache import CODED_STATE, DISTANCE, EXTENDED, LINE_NUMBER, LINEAR
from fixfunc.spec.textures.unit import (
    ARRAY_STATE,
    INSTRUCTION_STATE,
    TEXTURE_QUAD,
    TEXTURE_STATE,
)

POOL = 128  # descriptors, at most
STRIDE = 128  # bytes from one descriptor to the next
NUMBER = 7  # bits


class DescriptorKind(IntEnum):
    """What a beat to the descriptor pool is."""

    SELECT = 0
    QUAD = 1
    POOL = 2


class Refusal(IntEnum):
    """Why a descriptor is refused: the first reason that holds."""

    NUMBER = 0  # the pool has no such descriptor
    MEMORY = 1  # memory answered with an error
    STATE = 2  # a size, number of levels, layers or samples, format or address mode that is none
    ADDRESS = 3  # a level of a layer goes on beyond the limit


_KIND = Field("kind", 2, meaning="DescriptorKind")
POOL_PLACE = (
    _KIND,
    Field("base", 32 - (STRIDE - 1).bit_length(), meaning="of descriptor 0: address / 128"),
    Field("count", NUMBER + 1, meaning="descriptors of the pool; more than there may be are all"),
    Field("limit", LINE_NUMBER, meaning="levels lie below it: address / 64"),
)
POOL_SELECT = (
    _KIND,
    Field("number", NUMBER, meaning="of the descriptor"),
    *INSTRUCTION_STATE,
)
POOL_QUAD = (_KIND, *TEXTURE_QUAD[1:])
# In memory: a texture and its sampler, of which 96 bytes are read.
DESCRIPTOR = (*TEXTURE_STATE[1:], *ARRAY_STATE, EXTENDED, *CODED_STATE, LINEAR)


def sampled(extended: bool, coded: bool, linear: bool) -> tuple[Field, ...]:
    """Field table of a texture without layers, and of its sampler, as pixel states have them.

    Parameters
    ----------
    extended : bool
        Formats may have numbers from 32 on.
    coded : bool
        Textures may be coded surfaces.
    linear : bool
        Textures may lie as rows of texels.
    """
    more = (EXTENDED,) if extended else ()
    more += (DISTANCE,) if coded or linear else ()
    return (*TEXTURE_STATE, *more, *(CODED_STATE if coded else ()), *((LINEAR,) if linear else ()))


REFUSED = (
    Field("number", NUMBER, meaning="of the descriptor"),
    Field("reason", 2, meaning="Refusal"),
)
