# SPDX-License-Identifier: BSD-2-Clause
"""The blend constant of planes of bytes."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.output.colour_write import blend
from fixfunc.models.payload import dtype
from fixfunc.models.state import CONSTANT_FACTORS, PLAIN_FACTORS, draw_state
from fixfunc.spec import payloads
from fixfunc.spec.colours import COLOUR_FORMATS
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH, blend_constant
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import ONE
from tests.output.test_colour_write import BLOCK, rgba, tiles
from tests.volume import check, check_outputs

NAMES = [field.name for field in payloads.BLEND_CONSTANT]


def with_constants():
    """States with every pair of factors of which one is the blend constant."""
    both = [*PLAIN_FACTORS, *CONSTANT_FACTORS]
    for n, pair in enumerate(product(both, repeat=2)):
        if not set(pair) & set(CONSTANT_FACTORS):
            continue
        for alpha, other in (("", "_alpha"), ("_alpha", "")):
            fields = {f"src_blend{alpha}": pair[0], f"dest_blend{alpha}": pair[1]}
            fields |= {f"src_blend{other}": both[n % 13], f"dest_blend{other}": both[n % 5]}
            ops = {f"blend_op{alpha}": 1 + n % 3, f"blend_op{other}": 1 + n % 5}
            yield {"blend_enable": 1} | fields | ops


def exactly(name, source, target, constant, channel):
    """A factor of a channel as a rational, by the specification's words [fs 17.6]."""
    if name.startswith("INV_"):
        return 1 - exactly(name[4:], source, target, constant, channel)
    if name == "SRC_ALPHA_SAT":
        return Fraction(1) if channel == 3 else min(source[3], 1 - target[3])
    return {
        "ZERO": Fraction(0),
        "ONE": Fraction(1),
        "SRC_COLOR": source[channel],
        "SRC_ALPHA": source[3],
        "DEST_COLOR": target[channel],
        "DEST_ALPHA": target[3],
        "BLEND_FACTOR": constant[channel],
    }[name]


@pytest.mark.plan("colour-write-24")
def test_a_constant_is_near_the_exact_one():
    """Half a unit, and what the constant is cut by: twice a step of 1/256 at most."""
    rng = np.random.default_rng(22)
    different = 0
    for fields in with_constants():
        given = blend_constant(rng)
        held = np.clip(np.nan_to_num(given, nan=0), 0, 1)
        constant = [Fraction(float(value)) for value in held]
        state = draw_state(8, 8, **fields)
        new, old = rng.integers(0, 256, (2, 6, 4))
        found = blend(rgba(new), rgba(old), state, constant=given).view(np.uint8).reshape(-1, 4)
        ones = blend(rgba(new), rgba(old), state).view(np.uint8).reshape(-1, 4)
        different += int((found != ones).sum())
        for n in range(6):
            source, target = ([Fraction(int(v), 255) for v in rows[n]] for rows in (new, old))
            for channel in range(4):
                alpha = "_alpha" if channel == 3 else ""
                op = BlendOp(fields[f"blend_op{alpha}"])
                if op in (BlendOp.MIN, BlendOp.MAX):
                    continue
                first, second = (
                    exactly(
                        BlendFactor(fields[f"{side}_blend{alpha}"]).name,
                        *(source, target, constant, channel),
                    )
                    for side in ("src", "dest")
                )
                first, second = first * source[channel], second * target[channel]
                total = first - second if op == BlendOp.SUBTRACT else first + second
                total = second - first if op == BlendOp.REV_SUBTRACT else total
                wanted = 255 * min(max(total, 0), 1)
                assert abs(int(found[n, channel]) - wanted) <= Fraction(1, 2) + Fraction(2, 256)
    assert different > 1000


@pytest.mark.plan("colour-write-24")
def test_every_factor_with_a_constant_in_hardware():
    """A constant before every tile, which those before it must not see."""
    rng = np.random.default_rng(23)
    side = 32
    whole = {"colour": 1, "x1": side, "y1": side, "colour_value": 0x90A03070}
    rows = [
        codec.pack(draw_state(side, side), payloads.DRAW_STATE, WIDTH),
        scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **whole),
    ]
    table = payloads.tested(4)
    every = list(with_constants())
    drawn = tiles(rng, 2 * len(every), side // 4, side // 4, 4)
    drawn["mask"] &= (1 << 16) - 1
    drawn["slot"] = rng.integers(0, 1 << 12, len(drawn))
    for n, fields in enumerate([{}] * len(every) + every):
        given = dict(zip(NAMES, blend_constant(rng).view(np.uint32), strict=True))
        state = draw_state(side, side, **fields)
        rows += [
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, constant=1, **given),
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            codec.pack(drawn[n : n + 1], table, WIDTH),
        ]
    rows.append(scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH, flush=1))
    check(BLOCK, "tiny", np.concatenate(rows))


def drawn(*draws, constant=True):
    """A command stream: a target of one colour; constants, each with all of the target over it."""
    packets = CommandList().target(**streams.PLACES)
    packets.state(draw_state(16, 16, depth_test=0))
    planes = {"depth": 1, "stencil": 1, "colour": 1}
    packets.clear((0, 0, 16, 16), **planes, colour_value=0x80402010)
    packets.pixel_state(**{f"constant_{c}": ONE for c in "rgba"}, alpha_test=Compare.ALWAYS)
    over = np.zeros(1, TRIANGLE)
    over["x1"] = over["y2"] = 16 * 512
    factors = dict.fromkeys(("src_blend", "src_blend_alpha"), BlendFactor.BLEND_FACTOR)
    factors |= dict.fromkeys(("dest_blend", "dest_blend_alpha"), BlendFactor.INV_BLEND_FACTOR)
    blends = draw_state(16, 16, depth_test=0, built_in=1, blend_enable=1, **factors)
    for n, given in enumerate(draws):
        if constant:
            packets.blend_constant(given)
        if not n:
            packets.state(blends)
        packets.triangles(over)
    packets.fence(1)
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    return np.concatenate([streams.mark(start), packets.transfers])


@pytest.mark.plan("colour-write-24")
@pytest.mark.qualify  # a top of its own, which ``make test`` does not build
@pytest.mark.parametrize("stem", ["top"])
def test_a_draw_in_the_top(stem):
    """White over a colour by one constant, then by another one under the same state."""
    first, second = (0.25, 0.5, 0.75, 1.0), (0.5, 0, 1, np.nan)
    outputs = check_outputs(stem, "tiny_bytes", drawn(first, second), ("full", "bursty"), 0)
    colour = [0x10, 0x20, 0x40, 0x80]
    for given in (first, second):
        shares = [Fraction(0 if np.isnan(share) else share) for share in given]
        colour = [
            int(255 * share + old * (1 - share) + Fraction(1, 2))
            for share, old in zip(shares, colour, strict=True)
        ]
    wanted = sum(byte << 8 * n for n, byte in enumerate(colour))
    found = outputs["memory"].view(np.uint32)
    assert (found == wanted).sum() == 256


@pytest.mark.plan("colour-write-24")
@pytest.mark.qualify  # a top of its own, which ``make test`` does not build
@pytest.mark.parametrize("stem", ["top"])
def test_a_state_needs_a_constant_of_its_start(stem):
    """One of the START before is forgotten; readers of other planes know no such packet."""
    rows = drawn((1, 1, 1, 1)), drawn((1, 1, 1, 1), constant=False)
    for row in rows[1:]:
        row[0, 0] = int(row[0, 0]) + 32 * len(rows[0])
    outputs = check_outputs(stem, "tiny_bytes", np.concatenate(rows), ("full", "full"), 0)
    status = codec.unpack(outputs["o"], STATUS, dtype(STATUS))
    assert status["error"].tolist() == [CommandError.NONE, CommandError.ORDER]
    data = np.zeros(1 << 20, np.uint8)
    transfers = CommandList().blend_constant((1, 1, 1, 1)).transfers
    data[-transfers.nbytes :] = transfers.view(np.uint8).ravel()
    limits = CommandLimits(colour_formats=COLOUR_FORMATS)
    assert read(data, len(data) - 32, 1, len(data), limits).error == CommandError.OPCODE
