# SPDX-License-Identifier: BSD-2-Clause
"""Textures: levels of detail, layers, faces and samples, as a sampler takes them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fixfunc.models.texture import block_decode, texels
from fixfunc.models.texture.texels import PAIRS, TEXELS, WITH_SRGB, TexelFormat
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT

LAYERS = 2048  # greatest number of layers of an array [fs: resource limits]
VOLUME_LIMIT = 2048  # texels along an edge of a 3D texture
MOST_BYTES = 2048 << 20  # of a resource [fs 21]
FACES = ["+x", "-x", "+y", "-y", "+z", "-z"]  # of a cube, in order


FORMATS = tuple(TEXELS)


class Texture(NamedTuple):
    """A texture of one, two or three dimensions, an array, a cube or an array of cubes.

    Parameters
    ----------
    format : str
        One of :data:`FORMATS`.
    width, height : int
        Size of level 0, texels.
    levels : tuple of ndarray of uint8, shape (layers * faces, bytes)
        Levels: slices of rows of texels, or of blocks, without gaps; the samples of a texel lie
        side by side. Each level is half as wide, high and deep as the one before, and at least one
        texel.
    faces : int
        1, or 6 for a cube: +x, -x, +y, -y, +z, -z.
    srgb : bool
        Colours are sRGB.
    opaque : bool
        Alpha is one, whatever a block of BC1 says.
    dimension : int
        1, 2 or 3; of a cube 2.
    depth : int
        Slices of level 0.
    samples : int
        Of a texel; a texture of several is fetched only.
    min_lod : int
        Levels below this are not there, in 1/256; of the texture's level 0 [fs 5.8].
    """

    format: str
    width: int
    height: int
    levels: tuple
    faces: int = 1
    srgb: bool = False
    opaque: bool = False
    dimension: int = 2
    depth: int = 1
    samples: int = 1
    min_lod: int = 0

    @property
    def texel_format(self) -> TexelFormat:
        """Properties of the format."""
        return TEXELS[self.format]

    @property
    def layers(self) -> int:
        """Number of textures, or of cubes, of an array."""
        return len(self.levels[0]) // self.faces

    def size(self, level: int) -> tuple[int, int]:
        """Width and height of a level."""
        return size(self.width, self.height, level)

    def extents(self, level: int) -> tuple[int, ...]:
        """Size of a level by axis, as many as there are dimensions."""
        return (*self.size(level), max(self.depth >> level, 1))[: self.dimension]

    def image(self, level: int = 0, layer: int = 0, face: int = 0) -> np.ndarray:
        """Texels of a 2D image of one sample: shape (height, width, channels).

        They have the format's type. Alpha, if there is any, is the last channel.
        """
        return self.texels(level, layer * self.faces + face)[0, :, :, 0]

    def texels(self, level: int, image: int) -> np.ndarray:
        """All texels of a layer, or a face: shape (depth, height, width, samples, channels)."""
        width, height = self.size(level)
        depth = max(self.depth >> level, 1)
        data = self.levels[level][image]
        form = self.texel_format
        if form.edge == 1:
            return texels.read(
                data.reshape(depth, height, width, self.samples, form.size), self.format
            )
        if self.format in PAIRS:
            pairs = data.reshape(depth, height, -1, form.size)
            return texels.read_pairs(pairs, self.format)[:, :, :width, None]
        blocks = block_decode.decode(self.format, data.reshape(-1, form.size))
        rows = -(-height // form.edge)
        columns = -(-width // form.edge)
        found = (
            blocks.reshape(depth, rows, columns, form.edge, form.edge, -1)
            .swapaxes(2, 3)
            .reshape(depth, form.edge * rows, form.edge * columns, -1)[:, :height, :width]
        )
        if self.opaque:
            found[..., 3] = 255
        return found[:, :, :, None]

    def view(self, format: str, srgb: bool = False) -> "Texture":
        """View the same bytes as another format, as typeless resources allow.

        Blocks of BC4, BC5 or BC6H may have a sign or not, and colours may be sRGB or linear.

        Raises
        ------
        InputError
            The format is of another family.
        """
        if format not in FORMATS or _family(format) != _family(self.format):
            family = [name for name in FORMATS if _family(name) == _family(self.format)]
            raise InputError("format of the view", f"be one of {', '.join(family)}", format)
        return create(
            format,
            self.width,
            self.height,
            self.levels,
            faces=self.faces,
            srgb=srgb,
            opaque=self.opaque and format == "BC1",
        )


def _family(format):
    """The typeless format, which signed and unsigned blocks share."""
    return format.rstrip("US") if format.startswith("BC") else format


def create(
    format: str, width: int, height: int, levels: Sequence[np.ndarray], **fields: Any
) -> Texture:
    """Create a :class:`Texture` whose levels are checked.

    ``fields`` are the other fields of the texture.

    Raises
    ------
    InputError
        The format is unknown; D3D11 does not allow the size, or the number of levels, layers or
        faces; or a level is not as long as its size says.
    """
    check_shape(format, width, height, len(levels), fields.get("faces", 1), fields.get("depth", 1))
    _check_dimension(width, height, fields)
    texture = Texture(
        format,
        width,
        height,
        tuple(np.ascontiguousarray(level, np.uint8) for level in levels),
        **fields,
    )
    for n, level in enumerate(texture.levels):
        slices = max(texture.depth >> n, 1)
        required = bytes_of(format, *texture.size(n)) * slices * texture.samples
        images = len(texture.levels[0])
        if (
            level.ndim != 2
            or level.shape != (images, required)
            or not images
            or images % texture.faces
            or images > LAYERS
        ):
            rule = (
                f"be of shape (1 to {LAYERS} images of {texture.faces} faces, {required} "
                f"bytes), as many as level 0"
            )
            raise InputError(f"levels[{n}]", rule, str(level.shape))
    if texture.srgb and format not in WITH_SRGB:
        raise InputError("srgb", f"be of {', '.join(sorted(WITH_SRGB))}", format)
    return texture


def _check_dimension(width, height, fields):
    """Rules between dimension, size, samples and faces."""
    dimension = fields.get("dimension", 2)
    depth = fields.get("depth", 1)
    samples = fields.get("samples", 1)
    if dimension not in (1, 2, 3):
        raise InputError("dimension", "be 1, 2 or 3", dimension)
    if dimension == 1 and height > 1:
        raise InputError("height of a 1D texture", "be 1", height)
    if dimension == 3 and max(width, height) > VOLUME_LIMIT:
        rule = f"be at most {VOLUME_LIMIT} texels"
        raise InputError("edges of a 3D texture", rule, f"{width}x{height}")
    if dimension < 3 and depth > 1:
        raise InputError("depth", "be 1 but of a 3D texture", depth)
    if fields.get("faces", 1) == 6 and dimension != 2:
        raise InputError("dimension of a cube", "be 2", dimension)
    if samples not in SAMPLE_COUNTS or (samples > 1 and dimension != 2):
        names = ", ".join(map(str, SAMPLE_COUNTS))
        raise InputError("samples", f"be one of {names}, and 1 but of a 2D texture", samples)


def check_shape(
    format: str, width: int, height: int, levels: int, faces: int, depth: int = 1
) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a shape that D3D11 does not allow."""
    if format not in FORMATS:
        raise InputError("format", f"be one of {', '.join(FORMATS)}", format)
    for name, value in (("width", width), ("height", height)):
        if not 1 <= value <= TARGET_LIMIT:
            raise InputError(name, f"be 1 to {TARGET_LIMIT} texels", value)
    if not 1 <= depth <= VOLUME_LIMIT:
        raise InputError("depth", f"be 1 to {VOLUME_LIMIT} texels", depth)
    complete = max(width, height, depth).bit_length()
    if not 1 <= levels <= complete:
        raise InputError("number of levels", f"be 1 to {complete}", levels)
    if faces not in (1, 6):
        raise InputError("number of faces", "be 1 or 6", faces)
    if faces == 6 and width != height:
        raise InputError("height of a cube", f"be its width, {width}", height)


def size(width: int, height: int, level: int) -> tuple[int, int]:
    """Width and height of a level."""
    return max(width >> level, 1), max(height >> level, 1)


def bytes_of(format: str, width: int, height: int) -> int:
    """Bytes of an image."""
    form = TEXELS[format]
    return -(-width // form.edge) * -(-height // form.rows) * form.size


def of_picture(picture: np.ndarray, srgb: bool = False, mips: bool = True) -> Texture:
    """Create a texture of a picture, uint8 of shape (height, width, 4).

    With ``mips`` it has all smaller levels: means of four texels, and of light where colours are
    sRGB.
    """
    levels = []
    image = np.asarray(picture)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 4:
        raise InputError(
            "picture", "be uint8 of shape (height, width, 4)", f"{image.dtype} of {image.shape}"
        )
    height, width = image.shape[:2]
    check_shape("RGBA8", width, height, 1, 1)
    light = (block_decode.linear(image) if srgb else image * np.uint16(257)).astype(np.float64)
    while True:
        levels.append(_encoded(light, srgb).reshape(1, -1))
        if not mips or light.shape[:2] == (1, 1):
            return create("RGBA8", width, height, levels, srgb=srgb)
        light = _halved(_halved(light, 0), 1)


def _halved(light, axis):
    """Means of pairs of texels along an axis.

    The last texel of an odd number is left out, unless it is the only one.
    """
    count = light.shape[axis]
    if count == 1:
        return light
    first = np.take(light, np.arange(0, count // 2 * 2, 2), axis)
    second = np.take(light, np.arange(1, count // 2 * 2, 2), axis)
    return (first + second) / 2


def _encoded(light, srgb):
    """The nearest texels of 8 bits."""
    if srgb:
        values = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 4, 1)
        table = block_decode.linear(values)[:, 0].astype(np.float64)
        colours = np.searchsorted((table[1:] + table[:-1]) / 2, light[..., :3], side="right")
    else:
        colours = np.floor(light[..., :3] / 257 + 0.5)
    return np.concatenate([colours, np.floor(light[..., 3:] / 257 + 0.5)], -1).astype(np.uint8)
