# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.lib import placing as golden
from fixfunc.tb.bench import clocked
from fixfunc.tb.lib import placing as bench
from tests.lib.bench import check_bench, check_page, is_caught

STEM = "placing"
PART = "tile_groups.placing"


def test_what_was_put_together_comes_apart():
    """The model: of any values and lengths."""
    rng = np.random.default_rng(0)
    widths, _ = bench.SHAPES[-1]
    for values, lengths in bench.sets(rng, 500, widths):
        value, total = golden.placed(values, lengths, sum(widths))
        assert total == sum(lengths)
        parts = golden.taken(value, lengths, widths)
        kept = [part & (1 << length) - 1 for part, length in zip(parts, lengths, strict=True)]
        assert kept == values


@pytest.mark.parametrize("name", bench.CASES)
def test_every_bin_is_hit(name):
    case = bench.CASES[name]
    assert not clocked.missed(case, case.trace(np.random.default_rng(3), clocked.COUNT))


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("placing_5", "first[1] + second[1]", "first[1] + first[1]"),
        ("placing_5", "first[2] - first[1]", "first[2] - second[1]"),
        ("placing_7", "[value.eq(first[0]), length.eq(first[1])]", "[value.eq(first[0])]"),
        ("taking_5", "value >> lengths[n - 1] if n % 2", "value >> lengths[n] if n % 2"),
        ("taking_7", "2 * down + 2", "2 * down + 1"),
        ("taking_7", "sum(length for length, _ in nodes[n : n + 2])", "nodes[n][0]"),
    ],
)
def test_a_broken_one_is_caught(case, right, wrong):
    assert is_caught(PART, case, right, wrong)


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("unpacker_3", "Mux(self.start, self.at, self.position)", "self.position"),
        ("unpacker_3", "begin + self.length", "self.at + self.length"),
        ("unpacker_5", "begin[:shift]", "begin[: shift - 1]"),
        ("unpacker_5", "self._word - 1 + self._most", "self._most"),
        ("unpacker_2", "begin[shift:]", "begin[shift:-1]"),
    ],
)
def test_a_broken_unpacker_is_caught(case, right, wrong):
    assert is_caught("tile_groups.unpacker", case, right, wrong)


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("packer_3", "Mux(self.start, self.at, self.position)", "self.position"),
        ("packer_3", "begin + self.length", "self.at + self.length"),
        ("packer_5", "begin[:shift]", "begin[: shift - 1]"),
        ("packer_5", "self.first if n == 0 else 0, word", "self.first if n == 0 else word, word"),
        ("packer_2", "index == n - part", "index == n"),
    ],
)
def test_a_broken_packer_is_caught(case, right, wrong):
    assert is_caught("tile_groups.packer", case, right, wrong)


def test_waveforms():
    check_page("tile_groups")


def test_bench(simulator):
    check_bench(STEM, simulator)
