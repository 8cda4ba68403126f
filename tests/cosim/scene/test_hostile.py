# SPDX-License-Identifier: BSD-2-Clause
"""glTF files that break a rule, or ask for too much: file, field, rule and value are told."""

import json
import time

import numpy as np
import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.scene import gltf
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.spec.errors import InputError, MeshError
from tests.cosim.scene.writer import COORDINATES, SQUARE, Writer


def scene():
    """A square with a texture and a material, a child, and a camera."""
    writer = Writer()
    base = {"baseColorTexture": {"index": writer.texture(np.zeros((2, 2, 3), np.uint8), {})}}
    mesh = writer.mesh(material={"pbrMetallicRoughness": base}, TEXCOORD_0=COORDINATES)
    child = writer.node(mesh=mesh)
    writer.node(children=[child])
    writer.look()
    return writer


def instanced(count, **fields):
    """A change: the mesh stands at ``count`` places, of which the file has no bytes."""

    def change(document):
        value = {"componentType": 5126, "count": count, "type": "VEC3"} | fields
        document["accessors"].append(value)
        attributes = {"TRANSLATION": len(document["accessors"]) - 1}
        extensions = {"EXT_mesh_gpu_instancing": {"attributes": attributes}}
        document["nodes"][0]["extensions"] = extensions

    return change


def change(*path, to):
    """A change: what lies at a path becomes another value."""

    def changed(document):
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = to

    return changed


def primitive(*path, to):
    return change("meshes", 0, "primitives", 0, *path, to=to)


def few(document):
    """A change: two vertices, of which faces name four."""
    for accessor in document["accessors"][:2]:
        accessor["count"] = 2


BROKEN = [
    # Nodes.
    (change("nodes", 0, "children", to=[1]), "mesh file must hold a primitive"),
    (change("nodes", 1, "children", to=[0, 0]), "nodes[1].nodes must name each node once"),
    (change("nodes", 1, "children", to=[7]), "nodes[1].children must be a whole number in 0..2"),
    (change("scenes", to=[{"nodes": [0, 1]}]), "nodes[1].nodes must name each node once"),
    (change("scenes", to=[{}]), "mesh file must hold a primitive"),
    (change("scenes", to=[{"nodes": [9]}]), "scenes[0].nodes must be a whole number in 0..2"),
    (change("nodes", 0, "matrix", to=[1] * 15), "nodes[0].matrix must hold 16 numbers, not 15"),
    (change("nodes", 0, "scale", to=[float("nan")] * 3), "nodes[0].scale must be a finite number"),
    (change("nodes", 0, "scale", to=[1e39] * 3), "nodes[0].scale must be a finite number"),
    (change("nodes", 0, "scale", to=["1"] * 3), "nodes[0].scale must be a finite number, not 1"),
    (change("nodes", 0, "rotation", to=[0] * 4), "nodes[0].rotation must be a quaternion above 0"),
    (change("nodes", 0, "mesh", to=-1), "nodes[0].mesh must be a whole number in 0..0, not -1"),
    (change("nodes", 0, "mesh", to=True), "nodes[0].mesh must be a whole number"),
    (change("nodes", 0, to=None), "nodes[0] must be an object, not NoneType"),
    (change("nodes", to={}), "nodes must be a list, not dict"),
    # Cameras.
    (change("cameras", 0, "type", to="fish"), "cameras[0].type must be one of perspective"),
    (change("cameras", 0, "orthographic", "ymag", to=0), "orthographic.ymag must be above 0"),
    (change("cameras", 0, "orthographic", "zfar", to=0), "zfar must be above znear, 0.0, not 0.0"),
    (change("nodes", 2, "scale", to=[0, 1, 1]), "cameras[0] must stand at a node with three axes"),
    # Bytes.
    (change("buffers", 0, "byteLength", to=1 << 30), "buffers[0].byteLength must be at most"),
    (change("bufferViews", 1, "byteLength", to=1 << 30), "bufferViews[1].byteLength must end"),
    (change("bufferViews", 1, "byteOffset", to=1 << 39), "bufferViews[1].byteLength must end"),
    (change("bufferViews", 1, "buffer", to=4), "bufferViews[1].buffer must be a whole number"),
    (change("bufferViews", 1, "byteStride", to=0), "bufferViews[1].byteStride must be a whole"),
    (change("accessors", 0, "count", to=1000), "accessors[0].count must end within bufferViews[1]"),
    (change("accessors", 0, "count", to=1 << 23), "accessors[0].count must bring numbers that"),
    (change("accessors", 0, "count", to=0), "accessors[0].count must be a whole number in 1.."),
    (change("accessors", 0, "byteOffset", to=-4), "accessors[0].byteOffset must be a whole number"),
    (change("accessors", 0, "byteOffset", to=4), "accessors[0].count must end within"),
    (change("accessors", 0, "componentType", to=5124), "componentType must be one of [5120"),
    (change("accessors", 0, "type", to="MAT4"), "accessors[0].type must be one of VEC3, not MAT4"),
    (change("accessors", 0, "sparse", to={"count": 5}), "sparse.count must be a whole number in"),
    # Primitives.
    (primitive("mode", to=7), "primitives[0].mode must be a whole number in 0..6, not 7"),
    (primitive("attributes", "POSITION", to=99), "attributes.POSITION must be a whole number"),
    (primitive("attributes", "TEXCOORD_0", to=2), "accessors[2].type must be one of VEC2"),
    (primitive("indices", to=0), "accessors[0].type must be one of SCALAR"),
    (change("accessors", 0, "count", to=2), "attributes.TEXCOORD_0 must hold the 2 of POSITION"),
    (few, "primitives[0].indices must name vertices below 2, not 3"),
    (change("accessors", 2, "componentType", to=5122), "indices must be integers without a sign"),
    # Materials.
    (change("materials", 0, "alphaMode", to="GLOW"), "materials[0].alphaMode must be one of"),
    (change("materials", 0, "doubleSided", to=1), "doubleSided must be true or false, not 1"),
    (change("samplers", 0, "wrapS", to=1), "samplers[0].wrapS must be one of [10497"),
    (change("textures", 0, "source", to=5), "textures[0].source must be a whole number"),
    (primitive("material", to=1), "primitives[0].material must be a whole number in 0..0"),
    # Instances.
    (instanced((1 << 20) + 1), "attributes must hold at most 1048576 instances"),
    (instanced(1 << 40), "count must bring numbers that are read to"),
    (instanced(4, type="VEC4"), "type must be one of VEC3, not VEC4"),
    (instanced(4, bufferView=99), "bufferView must be a whole number"),
    # The whole.
    (change("asset", to={}), "asset.version must be 2, or 2 and a minor one, not ''"),
    (change("asset", "version", to="1.0"), "asset.version must be 2"),
    (change("extensionsRequired", to=["KHR_draco"]), "extensionsRequired must be of EXT_mesh"),
    (change("meshes", to=[]), "nodes[0].mesh must name what is there, not 0"),
]


@pytest.mark.plan("scene-files-8")
@pytest.mark.parametrize(("changed", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_what_breaks_a_rule_is_told(changed, words, tmp_path, capsys):
    writer = scene()
    writer.document["buffers"] = [{"byteLength": len(writer.data)}]
    changed(writer.document)
    path = writer.save(tmp_path / "broken.glb")
    with pytest.raises(MeshError) as caught:
        gltf.load(path, 1.0)
    assert words in str(caught.value)
    assert "broken.glb" in str(caught.value)
    out = tmp_path / "out"
    assert main(["frame", str(path), "--golden", "--size", "8x8", "-o", str(out)]) == 2
    assert capsys.readouterr().err == f"fixfunc: {caught.value}\n"
    assert not out.exists()


@pytest.mark.plan("scene-files-8")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "text must be JSON"),
        (b"{", "text must be JSON"),
        (b"[]", "JSON must be an object, not list"),
        (b"[" * 100000, "text must be JSON"),
        (b"\xff\xfe", "text must be JSON"),
        (b"glTF", "text must be JSON"),
        (b"glTF" + bytes(8) + b"\xff\xff\xff\x7fJSON", "chunk must end within the file"),
    ],
)
def test_files_that_are_none(data, words, tmp_path):
    path = tmp_path / "broken.gltf"
    path.write_bytes(data)
    with pytest.raises(MeshError, match=words):
        gltf.load(path, 1.0)


@pytest.mark.plan("scene-files-8")
@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("none.bin", "be a file that exists"),
        ("http://example.com/a.bin", "be a file beside this one"),
        ("/dev/zero", "be a file beside this one"),
        ("../../../../../../../dev/zero", "be a file that exists"),
        (".", "be a file that exists"),
        ("data:,abc", "be data of base64"),
        ("data:;base64,???", "be data of base64"),
        ("data:;base64,AAAA", "be at most the 3 of its data"),
    ],
)
def test_buffers_that_are_not_beside_the_file(uri, rule, tmp_path):
    writer = scene()
    writer.document["buffers"] = [{"byteLength": len(writer.data), "uri": uri}]
    (tmp_path / "broken.gltf").write_text(json.dumps(writer.document))
    with pytest.raises(InputError, match=rule) as caught:
        gltf.load(tmp_path / "broken.gltf", 1.0)
    assert "broken.gltf: buffers[0]" in str(caught.value)


@pytest.mark.plan("scene-files-9")
def test_much_of_everything_is_refused_soon(tmp_path):
    """A thousand nodes of a million instances each; a chain of nodes that is long is no harm."""
    start = time.monotonic()
    writer = Writer()
    mesh = writer.mesh()
    value = {"componentType": 5126, "count": 1 << 20, "type": "VEC3"}
    number = writer.append("accessors", value)
    extensions = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": number}}}
    for _ in range(1000):
        writer.node(mesh=mesh, extensions=extensions)
    with pytest.raises(MeshError, match="bring corners of all instances to 16777216 at most"):
        gltf.load(writer.save(tmp_path / "many.glb"), 1.0)
    writer = Writer()
    mesh = writer.mesh()
    writer.document["nodes"] = [{"children": [n + 1]} for n in range(20000)] + [{"mesh": mesh}]
    assert len(gltf.load(writer.save(tmp_path / "deep.glb"), 1.0).placed) == 1
    writer.document["nodes"] = [{"mesh": mesh}] * 20000
    with pytest.raises(MeshError, match="bring primitives of all nodes to 4096 at most"):
        gltf.load(writer.save(tmp_path / "wide.glb"), 1.0)
    assert time.monotonic() - start < 60


@pytest.mark.plan("scene-files-9")
def test_blended_instances_take_few_draws(tmp_path, monkeypatch):
    """Those of one mesh that follow each other are one; more than the limit are refused."""
    writer = Writer()
    for z in (0, 1):
        shifts = writer.accessor(np.float32([(0, 0, n + z / 2) for n in range(1000 if z else 9)]))
        extensions = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": shifts}}}
        writer.node(mesh=writer.mesh(material={"alphaMode": "BLEND"}), extensions=extensions)
    scene = gltf.load(writer.save(tmp_path / "many.glb"), 1.0)
    drawing = Drawing(scene, 8, 8, 1)
    drawing.draw()
    assert (drawing.draws, drawing.triangles) == (18, 2018)
    monkeypatch.setattr("fixfunc.cosim.scene.drawing.MOST_DRAWS", 17)
    with pytest.raises(MeshError, match="blended instances in order must take at most 17 draws"):
        Drawing(scene, 8, 8, 1).draw()


@pytest.mark.plan("scene-files-9")
def test_vertices_that_are_not_finite_are_left_out(tmp_path, capsys):
    points = np.concatenate([SQUARE, np.float32([(np.nan, 0, 0), (np.inf, 0, 0)])])
    writer = Writer()
    indices = np.uint16([0, 1, 2, 0, 2, 4, 0, 2, 5])
    writer.node(mesh=writer.mesh(points, indices))
    path = writer.save(tmp_path / "odd.glb")
    assert main(["frame", str(path), "--golden", "--size", "16x16", "-o", str(tmp_path)]) == 0
    words = "left out: meshes[0].primitives[0]: 2 vertices that are not finite\n"
    assert words in capsys.readouterr().out
