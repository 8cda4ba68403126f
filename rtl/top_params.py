# SPDX-License-Identifier: BSD-2-Clause
"""Shapes of the top: those of its blocks, which must fit one another."""

from dataclasses import dataclass, replace
from typing import Any

from fixfunc.rtl.depth import cached_depth
from fixfunc.rtl.frontend import command_reader
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import CONFIGS as RINGS
from fixfunc.rtl.geometry import triangle_setup
from fixfunc.rtl.output import colour_write
from fixfunc.rtl.output.resolve.resolve import CONFIGS as RESOLVES
from fixfunc.rtl.output.resolve.resolve import ResolveParams
from fixfunc.rtl.pixel.interpolator.interpolator import CONFIGS as INTERPOLATORS
from fixfunc.rtl.pixel.pixel_pipe.pixel_pipe import PixelPipeParams
from fixfunc.rtl.raster import tile_rasterizer
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS as TEXTURES
from fixfunc.spec import payloads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.memory import caching
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import StoredFormat


@dataclass(frozen=True)
class TopParams:
    """Shape of a :class:`Top`: the shapes of its blocks.

    They must have the same tile edge and the same samples.

    Parameters
    ----------
    reader, setup, raster, depth, colour
        Parameters of the blocks.
    resolve : ResolveParams or None
        Those of the unit that resolves surfaces; None: RESOLVE is no packet.
    pixels : PixelPipeParams or None
        Pixels are shaded as pixel states say, by attributes of ``reader.ring``; None: a shader is
        asked.
    """

    reader: command_reader.CommandReaderParams = command_reader.CONFIGS["default"]
    setup: triangle_setup.TriangleSetupParams = triangle_setup.CONFIGS["default"]
    raster: tile_rasterizer.TileRasterizerParams = tile_rasterizer.CONFIGS["default"]
    depth: cached_depth.CachedDepthParams = cached_depth.CONFIGS["default"]
    colour: colour_write.ColourWriteParams = colour_write.CONFIGS["default"]
    resolve: ResolveParams | None = RESOLVES["default"]
    pixels: PixelPipeParams | None = None

    def __post_init__(self):
        for name in ("reader", "setup", "depth", "colour"):
            for rule in ("edge", "samples"):
                value = getattr(getattr(self, name), rule, None)
                expected = getattr(self.raster, rule)
                if value not in (None, expected):
                    raise ValueError(
                        f"{name}.{rule} must be raster.{rule} {expected!r}, not {value!r}"
                    )
        for rule in ("stencil", "formats"):
            value = getattr(self.reader, rule)
            expected = getattr(self.depth, rule)
            if value != expected:
                raise ValueError(f"reader.{rule} must be depth.{rule} {expected!r}, not {value!r}")
        if self.colour.shader_depths != self.depth.shader_depths:
            raise ValueError(
                f"colour.shader_depths must be depth.shader_depths {self.depth.shader_depths!r}, "
                f"not {self.colour.shader_depths!r}"
            )
        if self.reader.colour_planes != self.colour.planes:
            raise ValueError(
                f"reader.colour_planes must be colour.planes {self.colour.planes!r}, "
                f"not {self.reader.colour_planes!r}"
            )
        if self.reader.colour_formats != self.colour.formats:
            raise ValueError(
                f"reader.colour_formats must be colour.formats {self.colour.formats!r}, "
                f"not {self.reader.colour_formats!r}"
            )
        for name in ("second", "floats"):
            own, expected = getattr(self.reader, name), getattr(self.colour, name)
            if own != expected:
                raise InputError(f"reader.{name}", f"be colour.{name} {expected!r}", own)
        own, expected = self.reader.conservative, self.setup.conservative
        if own != expected:
            raise InputError("reader.conservative", f"be setup.conservative {expected!r}", own)
        if self.pixels and self.pixels.interpolator.inner and not expected:
            raise InputError("pixels.interpolator.inner", "be False without conservative", True)
        self._check_pixels()
        samples = self.resolve.samples if self.resolve else 0
        if self.reader.resolve_samples != samples:
            raise ValueError(
                f"reader.resolve_samples must be {samples!r}, as resolve is {self.resolve!r}, "
                f"not {self.reader.resolve_samples!r}"
            )
        if self.resolve and self.resolve.srgb != self.reader.resolves_srgb:
            raise ValueError(
                f"resolve.srgb must be {self.reader.resolves_srgb!r}, as of colour.formats, "
                f"not {self.resolve.srgb!r}"
            )

    def _check_pixels(self):
        pixels, ring = self.pixels, self.reader.ring
        if (pixels is None) != (ring is None):
            raise InputError("reader.ring", f"be there as pixels is, {pixels!r}", ring)
        if pixels is None:
            return
        texture = pixels.texture
        for name, value in texture_rules(texture).items():
            if getattr(self.reader, name) != value:
                rule = f"be as of pixels.texture, {value}"
                raise InputError(f"reader.{name}", rule, getattr(self.reader, name))
        if pixels.interpolator.attributes != ring.attributes:
            rule = f"be reader.ring.attributes {ring.attributes}"
            raise InputError("pixels.interpolator.attributes", rule, pixels.interpolator.attributes)
        if self.raster.samples > self.raster.edge:
            rule = f"be at most raster.edge {self.raster.edge}: a tile of pixels has quads"
            raise InputError("raster.samples", rule, self.raster.samples)

    @property
    def ports(self) -> tuple[str, ...]:
        """All clients of memory."""
        resolve = ("resolve",) if self.resolve else ()
        texture = ("texture",) if self.pixels and self.pixels.texture else ()
        return ("commands", *self.clients, *resolve, *texture)

    @property
    def clients(self) -> tuple[str, ...]:
        """Of memory, those with a cache."""
        depth = ("depth", "stencil") if self.depth.stencil else ("depth",)
        return (*depth, *self.colour.names)

    @property
    def counted(self) -> dict[str, tuple[payloads.Field, ...]]:
        """What is counted of each client."""
        differences = {"depth": self.depth.differences, "stencil": False}
        return {
            client: caching.counted(differences.get(client, self.colour.differences))
            for client in self.clients
        }


def texture_rules(texture: TextureUnitParams | None) -> dict[str, Any]:
    """Parameters of a command reader whose textures are sampled so."""
    if texture is None:
        return {
            "texture_formats": (),
            "texture_extent": EXTENT,
            "texture_anisotropy": 1,
            "texture_surfaces": (),
            "texture_rows": (),
            "texture_points": (),
        }
    return {
        "texture_formats": texture.cache.formats,
        "texture_extent": texture.addresses.extent,
        "texture_anisotropy": texture.anisotropy,
        "texture_surfaces": texture.cache.surfaces,
        "texture_rows": texture.cache.rows,
        "texture_points": texture.words,  # nothing is compared
    }


EACH_KIND = (  # UNORM of one width and of two, sRGB, SNORM, floats, integers
    Format.R8G8B8A8_UNORM,
    Format.R10G10B10A2_UNORM,
    Format.R8G8B8A8_UNORM_SRGB,
    Format.R16G16_SNORM,
    Format.R11G11B10_FLOAT,
    Format.R16G16_SINT,
)
BLENDED_FLOATS = Format.R8G8B8A8_UNORM, Format.R16G16_FLOAT, Format.R11G11B10_FLOAT
# Clocks of memory's latency that the texture unit hides, as the other caches do.
HIDDEN = 1024
_TEXTURE = TEXTURES["default"]
_TINY_TEXTURE = TEXTURES["tiny"]


def _pipe(shape, texture, **cache):
    """A pixel pipe; ``cache`` are parameters of its texture cache."""
    return replace(shape, texture=replace(texture, cache=replace(texture.cache, **cache)))


_TINY_PIPE = PixelPipeParams(8, 2, replace(INTERPOLATORS["tiny"], attributes=4, inner=False))
PIPES = {
    "default": _pipe(PixelPipeParams(), _TEXTURE, queue=HIDDEN, coded=4, linear=True),
    "frame": _pipe(PixelPipeParams(), _TEXTURE, queue=HIDDEN),
    "tiny": _pipe(
        _TINY_PIPE,
        _TINY_TEXTURE,
        coded=2,
        linear=True,
        formats=(*_TINY_TEXTURE.cache.formats, StoredFormat.R16G16_SNORM),
    ),
    "tiny_plain": replace(_TINY_PIPE, texture=_TINY_TEXTURE),
}


def _of(config, target, resolve=None, **colours):
    """Blocks of a configuration, those that know of colour planes of another; ``colours`` of it
    are other parameters."""
    colour = replace(colour_write.CONFIGS[target], **colours)
    reader = replace(
        command_reader.CONFIGS[target],
        colour_planes=colour.planes,
        colour_formats=colour.formats,
        second=colour.second,
        floats=colour.floats,
        resolve_samples=resolve.samples if resolve else 0,
    )
    others = (block.CONFIGS[config] for block in (triangle_setup, tile_rasterizer, cached_depth))
    return TopParams(reader, *others, colour, resolve)


def _with_pixels(top, ring, pipe, samples):
    """A configuration that shades by itself."""
    blocks = {
        name: replace(getattr(top, name), samples=samples)
        for name in ("reader", "raster", "depth", "colour")
    }
    texture = PIPES[pipe].texture
    blocks["reader"] = replace(
        blocks["reader"],
        ring=RINGS[ring],
        **texture_rules(texture),
    )
    return replace(top, pixels=PIPES[pipe], **blocks)


def _in_any_order(top):
    """A configuration whose caches have an id a read."""
    blocks = {name: replace(getattr(top, name), any_order=True) for name in ("depth", "colour")}
    return replace(top, **blocks)


_TINY = _of("tiny", "tiny", RESOLVES["tiny_srgb"], planes=2, formats=EACH_KIND, second=True)
_FLOATS = _of("tiny", "tiny", planes=2, formats=BLENDED_FLOATS, lanes=1, second=True, floats=True)
CONFIGS = {
    "default": _with_pixels(TopParams(), "default", "default", 8),
    "frame": _with_pixels(_of("default", "default"), "default", "frame", 8),
    "planes": _of("default", "planes", RESOLVES["srgb"]),
    "tiny": _in_any_order(_with_pixels(_TINY, "tiny", "tiny", 4)),
    "tiny_bytes": _with_pixels(_of("tiny", "tiny"), "tiny", "tiny_plain", 4),
    "tiny_floats": _with_pixels(_FLOATS, "tiny", "tiny_plain", 4),
}
PURPOSE = {  # of each configuration
    "default": "the whole pipeline: targets up to 2048 pixels, 8x MSAA, depth, stencil, colour, "
    "resolve",
    "frame": "the same without resolves, nor textures that are coded surfaces: simulates faster",
    "planes": "the whole, with eight colour planes of any format of up to 32 bits",
    "tiny": "the whole in small, for benches: tiles of 4x4, targets up to 64 pixels, 4x MSAA, "
    "two colour planes of a format of each kind or two colours for the first, resolves of surfaces "
    "that have tiles of 8x8, reads that are answered in any order",
    "tiny_bytes": "for benches: one colour plane, of bytes, and no resolve",
    "tiny_floats": "the same with two planes of bytes or of floats, which are blended, a sample a "
    "clock, by two colours too",
}
