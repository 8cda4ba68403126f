# SPDX-License-Identifier: BSD-2-Clause
"""Vertex ring: vertices in slots, triangles by the slots of their corners."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import carried, dtype, unpack
from fixfunc.spec import commands, payloads
from fixfunc.spec.commands import SLOT_LIMIT, VERTEX_OPCODES, Opcode, RingKind, VertexError
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field
from fixfunc.spec.pixels.interpolation import How, Where
from fixfunc.spec.pixels.pixel_state import ATTRIBUTES, PIXEL_STATE
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.textures.descriptors import DESCRIPTOR
from fixfunc.spec.textures.unit import TEXTURE_STATE

TRANSFER = 32  # bytes
SLOT_BYTES = 5  # of three slots
VERTEX = dtype(
    (
        *commands.VERTEX_PLACE,
        *commands.VERTEX_WEIGHTS,
        Field("attributes", 4),
        Field("has_weights", 1),
    )
)
TRIANGLE = dtype(commands.RING_TRIANGLE)
STATE = dtype(PIXEL_STATE)
TEXTURE = dtype((TEXTURE_STATE[0], *DESCRIPTOR))


class Assembly(NamedTuple):
    """What is known of the triangles of a command stream, in their order."""

    triangles: np.ndarray  # structured, shape (n,): commands.RING_TRIANGLE; zeros without vertices
    values: np.ndarray  # uint32, shape (n, 3, attributes, 4): of corners; those not used are any
    state_of: np.ndarray  # intp, shape (n,): the pixel state of each
    states: np.ndarray  # structured, shape (s,): fixfunc.spec.pixels.pixel_state.PIXEL_STATE
    # structured, shape (s,), of each: fixfunc.spec.textures.descriptors.DESCRIPTOR; zeros without
    textures: np.ndarray


class Beats(NamedTuple):
    """Beats of one kind, as records of its table."""

    kind: RingKind
    records: np.ndarray


class VertexRing:
    """Slots of vertices, and what packets do to them.

    Parameters
    ----------
    slots : int
        A power of two from 8 to 4096.
    attributes : int
        Most of a vertex: 1 to 15.

    Attributes
    ----------
    vertices : structured ndarray of :data:`VERTEX`, shape (slots,)
        Those that were written last.
    values : ndarray of uint32, shape (slots, attributes, 4)
        Attributes, float32 bits; those that a vertex does not have are of an older one.
    held : int
        Slots in use, the oldest of them ``first``.
    """

    def __init__(self, slots: int = 1024, attributes: int = 8) -> None:
        if slots not in (1 << bits for bits in range(3, SLOT_LIMIT.bit_length())):
            raise InputError("slots", f"be a power of two from 8 to {SLOT_LIMIT}", slots)
        if not 1 <= attributes <= 15:
            raise InputError("attributes", "lie in 1..15", attributes)
        self.vertices = np.zeros(slots, VERTEX)
        self.values = np.zeros((slots, attributes, 4), np.uint32)
        self.held = self.first = 0
        self._used = 0  # slots that were ever written

    def execute(self, transfers: np.ndarray) -> list[Beats]:
        """Beats of one packet.

        Parameters
        ----------
        transfers : ndarray of uint8, shape (n, 32)
            Of the packet, or as many of them as there are: the rest is of no use by then.
        """
        header = unpack(transfers[:1], commands.VERTEX_PACKET)[0]
        error = self._check(header)
        if error:
            return [_error(error)]
        rows = transfers[1:]
        if header["opcode"] == Opcode.VERTICES:
            self._write(header, rows)
            return []
        if header["opcode"] == Opcode.RELEASE:
            return [self._release(int(header["count"]))]
        return self._triangles(header, rows)

    def run(self, transfers: np.ndarray) -> list[Beats]:
        """Beats of packets, one behind the other: uint8, shape (n, 32)."""
        return [beats for packet in packets(transfers) for beats in self.execute(packet)]

    def _check(self, header):
        """The first rule that a header breaks."""
        opcode, length, count, attributes, cut = (int(header[f]) for f in header.dtype.names)
        if opcode not in VERTEX_OPCODES:
            return VertexError.OPCODE
        rows = {
            Opcode.VERTICES: count * commands.vertex_transfers(attributes),
            Opcode.PRIMITIVES: -(-(count << cut) // commands.SLOTS_A_TRANSFER),
            Opcode.RELEASE: 0,
        }[opcode]
        if length != 1 + rows:
            return VertexError.LENGTH
        if opcode == Opcode.RELEASE:
            return None if 1 <= count <= self.held else VertexError.RELEASE
        both = opcode == Opcode.VERTICES and cut and attributes
        if both or attributes > self.values.shape[1]:
            return VertexError.ATTRIBUTES
        if opcode == Opcode.VERTICES and self.held + count > len(self.values):
            return VertexError.ROOM
        return None

    def _write(self, header, rows):
        """Vertices take the slots behind those that are held."""
        attributes = int(header["attributes"])
        each = commands.vertex_transfers(attributes)
        count = len(rows) // each
        data = rows[: count * each].reshape(count, each * TRANSFER)
        slots = (self.first + self.held + np.arange(count)) % len(self.values)
        records = np.zeros(count, VERTEX)
        _fill(records, data[:, : commands.VERTEX_BYTES], commands.VERTEX_PLACE)
        rest = np.ascontiguousarray(data[:, commands.VERTEX_BYTES :])
        if header["cut"]:
            _fill(records, rest, commands.VERTEX_WEIGHTS)
        records["attributes"] = attributes
        records["has_weights"] = header["cut"]
        self.vertices[slots] = records
        values = rest.view("<u4").reshape(count, 2 * each - 1, 4)
        self.values[slots, :attributes] = values[:, :attributes]
        self.held += count
        self._used = min(self._used + count, len(self.values))

    def _release(self, count):
        """The oldest slots are free."""
        self.first = (self.first + count) % len(self.values)
        self.held -= count
        record = np.zeros(1, dtype(commands.RING_RELEASE))
        record["kind"] = RingKind.RELEASE
        record["count"] = count
        return Beats(RingKind.RELEASE, record)

    def _triangles(self, header, rows):
        """Triangles up to the first that breaks a rule."""
        cut = int(header["cut"])
        used = commands.SLOTS_A_TRANSFER * SLOT_BYTES
        entries = unpack(rows[:, :used].reshape(-1, SLOT_BYTES), commands.CORNER_SLOTS)
        slots = np.stack([entries[f"slot{k}"] for k in range(3)], 1).astype(np.int64)
        count = min(int(header["count"]), len(slots) >> cut)
        slots = slots[: count << cut].reshape(count, 1 + cut, 3)
        errors = self._errors(slots, header)
        wrong = np.flatnonzero(errors)
        count = wrong[0] if len(wrong) else count
        beats = []
        if count:
            beats.append(Beats(RingKind.TRIANGLE, self._corners(slots[:count], header)))
        if len(wrong):
            beats.append(_error(errors[count], count))
        return beats

    def _errors(self, slots, header):
        """Of each triangle the rule that it breaks, or 0."""
        size = len(self.values)
        found = self.vertices[slots % size]
        is_held = (slots - self.first) % size < self.held  # where a slot is one of the ring's
        lacks = np.zeros(slots.shape, bool)
        lacks[:, -1] = found["attributes"][:, -1] < header["attributes"]
        no_weights = np.zeros(slots.shape, bool)
        no_weights[:, :-1] = found["has_weights"][:, :-1] == 0
        errors = np.zeros(slots.shape[:2], np.int64)
        # The first rule comes last, and covers the others.
        for error, broken in (
            (VertexError.MISSING, lacks),
            (VertexError.WEIGHTS, no_weights),
            (VertexError.RELEASED, ~is_held),
            (VertexError.NOT_WRITTEN, slots >= self._used),
        ):
            errors[broken.any(2)] = error
        return np.where(errors[:, 0], errors[:, 0], errors[:, -1])

    def _corners(self, slots, header):
        """Records of triangles."""
        out = np.zeros(len(slots), TRIANGLE)
        out["kind"] = RingKind.TRIANGLE
        out["cut"] = header["cut"]
        out["attributes"] = header["attributes"]
        tables = (*commands.VERTEX_PLACE, *(commands.VERTEX_WEIGHTS if header["cut"] else ()))
        for corner in range(3):
            out[f"slot{corner}"] = slots[:, -1, corner]
            found = self.vertices[slots[:, 0, corner]]
            for field in tables:
                out[f"{field.name}{corner}"] = found[field.name]
        return out


class Assembler:
    """Collects an :class:`Assembly` from packets.

    Parameters
    ----------
    slots, attributes : int
        Of the :class:`VertexRing`.
    """

    def __init__(self, slots: int, attributes: int) -> None:
        self._ring = VertexRing(slots, attributes)
        self._parts = [(np.zeros(0, TRIANGLE), np.zeros((0, 3, attributes, 4), np.uint32))]
        self._state_of = [np.zeros(0, np.intp)]
        self._states = [np.zeros(0, STATE)]
        self._textures = [np.zeros(0, TEXTURE)]
        self._texture = None

    @property
    def assembly(self) -> Assembly:
        """Of all triangles so far."""
        triangles, values = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return Assembly(
            triangles,
            values,
            np.concatenate(self._state_of),
            np.concatenate(self._states),
            np.concatenate(self._textures),
        )

    @property
    def has_state(self) -> bool:
        """There is a pixel state in force."""
        return len(self._states) > 1

    def state(self, record: np.void) -> bool:
        """A pixel state holds from here on, if it breaks no rule: whether it does not."""
        options = {"how": len(How), "where": len(Where)}
        known = record["op"] in list(TextureOp)
        known &= all(record[name] < ATTRIBUTES for name in ("attribute", "coordinates"))
        for n in range(ATTRIBUTES):
            known &= all(record[f"{name}{n}"] < count for name, count in options.items())
        if known:
            self._states.append(carried(np.atleast_1d(record), PIXEL_STATE))
            self._textures.append(np.zeros(1, TEXTURE) if self._texture is None else self._texture)
        return bool(known)

    @property
    def has_texture(self) -> bool:
        """There is a texture in force."""
        return self._texture is not None

    def texture(self, record: np.void) -> None:
        """What pixel states from here on sample."""
        self._texture = carried(np.atleast_1d(record), (TEXTURE_STATE[0], *DESCRIPTOR))

    def execute(self, transfers: np.ndarray) -> tuple[np.ndarray, VertexError | int]:
        """Triangles of a packet of the ring, and the rule that it breaks; 0 if it does not.

        They are records of :data:`fixfunc.spec.payloads.TRIANGLE`.
        """
        found = np.zeros(0, TRIANGLE)
        error = 0
        for beats in self._ring.execute(transfers):
            if beats.kind == RingKind.ERROR:
                error = VertexError(int(beats.records["error"][0]))
            elif beats.kind == RingKind.TRIANGLE:
                found = beats.records
        slots = np.stack([found[f"slot{k}"] for k in range(3)], 1).astype(np.intp)
        self._add(found, self._ring.values[slots])
        triangles = np.zeros(len(found), dtype(payloads.TRIANGLE))
        for name in ("x", "y", "z"):
            for k in range(3):
                triangles[f"{name}{k}"] = found[f"{name}{k}"]
        return triangles, error

    def plain(self, count: int) -> None:
        """So many triangles without vertices."""
        self._add(np.zeros(count, TRIANGLE), np.zeros((count, *self._parts[0][1].shape[1:]), "u4"))

    def _add(self, triangles, values):
        self._parts.append((triangles, values))
        self._state_of.append(np.full(len(triangles), len(self._states) - 2, np.intp))


def packets(transfers: np.ndarray) -> list[np.ndarray]:
    """Packets of a stream, by their lengths; one of no length is its header.

    Parameters
    ----------
    transfers : ndarray of uint8, shape (n, 32)
    """
    out = []
    at = 0
    while at < len(transfers):
        length = int(unpack(transfers[at : at + 1], commands.PACKET)["length"][0])
        out.append(transfers[at : at + max(1, length)])
        at += max(1, length)
    return out


def _fill(records, rows, fields):
    """Fields of records from bytes."""
    found = unpack(rows, fields)
    for field in fields:
        records[field.name] = found[field.name]


def _error(error, at=0):
    record = np.zeros(1, dtype(commands.RING_ERROR))
    record["kind"] = RingKind.ERROR
    record["error"] = error
    record["at"] = at
    return Beats(RingKind.ERROR, record)
