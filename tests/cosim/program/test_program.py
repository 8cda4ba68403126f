# SPDX-License-Identifier: BSD-2-Clause
"""Programs on device and context, as packets of the top: pictures are those of the machine."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.program import hardware
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Recording
from fixfunc.cosim.reference import top
from fixfunc.examples import scaffold
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.output.formats import colour_format, load
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.rtl.top import CONFIGS
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, Compare, Cull, StencilOp
from tests.host.drawing import LEFT, READ, RIGHT, WHOLE, Scene, pixel
from tests.machine.test_examples import NAMES as EXAMPLES
from tests.plane_formats import BLENDED

# Examples that the top cannot execute whole: what their missing draws lack.
LACKING = {
    "deferred": {
        "several targets of colours",
        "colour_format must be one of 32 bits at most, not R16G16B16A16_FLOAT",
    },
    "transparency": {"unordered access"},
}
NAMES = [name for name in EXAMPLES if name not in LACKING]
PARAMS = CONFIGS["frame"]
TWO_SOURCES = replace(
    PARAMS,
    reader=replace(PARAMS.reader, second=True),
    colour=replace(PARAMS.colour, second=True),
)
SIZE = 96, 54


def example(name, monkeypatch):
    """An example's recording, and the samples that the machine has drawn."""
    recordings, pictures = [], []

    def device(*arguments):
        made = Device(*arguments)
        recordings.append(Recording(made))
        return made

    class Picture(scaffold.Picture):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pictures.append(self)

    module = importlib.import_module(f"fixfunc.examples.{name}")
    monkeypatch.setattr(scaffold, "Device", device)
    monkeypatch.setattr(module, "Picture", Picture)
    module.draw(*SIZE)
    (recording,), (picture,) = recordings, pictures
    return recording, picture.context.read(picture._colours)


def octets(picture):
    """Texels of 32 bits as bytes: uint8, with a last axis of four."""
    return np.ascontiguousarray(picture, "<u4").view(np.uint8).reshape(*picture.shape, 4)


def executed(recording, params=PARAMS):
    """The golden top executes a program: the job, and memory behind it."""
    job = ProgramJob(recording, params)
    memory = job.data.copy()
    drawn = top.machine(params, memory, shader=job.shader).draw(*job.start)
    assert not drawn.status["error"].any() and not drawn.status["failed"].any()
    return job, memory


def watched(**more):
    """A scene on a device that is listened to, and its recording."""
    scene = Scene(**more)
    recording = Recording(scene.device)
    scene.context.clear_render_target_view(scene.target, (0.25, 0.5, 0.75, 1))
    scene.context.clear_depth_stencil_view(scene.depth, 1.0, 3)
    return scene, recording


@pytest.mark.plan("program-1")
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_the_same_picture(name, monkeypatch):
    recording, wanted = example(name, monkeypatch)
    job, memory = executed(recording)
    assert not job.missing and job.executed > 0
    found = octets(job.picture(memory, job.placed[-1].colour))
    assert np.array_equal(found, wanted) and len(np.unique(found.reshape(-1, 4), axis=0)) > 100


@pytest.mark.plan("program-1")
@pytest.mark.qualify
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_the_same_in_hardware(name, monkeypatch):
    recording, wanted = example(name, monkeypatch)
    run = hardware.draw(recording)
    assert not any(stream["mismatches"] for stream in run.streams.values()), run.streams
    assert all(stream["beats"] for stream in run.streams.values())
    found = octets(run.job.picture(run.memory, run.job.placed[-1].colour))
    assert np.array_equal(found, wanted) and run.counters["clocks"] > 500


@pytest.mark.plan("program-2")
def test_what_a_shader_reads_is_that_of_its_draw():
    """A target is drawn on, read by a shader, drawn on again; constants change in between."""
    scene, recording = watched()
    context = scene.context
    texture = scene.device.create_texture2d(
        Format.R8G8B8A8_UNORM, 32, 24, bind=Bind.RENDER_TARGET | READ
    )
    other = scene.device.create_render_target_view(texture)
    context.clear_render_target_view(other, (1, 0, 0, 1))
    context.om.set_render_targets([other], None)
    scene.draw(LEFT, (0, 1, 0, 1))
    context.om.set_render_targets([scene.target], scene.depth)
    view = scene.device.create_shader_resource_view(texture)

    def copied(quads, bound):
        texels = bound.fetch(0, np.stack([quads.x, quads.y], -1))
        return PixelResults(texels.astype(np.float32) / np.float32(255))

    context.ps.set_shader_resources(0, [view])
    scene.shade(copied)
    scene.draw(WHOLE)
    context.ps.set_shader_resources(0, [None])
    scene.shade(pixel)
    context.om.set_render_targets([other], None)
    context.clear_render_target_view(other, (0, 0, 1, 1))
    scene.draw(RIGHT, (1, 1, 1, 1))
    job, memory = executed(recording)
    assert not job.missing and len(job.placed) == 3
    for place, resource in ((1, scene.colours), (2, texture)):
        found = octets(job.picture(memory, job.placed[place].colour))
        assert np.array_equal(found, context.read(resource)) and len(np.unique(found)) > 1


def stencil(scene, **_):
    state = DepthStencilState(
        stencil_enable=True,
        depth_func=Compare.LESS_EQUAL,
        front_face=StencilFace(func=Compare.EQUAL, pass_=StencilOp.INCR),
    )
    scene.context.om.set_depth_stencil_state(state, 3)


@pytest.mark.plan("program-2")
def test_stencil_values_discards_and_clears_between_draws():
    scene, recording = watched(samples=4)
    stencil(scene)
    scene.draw(LEFT, (1, 0, 0, 1), z=0.25)
    scene.draw(WHOLE, (0, 1, 0, 1), z=0.5)

    def odd(quads, _bound):
        return PixelResults(quads.floats(0), quads.x % 2 == 1)

    scene.shade(odd, discards=True)
    scene.context.clear_depth_stencil_view(scene.depth, 0.75, 3)
    scene.draw(RIGHT, (0, 0, 1, 1), z=0.5)
    job, memory = executed(recording)
    assert not job.missing and job.executed == 3 and len(job.placed) == 1
    found = octets(job.picture(memory, job.placed[0].colour))
    assert np.array_equal(found, scene.image())


def several(scene):
    more = scene.device.create_texture2d(Format.R8G8B8A8_UNORM, 32, 24, bind=Bind.RENDER_TARGET)
    view = scene.device.create_render_target_view(more)
    scene.context.om.set_render_targets([scene.target, view], scene.depth)
    scene.shade(lambda quads, _: PixelResults([quads.floats(0), quads.floats(0)]))


def floats(scene):
    form = Format.R16G16B16A16_FLOAT
    more = scene.device.create_texture2d(form, 32, 24, bind=Bind.RENDER_TARGET)
    view = scene.device.create_render_target_view(more)
    scene.context.clear_render_target_view(view, (0, 0, 0, 0))
    scene.context.om.set_render_targets([view], scene.depth)


def uncleared(scene):
    more = scene.device.create_texture2d(Format.R8G8B8A8_UNORM, 32, 24, bind=Bind.RENDER_TARGET)
    view = scene.device.create_render_target_view(more)
    scene.context.om.set_render_targets([view], scene.depth)


def overwritten(scene):
    scene.draw(LEFT)
    more = scene.device.create_texture2d(Format.R8G8B8A8_UNORM, 32, 24)
    scene.context.copy_resource(scene.colours, more)


def two_sources(scene):
    blend = RenderTargetBlend(True, BlendFactor.SRC1_COLOR, BlendFactor.ONE)
    scene.context.om.set_blend_state(BlendState((blend,)))
    scene.shade(lambda quads, _: PixelResults([quads.floats(0), quads.floats(0)]))


def wireframe(scene):
    stencil(scene)
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, wireframe=True))


def points(scene):
    scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, depth_bias=9))
    scene.context.ia.set_primitive_topology(Topology.POINT_LIST)


def masked(scene):
    scene.context.om.set_blend_state(BlendState(), sample_mask=0)


LACKS = {
    several: "several targets of colours",
    floats: "colour_format must be one of 32 bits at most, not R16G16B16A16_FLOAT",
    uncleared: "a clear of the whole target, right before its first draw",
    overwritten: "a clear of the whole target, right before its first draw",
    two_sources: "src_blend must be one of",
    wireframe: "faces of points, lines and wireframes",
    points: "faces of points, lines and wireframes",
    masked: "a sample mask",
}


@pytest.mark.plan("program-3")
@pytest.mark.parametrize("change", LACKS, ids=lambda change: change.__name__)
def test_what_the_top_lacks_is_said_of_each_draw(change):
    scene, recording = watched()
    scene.draw(LEFT)
    change(scene)
    number = recording.draws
    scene.draw(WHOLE)
    job = ProgramJob(recording, PARAMS)
    assert [it.draw for it in job.missing] == [number] and job.executed == number
    assert job.missing[0].what.startswith(LACKS[change])


@pytest.mark.plan("program-3")
@pytest.mark.parametrize("name", LACKING)
def test_an_example_says_what_the_top_lacks(name, monkeypatch):
    recording, _ = example(name, monkeypatch)
    job = ProgramJob(recording, PARAMS)
    assert {it.what for it in job.missing} == LACKING[name]
    assert job.executed + len(job.missing) == recording.draws  # the last draw is executed


@pytest.mark.plan("program-3")
def test_a_program_without_a_draw_is_refused():
    scene, recording = watched()
    with pytest.raises(InputError, match="program must have a draw that the top can execute"):
        ProgramJob(recording, PARAMS)
    masked(scene)
    scene.draw(WHOLE)
    with pytest.raises(InputError, match="a sample mask"):
        ProgramJob(recording, PARAMS)


@pytest.mark.plan("program-1")
def test_a_blended_draw_has_all_that_its_shader_gave():
    """0.61 times 0.9 is 140 of 255, as the machine has it; of bytes it would be 141."""
    scene, recording = watched()
    scene.context.clear_render_target_view(scene.target, (0, 0, 0, 1))
    mix = RenderTargetBlend(True, BlendFactor.SRC_ALPHA, BlendFactor.INV_SRC_ALPHA)
    scene.context.om.set_blend_state(BlendState((mix,)))
    scene.draw(WHOLE, (0.61, 0.61, 0.61, 0.9))
    job, memory = executed(recording)
    found = octets(job.picture(memory, job.placed[-1].colour))
    assert (found[..., :3] == 140).all()
    assert np.array_equal(found, scene.context.read(scene.colours))


def of_two_sources():
    """A program that blends by second colours [fs 17.6], between draws that do not: a picture.

    o0 * o1 + target * (1 - o1), each channel by its own; then o0 + target * o1's alpha.
    """
    scene, recording = watched()
    om = scene.context.om
    channels = BlendFactor.SRC1_COLOR, BlendFactor.INV_SRC1_COLOR
    alphas = BlendFactor.ONE, BlendFactor.SRC1_ALPHA
    pairs = np.float32([[0.6, 0.25, 1, 1], [0.5, 0.125, 0.75, 0.25]])

    def both(quads, _bound):
        return PixelResults([np.broadcast_to(its, quads.floats(0).shape) for its in pairs])

    scene.draw(WHOLE, (0.2, 1, 0.4, 1), 0.9)
    scene.shade(both)
    for z, rectangle, factors in ((0.6, LEFT, channels), (0.4, RIGHT, alphas)):
        om.set_blend_state(BlendState((RenderTargetBlend(True, *factors),)))
        scene.draw(rectangle, (1, 1, 1, 1), z)
    om.set_blend_state(BlendState())
    scene.shade(pixel)
    return scene, recording, pairs.astype(float)


def exact_two_sources(pairs):
    """What a pixel on the left, and one on the right, should hold: bytes, not rounded."""
    (new, other), old = pairs, np.array([0.2, 1, 0.4, 1])
    stored = np.floor(old * 255 + 0.5) / 255
    left = new * other + stored * (1 - other)
    return left, np.minimum(new + stored * other[3], 1)


@pytest.mark.plan("program-4")
def test_a_draw_is_blended_with_two_colours_of_its_shader():
    """Where the top has it; the same as the machine, a unit at most from exact numbers."""
    scene, recording, pairs = of_two_sources()
    job, memory = executed(recording, TWO_SOURCES)
    assert not job.missing and job.executed == 3
    found = octets(job.picture(memory, job.placed[-1].colour)).astype(int)
    assert abs(found - scene.context.read(scene.colours)).max() <= 1
    left, right = exact_two_sources(pairs)
    assert abs(found[12, 4] - 255 * left).max() <= 1
    assert abs(found[12, -4] - 255 * right).max() <= 1


@pytest.mark.plan("program-4")
def test_two_colours_are_refused_where_the_top_lacks_them():
    _, recording, _ = of_two_sources()
    job = ProgramJob(recording, PARAMS)
    assert [it.draw for it in job.missing] == [1, 2] and job.executed == 1
    assert [it.what.split(" must")[0] for it in job.missing] == ["src_blend", "dest_blend"]


@pytest.mark.plan("program-1")
def test_draws_are_blended_with_constants_of_their_own():
    """One half, one draw that asks for none, then a quarter, each within a unit of the machine."""
    scene, recording = watched()
    mix = RenderTargetBlend(True, BlendFactor.BLEND_FACTOR, BlendFactor.INV_BLEND_FACTOR)
    for z, constant, rectangle in ((0.9, 0.5, WHOLE), (0.5, None, LEFT), (0.2, 0.25, RIGHT)):
        blend = BlendState() if constant is None else BlendState((mix,))
        scene.context.om.set_blend_state(blend, [constant or 0] * 4)
        scene.draw(rectangle, (1, 0.5, 0.2, 1), z)
    job, memory = executed(recording)
    assert not job.missing and job.executed == 3
    found = octets(job.picture(memory, job.placed[-1].colour)).astype(int)
    wanted = scene.context.read(scene.colours)
    assert np.abs(found - wanted).max() <= 1
    assert len(np.unique(wanted.reshape(-1, 4), axis=0)) > 1


@pytest.mark.plan("program-1")
@pytest.mark.parametrize("form", sorted(BLENDED), ids=lambda form: form.name)
def test_every_format_is_blended_with_a_constant(form):
    """By the top with all formats, each channel within a unit of the machine."""
    scene, recording = watched()
    texture = scene.device.create_texture2d(form, 32, 24, bind=Bind.RENDER_TARGET)
    view = scene.device.create_render_target_view(texture)
    scene.context.om.set_render_targets([view], scene.depth)
    scene.context.clear_render_target_view(view, (0.25, 0.5, 0.75, 1))
    scene.context.clear_depth_stencil_view(scene.depth, 1.0, 3)
    mix = RenderTargetBlend(True, BlendFactor.BLEND_FACTOR, BlendFactor.INV_BLEND_FACTOR)
    for z, constant, rectangle in ((0.9, (0.5, 0.1, 2, 0.3), WHOLE), (0.2, [0.25] * 4, RIGHT)):
        scene.context.om.set_blend_state(BlendState((mix,)), constant)
        scene.draw(rectangle, (1, 0.5, 0.2, 1), z)
    job, memory = executed(recording, CONFIGS["planes"])
    assert not job.missing and job.executed == 2
    size = FORMATS[form].bytes
    found = octets(job.picture(memory, job.placed[-1].colour)).reshape(-1, 4)[:, :size]
    wanted = scene.context.read(texture).reshape(-1, size)
    kind = colour_format(form)._replace(is_srgb=False)  # bytes as they are
    apart = np.abs(load(np.ascontiguousarray(found), kind) - load(wanted, kind))
    assert apart.max() <= 1
    assert len(np.unique(wanted, axis=0)) > 1
