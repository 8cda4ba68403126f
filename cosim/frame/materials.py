# SPDX-License-Identifier: BSD-2-Clause
"""Base colours of glTF files: factors and textures, and what is left out of materials."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import trimesh

from fixfunc.models.output.formats import encoded
from fixfunc.models.scene.scene import Materials
from fixfunc.models.texture.block_decode import linear
from fixfunc.models.texture.texture import check_shape, of_picture

SUFFIXES = (".gltf", ".glb")
WHITE = (255, 255, 255)
BINARY = b"glTF"
HEAD = 20  # bytes of a binary file's header, and of that of its first chunk
SHADED = ("normalTexture", "occlusionTexture", "emissiveTexture")


def of_parts(parts: Sequence[tuple[trimesh.Trimesh, np.ndarray]]) -> Materials | None:
    """Base colours of meshes; None, if no part has a material.

    A factor is linear and a texture is not: their product is brought to bytes as pictures have
    them. Of a texture without coordinates, and of one that is no picture, the factor counts.

    Parameters
    ----------
    parts : sequence of (Trimesh, ndarray of int64, shape (m, 3))
        And their faces, in the order of corners that they are drawn in.
    """
    if not any(_material(part) for part, _ in parts):
        return None
    numbers = [np.full(len(faces), n) for n, (_, faces) in enumerate(parts)]
    known = {}  # of materials that parts share
    made = [_base(part, known) for part, _ in parts]
    coordinates = [_coordinates(part, faces) for part, faces in parts]
    return Materials(
        np.concatenate(numbers),
        tuple(colour for colour, _ in made),
        tuple(texture for _, texture in made),
        np.concatenate(coordinates).astype(np.float32),
    )


def _material(part):
    """A part's material; None, if it has none."""
    return getattr(part.visual, "material", None) if part.visual.defined else None


def _base(part, known):
    """A part's colour, and its texture if it has one; None and None without a material."""
    material = _material(part)
    if material is None:
        return None, None
    key = id(material), part.visual.uv is None
    if key not in known:
        known[key] = _made(material, part.visual.uv is None)
    return known[key]


def _made(material, is_plain):
    factor = material.baseColorFactor
    factor = np.array(WHITE if factor is None else factor[:3], np.int64)
    colour = tuple(int(byte) for byte in encoded(factor * 257))
    picture = material.baseColorTexture
    if picture is None or is_plain:
        return colour, None
    check_shape("RGBA8", *picture.size, 1, 1)
    texels = np.array(picture.convert("RGBA"))
    light = linear(texels)[..., :3].astype(np.int64)
    texels[..., :3] = encoded((light * factor + 127) // 255)
    return colour, of_picture(texels)


def _coordinates(part, faces):
    """Texture coordinates of corners: shape (m, 3, 2); trimesh's v runs upwards."""
    if getattr(part.visual, "uv", None) is None:
        return np.zeros((len(faces), 3, 2))
    return (np.asarray(part.visual.uv)[faces] * (1, -1)) + (0, 1)


def left_out(path: Path, materials: Materials | None) -> list[str]:
    """What a glTF file says of colours that is not drawn: words for a warning."""
    document = _document(path)
    found = document.get("materials", [])
    drawn = [found[n] for n in _used(document) if isinstance(n, int) and n < len(found)]
    bases = [material.get("pbrMetallicRoughness", {}) for material in drawn]
    textured = sum("baseColorTexture" in base for base in bases)
    held = len({id(texture) for texture in materials.textures if texture}) if materials else 0
    rows = (
        ("colours of vertices", any("COLOR_0" in its for its in _attributes(document))),
        ("transparency", any(m.get("alphaMode", "OPAQUE") != "OPAQUE" for m in drawn)),
        ("textures that cannot be read", held < textured),
        (
            "all of materials but base colours",
            any(name in material for material in drawn for name in SHADED)
            or any("metallicRoughnessTexture" in base for base in bases),
        ),
        (
            "second coordinates and transforms of textures",
            any(
                base["baseColorTexture"].get("texCoord", 0)
                or "extensions" in base["baseColorTexture"]
                for base in bases
                if "baseColorTexture" in base
            ),
        ),
        ("extensions of materials", any("extensions" in material for material in drawn)),
    )
    return [words for words, is_there in rows if is_there]


def _document(path):
    """The JSON of a file, which trimesh has read before."""
    data = path.read_bytes()
    if data[:4] == BINARY:
        data = data[HEAD : HEAD + int.from_bytes(data[12:16], "little")]
    return json.loads(data)


def _primitives(document) -> Iterator[dict]:
    for mesh in document.get("meshes", []):
        yield from mesh.get("primitives", [])


def _used(document):
    return {primitive["material"] for primitive in _primitives(document) if "material" in primitive}


def _attributes(document):
    return [primitive.get("attributes", {}) for primitive in _primitives(document)]
