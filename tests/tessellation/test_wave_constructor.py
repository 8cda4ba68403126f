# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.wave_constructor import Wave, WaveConstructor
from fixfunc.rtl.tessellation import wave_constructor as rtl
from fixfunc.spec.errors import InputError
from fixfunc.spec.points import MATCHED_POINT
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import LIMIT, check_paces, volume

BLOCK = "wave_constructor"


# Model truths.


@pytest.mark.plan("wave-constructor-1")
@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=12))
def test_waves_hold_every_point_once_in_order(sizes):
    """Waves of up to nine points, each in a row of its own, with or without flushes."""
    unit = WaveConstructor(9)
    pushed = []
    waves = []
    number = 0
    for row, (size, flushes) in enumerate(sizes):
        for lane in range(size):
            waves += unit.push((0, number, 0), 9 * row + lane)
            pushed.append((9 * row + lane, (0, number, 0)))
            number += 1
        if flushes:
            waves += unit.flush()
    waves += unit.flush()
    assert [
        (wave.dsid + wave.begin + n, point) for wave in waves for n, point in enumerate(wave.points)
    ] == pushed
    assert all(wave.dsid % 9 == 0 and 0 < len(wave.points) <= 9 - wave.begin for wave in waves)


@pytest.mark.plan("wave-constructor-2")
def test_a_wave_leaves_when_it_is_full_and_may_come_in_parts():
    unit = WaveConstructor(2)
    assert unit.push((7, 1, 2), 4) == []
    assert unit.push((7, 3, 4), 5) == [Wave(4, 0, ((7, 1, 2), (7, 3, 4)))]
    assert unit.flush() == []
    assert unit.push((7, 5, 6), 6) == []
    assert unit.flush() == [Wave(6, 0, ((7, 5, 6),))]
    assert unit.push((7, 7, 8), 7) == [Wave(6, 1, ((7, 7, 8),))]


@pytest.mark.plan("wave-constructor-5")
def test_wrong_arguments():
    with pytest.raises(InputError, match="lanes must be at least 1, not 0"):
        WaveConstructor(0)
    with pytest.raises(ValueError, match="lanes must be a power of two above 1, not 12"):
        rtl.WaveConstructorParams(lanes=12)


# Hardware.


@pytest.mark.plan("wave-constructor-3")
@pytest.mark.parametrize(
    ("config", "count"), by_tier([("tiny", 600), ("default", 2000)], also=["default"])
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("wave-constructor-3")
def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.plan("wave-constructor-3")
def test_a_full_wave_leaves_at_once():
    """It waits for no beat behind it."""
    lanes = rtl.CONFIGS["tiny"].lanes
    points = np.zeros(lanes, dtype(MATCHED_POINT))
    points["dsid"] = np.arange(lanes)
    rows = codec.pack(points, MATCHED_POINT)
    run = volume(BLOCK, "tiny").run({"i": rows}, 2 * lanes, limit=LIMIT)
    assert len(run.outputs["o"]) == 1
