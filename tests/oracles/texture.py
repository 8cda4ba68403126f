# SPDX-License-Identifier: BSD-2-Clause
"""Block-compressed textures, and samples of textures, by imagecodecs, Pillow and Mesa."""

import io
import struct

import imagecodecs
import numpy as np
from PIL import Image

from fixfunc.spec.state import Compare
from tests.oracles import llvmpipe

PILLOW = {
    "BC1": b"DXT1",
    "BC2": b"DXT3",
    "BC3": b"DXT5",
    "BC4U": b"BC4U",
    "BC5U": b"BC5U",
    "BC5S": b"BC5S",
}
MESA = {
    "BC7": "RGBA_BPTC_UNORM",
    "BC6HU": "RGB_BPTC_UNSIGNED_FLOAT",
    "BC6HS": "RGB_BPTC_SIGNED_FLOAT",
}
WIDTH = 1024  # blocks side by side that fit a texture


def by_imagecodecs(name, blocks):
    """Texels of BC6H or BC7: (n, 4, 4, channels)."""
    channels = 4 if name == "BC7" else 3
    row = imagecodecs.bcn_decode(
        blocks.tobytes(),
        getattr(imagecodecs.BCN.FORMAT, name),
        shape=(4, 4 * len(blocks), channels),
    )
    return _by_block(row)


def by_pillow(name, blocks):
    """Texels of BC1 to BC5, 8 bits a channel."""
    header = struct.pack(
        "<4s7I44xII4s20xI16x",
        b"DDS ",
        124,
        0x1007,
        4,
        4 * len(blocks),
        0,
        0,
        0,
        32,
        4,
        PILLOW[name],
        0x1000,
    )
    return _by_block(np.asarray(Image.open(io.BytesIO(header + blocks.tobytes()))))


class Mesa:
    """Decoder of Mesa's llvmpipe, which decodes textures when they are uploaded."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context()

    def decode(self, name, blocks):
        """Texels of BC6H or BC7."""
        return np.concatenate(
            [self._decode(name, blocks[n : n + WIDTH]) for n in range(0, len(blocks), WIDTH)]
        )

    def _decode(self, name, blocks):
        gl = self._gl
        texture = self._gl.glGenTextures(1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        internal = getattr(gl, f"GL_COMPRESSED_{MESA[name]}")
        gl.glCompressedTexImage2D(
            gl.GL_TEXTURE_2D, 0, internal, 4 * len(blocks), 4, 0, np.ascontiguousarray(blocks)
        )
        channels, kind, scalar = (
            ("RGBA", "UNSIGNED_BYTE", np.uint8)
            if name == "BC7"
            else ("RGB", "HALF_FLOAT", np.float16)
        )
        row = gl.glGetTexImage(
            gl.GL_TEXTURE_2D, 0, getattr(gl, f"GL_{channels}"), getattr(gl, f"GL_{kind}")
        )
        gl.glDeleteTextures([texture])
        data = row if isinstance(row, bytes) else np.ascontiguousarray(row).tobytes()
        return _by_block(np.frombuffer(data, scalar).reshape(4, -1, len(channels)))


def _by_block(row):
    """Blocks of a row of blocks: shape (4, 4n, ...) becomes (n, 4, 4, channels)."""
    return row.reshape(4, -1, 4, row.shape[2] if row.ndim == 3 else 1).swapaxes(0, 1)


VERTEX = """
#version 400
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """
#version 400
uniform sampler2D where;
uniform KIND texture_in;
out vec4 colour;
void main() {
    vec4 c = texelFetch(where, ivec2(gl_FragCoord.x, 0), 0);
    vec4 g = texelFetch(where, ivec2(gl_FragCoord.x, 1), 0);
    colour = CALL;
}
"""
WRAPS = {
    "wrap": "GL_REPEAT",
    "mirror": "GL_MIRRORED_REPEAT",
    "clamp": "GL_CLAMP_TO_EDGE",
    "border": "GL_CLAMP_TO_BORDER",
    "mirror_once": "GL_MIRROR_CLAMP_TO_EDGE",
}


COMPARES = {
    Compare.NEVER: "GL_NEVER",
    Compare.LESS: "GL_LESS",
    Compare.EQUAL: "GL_EQUAL",
    Compare.LESS_EQUAL: "GL_LEQUAL",
    Compare.GREATER: "GL_GREATER",
    Compare.NOT_EQUAL: "GL_NOTEQUAL",
    Compare.GREATER_EQUAL: "GL_GEQUAL",
    Compare.ALWAYS: "GL_ALWAYS",
}
# Of texels by format: internal format, format, type.
UPLOADS = {
    "RGBA8": ("GL_RGBA8", "GL_RGBA", "GL_UNSIGNED_BYTE"),
    "R32G32B32A32_FLOAT": ("GL_RGBA32F", "GL_RGBA", "GL_FLOAT"),
    "R32_FLOAT": ("GL_DEPTH_COMPONENT32F", "GL_DEPTH_COMPONENT", "GL_FLOAT"),  # to compare with
}
SWIZZLES = {1: "x", 2: "xy", 3: "xyz"}


class MesaSampler(Mesa):
    """Sampler of Mesa's llvmpipe: one sample for each pixel of a target.

    Arguments are those of :mod:`fixfunc.models.texture.sampler`; the formats :data:`UPLOADS`.
    """

    def sample(self, texture, sampler, coordinates, lod=None, gradients=None):
        """Sample with explicit levels, or of 2D textures with gradients."""
        place = f"c.{SWIZZLES[coordinates.shape[1]]}"
        call = f"textureLod(texture_in, {place}, c.w)"
        second = None
        if gradients is not None:
            call = "textureGrad(texture_in, c.xy, g.xy, g.zw)"
            second = np.concatenate(gradients, 1)
        return self._call(texture, sampler, coordinates, lod, second, call)

    def gather(self, texture, sampler, coordinates, component):
        """Four texels of a 2D texture."""
        call = f"textureGather(texture_in, c.xy, {component})"
        return self._call(texture, sampler, coordinates, None, None, call)

    def compare(self, texture, sampler, coordinates, reference, lod):
        """Filtered comparisons of a 2D texture."""
        second = np.repeat(reference[:, None], 4, 1)
        call = "vec4(textureLod(texture_in, vec3(c.xy, g.x), c.w))"
        return self._call(texture, sampler, coordinates, lod, second, call, "Shadow")[:, 0]

    def _call(self, texture, sampler, coordinates, lod, second, call, shadow=""):
        gl = self._gl
        cube = texture.faces == 6
        count = len(coordinates)
        name = "CUBE_MAP" if cube else f"{texture.dimension}D"
        target = getattr(gl, f"GL_TEXTURE_{name}")
        where = np.zeros((2, count, 4), np.float32)
        where[0, :, : coordinates.shape[1]] = coordinates
        if lod is not None:
            where[0, :, 3] = lod
        if second is not None:
            where[1] = second
        kind = ("samplerCube" if cube else f"sampler{texture.dimension}D") + shadow
        program = self._context.program(
            VERTEX, FRAGMENT.replace("KIND", kind).replace("CALL", call)
        )
        places = self._context.texture((count, 2), 4, where.tobytes(), dtype="f4")
        target_texture = self._context.texture((count, 1), 4, dtype="f4")
        framebuffer = self._context.framebuffer([target_texture])
        places.use(0)
        program["where"] = 0
        program["texture_in"] = 1
        gl.glActiveTexture(gl.GL_TEXTURE1)
        self._upload(texture, target)
        self._set(texture, sampler, target, shadow)
        framebuffer.use()
        corners = self._context.buffer(np.array([-1, -1, 3, -1, -1, 3], "f4").tobytes())
        self._context.viewport = (0, 0, count, 1)
        self._context.vertex_array(program, [(corners, "2f", "position")]).render()
        return np.frombuffer(framebuffer.read(components=4, dtype="f4"), np.float32).reshape(
            count, 4
        )

    def _upload(self, texture, target):
        gl = self._gl
        gl.glBindTexture(target, gl.glGenTextures(1))
        gl.glEnable(gl.GL_TEXTURE_CUBE_MAP_SEAMLESS)
        kinds = [getattr(gl, name) for name in UPLOADS[texture.format]]
        if texture.srgb:
            kinds[0] = gl.GL_SRGB8_ALPHA8
        for level in range(len(texture.levels)):
            for face in range(texture.faces):
                part = gl.GL_TEXTURE_CUBE_MAP_POSITIVE_X + face if texture.faces == 6 else target
                image = np.ascontiguousarray(texture.texels(level, face)[:, :, :, 0])
                upload = getattr(gl, f"glTexImage{texture.dimension}D")
                upload(part, level, kinds[0], *texture.extents(level), 0, *kinds[1:], image)

    def _set(self, texture, sampler, target, shadow):
        gl = self._gl
        smooth = {"point": "NEAREST", "linear": "LINEAR"}
        gl.glTexParameteri(target, gl.GL_TEXTURE_MAX_LEVEL, len(texture.levels) - 1)
        gl.glTexParameteri(
            target, gl.GL_TEXTURE_MAG_FILTER, getattr(gl, f"GL_{smooth[sampler.magnify]}")
        )
        gl.glTexParameteri(
            target,
            gl.GL_TEXTURE_MIN_FILTER,
            getattr(gl, f"GL_{smooth[sampler.minify]}_MIPMAP_{smooth[sampler.mip]}"),
        )
        gl.glTexParameterfv(
            target, gl.GL_TEXTURE_BORDER_COLOR, np.array(sampler.border, np.float32)
        )
        for name, mode in zip("STR"[: texture.dimension], sampler.address, strict=False):
            gl.glTexParameteri(
                target, getattr(gl, f"GL_TEXTURE_WRAP_{name}"), getattr(gl, WRAPS[mode])
            )
        if shadow:
            gl.glTexParameteri(target, gl.GL_TEXTURE_COMPARE_MODE, gl.GL_COMPARE_REF_TO_TEXTURE)
            compare = getattr(gl, COMPARES[sampler.comparison])
            gl.glTexParameteri(target, gl.GL_TEXTURE_COMPARE_FUNC, compare)
