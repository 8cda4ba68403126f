# SPDX-License-Identifier: BSD-2-Clause
"""Context: state is bound, and draws, clears, copies and queries become packets of the ring."""

import numpy as np

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.state_pieces import floats
from fixfunc.models.host import checks
from fixfunc.models.host.calls import names_calls
from fixfunc.models.host.groups import (
    InputAssembler,
    OutputMerger,
    RasterizerStage,
    StreamOutput,
)
from fixfunc.models.host.packets import Packets
from fixfunc.models.host.queries import ENDS_ALONE, RECORD, Query
from fixfunc.models.host.resources import Bind, Buffer, Texture, octets_of, write_texels
from fixfunc.models.host.stages import ShaderStage, bindings, shaders
from fixfunc.models.host.views import View, whole
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import TOTALS, Dimension, Stage
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import RingOp, StateKind

WORD = (1 << 32) - 1
Colour = tuple[float, float, float, float]


@names_calls
class Context:
    """The immediate context of a device: methods have D3D11's names, the prefix being a group.

    ``context.ia.set_input_layout`` is IASetInputLayout, and ``context.ps.set_samplers`` is
    PSSetSamplers.

    Parameters
    ----------
    device : fixfunc.models.host.device.Device

    Attributes
    ----------
    ia : InputAssembler
    so : StreamOutput
    rs : RasterizerStage
    om : OutputMerger
    vs, hs, ds, gs, ps, cs : ShaderStage

    Commands are executed at once, so that an error names its call. One that breaks a rule raises
    :class:`~fixfunc.spec.errors.InputError`, and nothing has happened.
    """

    def __init__(self, device) -> None:
        self._device = device
        self.heap = device.heap
        self.shaders = device.machine.shaders
        self._packets = Packets(device.memory, device.machine)
        self._changed = set(StateKind)
        self._predicate: Query | None = None
        note = self._changed.add
        self.ia = InputAssembler(note)
        self.so = StreamOutput(note, device.memory)
        self.rs = RasterizerStage(note)
        self.om = OutputMerger(note)
        self._stages = {stage: ShaderStage(stage, note) for stage in Stage}
        self.stages = tuple(self._stages.values())
        self.vs, self.hs, self.ds, self.gs, self.ps, self.cs = self.stages

    def clear_state(self) -> None:
        """Bind what a new device has bound: nothing, and defaults."""
        for group in (self.ia, self.so, self.rs, self.om, *self._stages.values()):
            group.clear()
        if self._predicate:
            self.set_predication(None)

    # Draws and dispatches.

    def draw(self, vertex_count: int, start_vertex: int = 0) -> None:
        """Draw vertices."""
        self.draw_instanced(vertex_count, 1, start_vertex, 0)

    def draw_indexed(self, index_count: int, start_index: int = 0, base_vertex: int = 0) -> None:
        """Draw vertices by indices."""
        self.draw_indexed_instanced(index_count, 1, start_index, base_vertex, 0)

    def draw_instanced(
        self,
        vertex_count: int,
        instance_count: int,
        start_vertex: int = 0,
        start_instance: int = 0,
    ) -> None:
        """Draw instances of vertices."""
        draw = Draw(vertex_count, instance_count, 0, start_vertex, start_instance)
        integer("start_vertex", start_vertex, 0, WORD)
        checks.draw(self, indexed=False)
        self._work(
            RingOp.DRAW,
            count=draw.count,
            instances=draw.instances,
            base=draw.base,
            first_instance=draw.first_instance,
        )

    def draw_indexed_instanced(
        self,
        index_count: int,
        instance_count: int,
        start_index: int = 0,
        base_vertex: int = 0,
        start_instance: int = 0,
    ) -> None:
        """Draw instances of vertices by indices."""
        draw = Draw(index_count, instance_count, start_index, base_vertex, start_instance, True)
        integer("base_vertex", base_vertex, -(1 << 31), (1 << 31) - 1)
        checks.draw(self, indexed=True)
        self._work(
            RingOp.DRAW,
            indexed=1,
            count=draw.count,
            instances=draw.instances,
            start=draw.start,
            base=draw.base & WORD,
            first_instance=draw.first_instance,
        )

    def draw_instanced_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Draw with four words in a buffer: vertices, instances, start vertex, start instance."""
        checks.arguments(arguments, offset, 16)
        checks.draw(self, indexed=False)
        self._work(RingOp.DRAW_INDIRECT, address=arguments.address + offset)

    def draw_indexed_instanced_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Draw with five: indices, instances, start index, base vertex, start instance."""
        checks.arguments(arguments, offset, 20)
        checks.draw(self, indexed=True)
        self._work(RingOp.DRAW_INDIRECT, indexed=1, address=arguments.address + offset)

    def draw_auto(self) -> None:
        """Draw what stream output has written to the buffer in slot 0 [fs 8.9]."""
        checks.draw_auto(self)
        self._work(RingOp.DRAW_AUTO)

    def dispatch(self, x: int, y: int = 1, z: int = 1) -> None:
        """Run thread groups of the compute shader."""
        checks.dispatch(self, x, y, z)
        self._work(RingOp.DISPATCH, x=x, y=y, z=z)

    def dispatch_indirect(self, arguments: Buffer, offset: int = 0) -> None:
        """Run as many thread groups as three words in a buffer say."""
        checks.arguments(arguments, offset, 12)
        checks.dispatch(self, 0, 0, 0)
        self._work(RingOp.DISPATCH_INDIRECT, address=arguments.address + offset)

    # Clears and copies.

    def clear_render_target_view(self, view: View, colour: Colour) -> None:
        """Clear all that a view shows to a colour: red, green, blue, alpha."""
        view.check(Bind.RENDER_TARGET)
        values = dict(zip((f"value{n}" for n in range(4)), floats(*colour), strict=True))
        self._packets.emit(RingOp.CLEAR, view.encode(), colour=1, **values)

    def clear_depth_stencil_view(
        self, view: View, depth: float | None = None, stencil: int | None = None
    ) -> None:
        """Clear depths, stencil values, or both of all that a view shows."""
        view.check(Bind.DEPTH_STENCIL)
        fields = {}
        if depth is not None:
            fields |= {"depth": 1, "value0": floats(checks.depth(depth))[0]}
        if stencil is not None:
            fields |= {"stencil": 1, "stencil_value": checks.stencil(view, stencil)}
        self._packets.emit(RingOp.CLEAR, view.encode(), **fields)

    def clear_unordered_access_view_uint(self, view: View, value: int) -> None:
        """Clear all words of a buffer's view."""
        view.check(Bind.UNORDERED_ACCESS)
        integer("value", value, 0, WORD)
        self._packets.emit(RingOp.CLEAR, view.encode(), colour=1, integer=1, value0=value)

    def copy_resource(self, target: Buffer | Texture, source: Buffer | Texture) -> None:
        """Copy all of a resource to one of the same kind and size."""
        checks.same_kind(target, source)
        checks.not_same(target, source)
        if isinstance(source, Buffer):
            integer("size of the target", target.size, source.size, source.size)
            self.copy_buffer_region(target, 0, source, 0, source.size)
            return
        checks.same_shape(target, source)
        for layer in range(source.layout.layers):
            for level in range(source.layout.levels):
                self.copy_subresource_region(target, (level, layer), source, (level, layer))

    def copy_subresource_region(
        self,
        target: Texture,
        target_subresource: tuple[int, int],
        source: Texture,
        source_subresource: tuple[int, int],
        at: tuple[int, int, int] = (0, 0, 0),
        box: tuple[int, int, int, int, int, int] | None = None,
    ) -> None:
        """Copy a box of texels, as by a copy aside: both may overlap [fs 5.6.2.1].

        Parameters
        ----------
        target, source : Texture
            Of one family; or one of blocks, the other of integers of a block's bytes.
        target_subresource, source_subresource : (int, int)
            Level and layer.
        at : (x, y, z)
            Where the box goes.
        box : (left, top, front, right, bottom, back), optional
            Ends exclusive; all by default. Of blocks whole ones: to the level's end, or to that of
            its last blocks.
        """
        checks.same_kind(target, source)
        checks.same_texels(target, source)
        into = target.subresource(*target_subresource)
        out_of = source.subresource(*source_subresource)
        size = source.layout.size_of(out_of[0])
        box = (0, 0, 0, *size) if box is None else box
        checks.copy(target, into, source, out_of, at, box)
        names = ("x0", "y0", "z0", "x1", "y1", "z1", "x", "y", "z")
        self._packets.emit(
            RingOp.COPY,
            whole(source).encode(),
            whole(target).encode(),
            source_level=out_of[0],
            source_layer=out_of[1],
            target_level=into[0],
            target_layer=into[1],
            **dict(zip(names, (*box, *at), strict=True)),
        )

    def copy_buffer_region(
        self, target: Buffer, target_offset: int, source: Buffer, source_offset: int, size: int
    ) -> None:
        """Copy bytes of a buffer."""
        integer("size", size, 1, source.size)
        integer("source_offset", source_offset, 0, source.size - size)
        integer("target_offset", target_offset, 0, target.size - size)
        self._packets.emit(
            RingOp.COPY_BYTES,
            source=source.address + source_offset,
            target=target.address + target_offset,
            size=size,
        )

    def resolve_subresource(
        self,
        target: Texture,
        target_subresource: tuple[int, int],
        source: Texture,
        source_subresource: tuple[int, int],
        form: Format | None = None,
    ) -> None:
        """Average the samples of a level and a layer."""
        into = target.subresource(*target_subresource)
        out_of = source.subresource(*source_subresource)
        checks.resolve(target, into, source, out_of, form)
        self._packets.emit(
            RingOp.RESOLVE,
            whole(source).encode(),
            whole(target).encode(),
            form=form or checks.resolved_form(target, source),
            source_level=out_of[0],
            source_layer=out_of[1],
            target_level=into[0],
            target_layer=into[1],
        )

    def set_resource_min_lod(self, texture: Texture, min_lod: float) -> None:
        """The least level of a texture that shaders read, from now on [fs 5.8]."""
        texture.min_lod = checks.min_lod(texture, min_lod)
        self._changed.add(StateKind.BINDINGS)

    def generate_mips(self, view: View) -> None:
        """Make the smaller levels of a view from its first."""
        checks.mips(view)
        self._packets.emit(RingOp.MIPS, view.encode())

    def update_subresource(
        self,
        target: Buffer | Texture,
        data: np.ndarray | bytes,
        subresource: tuple[int, int] = (0, 0),
        offset: int = 0,
    ) -> None:
        """Write to a resource: a level and layer of a texture, or bytes of a buffer."""
        octets = octets_of(data)
        if self._device.machine.skips:  # [fs 20.2]
            return
        memory = self._settled()
        if isinstance(target, Buffer):
            integer("bytes of data", len(octets), 1, target.size)
            integer("offset", offset, 0, target.size - len(octets))
            begin = target.address + offset
            memory[begin : begin + len(octets)] = octets
            return
        if target.bind & Bind.DEPTH_STENCIL or target.layout.samples > 1:
            raise InputError("target", "have no depths, and one sample", target.form.name)
        level, layer = target.subresource(*subresource)
        write_texels(memory[target.address :], target.layout, level, layer, octets)

    def read(self, resource: Buffer | Texture, subresource: tuple[int, int] = (0, 0)) -> np.ndarray:
        """What a resource holds, when all before it is done.

        Returns
        -------
        ndarray of uint8
            Bytes of a buffer; of a texture shape (height, width, samples, bytes), 3D ones with
            their depth in front.
        """
        memory = self._settled()
        if isinstance(resource, Buffer):
            return memory[resource.address : resource.address + resource.size].copy()
        level, layer = resource.subresource(*subresource)
        texels = resource.layout.read(memory[resource.address :], level, layer).copy()
        return texels if resource.dimension == Dimension.TEXTURE3D else texels[0]

    # Queries, predication.

    def begin(self, query: Query) -> None:
        """Begin a query."""
        if query.kind in ENDS_ALONE:
            raise InputError("query", f"have a beginning: {query.kind.name} has none", "begin")
        self._not_predicate(query)
        self._packets.emit(RingOp.QUERY, address=query.address)
        query.begun = True
        query.ended = False

    def end(self, query: Query) -> None:
        """End a query."""
        if query.kind not in ENDS_ALONE and not query.begun:
            raise InputError("query", "have begun", query.kind.name)
        self._not_predicate(query)
        self._packets.emit(RingOp.QUERY, address=query.address + RECORD)
        query.begun = False
        query.ended = True

    def get_data(self, query: Query) -> object:
        """What a query tells that has ended."""
        if not query.ended:
            raise InputError("query", "have ended", query.kind.name)
        begin, end = (self._totals(query.address + at) for at in (0, RECORD))
        return query.result(begin, end)

    def set_predication(self, query: Query | None, value: bool = False) -> None:
        """Leave out work from now on if a predicate is ``value`` [fs 20.3.6]; None: never."""
        if query is None:
            self._packets.emit(RingOp.PREDICATE)
        else:
            if not query.is_predicate or not query.ended:
                raise InputError("query", "be a predicate that has ended", query.kind.name)
            self._packets.emit(RingOp.PREDICATE, **query.decides(value))
        self._predicate = query

    def flush(self) -> None:
        """Bring all that was drawn to memory."""
        self._settled()

    # Packets.

    def _not_predicate(self, query):
        if query is self._predicate:
            raise InputError("query", "not be the one that decides about work", query.kind.name)

    def _totals(self, address):
        words = self._device.memory[address : address + 8 * len(TOTALS)].view("<u8")
        return {name: int(word) for name, word in zip(TOTALS, words, strict=True)}

    def _settled(self):
        self._device.machine.settle()
        return self._device.memory

    def _work(self, op, **fields):
        """A packet that uses state: what has changed goes before it."""
        if not self._packets.has_room():
            self._changed.update(StateKind)
        if self._changed:
            place = self._packets.place
            pieces = {
                StateKind.SHADERS: shaders(self._stages),
                StateKind.BINDINGS: bindings(self._stages, place),
            }
            for group in (self.ia, self.so, self.rs, self.om):
                pieces |= group.pieces(place)
            for kind in sorted(self._changed):
                self._packets.put(RingOp.SET_STATE, pieces[kind], state_kind=kind)
            self._changed.clear()
        self._packets.emit(op, **fields)
