# SPDX-License-Identifier: BSD-2-Clause
import sys
import warnings

import numpy as np
import pytest
import trimesh
from PIL import Image

from fixfunc.cosim.frame import mesh
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.spec.errors import InputError, InputWarning, MeshError


@pytest.mark.parametrize("suffix", mesh.FORMATS)
def test_every_format(suffix, tmp_path):
    box = trimesh.creation.box()
    box.export(tmp_path / f"box{suffix}")
    vertices, faces = mesh.load(tmp_path / f"box{suffix}")
    assert vertices.dtype == np.float32
    assert len(faces) == 12
    corners = vertices[faces].reshape(-1, 3)
    assert {tuple(np.sign(corner)) for corner in corners} == {
        tuple(np.sign(corner)) for corner in box.vertices
    }


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.obj", b"", MeshError),
        ("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", MeshError),
        ("huge_index.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n", MeshError),
        ("words.obj", b"v zero one two\nf a b c\n", MeshError),
        ("broken.ply", b"ply\nformat ascii 1.0\nelement vertex 1000000000000\n", MeshError),
        ("noise.glb", bytes(range(256)), MeshError),
        ("short.stl", b"\0" * 90, MeshError),
        ("mesh.xyz", b"", InputError),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_files(name, content, error, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error):
        Scene(*mesh.load(tmp_path / name), 16, 16)


@pytest.mark.parametrize("kind", ["faces", "vertices", "texture"])
@pytest.mark.parametrize("suffix", [".ply", ".glb", ".obj"])
def test_colours_are_left_out_with_a_warning(kind, suffix, tmp_path, monkeypatch):
    """Of faces, of vertices and of textures; no package besides trimesh is needed for them."""
    box = trimesh.creation.box()
    if kind == "texture":
        box.visual = trimesh.visual.TextureVisuals(
            uv=np.zeros((8, 2)), image=Image.new("RGB", (4, 4))
        )
    elif kind == "vertices":
        box.visual.vertex_colors = np.arange(32, dtype=np.uint8).reshape(8, 4)
    else:
        if suffix != ".ply":
            return  # no other format has colours of faces
        box.visual.face_colors = np.arange(48, dtype=np.uint8).reshape(12, 4)
    box.export(tmp_path / f"box{suffix}")
    monkeypatch.setitem(sys.modules, "scipy", None)
    message = f"box{suffix}: materials and colours are left out: the mesh is drawn in one colour"
    with pytest.warns(InputWarning, match=message):
        vertices, faces = mesh.load(tmp_path / f"box{suffix}")
    assert (len(vertices), len(faces)) == (8, 12)


def test_parts_stand_where_a_scene_puts_them(tmp_path):
    """As trimesh joins them: moved, mirrored, and one geometry twice."""
    box = trimesh.creation.box()
    scene = trimesh.Scene([box])
    for place in (np.diag([1.0, -2, 1, 1]), trimesh.transformations.translation_matrix([3, 0, 0])):
        scene.add_geometry(box, geom_name="again", transform=place)
    scene.export(tmp_path / "scene.glb")
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        vertices, faces = mesh.load(tmp_path / "scene.glb")
    theirs = trimesh.load(tmp_path / "scene.glb", force="mesh", process=False)
    assert len(faces) == 36
    assert (vertices[faces] == np.float32(theirs.vertices)[theirs.faces]).all()


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="mesh must be a file that exists"):
        mesh.load(tmp_path / "none.obj")


def test_nan_and_degenerate_faces_are_counted(tmp_path):
    (tmp_path / "odd.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nf 1 2 3\nf 1 2 4\nf 1 1 2\n"
    )
    counters = render(Scene(*mesh.load(tmp_path / "odd.obj"), 32, 32)).counters
    assert (
        counters["faces"],
        counters["set_up"],
        counters["not_a_number"],
        counters["zero_area"],
    ) == (3, 1, 1, 1)
