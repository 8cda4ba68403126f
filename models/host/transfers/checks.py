# SPDX-License-Identifier: BSD-2-Clause
"""What a command that moves data must obey, as D3D11's debug layer checks it.

Each function raises :class:`~fixfunc.spec.errors.InputError` for what breaks a rule.
"""

from fixfunc.models.host.resources import Bind, Buffer, Texture, Usage
from fixfunc.models.host.transfers.mapping import check_unmapped
from fixfunc.models.host.views import View
from fixfunc.models.output import averages
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import DEPTH_FORMATS, FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TARGET_LIMIT

MOST_LOD = (1 << 12) - 1  # of a view, 1/256


def depth(value: float) -> float:
    """A depth to clear to."""
    if not 0 <= value <= 1:
        raise InputError("depth", "lie in 0..1", value)
    return value


def stencil(view: View, value: int) -> int:
    """A stencil value to clear to."""
    if not DEPTH_FORMATS[view.form]:
        raise InputError("stencil", f"be None: {view.form.name} has none", value)
    return integer("stencil", value, 0, 255)


def cleared(view: View) -> None:
    """A view whose rectangles are cleared [fs 5.2.3.3]."""
    if view.kind not in (Bind.RENDER_TARGET, Bind.UNORDERED_ACCESS):
        raise InputError("view", "be one of RENDER_TARGET or UNORDERED_ACCESS", view.kind)
    if view.dimension != Dimension.TEXTURE2D:
        raise InputError("view", "be of a 2D texture", view.dimension.name)
    check_unmapped("view", view.resource)


def rectangle(sides: tuple[int, int, int, int]) -> tuple[int, ...]:
    """Left, top, right and bottom of a rectangle, cut to the greatest texture."""
    for name, side in zip(("left", "top", "right", "bottom"), sides, strict=True):
        integer(name, side, -(1 << 31), (1 << 31) - 1)
    return tuple(min(max(side, 0), TARGET_LIMIT) for side in sides)


def copied(
    target: Buffer | Texture,
    source: Buffer | Texture,
    into: tuple[int, int] | None = None,
    out_of: tuple[int, int] | None = None,
) -> None:
    """What is copied is not mapped, and its target may be written; by default all of both."""
    if target.usage == Usage.IMMUTABLE:
        raise InputError("usage of the target", "not be IMMUTABLE", target.usage.name)
    check_unmapped("target", target, into)
    check_unmapped("source", source, out_of)


def updated(target: Buffer | Texture) -> None:
    """What can be mapped is not updated, nor is what nobody writes [fs 5.6.8]."""
    if target.usage == Usage.IMMUTABLE:
        raise InputError("usage of the target", "not be IMMUTABLE", target.usage.name)
    if target.cpu_access:
        raise InputError("cpu_access of the target", "be NONE: it can be mapped", target.cpu_access)


def same_kind(target: Buffer | Texture, source: Buffer | Texture) -> None:
    """Both are buffers, or textures of one dimension."""
    if type(target) is not type(source):
        raise InputError("target", f"be a {type(source).__name__}", type(target).__name__)
    if isinstance(source, Texture) and target.dimension != source.dimension:
        raise InputError("target", f"be a {source.dimension.name}", target.dimension.name)


def same_family(target: Texture, source: Texture) -> None:
    """Formats have the same bits."""
    family = FORMATS[source.form].family
    if FORMATS[target.form].family != family:
        raise InputError("format of the target", f"be of {family.name}", target.form.name)


def not_same(target: Buffer | Texture, source: Buffer | Texture) -> None:
    """Nothing is copied to itself."""
    if target is source:
        raise InputError("target", "not be the source", type(target).__name__)


# Formats that blocks of 8 and of 16 bytes are copied to and from, a texel a block.
COPIED_AS_BLOCKS = {
    Format.R16G16B16A16_UINT,
    Format.R16G16B16A16_SINT,
    Format.R32G32_UINT,
    Format.R32G32_SINT,
    Format.R32G32B32A32_UINT,
    Format.R32G32B32A32_SINT,
}


def same_shape(target: Texture, source: Texture) -> None:
    """Both are of one family, and have one size, and as many levels, layers and samples."""
    same_family(target, source)
    names = ("width", "height", "depth", "levels", "layers", "samples")
    for name in names:
        of, other = getattr(source.layout, name), getattr(target.layout, name)
        integer(f"{name} of the target", other, of, of)


def same_texels(target: Texture, source: Texture) -> None:
    """Formats of one family; or one of blocks, the other of integers of a block's bytes."""
    into, out_of = FORMATS[target.form], FORMATS[source.form]
    integers = source.form if into.block > 1 else target.form
    is_converted = into.block != out_of.block and integers in COPIED_AS_BLOCKS
    if not is_converted or into.bytes != out_of.bytes:
        same_family(target, source)


def copy(target: Texture, into, source: Texture, out_of, at, box) -> None:
    """A box lies in source and target, on whole blocks; of samples and depths all is copied."""
    size = source.layout.size_of(out_of[0])
    room = target.layout.size_of(into[0])
    sides = zip(box[:3], box[3:], at, size, room, _edges(source), _edges(target), strict=True)
    for axis, side in zip("xyz", sides, strict=True):
        _side(axis, *side)
    samples = source.layout.samples
    integer("samples of the target", target.layout.samples, samples, samples)
    is_part = tuple(box) != (0, 0, 0, *size) or tuple(at) != (0, 0, 0) or size != room
    if is_part and (samples > 1 or (source.bind | target.bind) & Bind.DEPTH_STENCIL):
        raise InputError("box", "be all of a texture with samples or depths", tuple(box))


def _edges(texture):
    """Texels of a block along x, y and z."""
    info = FORMATS[texture.form]
    return info.block, info.rows, 1


def _side(axis, begin, end, place, size, room, edge, into_edge):
    """One axis of a box of blocks that are stored, or to the level's end [fs 19.5.1]."""
    stored = -(-size // edge) * edge
    integer(f"box along {axis}", begin, 0, stored)
    integer(f"end of the box along {axis}", end, begin + 1, stored)
    for name, value, unit in (
        (f"box along {axis}", begin, edge),
        (f"end of the box along {axis}", end if end != size else stored, edge),
        (f"place along {axis}", place, into_edge),
    ):
        if value % unit:
            raise InputError(name, f"be a multiple of {unit}", value)
    extent = (-(-end // edge) - begin // edge) * into_edge
    space = -(-room // into_edge) * into_edge
    if extent > space:
        raise InputError(f"box along {axis}", f"fit the target's {space} texels", extent)
    integer(f"place along {axis}", place, 0, space - extent)


def resolve(target: Texture, into, source: Texture, out_of, form: Format | None) -> None:
    """Source and target of a resolve."""
    if source.layout.samples == 1 or target.layout.samples > 1:
        counts = source.layout.samples, target.layout.samples
        raise InputError("samples", "be several of the source and one of the target", counts)
    if target.usage != Usage.DEFAULT:  # [fs 5.6.6]
        raise InputError("usage of the target", "be DEFAULT", target.usage.name)
    same_kind(target, source)
    same_family(target, source)
    if source.layout.size_of(out_of[0]) != target.layout.size_of(into[0]):
        raise InputError(
            "size of the target", "be that of the source", target.layout.size_of(into[0])
        )
    form = form or resolved_form(target, source)
    for of in (source.form, target.form):
        if form != of and not (FORMATS[of].typeless and FORMATS[of].family == FORMATS[form].family):
            raise InputError("format", f"be that of {of.name}", form.name)
    averages.check(form)


def resolved_form(target: Texture, source: Texture) -> Format:
    """The format of a resolve that names none: that of the texture with a type."""
    return target.form if FORMATS[source.form].typeless else source.form


def mips(of: View) -> None:
    """A view whose levels can be made."""
    of.check(Bind.SHADER_RESOURCE)
    if isinstance(of.resource, Buffer) or not of.resource.bind & Bind.RENDER_TARGET:
        raise InputError("bind of the texture", "include RENDER_TARGET", of.resource.bind)
    averages.check(of.form)


def min_lod(texture: Texture, value: float) -> int:
    """The least level of a texture as a view has it: in 1/256, beyond the last for all above."""
    if texture.bind & Bind.SHADER_RESOURCE != Bind.SHADER_RESOURCE:
        raise InputError("texture", "be bound to be read", texture.bind)
    if not value >= 0:
        raise InputError("min_lod", "be at least 0", value)
    return round(min(value, MOST_LOD / 256) * 256)


def floats_of(view: View) -> None:
    """A view whose format is of floats, or converted from them [fs 5.2.3.1]."""
    if not view.form.name.endswith(("_FLOAT", "NORM")):
        raise InputError("format of the view", "be of UNORM, SNORM or FLOAT", view.form.name)


def counted(view: View) -> None:
    """A view that has a counter."""
    view.check(Bind.UNORDERED_ACCESS)
    if not view.flag:
        raise InputError("flag of the view", "be APPEND or COUNTER", view.flag.name)
