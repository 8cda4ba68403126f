# SPDX-License-Identifier: BSD-2-Clause
"""Limits of a command reader: what its hardware has."""

from dataclasses import dataclass

from fixfunc.models.texture.unit.texture_rules import TextureRules
from fixfunc.spec import commands
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.commands import Opcode
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import TOP_LIMIT, DepthFormat
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import StoredFormat


@dataclass(frozen=True)
class CommandLimits:
    """Limits of what a reader accepts.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    samples : int
        Greatest number of samples of a pixel.
    pixels : int
        Greatest width or height of a target.
    conservative : bool
        Triangles may cover all pixels of which they have a point.
    stencil : bool
        Targets have a stencil plane.
    formats : tuple of DepthFormat
        Depth formats of targets.
    colour_planes : int
        Colour planes of targets.
    colour_formats : tuple of Format
        Formats of colour planes.
    second : bool
        The first colour plane may be blended with a shader's second colour.
    floats : bool
        Colour planes of floats may be blended.
    resolve_samples : int
        Greatest number of samples of a pixel that is resolved; 0: RESOLVE is no packet. sRGB is
        resolved where it is one of ``colour_formats``.
    ring : tuple of int, optional
        Slots and attributes of a vertex ring; None: its packets, and PIXEL_STATE, are none.
    texture_formats : tuple of StoredFormat
        Formats of textures; without any TEXTURE is no packet.
    texture_extent : int
        log2 of the greatest width and height of a texture.
    texture_anisotropy : int
        Most samples along a footprint that a texture may ask for.
    texture_coded, texture_linear : bool
        Textures may be coded surfaces, and may lie as rows of texels.
    texture_points : tuple of StoredFormat
        Formats of textures that are sampled by points alone.
    """

    edge: int = 8
    samples: int = 8
    pixels: int = TOP_LIMIT
    conservative: bool = True
    stencil: bool = True
    formats: tuple[DepthFormat, ...] = tuple(DepthFormat)
    colour_planes: int = 1
    colour_formats: tuple[Format, ...] = BASE_FORMATS
    second: bool = False
    floats: bool = False
    resolve_samples: int = 8
    ring: tuple[int, int] | None = None
    texture_formats: tuple[StoredFormat, ...] = ()
    texture_extent: int = EXTENT
    texture_anisotropy: int = 1
    texture_coded: bool = False
    texture_linear: bool = False
    texture_points: tuple[StoredFormat, ...] = ()

    @property
    def textures(self) -> TextureRules:
        """What textures there may be."""
        return TextureRules(
            self.texture_formats,
            self.texture_extent,
            self.texture_anisotropy,
            coded=self.texture_coded,
            linear=self.texture_linear,
            points=self.texture_points,
        )

    @property
    def blending(self) -> tuple[tuple[Format, ...], bool, int, bool]:
        """What :func:`fixfunc.models.state.check_draw_state` asks for behind a state."""
        return self.colour_formats, self.second, self.colour_planes, self.floats

    @property
    def opcodes(self) -> tuple[Opcode, ...]:
        """Packets that there are."""
        return commands.opcodes(
            self.resolve_samples > 0,
            self.ring is not None,
            len(self.texture_formats) > 0,
        )

    @property
    def resolves_srgb(self) -> bool:
        """Surfaces of sRGB are resolved."""
        return any(form.name.endswith("_SRGB") for form in self.colour_formats)
