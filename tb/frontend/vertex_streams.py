# SPDX-License-Identifier: BSD-2-Clause
"""Streams of packets for the vertex ring, right and wrong."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.vertices import header, write_primitives, write_release, write_vertices
from fixfunc.models.frontend.vertex_ring import VertexRing
from fixfunc.spec import commands
from fixfunc.spec.commands import VERTEX_OPCODES

SOME = 64  # vertices of a packet, where the ring has room for them


def stream(
    rng: np.random.Generator, count: int, slots: int, attributes: int, wrong: float = 0.1
) -> np.ndarray:
    """Transfers of a stream: ndarray of uint64, shape (n, 4), about ``count`` of them.

    Parameters
    ----------
    rng : Generator
    count, slots, attributes : int
        The ring's last two.
    wrong : float
        Share of packets that may break a rule.
    """
    driver = _Driver(rng, slots, attributes)
    out = []
    left = count
    while left > 0:
        packet = driver.packet(rng.random() < wrong)
        out.append(packet)
        left -= len(packet)
    return np.concatenate(out)


class _Driver:
    """Fills a ring, draws from it, frees it; knows by the golden model what it holds."""

    def __init__(self, rng, slots, attributes):
        self._rng = rng
        self._attributes = attributes
        self._size = slots
        self._ring = VertexRing(slots, attributes)

    def packet(self, is_wrong):
        """The next packet."""
        ring = self._ring
        make = self._rng.choice([self._write, self._draw, self._draw, self._release])
        if not ring.held:
            make = self._write
        rows = make(is_wrong)
        if is_wrong and self._rng.random() < 0.5:
            rows = self._spoilt(rows)
        ring.execute(rows.view(np.uint8))
        return rows

    def _write(self, is_wrong):
        """VERTICES: a few, all that there is room for, or one too many."""
        room = self._size - self._ring.held
        few = min(room, int(self._rng.integers(0, 4)))
        some = min(room, SOME)
        count = int(self._rng.choice([few, few, self._rng.integers(0, some + 1), some]))
        if is_wrong and (room <= SOME or self._rng.random() < 0.05):
            count = room + int(self._rng.integers(0, 3))
        has = int(self._rng.integers(-1, self._attributes + 1))
        if is_wrong and self._rng.random() < 0.3:
            has = min(15, self._attributes + 1 + int(self._rng.integers(0, 2)))
        places = self._random(commands.VERTEX_PLACE, count)
        if has < 0:
            return write_vertices(places, weights=self._random(commands.VERTEX_WEIGHTS, count))
        values = self._rng.integers(0, 1 << 32, (count, has, 4), dtype=np.uint32)
        return write_vertices(places, values)

    def _random(self, table, count):
        """Records of any bits."""
        out = np.zeros(count, codec.wide(table))
        for f in table:
            low = -(1 << f.bits - 1) if f.signed else 0
            out[f.name] = self._rng.integers(low, low + (1 << f.bits), count)
        return out

    def _draw(self, is_wrong):
        """PRIMITIVES whose corners have what they need; one of them may have not."""
        ring = self._ring
        held = (ring.first + np.arange(ring.held)) % self._size
        weighted = held[ring.vertices["has_weights"][held] == 1]
        used = int(self._rng.integers(0, self._attributes + 1))
        whole = held[ring.vertices["attributes"][held] >= used]
        if not len(whole):
            used, whole = 0, held
        count = int(self._rng.choice([0, 1, 2, 3, 5, 6, 7, 13]))
        cut = int((is_wrong or len(weighted)) and self._rng.random() < 0.5)
        slots = self._rng.choice(whole, (count, 1 + cut, 3))
        if cut and len(weighted):
            slots[:, 0] = self._rng.choice(weighted, (count, 3))
        if is_wrong and count:
            self._misplace(slots, held)
            used = int(self._rng.choice([used, used + 1, self._attributes + 1]))
        return write_primitives(slots if cut else slots[:, 0], used)

    def _misplace(self, slots, held):
        """A corner of one triangle is anywhere, beside what is held, or has not what it needs."""
        ring = self._ring
        beside = (ring.first + int(self._rng.choice([-1, ring.held]))) % self._size
        anywhere = int(self._rng.integers(0, commands.SLOT_LIMIT))
        beyond = self._size % commands.SLOT_LIMIT
        place = tuple(self._rng.integers(0, side) for side in slots.shape)
        slots[place] = self._rng.choice([anywhere, beside, beyond, *self._rng.choice(held, 3)])

    def _release(self, is_wrong):
        """RELEASE: some, or all; of none or one too many."""
        held = self._ring.held
        count = int(self._rng.choice([1, held, self._rng.integers(1, held + 1)]))
        if is_wrong:
            count = int(self._rng.choice([0, held + 1, self._size + 1]))
        return write_release(count)

    def _spoilt(self, rows):
        """A bit of the header flips, or it is another packet, or one of any bits."""
        rows = rows.copy()
        kind = self._rng.integers(0, 4)
        if kind == 0:
            # Not of the upper bits of the length: what it would swallow is the rest of the stream.
            bit = int(self._rng.choice([*range(13), *range(32, 61)]))
            rows[0, bit // 64] ^= np.uint64(1 << bit % 64)
        elif kind == 1:
            rows = rows[: int(self._rng.integers(1, len(rows) + 1))]
        elif kind == 2:
            rows[0] = self._rng.integers(0, 1 << 64, 4, dtype=np.uint64)
            rows[0, 0] &= np.uint64(~(0xFFFFF0 << 8) & (1 << 64) - 1)
        else:
            opcode = int(self._rng.choice([0, 4, *VERTEX_OPCODES]))
            rows[:1] = header(opcode, int(self._rng.integers(0, 3)), count=len(rows) - 1)
        length = max(1, int(rows[0, 0]) >> 8 & 0xFFFFFF)
        missing = max(0, length - len(rows))
        return np.pad(rows[:length], ((0, missing), (0, 0)))
