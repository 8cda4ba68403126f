# SPDX-License-Identifier: BSD-2-Clause
"""Writes a command stream: packets of :mod:`fixfunc.spec.commands`, one behind the other."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.geometry.triangle_setup import FAR, FAR_FLOAT
from fixfunc.models.payload import integers
from fixfunc.spec import commands
from fixfunc.spec.commands import Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import BLEND_CONSTANT, Field
from fixfunc.spec.state import DepthFormat

WORDS = 4  # of 64 bits, of a transfer


class CommandList:
    """Packets, in order; every method adds one.

    Attributes
    ----------
    parts : list of ndarray of uint64, shape (n, 4)
        Transfers of each packet.
    """

    def __init__(self) -> None:
        self.parts = []
        self._form = DepthFormat.D24

    @property
    def transfers(self) -> np.ndarray:
        """All of them: ndarray of uint64, shape (n, 4)."""
        return np.concatenate(self.parts)

    def add(self, opcode: int, table: Sequence[Field], length: int = 1, **fields: int) -> Self:
        """Any packet of ``length`` transfers, its fields by name.

        A field that is no integer, or does not fit, raises
        :class:`~fixfunc.spec.errors.InputError`.
        """
        record = np.zeros(1, codec.wide(table))
        values = {"opcode": opcode, "length": length} | fields
        for name, value in integers(values, table, "packet").items():
            record[name] = value
        packed = codec.pack(record, table).ravel()
        self.parts.append(np.pad(packed, (0, -len(packed) % WORDS)).reshape(-1, WORDS))
        return self

    def append(self, packets: np.ndarray) -> Self:
        """Packets of :mod:`fixfunc.cosim.vertices`: uint64, shape (n, 4)."""
        self.parts.append(packets)
        return self

    def pixel_state(self, **fields: int) -> Self:
        """How pixels are shaded: :data:`fixfunc.spec.pixels.pixel_state.PIXEL_STATE`, by name."""
        return self.add(Opcode.PIXEL_STATE, commands.PIXEL_STATE_PACKET, **fields)

    def texture(self, **fields: int) -> Self:
        """What is sampled: :data:`fixfunc.spec.textures.unit.TEXTURE_STATE`, by name."""
        return self.add(Opcode.TEXTURE, commands.TEXTURE_PACKET, 3, **fields)

    def target(
        self, depth: int = 0, stencil: int = 0, colour: int = 0, colour_plane: int = 0
    ) -> Self:
        """Where planes lie that are cleared from now on, in bytes; of colour planes one."""
        return self.add(
            Opcode.TARGET,
            commands.TARGET_PACKET,
            depth_base=depth,
            stencil_base=stencil,
            colour_base=colour,
            colour_plane=colour_plane,
        )

    def state(self, state: np.void) -> Self:
        """A draw state, as a record; its ``slot`` is the colour plane."""
        self._form = int(state["depth_format"])
        return self.add(
            Opcode.STATE,
            commands.STATE_PACKET,
            2,
            **{name: state[name] for name in state.dtype.names if name != "kind"},
        )

    def clear(self, rectangle: Sequence[int], **fields: int) -> Self:
        """A clear of a rectangle (x0, y0, x1, y1) of pixels; planes and values by name."""
        return self.add(
            Opcode.CLEAR,
            commands.CLEAR_PACKET,
            **dict(zip(("x0", "y0", "x1", "y1"), rectangle, strict=True)),
            **fields,
        )

    def blend_constant(self, constant: Sequence[float]) -> Self:
        """Red, green, blue and alpha that colours are blended with from here on: float32."""
        bits = np.asarray(constant, np.float32).view(np.uint32)
        names = (field.name for field in BLEND_CONSTANT)
        fields = dict(zip(names, bits, strict=True))
        return self.add(Opcode.BLEND_CONSTANT, commands.BLEND_CONSTANT_PACKET, **fields)

    def triangles(self, triangles: np.ndarray) -> Self:
        """A list of snapped triangles, as records of :data:`fixfunc.spec.payloads.TRIANGLE`.

        A depth beyond 127 or -127 raises :class:`~fixfunc.spec.errors.InputError`. The upper bits
        of depths are sent only if one lies far beyond 0..1.
        """
        is_float = self._form == DepthFormat.D32F
        uppers = self.check_depths(triangles) >> 32
        rows = codec.pack(triangles, commands.TRIANGLE_PACKET)
        if not is_float and uppers.any():
            rows = self._with_uppers(rows, uppers)
            self.add(Opcode.TRIANGLES, commands.TRIANGLES_PACKET, 1 + len(rows), upper=1)
        else:
            self.add(Opcode.TRIANGLES, commands.TRIANGLES_PACKET, 1 + len(rows))
        self.parts.append(rows)
        return self

    def check_depths(self, triangles: np.ndarray) -> np.ndarray:
        """Depths of the same triangles, under the state so far: int64, shape (n, 3).

        Raises as :meth:`triangles`.
        """
        is_float = self._form == DepthFormat.D32F
        depths = np.stack([triangles[f"z{k}"] for k in range(3)], 1).astype(np.int64)
        most = FAR_FLOAT if is_float else FAR
        beyond = (depths & (1 << 31) - 1 if is_float else np.abs(depths)) > most
        if beyond.any():
            n, k = np.argwhere(beyond)[0]
            raise InputError(f"z{k}", f"lie within -{most}..{most}", int(depths[n, k]))
        return depths

    @staticmethod
    def _with_uppers(rows, uppers):
        """Transfers of triangles, and before every eight one of their depths' upper bits."""
        table = commands.UPPER_PACKET
        groups = -(-len(rows) // commands.UPPER_TRIANGLES)
        padded = np.zeros((groups * commands.UPPER_TRIANGLES, 3), np.int64)
        padded[: len(uppers)] = uppers
        records = np.zeros(groups, codec.wide(table))
        for field, values in zip(table, padded.reshape(groups, -1).T, strict=True):
            records[field.name] = values
        packed = codec.pack(records, table)
        before = np.arange(groups) * commands.UPPER_TRIANGLES
        return np.insert(rows, before, np.pad(packed, ((0, 0), (0, WORDS - packed.shape[1]))), 0)

    def fence(self, sequence: int = 0, begin: int = 0) -> Self:
        """All before it is in memory when it is told."""
        return self.add(Opcode.FENCE, commands.FENCE_PACKET, sequence=sequence, begin=begin)

    def resolve(self, **fields: int) -> Self:
        """Average the samples of a surface: :data:`fixfunc.spec.colours.RESOLVE`, by name."""
        return self.add(Opcode.RESOLVE, commands.RESOLVE_PACKET, **fields)
