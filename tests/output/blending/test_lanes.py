# SPDX-License-Identifier: BSD-2-Clause
"""Lanes that blend, alone: every format, factor and operation, with fractions of any bits."""

import numpy as np
import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog.generate import generate
from fixfunc.models.output.colour_write import blend
from fixfunc.models.output.output_merger import parted
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.byte_blender import ByteBlender
from fixfunc.rtl.output.colour_slots import BYTES
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.plane_formats import PlaneFormats
from fixfunc.rtl.output.texel_blender import TexelBlender
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.payloads import COLOUR, Field, each
from tests.plane_formats import BLENDED, legal, words

COUNT = 24  # samples a state
BEAT = (
    Field("format", 7),
    *payloads.BLEND_STATE,
    Field("write_mask", 4),
    *each("source fraction dest", COLOUR),
)


class Unit(wiring.Component):
    """A lane behind the decoder of its state, as a pipeline takes it."""

    i: In(layout(BEAT))
    o: Out(COLOUR)

    def __init__(self, lane, formats):
        self._lane = lane
        self._formats = formats
        super().__init__()

    @property
    def latency(self):
        return StateDecoder.LATENCY + self._lane.ahead + self._lane.latency

    def elaborate(self, _platform):
        m = Module()
        m.submodules.lane = lane = self._lane
        m.submodules.decoder = decoder = StateDecoder(self._formats, False, False, True)
        t = Timeline(m)
        t.enter(0, beat=self.i)
        t.enter(decoder.LATENCY, control=decoder.control.as_value())
        first = decoder.LATENCY
        m.d.comb += [
            decoder.i.format.eq(self.i.format),
            decoder.i.write_mask.eq(self.i.write_mask),
            *(decoder.i[field.name].eq(self.i[field.name]) for field in payloads.BLEND_STATE),
            lane.source.eq(t[first].beat.source),
            lane.fraction.eq(t[first].beat.fraction),
            lane.dest.eq(t[first + lane.ahead].beat.dest),
            lane.controls.eq(
                Cat(t[first + n].control for n in range(lane.ahead + lane.latency)),
            ),
            self.o.eq(lane.o),
        ]
        return m


def samples(rng, form):
    """States that a format has, each of some samples; and what is stored of these."""
    rows, wanted = [], []
    for n, fields in enumerate(legal(form)):
        mask = 15 if n % 3 or form in BASE_FORMATS else int(rng.integers(0, 16))
        state = draw_state(8, 8, colour_format=form, colour_write=mask, **fields)
        source, dest = (words(rng, form, COUNT) for _ in range(2))
        fraction = rng.integers(0, 1 << 32, COUNT, dtype=np.uint32)
        half = COUNT // 2
        source[:half], fraction[:half] = parted(floats(rng, half), form)
        beats = np.zeros(COUNT, dtype(BEAT))
        beats["format"] = form
        beats["write_mask"] = mask
        for field in payloads.BLEND_STATE:
            beats[field.name] = state[field.name]
        beats["source"], beats["fraction"], beats["dest"] = source, fraction, dest
        rows.append(codec.pack(beats, BEAT))
        wanted.append(blend(source, dest, state, fraction))
    return np.concatenate(rows), np.concatenate(wanted)


def floats(rng, count):
    """Colours of a shader; ends of the range and what lies beyond are among them."""
    values = rng.uniform(-1.2, 1.2, (count, 4))
    return np.where(rng.random((count, 4)) < 0.3, np.round(values), values).astype(np.float32)


@pytest.mark.plan("colour-write-23")
@pytest.mark.parametrize("kind", ["bytes", "texels"])
def test_a_lane_blends_numbers(kind):
    if kind == "bytes":
        formats, forms, lane = BYTES, BASE_FORMATS, ByteBlender()
    else:
        formats = PlaneFormats.of(COLOUR_FORMATS)
        forms, lane = sorted(BLENDED), TexelBlender(formats)
    unit = Unit(lane, formats)
    pipeline = StallablePipeline(unit, unit.latency)
    rng = np.random.default_rng(22)
    given, wanted = (
        np.concatenate(parts) for parts in zip(*(samples(rng, f) for f in forms), strict=True)
    )
    name = f"lane_of_{kind}"
    run = Volume(pipeline, name, generate(pipeline, name)).run({"i": given}, len(given))
    found = run.outputs["o"][:, 0].astype(np.uint32)
    wrong = np.flatnonzero(found != wanted)
    assert not len(wrong), codec.unpack(given[wrong[:1]], BEAT, dtype(BEAT))
    assert len(found) > (3_500 if kind == "bytes" else 40_000)
