# SPDX-License-Identifier: BSD-2-Clause
"""Frames for the naive renderer: all states at random, with a weight on the edges of each."""

import random
from dataclasses import replace

from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.state import (
    COLOURS_OF_SOURCE,
    SAMPLE_COUNTS,
    SECOND_SOURCES,
    BlendFactor,
    BlendOp,
    Compare,
    Cull,
    LogicOp,
    StencilOp,
)
from tests.machine.frames.random_triangles import float32, triangles
from tests.oracles.naive_frame.scene import SIZE, Draw, Face, Frame, Shader, Target, Vertex

COLOURS = (
    Format.R8G8B8A8_UNORM,
    Format.R8G8B8A8_UNORM_SRGB,
    Format.B8G8R8A8_UNORM,
    Format.R8_UNORM,
    Format.R16G16_UNORM,
    Format.R8G8B8A8_SNORM,
    Format.R10G10B10A2_UNORM,
    Format.R16G16B16A16_FLOAT,
    Format.R32_FLOAT,
    Format.R8G8B8A8_UINT,
    Format.B5G6R5_UNORM,
)
LOGICAL = tuple(form for form in COLOURS if form.name.endswith(("_UNORM", "_UINT")))
WITH_STENCIL = tuple(form for form in DEPTH_FORMATS if DEPTH_FORMATS[form])
DEPTHS = (*DEPTH_FORMATS, *WITH_STENCIL, *WITH_STENCIL, None)
MODES = tuple(
    kind + where for kind in ("perspective", "linear") for where in ("", "_centroid", "_sample")
)
BYTES = (0, 0, 1, 127, 128, 254, 255, 255)


def frame(seed: int) -> Frame:
    """A frame of one to seven triangles."""
    rng = random.Random(seed)
    count = rng.choice((0, 1, 1, 1, 2, 2, 3))
    first = COLOURS[seed % len(COLOURS)]
    others = LOGICAL if first in LOGICAL and rng.random() < 0.6 else COLOURS
    others = (first,) if first.name.endswith("_UINT") else others
    colours = [first, *rng.choices(others, k=2)][:count]
    depth = rng.choice(DEPTHS if colours else DEPTHS[:-1])
    samples = rng.choice(SAMPLE_COUNTS)
    planes = [rng.choice((0.0, 0.5, 1.0, rng.random()))]
    cleared = _byte(rng)
    draws = []
    left = rng.choice((1, 3, 5, 6, 6, 6))
    while left:
        some = min(left, rng.choice((1, 1, 1, 1, 2)))
        turn = _Turn(rng, seed + len(draws))
        draw = _draw(rng, turn, some, colours, planes, cleared, draws)
        if len(draws) < 2:
            draw = _in_sight(rng, draw, len(draws) == 0)
        if len(draws) == 1 and seed % 5 == 3:
            draw = _failing(draw)
        draws.append(draw)
        left -= some
    return Frame(
        tuple(draws),
        samples,
        depth,
        float32(rng.choice((0.0, 1.0, 1.0, planes[0], rng.random()))),
        cleared if depth in WITH_STENCIL else 0,
        tuple(colours),
        tuple(tuple(_channel(rng) for _ in range(4)) for _ in colours),
    )


def _byte(rng):
    return rng.choice((*BYTES, rng.randrange(256)))


def _channel(rng):
    values = (0.0, 0.0, 1.0, 1.0, 0.5, -1.0, 2.0, rng.uniform(-0.5, 1.5), rng.random())
    return float32(rng.choice(values))


class _Turn:
    """Choices of which every other goes round, so that few frames have all of them."""

    def __init__(self, rng, number):
        self._rng = rng
        self._number = number

    def of(self, values, step=1):
        """One of some values; ``step`` frames have the same turn."""
        values = list(values)
        if self._rng.random() < 0.15:
            return self._rng.choice(values)
        return values[self._number // step % len(values)]


def _in_sight(rng, draw, passes):
    """A draw of one triangle of which little is hidden, so that what its state does is seen."""
    w, z = rng.choice((1.0, 2.0)), float32(rng.choice((0.0, 0.5, 1.0, rng.random())))
    left, right = float32(-0.3 * w), float32(0.4 * w)
    places = [(left, left, z * w, w), (left, right, w, w), (right, left, w / 2, w)]
    attributes = [vertex.attributes for vertex in draw.triangles[0]]
    corners = zip(rng.sample(places, 3), attributes, strict=True)
    return replace(
        draw,
        triangles=(tuple(Vertex(place, values) for place, values in corners),),
        depth_func=Compare.ALWAYS if passes else draw.depth_func,
        front=replace(draw.front, func=Compare.ALWAYS),
        back=replace(draw.back, func=Compare.ALWAYS),
        cull=Cull.NONE,
        scissor=None,
        viewport=(0.0, 0.0, float(SIZE), float(SIZE), *draw.viewport[4:]),
        sample_mask=0xFFFFFFFF,
        alpha_to_coverage=draw.alpha_to_coverage and not passes,
    )


def _failing(draw):
    """A draw whose stencil tests fail, of both faces."""
    first, second, third = draw.triangles[0]
    return replace(
        draw,
        triangles=((first, second, third), (first, third, second)),
        stencil_test=True,
        front=replace(draw.front, func=Compare.NEVER),
        back=replace(draw.back, func=Compare.NEVER),
    )


def _draw(rng, turn, count, colours, planes, cleared, draws):
    references = [cleared, *(draw.stencil_ref for draw in draws)]
    before = [triangle for draw in draws for triangle in draw.triangles]
    shader = _shader(rng, colours)
    near, far = sorted(float32(rng.choice((0.0, 1.0, 0.5, rng.random()))) for _ in range(2))
    viewport = (0.0, 0.0, float(SIZE), float(SIZE), 0.0, 1.0)
    if rng.random() < 0.2:
        place = [float32(rng.choice((-16, 0.5, rng.uniform(-20, 40)))) for _ in range(2)]
        size = [float32(rng.choice((64, 1000, rng.uniform(1, 100)))) for _ in range(2)]
        viewport = (*place, *size, near, far)
    scissor = None
    if rng.random() < 0.2:
        x0, y0 = (rng.choice((0, 1, 8, rng.randrange(SIZE))) for _ in range(2))
        x1, y1 = (rng.choice((SIZE, 2 * SIZE, 63, rng.randrange(SIZE))) for _ in range(2))
        scissor = (x0, y0, x1, y1)
    targets, factor = _blends(rng, turn, colours)
    clips = rng.random() < 0.7
    return Draw(
        triangles(rng, count, colours, planes, before, clips),
        shader,
        rng.random() < 0.75,
        rng.random() < 0.8,
        rng.choice(list(Compare)),
        _bias(rng),
        float32(rng.choice((0.0, 0.0, 1.0, -1.0, 1e9, -3e38, rng.uniform(-9, 9)))),
        float32(rng.choice((0.0, 0.0, 1e-6, -1e-6, 0.01, 1e30, rng.uniform(-1, 1)))),
        rng.random() < 0.8,
        rng.choice((255, 255, _byte(rng))),
        rng.choice((255, 255, _byte(rng))),
        rng.choice((*references, _byte(rng))),
        _face(rng, turn, (1, 3, 5)),
        _face(rng, turn, (2, 1, 3)),
        rng.choice((*[Cull.NONE] * 6, Cull.FRONT, Cull.BACK)),
        rng.random() < 0.5,
        clips,
        scissor,
        viewport,
        targets,
        factor,
        rng.choice((*[0xFFFFFFFF] * 9, 0xFE, 1, 0, rng.randrange(256))),
        rng.random() < 0.15,
    )


def _bias(rng):
    most = (1 << 31) - 1
    values = (0, 0, 0, 1, -1, 255, -256, most, -most - 1, rng.randint(-(1 << 20), 1 << 20))
    return rng.choice(values)


def _face(rng, turn, steps):
    operations = [turn.of(StencilOp, step) for step in steps]
    return Face(*operations, rng.choice((*Compare, *[Compare.ALWAYS] * 8)))


def _shader(rng, colours):
    """A shader; one of one target has a second source."""
    count = max(len(colours), 2) if len(colours) < 2 else len(colours)
    modes = [rng.choice((*MODES, "constant")) for _ in range(count + 1)]
    if rng.random() < 0.6:  # once a pixel
        modes = [mode.replace("_sample", "") for mode in modes]
    depth = rng.choice((None, None, None, "any", "greater_equal", "less_equal"))
    # A promise about depths holds at every sample only where each has its own.
    position = "sample" if depth in ("greater_equal", "less_equal") else "centre"
    return Shader(
        tuple(modes),
        rng.random() < 0.3,
        depth,
        rng.random() < 0.15,
        rng.random() < 0.2,
        position,
    )


def _blends(rng, turn, colours):
    """Blend state of targets, and the factor."""
    kinds = [form.name.rpartition("_")[2] for form in colours]
    factor = tuple(_channel(rng) for _ in range(4))
    logic = set(kinds) == {"UINT"}  # UNORM has none [fs 17.7.1]: what is left is a mask
    if set(kinds) <= {"UNORM", "UINT"} and (rng.random() < 0.5 or logic):
        return (Target(mask=_mask(rng), logic=logic, logic_op=turn.of(LogicOp)),), factor
    independent = len(colours) > 1 and ("UINT" in kinds or rng.random() < 0.5)
    targets = []
    for kind in kinds if independent else [("UINT" if "UINT" in kinds else "UNORM")]:
        if kind == "UINT" or rng.random() < 0.15:
            targets.append(Target(mask=_mask(rng)))
            continue
        factors = [its for its in BlendFactor if len(colours) == 1 or its not in SECOND_SOURCES]
        alphas = [its for its in factors if its not in COLOURS_OF_SOURCE]
        targets.append(
            Target(
                True,
                turn.of(factors),
                turn.of(factors, 3),
                turn.of(BlendOp, len(COLOURS)),
                turn.of(alphas),
                turn.of(alphas, 3),
                turn.of(BlendOp, 2 * len(COLOURS)),
                _mask(rng),
            )
        )
    return tuple(targets), factor


def _mask(rng):
    return rng.choice((15, 15, 15, 15, rng.randrange(16)))
