# SPDX-License-Identifier: BSD-2-Clause
"""Command reader: packets in memory become triangles, draw states, clears and fences."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from fixfunc.models.formats import MOST
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.vertex_ring import Assembler, Assembly
from fixfunc.models.memory.surface import overlap, plane_bytes, tiles_of
from fixfunc.models.payload import dtype, unpack
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import TARGET_FIELDS, check_draw_state, needs_constant
from fixfunc.spec import commands, payloads
from fixfunc.spec.colours import EDGE
from fixfunc.spec.commands import ALIGNED, LENGTHS, VERTEX_OPCODES, CommandError, Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import SAMPLE_COUNTS, DepthFormat, Kind

TRANSFER = 32  # bytes
PLANES = "depth", "stencil", "colour"


class Read(NamedTuple):
    """Beats of a command stream, and where reading stopped, as :func:`read` returns them."""

    # (Kind, records): triangles of a packet, or one control record; the last is the final FENCE.
    beats: list
    error: CommandError
    at: int  # transfer of the packet with the error, or the number of transfers
    # (n, record of RESOLVE): what is resolved, in order, each behind the first n beats.
    resolves: list
    vertex_error: int  # VertexError, of an error VERTEX; else 0
    assembly: Assembly | None  # of the triangles, where there is a vertex ring


def read(
    memory: np.ndarray,
    address: int,
    transfers: int,
    limit: int,
    limits: CommandLimits | None = None,
    unreadable: int | None = None,
) -> Read:
    """Read packets.

    Parameters
    ----------
    memory : ndarray of uint8
        Bytes of memory.
    address, transfers, limit : int
        As in :data:`fixfunc.spec.commands.START`.
    limits : CommandLimits, optional
    unreadable : int, optional
        A byte that memory cannot read.

    Returns
    -------
    Read
        A packet is checked before anything of it counts. Reading stops at the first packet that
        breaks a rule.
    """
    end = address + transfers * TRANSFER
    reader = _Reader(limits or CommandLimits(), limit, (address, end))
    fault = -1 if unreadable is None else (unreadable - address) // TRANSFER  # a transfer
    at = 0
    error = CommandError.NONE
    if address % TRANSFER or not transfers or end > min(limit, len(memory)):
        error = CommandError.ADDRESS
    data = memory[address : address if error else end].reshape(-1, TRANSFER)
    opcode = None
    while not error and at < transfers:
        opcode = unpack(data[at : at + 1], commands.PACKET)["opcode"][0]
        error, length = reader.packet(data[at:], fault - at)
        at += 0 if error else length
    if error or opcode != Opcode.FENCE:
        reader.fence()
    _, fence = reader.beats[-1]
    fence["slot"] = 1
    known = reader.assembler and reader.assembler.assembly
    return Read(reader.beats, error, at, reader.resolves, reader.vertex_error, known)


class _Reader:
    """State of a reader between two packets."""

    def __init__(self, limits, limit, packets):
        self._limits = limits
        self._limit = limit
        self._packets = packets  # where they begin and end
        self.beats = []
        self.resolves = []
        self.vertex_error = 0
        self.assembler = limits.ring and Assembler(*limits.ring)
        self._state = None
        self._has_constant = False
        self._cleared_target = None  # fields of the target that was cleared as a whole
        self._written = set()  # colour planes that draws write
        self._begun = set()  # those of the target that were cleared as a whole
        # Since the last FENCE: any beat that writes; work on colour planes but the first; any work;
        # planes cleared.
        self._unfenced = self._unflushed = self._worked = False
        self._cleared = set()
        self._bases = dict.fromkeys(PLANES, 0)  # and of "colour1" and so on
        self._placed = {}  # bases of the planes of the target that was cleared

    def packet(self, data, fault):
        """Execute a packet: its error, and its length. Transfer ``fault`` cannot be read."""
        if fault == 0:
            return CommandError.READ, 0
        opcode, length = (int(value) for value in unpack(data[:1], commands.PACKET)[0])
        if opcode not in self._limits.opcodes:
            return CommandError.OPCODE, 0
        if length > len(data) or length < 1 or LENGTHS.get(opcode, length) != length:
            return CommandError.LENGTH, 0
        execute = {
            Opcode.TARGET: self._target,
            Opcode.STATE: self._draw_state,
            Opcode.CLEAR: self._clear,
            Opcode.TRIANGLES: self._triangles,
            Opcode.FENCE: self._fence,
            Opcode.RESOLVE: self._resolve,
            Opcode.PIXEL_STATE: self._pixel_state,
            Opcode.TEXTURE: self._texture,
            Opcode.BLEND_CONSTANT: self._constant,
        }.get(opcode, self._vertices)
        if not 0 < fault < length:
            return execute(data[:length]), length
        # Of a list, the triangles before the fault are drawn; that of a state is all of it.
        is_list = opcode in (Opcode.TRIANGLES, *VERTEX_OPCODES)
        error = execute(data[:fault]) if is_list else CommandError.NONE
        return error or CommandError.READ, 0

    def _target(self, data):
        record = unpack(data, commands.TARGET_PACKET)[0]
        number = self._plane(record["colour_plane"])
        for plane in PLANES:
            name = payloads.colour_plane(number) if plane == "colour" else plane
            self._bases[name] = int(record[f"{plane}_base"])
        return CommandError.NONE

    def _plane(self, number):
        """Which colour plane is meant: of targets with one it is not looked at."""
        return int(number) if self._limits.colour_planes > 1 else 0

    def _draw_state(self, data):
        record = unpack(data.reshape(1, -1), commands.STATE_PACKET)
        records = np.zeros(1, dtype(payloads.DRAW_STATE))
        for name in records.dtype.names[1:]:
            records[name] = record[name]
        records["kind"] = Kind.STATE
        records["slot"] = plane = self._plane(record["slot"][0])
        state = records[0]
        limits = self._limits
        try:
            check_draw_state(state, *limits.blending)
        except InputError:
            return CommandError.STATE
        if (
            max(state["target_width"], state["target_height"]) > limits.pixels
            or state["samples"] > SAMPLE_COUNTS.index(limits.samples)
            or state["depth_format"] not in limits.formats
            or (state["conservative"] and not limits.conservative)
            or (state["stencil_test"] and not limits.stencil)
            or (state["built_in"] and not limits.ring)
            or plane >= limits.colour_planes
            or (plane and self._state is None)
        ):
            return CommandError.STATE
        if needs_constant(state) and not self._has_constant:
            return CommandError.ORDER
        self._state = state
        self._written = (self._written if plane else set()) - {plane}
        if state["colour_write"]:
            self._written = self._written | {plane}
        self.beats.append((Kind.STATE, records))
        return CommandError.NONE

    def _constant(self, data):
        """A clear of nothing: it holds for what is drawn behind it."""
        clear = np.zeros(1, dtype(payloads.CLEAR))
        record = unpack(data, commands.BLEND_CONSTANT_PACKET)
        for field in payloads.BLEND_CONSTANT:
            clear[field.name] = record[field.name]
        clear["kind"] = Kind.CLEAR
        clear["constant"] = 1
        self._has_constant = True
        self.beats.append((Kind.CLEAR, clear))
        return CommandError.NONE

    def _clear(self, data):
        record = unpack(data, commands.CLEAR_PACKET)[0]
        state = self._state
        if state is None:
            return CommandError.ORDER
        supported = [plane for plane in PLANES if plane != "stencil" or self._limits.stencil]
        planes = [plane for plane in supported if record[plane]]
        number = self._plane(record["colour_plane"])
        covers_target = (
            not record["x0"]
            and not record["y0"]
            and record["x1"] >= state["target_width"]
            and record["y1"] >= state["target_height"]
        )
        clears_target = covers_target and planes == supported and not number
        if state[TARGET_FIELDS] != self._cleared_target and not clears_target:
            return CommandError.ORDER
        if record["colour"] and number not in self._begun and not covers_target:
            return CommandError.ORDER
        if clears_target and self._unflushed:
            return CommandError.ORDER
        needs_fence = self._worked or number in self._cleared
        begins = record["colour"] and covers_target and 0 < number < self._limits.colour_planes
        if begins and needs_fence:
            return CommandError.ORDER
        if record["depth"] and record["depth_value"] > MOST[DepthFormat(state["depth_format"])]:
            return CommandError.STATE
        if number >= self._limits.colour_planes:
            return CommandError.STATE
        if covers_target:
            named = [
                payloads.colour_plane(number) if plane == "colour" else plane for plane in planes
            ]
            if clears_target:
                # A target begins without colour planes but the first.
                self._placed = {p: self._placed[p] for p in self._placed if p in PLANES}
            error = self._place(named)
            if error:
                return error
        if clears_target:
            self._begun = {0}
        elif covers_target and record["colour"]:
            self._begun.add(number)
        if record["colour"]:
            self._unflushed |= number > 0
            self._worked |= not covers_target or number in self._cleared
            self._cleared |= {number} if covers_target else set()
        clear = np.zeros(1, dtype(payloads.CLEAR))
        for name in clear.dtype.names:
            clear[name] = record[name] if name in record.dtype.names else 0
        for plane in PLANES:
            name = payloads.colour_plane(number) if plane == "colour" else plane
            clear[f"{plane}_base"] = self._bases.get(name, 0)
        clear["kind"] = Kind.CLEAR
        clear["slot"] = number
        if clears_target:
            self._cleared_target = state[TARGET_FIELDS]
        self._unfenced = True
        self.beats.append((Kind.CLEAR, clear))
        return CommandError.NONE

    def _place(self, planes):
        """Move planes to where they are to lie; those that are not cleared stay."""
        placed = self._placed | {plane: self._bases.get(plane, 0) for plane in planes}
        ranges = self._ranges(placed)
        if any(placed[p] % ALIGNED or ranges[p][1] > self._limit for p in planes):
            return CommandError.ADDRESS
        pairs = [*combinations(ranges.values(), 2), *((ranges[p], self._packets) for p in planes)]
        if any(overlap(*pair) for pair in pairs):
            return CommandError.OVERLAP
        self._placed = placed
        return CommandError.NONE

    def _ranges(self, placed):
        """Where planes of the state's target begin and end."""
        count = tiles_of(self._state, self._limits.edge)
        return {
            plane: (base, base + plane_bytes(count, plane, self._limits.edge))
            for plane, base in placed.items()
        }

    @property
    def _drawable(self):
        """There is all that triangles need: states, and a target that has been cleared."""
        if self._state is None or self._state[TARGET_FIELDS] != self._cleared_target:
            return False
        if self._state["built_in"] and not self.assembler.has_state:
            return False
        return self._written <= self._begun

    def _pixel_state(self, data):
        record = unpack(data, commands.PIXEL_STATE_PACKET)[0]
        if record["op"] != TextureOp.NONE and not self._limits.texture_formats:
            return CommandError.STATE
        if record["op"] != TextureOp.NONE and not self.assembler.has_texture:
            return CommandError.ORDER
        return CommandError.NONE if self.assembler.state(record) else CommandError.STATE

    def _texture(self, data):
        record = unpack(data.reshape(1, -1), commands.TEXTURE_PACKET)[0]
        error = self._limits.textures.broken(record, self._limit)
        if error:
            return error
        self.assembler.texture(record)
        return CommandError.NONE

    def _vertices(self, data):
        if data[0, 0] == Opcode.PRIMITIVES and not self._drawable:
            return CommandError.ORDER
        triangles, self.vertex_error = self.assembler.execute(data)
        self._work(triangles)
        return CommandError.VERTEX if self.vertex_error else CommandError.NONE

    def _triangles(self, data):
        if not self._drawable:
            return CommandError.ORDER
        rows = data[1:]
        upper = bool(unpack(data[:1], commands.TRIANGLES_PACKET)["upper"][0])
        is_upper = (np.arange(len(rows)) % (1 + commands.UPPER_TRIANGLES) == 0) & upper
        record = unpack(rows[~is_upper], commands.TRIANGLE_PACKET)
        triangles = np.zeros(len(record), dtype(payloads.TRIANGLE))
        for name in record.dtype.names:
            triangles[name] = record[name]
        if upper:
            bits = unpack(rows[is_upper], commands.UPPER_PACKET)
            uppers = np.stack([bits[name] for name in bits.dtype.names], 1).astype(np.int64)
            for k in range(3):
                triangles[f"z{k}"] += (uppers[:, k::3].ravel() << 32)[: len(record)]
        self._work(triangles)
        if self.assembler:
            self.assembler.plain(len(triangles))
        return CommandError.NONE

    def _work(self, triangles):
        if len(triangles):
            triangles["state"] = self._state["state"]
            self.beats.append((Kind.WORK, triangles))
            self._unfenced = self._worked = True
            self._unflushed |= bool(self._written - {0})

    def _fence(self, data):
        record = unpack(data, commands.FENCE_PACKET)[0]
        self._unfenced = self._unflushed = self._worked = False
        self._cleared = set()
        self.fence(sequence=record["sequence"], begin=record["begin"])
        return CommandError.NONE

    def fence(self, **fields):
        """A FENCE that flushes."""
        fence = np.zeros(1, dtype(payloads.FENCE))
        fence["kind"] = Kind.FENCE
        fence["flush"] = 1
        for name, value in fields.items():
            fence[name] = value
        self.beats.append((Kind.FENCE, fence))

    def _resolve(self, data):
        record = unpack(data, commands.RESOLVE_PACKET)[0]
        if self._unfenced:
            return CommandError.ORDER
        sides = int(record["width"]), int(record["height"])
        most = SAMPLE_COUNTS.index(self._limits.resolve_samples)
        known = record["samples"] <= most and record["srgb"] <= self._limits.resolves_srgb
        if not all(1 <= side <= self._limits.pixels for side in sides) or not known:
            return CommandError.STATE
        ranges = {}
        for surface, samples in (("source", int(record["samples"])), ("target", 0)):
            columns, rows = (
                -(-(side << shift) // EDGE)
                for side, shift in zip(sides, LANE_SHAPE[samples], strict=True)
            )
            begin = int(record[surface])
            ranges[surface] = begin, begin + plane_bytes(columns * rows, "colour", EDGE)
        if any(begin % ALIGNED or end > self._limit for begin, end in ranges.values()):
            return CommandError.ADDRESS
        others = [ranges["source"], self._packets]
        target_cleared = (
            self._state is not None and self._state[TARGET_FIELDS] == self._cleared_target
        )
        if target_cleared:
            others += self._ranges(self._placed).values()
        if any(overlap(ranges["target"], other) for other in others):
            return CommandError.OVERLAP
        if not target_cleared:
            self._cleared_target = None  # its planes may have been written
        self.resolves.append((len(self.beats), record))
        return CommandError.NONE
