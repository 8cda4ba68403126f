# SPDX-License-Identifier: BSD-2-Clause
"""A context of OpenGL on Mesa's llvmpipe, for all oracles that draw."""

import os


def context(require=None):
    """A context of moderngl, and the functions of PyOpenGL, which moderngl does not all reach.

    ``require`` is the least version of OpenGL, such as 410. Another renderer is an error.
    """
    os.environ.update(
        LIBGL_ALWAYS_SOFTWARE="1",
        GALLIUM_DRIVER="llvmpipe",
        EGL_PLATFORM="surfaceless",
        PYOPENGL_PLATFORM="egl",
    )
    import moderngl
    from OpenGL import GL

    version = {"require": require} if require else {}
    made = moderngl.create_context(standalone=True, backend="egl", **version)
    assert "llvmpipe" in made.info["GL_RENDERER"], made.info["GL_RENDERER"]
    return made, GL
