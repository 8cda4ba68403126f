# SPDX-License-Identifier: BSD-2-Clause
from collections import Counter

import numpy as np
import pytest

from fixfunc.cosim import vertices as writer
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import CONFIGS
from fixfunc.spec import commands
from fixfunc.spec.commands import RingKind, VertexError
from fixfunc.tb import catalogue
from fixfunc.tb.frontend import vertex_ring as bench
from fixfunc.tb.frontend import vertex_streams
from tests import volume
from tests.bench import check_bench

BLOCK = STEM = "vertex_ring"


def records(count, table):
    """Records that differ in each of their fields."""
    out = np.zeros(count, np.dtype([(f.name, "i8") for f in table]))
    for f in table:
        out[f.name] = np.arange(count)
    return out


def places(count):
    return records(count, commands.VERTEX_PLACE)


@pytest.mark.plan("vertex-ring-6")
@pytest.mark.parametrize("config", CONFIGS)
def test_volume(config):
    """Every attribute of every triangle is read before its RELEASE comes back."""
    volume.check_paces(STEM, config, 1500)


def rows_of(*packets, repeat=1):
    """Transfers of packets, several times."""
    return np.concatenate([np.concatenate(packets)] * repeat)


def clocks(rows, config="tiny", paces=("full", "full")):
    """Clocks of packets, held to the golden model; and their beats."""
    block = catalogue.block(STEM)
    run, _, mismatches, first = block.compare(
        volume.volume(STEM, config), rows, config, paces, limit=200_000
    )
    assert not mismatches, first
    return run.clocks, run.outputs["o"]


@pytest.mark.plan("vertex-ring-7")
def test_a_triangle_a_clock():
    """Of a list; cut ones take two, and a packet three more."""
    slots = np.random.default_rng(0).integers(0, 3, (3000, 3))
    three = writer.write_vertices(places(3))
    took, beats = clocks(rows_of(three, writer.write_primitives(slots)))
    assert len(beats) == 3000 <= took <= 3000 + 16
    weights = records(3, commands.VERTEX_WEIGHTS)
    cut = writer.write_vertices(places(3), weights=weights)
    took, beats = clocks(rows_of(cut, writer.write_primitives(slots.reshape(1500, 2, 3))))
    assert len(beats) == 1500
    assert 3000 <= took <= 3000 + 16


@pytest.mark.plan("vertex-ring-7")
def test_a_transfer_of_vertices_a_clock():
    """As long as there is room: one RELEASE at once makes way for the next batch."""
    batch = rows_of(writer.write_vertices(places(8)), writer.write_release(8))
    took, beats = clocks(rows_of(batch, repeat=100))
    assert len(beats) == 100
    assert took <= 100 * (2 + 8 + 2 + 8)


@pytest.mark.plan("vertex-ring-3")
def test_a_slot_is_written_when_its_release_has_come_back():
    """The pixel stage is slow: what it reads then is of the old vertices, whatever follows."""
    rng = np.random.default_rng(0)
    triangles = np.stack([rng.permutation(8)[:3] for _ in range(4)])
    out = []
    for _ in range(30):
        values = rng.integers(0, 1 << 32, (8, 4, 4), dtype=np.uint32)
        out += [
            writer.write_vertices(places(8), values),
            writer.write_primitives(triangles, 4),
            writer.write_release(8),
        ]
    for paces in (("full", "full"), ("full", "starved"), ("random", "bursty")):
        _, beats = clocks(rows_of(*out), paces=paces)
        assert len(beats) == 30 * 5


def hostile(count, config="tiny"):
    """Streams of which most packets break a rule, each from a reset; how often each error came."""
    params = CONFIGS[config]
    seen = Counter()
    for seed in range(count):
        rng = np.random.default_rng((seed, 1))
        length = int(rng.integers(1, 60))
        rows = vertex_streams.stream(rng, length, params.slots, params.attributes, wrong=0.7)
        _, beats = clocks(rows, config, ("full", ("full", "random", "bursty")[seed % 3]))
        kinds = beats[:, 0] & np.uint64(3)
        errors = beats[kinds == RingKind.ERROR, 0] >> np.uint64(2) & np.uint64(15)
        seen.update(errors.tolist())
    return seen


@pytest.mark.plan("vertex-ring-9")
def test_hostile_streams():
    """Each ends, with the golden model's errors: a stream that hung would leave beats out."""
    assert set(hostile(300)) == set(VertexError)


@pytest.mark.qualify
@pytest.mark.plan("vertex-ring-9")
def test_many_hostile_streams():
    assert min(hostile(100_000).values()) > 500


@pytest.mark.qualify
@pytest.mark.plan("vertex-ring-6")
def test_a_million_triangles():
    triangles = 0
    for n in range(40):
        rows = bench.requests(np.random.default_rng(n), 100_000, CONFIGS["tiny"])
        beats = volume.check(STEM, "tiny", rows)
        triangles += np.count_nonzero(beats[:, 0] & np.uint64(3) == RingKind.TRIANGLE)
    assert triangles > 1_000_000


@pytest.mark.plan("vertex-ring-8")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
