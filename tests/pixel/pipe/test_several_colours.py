# SPDX-License-Identifier: BSD-2-Clause
"""A colour for each output from a shader of quads outside: SV_Target0, SV_Target1 and so on."""

from functools import cache

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.output.formats import encode
from fixfunc.models.payload import carried, dtype
from fixfunc.models.pixel.pixel_pipe import gather, of_outputs
from fixfunc.models.pixel.quad_dispatch import dispatch
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.rtl.pixel.pixel_pipe.tile_gather import TileGather
from fixfunc.rtl.top_params import EACH_KIND
from fixfunc.spec.colours import FORMAT, colour_name, colours, fraction_name
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import Field
from fixfunc.spec.pixels.texture_stage import SHADED_QUAD, shaded_quad
from fixfunc.spec.points import QUAD_SAMPLES, quad_tile
from fixfunc.tb.bench.pace import PACES
from tests import tiers
from tests.volume import LIMIT

EDGE = 4
OUTPUTS = 3
TABLE = shaded_quad(OUTPUTS)
HEADS = tuple(Field(f"format{n}", FORMAT) for n in range(OUTPUTS))
TILES = 10_000 if tiers.QUALIFY else 600  # about five quads each
BATCH = 250  # tiles that have the same formats, in the golden model
FULL = "full", "full"


@cache
def built():
    unit = TileGather(EDGE, False, OUTPUTS, EACH_KIND, 16, OUTPUTS, floats=True)
    return Volume(unit, "tile_gather_of_several")


def tiles_of(rng, count):
    """Tiles of every number of samples, some shaded sample by sample."""
    out = np.zeros(count, dtype(quad_tile(EDGE)))
    out["samples"] = rng.integers(0, 3, count)
    out["by_sample"] = rng.random(count) < 0.2
    out["mask"] = rng.integers(1, 1 << EDGE**2, count) & rng.integers(0, 1 << EDGE**2, count)
    out["mask"][out["mask"] == 0] = 1 << EDGE**2 - 1
    out["covered"] = out["mask"]
    out["slot"] = np.arange(count) % (1 << 12)
    return out


def coloured(rng, quads, most):
    """From one to ``most`` colours of each quad, one behind the other."""
    given = rng.integers(1, most + 1, len(quads))
    out = carried(quads.repeat(given), TABLE)
    ends = np.cumsum(given) - 1
    out["more"] = 1
    out["more"][ends] = 0
    for pixel in range(4):
        for n in range(4):
            values = rng.uniform(-1.2, 1.2, len(out)).astype(np.float32)
            out[f"c{pixel}_{n}"] = values.view(np.uint32)
    return out


def asked_of(rng, count):
    """Formats of the outputs of batches of tiles: every number of them; some have holes."""
    forms = rng.choice(EACH_KIND, (-(-count // BATCH), OUTPUTS))
    forms[rng.random(forms.shape) < 0.3] = 0
    forms[:, 0] = np.where(forms.any(1), forms[:, 0], EACH_KIND[0])
    return forms.repeat(BATCH, 0)[:count]


def expected(tiles, quads, shaded, forms):
    """Of every tile the golden colours, survivors and fractions."""
    out = []
    quad_of = np.cumsum(shaded["more"] == 0) - (shaded["more"] == 0)
    tile = np.cumsum(quads["last"]) - quads["last"]
    for at in range(0, len(tiles), BATCH):
        own = np.flatnonzero((tile >= at) & (tile < at + BATCH))
        some = shaded[(quad_of >= own[0]) & (quad_of <= own[-1])]
        count = min(BATCH, len(tiles) - at)
        each = of_outputs(some, OUTPUTS)
        out.append(gather(each, tile[own] - at, count, EDGE, forms[at].tolist()))
    return [np.concatenate(its, -3) for its in zip(*out, strict=True)]


def through_hardware(forms, shaded, paces=FULL, seed=0):
    """What the hardware makes of them: a run, and records of tiles."""
    heads = np.zeros(len(forms), dtype(HEADS))
    for n in range(OUTPUTS):
        heads[f"format{n}"] = forms[:, n]
    beats = {"tiles": codec.pack(heads, HEADS), "i": codec.pack(shaded, TABLE)}
    run = built().run(beats, len(forms), paces, seed, LIMIT)
    table = colours(EDGE, False, OUTPUTS)
    return run, codec.unpack(run.outputs["o"], table, dtype(table))


@pytest.mark.plan("pixel-pipe-15")
@pytest.mark.parametrize("sink", PACES)
def test_every_output_has_its_colour_in_hardware(sink):
    """A quad may have more colours than are asked for, or fewer."""
    rng = np.random.default_rng(len(sink))
    tiles = tiles_of(rng, TILES)
    quads = dispatch(tiles, EDGE)
    shaded = coloured(rng, quads, OUTPUTS + 2)
    forms = asked_of(rng, len(tiles))
    packed, survivors, fractions = expected(tiles, quads, shaded, forms)
    _, found = through_hardware(forms, shaded, ("random", sink), 3)
    assert len(found) == len(tiles)
    assert np.array_equal(unpack(found["survivors"], EDGE), survivors)
    for output in range(OUTPUTS):
        for lane in range(EDGE**2):
            some = survivors.reshape(-1, EDGE**2)[:, lane] & (forms[:, output] != 0)
            for name, words in ((colour_name, packed), (fraction_name, fractions)):
                wanted = words.reshape(OUTPUTS, -1, EDGE**2)[output, some, lane]
                assert np.array_equal(found[name(output, lane)][some], wanted), (output, lane)


@pytest.mark.plan("pixel-pipe-15")
def test_a_colour_takes_a_clock():
    """One output takes what it takes of a shader that gives one colour; each further one a clock.

    Colours that are not asked for take a clock, too.
    """
    tiles = tiles_of(np.random.default_rng(7), 400)
    quads = dispatch(tiles, EDGE)
    clocks = {}
    for asked, given in ((1, 1), (2, 1), (3, 1), (2, 2), (3, 3), (1, 3)):
        shaded = carried(quads.repeat(given), TABLE)
        shaded["more"] = np.arange(len(shaded)) % given != given - 1
        forms = np.zeros((len(tiles), OUTPUTS), int)
        forms[:, :asked] = Format.R8G8B8A8_UNORM
        run, found = through_hardware(forms, shaded)
        assert len(found) == len(tiles)
        clocks[asked, given] = run.clocks / len(quads)
    for (asked, given), each in clocks.items():
        assert each == pytest.approx(max(asked, given), abs=0.02), clocks


@pytest.mark.plan("pixel-pipe-15")
def test_the_last_colour_is_that_of_all_outputs_behind_it():
    """A pixel shader writes o0 and o1 of four [fs 16.6]; as each target stores them."""
    quads = dispatch(tiles_of(np.random.default_rng(8), 1), EDGE)[:1].repeat(2)
    shaded = carried(quads, TABLE)
    shaded["more"] = 1, 0
    shaded["mask"] = sum(1 << QUAD_SAMPLES * pixel for pixel in range(4))
    shaded["samples"] = shaded["by_sample"] = shaded["x"] = shaded["y"] = 0
    values = np.array([[0.25, 0.5, 0.75, 1.0], [1.0, 0.125, 0.0, 0.5]], np.float32)
    for pixel in range(4):
        for n in range(4):
            shaded[f"c{pixel}_{n}"] = values[:, n].view(np.uint32)
    forms = [Format.R8G8B8A8_UNORM, Format.R10G10B10A2_UNORM, 0, Format.R8G8B8A8_UNORM_SRGB]
    made = gather(of_outputs(shaded, 4), np.zeros(1, int), 1, EDGE, forms)
    for output, form in enumerate(forms):
        wanted = encode(values[min(output, 1)][None], Format(form)).view("<u4") if form else 0
        assert (made.colours[output, 0, :2, :2] == wanted).all()
    assert made.survivors.sum() == 4
    one = of_outputs(np.zeros(1, dtype(SHADED_QUAD)), 4)
    assert len(one) == 4


@pytest.mark.plan("pixel-pipe-15")
def test_a_shader_that_gives_one_colour_has_nothing_to_say():
    assert shaded_quad(1) is SHADED_QUAD
    assert [field.name for field in TABLE if field not in SHADED_QUAD] == ["more"]
