# SPDX-License-Identifier: BSD-2-Clause
"""Coverage by Mesa's llvmpipe: a rasterizer that nobody here wrote."""

import numpy as np

from tests.oracles import llvmpipe

SIZE = 64  # pixels, of the target
VIEWPORT = (
    4096  # pixels, centred on the target: a power of two keeps 1/256 pixel exact in clip space
)

VERTEX = """
#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """
#version 330
out float covered;
void main() { covered = 1.0; }
"""
SAMPLES = """
#version 330
uniform sampler2DMS target;
out float mask;
void main() {
    int bits = 0;
    for (int s = 0; s < 4; ++s)
        if (texelFetch(target, ivec2(gl_FragCoord.xy), s).r > 0.5) bits |= 1 << s;
    mask = float(bits) / 255.0;
}
"""


class Llvmpipe:
    """Draws triangles one by one on a target of 64x64 pixels.

    Parameters
    ----------
    samples : int
        1, or 4: the pattern of Mesa equals that of D3D11.

    Window y runs with the rows of a texture, so nothing has to be flipped.
    """

    def __init__(self, samples=1):
        self._gl, _ = llvmpipe.context()
        gl = self._gl
        self._samples = samples
        self._program = gl.program(VERTEX, FRAGMENT)
        self._buffer = gl.buffer(reserve=24)
        self._triangle = gl.vertex_array(self._program, [(self._buffer, "2f", "position")])
        self._target = gl.texture((SIZE, SIZE), 1, samples=samples if samples > 1 else 0)
        self._framebuffer = gl.framebuffer([self._target])
        if samples > 1:
            corners = gl.buffer(np.array([-1, -1, 3, -1, -1, 3], "f4").tobytes())
            self._resolve = gl.vertex_array(
                gl.program(VERTEX, SAMPLES), [(corners, "2f", "position")]
            )
            self._masks = gl.framebuffer([gl.texture((SIZE, SIZE), 1)])

    def coverage(self, corners, mode="triangles"):
        """Coverage of a triangle, a line or a point, int (k, 2) in 1/256 pixel.

        bool, shape (SIZE, SIZE, samples). ``mode`` is triangles, lines or points.
        """
        origin = (VIEWPORT - SIZE) // 2
        clip = (np.asarray(corners, np.float64) / 256 + origin) * (2 / VIEWPORT) - 1
        self._buffer.write(clip.astype("f4").tobytes())
        self._framebuffer.use()
        self._framebuffer.clear()
        self._gl.viewport = (-origin, -origin, VIEWPORT, VIEWPORT)
        self._triangle.render(getattr(self._gl, mode.upper()), vertices=len(corners))
        if self._samples == 1:
            data = np.frombuffer(
                self._framebuffer.read(components=1, alignment=1), np.uint8
            ).reshape(SIZE, SIZE)
            return (data > 127)[..., None]
        self._masks.use()
        self._gl.viewport = (0, 0, SIZE, SIZE)
        self._target.use()
        self._resolve.render()
        data = np.frombuffer(self._masks.read(components=1, alignment=1), np.uint8).reshape(
            SIZE, SIZE
        )
        return (data[..., None] >> np.arange(self._samples) & 1).astype(bool)
