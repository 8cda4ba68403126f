# SPDX-License-Identifier: BSD-2-Clause
"""Materials of glTF files: what of them is drawn, and in words what is not [glTF 2.0, 3.9]."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.scene import textures
from fixfunc.cosim.scene.document import Document
from fixfunc.cosim.scene.item import Item
from fixfunc.cosim.scene.scene import Bound, Material
from fixfunc.models.host.states import SamplerState
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

TRANSFORM = "KHR_texture_transform"
UNLIT = "KHR_materials_unlit"
SOURCES = "MSFT_texture_dds", "KHR_texture_basisu"  # extensions that name another image
MOST_BYTES = 1 << 30  # of all textures
_NOT_DRAWN = ("normalTexture", "occlusionTexture")
_WRAPS = {33071: "clamp", 33648: "mirror", 10497: "wrap"}
_MAGNIFY = {9728: "point", 9729: "linear"}
_MINIFY = {
    9728: ("point", None),
    9729: ("linear", None),
    9984: ("point", "point"),
    9985: ("linear", "point"),
    9986: ("point", "linear"),
    9987: ("linear", "linear"),
}
# Where a sampler names no filter, the choice is ours [glTF 2.0, 3.8.4].
_ANISOTROPY = 8


class Coordinates(NamedTuple):
    """Which coordinates a texture has, and their transform."""

    name: str  # of the attribute
    turn: np.ndarray  # float32, shape (2, 2)
    shift: np.ndarray  # float32, shape (2,)


class Materials:
    """Materials of a file, each made once.

    Parameters
    ----------
    document : Document

    Attributes
    ----------
    left_out : Counter of str
        What is not drawn, and how often.
    """

    def __init__(self, document: Document) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = document
        self._made: dict[str, tuple] = {}
        self._textures: dict[str, Texture | None] = {}
        self._bytes = 0

    def leave_out(self, item: Item, what: str) -> None:
        """Note what of an object is not drawn."""
        self.left_out[f"{item.label}: {what}"] += 1

    def of(self, primitive: Item) -> tuple[Material, Coordinates | None, Coordinates | None]:
        """A primitive's material, and coordinates of its base and its emissive texture."""
        item = self._document.named(primitive, "material")
        if item is None:
            return Material(), None, None
        if item.place not in self._made:
            self._made[item.place] = self._material(item)
        return self._made[item.place]

    def _material(self, item):
        surface = item.within("pbrMetallicRoughness")
        for name in _NOT_DRAWN:
            if name in item:
                self.leave_out(item, name)
        if "metallicRoughnessTexture" in surface:
            self.leave_out(item, "metallicRoughnessTexture")
        base, base_coordinates = self._bound(surface, "baseColorTexture")
        emissive, emissive_coordinates = self._bound(item, "emissiveTexture")
        material = Material(
            surface.numbers("baseColorFactor", (1, 1, 1, 1)),
            base,
            item.numbers("emissiveFactor", (0, 0, 0)),
            emissive,
            item.text("alphaMode", "OPAQUE", ("OPAQUE", "MASK", "BLEND")),
            item.number("alphaCutoff", 0.5),
            item.flag("doubleSided"),
            UNLIT not in item.within("extensions"),
        )
        return material, base_coordinates, emissive_coordinates

    def _bound(self, item, name):
        """A texture with its sampler, and its coordinates; None and None without one."""
        info = item.item(name)
        if info is None:
            return None, None
        texture = self._document.named(info, "index", "textures")
        if texture is None:
            raise info.refusal("index", "be there", None)
        found = self._texture(texture)
        if found is None:
            return None, None
        transform = info.within("extensions", TRANSFORM)
        number = transform.integer("texCoord", info.integer("texCoord", 0))
        turn, shift = _transform(transform)
        return Bound(found, self._sampler(texture)), Coordinates(f"TEXCOORD_{number}", turn, shift)

    def _texture(self, texture):
        """Its texels, read once; None for what cannot be read, which is noted."""
        extensions = texture.within("extensions")
        held = [extensions.item(name) for name in SOURCES if name in extensions]
        image = self._document.named(held[0] if held else texture, "source", "images")
        if image is None:
            self.leave_out(texture, "a texture without an image")
            return None
        if image.place not in self._textures:
            self._textures[image.place] = self._read(image)
        return self._textures[image.place]

    def _read(self, image):
        view = self._document.named(image, "bufferView")
        try:
            held = self._document.resource(image) if view is None else self._document.bytes_of(view)
            found = textures.read(image.place, bytes(held))
        except InputError as error:
            self.leave_out(image, f"a texture that cannot be read: {error}")
            return None
        self._bytes += sum(level.nbytes for level in found.levels)
        if self._bytes > MOST_BYTES:
            rule = f"be of at most {MOST_BYTES} bytes with those before it"
            raise image.refusal("", rule, self._bytes)
        return found

    def _sampler(self, texture):
        item = self._document.named(texture, "sampler") or Item(texture.file, "", {})
        wraps = [_one_of(item, name, _WRAPS, 10497) for name in ("wrapS", "wrapT")]
        magnify = _one_of(item, "magFilter", _MAGNIFY, 9729)
        minify, mip = _one_of(item, "minFilter", _MINIFY, 9987)
        is_free = "minFilter" not in item and "magFilter" not in item
        return SamplerState(
            minify,
            magnify,
            mip or "point",
            *wraps,
            max_anisotropy=_ANISOTROPY if is_free else 1,
            **({} if mip else {"max_lod": 0.0}),
        )


def _one_of(item, name, choices, default):
    code = item.integer(name, default)
    if code not in choices:
        raise item.refusal(name, f"be one of {sorted(choices)}", code)
    return choices[code]


def _transform(item):
    """Turn and shift of KHR_texture_transform: size first, then the turn, then the shift."""
    angle = item.number("rotation", 0)
    across, down = item.numbers("scale", (1, 1))
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([(cosine, sine), (-sine, cosine)]) * (across, down)
    return turn.astype(np.float32), np.array(item.numbers("offset", (0, 0)), np.float32)
