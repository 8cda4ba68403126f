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
from fixfunc.models.output.output_merger import Numbers, parted
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.blend_constant import ConstantSteps
from fixfunc.rtl.output.byte_blender import ByteBlender
from fixfunc.rtl.output.colour_slots import BYTES
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.plane_formats import PlaneFormats
from fixfunc.rtl.output.texel_blender import TexelBlender
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.payloads import COLOUR, Field, each
from fixfunc.spec.state import BlendFactor
from fixfunc.tb.bench.depths import blend_constant
from tests.plane_formats import BLENDED, CONSTANT, FIRST, SECOND, legal, mixed_with, words

COUNT = 24  # samples a state
BEAT = (
    Field("format", 7),
    *payloads.BLEND_STATE,
    Field("write_mask", 4),
    *each("source fraction second second_fraction dest", COLOUR),
    *payloads.BLEND_CONSTANT,
)
CONSTANTS = [field.name for field in payloads.BLEND_CONSTANT]


class Unit(wiring.Component):
    """A lane behind the decoder of its state, as a pipeline takes it."""

    i: In(layout(BEAT))
    o: Out(COLOUR)

    def __init__(self, kind):
        self._bytes = kind == "bytes"
        planes = PlaneFormats.of(BASE_FORMATS if self._bytes else COLOUR_FORMATS)
        self._formats = BYTES if self._bytes else planes
        self._lane = ByteBlender() if self._bytes else TexelBlender(planes, second=True)
        self._constant = ConstantSteps(planes)
        super().__init__()

    @property
    def latency(self):
        return StateDecoder.LATENCY + self._lane.ahead + self._lane.latency

    def elaborate(self, _platform):
        m = Module()
        m.submodules.lane = lane = self._lane
        m.submodules.decoder = decoder = StateDecoder(self._formats, not self._bytes, True, True)
        m.submodules.constant = constant = self._constant
        t = Timeline(m)
        t.enter(0, beat=self.i)
        t.enter(decoder.LATENCY, control=decoder.control.as_value())
        first = decoder.LATENCY
        entry = 0 if self._bytes else first
        read = first + (lane.ahead if self._bytes else lane.constants_clock)
        t.enter(entry + constant.LATENCY, constants=constant.o.as_value())
        if not self._bytes:
            m.d.comb += [
                lane.second.eq(t[first].beat.second),
                lane.second_fraction.eq(t[first].beat.second_fraction),
            ]
        m.d.comb += [
            constant.i.eq(Cat(t[entry].beat[name] for name in CONSTANTS)),
            constant.widths.eq(decoder.control.widths),
            constant.is_signed.eq(decoder.control.is_signed),
            lane.constants.eq(t[read].constants),
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


def samples(rng, form, kind):
    """States that a format has, each of some samples; and what is stored of these."""
    rows, wanted = [], []
    chosen, known = (CONSTANT, FIRST) if kind == "bytes" else (CONSTANT + SECOND, BlendFactor)
    for n, fields in enumerate([*legal(form), *mixed_with(chosen, form, known)]):
        mask = 15 if n % 3 or form in BASE_FORMATS else int(rng.integers(0, 16))
        state = draw_state(8, 8, colour_format=form, colour_write=mask, **fields)
        dest = words(rng, form, COUNT)
        source, second = (numbers(rng, form) for _ in range(2))
        constant = blend_constant(rng)
        beats = np.zeros(COUNT, dtype(BEAT))
        beats["format"] = form
        beats["write_mask"] = mask
        for field in payloads.BLEND_STATE:
            beats[field.name] = state[field.name]
        beats["source"], beats["fraction"] = source
        beats["second"], beats["second_fraction"] = second
        beats["dest"] = dest
        for name, value in zip(CONSTANTS, constant.view(np.uint32), strict=True):
            beats[name] = value
        rows.append(codec.pack(beats, BEAT))
        wanted.append(blend(source.packed, dest, state, source.fractions, constant, second))
    return np.concatenate(rows), np.concatenate(wanted)


def numbers(rng, form):
    """Colours of a shader as a plane takes them, one half of its floats, the other of any bits."""
    half = COUNT // 2
    packed, fractions = parted(floats(rng, half), form)
    any_bits = rng.integers(0, 1 << 32, COUNT - half, dtype=np.uint32)
    any_words = words(rng, form, COUNT - half)
    return Numbers(np.concatenate([packed, any_words]), np.concatenate([fractions, any_bits]))


def floats(rng, count):
    """Colours of a shader; ends of the range and what lies beyond are among them."""
    values = rng.uniform(-1.2, 1.2, (count, 4))
    return np.where(rng.random((count, 4)) < 0.3, np.round(values), values).astype(np.float32)


@pytest.mark.plan("colour-write-23")
@pytest.mark.plan("colour-write-24")
@pytest.mark.parametrize("kind", ["bytes", "texels"])
def test_a_lane_blends_numbers(kind):
    forms = BASE_FORMATS if kind == "bytes" else sorted(BLENDED)
    unit = Unit(kind)
    pipeline = StallablePipeline(unit, unit.latency)
    rng = np.random.default_rng(22)
    given, wanted = (
        np.concatenate(parts) for parts in zip(*(samples(rng, f, kind) for f in forms), strict=True)
    )
    name = f"lane_of_{kind}"
    run = Volume(pipeline, name, generate(pipeline, name)).run({"i": given}, len(given))
    found = run.outputs["o"][:, 0].astype(np.uint32)
    wrong = np.flatnonzero(found != wanted)
    assert not len(wrong), codec.unpack(given[wrong[:1]], BEAT, dtype(BEAT))
    assert len(found) > (4_500 if kind == "bytes" else 100_000)
