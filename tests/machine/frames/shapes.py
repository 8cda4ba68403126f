# SPDX-License-Identifier: BSD-2-Clause
"""Meshes, cameras and textures of the scenes."""

import numpy as np

from fixfunc.examples.scaffold import camera
from fixfunc.models.texture.texture import create, of_picture
from tests.machine.frames.scene import SIZE


def grid(around, along, function):
    """A surface over (u, v) of 0 to 1: points, texture coordinates, triangles."""
    u, v = np.meshgrid(np.linspace(0, 1, around + 1), np.linspace(0, 1, along + 1), indexing="ij")
    uv = np.stack([u.ravel(), v.ravel()], 1)
    i, j = np.mgrid[:around, :along].reshape(2, -1)
    first = i * (along + 1) + j
    quads = np.stack([first, first + along + 1, first + along + 2, first + 1], 1)
    return function(uv), uv, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def torus(around=48, along=24):
    """A torus around y."""

    def surface(uv):
        a, b = 2 * np.pi * uv.T
        ring = 1 + 0.4 * np.cos(b)
        return np.stack([ring * np.cos(a), 0.4 * np.sin(b), ring * np.sin(a)], 1)

    return grid(around, along, surface)


def sphere(around=48, along=24):
    """A ball of radius 1."""

    def surface(uv):
        a, b = 2 * np.pi * uv[:, 0], np.pi * (uv[:, 1] - 0.5)
        flat = np.cos(b)
        return np.stack([flat * np.cos(a), np.sin(b), flat * np.sin(a)], 1)

    return grid(around, along, surface)


def ground(side=4.0, y=-0.6):
    """A square on the ground, as one quad."""

    def surface(uv):
        flat = (uv * 2 - 1) * side
        return np.stack([flat[:, 0], np.full(len(uv), y), flat[:, 1]], 1)

    return grid(1, 1, surface)


def view(eye=(2.2, 1.6, 2.4), at=(0, 0, 0), degrees=40):
    """From the world to clip space: float64, shape (4, 4)."""
    return np.asarray(camera(eye, at, SIZE[0] / SIZE[1], degrees), np.float64)


def projected(points, matrix):
    """Points in clip space, shape (n, 4)."""
    return np.concatenate([points, np.ones((len(points), 1))], 1) @ matrix.T


def vertices(positions, *attributes):
    """Rows of a vertex buffer: every attribute has four channels."""
    rows = [positions]
    for values in attributes:
        whole = np.zeros((len(positions), 4))
        whole[:, : np.shape(values)[-1]] = values
        rows.append(whole)
    return np.concatenate(rows, 1).astype(np.float32)


def light(normals, direction=(0.5, 0.8, 0.3)):
    """Lambert's light, and some from everywhere: shape (n, 1)."""
    direction = np.array(direction) / np.linalg.norm(direction)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return 0.25 + 0.75 * np.clip(normals @ direction[:, None] / np.maximum(length, 1e-9), 0, 1)


def waves(size=128, steps=2, seed=0):
    """A smooth picture of coloured waves, with all of its levels."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] * 2 * np.pi / size
    channels = []
    for _ in range(3):
        a, b, c = rng.integers(1, steps + 1, 3)
        channels.append(127 + 120 * np.sin(a * x + c) * np.cos(b * y))
    return of_picture(np.stack([*channels, np.full_like(x, 255)], -1).astype(np.uint8))


def leaves(size=64):
    """Discs on nothing: alpha has soft edges."""
    y, x = np.mgrid[:size, :size] / size
    alpha = np.zeros((size, size))
    for a, b in ((0.3, 0.35), (0.65, 0.3), (0.5, 0.68)):
        alpha = np.maximum(alpha, np.clip(1 - np.hypot(x - a, y - b) / 0.3, 0, 1))
    colour = [60 + 60 * y, 120 + 100 * x, 40 + 0 * x, 255 * alpha]
    return of_picture(np.stack(colour, -1).astype(np.uint8))


def sky(size=64):
    """A cube whose faces are smooth."""
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    faces = []
    for face in range(6):
        red = 255 * (face % 2) * 0.5 + 100 * x
        green = 60 + 120 * y
        blue = 255 * (face / 6) * (1 - 0.3 * x)
        faces.append(np.stack([red, green, blue, np.full_like(x, 255)], -1).astype(np.uint8))
    data = np.stack([face.reshape(-1) for face in faces])
    return create("RGBA8", size, size, [data], faces=6)


def shadowed(matrix, away):
    """A floor and a slab above it, each as vertices and faces; and the volume of its shadow.

    ``away`` is where the light carries the slab: the far end of the volume.
    """
    floor, _, floor_faces = ground()
    slab = np.array([(-0.6, 0.5, -0.6), (0.6, 0.5, -0.6), (0.6, 0.5, 0.6), (-0.6, 0.5, 0.6)])
    points = np.concatenate([slab - (0, 0.01, 0), slab + away])  # the slab itself is lit
    sides = [(k, 4 + k, 4 + (k + 1) % 4, (k + 1) % 4) for k in range(4)]
    volume = []
    for a, b, c, d in (*sides, (0, 1, 2, 3), (7, 6, 5, 4)):
        volume += [(a, b, c), (a, c, d)]
    grey = np.tile((0.62, 0.64, 0.6, 1), (len(floor), 1))
    blue = np.tile((0.2, 0.4, 0.8, 1), (4, 1))
    lit = [
        (vertices(projected(floor, matrix), grey), floor_faces),
        (vertices(projected(slab, matrix), blue), np.array([(0, 1, 2), (0, 2, 3)])),
    ]
    hidden = vertices(projected(points, matrix), np.zeros((8, 4)))
    return lit, (hidden, np.array(volume))
