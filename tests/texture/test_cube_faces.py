# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.cube.cube_faces import CONFIGS
from fixfunc.rtl.texture.cube.face import FACES, parts_of
from fixfunc.spec.textures.cube import CUBE_STATE, FACED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import cube_faces as bench
from tests import volume
from tests.bench import check_bench
from tests.oracles.naive_frame import float32 as naive
from tests.tiers import COUNT, by_tier

BLOCK = STEM = "cube_faces"
# Of [fs 5.3.8], by face: what grows to the right, what grows downwards, where the face looks.
RIGHT = ("-z", "+z", "+x", "+x", "+x", "-x")
DOWN = ("-y", "-y", "+z", "-z", "-y", "-y")
OUT = ("+x", "-x", "+y", "-y", "+z", "-z")


def component(vector, name):
    """A component by its sign and axis."""
    return (-1 if name[0] == "-" else 1) * vector["xyz".index(name[1])]


def bits_of(quad, prefix, pixel):
    """Components of a vector of a pixel."""
    return np.array([quad[f"{prefix}{name}{pixel}"] for name in "uvw"], np.uint32)


@pytest.mark.plan("cube-faces-1")
@pytest.mark.parametrize("config", ["tiny", "tiny_gradients"])
def test_faces_are_those_of_the_specification(config):
    """The greatest component, z before y before x; projected one rounding at a time."""
    rng = np.random.default_rng(4)
    rows = bench.requests(rng, 400, CONFIGS[config])
    states, quads, state_of = parted(rows, CUBE_STATE, CONFIGS[config].quad)
    out = codec.unpack(bench.expected(rows, CONFIGS[config]), FACED_QUAD, dtype(FACED_QUAD))
    checked, brought = set(), set()
    for row, quad, which in zip(out, quads, state_of, strict=True):
        brings = CONFIGS[config].gradients and states[which]["explicit_gradients"] == 1
        ways = ("", "across_", "down_") if brings else ("",)
        read = np.array([bits_of(quad, way, pixel) for way in ways for pixel in range(4)])
        read = read.view(np.float32)
        sizes = np.abs(read)
        if not np.isfinite(read).all() or ((sizes > 0) & (sizes < 2.0**-40)).any():
            continue
        brought.add(brings)
        places = read[:4]
        places = places.astype(np.float64).tolist()
        for pixel in range(4):
            own = places[pixel]
            if not any(own):
                continue
            greatest = max(abs(value) for value in own)
            axis = next(n for n in (2, 1, 0) if abs(own[n]) == greatest)
            face = 2 * axis + (own[axis] < 0)
            assert row[f"face{pixel}"] == face
            checked.add(face)
            normal = component(own, OUT[face])
            y, x = (0, 0) if states[which]["coarse"] else divmod(pixel, 2)
            ends = {"across": (2 * y, 2 * y + 1), "down": (x, x + 2)}
            for name, along in (("u", RIGHT[face]), ("v", DOWN[face])):
                share = naive.divide(component(own, along), normal)
                wanted = naive.multiply_add(share, 0.5, 0.5)
                assert row[f"{name}{pixel}"].view(np.float32) == wanted
                for way, (first, second) in ends.items():
                    if brings:
                        step = bits_of(quad, f"{way}_", pixel).view(np.float32).tolist()
                    else:
                        step = [
                            naive.nearest(Fraction(b) - Fraction(a))
                            for a, b in zip(places[first], places[second], strict=True)
                        ]
                    move = component(step, OUT[face])
                    slope = naive.multiply_add(-share, move, component(step, along))
                    wanted = naive.multiply(naive.divide(slope, normal), 0.5)
                    assert row[f"{way}_{name}{pixel}"].view(np.float32) == wanted
    assert checked == set(range(6))
    assert brought == ({False, True} if CONFIGS[config].gradients else {False})


@pytest.mark.plan("cube-faces-5")
def test_axes_of_faces_are_those_of_the_specification():
    for face in range(6):
        assert FACES[face] == RIGHT[face] + DOWN[face] + OUT[face]
        axes = [n for n, _ in parts_of(face)]
        assert sorted(axes) == [0, 1, 2]


@pytest.mark.plan("cube-faces-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS))
def test_volume(config):
    volume.check_paces(STEM, config, 400)


@pytest.mark.qualify
@pytest.mark.plan("cube-faces-2")
def test_many_quads():
    found = 0
    for n in range(10):
        rows = bench.requests(np.random.default_rng(n), COUNT // 10, CONFIGS["default"])
        found += len(volume.check(STEM, "default", rows))
    assert found > COUNT * 9 // 10


@pytest.mark.plan("cube-faces-3")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
