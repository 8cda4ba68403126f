# SPDX-License-Identifier: BSD-2-Clause
"""Textures of the pixel pipe: packets, and what is drawn with them."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.frame import job, mesh
from fixfunc.cosim.reference import top as reference
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.payload import dtype
from fixfunc.models.scene import shading
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.state import draw_state
from fixfunc.models.texture.sampler import Sampler
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.unit.stored import form_of, sampler_fields, stored
from fixfunc.rtl import top as rtl
from fixfunc.spec.commands import START, STATUS, CommandError
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.interpolation import How
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import COLOURS, LINE, StoredFormat
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import TEXTURES
from tests.pixel.pipe.test_pixel_pipe import BLOCK, CONFIG, WHOLE, begun, rows_of, triangles
from tests.textures import floats, noise
from tests.volume import LIMIT, check_outputs, volume

TEXTURE = {
    "width": 64,
    "height": 16,
    "last": 6,
    "format": StoredFormat.R8G8B8A8_UNORM,
    **{f"base{level}": TEXTURES // LINE for level in range(15)},
}
SHADED = {"op": TextureOp.REPLACE, "alpha_test": Compare.ALWAYS, "interpolated": 1}


def status_of(packets, *fields):
    """The last status of the hardware, which is the golden one."""
    run, _, mismatches, first = catalogue.block(BLOCK).compare(
        volume(BLOCK, CONFIG), rows_of(packets), CONFIG, ("full", "full"), 0, limit=LIMIT
    )
    assert not mismatches, first
    found = codec.unpack(run.outputs["o"], STATUS, dtype(STATUS))[-1]
    return tuple(int(found[name]) for name in fields)


@pytest.mark.plan("pixel-pipe-10")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("form", [StoredFormat.B8G8R8A8_UNORM, StoredFormat.BC7_UNORM_SRGB])
@pytest.mark.parametrize("anisotropy", [1, 6])
def test_a_textured_frame_is_that_of_a_shader(samples, form, anisotropy, monkeypatch):
    """The golden top draws as the machine draws by a pixel shader that samples."""
    sampler = replace(shading.SAMPLER, anisotropy=anisotropy)
    monkeypatch.setattr(shading, "SAMPLER", sampler)
    name, srgb = DXGI[Format[form.name]]
    texture = noise(60, 33, format=name, srgb=srgb)
    scene = Scene(*mesh.teapot(4), 64, 48, samples, texture=texture)
    frame = render(scene)
    params = rtl.CONFIGS["frame"]
    work = job.FrameJob(scene, frame, params)
    data = work.data.copy()
    drawn = reference.machine(params, data).draw(*work.start)
    assert drawn.status["error"] == CommandError.NONE
    assert (work.picture(data) == frame.colour).all()
    assert len(np.unique(frame.colour.reshape(-1, 3), axis=0)) > 100
    assert 0 < drawn.pixels["texture_lines"] < drawn.pixels["texture_lookups"]


BAD = {
    "width": (0, 65),
    "last_layer": (1,),
    "cube": (1,),
    "extended": (1,),
    "height": (0, 65),
    "last": (7, 15),
    "format": (StoredFormat.BC7_UNORM, 31),
    "mode_u": (5, 7),
    "mode_v": (5, 7),
    "anisotropy": (17, 31),
}


@pytest.mark.plan("pixel-pipe-11")
@pytest.mark.parametrize(("name", "value"), [(n, v) for n in BAD for v in BAD[n]])
def test_a_texture_that_cannot_be(name, value):
    packets = begun().texture(**(TEXTURE | {name: int(value)})).pixel_state(**SHADED)
    found = status_of(packets.triangles(triangles(1)), "error", "at", "passed")
    assert found == (CommandError.STATE, 4, 0)


@pytest.mark.plan("pixel-pipe-11")
@pytest.mark.parametrize(
    ("level", "form", "lines"),
    [
        (0, StoredFormat.R8G8B8A8_UNORM, 256),
        (1, StoredFormat.A8_UNORM, 16),
        (4, StoredFormat.R8G8B8A8_UNORM, 1),
        (6, StoredFormat.BC4_SNORM, 1),
    ],
)
def test_a_level_beyond_memory(level, form, lines):
    """It may end where memory does, and no line later."""
    end = streams.SIZE // LINE
    for first, error in ((end - lines + 1, CommandError.ADDRESS), (end - lines, 0)):
        fields = TEXTURE | {"format": form, f"base{level}": first}
        packets = begun().texture(**fields).pixel_state(alpha_test=Compare.ALWAYS)
        (found,) = status_of(packets.triangles(triangles(1)), "error")
        assert found == error


@pytest.mark.plan("pixel-pipe-11")
def test_an_operation_needs_a_texture():
    none = begun().pixel_state(**SHADED).triangles(triangles(1))
    assert status_of(none, "error", "at") == (CommandError.ORDER, 4)
    unknown = begun().texture(**TEXTURE).pixel_state(**(SHADED | {"op": 5}))
    assert status_of(unknown.triangles(triangles(1)), "error", "at") == (CommandError.STATE, 7)
    right = begun().texture(**TEXTURE).pixel_state(**SHADED).triangles(triangles(1)).fence(1)
    assert status_of(right, "error", "passed")[0] == CommandError.NONE


@pytest.mark.plan("pixel-pipe-11")
def test_a_reader_without_textures():
    """TEXTURE is no packet, and no pixel state has an operation."""
    for packets, error in (
        (CommandList().texture(**TEXTURE), CommandError.OPCODE),
        (CommandList().pixel_state(**SHADED), CommandError.STATE),
    ):
        data, start = job.in_memory(packets.transfers, 0)
        assert read(data, *start, CommandLimits(ring=(8, 4))).error == error


def targets(base, packets=None):
    """A target whose colours lie elsewhere, drawn to as a whole."""
    packets = packets or CommandList()
    packets.target(**(streams.PLACES | {"colour": base}))
    packets.state(draw_state(16, 16, built_in=1, depth_test=0))
    return packets.clear((0, 0, 16, 16), **WHOLE)


@pytest.mark.plan("pixel-pipe-12")
def test_a_start_reads_textures_anew():
    """What one START has sampled, the next one draws over, and the third one samples again."""
    place = streams.PLACES["colour"] + (1 << 12)
    fields = TEXTURE | {"width": 4, "height": 4, "last": 0, "base0": place // LINE}
    plain = {"alpha_test": Compare.ALWAYS, "constant_r": 0x3F800000, "constant_g": 0x3E99999A}
    sampled, drawn = (targets(base) for base in (streams.PLACES["colour"], place))
    sampled.texture(**fields).pixel_state(**SHADED).triangles(triangles(1)).fence(1)
    drawn.pixel_state(**plain).triangles(triangles(1, size=40)).fence(2)
    rows = []
    at = streams.LISTS
    for packets in (sampled, drawn, sampled):
        start = np.array([(at, len(packets.transfers), streams.SIZE)], dtype(START))
        rows += [streams.mark(start), packets.transfers]
        at += 32 * len(packets.transfers)
    outputs = check_outputs(BLOCK, CONFIG, np.concatenate(rows), ("full", "full"), 0)
    words = outputs["memory"].ravel().view(np.uint32)
    texel = words[place // 4]
    assert texel & 0xFFFF == 0x4DFF
    assert (words[streams.PLACES["colour"] // 4 :][:256] == texel).sum() > 100


@pytest.mark.plan("pixel-pipe-12")
def test_a_fence_reads_textures_anew():
    """So is what was sampled in front of one, and drawn over since."""
    base = streams.PLACES["colour"]
    place = base + (1 << 12)
    fields = TEXTURE | {"width": 4, "height": 4, "last": 0, "base0": place // LINE}
    plain = {"alpha_test": Compare.ALWAYS, "constant_r": 0x3F800000, "constant_g": 0x3E99999A}
    packets = targets(base)
    packets.texture(**fields).pixel_state(**SHADED).triangles(triangles(1)).fence(1)
    targets(place, packets).pixel_state(**plain).triangles(triangles(1, size=40)).fence(2)
    targets(base, packets).pixel_state(**SHADED).triangles(triangles(1)).fence(3)
    outputs = check_outputs(BLOCK, CONFIG, rows_of(packets), ("full", "full"), 0)
    words = outputs["memory"].ravel().view(np.uint32)
    texel = words[place // 4]
    assert texel & 0xFFFF == 0x4DFF
    assert (words[base // 4 :][:256] == texel).sum() > 100


@pytest.mark.plan("pixel-pipe-12")
@pytest.mark.parametrize(("byte", "failed"), [(5, 4), (LINE + 5, 0)])
def test_a_texture_that_memory_cannot_read(byte, failed, monkeypatch):
    """Its texels are zero, and the status says so; of a line that is not read it does not."""
    monkeypatch.setattr(bench, "unreadable", lambda _: TEXTURES + byte)
    packets = begun(depth_test=0).texture(**(TEXTURE | {"width": 4, "height": 4, "last": 0}))
    packets.pixel_state(**SHADED).triangles(triangles(1)).fence(1)
    assert status_of(packets, "failed") == (failed,)


@pytest.mark.plan("pixel-pipe-12")
def test_textures_of_draws_that_follow_one_another():
    """More textures than are on chip, each of a texel, which a smaller triangle shows."""
    packets = begun(depth_test=0)
    count = 9
    for n in range(count):
        first = TEXTURES // LINE + n
        packets.texture(**(TEXTURE | {"width": 1, "height": 1, "last": 0, "base0": first}))
        packets.pixel_state(**SHADED, how0=How.LINEAR)
        packets.triangles(triangles(1, size=16 - n))
    rows = rows_of(packets.fence(1))
    run, _, mismatches, first = catalogue.block(BLOCK).compare(
        volume(BLOCK, CONFIG), rows, CONFIG, ("full", "full"), 0, limit=LIMIT
    )
    assert not mismatches, first
    words = run.outputs["memory"].ravel().view(np.uint32)
    texels = words[TEXTURES // 4 :: LINE // 4][:count]
    assert np.isin(texels, words[streams.PLACES["colour"] // 4 :][:1024]).all()


@pytest.mark.plan("pixel-pipe-10")
@pytest.mark.parametrize("form", COLOURS, ids=lambda form: form.name)
def test_a_texture_is_stored_as_it_is_read(form):
    """Its first texel of each level is where its block begins; levels do not meet."""
    name, srgb = DXGI[Format[form.name]]
    texture = noise(20, 9, format=name, srgb=srgb)
    assert form_of(texture) == form
    data, fields = stored(texture, 4 * LINE)
    size = texture.texel_format.size
    begins = [fields[f"base{level}"] * LINE - 4 * LINE for level in range(len(texture.levels))]
    assert begins == sorted(set(begins))
    for level, begin in enumerate(begins):
        assert (data[begin : begin + size] == texture.levels[level][0].ravel()[:size]).all()
    assert len(data) % LINE == 0


@pytest.mark.plan("pixel-pipe-11")
def test_what_the_texture_unit_cannot_sample():
    of_floats = floats(8, 8, format="R32G32B32A32_FLOAT", channels=4)
    assert form_of(of_floats) is None
    with pytest.raises(InputError, match="texture must have a format of the texture unit"):
        stored(of_floats, 0)
    for sampler in (
        Sampler(reduction="comparison"),
        Sampler(address=("wrap", "border")),
    ):
        with pytest.raises(InputError, match="sampler must be without comparisons"):
            sampler_fields(sampler)
