# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter

import numpy as np
import pytest

from fixfunc.cosim import vertices as writer
from fixfunc.models.frontend.vertex_ring import VertexRing
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.spec import commands
from fixfunc.spec.commands import RingKind, VertexError
from fixfunc.spec.errors import InputError
from fixfunc.tb.frontend import vertex_streams

VERTICES, PRIMITIVES, RELEASE = 7, 8, 9


def number(row, low, bits, signed=False):
    """A field of a transfer."""
    value = int.from_bytes(row.tobytes(), "little") >> low & (1 << bits) - 1
    return value - (1 << bits) if signed and value >> bits - 1 else value


class Naive:
    """The ring as its page has it: a dictionary of slots, one vertex and one triangle at a time."""

    def __init__(self, slots, attributes):
        self.slots, self.attributes = slots, attributes
        self.held = {}  # by slot, the oldest first: place, attributes, weights
        self.written = set()
        self.next = 0
        self.events = []

    def run(self, transfers):
        """What happens, as tuples."""
        at = 0
        while at < len(transfers):
            length = max(1, number(transfers[at], 8, 24))
            end = at + length
            self.packet(transfers[at], transfers[at + 1 : end])
            at = end
        return self.events

    def fail(self, error, at=0):
        self.events.append(("error", error, at))

    def packet(self, first, rows):
        opcode, length, count = number(first, 0, 8), number(first, 8, 24), number(first, 32, 24)
        attributes, cut = number(first, 56, 4), number(first, 60, 1)
        if opcode not in (VERTICES, PRIMITIVES, RELEASE):
            return self.fail("OPCODE")
        # 16 bytes a place and 16 an attribute, in whole transfers; six entries in each of a list.
        needed = {
            VERTICES: count * ((16 + 16 * attributes + 31) // 32),
            PRIMITIVES: ((2 if cut else 1) * count + 5) // 6,
            RELEASE: 0,
        }[opcode]
        if length != needed + 1:
            return self.fail("LENGTH")
        if opcode == RELEASE:
            return self.release(count)
        if attributes > self.attributes or (opcode == VERTICES and cut and attributes > 0):
            return self.fail("ATTRIBUTES")
        if opcode == PRIMITIVES:
            return self.draw(rows, count, attributes, cut)
        if count > self.slots - len(self.held):
            return self.fail("ROOM")
        for n in range(count):
            each = (16 + 16 * attributes + 31) // 32
            self.write(rows[n * each : (n + 1) * each], attributes, cut)
        return None

    def write(self, rows, attributes, cut):
        data = b"".join(row.tobytes() for row in rows)
        signs = ((24, True), (24, True), (40, True), (32, False))
        low, place = 0, []
        for bits, signed in signs:
            place.append(number(rows[0], low, bits, signed))
            low += bits
        weights = (number(rows[0], 128, 25), number(rows[0], 153, 25)) if cut else None
        values = [tuple(data[16 + 16 * n : 32 + 16 * n]) for n in range(attributes)]
        self.held[self.next] = tuple(place), values, weights
        self.written.add(self.next)
        self.next = (self.next + 1) % self.slots

    def release(self, count):
        if not 1 <= count <= len(self.held):
            return self.fail("RELEASE")
        for slot in [*self.held][:count]:
            del self.held[slot]
        return self.events.append(("release", count))

    def broken(self, slots, attributes, weighted):
        """The first rule that three corners break."""
        if any(slot not in self.written for slot in slots):
            return "NOT_WRITTEN"
        if any(slot not in self.held for slot in slots):
            return "RELEASED"
        if any(len(self.held[slot][1]) < attributes for slot in slots):
            return "MISSING"
        if weighted and any(self.held[slot][2] is None for slot in slots):
            return "WEIGHTS"
        return None

    def draw(self, rows, count, attributes, cut):
        entries = [
            tuple(number(row, 40 * n + 12 * k, 12) for k in range(3))
            for row in rows
            for n in range(6)
        ]
        for n in range(count):
            mine = entries[2 * n : 2 * n + 2] if cut else entries[n : n + 1]
            if len(mine) < 1 + cut:
                return  # the stream ends
            error = cut and self.broken(mine[0], 0, weighted=True)
            error = error or self.broken(mine[-1], attributes, weighted=False)
            if error:
                self.fail(error, n)
                return
            places = [self.held[slot][0] for slot in mine[0]]
            weights = [self.held[slot][2] if cut else (0, 0) for slot in mine[0]]
            values = [self.held[slot][1][:attributes] for slot in mine[-1]]
            self.events.append(("triangle", cut, mine[-1], places, weights, values))


def golden_events(transfers, slots, attributes):
    """The same of the golden model; attributes are read when a packet has been executed."""
    ring = VertexRing(slots, attributes)
    events = []
    for packet in naive_packets(transfers):
        for kind, records in ring.execute(packet):
            events += [event(ring, kind, record) for record in records]
    return events


def naive_packets(transfers):
    at = 0
    while at < len(transfers):
        length = max(1, number(transfers[at], 8, 24))
        yield transfers[at : at + length]
        at += length


def event(ring, kind, record):
    """A beat as a tuple."""
    assert record["kind"] == kind
    if kind == RingKind.ERROR:
        return "error", VertexError(record["error"]).name, int(record["at"])
    if kind == RingKind.RELEASE:
        return "release", int(record["count"])
    slots = tuple(int(record[f"slot{k}"]) for k in range(3))
    places = [tuple(int(record[f"{f}{k}"]) for f in ("x", "y", "z", "rhw")) for k in range(3)]
    weights = [(int(record[f"u{k}"]), int(record[f"v{k}"])) for k in range(3)]
    values = [
        [tuple(value.tobytes()) for value in ring.values[slot, : record["attributes"]]]
        for slot in slots
    ]
    return "triangle", int(record["cut"]), slots, places, weights, values


def streams(count, slots, attributes, wrong, length=1000):
    """Random streams, as bytes."""
    for seed in range(count):
        rng = np.random.default_rng((seed, slots))
        rows = vertex_streams.stream(rng, length, slots, attributes, wrong)
        yield rows.view(np.uint8)


@pytest.mark.plan("vertex-ring-1")
@pytest.mark.parametrize(("slots", "attributes"), [(8, 2), (16, 3), (64, 8), (4096, 2)])
def test_beats_are_those_of_a_dictionary_of_slots(slots, attributes):
    """Also that every kind of error occurs."""
    seen = Counter()
    for wrong in (0, 0.1, 0.5):
        for transfers in streams(6, slots, attributes, wrong):
            wanted = Naive(slots, attributes).run(transfers)
            assert golden_events(transfers, slots, attributes) == wanted
            seen.update(event[1] if event[0] == "error" else event[0] for event in wanted)
            assert wrong or not any(event[0] == "error" for event in wanted)
    names = {error.name for error in VertexError} | {"triangle", "release"}
    assert slots == 4096 or names == {*seen}


@pytest.mark.plan("vertex-ring-2")
def test_any_bytes_end():
    """Transfers that are no packets give errors, and never more beats than there are entries."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        transfers = rng.integers(0, 256, (20, 32), dtype=np.uint8)
        transfers[:, 0] = rng.choice([0, 7, 8, 9, 10], 20)
        transfers[:, 2:4] = 0
        transfers[:, 1] = rng.choice([0, 1, 2, 9], 20)
        wanted = Naive(8, 2).run(transfers)
        assert golden_events(transfers, 8, 2) == wanted
        assert any(event[0] == "error" for event in wanted)


def places(count):
    """Places of vertices, all of them different."""
    out = np.zeros(count, np.dtype([(f.name, "i8") for f in commands.VERTEX_PLACE]))
    out["x"] = out["z"] = np.arange(count)
    return out


def events(*packets, slots=8, attributes=2):
    """Names of what packets come to, in short."""
    transfers = np.concatenate(packets).view(np.uint8)
    return [e[1:] if e[0] == "error" else e[0] for e in golden_events(transfers, slots, attributes)]


def corners(*slots):
    return writer.write_primitives(np.array(slots))


@pytest.mark.plan("vertex-ring-3")
def test_room_is_what_will_be_free():
    """A full ring takes nothing until a RELEASE stands before it, and then just as much."""
    full = writer.write_vertices(places(8))
    one = writer.write_vertices(places(1))
    assert events(full, one) == [("ROOM", 0)]
    assert events(full, writer.write_release(1), one, one) == ["release", ("ROOM", 0)]
    assert events(writer.write_vertices(places(9))) == [("ROOM", 0)]
    assert events(full, writer.write_release(8), full) == ["release"]
    assert events(full, writer.write_release(9)) == [("RELEASE", 0)]
    assert events(writer.write_release(1)) == [("RELEASE", 0)]
    assert events(full, writer.write_release(0)) == [("RELEASE", 0)]


@pytest.mark.plan("vertex-ring-3")
def test_slots_that_hold_no_vertex():
    """A packet is left at its first triangle that breaks a rule; the next one counts."""
    three = writer.write_vertices(places(3))
    release = writer.write_release(1)
    assert events(three, corners((0, 1, 2), (0, 1, 3), (0, 1, 2))) == [
        "triangle",
        ("NOT_WRITTEN", 1),
    ]
    assert events(three, release, corners((1, 2, 0)), corners((1, 2, 2))) == [
        "release",
        ("RELEASED", 0),
        "triangle",
    ]
    assert events(three, corners((0, 1, 8))) == [("NOT_WRITTEN", 0)]
    # Once round the ring every slot was written; 3 is held again, 2 is not.
    around = [writer.write_vertices(places(8)), writer.write_release(8), three]
    assert events(*around, corners((0, 1, 2))) == ["release", "triangle"]
    assert events(*around, corners((0, 1, 3))) == ["release", ("RELEASED", 0)]
    assert events(*around, corners((0, 1, 8))) == ["release", ("NOT_WRITTEN", 0)]


@pytest.mark.plan("vertex-ring-3")
def test_corners_have_the_attributes_that_are_used():
    values = np.zeros((3, 1, 4), np.uint32)
    one = writer.write_vertices(places(3), values)
    triangle = np.array([(0, 1, 2)])
    for used, wanted in ((1, ["triangle"]), (2, [("MISSING", 0)]), (3, [("ATTRIBUTES", 0)])):
        assert events(one, writer.write_primitives(triangle, used)) == wanted
    weights = np.zeros(3, np.dtype([(f.name, "i8") for f in commands.VERTEX_WEIGHTS]))
    cut = writer.write_vertices(places(3), weights=weights)
    pair = np.array([[(3, 4, 5), (0, 1, 2)]])
    assert events(one, cut, writer.write_primitives(pair, 1)) == ["triangle"]
    assert events(one, cut, writer.write_primitives(pair[:, ::-1], 0)) == [("WEIGHTS", 0)]
    assert events(one, cut, writer.write_primitives(pair[:, :1].repeat(2, 1), 1)) == [
        ("MISSING", 0)
    ]


@pytest.mark.plan("vertex-ring-3")
def test_lengths():
    """Of each packet one more and one less."""
    for make in (
        writer.write_vertices(places(3)),
        writer.write_vertices(places(2), np.zeros((2, 2, 4), np.uint32)),
        corners(*[(0, 0, 0)] * 7),
        writer.write_release(1),
    ):
        for step in (-1, 1):
            rows = np.concatenate([make, make[-1:]])[: len(make) + step]
            if not len(rows):
                continue
            rows[0, 0] = int(rows[0, 0]) + (step << 8)
            assert events(rows) == [("LENGTH", 0)]
    assert events(writer.header(9, 0)) == [("LENGTH", 0)]
    assert events(writer.header(6)) == [("OPCODE", 0)]


@pytest.mark.plan("vertex-ring-4")
def test_a_triangle_costs_a_sixth_of_a_transfer():
    """A cut one a third."""
    whole = np.zeros((600, 3), int)
    assert len(writer.write_primitives(whole)) == 1 + 100
    assert len(writer.write_primitives(whole.reshape(300, 2, 3))) == 1 + 100


@pytest.mark.plan("vertex-ring-5")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VertexRing(12), "slots must be a power of two from 8 to 4096, not 12"),
        (lambda: VertexRing(8192), "slots must be a power of two from 8 to 4096, not 8192"),
        (lambda: VertexRing(8, 0), r"attributes must lie in 1\.\.15, not 0"),
        (
            lambda: VertexRingParams(slots=4),
            "slots must be a power of two from 8 to 4096, not 4",
        ),
        (lambda: VertexRingParams(attributes=3), "attributes must be one of 2, 4, 8, not 3"),
        (lambda: writer.write_release(-1), r"count must lie in 0\.\.16777215, not -1"),
        (lambda: corners((0, 1, 4096)), r"slot2 must lie in 0\.\.4095, not 4096"),
        (
            lambda: writer.write_vertices(places(1), np.zeros((1, 1, 4)), places(1)),
            "weights must stand without attributes, not given with them",
        ),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()
