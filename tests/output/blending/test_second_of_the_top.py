# SPDX-License-Identifier: BSD-2-Clause
"""Two colours of a shader for the first plane [fs 17.6], from packets to memory."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.payload import dtype
from fixfunc.models.state import FACTORS, needs_second
from fixfunc.rtl import top as rtl
from fixfunc.spec import payloads
from fixfunc.spec.colours import quads
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, Compare, Kind
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.frontend import streams
from tests.plane_formats import SECOND, unchecked
from tests.volume import LIMIT, SOME, check_outputs, volume

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
SIZE = 12
CLEARED = 0x80402010
OTHER = Format.R16G16_SNORM
PAIRS = {  # source and target, of colours and of alpha
    "each channel by its own": [BlendFactor.SRC1_COLOR, BlendFactor.INV_SRC1_COLOR],
    "by alpha": [BlendFactor.SRC1_ALPHA, BlendFactor.INV_SRC1_ALPHA],
}


def state_of(plane, **fields):
    form = OTHER if plane else Format.R8G8B8A8_UNORM
    return unchecked((SIZE, SIZE), slot=plane, **{"colour_format": form} | fields)


def begun(**fields):
    """Both planes are cleared, each under a state of its own."""
    packets = CommandList()
    for plane in range(PARAMS.colour.planes):
        packets.target(0, streams.PLANE, 2 * streams.PLANE + plane * streams.PLANE // 8, plane)
        packets.state(state_of(plane, **fields))
        others = {} if plane else {"depth": 1, "stencil": 1, "depth_value": (1 << 24) - 1}
        whole = {"colour": 1, "colour_value": CLEARED, "colour_plane": plane}
        packets.clear((0, 0, SIZE, SIZE), **whole, **others)
    return packets


def whole_target():
    out = np.zeros(1, TRIANGLE)
    out["x1"] = out["y2"] = SIZE * 512
    return out


def rows_of(lists):
    rows, at = [], streams.LISTS
    for packets in lists:
        transfers = packets.transfers
        start = np.array([(at, len(transfers), streams.SIZE)], dtype(START))
        rows += [streams.mark(start), transfers]
        at += 32 * len(transfers)
    return np.concatenate(rows)


def blended(name, factor):
    plain = dict.fromkeys(FACTORS, BlendFactor.ONE)
    return plain | {"blend_enable": 1, "depth_test": 0, name: factor}


@pytest.mark.plan("top-23")
@pytest.mark.parametrize("built_in", [0, 1])
def test_two_colours_of_a_tile(built_in):
    """Every factor, between draws on both planes: the shader is told what is asked for."""
    packets = begun(built_in=built_in)
    packets.pixel_state(constant_r=0x3F400000, constant_g=0x3E800000, alpha_test=Compare.ALWAYS)
    for name in FACTORS:
        for factor in SECOND:
            for fields in (blended(name, factor), {"blend_enable": 0, "depth_test": 0}):
                packets.state(state_of(0, built_in=built_in, **fields))
                packets.state(state_of(1, built_in=built_in, depth_test=0))
                packets.triangles(whole_target())
    rows = rows_of([packets.fence(1)])
    outputs = check_outputs(BLOCK, CONFIG, rows, ("full", "bursty"), built_in)
    table = quads(PARAMS.raster.edge, PARAMS.colour.outputs)
    found = codec.unpack(outputs["probe_quads"], table, dtype(table))
    asked = set(zip(found["colour_format"].tolist(), found["colour1_format"].tolist(), strict=True))
    own = int(Format.R8G8B8A8_UNORM)
    assert asked == {(own, own), (own, int(OTHER))}


@pytest.mark.plan("top-23")
@pytest.mark.parametrize("pair", PAIRS)
def test_the_texture_stage_gives_its_colour_twice(pair):
    """A constant over what was cleared, within a unit of exact rationals."""
    source, target = PAIRS[pair]
    fields = {"src_blend": source, "dest_blend": target, "blend_enable": 1}
    fields |= {"src_blend_alpha": PAIRS["by alpha"][0], "dest_blend_alpha": PAIRS["by alpha"][1]}
    given = 0.3125, 0.625, 0.75, 0.4375
    bits = np.float32(given).view(np.uint32).tolist()
    constant = {f"constant_{name}": its for name, its in zip("rgba", bits, strict=True)}
    packets = begun(built_in=1)
    packets.pixel_state(alpha_test=Compare.ALWAYS, **constant)
    packets.state(state_of(0, built_in=1, **fields)).triangles(whole_target())
    rows = rows_of([packets.fence(1)])
    check_outputs(BLOCK, CONFIG, rows, ("full", "full"), 0)
    golden = bench.machine(PARAMS, streams.memory(rows, PARAMS))
    golden.draw(*(int(its) for its in streams.starts(rows)[0][0]))
    first, other = (
        plane.cache.values()[: SIZE // 4, : SIZE // 4] for plane in golden.colour.planes
    )
    assert (other == CLEARED).all() and len(np.unique(first)) == 1
    for n, own in enumerate(given):
        factor = Fraction(own if pair.startswith("each") else given[3])
        stored = Fraction(CLEARED >> 8 * n & 255)
        exact = 255 * Fraction(own) * factor + stored * (1 - factor)
        assert abs((int(first.flat[0]) >> 8 * n & 255) - exact) < 1


@pytest.mark.plan("top-23")
def test_other_planes_are_refused():
    """A list ends with a state of plane 1 that asks for a second colour, whatever the factor."""
    lists, wanted = [], []
    for plane in range(PARAMS.colour.planes):
        for factor in SECOND:
            packets = begun().state(state_of(plane, blend_enable=1, src_blend_alpha=factor))
            lists.append(packets.triangles(whole_target()).fence(1))
            wanted.append(CommandError.STATE if plane else CommandError.NONE)
    outputs = check_outputs(BLOCK, CONFIG, rows_of(lists), ("full", "full"), 0)
    status = codec.unpack(outputs["o"], STATUS, dtype(STATUS))
    assert status["error"][status["last"] == 1].tolist() == wanted


@pytest.mark.qualify  # a top of its own, which ``make test`` does not build
@pytest.mark.plan("top-23", "colour-write-26")
def test_planes_of_floats():
    """Random streams on planes of floats, blended by one colour and by two."""
    config = "tiny_floats"
    params = rtl.CONFIGS[config]
    block = catalogue.block(BLOCK)
    blended, shaded = set(), 0
    for seed, paces in enumerate(2 * SOME):
        rows = bench.requests(np.random.default_rng(seed), 300, params)
        run, _, mismatches, first = block.compare(
            volume(BLOCK, config), rows, config, paces, seed, limit=LIMIT
        )
        assert not mismatches, first
        shaded += len(run.outputs["probe_quads"])
        states = run.outputs["probe_commands"]
        states = states[states[:, 0] & 3 == Kind.STATE]
        states = codec.unpack(states, payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))
        for state in states[states["blend_enable"] == 1]:
            blended.add((int(state["colour_format"]), needs_second(state)))
    assert blended == set(product(params.colour.formats, (False, True)))
    assert shaded > 100
