# SPDX-License-Identifier: BSD-2-Clause
"""Frames of scenes: beside llvmpipe, through the top, and what the command says of them."""

import json

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.program.packets import ProgramJob
from fixfunc.cosim.program.recording import Recording
from fixfunc.cosim.reference import top
from fixfunc.cosim.scene import gltf
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.models.texture.sampler import Sampler
from fixfunc.models.texture.texture import of_picture
from fixfunc.rtl.top import CONFIGS
from fixfunc.spec.state import Cull
from tests.cosim.scene.writer import COORDINATES, SQUARE, UNLIT, Writer
from tests.machine.frames.scene import SIZE, Bound, Frame, Pass

EYE = np.array((1.5, 2.0, 5.0))
LENS = {"yfov": 0.7, "znear": 0.5, "zfar": 20.0}
TOWARDS = np.array((0.45, 0.75, 0.48)) / np.linalg.norm((0.45, 0.75, 0.48))
ENCODE = """
    light = clamp(light, 0.0, 1.0);
    vec3 bright = 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055;
    colour = vec4(mix(bright, 12.92 * light, lessThan(light, vec3(0.0031308))), 1.0);
"""
DECODE = """
    vec4 texel = texture(t0, a1.xy);
    vec3 light = mix(pow((texel.rgb + 0.055) / 1.055, vec3(2.4)), texel.rgb / 12.92,
                     lessThan(texel.rgb, vec3(0.04045))) * a0.rgb;
"""


def pattern():
    """A picture with holes: uint8, shape (16, 16, 4)."""
    picture = np.random.default_rng(4).integers(0, 256, (16, 16, 4), np.uint8)
    picture[..., 3] = np.where(np.add.outer(np.arange(16), np.arange(16)) % 3, 255, 0)
    return picture


def placed(shift, size=1.0, turn=0.0):
    """A matrix: size, then a turn around y, then a shift."""
    cosine, sine = np.cos(turn), np.sin(turn)
    out = np.eye(4)
    out[:3, :3] = np.array([(cosine, 0, sine), (0, 1, 0), (-sine, 0, cosine)]) * size
    out[:3, 3] = shift
    return out


PLACES = [placed((-1, 0, 0), 0.7, 0.5), placed((1.2, 0.5, -1), 1.0, -0.4), placed((0, -1, 1), 0.5)]
GROUND = placed((0, -1.5, 0), 4.0)
FLAT = np.float32([(-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)])
COLOURS = np.float32([(1, 0.2, 0.2), (0.2, 1, 0.2), (0.2, 0.2, 1), (1, 1, 0.2)])


def written(path):
    """Three masked squares of one mesh, lit ground of many colours, and a camera that looks."""
    writer = Writer()
    texture = writer.texture(pattern(), {"magFilter": 9728, "minFilter": 9728})
    base = {"pbrMetallicRoughness": {"baseColorTexture": {"index": texture}}}
    mesh = writer.mesh(material=base | UNLIT | {"alphaMode": "MASK"}, TEXCOORD_0=COORDINATES)
    for place in PLACES:
        writer.node(mesh=mesh, matrix=place.T.ravel().tolist())
    ground = writer.mesh(FLAT, COLOR_0=COLOURS, NORMAL=np.float32([(0, 1, 0)] * 4))
    writer.node(mesh=ground, matrix=GROUND.T.ravel().tolist())
    pose = np.eye(4)
    pose[:3, :3] = axes().T
    pose[:3, 3] = EYE
    writer.document["nodes"].append({"matrix": pose.T.ravel().tolist(), "camera": 0})
    writer.document["cameras"] = [{"type": "perspective", "perspective": LENS}]
    writer.document["scenes"] = [{"nodes": list(range(5))}]
    return writer.save(path)


def axes():
    """Right, up and back of a camera that looks at the origin, in rows."""
    back = EYE / np.linalg.norm(EYE)
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(back, right), back])


def clip(points, place):
    """Points in clip space, depths of 0 to 1 [glTF 2.0, 3.10.3; fs 3.3]: float32, shape (n, 4)."""
    world = points @ place[:3, :3].T + place[:3, 3]
    x, y, z = ((world - EYE) @ axes().T).T
    scale = 1 / np.tan(LENS["yfov"] / 2)
    near, far = LENS["znear"], LENS["zfar"]
    depth = (-z * far - near * far) / (far - near)
    return np.stack([x * scale * SIZE[1] / SIZE[0], y * scale, depth, -z], 1).astype(np.float32)


def oracle():
    """The same scene as vertices in clip space."""
    fan = [0, 1, 2, 0, 2, 3]
    sampler = Sampler("point", "point", "point", ("wrap", "wrap", "wrap"))
    texture = Bound(of_picture(pattern(), mips=False), sampler)
    white = np.ones((4, 4), np.float32)
    uv = np.pad(COORDINATES, ((0, 0), (0, 2)))
    discards = DECODE + "if (texel.a < 0.5) discard;" + ENCODE
    passes = []
    for place in PLACES:
        rows = np.concatenate([clip(SQUARE, place), white, uv], 1)
        passes.append(Pass(rows, len, discards, fan, [texture], cull=Cull.NONE))
    lit = np.ones((4, 4), np.float32)
    lit[:, :3] = COLOURS * (0.22 + 0.78 * TOWARDS[1])
    rows = np.concatenate([clip(FLAT, GROUND), lit], 1)
    passes.append(Pass(rows, len, "vec3 light = a0.rgb;" + ENCODE, fan))
    return Frame(passes, 1, (24 / 255, 26 / 255, 32 / 255, 1.0))


@pytest.mark.plan("scene-files-10")
def test_a_scene_is_llvmpipes(llvmpipe_frames, tmp_path):
    ours = Drawing(gltf.load(written(tmp_path / "s.glb"), SIZE[0] / SIZE[1]), *SIZE, 1).draw()
    theirs = llvmpipe_frames()(oracle())[..., :3]
    apart = np.abs(ours.astype(int) - theirs).max(2)
    # Edges of texels and of faces: places are computed in float32 twice.
    assert (apart > 2).mean() <= 0.001, ((apart > 2).sum(), apart.max())
    assert len(np.unique(ours.reshape(-1, 3), axis=0)) > 200
    assert (ours != ours[0, 0]).any(2).mean() > 0.2


@pytest.mark.plan("scene-files-11")
@pytest.mark.parametrize("samples", [1, 4])
def test_the_top_executes_every_draw(samples, tmp_path):
    """Its memory holds the samples that the machine has drawn."""
    writer = Writer()
    glass = {"pbrMetallicRoughness": {"baseColorFactor": [0.2, 0.5, 1, 0.5]}, "alphaMode": "BLEND"}
    mask = {"pbrMetallicRoughness": {"baseColorTexture": {"index": writer.texture(pattern())}}}
    writer.node(mesh=writer.mesh(material=glass), translation=[0.5, 0, 0.5])
    mesh = writer.mesh(material=mask | {"alphaMode": "MASK"}, TEXCOORD_0=COORDINATES)
    writer.node(mesh=mesh, scale=[0.8, -0.8, 1])
    writer.node(mesh=writer.mesh(material={}), translation=[0, 0, -1])
    drawing = Drawing(gltf.load(writer.save(tmp_path / "s.glb"), 1.5), 48, 32, samples)
    recording = Recording(drawing.device)
    drawing.draw()
    job = ProgramJob(recording, CONFIGS["frame"])
    assert not job.missing and job.executed == 3
    memory = job.data.copy()
    done = top.machine(CONFIGS["frame"], memory, shader=job.shader).draw(*job.start)
    assert not done.status["error"].any()
    words = np.ascontiguousarray(job.picture(memory, job.placed[-1].colour), "<u4")
    assert (words.view(np.uint8).reshape(32, 48, samples, 4) == drawing.samples()).all()
    assert len(np.unique(words)) > 20


@pytest.mark.plan("scene-files-12")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("materials", {"normalTexture": {"index": 0}}, "materials[0] 'wood': normalTexture"),
        ("materials", {"occlusionTexture": {"index": 0}}, "materials[0] 'wood': occlusionTexture"),
        (
            "materials",
            {"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": 0}}},
            "materials[0] 'wood': metallicRoughnessTexture",
        ),
        (
            "materials",
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
            "images[0]: a texture that cannot be read: s.glb: images[0].uri must be a file that "
            "exists, not none.png",
        ),
        ("nodes", {"skin": 0}, "nodes[0] 'wood': a skin"),
        ("meshes", {"primitives": [{"attributes": {}}]}, "meshes[0].primitives[1]: a primitive"),
        ("animations", {}, "animations[0] 'wood': an animation"),
        ("nodes", {}, "nodes[2]: a camera that does not look"),
        ("extensionsUsed", "KHR_lights_punctual", "extension KHR_lights_punctual"),
        ("scenes", {"nodes": [0]}, "2 nodes outside of the scene"),
    ],
)
def test_what_is_not_drawn_is_listed(name, value, words, tmp_path, capsys):
    writer = Writer()
    writer.node(mesh=writer.mesh(material={}))
    writer.look()
    writer.look()
    document = writer.document
    document["images"] = [{"uri": "none.png"}]
    document["textures"] = [{"source": 0}]
    if name in ("materials", "nodes"):
        document[name][0] |= value | {"name": "wood"}
    elif name == "meshes":
        document[name][0]["primitives"] += value["primitives"]
    else:
        document[name] = [value | {"name": "wood"} if isinstance(value, dict) else value]
    path = writer.save(tmp_path / "s.glb")
    assert main(["frame", str(path), "--golden", "--size", "16x8", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert any(line.startswith(words) for line in figures["left_out"]), figures["left_out"]
    assert f"left out: {words}" in capsys.readouterr().out


@pytest.mark.plan("scene-files-12")
def test_the_command_writes_a_picture_and_figures(tmp_path, capsys):
    path = written(tmp_path / "s.glb")
    options = ["--golden", "--size", "64x36", "--samples", "4", "-o", str(tmp_path)]
    assert main(["frame", str(path), *options]) == 0
    assert Image.open(tmp_path / "frame.png").size == (64, 36)
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert (figures["instances"], figures["draws"], figures["triangles"]) == (4, 4, 8)
    assert figures["left_out"] == [] and figures["failures"] == []
    said = "s.glb: 4 instances, 4 draws, 8 triangles; camera: of the scene\n"
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.plan("scene-files-12")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--camera", "1"], "s.glb: camera must be below the 1 of the scene, not 1"),
        (["--resolve"], "resolve must be of a mesh alone, no scene, not"),
        (["--patches", "4"], "patches must be of a mesh alone, no scene, not"),
        (["--divisions", "4"], "divisions must be those of the teapot alone, not 4, with"),
        (["--samples", "3"], "samples must be one of 1, 2, 4, 8, not 3"),
        (["--size", "0x9"], "width must lie in 1..16384, not 0"),
        (["--memory", "near"], "memory must be behind hardware, of which a golden frame has none"),
    ],
)
def test_options_of_a_scene(options, words, tmp_path, capsys):
    path = written(tmp_path / "s.glb")
    out = tmp_path / "out"
    assert main(["frame", str(path), "--golden", *options, "-o", str(out)]) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.plan("scene-files-12")
def test_a_texture_around_the_mesh_leaves_materials_out(tmp_path, capsys):
    Image.new("RGB", (4, 4), (90, 90, 90)).save(tmp_path / "grey.png")
    around = ["--texture", str(tmp_path / "grey.png"), "--golden", "--size", "64x36"]
    path = written(tmp_path / "s.glb")
    assert main(["frame", str(path), *around, "-o", str(tmp_path)]) == 0
    assert "materials and colours are left out" in capsys.readouterr().err
    image = np.asarray(Image.open(tmp_path / "frame.png")).astype(int)
    is_mesh = (image != image[0, 0]).any(2)
    assert is_mesh.any()
    assert np.ptp(image[is_mesh], axis=1).max() <= 8  # the background is a little blue at edges
