# SPDX-License-Identifier: BSD-2-Clause
"""What a frame asks of a machine, whatever that machine's units, queues, caches and memory."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.spec.errors import InputError

PLANES = "depth", "stencil", "colour"
MODES = 16


class Beat(IntEnum):
    """What travels from the command reader to the targets, in order."""

    EMPTY = 0  # a triangle that covers no tile
    TILE = 1  # a tile of a triangle
    STATE = 2
    CLEAR = 3
    RELEASE = 4  # slots of the vertex ring are free when it comes out at the end
    FENCE = 5  # everything before it is in memory


BEAT = np.dtype(
    [
        ("kind", "u1"),  # Beat
        ("triangle", "i4"),  # number since the stream began; -1 of what is none
        ("first", "?"),  # the first beat of its triangle
        ("set_up", "?"),  # its triangle was not culled
        ("x", "u2"),  # of a tile, in tiles
        ("y", "u2"),
        ("outcome", "u1"),  # of HiZ: fixfunc.spec.state.Outcome
        ("attributes", "u1"),  # of its triangle, interpolated by the pixel pipe
        ("shaded", "?"),  # a sample goes to the shader
        ("built_in", "?"),  # the pixel pipe shades; else a shader outside, a tile a clock
        ("late", "?"),  # tested and written when the shader has answered
        ("quads", "u2"),  # that are shaded
        ("groups", "u1"),  # of 16 samples of which one is blended
        ("samples", "u1"),  # that are covered
        ("passed", "u1"),  # samples that passed
    ]
)
USE = np.dtype(
    [
        ("beat", "i4"),  # which asks for the tile
        ("tile", "i4"),  # number, row by row
        ("needed", "?"),  # values are fetched: not all of them will be written
        ("may_write", "?"),
        ("wrote", "?"),
        ("mode", "u1"),  # of the tile behind it, as it would go to memory; where it wrote
    ]
)
SURFACE = np.dtype(
    [
        ("beat", "i4"),  # the clear that begins it
        ("use", "i4"),  # the first use of its tiles
        ("tiles", "i4"),
        ("columns", "i4"),  # tiles of a row
        ("sizes", "i2", (MODES,)),  # bytes of a tile by its mode; -1 of one that there is not
    ]
)
PACKET = np.dtype(
    [
        ("opcode", "u1"),  # fixfunc.spec.commands.Opcode
        ("transfers", "u4"),  # of 32 bytes
        ("count", "u4"),  # of VERTICES, PRIMITIVES and RELEASE
        ("beat", "i4"),  # beats of packets before it
    ]
)


@dataclass(frozen=True)
class FrameEvents:
    """Events of a frame, in the order of drawing.

    Parameters
    ----------
    beats : structured ndarray of BEAT, shape (n,)
    packets : structured ndarray of PACKET, shape (p,)
        Of the command stream.
    uses : dict of structured ndarray of USE
        By plane: tiles that a cache is asked for.
    surfaces : dict of structured ndarray of SURFACE
        By plane: targets, each begun by a clear of all of it.
    """

    beats: np.ndarray
    packets: np.ndarray
    uses: dict
    surfaces: dict

    def __post_init__(self):
        check_types(self)
        for name, kind in (("beats", BEAT), ("packets", PACKET)):
            self._check(name, getattr(self, name), kind)
        for name, kind in (("uses", USE), ("surfaces", SURFACE)):
            by_plane = getattr(self, name)
            if set(by_plane) != set(PLANES):
                raise InputError(name, f"have {', '.join(PLANES)}", sorted(by_plane))
            for plane, rows in by_plane.items():
                self._check(f"{name}[{plane}]", rows, kind)
                if len(rows) and not 0 <= rows["beat"].min() <= rows["beat"].max() < len(
                    self.beats
                ):
                    raise InputError(f"{name}[{plane}]", "be of the beats", "others")

    @staticmethod
    def _check(name, rows, kind):
        if rows.dtype != kind or rows.ndim != 1:
            raise InputError(name, f"be a row of {', '.join(kind.names)}", rows.dtype)

    @property
    def triangles(self) -> int:
        """How many the command stream has."""
        return int(self.beats["first"].sum())
