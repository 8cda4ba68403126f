# SPDX-License-Identifier: BSD-2-Clause
"""Base colours of glTF files: read, drawn, and what of materials is not."""

import json
import warnings

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual.material import PBRMaterial

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.frame import mesh
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Materials, Scene
from fixfunc.models.scene.shading import lambert
from fixfunc.spec.errors import InputWarning, MeshError

FLAT = np.diag([1, 1, 0.5, 1]).astype(np.float32) + [[0] * 4, [0] * 4, [0, 0, 0, 0.5], [0] * 4]


def square(left, right, **material):
    """A square before the viewer, with texture coordinates from its upper left corner."""
    points = [(left, -1, 0), (right, -1, 0), (right, 1, 0), (left, 1, 0)]
    part = trimesh.Trimesh(points, [(0, 1, 2), (0, 2, 3)], process=False)
    uv = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])  # trimesh's v runs upwards
    if material:
        part.visual = trimesh.visual.TextureVisuals(uv=uv, material=PBRMaterial(**material))
    return part


def saved(path, *parts):
    """A file of parts."""
    trimesh.Scene({f"part {n}": part for n, part in enumerate(parts)}).export(path)
    return path


def drawn(path, size=32):
    """Colours of a file's frame, and the light that its faces have."""
    loaded = mesh.load(path)
    look = {"transform": FLAT, "materials": loaded.materials}
    scene = Scene(*loaded[:2], size, size, 1, **look)
    white = Scene(*loaded[:2], size, size, 1, transform=FLAT, colour=(255, 255, 255))
    return render(scene).colour, lambert(white)[0].astype(float) / 255


def shown(linear):
    """A byte of linear light, as pictures have it [IEC 61966-2-1]."""
    root = 1.055 * linear ** (1 / 2.4) - 0.055
    return 255 * (12.92 * linear if linear <= 0.0031308 else root)


@pytest.mark.plan("scene-6")
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_factors_are_linear_colours_of_parts(suffix, tmp_path):
    """One colour a part; the part without a material has the mesh's own."""
    factor = (0.5, 0.25, 1.0, 1.0)
    path = saved(tmp_path / f"two{suffix}", square(-1, 0, baseColorFactor=factor), square(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        image, light = drawn(path)
    wanted = [shown(round(255 * value) / 255) * light[n] for n, value in enumerate(factor[:3])]
    assert np.abs(image[:, :16] - np.array(wanted)).max() <= 1
    assert np.abs(image[:, 16:] - np.array((214, 166, 104)) * light).max() <= 1


@pytest.mark.plan("scene-6")
def test_textures_lie_where_their_coordinates_say(tmp_path):
    """Rows downwards; times the factor in linear light; a part of its own each."""
    picture = np.zeros((32, 32, 3), np.uint8)
    picture[:16, :16] = (255, 0, 0)
    picture[16:, 16:] = (40, 200, 120)
    first = square(-1, 0, baseColorTexture=Image.fromarray(picture))
    factor = (0.5, 0.5, 0.5, 1.0)
    second = square(0, 1, baseColorTexture=Image.fromarray(picture), baseColorFactor=factor)
    image, light = drawn(saved(tmp_path / "two.glb", first, second), 128)
    for left, share in ((0, 1.0), (64, 128 / 255)):
        for rows, columns, texel in (
            (slice(4, 60), slice(4, 28), (255, 0, 0)),
            (slice(68, 124), slice(36, 60), (40, 200, 120)),
            (slice(4, 60), slice(36, 60), (0, 0, 0)),
        ):
            found = image[rows, left + columns.start : left + columns.stop]
            lit = [shown(share * linear(byte)) * light[n] for n, byte in enumerate(texel)]
            assert np.abs(found - np.array(lit)).max() <= 1.5


def linear(byte):
    """Linear light of a byte."""
    value = byte / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


@pytest.mark.plan("scene-6")
def test_mirrored_parts_keep_their_coordinates(tmp_path):
    picture = np.zeros((16, 16, 3), np.uint8)
    picture[:, :8] = 255
    part = square(-1, 1, baseColorTexture=Image.fromarray(picture))
    scene = trimesh.Scene()
    scene.add_geometry(part, transform=np.diag([-1.0, 1, 1, 1]))
    scene.export(tmp_path / "mirrored.glb")
    image, _ = drawn(tmp_path / "mirrored.glb")
    assert (image[:, 3:13] == 0).all()
    assert (image[:, 19:29] > 50).all()


@pytest.mark.plan("scene-6")
def test_a_texture_around_the_mesh_goes_first(tmp_path):
    path = saved(tmp_path / "red.glb", square(-1, 1, baseColorFactor=(1.0, 0, 0, 1.0)))
    loaded = mesh.load(path)
    assert (Scene(*loaded[:2], 8, 8, materials=loaded.materials).face_colours == (255, 0, 0)).all()
    picture = tmp_path / "grey.png"
    Image.new("RGB", (4, 4), (90, 90, 90)).save(picture)
    out = tmp_path / "out"
    common = ["frame", str(path), "--golden", "--size", "64x48", "-o", str(out)]
    assert main(common) == 0
    red = np.asarray(Image.open(out / "frame.png"))
    assert main([*common, "--texture", str(picture)]) == 0
    grey = np.asarray(Image.open(out / "frame.png"))
    is_mesh = (red[..., 0] > 60) & (red[..., 1] == 0)
    assert is_mesh.any()
    assert np.ptp(grey[is_mesh].astype(int), axis=1).max() == 0


@pytest.mark.plan("scene-7")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["materials"][0].update(alphaMode="BLEND"), "transparency"),
        (
            lambda d: d["materials"][0].update(emissiveTexture={"index": 0}),
            "all of materials but base colours",
        ),
        (
            lambda d: base(d).update(metallicRoughnessTexture={"index": 0}),
            "all of materials but base colours",
        ),
        (
            lambda d: base(d)["baseColorTexture"].update(texCoord=1),
            "second coordinates and transforms of textures",
        ),
        (
            lambda d: base(d)["baseColorTexture"].update(
                extensions={"KHR_texture_transform": {"scale": [2, 2]}}
            ),
            "second coordinates and transforms of textures",
        ),
        (
            lambda d: d["materials"][0].update(extensions={"KHR_materials_unlit": {}}),
            "extensions of materials",
        ),
        (
            lambda d: attributes(d).update(COLOR_0=attributes(d)["POSITION"]),
            "colours of vertices",
        ),
        (lambda d: d.update(images=[{"uri": "none.png"}]), "textures that cannot be read"),
    ],
)
def test_what_is_left_out_is_one_line(change, words, tmp_path, capsys):
    picture = Image.new("RGB", (4, 4), (200, 100, 50))
    path = saved(tmp_path / "part.gltf", square(-1, 1, baseColorTexture=picture))
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    assert main(["frame", str(path), "--golden", "--size", "32x24", "-o", str(tmp_path / "o")]) == 0
    lines = capsys.readouterr().err.splitlines()
    told = [line for line in lines if "warning" in line]
    assert told == [f"fixfunc: warning: part.gltf: left out are {words}"]


def base(document):
    return document["materials"][0]["pbrMetallicRoughness"]


def attributes(document):
    return document["meshes"][0]["primitives"][0]["attributes"]


@pytest.mark.plan("scene-7")
def test_materials_of_other_faces_are_refused():
    materials = Materials(np.zeros(3, int), ((1, 2, 3),), (None,), np.zeros((3, 3, 2), np.float32))
    with pytest.raises(MeshError, match="materials must be those of 2 faces, not 3"):
        Scene(np.eye(4, 3), np.array([(0, 1, 2), (0, 2, 3)]), 8, 8, materials=materials)
