# SPDX-License-Identifier: BSD-2-Clause
"""Parameters of a command reader."""

from dataclasses import dataclass

from fixfunc.rtl.frontend.command_fetch import BURST
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.memory.surface.state_check import check_colour_formats
from fixfunc.rtl.output.merger.formats import SRGB
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import commands
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.commands import Opcode
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR_PLANES, Field
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT, TOP_LIMIT, DepthFormat
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import FORMAT, StoredFormat
from fixfunc.spec.textures.descriptors import sampled
from fixfunc.spec.textures.level_of_detail import ANISOTROPY


@dataclass(frozen=True)
class CommandReaderParams:
    """Shape of a :class:`~fixfunc.rtl.frontend.command_reader.CommandReader`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Greatest number of samples of a pixel: 1, 2, 4 or 8.
    pixels : int
        Greatest width or height of a target.
    conservative : bool
        Triangles may cover all pixels of which they have a point.
    stencil : bool
        Targets have a stencil plane.
    formats : tuple of DepthFormat
        Depth formats of targets.
    colour_planes : int
        Colour planes of targets: 1 to 8.
    colour_formats : tuple of Format
        Formats of colour planes, R8G8B8A8_UNORM among them.
    second : bool
        The first colour plane may be blended with a shader's second colour.
    floats : bool
        Colour planes of floats may be blended.
    resolve_samples : int
        Greatest number of samples of a pixel that is resolved; 0: RESOLVE is no packet. sRGB is
        resolved where it is one of ``colour_formats``.
    ahead : int
        Transfers that are read before their turn, a multiple of 16 above 16. Memory is hidden that
        answers within as many clocks, as far as a packet takes a clock a transfer.
    ring : VertexRingParams or None
        Of vertices with attributes; None: VERTICES, PRIMITIVES, RELEASE and PIXEL_STATE are no
        packets.
    texture_formats : tuple of StoredFormat
        Formats of textures; without any TEXTURE is no packet. Needs ``ring``.
    texture_extent : int
        log2 of the greatest width and height of a texture.
    texture_anisotropy : int
        Most samples along a footprint that a texture may ask for: 1 or 16.
    texture_surfaces, texture_rows : tuple of StoredFormat
        Formats of textures that may be coded surfaces, and that may lie as rows of texels.
    texture_points : tuple of StoredFormat
        Formats of textures that are sampled by points alone.
    """

    edge: int = 8
    samples: int = 8
    pixels: int = TOP_LIMIT
    conservative: bool = True
    stencil: bool = True
    formats: tuple = tuple(DepthFormat)
    colour_planes: int = 1
    colour_formats: tuple[Format, ...] = BASE_FORMATS
    second: bool = False
    floats: bool = False
    resolve_samples: int = 8
    ahead: int = 1024
    ring: VertexRingParams | None = None
    texture_formats: tuple[StoredFormat, ...] = ()
    texture_extent: int = EXTENT
    texture_anisotropy: int = 1
    texture_surfaces: tuple[StoredFormat, ...] = ()
    texture_rows: tuple[StoredFormat, ...] = ()
    texture_points: tuple[StoredFormat, ...] = ()

    @property
    def texture(self) -> tuple[Field, ...]:
        """Field table of what a pixel state samples."""
        extended = any(form >> FORMAT for form in self.texture_formats)
        return sampled(extended, bool(self.texture_surfaces), bool(self.texture_rows))

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 1 <= self.pixels <= TARGET_LIMIT:
            raise ValueError(f"pixels must lie in 1..{TARGET_LIMIT}, not {self.pixels!r}")
        if not 1 <= self.colour_planes <= COLOUR_PLANES:
            raise ValueError(
                f"colour_planes must lie in 1..{COLOUR_PLANES}, not {self.colour_planes!r}"
            )
        check_colour_formats("colour_formats", self.colour_formats)
        if self.ahead <= BURST or self.ahead % BURST:
            raise InputError("ahead", f"be a multiple of {BURST} above it", self.ahead)
        if self.resolve_samples not in (0, *SAMPLE_COUNTS):
            names = ", ".join(map(str, (0, *SAMPLE_COUNTS)))
            raise InputError("resolve_samples", f"be one of {names}", self.resolve_samples)
        if self.texture_formats and self.ring is None:
            raise InputError("texture_formats", "be none without a ring", self.texture_formats)
        if self.texture_anisotropy not in (1, ANISOTROPY):
            rule = f"be 1 or {ANISOTROPY}"
            raise InputError("texture_anisotropy", rule, self.texture_anisotropy)

    @property
    def resolves_srgb(self) -> bool:
        """Surfaces of sRGB are resolved."""
        return any(form in SRGB for form in self.colour_formats)

    @property
    def opcodes(self) -> tuple[Opcode, ...]:
        """Packets that there are."""
        return commands.opcodes(
            self.resolve_samples > 0,
            self.ring is not None,
            len(self.texture_formats) > 0,
        )
