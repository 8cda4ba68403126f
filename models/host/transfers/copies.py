# SPDX-License-Identifier: BSD-2-Clause
"""Commands of a context that move data: clears, copies, resolves, levels, updates, reads."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from fixfunc.models.frontend.state.pieces import floats
from fixfunc.models.host.calls import check_held
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.packets import Packets
from fixfunc.models.host.resources import Bind, Buffer, Texture, octets_of, texels_of
from fixfunc.models.host.transfers import checks, mapping
from fixfunc.models.host.transfers.mapping import Mapped, MapType
from fixfunc.models.host.views import View, whole
from fixfunc.models.machine.machine import Machine
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import RingOp, StateKind

WORD = (1 << 32) - 1
Colour = tuple[float, float, float, float]


class Transfers:
    """What of a context needs no state: see :class:`fixfunc.models.host.context.Context`.

    Parameters
    ----------
    memory : ndarray of uint8
    heap : Heap
    machine : Machine
        Those of the device.

    Attributes
    ----------
    packets : Packets
    """

    def __init__(self, memory: np.ndarray, heap: Heap, machine: Machine) -> None:
        self._memory = memory
        self.heap = heap
        self._machine = machine
        self.packets = Packets(memory, machine)
        self._changed = set(StateKind)
        self._mapped: set[tuple[Buffer | Texture, tuple[int, int]]] = set()  # by this context

    def clear_render_target_view(self, view: View, colour: Colour) -> None:
        """Clear all that a view shows to a colour: red, green, blue, alpha."""
        view.check(Bind.RENDER_TARGET)
        values = dict(zip((f"value{n}" for n in range(4)), floats(*colour), strict=True))
        self.packets.emit(RingOp.CLEAR, view.encode(), colour=1, **values)

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
        self.packets.emit(RingOp.CLEAR, view.encode(), **fields)

    def clear_unordered_access_view_uint(
        self, view: View, value: int | tuple[int, int, int, int]
    ) -> None:
        """Clear all that a view shows to words, of which channels take their lower bits.

        Words are red, green, blue and alpha, or one for all; buffers take the first [fs 5.2.3.1].
        """
        view.check(Bind.UNORDERED_ACCESS)
        mapping.check_unmapped("view", view.resource)
        values = value if isinstance(value, tuple | list) else (value,) * 4
        fields = {f"value{n}": integer("value", its, 0, WORD) for n, its in enumerate(values)}
        self.packets.emit(RingOp.CLEAR, view.encode(), colour=1, integer=1, **fields)

    def clear_unordered_access_view_float(self, view: View, colour: Colour) -> None:
        """Clear all that a view of UNORM, SNORM or floats shows to a colour [fs 5.2.3.1]."""
        view.check(Bind.UNORDERED_ACCESS)
        mapping.check_unmapped("view", view.resource)
        checks.floats_of(view)
        values = dict(zip((f"value{n}" for n in range(4)), floats(*colour), strict=True))
        self.packets.emit(RingOp.CLEAR, view.encode(), colour=1, **values)

    def clear_view(
        self, view: View, colour: Colour, rectangles: Sequence[tuple[int, int, int, int]] = ()
    ) -> None:
        """Clear rectangles of all layers of a view to a colour [fs 5.2.3.3].

        Parameters
        ----------
        view : View
            RENDER_TARGET or UNORDERED_ACCESS, of a 2D texture.
        colour : tuple of float
            Integers are cut towards zero and to their range.
        rectangles : sequence of (left, top, right, bottom)
            Ends exclusive; all of the view by default. What lies beyond it is left out.
        """
        checks.cleared(view)
        fields = dict(zip((f"value{n}" for n in range(4)), floats(*colour), strict=True))
        if not rectangles:
            self.packets.emit(RingOp.CLEAR, view.encode(), colour=1, **fields)
        for sides in list(map(checks.rectangle, rectangles)):
            at = dict(zip(("x0", "y0", "x1", "y1"), sides, strict=True))
            self.packets.emit(RingOp.CLEAR, view.encode(), colour=1, rectangle=1, **fields, **at)

    def copy_resource(self, target: Buffer | Texture, source: Buffer | Texture) -> None:
        """Copy all of a resource to one of the same kind and size."""
        checks.same_kind(target, source)
        checks.not_same(target, source)
        checks.copied(target, source)
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
        checks.copied(target, source, into, out_of)
        size = source.layout.size_of(out_of[0])
        box = (0, 0, 0, *size) if box is None else box
        checks.copy(target, into, source, out_of, at, box)
        names = ("x0", "y0", "z0", "x1", "y1", "z1", "x", "y", "z")
        self.packets.emit(
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
        checks.copied(target, source)
        integer("size", size, 1, source.size)
        integer("source_offset", source_offset, 0, source.size - size)
        integer("target_offset", target_offset, 0, target.size - size)
        self.packets.emit(
            RingOp.COPY_BYTES,
            source=source.address + source_offset,
            target=target.address + target_offset,
            size=size,
        )

    def copy_structure_count(self, target: Buffer, offset: int, view: View) -> None:
        """Copy a view's counter to a word of a buffer [fs 18.6.5.1]."""
        checks.counted(view)
        checks.copied(target, view.resource)
        integer("offset", offset, 0, target.size - 4)
        if offset % 4:
            raise InputError("offset", "be a multiple of 4", offset)
        self.packets.emit(
            RingOp.COPY_BYTES,
            source=view.counter_address,
            target=target.address + offset,
            size=4,
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
        self.packets.emit(
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
        self._set_min_lod(texture, checks.min_lod(texture, min_lod))

    def generate_mips(self, view: View) -> None:
        """Make the smaller levels of a view from its first."""
        checks.mips(view)
        self.packets.emit(RingOp.MIPS, view.encode())

    def update_subresource(
        self,
        target: Buffer | Texture,
        data: np.ndarray | bytes,
        subresource: tuple[int, int] = (0, 0),
        offset: int = 0,
    ) -> None:
        """Write to a resource: a level and layer of a texture, or bytes of a buffer."""
        octets = octets_of(data)
        checks.updated(target)
        place = target.subresource(*subresource)
        if isinstance(target, Buffer):
            integer("bytes of data", len(octets), 1, target.size)
            integer("offset", offset, 0, target.size - len(octets))
            write = partial(self._write_buffer, target, offset, octets)
        else:
            if target.bind & Bind.DEPTH_STENCIL or target.layout.samples > 1:
                raise InputError("target", "have no depths, and one sample", target.form.name)
            texels = texels_of(target.layout, place[0], octets)
            write = partial(self._write_texture, target, place, texels)
        if not self._machine.skips:  # [fs 20.2]
            write()

    def read(self, resource: Buffer | Texture, subresource: tuple[int, int] = (0, 0)) -> np.ndarray:
        """What a resource holds, when all before it is done.

        Returns
        -------
        ndarray of uint8
            Bytes of a buffer; of a texture shape (height, width, samples, bytes), 3D ones with
            their depth in front.
        """
        level, layer = resource.subresource(*subresource)
        mapping.check_unmapped("resource", resource, (level, layer))
        memory = self._settled()
        if isinstance(resource, Buffer):
            return memory[resource.address : resource.address + resource.size].copy()
        texels = resource.layout.read(memory[resource.address :], level, layer).copy()
        return texels if resource.dimension == Dimension.TEXTURE3D else texels[0]

    def map(
        self,
        resource: Buffer | Texture,
        map_type: MapType,
        subresource: tuple[int, int] = (0, 0),
    ) -> Mapped:
        """Give a buffer, or a level and a layer of a texture, to the CPU [fs 5.6.1].

        Until it is unmapped no draw, dispatch, clear or copy uses it. Predication leaves no map
        out [fs 20.2].
        """
        place = resource.subresource(*subresource)
        mapping.check(resource, map_type, place)
        data = mapping.stored(self._settled(), resource, place).copy()
        if map_type == MapType.WRITE_DISCARD:
            data[:] = 0
        data.flags.writeable = map_type != MapType.READ
        return self._given(resource, place, data, map_type)

    def unmap(self, resource: Buffer | Texture, subresource: tuple[int, int] = (0, 0)) -> None:
        """Take it back, and bring what the CPU has written to memory."""
        place = resource.subresource(*subresource)
        mapped = self._taken_back(resource, place)
        if mapped.map_type != MapType.READ:
            self._write_mapped(resource, place, mapped.data)

    def _given(self, resource, place, data, map_type):
        """Bytes that the CPU has now, until they are unmapped."""
        mapped = Mapped(data, map_type, partial(self.unmap, resource, place))
        resource.mapped[place] = mapped
        self._mapped.add((resource, place))
        return mapped

    def _taken_back(self, resource, place):
        """What this context has mapped, which is not written any more."""
        if (resource, place) not in self._mapped:
            raise InputError("subresource", "be mapped", place)
        self._mapped.remove((resource, place))
        mapped = resource.mapped.pop(place)
        mapped.data.flags.writeable = False
        return mapped

    def _write_mapped(self, resource, place, data):
        check_held("resource", resource, self.heap)
        mapping.check_unmapped("resource", resource, place)
        mapping.stored(self._settled(), resource, place)[:] = data

    def _write_buffer(self, buffer, offset, octets):
        begin = buffer.address + offset
        self._settled()[begin : begin + len(octets)] = octets

    def _write_texture(self, texture, place, texels):
        texture.layout.write(self._settled()[texture.address :], *place, texels)

    def _set_min_lod(self, texture, min_lod):
        texture.min_lod = min_lod
        self._changed.add(StateKind.BINDINGS)

    def _set_word(self, address, value):
        self._memory[address : address + 4] = np.array([value], "<u4").view(np.uint8)

    def _settled(self):
        self._machine.settle()
        return self._memory
