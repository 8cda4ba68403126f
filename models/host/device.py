# SPDX-License-Identifier: BSD-2-Clause
"""Device: memory, and what lies in it: resources, views, shaders, queries, swap chains."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.geometry_stage import STREAMS, GeometryStage
from fixfunc.models.host.calls import check_arguments, names_calls
from fixfunc.models.host.context import Context
from fixfunc.models.host.groups import InputLayout
from fixfunc.models.host.lists.deferred_context import DeferredContext
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.packets import RING, STATES
from fixfunc.models.host.presentation.swap_chain import SwapChain, check_chain
from fixfunc.models.host.queries import RECORD, Query, QueryKind
from fixfunc.models.host.resources import (
    Bind,
    Buffer,
    CpuAccess,
    Texture,
    Usage,
    check_buffer,
    check_usage,
    layout_of_texture,
    octets_of,
    texels_of,
)
from fixfunc.models.host.stages import Shader
from fixfunc.models.host.views import View, buffer_view, texture_view
from fixfunc.models.machine.machine import CACHE, MOST_WORK, Machine
from fixfunc.models.machine.shaders import ComputeShader, GeometryShader, HullShader, PixelShader
from fixfunc.models.machine.statistics.draw_log import DrawStatistics
from fixfunc.models.payload import integer
from fixfunc.models.tessellation import tessellator
from fixfunc.models.texture.cache.texture_cache import CacheShape
from fixfunc.spec.descriptors import Dimension, Stage, UnorderedFlag
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Strategy

MEMORY = 256 << 20  # bytes
COUNTER = 4  # bytes of a view's counter
Octets = Sequence[np.ndarray | bytes]  # of subresources


@names_calls
class Device:
    """A device on the golden machine [fs 5].

    Parameters
    ----------
    memory : int
        Bytes, of which the ring and state take the first.
    strategy : Strategy
        How the machine changes state.
    most_work : int
        Vertices of a draw, or threads of a dispatch, that are not refused.
    coded : bool
        Colours of targets are coded in memory, where they can be: of 4 or 8 bytes a sample.
    texture_cache : CacheShape, optional
        Of the machine; None: what shaders read of textures is not counted.

    Attributes
    ----------
    memory : ndarray of uint8
    heap : fixfunc.models.host.memory.Heap
        Where resources lie in it.
    machine : fixfunc.models.machine.machine.Machine
    context : Context
        The immediate context.
    draws : sequence of DrawStatistics
        What became of the latest 1,024 draws; ``draws[-1].reason`` says why one left nothing.

    Every method raises :class:`~fixfunc.spec.errors.InputError` for what breaks a rule, and nothing
    has happened then.
    """

    def __init__(
        self,
        memory: int = MEMORY,
        strategy: Strategy = Strategy.POOL,
        most_work: int = MOST_WORK,
        coded: bool = True,
        texture_cache: CacheShape | None = CACHE,
    ) -> None:
        integer("memory", memory, RING + STATES + (1 << 16), 1 << 32)
        try:
            self.memory = np.zeros(memory, np.uint8)
        except MemoryError as error:
            raise InputError("memory", "be what this machine has", memory) from error
        self.heap = Heap(RING + STATES, memory)
        self._coded = coded
        self._shaders: dict[int, object] = {}
        self.machine = Machine(
            *(self.memory, 0, RING, self._shaders, strategy),
            most_work=most_work,
            texture_cache=texture_cache,
        )
        self.context = Context(self.memory, self.heap, self.machine)

    @property
    def draws(self) -> Sequence[DrawStatistics]:
        """What became of the latest draws: see the class."""
        return self.machine.draws.latest

    def create_deferred_context(self) -> DeferredContext:
        """Create a context whose calls are noted for a list [fs 6.3]."""
        return DeferredContext(self.memory, self.heap, self.machine)

    # Resources.

    def create_buffer(
        self,
        size: int | None = None,
        bind: Bind = Bind.VERTEX_BUFFER,
        data: np.ndarray | bytes | None = None,
        stride: int = 0,
        usage: Usage = Usage.DEFAULT,
        cpu_access: CpuAccess = CpuAccess.NONE,
    ) -> Buffer:
        """Create a buffer.

        Parameters
        ----------
        size : int, optional
            Bytes; by default those of ``data``, which may be shorter: the rest is zero.
        bind : Bind
        data : array or bytes, optional
        stride : int
            Of a structured buffer: bytes of a structure.
        usage : Usage
        cpu_access : CpuAccess
            What it may be mapped for: see :func:`fixfunc.models.host.resources.check_usage`.
        """
        octets = octets_of(data)
        size = len(octets) if size is None else size
        check_buffer(size, bind, stride)
        check_usage(usage, cpu_access, bind, True, 1, data is not None)
        integer("bytes of data", len(octets), 0, size)
        extra = 16 if bind & Bind.STREAM_OUTPUT else 0
        address = self.heap.take(-(-size // 16) * 16 + extra)
        self.memory[address : address + size] = 0
        self.memory[address : address + len(octets)] = octets
        filled = address + -(-size // 16) * 16 if extra else 0
        if filled:
            self.memory[filled : filled + 16] = 0
        buffer = Buffer(address, size, bind, stride, filled, heap=self.heap)
        buffer.usage = usage
        buffer.cpu_access = cpu_access
        return buffer

    def create_texture1d(
        self,
        form: Format,
        width: int,
        mip_levels: int = 1,
        array_size: int = 1,
        bind: Bind = Bind.SHADER_RESOURCE,
        data: Octets | None = None,
        usage: Usage = Usage.DEFAULT,
        cpu_access: CpuAccess = CpuAccess.NONE,
    ) -> Texture:
        """Create a 1D texture; ``mip_levels`` 0: all."""
        shape = (form, width, 1, 1, mip_levels, array_size, 1)
        return self._texture(Dimension.TEXTURE1D, shape, (bind, usage, cpu_access), False, data)

    def create_texture2d(
        self,
        form: Format,
        width: int,
        height: int,
        mip_levels: int = 1,
        array_size: int = 1,
        sample_count: int = 1,
        bind: Bind = Bind.SHADER_RESOURCE,
        cube: bool = False,
        data: Octets | None = None,
        usage: Usage = Usage.DEFAULT,
        cpu_access: CpuAccess = CpuAccess.NONE,
    ) -> Texture:
        """Create a 2D texture, or a cube.

        Parameters
        ----------
        form : Format
        width, height : int
        mip_levels : int
            0: all.
        array_size : int
        sample_count : int
            1, 2, 4 or 8.
        bind : Bind
        cube : bool
            Layers are faces: six each.
        data : sequence of ndarray, optional
            A subresource each, layer by layer, their levels in order: bytes of rows of texels, or
            of blocks, without gaps.
        usage, cpu_access
            As :meth:`create_buffer` has them.
        """
        shape = (form, width, height, 1, mip_levels, array_size, sample_count)
        return self._texture(Dimension.TEXTURE2D, shape, (bind, usage, cpu_access), cube, data)

    def create_texture3d(
        self,
        form: Format,
        width: int,
        height: int,
        depth: int,
        mip_levels: int = 1,
        bind: Bind = Bind.SHADER_RESOURCE,
        data: Octets | None = None,
        usage: Usage = Usage.DEFAULT,
        cpu_access: CpuAccess = CpuAccess.NONE,
    ) -> Texture:
        """Create a 3D texture."""
        shape = (form, width, height, depth, mip_levels, 1, 1)
        return self._texture(Dimension.TEXTURE3D, shape, (bind, usage, cpu_access), False, data)

    def _texture(self, dimension, shape, access, cube, data):
        bind, usage, cpu_access = access
        layout = layout_of_texture(dimension, *shape, bind, cube, self._coded)
        parts = None if data is None else [octets_of(part) for part in data]
        subresources = layout.levels * layout.layers
        if parts is not None and len(parts) != subresources:
            rule = f"be a list of {subresources}, one for each level of each layer"
            found = f"an array of {data.shape}" if isinstance(data, np.ndarray) else len(parts)
            raise InputError("data", rule, found)
        check_usage(usage, cpu_access, bind, False, subresources, data is not None)
        texels = [texels_of(layout, n % layout.levels, part) for n, part in enumerate(parts or ())]
        texture = Texture(self.heap.take(layout.bytes), dimension, layout, bind, cube, self.heap)
        texture.usage = usage
        texture.cpu_access = cpu_access
        memory = self.memory[texture.address : texture.address + layout.bytes]
        memory[:] = 0
        for n, written in enumerate(texels):
            layer, level = divmod(n, layout.levels)
            layout.write(memory, level, layer, written)
        return texture

    def create_swap_chain(
        self,
        width: int,
        height: int,
        form: Format = Format.R8G8B8A8_UNORM,
        buffers: int = 2,
        vsync: bool = True,
        dither: bool = False,
        transaction_elimination: bool = False,
        bind: Bind = Bind.RENDER_TARGET,
    ) -> SwapChain:
        """Create a back buffer and a display.

        Parameters
        ----------
        width, height : int
        form : Format
            One of 8 bits that :class:`~fixfunc.models.output.display.display.Display` shows.
        buffers : int
            Of the display, beside the back buffer: 1 to 3.
        vsync : bool
            Frames are presented with a sync interval of 1 by default, else of 0.
        dither : bool
            Pixels are 5, 6 and 5 bits, dithered.
        transaction_elimination : bool
            Tiles of a frame that are in its buffer already do not move.
        bind : Bind
            What the back buffer may be bound as: RENDER_TARGET, and more.
        """
        check_chain(self.machine, form, buffers, bind)
        shown = self.create_texture2d(form, width, height, 1, buffers, bind=Bind.RENDER_TARGET)
        try:
            buffer = self.create_texture2d(form, width, height, bind=bind)
        except InputError:
            self.release(shown)
            raise
        ways = vsync, dither, transaction_elimination
        packets = self.context.packets
        return SwapChain(self.memory, self.machine, packets, buffer, shown, *ways)

    def release(self, resource: Buffer | Texture | Query | SwapChain) -> None:
        """Give a resource's memory back: a call that uses it from now on is refused."""
        if isinstance(resource, SwapChain):
            for texture in resource.disconnect():
                self.release(texture)
            return
        self.machine.forget(resource.address)
        self.heap.give(resource.address)
        for address in getattr(resource, "counters", ()):
            self.heap.give(address)
        resource.released = True

    # Views, shaders, queries.

    def create_render_target_view(
        self, texture: Texture, form: Format | None = None, **part: Any
    ) -> View:
        """Create a view to draw to: see :func:`fixfunc.models.host.views.texture_view`."""
        check_arguments(texture_view, part)
        return texture_view(texture, Bind.RENDER_TARGET, form, **part)

    def create_depth_stencil_view(
        self, texture: Texture, form: Format | None = None, **part: Any
    ) -> View:
        """Create a view for depths: see :func:`fixfunc.models.host.views.texture_view`."""
        check_arguments(texture_view, part)
        return texture_view(texture, Bind.DEPTH_STENCIL, form, **part)

    def create_shader_resource_view(
        self, resource: Buffer | Texture, form: Format | None = None, **part: Any
    ) -> View:
        """Create a view for shaders to read: of levels and layers, or of bytes of a buffer."""
        return self._shader_view(resource, Bind.SHADER_RESOURCE, form, part)

    def create_unordered_access_view(
        self,
        resource: Buffer | Texture,
        form: Format | None = None,
        flag: UnorderedFlag = UnorderedFlag.NONE,
        **part: Any,
    ) -> View:
        """Create a view for pixel and compute shaders to read and write: of a level of a texture.

        With a flag it has a counter of its own, of 0, and is of structures [fs 5.3.10.1].
        """
        if flag and not getattr(resource, "stride", 0):
            raise InputError("flag", "be NONE but for a structured buffer", flag.name)
        view = self._shader_view(resource, Bind.UNORDERED_ACCESS, form, part)
        if flag:
            view.flag = flag
            view.counter_address = self.heap.take(COUNTER)
            self.memory[view.counter_address : view.counter_address + COUNTER] = 0
            resource.counters += (view.counter_address,)
        return view

    def _shader_view(self, resource, kind, form, part):
        """A view of a buffer or of a texture."""
        is_buffer = isinstance(resource, Buffer)
        check_arguments(buffer_view if is_buffer else texture_view, part)
        if is_buffer:
            return buffer_view(resource, kind, form or Format.UNKNOWN, **part)
        return texture_view(resource, kind, form, **part)

    def create_input_layout(self, elements: Sequence[Element]) -> InputLayout:
        """Create an input layout of elements, which name registers."""
        return InputLayout(tuple(elements))

    def create_vertex_shader(self, program: Callable[..., object]) -> Shader:
        """Create a vertex shader of a callable."""
        return self._shader(Stage.VERTEX, program)

    def create_hull_shader(self, program: HullShader) -> Shader:
        """Create a hull shader; a domain that there is not raises ``InputError``."""
        tessellator.check_names(program.kind, program.partitioning, program.output)
        return self._shader(Stage.HULL, program)

    def create_domain_shader(self, program: Callable[..., object]) -> Shader:
        """Create a domain shader of a callable."""
        return self._shader(Stage.DOMAIN, program)

    def create_geometry_shader(self, program: GeometryShader) -> Shader:
        """Create a geometry shader, with stream output if it declares some.

        Strips, numbers of vertices, of invocations and of streams that there are not raise
        :class:`~fixfunc.spec.errors.InputError`.
        """
        GeometryStage(program.function, program.output, program.most, program.instances)
        for stream in (*program.stream_output, program.rasterized or 0):
            integer("stream", stream, 0, STREAMS - 1)
        return self._shader(Stage.GEOMETRY, program)

    def create_pixel_shader(self, program: PixelShader) -> Shader:
        """Create a pixel shader."""
        return self._shader(Stage.PIXEL, program)

    def create_compute_shader(self, program: ComputeShader) -> Shader:
        """Create a compute shader."""
        return self._shader(Stage.COMPUTE, program)

    def _shader(self, stage, program):
        number = len(self._shaders) + 1
        self._shaders[number] = program
        return Shader(number, stage, program)

    def create_query(self, kind: QueryKind) -> Query:
        """Create a query."""
        address = self.heap.take(2 * RECORD)
        self.memory[address : address + 2 * RECORD] = 0
        return Query(kind, address, heap=self.heap)
