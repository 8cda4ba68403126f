# SPDX-License-Identifier: BSD-2-Clause
"""Scenes of tests/machine/frames, drawn by Mesa's llvmpipe."""

import numpy as np

from fixfunc.spec.state import Cull, StencilOp
from tests.machine.frames.scene import SHADOW, SIZE
from tests.oracles import llvmpipe
from tests.oracles.texture import COMPARES, WRAPS

OPERATIONS = {
    StencilOp.KEEP: "GL_KEEP",
    StencilOp.ZERO: "GL_ZERO",
    StencilOp.REPLACE: "GL_REPLACE",
    StencilOp.INCR_SAT: "GL_INCR",
    StencilOp.DECR_SAT: "GL_DECR",
    StencilOp.INVERT: "GL_INVERT",
    StencilOp.INCR: "GL_INCR_WRAP",
    StencilOp.DECR: "GL_DECR_WRAP",
}
FLIP = "gl_Position.y = -gl_Position.y;"  # rows run down


class LlvmpipeFrames:
    """Draws frames: uint8, shape (height, width, 4)."""

    def __init__(self):
        self._context, self._gl = llvmpipe.context(400)

    def __call__(self, frame):
        gl = self._gl
        context = self._context
        samples = frame.samples if frame.samples > 1 else 0
        colours = context.renderbuffer(SIZE, 4, samples=samples, dtype="f1")
        depth = context.depth_renderbuffer(SIZE, samples=samples)
        target = context.framebuffer([colours], depth)
        self._with_stencil(target, samples)
        self._shadow = context.depth_texture((SHADOW, SHADOW))
        shadow = context.framebuffer([], self._shadow)
        _ = context.error  # moderngl leaves one, which PyOpenGL would take for its own
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)
        for buffer in (target, shadow):
            buffer.use()
            gl.glDepthMask(True)
            gl.glColorMask(*[True] * 4)
            gl.glClearBufferfv(gl.GL_DEPTH, 0, np.array([1.0], "f4"))
        target.use()
        gl.glClearBufferiv(gl.GL_STENCIL, 0, np.array([0], "i4"))
        gl.glClearBufferfv(gl.GL_COLOR, 0, np.array(frame.background, "f4"))
        for part in frame.passes:
            (shadow if part.into_shadow else target).use()
            size = (SHADOW, SHADOW) if part.into_shadow else SIZE
            context.viewport = (0, 0, *size)
            self._set(part)
            self._draw(part)
        context.enable_only(context.NOTHING)
        gl.glDisable(gl.GL_STENCIL_TEST)
        gl.glDisable(gl.GL_DEPTH_CLAMP)
        gl.glDepthMask(True)
        gl.glColorMask(*[True] * 4)
        if samples:
            single = context.framebuffer([context.renderbuffer(SIZE, 4, dtype="f1")])
            context.copy_framebuffer(single, target)
            target = single
        data = target.read(components=4, dtype="f1")
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
        return np.frombuffer(data, np.uint8).reshape(*SIZE[::-1], 4)

    def _with_stencil(self, target, samples):
        """Put depths with stencil values in place of depths alone."""
        gl = self._gl
        target.use()
        made = gl.glGenRenderbuffers(1)
        gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, made)
        gl.glRenderbufferStorageMultisample(
            gl.GL_RENDERBUFFER, samples, gl.GL_DEPTH24_STENCIL8, *SIZE
        )
        gl.glFramebufferRenderbuffer(
            gl.GL_FRAMEBUFFER, gl.GL_DEPTH_STENCIL_ATTACHMENT, gl.GL_RENDERBUFFER, made
        )
        status = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
        assert status == gl.GL_FRAMEBUFFER_COMPLETE, status

    def _set(self, part):
        """State of a pass."""
        gl = self._gl

        def switch(name, on):
            (gl.glEnable if on else gl.glDisable)(getattr(gl, f"GL_{name}"))

        switch("DEPTH_TEST", part.depth)
        switch("BLEND", part.blend)
        switch("STENCIL_TEST", part.stencil)
        switch("CULL_FACE", part.cull != Cull.NONE)
        switch("MULTISAMPLE", True)
        switch("DEPTH_CLAMP", not part.depth_clip)
        gl.glDepthFunc(gl.GL_LEQUAL)
        gl.glDepthMask(part.depth_write)
        gl.glColorMask(*[part.colour] * 4)
        if part.blend == "over":
            gl.glBlendFuncSeparate(
                gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA, gl.GL_ONE, gl.GL_ZERO
            )
        elif part.blend:
            gl.glBlendFuncSeparate(gl.GL_ONE, gl.GL_ONE, gl.GL_ONE, gl.GL_ZERO)
        if part.stencil:
            compare = getattr(gl, COMPARES[part.stencil.compare])
            gl.glStencilFunc(compare, part.stencil.reference, 0xFF)
            faces = ((gl.GL_FRONT, part.stencil.front), (gl.GL_BACK, part.stencil.back))
            for face, operations in faces:
                names = [getattr(gl, OPERATIONS[operation]) for operation in operations]
                gl.glStencilOpSeparate(face, *names)

    def _draw(self, part):
        gl = self._gl
        context = self._context
        names = ["position", *(f"i{n}" for n in range(part.attributes))]
        program = context.program(**_sources(part))
        for n, (texture, sampler) in enumerate(part.textures):
            gl.glActiveTexture(gl.GL_TEXTURE0 + n)
            self._bind(texture, sampler)
            program[f"t{n}"] = n
        buffer = context.buffer(np.ascontiguousarray(part.vertices, "f4").tobytes())
        used = [name if name in program else None for name in names]
        layout = " ".join("4f" if name else "4x4" for name in used)
        indices = None
        if part.indices is not None:
            indices = context.buffer(np.ascontiguousarray(part.indices, "u4").tobytes())
        array = context.vertex_array(
            program, [(buffer, layout, *filter(None, used))], index_buffer=indices
        )
        if part.patches:
            gl.glPatchParameteri(gl.GL_PATCH_VERTICES, 4)
            array.render(context.PATCHES)
        else:
            array.render(context.TRIANGLES)

    def _bind(self, texture, sampler):
        """A texture with its sampler's state, to the active unit."""
        gl = self._gl
        cube = texture is not None and texture.faces == 6
        target = gl.GL_TEXTURE_CUBE_MAP if cube else gl.GL_TEXTURE_2D
        if texture is None:
            gl.glBindTexture(target, self._shadow.glo)
        else:
            gl.glBindTexture(target, gl.glGenTextures(1))
            gl.glEnable(gl.GL_TEXTURE_CUBE_MAP_SEAMLESS)
            for level in range(len(texture.levels)):
                for face in range(texture.faces):
                    part = gl.GL_TEXTURE_CUBE_MAP_POSITIVE_X + face if cube else target
                    image = np.ascontiguousarray(texture.image(level, 0, face))
                    size = texture.size(level)
                    kinds = gl.GL_RGBA, gl.GL_UNSIGNED_BYTE
                    gl.glTexImage2D(part, level, gl.GL_RGBA8, *size, 0, *kinds, image)
            gl.glTexParameteri(target, gl.GL_TEXTURE_MAX_LEVEL, len(texture.levels) - 1)
        smooth = {"point": "NEAREST", "linear": "LINEAR"}
        mip = f"_MIPMAP_{smooth[sampler.mip]}" if texture is not None else ""
        gl.glTexParameteri(
            target, gl.GL_TEXTURE_MIN_FILTER, getattr(gl, f"GL_{smooth[sampler.minify]}{mip}")
        )
        gl.glTexParameteri(
            target, gl.GL_TEXTURE_MAG_FILTER, getattr(gl, f"GL_{smooth[sampler.magnify]}")
        )
        for axis, mode in zip("ST", sampler.address, strict=False):
            gl.glTexParameteri(
                target, getattr(gl, f"GL_TEXTURE_WRAP_{axis}"), getattr(gl, WRAPS[mode])
            )
        compares = sampler.reduction == "comparison"
        mode = gl.GL_COMPARE_REF_TO_TEXTURE if compares else gl.GL_NONE
        gl.glTexParameteri(target, gl.GL_TEXTURE_COMPARE_MODE, mode)
        if compares:
            compare = getattr(gl, COMPARES[sampler.comparison])
            gl.glTexParameteri(target, gl.GL_TEXTURE_COMPARE_FUNC, compare)


def _sources(part):
    """Shaders of a pass."""
    each = range(part.attributes)
    patches = part.patches is not None
    out = "p" if patches else "a"
    vertex = ["#version 400", "in vec4 position;"]
    vertex += [f"in vec4 i{n}; out vec4 {out}{n}_;" for n in each]
    vertex.append("void main() { gl_Position = position;")
    vertex += [f"{out}{n}_ = i{n};" for n in each]
    vertex.append(("" if patches else FLIP) + "}")
    sources = {"vertex_shader": "\n".join(vertex)}
    inputs = 1 if patches else part.attributes
    fragment = ["#version 400", "out vec4 colour;"]
    fragment += [f"in vec4 {'e0' if patches else f'a{n}_'};" for n in range(inputs)]
    for n, (texture, sampler) in enumerate(part.textures):
        kind = "Cube" if texture is not None and texture.faces == 6 else "2D"
        shadow = "Shadow" if sampler.reduction == "comparison" else ""
        fragment.append(f"uniform sampler{kind}{shadow} t{n};")
    fragment.append("void main() { colour = vec4(0.0);")
    fragment += [f"vec4 a{n} = {'e0' if patches else f'a{n}_'};" for n in range(inputs)]
    fragment.append(part.glsl if part.pixel else "")
    sources["fragment_shader"] = "\n".join([*fragment, "}"])
    if patches:
        factor = f"{part.patches.factor}.0"
        levels = [f"gl_TessLevelOuter[{n}] = {factor};" for n in range(4)]
        levels += [f"gl_TessLevelInner[{n}] = {factor};" for n in range(2)]
        sources["tess_control_shader"] = "\n".join(
            [
                "#version 400",
                "layout(vertices = 4) out;",
                "in vec4 p0_[]; out vec4 p0[];",
                "void main() { p0[gl_InvocationID] = p0_[gl_InvocationID];",
                *levels,
                "}",
            ]
        )
        sources["tess_evaluation_shader"] = "\n".join(
            [
                "#version 400",
                "layout(quads, equal_spacing, ccw) in;",
                "in vec4 p0[]; out vec4 e0;",
                "void main() {",
                part.patches.glsl,
                "}",
            ]
        )
    return sources
