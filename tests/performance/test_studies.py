# SPDX-License-Identifier: BSD-2-Clause
"""Processors of the documents: their peaks, and the same frames on each."""

from dataclasses import replace

import pytest

from fixfunc.models.performance.params import CacheParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.performance.studies import GTX_1080, MALI_G71, PROCESSORS, STUDIES, VEGA_10
from fixfunc.spec.errors import InputError
from tests.performance.frames import events


@pytest.mark.plan("performance-7")
def test_peaks_are_those_of_the_documents():
    """320 GB/s and 8,872,960 MFLOPS [rtr 23.10.2]; 13,737,984 MFLOPS [rtr 23.10.3]."""
    assert GTX_1080.bandwidth == 320e9
    assert GTX_1080.flops == 8_872_960e6
    assert GTX_1080.alus == 2560
    assert GTX_1080.written == 64
    assert GTX_1080.cache == 2 << 20
    assert VEGA_10.flops == 13_737_984e6
    # Four primitives, and 16 pixels of each of four blocks, a clock.
    assert VEGA_10.primitives == 4
    assert VEGA_10.written == 64
    # 32 engines of three quads of ALUs.
    assert MALI_G71.alus == 384
    assert MALI_G71.rasterizers == 32


@pytest.mark.plan("performance-7")
def test_machines_have_the_rates_of_their_processors():
    for name, processor in PROCESSORS.items():
        machine = STUDIES[name]
        assert machine.triangles == processor.primitives
        pixels = machine.pixel_pipes * machine.attributes * 4
        assert pixels == pytest.approx(processor.written)
        assert machine.rasterizers * machine.tiles * 64 == pytest.approx(
            processor.rasterizers * processor.scanned
        )
        bytes_a_second = 32 / machine.memory.read_clocks * machine.clock
        assert bytes_a_second == pytest.approx(processor.bandwidth)
        assert machine.memory.shared  # one bus for all
        if not processor.tile_memory:
            assert machine.cache.sets * machine.cache.ways * 512 == processor.cache


@pytest.mark.plan("performance-8")
@pytest.mark.parametrize("name", STUDIES)
def test_a_frame_takes_no_less_than_the_peaks_allow(name):
    told = events("layers, 4x")
    found = predict(told, STUDIES[name])
    processor = PROCESSORS[name]
    pixels = 4 * int(told.beats["quads"].sum())
    assert found.clocks >= told.triangles / processor.primitives
    assert found.clocks >= pixels / processor.written
    assert found.seconds >= sum(found.bytes.values()) / processor.bandwidth
    assert found.seconds < predict(told).seconds


@pytest.mark.plan("performance-8")
def test_tiles_on_chip_fetch_nothing():
    """A tile of the target leaves its memory once: when the frame is drawn."""
    told = events("slivers, 1x")
    on_chip = predict(told, STUDIES["Mali G71"])
    assert not on_chip.busy["depth read"]
    assert not on_chip.busy["colour read"]
    small = replace(STUDIES["Mali G71"], cache=CacheParams())
    assert predict(told, small).bytes["depth"] > on_chip.bytes["depth"]


@pytest.mark.plan("performance-8")
def test_processors_that_are_none():
    with pytest.raises(InputError, match="alus must lie in 1"):
        replace(VEGA_10, alus=0)
    with pytest.raises(InputError, match=r"clock must be above 0, not 0\.0"):
        replace(VEGA_10, clock=0.0)
    with pytest.raises(InputError, match="open must name fields, not price"):
        replace(VEGA_10, open=("price",))
