# SPDX-License-Identifier: BSD-2-Clause
"""Reads the command stream: packets in memory become triangles, draw states, clears and fences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.depth._format import MOST
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import check_draw_state
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import ALIGNED, LENGTHS, CommandError, Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TOP_LIMIT, DepthFormat, Kind

TRANSFER = 32  # bytes
KEPT = ["target", "target_width", "target_height", "samples", "depth_format"]
BITS = {"depth": payloads.DEPTH, "stencil": payloads.STENCIL, "colour": payloads.COLOUR}


@dataclass(frozen=True)
class CommandLimits:
    """What a reader takes.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    samples : int
        Most samples of a pixel.
    pixels : int
        Largest width or height of a target.
    stencil : bool
        Stencil values are kept.
    """

    edge: int = 8
    samples: int = 8
    pixels: int = TOP_LIMIT
    stencil: bool = True


class Read(NamedTuple):
    """What :func:`read` returns."""

    beats: list  # (Kind, records): triangles of a packet, or one control record; the last is the FENCE that ends it
    error: CommandError
    at: int  # transfer of the packet that it stopped at, or how many were read


def plane_bytes(count: int, plane: str, edge: int = 8) -> int:
    """Bytes of a plane of so many tiles, with its table."""
    raw = -(-BITS[plane] * edge**2 // 256) * TRANSFER
    room = 1 << (raw - 1).bit_length()
    return count * room + -(-count // 64) * TRANSFER


def tiles_of(state: np.void, edge: int = 8) -> int:
    """How many tiles a target has."""
    lx, ly = LANE_SHAPE[state["samples"]]
    return -(-int(state["target_width"]) // (edge >> lx)) * -(-int(state["target_height"]) // (edge >> ly))


def read(memory: np.ndarray, address: int, transfers: int, limit: int, limits: CommandLimits | None = None) -> Read:
    """Read packets.

    Parameters
    ----------
    memory : ndarray of uint8
    address, transfers, limit : int
        As in :data:`fixfunc.spec.commands.START`.
    limits : CommandLimits, optional

    Returns
    -------
    Read
        A packet that breaks a rule ends it; what a packet says is looked at before anything of it counts.
    """
    reader = _Reader(limits or CommandLimits(), limit)
    end, at, error = address + transfers * TRANSFER, 0, CommandError.NONE
    if address % TRANSFER or not transfers or end > min(limit, len(memory)):
        error = CommandError.ADDRESS
    data = memory[address:end].reshape(-1, TRANSFER) if not error else np.zeros((0, TRANSFER), np.uint8)
    while not error and at < transfers:
        error, length = reader.packet(data[at:])
        at += 0 if error else length
    fence = np.zeros(1, dtype(payloads.FENCE))
    fence["kind"], fence["slot"], fence["flush"] = Kind.FENCE, 1, 1
    return Read([*reader.beats, (Kind.FENCE, fence)], error, at)


def unpack(rows: np.ndarray, fields: Sequence[payloads.Field]) -> np.ndarray:
    """Records of a packet's fields: rows of bytes, little end first."""
    out, low = np.zeros(len(rows), dtype(fields)), 0
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    for field in fields:
        value = bits[:, low:low + field.bits].astype(np.int64) @ (1 << np.arange(field.bits, dtype=np.int64))
        out[field.name] = np.where(value >> field.bits - 1, value - (1 << field.bits), value) if field.signed else value
        low += field.bits
    return out


class _Reader:
    """What has been read so far."""

    def __init__(self, limits, limit):
        self._limits, self._limit, self.beats = limits, limit, []
        self._state, self._begun, self._bases = None, None, dict.fromkeys(BITS, 0)

    def packet(self, data):
        """One packet; its error, and its length."""
        opcode, length = (int(value) for value in unpack(data[:1], commands.PACKET)[0])
        if opcode not in list(Opcode):
            return CommandError.OPCODE, 0
        if length > len(data) or length < 1 or LENGTHS.get(opcode, length) != length:
            return CommandError.LENGTH, 0
        act = {Opcode.TARGET: self._target, Opcode.STATE: self._set, Opcode.CLEAR: self._clear, Opcode.TRIANGLES: self._triangles,
               Opcode.FENCE: self._fence}[opcode]
        return act(data[:length]), length

    def _target(self, data):
        record = unpack(data, commands.TARGET_PACKET)[0]
        self._bases = {plane: int(record[f"{plane}_base"]) for plane in BITS}
        return CommandError.NONE

    def _set(self, data):
        record = unpack(data.reshape(1, -1), commands.STATE_PACKET)
        state = np.zeros(1, dtype(payloads.DRAW_STATE))
        for name in state.dtype.names:
            state[name] = record[name]
        state["kind"], state["slot"] = Kind.STATE, 0
        try:
            check_draw_state(state[0])
        except InputError:
            return CommandError.STATE
        one, limits = state[0], self._limits
        if (max(one["target_width"], one["target_height"]) > limits.pixels or one["samples"] > SAMPLE_COUNTS.index(limits.samples)
                or one["depth_format"] == DepthFormat.D32F or not one["early_write"] or (one["stencil_test"] and not limits.stencil)):
            return CommandError.STATE
        self._state = one
        self.beats.append((Kind.STATE, state))
        return CommandError.NONE

    def _clear(self, data):
        record, state = unpack(data, commands.CLEAR_PACKET)[0], self._state
        if state is None:
            return CommandError.ORDER
        planes = [plane for plane in BITS if record[plane] and (plane != "stencil" or self._limits.stencil)]
        whole = not record["x0"] and not record["y0"] and record["x1"] >= state["target_width"] and record["y1"] >= state["target_height"]
        if state[KEPT] != self._begun and not (whole and len(planes) == len(BITS) - (not self._limits.stencil)):
            return CommandError.ORDER
        if record["depth"] and record["depth_value"] > MOST[DepthFormat(state["depth_format"])]:
            return CommandError.STATE
        count = tiles_of(state, self._limits.edge)
        if whole and any(self._bases[plane] % ALIGNED or self._bases[plane] + plane_bytes(count, plane, self._limits.edge) > self._limit
                         for plane in planes):
            return CommandError.ADDRESS
        clear = np.zeros(1, dtype(payloads.CLEAR))
        for name in clear.dtype.names:
            clear[name] = record[name] if name in record.dtype.names else 0
        for plane, base in self._bases.items():
            clear[f"{plane}_base"] = base
        clear["kind"] = Kind.CLEAR
        if whole and len(planes) == len(BITS) - (not self._limits.stencil):
            self._begun = state[KEPT]
        self.beats.append((Kind.CLEAR, clear))
        return CommandError.NONE

    def _triangles(self, data):
        if self._state is None or self._state[KEPT] != self._begun:
            return CommandError.ORDER
        record = unpack(data[1:], commands.TRIANGLE_PACKET)
        triangles = np.zeros(len(record), dtype(payloads.TRIANGLE))
        for name in record.dtype.names:
            triangles[name] = record[name]
        triangles["state"] = self._state["state"]
        if len(triangles):
            self.beats.append((Kind.WORK, triangles))
        return CommandError.NONE

    def _fence(self, data):
        record, fence = unpack(data, commands.FENCE_PACKET)[0], np.zeros(1, dtype(payloads.FENCE))
        fence["kind"], fence["flush"], fence["sequence"], fence["begin"] = Kind.FENCE, 1, record["sequence"], record["begin"]
        self.beats.append((Kind.FENCE, fence))
        return CommandError.NONE
