# SPDX-License-Identifier: BSD-2-Clause
"""What domain matching saves: on patches of one factor, and on draws."""

import numpy as np
import trimesh

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.scene.camera import look_at_mesh
from fixfunc.models.scene.scene import teapot_patches
from fixfunc.models.tessellation import bezier, patches
from fixfunc.models.tessellation.domain_matching import DomainMatchingUnit
from fixfunc.models.tessellation.tessellator import FACTORS, OUTPUTS, tessellate
from fixfunc.spec.points import DOMAIN_POINT, MATCHED_POINT
from fixfunc.spec.state import PointKind
from fixfunc.tb import catalogue

STEPS = range(4, 65, 4)  # factors, as in the documents
END = np.zeros(1, dtype(DOMAIN_POINT))
END["kind"] = PointKind.END
SIZES = ((1, 16), (1, 32), (2, 16), (2, 32), (2, 64), (2, 128))  # of the TagRAM: rows, lanes


def matched(domain, factor, partitioning="integer", rows=2, lanes=32):
    """(points, those that are shaded) of a patch, all of its factors the same."""
    drawn = tessellate(
        domain, *([factor] * count for count in FACTORS[domain]), partitioning, OUTPUTS[domain][1]
    )
    unit = DomainMatchingUnit(rows, lanes, waves=4 * rows)
    for point in drawn.points[drawn.primitives.ravel()].tolist():
        unit.release(unit.step(point)[0])
    return unit.counters.points, unit.counters.misses


def terrain(side=16):
    """Square patches of hills; the nearer an edge, the more segments."""
    y, x = np.mgrid[:side, :side]
    control = np.stack([x, y], -1).reshape(-1, 2).astype(float)  # lower left corners

    def hull(control):
        middles = [control + middle for middle in ((0, 0.5), (0.5, 0), (1, 0.5), (0.5, 1))]
        outer = np.stack(
            [np.clip(40 / (1 + np.hypot(*(m - (side / 2, -1)).T)), 1, 64) for m in middles], -1
        )
        return outer, np.stack(
            [np.maximum(outer[:, 1], outer[:, 3]), np.maximum(outer[:, 0], outer[:, 2])], -1
        )

    def domain(control, uv):
        x, y = (control + uv).T
        return np.stack([x, np.sin(x) * np.cos(1.3 * y), y], -1)

    return patches.PatchDraw(control, hull, domain)


def ball():
    """A displaced sphere of triangles; towards the viewer more segments."""
    mesh = trimesh.creation.icosphere(subdivisions=1)
    control = np.asarray(mesh.vertices)[mesh.faces]

    def hull(control):
        ends = ((1, 2), (0, 2), (0, 1))
        outer = np.stack(
            [np.clip(7 + 6 * (control[:, a, 2] + control[:, b, 2]) / 2, 1, 64) for a, b in ends], -1
        )
        return outer, outer.max(1, keepdims=True)

    def domain(control, uv):
        weights = np.concatenate([uv, 1 - uv.sum(1, keepdims=True)], -1)
        point = (control * weights[..., None]).sum(1)
        point /= np.linalg.norm(point, axis=1, keepdims=True)
        return point * (1 + 0.1 * np.sin(9 * point).prod(1, keepdims=True))

    return patches.PatchDraw(control, hull, domain, "triangle")


def draws():
    """Rows: draw, patches, points, those that are shaded, share that is not, waves."""
    control = bezier.read_patches()[..., [0, 2, 1]] * (1, 1, -1)
    transform, _ = look_at_mesh(control.reshape(-1, 3).astype(np.float32), 16 / 9)
    known = {
        f"teapot, {pixels} pixels": patches.PatchDraw(
            control, bezier.adaptive(transform, 1280, 720, pixels), bezier.shade
        )
        for pixels in (4, 8, 16, 32)
    }
    known |= {"terrain": terrain(), "displaced ball": ball()}
    made = {name: patches.run(draw).counters for name, draw in known.items()}
    return [
        (name, len(known[name].control), c.points, c.misses, c.hit_ratio, c.waves)
        for name, c in made.items()
    ]


def clocks(count=20000, late=100):
    """Clocks a point of the teapot in hardware.

    Users release each vertex so many clocks later.

    Until then they release what nobody holds, of the last wave, which comes to nothing.
    """
    block = catalogue.block("domain_matching")
    points = teapot_patches("adaptive").tessellated.points[:count]
    volume = Volume(block.create(), block.stem)
    rows = codec.pack(points, DOMAIN_POINT)
    params = block.parameters("default")
    expected = block.expected(np.concatenate([rows, codec.pack(END, DOMAIN_POINT)]))["o"]
    places = codec.unpack(expected, MATCHED_POINT, dtype(MATCHED_POINT))["dsid"][:-1]
    releases = np.concatenate([np.full(late, params.lanes * params.waves - 1), places]).astype(
        np.uint64
    )[:, None]
    half = volume.run(
        {"i": rows[: count // 2], "release": releases[: count // 2 + late]}, 2 * count
    ).clocks
    whole = volume.run({"i": rows[:count], "release": releases[: count + late]}, 2 * count).clocks
    return (whole - half) / (count - count // 2)
