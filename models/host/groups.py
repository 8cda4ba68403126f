# SPDX-License-Identifier: BSD-2-Clause
"""Fixed-function groups of a context: input assembler, stream output, rasterizer, output merger."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.models.frontend.state.pieces import encode, floats
from fixfunc.models.frontend.vertex_fetch import MOST_STRIDE, Element, check_layout
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.calls import names_calls
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.resources import Bind, Buffer, check_bind
from fixfunc.models.host.states import BlendState, DepthStencilState, RasterizerState
from fixfunc.models.host.views import View
from fixfunc.models.payload import integer
from fixfunc.spec import descriptors
from fixfunc.spec.descriptors import TARGETS, VIEWPORTS
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import STENCIL_FACE
from fixfunc.spec.ring import StateKind
from fixfunc.spec.state import TARGET_LIMIT

VERTEX_BUFFERS = 32
INDEX_BYTES = {Format.R16_UINT: 2, Format.R32_UINT: 4}
Changed = Callable[[StateKind], object]
SetWord = Callable[[int, int], object]  # of an address
Place = Callable[[list[bytes]], int]  # puts transfers into memory, returns their address


@dataclass(frozen=True)
class InputLayout:
    """An input layout: what feeds the registers of a vertex shader [fs 8.1.3]."""

    elements: tuple[Element, ...]

    def __post_init__(self):
        check_types(self)
        check_layout(self.elements)


@names_calls
class InputAssembler:
    """What D3D11 names IASet...

    Parameters
    ----------
    changed : callable
        Told which :class:`~fixfunc.spec.ring.StateKind` changes.
    """

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self.clear()

    def clear(self) -> None:
        """Unbind all."""
        self.layout: InputLayout | None = None
        self.topology: Topology | None = None
        self.vertex_buffers: dict[int, tuple[Buffer, int, int]] = {}
        self.index_buffer: tuple[Buffer, Format, int] | None = None
        self._changed(StateKind.INPUT)

    def set_input_layout(self, layout: InputLayout | None) -> None:
        """Set what feeds the registers of the vertex shader."""
        self.layout = layout
        self._changed(StateKind.INPUT)

    def set_vertex_buffers(
        self,
        start: int,
        buffers: Sequence[Buffer | None],
        strides: Sequence[int],
        offsets: Sequence[int] | None = None,
    ) -> None:
        """Bind vertex buffers to slots from ``start`` on; None unbinds."""
        offsets = [0] * len(buffers) if offsets is None else offsets
        integer("start", start, 0, VERTEX_BUFFERS - 1)
        integer("end of vertex buffers", start + len(buffers), 0, VERTEX_BUFFERS)
        for name, values in (("strides", strides), ("offsets", offsets)):
            if len(values) != len(buffers):
                raise InputError(name, f"be {len(buffers)}, as buffers are", len(values))
        for buffer, stride, offset in zip(buffers, strides, offsets, strict=True):
            integer("stride", stride, 0, MOST_STRIDE)
            integer("offset", offset, 0, (1 << 32) - 1)
            check_bind(buffer, Bind.VERTEX_BUFFER)
        for slot, row in enumerate(zip(buffers, strides, offsets, strict=True), start):
            if row[0] is None:
                self.vertex_buffers.pop(slot, None)
            else:
                self.vertex_buffers[slot] = row
        self._changed(StateKind.INPUT)

    def set_index_buffer(self, buffer: Buffer | None, form: Format, offset: int = 0) -> None:
        """Bind indices of 16 or 32 bits; None unbinds, whatever the format."""
        form = Format.R32_UINT if buffer is None else form
        if form not in INDEX_BYTES:
            raise InputError("format of indices", "be R16_UINT or R32_UINT", form.name)
        check_bind(buffer, Bind.INDEX_BUFFER)
        integer("offset", offset, 0, (1 << 32) - 1)
        if offset % INDEX_BYTES[form]:
            raise InputError("offset", f"be a multiple of {INDEX_BYTES[form]}", offset)
        self.index_buffer = None if buffer is None else (buffer, form, offset)
        self._changed(StateKind.INPUT)

    def set_primitive_topology(self, topology: Topology) -> None:
        """Set what a row of vertices is."""
        self.topology = topology
        self._changed(StateKind.INPUT)

    def pieces(self, place: Place) -> dict[StateKind, bytes]:
        """Its piece of state; tables go to memory."""
        elements = self.layout.elements if self.layout else ()
        rows = [
            encode(
                descriptors.ELEMENT,
                register=element.register,
                form=element.form,
                slot=element.slot,
                step_class=element.step_class,
                offset=element.offset,
                step_rate=element.step_rate,
            )
            for element in elements
        ]
        count = max(self.vertex_buffers, default=-1) + 1
        buffers = [self._vertex_buffer(slot) for slot in range(count)]
        fields = {}
        if self.index_buffer:
            buffer, form, offset = self.index_buffer
            fields = {
                "index_bytes": INDEX_BYTES[form],
                "index_address": buffer.address,
                "index_size": buffer.size,
                "index_offset": offset,
            }
        piece = encode(
            descriptors.INPUT,
            topology=self.topology or 0,
            elements=len(rows),
            elements_address=place(rows),
            buffers=count,
            buffers_address=place(buffers),
            **fields,
        )
        return {StateKind.INPUT: piece}

    def _vertex_buffer(self, slot):
        if slot not in self.vertex_buffers:
            return encode(descriptors.VERTEX_BUFFER)
        buffer, stride, offset = self.vertex_buffers[slot]
        return encode(
            descriptors.VERTEX_BUFFER,
            bound=1,
            address=buffer.address,
            size=buffer.size,
            stride=stride,
            offset=offset,
            filled_address=buffer.filled_address,
        )


@names_calls
class StreamOutput:
    """What D3D11 names SOSet...

    Parameters
    ----------
    changed : callable
        Told which :class:`~fixfunc.spec.ring.StateKind` changes.
    set_word : callable
        Writes a word to an address: how much of a buffer is filled.
    heap : Heap
        That of the device.
    """

    def __init__(self, changed: Changed, set_word: SetWord, heap: Heap) -> None:
        self.heap = heap
        self._changed = changed
        self._set_word = set_word
        self.clear()

    def clear(self) -> None:
        """Unbind all."""
        self.buffers: list[Buffer | None] = []
        self._changed(StateKind.STREAM_OUTPUT)

    def set_targets(
        self, buffers: Sequence[Buffer | None], offsets: Sequence[int] | None = None
    ) -> None:
        """Bind buffers that streams are appended to, from offsets on; -1 goes on where it was."""
        offsets = [0] * len(buffers) if offsets is None else offsets
        integer("targets of stream output", len(buffers), 0, descriptors.BUFFERS)
        integer("offsets", len(offsets), len(buffers), len(buffers))
        for buffer, offset in zip(buffers, offsets, strict=True):
            check_bind(buffer, Bind.STREAM_OUTPUT)
            integer("offset", offset, -1, buffer.size if buffer else 0)
            if buffer and list(buffers).count(buffer) > 1:
                raise InputError("targets of stream output", "be bound once", buffer.size)
            if offset > 0 and offset % 4:
                raise InputError("offset", "be a multiple of 4, or -1", offset)
        for buffer, offset in zip(buffers, offsets, strict=True):
            if buffer and offset >= 0:
                self._set_word(buffer.filled_address, offset)
        self.buffers = list(buffers)
        self._changed(StateKind.STREAM_OUTPUT)

    def pieces(self, place: Place) -> dict[StateKind, bytes]:
        """Its piece of state."""
        rows = [
            encode(
                descriptors.STREAM_BUFFER,
                bound=1,
                address=buffer.address,
                size=buffer.size,
                filled_address=buffer.filled_address,
            )
            if buffer
            else encode(descriptors.STREAM_BUFFER)
            for buffer in self.buffers
        ]
        piece = encode(descriptors.TABLE, address=place(rows), count=len(rows))
        return {StateKind.STREAM_OUTPUT: piece}


@names_calls
class RasterizerStage:
    """What D3D11 names RSSet..."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self.clear()

    def clear(self) -> None:
        """The state of a new device: no viewport, so that nothing is drawn."""
        self.state = RasterizerState()
        self.viewports: tuple[Viewport, ...] = ()
        self.scissors: tuple[tuple[int, int, int, int], ...] = ()
        self._changed(StateKind.RASTERIZER)
        self._changed(StateKind.VIEWPORTS)

    def set_state(self, state: RasterizerState | None) -> None:
        """Set the rasterizer state; None stands for the default."""
        self.state = state or RasterizerState()
        self._changed(StateKind.RASTERIZER)

    def set_viewports(self, viewports: Sequence[Viewport]) -> None:
        """Set up to 16 viewports."""
        integer("viewports", len(viewports), 0, VIEWPORTS)
        self.viewports = tuple(viewports)
        self._changed(StateKind.VIEWPORTS)

    def set_scissor_rects(self, rectangles: Sequence[tuple[int, int, int, int]]) -> None:
        """Set up to 16 scissors: left, top, right, bottom in pixels, ends exclusive."""
        integer("scissors", len(rectangles), 0, VIEWPORTS)
        for value in chain(*rectangles):
            integer("scissor", value, 0, (1 << 32) - 1)  # no limit [fs 15.7]
        self.scissors = tuple(
            tuple(min(value, TARGET_LIMIT) for value in rectangle) for rectangle in rectangles
        )
        self._changed(StateKind.VIEWPORTS)

    def pieces(self, place: Place) -> dict[StateKind, bytes]:
        """Its pieces of state."""
        state = self.state
        slope, clamp = floats(state.slope_scaled_depth_bias, state.depth_bias_clamp)
        rasterizer = encode(
            descriptors.RASTERIZER,
            wireframe=state.wireframe,
            cull=state.cull,
            front_ccw=state.front_counter_clockwise,
            depth_clip=state.depth_clip_enable,
            scissor=state.scissor_enable,
            multisample=state.multisample_enable,
            antialiased_line=state.antialiased_line_enable,
            conservative=state.conservative_raster,
            forced_samples=state.forced_sample_count,
            bias_constant=int(np.uint32(state.depth_bias & 0xFFFFFFFF)),
            bias_slope=slope,
            bias_clamp=clamp,
        )
        rows = []
        for n, port in enumerate(self.viewports):
            names = ("x", "y", "width", "height", "min_depth", "max_depth", "x0", "y0", "x1", "y1")
            values = floats(*(getattr(port, name) for name in names[:6]))
            ends = self.scissors[n] if n < len(self.scissors) else (0, 0, 0, 0)
            fields = dict(zip(names, (*values, *ends), strict=True))
            rows.append(encode(descriptors.VIEWPORT, **fields))
        viewports = encode(descriptors.TABLE, address=place(rows), count=len(rows))
        return {StateKind.RASTERIZER: rasterizer, StateKind.VIEWPORTS: viewports}


@names_calls
class OutputMerger:
    """What D3D11 names OMSet..."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self.clear()

    def clear(self) -> None:
        """The state of a new device: no targets."""
        self.colours: tuple[View | None, ...] = ()
        self.depth: View | None = None
        self.set_blend_state(None)
        self.set_depth_stencil_state(None)
        self._changed(StateKind.TARGETS)

    def set_render_targets(self, colours: Sequence[View | None], depth: View | None = None) -> None:
        """Bind up to eight targets, and one of depths: of one size, in layers and samples too."""
        integer("render targets", len(colours), 0, TARGETS)
        shapes = set()
        kinds = [Bind.RENDER_TARGET] * len(colours) + [Bind.DEPTH_STENCIL]
        for view, kind in zip((*colours, depth), kinds, strict=True):
            if view is None:
                continue
            view.check(kind)
            layout = view.resource.layout
            size = layout.size_of(view.first_level)[:2]
            shapes.add((*size, view.layer_count, layout.samples))
        if len(shapes) > 1:
            raise InputError("targets", "be of one size, layers and samples", sorted(shapes))
        for view, other in combinations(filter(None, colours), 2):
            if view.overlaps(other):
                raise InputError("render targets", "not overlap", view.form.name)
        self.colours = tuple(colours)
        self.depth = depth
        self._changed(StateKind.TARGETS)

    def set_blend_state(
        self,
        state: BlendState | None,
        factor: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
        sample_mask: int = 0xFFFFFFFF,
    ) -> None:
        """Set blending; None stands for the default."""
        integer("sample_mask", sample_mask, 0, 0xFFFFFFFF)
        self.blend = state or BlendState()
        self.factor = tuple(factor)
        self.sample_mask = sample_mask
        self._changed(StateKind.BLEND)

    def set_depth_stencil_state(self, state: DepthStencilState | None, reference: int = 0) -> None:
        """Set the depth and stencil tests; None stands for the default."""
        self.reference = integer("stencil reference", reference, 0, 255)
        self.depth_stencil = state or DepthStencilState()
        self._changed(StateKind.DEPTH_STENCIL)

    def pieces(self, place: Place) -> dict[StateKind, bytes]:
        """Its pieces of state."""
        empty = encode(descriptors.VIEW)
        views = [view.encode() if view else empty for view in self.colours]
        views += [self.depth.encode()] if self.depth else []
        targets = encode(
            descriptors.SURFACES,
            address=place(views),
            colours=len(self.colours),
            has_depth=self.depth is not None,
        )
        rows = [
            encode(descriptors.TARGET_BLEND, **self.blend.of(n)._asdict()) for n in range(TARGETS)
        ]
        blend = encode(
            descriptors.BLEND,
            **{f"factor{n}": bits for n, bits in enumerate(floats(*self.factor))},
            sample_mask=self.sample_mask,
            alpha_to_coverage=self.blend.alpha_to_coverage_enable,
            independent=self.blend.independent_blend_enable,
            address=place(rows),
        )
        return {
            StateKind.TARGETS: targets,
            StateKind.BLEND: blend,
            StateKind.DEPTH_STENCIL: self._tests(),
        }

    def _tests(self):
        state = self.depth_stencil
        fields = {
            f"stencil_{face}_{name}": getattr(its, "pass_" if name == "pass" else name)
            for face, its in (("front", state.front_face), ("back", state.back_face))
            for name, *_ in STENCIL_FACE
        }
        return encode(
            descriptors.DEPTH_STENCIL,
            depth_test=state.depth_enable,
            depth_write=state.depth_enable and state.depth_write,
            depth_compare=state.depth_func,
            stencil_test=state.stencil_enable,
            stencil_read=state.stencil_read_mask,
            stencil_write=state.stencil_write_mask,
            stencil_ref=self.reference,
            **fields,
        )
