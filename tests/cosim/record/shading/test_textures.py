# SPDX-License-Identifier: BSD-2-Clause
"""Textures that a draw can sample: formats, shapes, once each; samplers in D3D11's names."""

import numpy as np
import pytest

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded.frame import Address, Base
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import create
from fixfunc.spec.dxgi import Format
from tests.cosim.record.program import Program, recorded
from tests.cosim.record.shading.scenes import frame_of
from tests.cosim.record.test_shaders import begun

CORNERS = [(-0.8, -0.8, 0), (0.8, -0.7, 0.2), (0.1, 0.9, 0.4)]
SIDE = 4
RNG = np.random.default_rng(11)
OCTETS = RNG.integers(0, 256, (SIDE, SIDE, 4), np.uint8)


def upload(gl, internal, data=OCTETS, form="RGBA", kind="UNSIGNED_BYTE", target="TEXTURE_2D"):
    """A texture of one level is on."""
    gl.glGenTextures(1, [5])
    gl.glBindTexture(getattr(T, target), 5)
    gl.glPixelStorei(T.UNPACK_ALIGNMENT, 1)
    gl.glTexImage2D(
        *(getattr(T, target), 0, getattr(T, internal), SIDE, SIDE, 0),
        *(getattr(T, form), getattr(T, kind), np.ascontiguousarray(data).tobytes()),
    )
    smooth(gl, target)
    gl.glEnable(getattr(T, target))


def smooth(gl, target, name="LINEAR"):
    gl.glTexParameteri(getattr(T, target), T.TEXTURE_MIN_FILTER, getattr(T, name))


def frame_with(change):
    gl = Program()
    begun(gl)
    change(gl)
    gl.triangle(CORNERS)
    return recorded(gl)


def texel(frame):
    """Level 0 of its texture, as the golden model reads it: shape (height, width, channels)."""
    row = frame.textures[0]
    name, srgb = DXGI[Format(int(row["form"]))]
    size = frame.octets[: len(frame.octets)].reshape(1, -1)
    made = create(name, int(row["width"]), int(row["height"]), [size], srgb=srgb)
    return made.image()


FLOATS = RNG.uniform(-2, 2, (SIDE, SIDE, 4)).astype(np.float32)
RGBA = OCTETS
# Internal format -> what is uploaded, in which form and type; what is stored; where channels are,
# and which take part.
OWN = {
    "RGBA8": (RGBA, "RGBA", "UNSIGNED_BYTE", "R8G8B8A8_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    "SRGB8_ALPHA8": (
        *(RGBA, "RGBA", "UNSIGNED_BYTE", "R8G8B8A8_UNORM_SRGB"),
        *((0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "R8": (RGBA[..., :1], "RED", "UNSIGNED_BYTE", "R8_UNORM", (0, 4, 4, 5), Base.COLOUR),
    "RG8": (RGBA[..., :2], "RG", "UNSIGNED_BYTE", "R8G8_UNORM", (0, 1, 4, 5), Base.COLOUR),
    "ALPHA8": (RGBA[..., :1], "ALPHA", "UNSIGNED_BYTE", "A8_UNORM", (4, 4, 4, 3), Base.ALPHA),
    "LUMINANCE8": (
        *(RGBA[..., :1], "LUMINANCE", "UNSIGNED_BYTE", "R8_UNORM", (0, 0, 0, 5), Base.COLOUR),
    ),
    "INTENSITY8": (
        *(RGBA[..., :1], "RED", "UNSIGNED_BYTE", "R8_UNORM", (0, 0, 0, 0), Base.INTENSITY),
    ),
    "LUMINANCE8_ALPHA8": (
        *(RGBA[..., :2], "LUMINANCE_ALPHA", "UNSIGNED_BYTE", "R8G8_UNORM", (0, 0, 0, 1)),
        Base.COLOUR_ALPHA,
    ),
    "RGBA32F": (FLOATS, "RGBA", "FLOAT", "R32G32B32A32_FLOAT", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    "R32F": (FLOATS[..., :1], "RED", "FLOAT", "R32_FLOAT", (0, 4, 4, 5), Base.COLOUR),
    "RGBA16F": (
        *(np.float16(FLOATS), "RGBA", "HALF_FLOAT", "R16G16B16A16_FLOAT", (0, 1, 2, 3)),
        Base.COLOUR_ALPHA,
    ),
    "RGBA16": (
        *(RNG.integers(0, 65536, (SIDE, SIDE, 4), np.uint16), "RGBA", "UNSIGNED_SHORT"),
        *("R16G16B16A16_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA8_SNORM": (
        *(RNG.integers(-127, 128, (SIDE, SIDE, 4), np.int8), "RGBA", "BYTE"),
        *("R8G8B8A8_SNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA8UI": (
        *(RGBA, "RGBA_INTEGER", "UNSIGNED_BYTE", "R8G8B8A8_UINT", (0, 1, 2, 3)),
        Base.COLOUR_ALPHA,
    ),
    "R32I": (
        *(RNG.integers(-(2**31), 2**31, (SIDE, SIDE, 1), np.int32), "RED_INTEGER", "INT"),
        *("R32_SINT", (0, 4, 4, 5), Base.COLOUR),
    ),
    "RGB565": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "RGB", "UNSIGNED_SHORT_5_6_5"),
        *("B5G6R5_UNORM", (0, 1, 2, 5), Base.COLOUR),
    ),
    "RGB5_A1": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "BGRA", "UNSIGNED_SHORT_1_5_5_5_REV"),
        *("B5G5R5A1_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGBA4": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "BGRA", "UNSIGNED_SHORT_4_4_4_4_REV"),
        *("B4G4R4A4_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGB10_A2": (
        *(RNG.integers(0, 2**32, (SIDE, SIDE), np.uint32), "RGBA", "UNSIGNED_INT_2_10_10_10_REV"),
        *("R10G10B10A2_UNORM", (0, 1, 2, 3), Base.COLOUR_ALPHA),
    ),
    "RGB9_E5": (
        *(RNG.integers(0, 2**32, (SIDE, SIDE), np.uint32), "RGB", "UNSIGNED_INT_5_9_9_9_REV"),
        *("R9G9B9E5_SHAREDEXP", (0, 1, 2, 5), Base.COLOUR),
    ),
    "DEPTH_COMPONENT16": (
        *(RNG.integers(0, 65536, (SIDE, SIDE), np.uint16), "DEPTH_COMPONENT", "UNSIGNED_SHORT"),
        *("R16_UNORM", (0, 0, 0, 5), Base.COLOUR),
    ),
    "DEPTH_COMPONENT32F": (
        *(np.abs(FLOATS[..., 0]) / 2, "DEPTH_COMPONENT", "FLOAT", "R32_FLOAT", (0, 0, 0, 5)),
        Base.COLOUR,
    ),
}


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", OWN)
def test_a_format_keeps_its_bytes(internal):
    data, form, kind, name, swizzle, base = OWN[internal]
    frame = frame_with(lambda gl: upload(gl, internal, data, form, kind))
    (row,) = frame.textures
    assert Format(int(row["form"])).name == name and row["converted"] == -1
    assert tuple(row["swizzle"]) == swizzle and row["base"] == base
    assert frame.octets.tobytes() == np.ascontiguousarray(data).tobytes()
    assert (row["width"], row["height"], row["depth"], row["levels"]) == (SIDE, SIDE, 1, 1)


def test_depths_of_24_bits_are_shifted():
    words = RNG.integers(0, 1 << 24, (SIDE, SIDE)).astype(np.uint32)
    data = words << 8 | words >> 16
    frame = frame_with(
        lambda gl: upload(gl, "DEPTH_COMPONENT24", data, "DEPTH_COMPONENT", "UNSIGNED_INT")
    )
    assert frame.textures[0]["form"] == Format.R24_UNORM_X8_TYPELESS
    assert np.array_equal(frame.octets.view("<u4"), words.ravel())


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", ["RGB8", "RGB16", "RGB32F", "ALPHA16", "RGBA12", "RGB32UI"])
def test_other_formats_are_converted_by_name(internal):
    """Whatever they are stored as, their values are those that OpenGL reads."""
    is_integer = internal.endswith("UI")
    form = "RGB_INTEGER" if is_integer else "RGB"
    data = RGBA[..., :3] if internal != "RGB32F" else FLOATS[..., :3]
    kind = "FLOAT" if internal == "RGB32F" else "UNSIGNED_BYTE"
    if internal == "ALPHA16":
        data, form = RGBA[..., :1], "ALPHA"
    frame = frame_with(lambda gl: upload(gl, internal, data, form, kind))
    (row,) = frame.textures
    found = texel(frame)
    if internal in ("RGB32F", "RGB32UI"):
        assert np.array_equal(found[..., :3], data)
    elif internal == "RGB8":
        assert np.array_equal(found[..., :3], data) and row["converted"] == -1
        return
    elif internal == "ALPHA16":
        assert np.array_equal(found[..., 0], data[..., 0] * np.uint16(257))
        assert tuple(row["swizzle"]) == (4, 4, 4, 0) and row["converted"] == -1
        return
    words = frame.names[row["converted"]] if row["converted"] >= 0 else ""
    assert words.startswith("RGB of ") or Format(int(row["form"])).name.startswith("R16G16B16A16")


BLOCKS = {
    "COMPRESSED_RGB_S3TC_DXT1_EXT": ("BC1_UNORM", 8, (0, 1, 2, 5)),
    "COMPRESSED_RGBA_S3TC_DXT1_EXT": ("BC1_UNORM", 8, (0, 1, 2, 3)),
    "COMPRESSED_RGBA_S3TC_DXT3_EXT": ("BC2_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_RGBA_S3TC_DXT5_EXT": ("BC3_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT": ("BC3_UNORM_SRGB", 16, (0, 1, 2, 3)),
    "COMPRESSED_RED_RGTC1": ("BC4_UNORM", 8, (0, 4, 4, 5)),
    "COMPRESSED_SIGNED_RG_RGTC2": ("BC5_SNORM", 16, (0, 1, 4, 5)),
    "COMPRESSED_RGBA_BPTC_UNORM": ("BC7_UNORM", 16, (0, 1, 2, 3)),
    "COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT": ("BC6H_UF16", 16, (0, 1, 2, 5)),
}


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("internal", BLOCKS)
def test_blocks_stay_as_they_are(internal):
    name, size, swizzle = BLOCKS[internal]
    data = RNG.integers(0, 256, 4 * size, np.uint8).tobytes()

    def change(gl):
        gl.glGenTextures(1, [5])
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.glCompressedTexImage2D(
            *(T.TEXTURE_2D, 0, getattr(T, internal), 8, 8, 0, len(data), data)
        )
        smooth(gl, "TEXTURE_2D")
        gl.glEnable(T.TEXTURE_2D)

    frame = frame_with(change)
    (row,) = frame.textures
    assert Format(int(row["form"])).name == name and frame.octets.tobytes() == data
    assert tuple(row["swizzle"]) == swizzle and row["converted"] == -1


def solid(n, *shape):
    """Texels of one value."""
    return np.full((*shape, 4), n, np.uint8).tobytes()


def stored(gl, target, level, sides, data):
    """An image of 1, 2 or 3 sides."""
    call = getattr(gl, f"glTexImage{len(sides)}D")
    call(target, level, T.RGBA8, *sides, 0, T.RGBA, T.UNSIGNED_BYTE, data)


def cube(gl):
    for face in range(6):
        for level in range(2):
            side = 2 >> level
            data = solid(10 * face + level, side, side)
            stored(gl, T.TEXTURE_CUBE_MAP_POSITIVE_X + face, level, (side, side), data)


def line(gl):
    for level in range(3):
        stored(gl, T.TEXTURE_1D, level, (4 >> level,), solid(level, 4 >> level))


def volume(gl):
    for level, side in enumerate((4, 2, 1)):
        data = b"".join(solid(10 * n + level, side, side) for n in range(side))
        stored(gl, T.TEXTURE_3D, level, (side, side, side), data)


def layers(gl):
    for level, side in enumerate((2, 1)):
        data = b"".join(solid(10 * n + level, side, side) for n in range(3))
        stored(gl, T.TEXTURE_2D_ARRAY, level, (side, side, 3), data)


def cubes(gl):
    data = b"".join(solid(n, 1, 1) for n in range(12))
    stored(gl, T.TEXTURE_CUBE_MAP_ARRAY, 0, (1, 1, 12), data)


def rectangle(gl):
    stored(gl, T.TEXTURE_RECTANGLE, 0, (3, 2), solid(7, 2, 3))


# Sampler -> target, contents, shape, and the first byte of every subresource.
SHAPES = {
    "sampler1D": ("1D", line, (1, False, 4, 1, 1, 3, 1), [0, 1, 2]),
    "samplerCube": (
        *("CUBE_MAP", cube, (2, True, 2, 2, 1, 2, 6)),
        [10 * face + level for face in range(6) for level in range(2)],
    ),
    "sampler3D": ("3D", volume, (3, False, 4, 4, 4, 3, 1), [0, 1, 2]),
    "sampler2DArray": (
        *("2D_ARRAY", layers, (2, False, 2, 2, 1, 2, 3)),
        [10 * n + level for n in range(3) for level in range(2)],
    ),
    "samplerCubeArray": ("CUBE_MAP_ARRAY", cubes, (2, True, 1, 1, 1, 1, 12), list(range(12))),
    "sampler2DRect": ("RECTANGLE", rectangle, (2, False, 3, 2, 1, 1, 1), [7]),
}
HEAD = "#version 400 compatibility\n"


@pytest.mark.plan("record-12")
@pytest.mark.parametrize("kind", SHAPES)
def test_textures_of_every_shape(kind):
    """All levels of a layer or face, then those of the next; samplers of programs by name."""
    target, contents, shape, first = SHAPES[kind]
    gl = Program()
    begun(gl)
    gl.glActiveTexture(T.TEXTURE3)
    gl.glGenTextures(1, [5])
    name = f"TEXTURE_{target}"
    gl.glBindTexture(getattr(T, name), 5)
    contents(gl)
    smooth(gl, name, "LINEAR" if target == "RECTANGLE" else "LINEAR_MIPMAP_LINEAR")
    gl.glActiveTexture(T.TEXTURE0)
    place = {"1D": "0.5", "2D": "vec2(0.5)", "3D": "vec3(0.5)", "RECTANGLE": "vec2(0.5)"}
    place |= {"CUBE_MAP": "vec3(1.0)", "2D_ARRAY": "vec3(0.5)", "CUBE_MAP_ARRAY": "vec4(1.0)"}
    gl.shaders(
        50,
        FRAGMENT=f"{HEAD}uniform {kind} some;\n"
        f"void main() {{ gl_FragColor = texture(some, {place[target]}) + 0.1; }}",
    )
    gl.glUseProgram(50)
    gl.returns(0).glGetUniformLocation(50, "some")
    gl.glUniform1i(0, 3)
    gl.triangle(CORNERS)
    frame = recorded(gl)
    assert not frame.refused and frame.shadings[0]["reason"] == -1
    (row,) = frame.textures
    fields = "dimension", "cube", "width", "height", "depth", "levels", "layers"
    assert tuple(row[field].item() for field in fields) == shape
    assert bool(row["rectangle"]) == (target == "RECTANGLE")
    (binding,) = frame.draw_bindings(0)
    assert frame.names[binding["name"]] == "some" and binding["unit"] == 3
    _, _, width, height, depth, levels, count = shape
    sizes = [
        4 * np.prod([max(s >> level, 1) for s in (width, height, depth)]) for level in range(levels)
    ] * count
    begins = np.cumsum([0, *sizes])
    assert len(frame.octets) == begins[-1]
    assert frame.octets[begins[:-1]].tolist() == first


@pytest.mark.plan("record-12")
def test_a_texture_is_stored_once_until_it_changes():
    gl = Program()
    begun(gl)
    upload(gl, "RGBA8")
    for _ in range(5):
        gl.triangle(CORNERS)
    gl.glTexSubImage2D(T.TEXTURE_2D, 0, 1, 1, 1, 1, T.RGBA, T.UNSIGNED_BYTE, bytes(4))
    gl.triangle(CORNERS)
    # The same bytes by another name.
    gl.glGenTextures(1, [6])
    gl.glBindTexture(T.TEXTURE_2D, 6)
    stored(gl, T.TEXTURE_2D, 0, (SIDE, SIDE), OCTETS.tobytes())
    smooth(gl, "TEXTURE_2D")
    gl.triangle(CORNERS)
    frame = recorded(gl)
    assert len(frame.textures) == 2 and len(frame.samplers) == 1
    numbers = [int(frame.draw_bindings(n)["texture"][0]) for n in range(7)]
    assert numbers == [0] * 5 + [1, 0]
    changed = OCTETS.copy()
    changed[1, 1] = 0
    assert frame.octets.tobytes() == OCTETS.tobytes() + changed.tobytes()


@pytest.mark.plan("record-12")
def test_what_is_drawn_on_is_another_texture():
    """By draws and by clears."""
    gl = Program()
    gl.texture(5, T.RGBA8)
    begun(gl)
    gl.framebuffer(4, 5)
    gl.glClear(T.COLOR_BUFFER_BIT)
    for n in range(3):
        gl.glBindFramebuffer(T.FRAMEBUFFER, 0)
        gl.glEnable(T.TEXTURE_2D)
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.triangle(CORNERS)
        gl.glDisable(T.TEXTURE_2D)
        gl.glBindFramebuffer(T.FRAMEBUFFER, 4)
        if n:
            gl.glClearColor(0.5, 0.25, 1.0, 1.0)
            gl.glClear(T.COLOR_BUFFER_BIT)
        else:
            gl.triangle(CORNERS, (1, 0, 0, 1))
    frame = recorded(gl)
    numbers = [it["texture"] for n in range(4) for it in frame.draw_bindings(n)]
    assert numbers == [0, 1, 2]
    means = frame.octets.reshape(3, -1, 4).mean(1)
    assert means[0].max() == 0 and means[1][0] > 20 and means[2].tolist() == [128, 64, 255, 255]


@pytest.mark.plan("record-12")
def test_incomplete_textures_are_none():
    """A unit of fixed functions is off; a sampler of a program has none."""

    def change(gl):
        upload(gl, "RGBA8")
        smooth(gl, "TEXTURE_2D", "LINEAR_MIPMAP_LINEAR")
        gl.triangle(CORNERS)
        gl.shaders(
            50,
            FRAGMENT="uniform sampler2D some;\n"
            "void main() { gl_FragColor = texture2D(some, vec2(0.5)) + 0.1; }",
        )
        gl.glUseProgram(50)

    frame = frame_with(change)
    assert not len(frame.draw_bindings(0)) and not len(frame.textures)
    assert frame.draw_bindings(1)["texture"].tolist() == [-1]
    assert (frame.shadings["reason"] == -1).all()


@pytest.mark.plan("record-12")
def test_base_and_last_levels_are_those_of_the_texture():
    def change(gl):
        upload(gl, "RGBA8")
        for level, side in ((1, 2), (2, 1)):
            stored(gl, T.TEXTURE_2D, level, (side, side), solid(level, side, side))
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_BASE_LEVEL, 1)
        gl.triangle(CORNERS)
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_BASE_LEVEL, 0)
        gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MAX_LEVEL, 1)

    frame = frame_with(change)
    assert frame.textures["width"].tolist() == [2, 4]
    assert frame.textures["levels"].tolist() == [2, 2]
    assert frame.octets.tobytes() == (
        solid(1, 2, 2) + solid(2, 1, 1) + OCTETS.tobytes() + solid(1, 2, 2)
    )


# OpenGL's state of a texture or of its unit, and fields of a sampler.
SAMPLERS = {
    "MIN_FILTER": ("NEAREST_MIPMAP_LINEAR", {"min_filter": 0, "mip_filter": 1, "max_lod": 1000}),
    "MAG_FILTER": ("NEAREST", {"mag_filter": 0, "min_filter": 1, "max_lod": 0.25}),
    "WRAP_S": ("MIRRORED_REPEAT", {"address": (Address.MIRROR, Address.WRAP, Address.WRAP)}),
    "WRAP_T": ("CLAMP", {"address": (Address.WRAP, Address.BORDER, Address.WRAP), "clamped": 2}),
    "WRAP_R": ("MIRROR_CLAMP_TO_EDGE", {"address": (Address.WRAP, Address.WRAP, 5)}),
    "MIN_LOD": (-3, {"min_lod": -3}),
    "MAX_LOD": (0, {"max_lod": 0}),
    "LOD_BIAS": (2, {"bias": 2}),
    "MAX_ANISOTROPY": (8, {"anisotropy": 8}),
    "COMPARE_MODE": ("COMPARE_REF_TO_TEXTURE", {"comparison": True, "comparison_func": 3}),
    "COMPARE_FUNC": ("GREATER", {"comparison_func": 4, "comparison": False}),
}


@pytest.mark.plan("record-13")
@pytest.mark.parametrize("by", ["texture", "object"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_have_their_names(name, by):
    """Of the texture, or of an object in its place."""
    value, fields = SAMPLERS[name]
    value = getattr(T, value) if isinstance(value, str) else value

    def change(gl):
        upload(gl, "RGBA8")
        for level, side in ((1, 2), (2, 1)):
            stored(gl, T.TEXTURE_2D, level, (side, side), solid(level, side, side))
        if by == "texture":
            gl.glTexParameteri(T.TEXTURE_2D, getattr(T, f"TEXTURE_{name}"), value)
            return
        gl.glGenSamplers(1, [3])
        gl.glBindSampler(0, 3)
        gl.glSamplerParameteri(3, T.TEXTURE_MIN_FILTER, T.LINEAR)
        gl.glSamplerParameteri(3, getattr(T, f"TEXTURE_{name}"), value)

    frame = frame_with(change)
    (row,) = frame.samplers
    for field, wanted in fields.items():
        assert np.array_equal(row[field], wanted), field


@pytest.mark.plan("record-13")
def test_state_of_fragments_is_carried():
    """Fog, the unit's bias, the border, the environment."""

    def change(gl):
        upload(gl, "RGBA8")
        gl.glTexParameterfv(T.TEXTURE_2D, T.TEXTURE_BORDER_COLOR, [0.25, 0.5, 0.75, 1.0])
        gl.glTexEnvf(T.TEXTURE_FILTER_CONTROL, T.TEXTURE_LOD_BIAS, 1.5)
        gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, T.DECAL)
        gl.glEnable(T.FOG)
        gl.glFogi(T.FOG_MODE, T.EXP2)
        gl.glFogf(T.FOG_DENSITY, 0.5)
        gl.glFogf(T.FOG_START, 2.0)
        gl.glFogf(T.FOG_END, 3.0)
        gl.glFogfv(T.FOG_COLOR, [0.25, 0.5, 0.75, 1.0])

    frame = frame_with(change)
    shading, sampler = frame.shadings[0], frame.samplers[0]
    assert tuple(shading[f"fog_{it}"] for it in ("density", "start", "end")) == (0.5, 2, 3)
    assert shading["fog"] == 3 and shading["fog_colour"].tolist() == [0.25, 0.5, 0.75, 1]
    assert sampler["border"].tolist() == [0.25, 0.5, 0.75, 1] and sampler["bias"] == 1.5
    assert frame.draw_bindings(0)["environment"].tolist() == [3]


@pytest.mark.plan("record-12")
def test_no_texture_unit_is_left_another():
    """The active unit, and pixels that a program reads, are as they were."""

    def change(gl):
        upload(gl, "RGBA8")
        gl.glActiveTexture(T.TEXTURE2)
        gl.glBindTexture(T.TEXTURE_2D, 5)
        gl.triangle(CORNERS)
        gl.glEnable(T.TEXTURE_2D)  # of unit 2

    frame = frame_with(change)
    assert [frame.draw_bindings(n)["unit"].tolist() for n in range(2)] == [[0], [0, 2]]
    assert len(frame_of(lambda gl: gl.triangle(CORNERS)).textures) == 0
