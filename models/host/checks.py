# SPDX-License-Identifier: BSD-2-Clause
"""What a context checks before a draw or a dispatch, as D3D11's debug layer does.

Each function raises :class:`~fixfunc.spec.errors.InputError` for what breaks a rule.
"""

from itertools import combinations

from fixfunc.models.frontend.work_distributor import MOST_GROUPS
from fixfunc.models.host.calls import check_held
from fixfunc.models.host.resources import Bind, Buffer, Texture, Usage
from fixfunc.models.host.transfers.mapping import check_unmapped
from fixfunc.models.machine.back_state import check_forced
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.output import output_merger
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import BindingKind
from fixfunc.spec.draw import PATCH
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SECOND_SOURCES

STENCILS = Format.X24_TYPELESS_G8_UINT, Format.X32_TYPELESS_G8X24_UINT  # views of these alone


def draw(context, indexed: bool) -> None:
    """State of a draw call."""
    if context.vs.shader is None:
        raise InputError("vertex shader", "be set", None)
    topology = context.ia.topology
    if topology is None:
        raise InputError("topology", "be set", None)
    if indexed and context.ia.index_buffer is None:
        raise InputError("index buffer", "be set for a draw by indices", None)
    is_patch = topology >= PATCH
    hull = context.hs.shader
    if (hull is None) != (context.ds.shader is None):
        raise InputError("hull and domain shader", "be set together", hull and hull.stage.name)
    if hull is not None and not is_patch:
        raise InputError("topology", "be a patch with a hull shader", topology.name)
    geometry = context.gs.shader.program if context.gs.shader else GeometryShader()
    if is_patch and hull is None and geometry.function is None and geometry.rasterized is not None:
        raise InputError("hull shader", "be set for patches", None)
    for n, view in enumerate(context.om.colours):
        if view:
            _blend(context.om.blend.of(n), view.form)
    _second_source(context.om)
    if context.rs.state.conservative_raster:
        _conservative(context)
    if context.rs.state.forced_sample_count:
        _forced(context)
    _held(context)
    _hazards(context)


def _blend(blend, form):
    """A format has what its blending asks for; logic operations those of UINT [fs 17.7.1]."""
    if blend.logic and not form.name.endswith("_UINT"):
        raise InputError("logic operation", "be off but for targets of UINT", form.name)
    output_merger.check(blend, form)


def _second_source(om):
    """A blend that takes a second source has one target [fs 17.6]."""
    for slot in (n for n, view in enumerate(om.colours) if view):
        blend = om.blend.of(slot)
        factors = {blend.source, blend.target, blend.source_alpha, blend.target_alpha}
        is_alone = slot == 0 and not any(om.colours[1:])
        if blend.enable and factors & SECOND_SOURCES and not is_alone:
            raise InputError("render targets", "be one, in slot 0, with a second source", "others")


def draw_auto(context) -> None:
    """State of a draw of what stream output has written."""
    bound = context.ia.vertex_buffers.get(0)
    if bound is None or not bound[0].bind & Bind.STREAM_OUTPUT:
        raise InputError("vertex buffer 0", "be one of STREAM_OUTPUT", bound and bound[0].bind)
    draw(context, indexed=False)


def _conservative(context):
    """Tier 1: depths of centres outside of their triangle do not fit the depth test."""
    if context.om.depth is not None:
        raise InputError("conservative_raster", "be off with a target of depths", True)
    for view in filter(None, context.om.colours):
        samples = view.resource.layout.samples
        if samples > 1:
            raise InputError("conservative_raster", "be off with several samples", samples)


def _forced(context):
    """What goes with a forced number of samples [fs 3.5.6.2]."""
    tests = context.om.depth_stencil
    has_depths = context.om.depth is not None or tests.depth_enable or tests.stencil_enable
    samples = (view.resource.layout.samples for view in context.om.colours if view)
    shader = context.ps.shader.program if context.ps.shader else None
    check_forced(context.rs.state.forced_sample_count, samples, has_depths, shader)


def _held(context):
    """What is bound exists, on this device."""
    for slot, (buffer, _, _) in context.ia.vertex_buffers.items():
        _usable(f"vertex buffer {slot}", buffer, context.heap)
    _usable("index buffer", context.ia.index_buffer and context.ia.index_buffer[0], context.heap)
    for slot, value in enumerate((*context.om.colours, context.om.depth)):
        _usable(f"target {slot}", value, context.heap)
    for slot, buffer in enumerate(context.so.buffers):
        _usable(f"target {slot} of stream output", buffer, context.heap)
    for stage in context.stages:
        _held_by(stage, context)


def _held_by(stage, context):
    """What is bound to a stage exists, on this device."""
    if stage.shader and context.shaders.get(stage.shader.number) is not stage.shader.program:
        raise InputError("shader", "be of the same device", stage.shader.stage.name)
    for (kind, slot), value in stage.bound.items():
        _usable(f"{kind.name.lower()} {slot}", value, context.heap)


def _usable(name, value, heap):
    """A resource, or a view of one, that exists here, and that the CPU does not have."""
    check_held(name, value, heap)
    resource = getattr(value, "resource", value)
    if isinstance(resource, Buffer | Texture):
        check_unmapped(name, resource)


def _hazards(context):
    """No subresource is read and written at once."""
    targets = [view for view in context.om.colours if view]
    streams = {buffer for buffer in context.so.buffers if buffer}
    unordered = _unordered(context.ps)
    for view in unordered:
        if any(map(view.overlaps, filter(None, (*targets, context.om.depth)))):
            raise InputError("unordered access", "not be to a target", view.form.name)
    for stage in context.stages[:-1]:
        for (kind, slot), bound in stage.bound.items():
            if kind != BindingKind.RESOURCE:
                continue
            if bound.resource in streams or any(map(bound.overlaps, targets)):
                raise InputError(f"resource in slot {slot}", "not be drawn to", bound.form.name)
            if any(map(bound.overlaps, unordered)):
                raise InputError(f"resource in slot {slot}", "not be written to", bound.form.name)
            _depth_hazard(f"resource in slot {slot}", bound, context.om.depth)
    inputs = {f"vertex buffer {n}": row[0] for n, row in context.ia.vertex_buffers.items()}
    if context.ia.index_buffer:
        inputs["index buffer"] = context.ia.index_buffer[0]
    for name, buffer in inputs.items():
        if buffer in streams:
            raise InputError(name, "not be one of stream output", buffer.bind)
        if any(buffer is view.resource for view in unordered):
            raise InputError(name, "not be bound for unordered access", buffer.bind)


def _unordered(stage):
    """Views for unordered access of a stage; no two of one slice of a texture [fs 5.3.9.4]."""
    views = [view for (kind, _), view in stage.bound.items() if kind == BindingKind.UNORDERED]
    for view, other in combinations(views, 2):
        if isinstance(view.resource, Texture) and view.overlaps(other):
            raise InputError("unordered access", "not be to a slice twice", view.form.name)
    return views


def _depth_hazard(name, bound, depth):
    """Depths, or stencil values, are read where they are not written [fs 17.13]."""
    if depth is None or not bound.overlaps(depth):
        return
    is_kept = depth.read_only_stencil if bound.form in STENCILS else depth.read_only_depth
    if not is_kept:
        raise InputError(name, "not be drawn to", bound.form.name)


def dispatch(context, *groups: int) -> None:
    """State of a dispatch."""
    if context.cs.shader is None:
        raise InputError("compute shader", "be set", None)
    unordered = _unordered(context.cs)
    for (kind, slot), view in context.cs.bound.items():
        if kind == BindingKind.RESOURCE and any(map(view.overlaps, unordered)):
            raise InputError(f"resource in slot {slot}", "not be written to", view.form.name)
    _held_by(context.cs, context)
    for axis, count in zip("xyz", groups, strict=True):
        integer(f"groups along {axis}", count, 0, MOST_GROUPS)


def arguments(buffer: Buffer, offset: int, size: int) -> None:
    """Arguments of an indirect call."""
    if buffer.usage == Usage.STAGING:
        raise InputError("usage of arguments", "not be STAGING", buffer.usage.name)
    check_unmapped("arguments", buffer)
    integer("offset of arguments", offset, 0, buffer.size - size)
    if offset % 4:
        raise InputError("offset of arguments", "be a multiple of 4", offset)
