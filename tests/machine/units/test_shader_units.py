# SPDX-License-Identifier: BSD-2-Clause
"""Batches go to clusters of shaders and finish in any order: what is drawn is the same."""

import importlib
from functools import cache

import numpy as np
import pytest

from fixfunc.models.frontend.compute_stage import ComputeShader
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.geometry_stage import Emitted, GeometryInputs
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine import machine
from fixfunc.models.machine.shader_units import ShaderUnits
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.tessellation.stages import HullPatches, HullResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.errors import InputError
from tests.host.drawing import LEFT, MEMORY, RIGHT, WHOLE, Scene, corners
from tests.machine.frames.naive_drawing import differences
from tests.machine.frames.random_frames import frame
from tests.machine.test_examples import NAMES
from tests.oracles.naive_frame.frame import render


def shuffled(seed):
    """Batches finish in an order of a seed's."""
    rng = np.random.default_rng(seed)
    return lambda in_flight: int(rng.integers(in_flight))


def newest(in_flight):
    """The last one that was given away finishes first."""
    return in_flight - 1


UNITS = {
    "one": lambda: ShaderUnits(1, 1, 64),
    "newest": lambda: ShaderUnits(4, 4, 128, newest),
    "shuffled": lambda: ShaderUnits(3, 2, 100, shuffled(0)),
    "many": lambda: ShaderUnits(64, 2, 32, shuffled(1)),
}


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_the_same_picture_in_any_order(name, monkeypatch):
    """Patches, geometry, stream output, lists of each pixel."""
    draw = importlib.import_module(f"fixfunc.examples.{name}").draw
    expected = draw(32, 18)
    monkeypatch.setattr(machine, "ShaderUnits", lambda: ShaderUnits(3, 2, 150, shuffled(2)))
    assert (draw(32, 18) == expected).all()


@cache
def drawn_naively(seed):
    """A frame, and its picture, which is the same whatever the units."""
    drawn = frame(seed)
    return drawn, render(drawn)


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize("units", UNITS)
def test_random_states_are_those_of_the_naive_renderer_in_any_order(units, monkeypatch):
    monkeypatch.setattr(machine, "ShaderUnits", UNITS[units])
    for seed in range(40, 44):
        assert not differences(*drawn_naively(seed)), seed


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize("units", UNITS)
def test_thread_groups_stay_whole_and_each_is_shaded_once(units):
    """Groups of 40 threads are two waves; what they write lies where they say."""
    device = Device(MEMORY)
    device.machine.units = UNITS[units]()
    buffer = device.create_buffer(4 * 40 * 50, Bind.UNORDERED_ACCESS)
    device.context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(buffer)])
    seen = []

    def function(waves, bound):
        groups = waves.group.reshape(-1, 2, 3)
        assert (groups[:, 0] == groups[:, 1]).all()
        assert len(waves.group) <= max(device.machine.units.lanes // 32, 2)
        number = waves.dispatched[waves.mask][:, 0]
        bound.unordered(0).view("<u4")[number] += number * 3 + 1
        seen.append(int(groups[0, 0, 0]))

    device.context.cs.set_shader(device.create_compute_shader(ComputeShader(function, (40, 1, 1))))
    device.context.dispatch(50)
    assert (device.context.read(buffer).view("<u4") == np.arange(2000) * 3 + 1).all()
    assert len(seen) > 10 and sorted(seen) == sorted(set(seen))
    assert (seen == sorted(seen)) == (units == "one")


@pytest.mark.plan("machine-8")
def test_a_counter_counts_every_lane_once_in_any_order():
    """Numbers come in the order in which batches run [fs 5.3.9]; all of them come."""
    scene = Scene(32, 32)
    device = scene.device
    device.machine.units = UNITS["shuffled"]()
    buffer = device.create_buffer(4 * 1024, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(buffer, flag=UnorderedFlag.COUNTER)
    scene.context.om.set_render_targets([scene.target], scene.depth)
    scene.context.ps.set_unordered_access_views(1, [view])
    got = []

    def function(quads, bound):
        got.append(bound.increment(1, quads.live)[quads.live])
        return PixelResults(np.ones((*quads.x.shape, 4), np.float32))

    scene.shade(function, unordered=True)
    scene.draw(WHOLE)
    assert len(got) > 10
    assert (np.concatenate(got) == np.arange(1024)).all()


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize("samples", [1, 4])
def test_attributes_that_are_pulled_are_those_of_their_quads(samples):
    """At places of the shader's own, of several triangles [fs 16.5]."""
    images = []
    for units in (ShaderUnits(), ShaderUnits(3, 2, 36, shuffled(3))):
        scene = Scene(32, 32, samples=samples)
        scene.device.machine.units = units

        def function(quads, _bound):
            pulled = quads.snapped(0, np.array([5, -3])) + quads.at_centroid(0)
            return PixelResults(pulled + quads.at_sample(0, 0))

        scene.shade(function)
        vertices = corners(np.concatenate([LEFT, RIGHT]))
        vertices[:, 4:] = np.random.default_rng(0).uniform(0, 0.3, (len(vertices), 4))
        scene.bind(vertices)
        scene.context.draw(len(vertices))
        images.append(scene.image())
    assert (images[0] == images[1]).all()
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 500


# The units alone.


def waves(count):
    """Waves whose vertices are numbered."""
    vertex = np.arange(32 * count, dtype=np.uint32).reshape(count, 32)
    return VertexWaves({3: vertex[..., None] * np.ones(4, np.uint32)}, vertex, vertex, vertex < 900)


def position(inputs):
    """Positions of the vertices' numbers."""
    return inputs.vertex[..., None] * np.ones(4, np.float32)


@pytest.mark.plan("machine-8")
def test_batches_have_as_many_lanes_and_results_are_in_order():
    sizes = []

    def function(inputs, bound):
        assert bound == "bound"
        assert (inputs.registers[3][..., 0] == inputs.vertex).all()
        sizes.append(len(inputs.vertex))
        return VertexResults(position(inputs).astype(np.float32))

    inputs = waves(30)
    found = ShaderUnits(2, 2, 128, newest).run(function, "bound", inputs)
    assert sizes == [4] * 4 + [2] + [4] * 3 or sorted(sizes) == [2] + [4] * 7
    assert (found.position == position(inputs)).all()
    assert found.attributes is None


@pytest.mark.plan("machine-8")
def test_invocations_are_numbered_among_all():
    """A geometry shader emits as many vertices as its number says, to two streams."""
    count = 20
    zeros = np.zeros((count, 1, 4), np.float32)
    number = np.arange(count, dtype=np.uint32)
    inputs = GeometryInputs(zeros, zeros[:, :, None].view(np.uint32), number, number * 0)

    def function(inputs, _bound):
        local = np.repeat(np.arange(len(inputs.primitive)), inputs.primitive % 3)
        values = inputs.primitive[local][:, None] * np.ones(4, np.float32)
        stream = Emitted(local, values.astype(np.float32))
        return [stream, stream]

    for units in (ShaderUnits(), ShaderUnits(3, 1, 4, shuffled(5))):
        first, second = units.run(function, None, inputs)
        assert (first.invocation == np.repeat(number, number % 3)).all()
        assert (first.position[:, 0] == first.invocation).all()
        assert (second.invocation == first.invocation).all()


@pytest.mark.plan("machine-8")
def test_what_all_patches_share_is_joined():
    """Factors, control points of any shape, and constants."""
    number = np.arange(9, dtype=np.uint32)
    inputs = HullPatches(np.zeros((9, 3, 4), np.float32), np.zeros((9, 3, 1, 4)), number)

    def function(inputs, _bound):
        factors = inputs.primitive[:, None] + np.zeros((1, 3), np.float32)
        return HullResults(factors, factors[:, :1], inputs.primitive * 2, inputs.primitive * 3)

    found = ShaderUnits(2, 1, 2, newest).run(function, None, inputs)
    assert (found.outer[:, 0] == number).all() and found.inner.shape == (9, 1)
    assert (found.control == 2 * number).all() and (found.constants == 3 * number).all()


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize(
    ("results", "text"),
    [
        (lambda n, p: VertexResults(p if n else p.astype(float)), "one type and one shape"),
        (lambda n, p: VertexResults(p[..., : 4 - n % 2]), "one type and one shape"),
        (lambda n, p: VertexResults(p, p if n % 2 else None), "one type and one shape"),
        (lambda n, p: VertexResults(np.concatenate([p, p]) if n else p[:0]), "have rows as"),
        (lambda n, p: VertexResults(p) if n else PixelResults(p), "be alike in all batches"),
        (lambda _n, p: Emitted(np.array([2]), p[0, :1]), "invocation must be in order, below 2"),
        (lambda _n, p: Emitted(np.array([-1]), p[0, :1]), "invocation must be in order, below 2"),
    ],
)
def test_results_that_do_not_fit_together(results, text):
    calls = iter(range(9))

    def function(inputs, _bound):
        return results(next(calls), position(inputs).astype(np.float32))

    with pytest.raises(InputError, match=text):
        ShaderUnits(2, 2, 64).run(function, None, waves(6))


@pytest.mark.plan("machine-8")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"clusters": 0}, "clusters must lie in 1..64"),
        ({"room": 0}, "room must lie in 1..65536"),
        ({"lanes": 0}, "lanes must lie in 1..1073741824"),
    ],
)
def test_units_that_there_cannot_be(arguments, text):
    with pytest.raises(InputError, match=text):
        ShaderUnits(**arguments)
