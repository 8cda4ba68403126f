"""Block-compressed textures by decoders that nobody here wrote: imagecodecs, Pillow, Mesa."""

import io
import os
import struct

import imagecodecs
import numpy as np
from PIL import Image

PILLOW = {"BC1": b"DXT1", "BC2": b"DXT3", "BC3": b"DXT5", "BC4U": b"BC4U", "BC5U": b"BC5U", "BC5S": b"BC5S"}
MESA = {"BC7": "RGBA_BPTC_UNORM", "BC6HU": "RGB_BPTC_UNSIGNED_FLOAT", "BC6HS": "RGB_BPTC_SIGNED_FLOAT"}
WIDTH = 1024  # blocks side by side: what fits a texture


def by_imagecodecs(name, blocks):
    """Texels of BC6H, BC7: (n, 4, 4, channels)."""
    channels = 4 if name == "BC7" else 3
    row = imagecodecs.bcn_decode(blocks.tobytes(), getattr(imagecodecs.BCN.FORMAT, name), shape=(4, 4 * len(blocks), channels))
    return _by_block(row)


def by_pillow(name, blocks):
    """Texels of BC1 to BC5, 8 bits a channel."""
    header = struct.pack("<4s7I44xII4s20xI16x", b"DDS ", 124, 0x1007, 4, 4 * len(blocks), 0, 0, 0, 32, 4, PILLOW[name], 0x1000)
    return _by_block(np.asarray(Image.open(io.BytesIO(header + blocks.tobytes()))))


class Mesa:
    """Decodes where textures are uploaded."""

    def __init__(self):
        os.environ.update(LIBGL_ALWAYS_SOFTWARE="1", GALLIUM_DRIVER="llvmpipe", EGL_PLATFORM="surfaceless", PYOPENGL_PLATFORM="egl")
        import moderngl
        from OpenGL import GL

        self._gl, self._context = GL, moderngl.create_context(standalone=True, backend="egl")
        assert "llvmpipe" in self._context.info["GL_RENDERER"], self._context.info["GL_RENDERER"]

    def decode(self, name, blocks):
        """Texels of BC6H, BC7."""
        return np.concatenate([self._decode(name, blocks[n:n + WIDTH]) for n in range(0, len(blocks), WIDTH)])

    def _decode(self, name, blocks):
        gl, texture = self._gl, self._gl.glGenTextures(1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        known = getattr(gl, f"GL_COMPRESSED_{MESA[name]}")
        gl.glCompressedTexImage2D(gl.GL_TEXTURE_2D, 0, known, 4 * len(blocks), 4, 0, np.ascontiguousarray(blocks))
        channels, kind, scalar = ("RGBA", "UNSIGNED_BYTE", np.uint8) if name == "BC7" else ("RGB", "HALF_FLOAT", np.float16)
        row = gl.glGetTexImage(gl.GL_TEXTURE_2D, 0, getattr(gl, f"GL_{channels}"), getattr(gl, f"GL_{kind}"))
        gl.glDeleteTextures([texture])
        data = row if isinstance(row, bytes) else np.ascontiguousarray(row).tobytes()
        return _by_block(np.frombuffer(data, scalar).reshape(4, -1, len(channels)))


def _by_block(row):
    """(4, 4n, ...) -> (n, 4, 4, channels)."""
    return row.reshape(4, -1, 4, row.shape[2] if row.ndim == 3 else 1).swapaxes(0, 1)
