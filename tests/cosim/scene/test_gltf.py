# SPDX-License-Identifier: BSD-2-Clause
"""Scenes of glTF files, drawn: places, cameras, colours, textures, modes [glTF 2.0]."""

import base64
import json

import numpy as np
import pytest

from fixfunc.cosim.scene import gltf
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.models.texture import container
from fixfunc.models.texture.texture import of_picture
from tests.cosim.scene.writer import COORDINATES, FACES, SQUARE, UNLIT, Writer
from tests.texture.container.test_container import ktx2

SIZE = 32
BACKGROUND = (24, 26, 32)
RED = {"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}} | UNLIT
GLASS = {"alphaMode": "BLEND"} | UNLIT
GREEN = {"pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1]}} | UNLIT


def drawn(path, width=SIZE, height=SIZE, samples=1, **how):
    """A picture of a file: uint8, shape (height, width, 3)."""
    return Drawing(gltf.load(path, width / height, **how), width, height, samples).draw()


def picture(writer, tmp_path, *size):
    return drawn(writer.save(tmp_path / "scene.glb"), *size)


def shown(light):
    """A byte of linear light [IEC 61966-2-1]."""
    light = np.asarray(light, float)
    return 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def covered(image):
    """Pixels that are not background."""
    return (image != BACKGROUND).any(2)


@pytest.mark.plan("scene-files-1")
def test_nodes_stand_where_their_parents_put_them(tmp_path):
    """Sizes, turns and shifts of a chain; a matrix by columns; a mirrored one is not culled."""
    writer = Writer()
    single = RED | {"doubleSided": False}
    mesh = writer.mesh(material=single)
    half = float(np.sqrt(0.5))
    # A quarter turn around z, then half of the size along x: of a child half as wide.
    child = writer.node(mesh=mesh, scale=[0.5, 1, 1])
    writer.node(children=[child], rotation=[0, 0, half, half], scale=[0.5, 0.5, 1])
    writer.look()
    found = covered(picture(writer, tmp_path))
    wanted = np.zeros((SIZE, SIZE), bool)
    wanted[12:20, 8:24] = True  # 0.25 high and 0.5 wide on either side: turned
    assert (found == wanted).all()

    writer = Writer()
    mesh = writer.mesh(material=single)
    matrix = np.diag([-0.25, 0.25, 1, 1])
    matrix[:3, 3] = (0.5, -0.5, 0)
    writer.node(mesh=mesh, matrix=matrix.T.ravel().tolist())
    writer.look()
    wanted[:] = False
    wanted[20:28, 20:28] = True
    assert (covered(picture(writer, tmp_path)) == wanted).all()


@pytest.mark.plan("scene-files-1")
def test_one_mesh_by_many_nodes_and_instances(tmp_path):
    """Two nodes of one mesh, and instances of another, of which one is mirrored."""
    writer = Writer()
    mesh = writer.mesh(material=RED | {"doubleSided": False})
    for x in (-0.75, 0.75):
        writer.node(mesh=mesh, translation=[x, 0.75, 0], scale=[0.125, 0.125, 1])
    other = writer.mesh(material=GREEN | {"doubleSided": False})
    places = np.float32([(-0.75, -0.75, 0), (0, 0, 0), (0.75, -0.75, 0)])
    sizes = np.float32([(0.125, 0.125, 1), (0.25, 0.25, 1), (-0.125, 0.125, 1)])
    attributes = {"TRANSLATION": writer.accessor(places), "SCALE": writer.accessor(sizes)}
    instancing = {"EXT_mesh_gpu_instancing": {"attributes": attributes}}
    writer.node(mesh=other, extensions=instancing)
    writer.look()
    image = picture(writer, tmp_path)
    wanted = np.zeros((SIZE, SIZE), int)
    wanted[2:6, 2:6] = wanted[2:6, 26:30] = 1
    wanted[26:30, 2:6] = wanted[26:30, 26:30] = wanted[12:20, 12:20] = 2
    assert ((image == (255, 0, 0)).all(2) == (wanted == 1)).all()
    assert ((image == (0, 255, 0)).all(2) == (wanted == 2)).all()


@pytest.mark.plan("scene-files-2")
@pytest.mark.parametrize("far", [None, 20.0])
def test_a_camera_sees_what_its_lens_says(far, tmp_path):
    """A square at 4 from an eye that looks along x: its sides are tan(yfov / 2) away."""
    lens = {"yfov": 2 * np.arctan(0.5), "znear": 3.0} | ({"zfar": far} if far else {})
    writer = Writer()
    half = float(np.sqrt(0.5))
    writer.node(mesh=writer.mesh(material=RED), rotation=[0, half, 0, half], translation=[5, 3, 2])
    camera = {"type": "perspective", "perspective": lens}
    # Minus z of the camera becomes plus x: a quarter turn around minus y. A size does not count.
    writer.look(camera, translation=[1, 3, 2], rotation=[0, -half, 0, half], scale=[3, 3, 3])
    found = covered(picture(writer, tmp_path, 64, 32))
    wanted = np.zeros((32, 64), bool)
    wanted[8:24, 24:40] = True
    assert (found == wanted).all()


@pytest.mark.plan("scene-files-2")
def test_cameras_by_number_and_without_one(tmp_path):
    writer = Writer()
    writer.node(mesh=writer.mesh(material=RED), scale=[0.5, 0.5, 1])
    assert covered(picture(writer, tmp_path)).any()
    writer.look()
    writer.look(translation=[1, 0, 1])
    writer.look(scale=[2, 3, 4])  # which does not count
    path = writer.save(tmp_path / "scene.glb")
    assert covered(drawn(path))[:, 8:24].sum() == 256
    found = covered(drawn(path, camera=1))
    assert found[8:24, :8].all() and not found[:, 8:].any()
    assert (drawn(path, camera=2) == drawn(path)).all()
    with pytest.raises(ValueError, match="camera must be below the 3 of the scene, not 3"):
        gltf.load(path, 1.0, 3)


@pytest.mark.plan("scene-files-3")
def test_factors_and_vertex_colours_multiply_in_linear_light(tmp_path):
    factor = (0.5, 0.25, 1.0, 1.0)
    for colours, share in (
        (np.float32([(0.5, 1.0, 0.25)] * 4), (0.5, 1.0, 0.25)),
        (np.uint8([(51, 255, 102, 255)] * 4), (0.2, 1.0, 0.4)),
        (np.uint16([(13107, 65535, 26214, 65535)] * 4), (0.2, 1.0, 0.4)),
    ):
        writer = Writer()
        base = {"pbrMetallicRoughness": {"baseColorFactor": factor}}
        mesh = writer.mesh(material=base | UNLIT, COLOR_0=colours)
        if colours.dtype.kind == "u":
            primitive = writer.document["meshes"][mesh]["primitives"][0]
            writer.document["accessors"][primitive["attributes"]["COLOR_0"]]["normalized"] = True
        writer.node(mesh=mesh)
        writer.look()
        image = picture(writer, tmp_path)
        wanted = shown(np.array(factor[:3]) * share)
        assert np.abs(image - wanted).max() <= 1


@pytest.mark.plan("scene-files-3")
@pytest.mark.parametrize("normal", [(0, 0, 1), None])
def test_light_falls_on_both_sides(normal, tmp_path):
    """By normals of vertices, and of faces; they do not follow a size, and turn with the back."""
    towards = np.array((0.45, 0.75, 0.48)) / np.linalg.norm((0.45, 0.75, 0.48))
    angle = np.radians(40)
    for back in ([0, 0, 0, 1], [0, 1, 0, 0]):
        writer = Writer()
        attributes = {} if normal is None else {"NORMAL": np.float32([normal] * 4)}
        mesh = writer.mesh(material={"doubleSided": True}, **attributes)
        seen = writer.node(mesh=mesh, rotation=back)
        turn = [-np.sin(angle / 2), 0, 0, np.cos(angle / 2)]
        tilted = writer.node(children=[seen], rotation=turn)
        writer.node(children=[tilted], scale=[2, 2, 1])
        writer.look(translation=[0, 0, 2])
        image = picture(writer, tmp_path)
        # The plane z = y tan(angle) becomes z = y tan(angle) / 2.
        facing = np.array((0, np.tan(angle) / 2, 1))
        cosine = facing @ towards / np.linalg.norm(facing)
        assert np.abs(image[16, 16] - shown(0.22 + 0.78 * cosine)).max() <= 1, back


CHECKS = np.zeros((4, 4, 4), np.uint8)
CHECKS[..., 3] = 255
CHECKS[:2, :2] = (255, 0, 0, 255)
CHECKS[2:, 2:] = (40, 200, 120, 255)


@pytest.mark.plan("scene-files-4")
@pytest.mark.parametrize("kind", ["png", "dds", "ktx2", "uri", "file"])
def test_textures_lie_as_their_coordinates_say(kind, tmp_path):
    """Rows downwards; of every kind of file, embedded, as data, and beside the scene."""
    writer = Writer()
    nearest = {"magFilter": 9728, "minFilter": 9728}
    held = CHECKS
    if kind in ("dds", "ktx2"):
        held = contained(kind, tmp_path)
    number = writer.texture(held, nearest)
    if kind in ("uri", "file"):
        image = writer.document["images"][0]
        view = writer.document["bufferViews"][image.pop("bufferView")]
        data = writer.data[view["byteOffset"] :][: view["byteLength"]]
        (tmp_path / "a picture.png").write_bytes(data)
        text = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        image["uri"] = text if kind == "uri" else "a%20picture.png"
    base = {"pbrMetallicRoughness": {"baseColorTexture": {"index": number}}}
    writer.node(mesh=writer.mesh(material=base | UNLIT, TEXCOORD_0=COORDINATES))
    writer.look()
    image = picture(writer, tmp_path)
    wanted = CHECKS.repeat(8, 0).repeat(8, 1)[..., :3]
    assert np.abs(image.astype(int) - wanted).max() <= 1


def contained(kind, tmp_path):
    """The picture in a container: bytes."""
    if kind == "dds":
        container.write_dds(tmp_path / "it.dds", of_picture(CHECKS, mips=False))
        return (tmp_path / "it.dds").read_bytes()
    return ktx2(of_picture(CHECKS, mips=False), 43)


@pytest.mark.plan("scene-files-4")
def test_transforms_second_coordinates_and_wrapping(tmp_path):
    """A quarter turn, half of the size and a shift, of the second coordinates; mirrored beyond."""
    writer = Writer()
    sampler = {"magFilter": 9728, "minFilter": 9728, "wrapS": 33648, "wrapT": 33071}
    texture = {"index": writer.texture(CHECKS, sampler), "texCoord": 1}
    scaled = COORDINATES * 2 - np.float32(0.5)
    base = {"pbrMetallicRoughness": {"baseColorTexture": texture}} | UNLIT
    mesh = writer.mesh(material=base, TEXCOORD_0=COORDINATES, TEXCOORD_1=scaled)
    writer.node(mesh=mesh)
    writer.look()
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE * 2 - 0.5
    mirrored = np.where(x < 0, -x, np.where(x > 1, 2 - x, x))
    wanted = CHECKS[(np.clip(y, 0, 0.999) * 4).astype(int), (mirrored * 4).astype(int), :3]
    assert np.abs(picture(writer, tmp_path).astype(int) - wanted).max() <= 1

    turn = {"rotation": np.pi / 2, "scale": [0.5, 1], "offset": [0.25, 0], "texCoord": 0}
    texture["extensions"] = {"KHR_texture_transform": turn}
    # [KHR_texture_transform]: shift times turn times size; the turn takes (u, v) to (v, -u).
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    u, v = y + 0.25, -0.5 * x
    mirrored = np.where(u > 1, 2 - u, u)
    wanted = CHECKS[(np.clip(v, 0, 0.999) * 4).astype(int), (mirrored * 4).astype(int), :3]
    assert np.abs(picture(writer, tmp_path).astype(int) - wanted).max() <= 1


@pytest.mark.plan("scene-files-5")
def test_alpha_masks_blends_or_does_not_count(tmp_path):
    alpha = np.full((2, 2, 4), 255, np.uint8)
    alpha[0, :, 3] = 102
    for mode, cutoff, top, low in (
        ("OPAQUE", None, 1.0, 1.0),
        ("MASK", None, 0.0, 1.0),
        ("MASK", 0.4, 1.0, 1.0),
        ("MASK", 0.41, 0.0, 1.0),
        ("BLEND", None, 0.4, 1.0),
    ):
        writer = Writer()
        texture = writer.texture(alpha, {"magFilter": 9728, "minFilter": 9728})
        material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": texture}}} | UNLIT
        material["alphaMode"] = mode
        if cutoff is not None:
            material["alphaCutoff"] = cutoff
        writer.node(mesh=writer.mesh(material=material, TEXCOORD_0=COORDINATES))
        writer.look()
        image = picture(writer, tmp_path)
        for rows, share in ((slice(0, 16), top), (slice(16, 32), low)):
            wanted = 255 * share + (1 - share) * np.array(BACKGROUND)
            assert np.abs(image[rows] - wanted).max() <= 1, (mode, cutoff)


@pytest.mark.plan("scene-files-5")
def test_blended_surfaces_come_from_far_to_near(tmp_path):
    """Whatever their order in the file, among nodes and instances, behind what is opaque."""
    layers = ((0.2, (1, 0, 0, 0.5)), (-0.4, (0, 0, 1, 0.5)), (-0.1, (0, 1, 0, 0.5)))
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        writer = Writer()
        for n in order:
            z, factor = layers[n]
            material = GLASS | {"pbrMetallicRoughness": {"baseColorFactor": factor}}
            writer.node(mesh=writer.mesh(material=material), translation=[0, 0, z])
        writer.node(mesh=writer.mesh(material=UNLIT), translation=[0, 0, -1])
        writer.look()
        wanted = np.full(3, 255.0)
        for _, factor in sorted(layers):
            wanted = 0.5 * 255 * np.array(factor[:3]) + 0.5 * wanted
        # Each blend is rounded to a byte.
        assert np.abs(picture(writer, tmp_path) - wanted).max() <= 2


@pytest.mark.plan("scene-files-5")
def test_blended_surfaces_hide_nothing(tmp_path):
    """A tilted one, half of which is in front of a later one; instances one by one."""
    writer = Writer()
    red, blue = (
        GLASS | {"pbrMetallicRoughness": {"baseColorFactor": colour}}
        for colour in ((1, 0, 0, 0.5), (0, 0, 1, 0.5))
    )
    turn = [0, float(np.sin(0.15)), 0, float(np.cos(0.15))]
    writer.node(mesh=writer.mesh(material=red), rotation=turn, scale=[2, 2, 1])
    writer.node(mesh=writer.mesh(material=blue), translation=[0, 0, 0.1])
    writer.look(translation=[0, 0, 2])
    wanted = np.array((63.75, 0, 127.5)) + 0.25 * np.array(BACKGROUND)
    assert np.abs(picture(writer, tmp_path) - wanted).max() <= 2

    writer = Writer()
    base = {"pbrMetallicRoughness": {"baseColorFactor": (1, 1, 1, 0.5)}}
    places = np.float32([(-0.5, 0.5, 0), (0.5, 0.5, 0.1), (0.5, -0.5, 0.2)])
    sizes = np.float32([(0.5, 0.5, 1)] * 3)
    attributes = {"TRANSLATION": writer.accessor(places), "SCALE": writer.accessor(sizes)}
    instancing = {"EXT_mesh_gpu_instancing": {"attributes": attributes}}
    writer.node(mesh=writer.mesh(material=GLASS | base), extensions=instancing)
    writer.look()
    image = picture(writer, tmp_path)
    once = 127.5 + 0.5 * np.array(BACKGROUND)
    assert np.abs(image[:16] - once).max() <= 1
    assert np.abs(image[16:, 16:] - once).max() <= 1
    assert (image[16:, :16] == BACKGROUND).all()


@pytest.mark.plan("scene-files-6")
@pytest.mark.parametrize(
    ("mode", "indices"),
    [
        (4, FACES),
        (4, np.uint8([*FACES, 1])),
        (5, np.uint32([0, 1, 3, 2])),
        (6, np.uint16([0, 1, 2, 3])),
        (6, None),
    ],
)
def test_strips_and_fans_are_triangles(mode, indices, tmp_path):
    """All faces are seen from the front; a corner too many is left."""
    writer = Writer()
    material = RED | {"doubleSided": False}
    writer.node(mesh=writer.mesh(indices=indices, mode=mode, material=material))
    writer.look()
    assert (picture(writer, tmp_path) == (255, 0, 0)).all()


@pytest.mark.plan("scene-files-6")
@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_points_and_lines(mode, tmp_path):
    """Corners of a square between pixels' centres: points alone, two lines, a loop, a strip."""
    writer = Writer()
    points = SQUARE * np.float32(0.5) + np.float32((1 / 32, -1 / 32, 0))
    writer.node(mesh=writer.mesh(points, None, RED, mode))
    writer.look()
    found = covered(picture(writer, tmp_path))
    low, high = 8, 24
    sides = {
        "bottom": found[high, low + 1 : high],
        "right": found[low + 1 : high, high],
        "top": found[low, low + 1 : high],
        "left": found[low + 1 : high, low],
    }
    there = {0: (), 1: ("bottom", "top"), 2: tuple(sides), 3: ("bottom", "right", "top")}[mode]
    for name, pixels in sides.items():
        assert pixels.all() if name in there else not pixels.any(), name
    assert found.any()


@pytest.mark.plan("scene-files-7")
def test_numbers_in_rows_and_sparse(tmp_path):
    """Positions among other bytes of a row, of which one is replaced; buffers as data."""
    writer = Writer()
    rows = np.zeros((4, 5), np.float32)
    rows[:, 1:4] = SQUARE
    rows[2] = 99
    mesh = writer.mesh(material=RED)
    position = writer.document["accessors"][0]
    position["bufferView"] = writer.view(rows.tobytes(), byteStride=20)
    position["byteOffset"] = 4
    position["sparse"] = {
        "count": 1,
        "indices": {"bufferView": writer.view(b"\2"), "componentType": 5121},
        "values": {"bufferView": writer.view(SQUARE[2].tobytes())},
    }
    writer.node(mesh=mesh)
    writer.look()
    assert covered(picture(writer, tmp_path)).all()
    uri = f"data:application/octet-stream;base64,{base64.b64encode(writer.data).decode()}"
    writer.document["buffers"] = [{"byteLength": len(writer.data), "uri": uri}]
    (tmp_path / "scene.gltf").write_text(json.dumps(writer.document))
    assert covered(drawn(tmp_path / "scene.gltf")).all()


@pytest.mark.plan("scene-files-7")
def test_emissive_light_is_added(tmp_path):
    writer = Writer()
    black = {"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1]}}
    texture = writer.texture(CHECKS, {"magFilter": 9728, "minFilter": 9728})
    material = black | {"emissiveFactor": [1, 0.5, 0.25], "emissiveTexture": {"index": texture}}
    writer.node(mesh=writer.mesh(material=material, TEXCOORD_0=COORDINATES))
    writer.look()
    image = picture(writer, tmp_path)
    light = ((CHECKS[3, 3, :3] / 255 + 0.055) / 1.055) ** 2.4 * (1, 0.5, 0.25)
    assert np.abs(image[20:, 20:] - shown(light)).max() <= 1
    assert (image[:12, :12] == (255, 0, 0)).all()
