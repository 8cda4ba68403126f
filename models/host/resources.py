# SPDX-License-Identifier: BSD-2-Clause
"""Resources: buffers and textures, and where they lie in memory."""

from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from math import prod
from typing import Any

import numpy as np

from fixfunc.models.host.memory import Heap
from fixfunc.models.memory.layout import Layout
from fixfunc.models.payload import integer
from fixfunc.models.texture.texture import LAYERS, MOST_BYTES, VOLUME_LIMIT
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import DEPTH_FORMATS, FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT

BUFFER_LIMIT = 1 << 27  # bytes [fs 21]


class Bind(IntFlag):
    """D3D11_BIND_FLAG: what a resource may be bound as."""

    VERTEX_BUFFER = 1
    INDEX_BUFFER = 2
    CONSTANT_BUFFER = 4
    SHADER_RESOURCE = 8
    STREAM_OUTPUT = 16
    RENDER_TARGET = 32
    DEPTH_STENCIL = 64
    UNORDERED_ACCESS = 128


class Usage(IntEnum):
    """D3D11_USAGE: who reads and writes a resource [fs 5.4]."""

    DEFAULT = 0  # the pipeline
    IMMUTABLE = 1  # nobody writes it after its creation
    DYNAMIC = 2  # the CPU writes it often, the pipeline reads it
    STAGING = 3  # the CPU; the pipeline copies it


class CpuAccess(IntFlag):
    """D3D11_CPU_ACCESS: what a resource may be mapped for [fs 5.4]."""

    NONE = 0
    WRITE = 1
    READ = 2


TARGETS = Bind.RENDER_TARGET | Bind.DEPTH_STENCIL
OUTPUTS = TARGETS | Bind.STREAM_OUTPUT | Bind.UNORDERED_ACCESS
STRUCTURED = Bind.SHADER_RESOURCE | Bind.UNORDERED_ACCESS


@dataclass(eq=False)
class Buffer:
    """A buffer.

    Parameters
    ----------
    address, size : int
        Bytes.
    bind : Bind
    stride : int
        Of a structured buffer: bytes of a structure.
    filled_address : int
        Of a word: bytes that stream output has written.
    counters : tuple of int
        Addresses of its views' counters.
    heap : Heap, optional
        That of its device.
    released : bool
        Its memory has been given back.
    usage : Usage
    cpu_access : CpuAccess
    mapped : dict of (level, layer) to Mapped
        What of it the CPU has.
    """

    address: int
    size: int
    bind: Bind
    stride: int = 0
    filled_address: int = 0
    counters: tuple[int, ...] = ()
    heap: Heap | None = field(default=None, repr=False)
    released: bool = False
    usage: Usage = Usage.DEFAULT
    cpu_access: CpuAccess = CpuAccess.NONE
    mapped: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False)

    def subresource(self, level: int, layer: int) -> tuple[int, int]:
        """Its only subresource [fs 5.3.4]; others raise ``InputError``."""
        return integer("level", level, 0, 0), integer("layer", layer, 0, 0)


@dataclass(eq=False)
class Texture:
    """A texture of any dimension.

    Parameters
    ----------
    address : int
        Of its first byte.
    dimension : Dimension
        TEXTURE1D, TEXTURE2D or TEXTURE3D.
    layout : Layout
    bind : Bind
    cube : bool
        Its layers may be viewed as faces of cubes.
    heap, released, usage, cpu_access, mapped
        As a buffer's.
    min_lod : int
        The least level that shaders read, in 1/256 [fs 5.8].
    """

    address: int
    dimension: Dimension
    layout: Layout
    bind: Bind
    cube: bool = False
    heap: Heap | None = field(default=None, repr=False)
    released: bool = False
    usage: Usage = Usage.DEFAULT
    cpu_access: CpuAccess = CpuAccess.NONE
    mapped: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False)
    min_lod: int = 0

    @property
    def form(self) -> Format:
        """Its format."""
        return self.layout.form

    def subresource(self, level: int, layer: int) -> tuple[int, int]:
        """A level and a layer that exist; others raise ``InputError``."""
        integer("level", level, 0, self.layout.levels - 1)
        integer("layer", layer, 0, self.layout.layers - 1)
        return level, layer


def check_buffer(size: int, bind: Bind, stride: int) -> None:
    """Rules of a buffer [fs 5.3]; one that is broken raises ``InputError``."""
    integer("size", size, 1, BUFFER_LIMIT)
    if bind & TARGETS:
        raise InputError("bind", "be no target's for a buffer", bind)
    if bind & Bind.CONSTANT_BUFFER:
        if bind != Bind.CONSTANT_BUFFER:
            raise InputError("bind", "be CONSTANT_BUFFER alone, if it is", bind)
        integer("size of a constant buffer", size, 16, BUFFER_LIMIT)
        if size % 16:
            raise InputError("size of a constant buffer", "be a multiple of 16", size)
    if stride and (stride % 4 or not 4 <= stride <= 2048 or size % stride):
        raise InputError("stride", "be a multiple of 4 up to 2048, of which size is one", stride)
    if stride and bind & ~STRUCTURED:  # [fs 5.4.2]
        raise InputError("bind", "be SHADER_RESOURCE, UNORDERED_ACCESS or both of structures", bind)
    if bind & Bind.STREAM_OUTPUT and bind & Bind.UNORDERED_ACCESS:  # [fs 5.3.9.1]
        raise InputError("bind", "not be STREAM_OUTPUT and UNORDERED_ACCESS", bind)


def check_usage(
    usage: Usage,
    cpu_access: CpuAccess,
    bind: Bind,
    is_buffer: bool,
    subresources: int,
    has_data: bool,
) -> None:
    """Usage, access of the CPU and binding go together [fs 5.3.2, 5.4, 5.6.1.3].

    Raises
    ------
    InputError
        Those that do not.
    """
    if usage == Usage.IMMUTABLE and not has_data:
        raise InputError("data", "be there, of an IMMUTABLE resource", None)
    if usage in (Usage.IMMUTABLE, Usage.DYNAMIC) and (bind & OUTPUTS or not bind):
        raise InputError("bind", f"be of inputs alone, of a {usage.name} resource", bind)
    if usage == Usage.IMMUTABLE and cpu_access:
        raise InputError("cpu_access", "be NONE of an IMMUTABLE resource", cpu_access)
    if usage == Usage.DYNAMIC and cpu_access != CpuAccess.WRITE:
        raise InputError("cpu_access", "be WRITE of a DYNAMIC resource", cpu_access)
    if usage == Usage.DYNAMIC and subresources > 1:
        raise InputError("subresources", "be one of a DYNAMIC resource", subresources)
    if usage == Usage.STAGING and bind:
        raise InputError("bind", "be 0 of a STAGING resource", bind)
    if usage == Usage.STAGING and not cpu_access:
        raise InputError("cpu_access", "be READ, WRITE or both of a STAGING resource", cpu_access)
    is_mappable = is_buffer and bind and not bind & ~STRUCTURED
    if usage == Usage.DEFAULT and cpu_access and not is_mappable:
        rule = "be NONE of a DEFAULT resource but a buffer that shaders alone read and write"
        raise InputError("cpu_access", rule, cpu_access)


def layout_of_texture(
    dimension: Dimension,
    form: Format,
    width: int,
    height: int,
    depth: int,
    levels: int,
    layers: int,
    samples: int,
    bind: Bind,
    cube: bool,
    coded: bool = False,
) -> Layout:
    """Layout of a texture whose parameters obey D3D11's rules [fs 5.4-5.6, 21].

    With ``coded``, colours that can be are.

    Raises
    ------
    InputError
        One that breaks a rule.
    """
    if form not in FORMATS or form == Format.UNKNOWN:
        raise InputError("format", "be one of a texture", form)
    most = VOLUME_LIMIT if dimension == Dimension.TEXTURE3D else TARGET_LIMIT
    for name, value in (("width", width), ("height", height), ("depth", depth)):
        integer(name, value, 1, most)
    integer("array_size", layers, 1, LAYERS)
    complete = max(width, height, depth).bit_length()
    integer("mip_levels", levels, 0, complete)
    levels = levels or complete
    if samples not in SAMPLE_COUNTS:
        raise InputError("sample_count", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
    if samples > 1 and (levels > 1 or dimension != Dimension.TEXTURE2D):
        raise InputError("sample_count", "be 1 of a texture with levels, or not 2D", samples)
    if samples > 1 and not bind & TARGETS:
        raise InputError("bind", "be RENDER_TARGET or DEPTH_STENCIL with samples", bind)
    if bind & Bind.RENDER_TARGET and bind & Bind.DEPTH_STENCIL:
        raise InputError("bind", "not be RENDER_TARGET and DEPTH_STENCIL", bind)
    if bind & Bind.UNORDERED_ACCESS and (samples > 1 or bind & Bind.DEPTH_STENCIL):
        raise InputError("bind", "not be UNORDERED_ACCESS of samples or depths", bind)
    if FORMATS[form].block > 1 and bind & (TARGETS | Bind.UNORDERED_ACCESS):
        raise InputError("format", "have no blocks where bind is an output's", form.name)
    across, down = FORMATS[form].block, FORMATS[form].rows
    if width % across or height % down:
        rule = f"be a multiple of {across} by {down}"
        raise InputError("size of blocks", rule, (width, height))
    family = {FORMATS[depth_form].family for depth_form in DEPTH_FORMATS}
    if bind & Bind.DEPTH_STENCIL and FORMATS[form].family not in family:
        raise InputError("format", "be one of depths for DEPTH_STENCIL", form.name)
    if bind & Bind.DEPTH_STENCIL and dimension == Dimension.TEXTURE3D:
        raise InputError("bind", "not be DEPTH_STENCIL for a 3D texture", bind)
    if cube and (layers % 6 or width != height or dimension != Dimension.TEXTURE2D):
        raise InputError("cube", "have six square layers, or a multiple", (width, height, layers))
    sides = (width, height, depth, levels, layers)
    layout = Layout(form, *sides, samples, bool(bind & TARGETS))
    integer("bytes of the texture", layout.bytes, 1, MOST_BYTES)
    coded = coded and bool(layout.codecs) and not bind & Bind.UNORDERED_ACCESS
    coded = coded and layout.holds_depths == bool(bind & Bind.DEPTH_STENCIL)
    return replace(layout, coded=coded)


def octets_of(data: np.ndarray | bytes | None) -> np.ndarray:
    """Data as uint8."""
    if data is None:
        return np.zeros(0, np.uint8)
    if isinstance(data, bytes | bytearray):
        return np.frombuffer(bytes(data), np.uint8)
    array = np.ascontiguousarray(data)
    if array.dtype.kind not in "biufcV":
        raise InputError("data", "be numbers", array.dtype.name)
    return array.reshape(-1).view(np.uint8)


def texels_of(layout: Layout, level: int, octets: np.ndarray) -> np.ndarray:
    """Data of a level as a layout writes it; of another size it raises ``InputError``."""
    width, height, depth = layout.size_of(level)
    info = FORMATS[layout.form]
    rows, columns = -(-height // info.rows), -(-width // info.block)
    shape = (depth, rows, columns, layout.samples, layout.texel)
    integer("bytes of a subresource", len(octets), *[prod(shape)] * 2)
    return octets.reshape(shape)


def check_bind(resource: Buffer | Texture | None, kind: Bind) -> None:
    """Raise ``InputError`` for a resource that may not be bound so; None may."""
    if resource is not None and not resource.bind & kind:
        raise InputError("bind of the resource", f"include {kind.name}", resource.bind)
