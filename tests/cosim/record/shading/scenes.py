# SPDX-License-Identifier: BSD-2-Clause
"""Scenes of the fixed functions, and what becomes of them where they are shaded."""

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import shaded
from fixfunc.cosim.recorded.drawing import Player
from tests.cosim.record.program import Program, recorded
from tests.cosim.record.test_calls import MODES
from tests.cosim.record.test_shaders import begun


def lit(gl):
    """Every kind of light, on a material of its own."""
    gl.glEnable(T.LIGHTING)
    gl.glEnable(T.NORMALIZE)
    gl.glMaterialfv(T.FRONT, T.SPECULAR, [0.4, 0.5, 0.6, 1.0])
    gl.glMaterialf(T.FRONT, T.SHININESS, 6.0)
    gl.glMaterialfv(T.FRONT, T.EMISSION, [0.05, 0.0, 0.1, 1.0])
    gl.glLightModelfv(T.LIGHT_MODEL_AMBIENT, [0.1, 0.2, 0.1, 1.0])
    for n, place in enumerate(([1.0, 1.0, 2.0, 0.0], [0.5, -0.5, 1.5, 1.0], [-1.0, 0.5, 2.0, 1.0])):
        gl.glEnable(T.LIGHT0 + n)
        gl.glLightfv(T.LIGHT0 + n, T.POSITION, place)
        gl.glLightfv(T.LIGHT0 + n, T.DIFFUSE, [0.3, 0.4 - 0.1 * n, 0.2 + 0.1 * n, 1.0])
        gl.glLightfv(T.LIGHT0 + n, T.SPECULAR, [0.5, 0.4, 0.3, 1.0])
        gl.glLightfv(T.LIGHT0 + n, T.AMBIENT, [0.02, 0.03, 0.01, 1.0])
    gl.glLightf(T.LIGHT1, T.LINEAR_ATTENUATION, 0.3)
    gl.glLightf(T.LIGHT1, T.QUADRATIC_ATTENUATION, 0.2)
    gl.glLightf(T.LIGHT2, T.SPOT_CUTOFF, 50.0)
    gl.glLightf(T.LIGHT2, T.SPOT_EXPONENT, 3.0)
    gl.glLightfv(T.LIGHT2, T.SPOT_DIRECTION, [0.5, -0.2, -1.0])


def textured(gl):
    """A texture of two levels is on."""
    gl.glGenTextures(1, [5])
    gl.glBindTexture(T.TEXTURE_2D, 5)
    texels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), np.uint8)
    gl.glTexImage2D(
        *(T.TEXTURE_2D, 0, T.RGBA8, 16, 16, 0, T.RGBA, T.UNSIGNED_BYTE, texels.tobytes())
    )
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MIN_FILTER, T.LINEAR)
    gl.glEnable(T.TEXTURE_2D)


def corners(gl, count=8):
    """Triangles with colours, normals and coordinates of their own, in perspective."""
    rng = np.random.default_rng(count)
    gl.glBegin(T.TRIANGLES)
    for place in rng.uniform(-1, 1, (3 * count, 3)):
        gl.glColor4f(*rng.uniform(0, 1, 4).tolist())
        gl.glSecondaryColor3f(*rng.uniform(0, 0.5, 3).tolist())
        gl.glNormal3f(*rng.uniform(-1, 1, 2).tolist(), 1.0)
        gl.glTexCoord2f(*rng.uniform(-0.5, 1.5, 2).tolist())
        wide = float(rng.uniform(0.7, 1.5))
        gl.glVertex4f(*(place * wide).tolist(), wide)
    gl.glEnd()


def smooth(gl):
    corners(gl)


def flat(first):
    def change(gl):
        gl.glShadeModel(T.FLAT)
        gl.glProvokingVertex(T.FIRST_VERTEX_CONVENTION if first else T.LAST_VERTEX_CONVENTION)
        rng = np.random.default_rng(2)
        for mode, (places, _) in MODES.items():
            if first and mode.startswith("QUAD"):
                continue
            gl.glBegin(getattr(T, mode))
            for place in places:
                gl.glColor3f(*rng.uniform(0, 1, 3).tolist())
                gl.glVertex3f(*map(float, place))
            gl.glEnd()

    change.__name__ = "flat_first" if first else "flat_last"
    return change


def split(wide):
    """Quads and others whose colours depend on how they are split; wide ones are clipped."""

    def change(gl):
        rng = np.random.default_rng(6)
        for mode, (places, _) in MODES.items():
            gl.glBegin(getattr(T, mode))
            for x, y, z in places:
                gl.glColor3f(*rng.uniform(0, 1, 3).tolist())
                gl.glVertex3f(float(x * wide), float(y * wide), float(z))
            gl.glEnd()

    change.__name__ = "split_clipped" if wide > 1 else "split"
    return change


def lights(gl):
    lit(gl)
    corners(gl)


def local_viewer(gl):
    lit(gl)
    gl.glLightModeli(T.LIGHT_MODEL_LOCAL_VIEWER, 1)
    gl.glLightModeli(T.LIGHT_MODEL_COLOR_CONTROL, T.SEPARATE_SPECULAR_COLOR)
    gl.glMatrixMode(T.PROJECTION)
    gl.glFrustum(-0.4, 0.4, -0.4, 0.4, 1.0, 5.0)
    gl.glMatrixMode(T.MODELVIEW)
    gl.glTranslatef(0.0, 0.0, -2.0)
    textured(gl)
    corners(gl)


def colour_material(gl):
    lit(gl)
    gl.glColorMaterial(T.FRONT_AND_BACK, T.AMBIENT_AND_DIFFUSE)
    gl.glEnable(T.COLOR_MATERIAL)
    corners(gl)


def two_sides(gl):
    lit(gl)
    gl.glMaterialfv(T.BACK, T.DIFFUSE, [0.9, 0.1, 0.3, 1.0])
    gl.glLightModeli(T.LIGHT_MODEL_TWO_SIDE, 1)
    corners(gl)


def secondary(gl):
    gl.glEnable(T.COLOR_SUM)
    corners(gl)


def generated(mode):
    def change(gl):
        textured(gl)
        gl.glEnable(T.NORMALIZE)
        for name in ("S", "T"):
            gl.glTexGeni(getattr(T, name), T.TEXTURE_GEN_MODE, getattr(T, mode))
            gl.glEnable(getattr(T, f"TEXTURE_GEN_{name}"))
        gl.glTexGenfv(T.S, T.OBJECT_PLANE, [0.5, 0.25, 0.0, 0.1])
        gl.glTexGenfv(T.T, T.EYE_PLANE, [0.5, -0.25, 0.5, 0.2])
        corners(gl)

    change.__name__ = mode
    return change


def environment(mode, form="RGBA8"):
    def change(gl):
        textured(gl)
        texels = np.random.default_rng(3).integers(0, 256, (16, 16, 4), np.uint8)
        gl.glTexImage2D(
            *(T.TEXTURE_2D, 0, getattr(T, form), 16, 16, 0, T.RGBA, T.UNSIGNED_BYTE),
            texels.tobytes(),
        )
        gl.glTexEnvi(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, getattr(T, mode))
        corners(gl)

    change.__name__ = f"{mode}_{form}"
    return change


def fog(mode):
    def change(gl):
        gl.glEnable(T.FOG)
        gl.glFogi(T.FOG_MODE, getattr(T, mode))
        gl.glFogf(T.FOG_DENSITY, 1.5)
        gl.glFogf(T.FOG_START, 0.1)
        gl.glFogf(T.FOG_END, 0.8)
        gl.glFogfv(T.FOG_COLOR, [0.2, 0.7, 0.4, 1.0])
        corners(gl)

    change.__name__ = f"fog_{mode}"
    return change


def wrapped(mode):
    def change(gl):
        textured(gl)
        gl.glTexParameterfv(T.TEXTURE_2D, T.TEXTURE_BORDER_COLOR, [0.2, 0.9, 0.4, 0.7])
        for axis in "ST":
            gl.glTexParameteri(T.TEXTURE_2D, getattr(T, f"TEXTURE_WRAP_{axis}"), getattr(T, mode))
        corners(gl)

    change.__name__ = f"wrap_{mode}"
    return change


def nearest(gl):
    textured(gl)
    for name in ("MIN", "MAG"):
        gl.glTexParameteri(T.TEXTURE_2D, getattr(T, f"TEXTURE_{name}_FILTER"), T.NEAREST)
    corners(gl)


def levels(gl):
    textured(gl)
    gl.glGenerateMipmap(T.TEXTURE_2D)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MIN_FILTER, T.LINEAR_MIPMAP_LINEAR)
    gl.glTexEnvf(T.TEXTURE_FILTER_CONTROL, T.TEXTURE_LOD_BIAS, 0.5)
    gl.glMatrixMode(T.TEXTURE)
    gl.glScalef(4.0, 4.0, 1.0)
    corners(gl)


def clamped_levels(gl):
    """What lies beyond an edge has the level of its own slopes."""
    levels(gl)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_MIN_FILTER, T.LINEAR_MIPMAP_NEAREST)
    for axis in "ST":
        gl.glTexParameteri(T.TEXTURE_2D, getattr(T, f"TEXTURE_WRAP_{axis}"), T.CLAMP)
    corners(gl, 30)


def projected(gl):
    textured(gl)
    gl.glMatrixMode(T.TEXTURE)
    gl.glFrustum(-1.0, 1.0, -1.0, 1.0, 1.0, 3.0)
    gl.glTranslatef(0.0, 0.0, -2.0)
    corners(gl)


def swizzled(gl):
    textured(gl)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_SWIZZLE_R, T.BLUE)
    gl.glTexParameteri(T.TEXTURE_2D, T.TEXTURE_SWIZZLE_A, T.ONE)
    corners(gl)


def alpha(gl):
    textured(gl)
    gl.glEnable(T.ALPHA_TEST)
    gl.glAlphaFunc(T.GREATER, 0.25)
    corners(gl)


SCENES = [
    *(
        smooth,
        flat(False),
        flat(True),
        split(1),
        split(1.5),
        lights,
        local_viewer,
        colour_material,
        two_sides,
        secondary,
        projected,
    ),
    *(nearest, levels, clamped_levels, swizzled, alpha),
    *map(generated, ("OBJECT_LINEAR", "EYE_LINEAR", "SPHERE_MAP", "REFLECTION_MAP", "NORMAL_MAP")),
    *map(environment, ("MODULATE", "REPLACE", "DECAL", "ADD")),
    *(environment(mode, "RGB8") for mode in ("MODULATE", "REPLACE", "DECAL", "ADD")),
    *(
        environment(mode, form)
        for mode in ("MODULATE", "REPLACE", "ADD")
        for form in ("ALPHA8", "LUMINANCE8", "LUMINANCE8_ALPHA8", "INTENSITY8")
    ),
    *map(fog, ("LINEAR", "EXP", "EXP2")),
    *map(
        wrapped,
        ("REPEAT", "MIRRORED_REPEAT", "CLAMP", "CLAMP_TO_EDGE", "CLAMP_TO_BORDER"),
    ),
]


def frame_of(scene):
    gl = Program()
    begun(gl)
    scene(gl)
    return recorded(gl)


def shaded_of(frame):
    """A frame, shaded: figures."""
    player = Player(frame, shades=True)
    made = player.draw()
    assert sum(it.missing + it.extra for it in made.draws) == 0
    return shaded.figures_of(player.shaders)
