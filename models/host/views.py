# SPDX-License-Identifier: BSD-2-Clause
"""Views: what of a resource is bound, and as which format."""

from dataclasses import dataclass

from fixfunc.models.frontend.state.pieces import encode
from fixfunc.models.host.resources import Bind, Buffer, Texture, check_bind
from fixfunc.models.output.formats import RENDERABLE, STORABLE
from fixfunc.models.payload import integer
from fixfunc.models.texture.texels import DXGI
from fixfunc.spec.descriptors import VIEW, Dimension, UnorderedFlag
from fixfunc.spec.dxgi import CAST_TO_WORDS, DEPTH_FORMATS, FORMATS, WORDS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS

RAW_PLACE = 16  # bytes, where views of words begin


@dataclass(eq=False)
class View:
    """A view.

    Parameters
    ----------
    resource : Buffer or Texture
    kind : Bind
        RENDER_TARGET, DEPTH_STENCIL, SHADER_RESOURCE or UNORDERED_ACCESS.
    form : Format
    dimension : Dimension
    first_level, level_count, first_layer, layer_count : int
        Of textures; of 3D targets layers are slices.
    read_only_depth, read_only_stencil : bool
        Of depths and stencil values: they are not written.
    first, size : int
        Of buffers, bytes.
    flag : UnorderedFlag
        Which counter it has.
    counter_address : int
        Of its counter, a word: whatever is bound, it stays as long as the buffer.
    """

    resource: Buffer | Texture
    kind: Bind
    form: Format
    dimension: Dimension
    first_level: int = 0
    level_count: int = 1
    first_layer: int = 0
    layer_count: int = 1
    read_only_depth: bool = False
    read_only_stencil: bool = False
    first: int = 0
    size: int = 0
    flag: UnorderedFlag = UnorderedFlag.NONE
    counter_address: int = 0

    def check(self, kind: Bind) -> None:
        """Raise ``InputError`` for a view of another kind."""
        if self.kind != kind:
            raise InputError("view", f"be one of {kind.name}", self.kind)

    def overlaps(self, other: "View") -> bool:
        """Whether a level and a layer, or slice, are shown by both; of buffers, whether one is."""
        if self.resource is not other.resource or isinstance(self.resource, Buffer):
            return self.resource is other.resource
        return all(
            max(getattr(self, f"first_{part}"), getattr(other, f"first_{part}"))
            < min(_end(self, part), _end(other, part))
            for part in ("level", "layer")
        )

    def encode(self) -> bytes:
        """As :data:`fixfunc.spec.descriptors.VIEW`."""
        if isinstance(self.resource, Buffer):
            return encode(
                VIEW,
                address=self.resource.address,
                form=self.form,
                stored=Format.UNKNOWN,
                dimension=Dimension.BUFFER,
                first=self.first,
                size=self.size,
                stride=self.resource.stride,
            )
        layout = self.resource.layout
        return encode(
            VIEW,
            address=self.resource.address,
            form=self.form,
            stored=layout.form,
            dimension=self.dimension,
            samples=SAMPLE_COUNTS.index(layout.samples),
            tiled=layout.tiled,
            coded=layout.coded,
            width=layout.width,
            height=layout.height,
            depth=layout.depth,
            levels=layout.levels,
            layers=layout.layers,
            first_level=self.first_level,
            level_count=self.level_count,
            first_layer=self.first_layer,
            layer_count=self.layer_count,
            read_only_depth=self.read_only_depth,
            read_only_stencil=self.read_only_stencil,
            min_lod=self.resource.min_lod,
        )


def _end(view, part):
    """The first level, or layer, behind a view."""
    return getattr(view, f"first_{part}") + getattr(view, f"{part}_count")


def whole(texture: Texture) -> View:
    """All of a texture, as copies take it."""
    layers = texture.layout.depth if texture.dimension == Dimension.TEXTURE3D else 0
    return View(
        texture,
        Bind(0),
        texture.form,
        texture.dimension,
        level_count=texture.layout.levels,
        layer_count=layers or texture.layout.layers,
    )


def buffer_view(
    buffer: Buffer, kind: Bind, form: Format, first: int = 0, size: int | None = None
) -> View:
    """A view of whole elements of a buffer, in bytes.

    Elements are texels of a format; without one structures of a structured buffer, or words of 32
    bits, which begin at a multiple of 16 bytes [fs 5.1.4, 5.2.2, 18.7.2.2]. By default the view has
    all from ``first`` on.

    Raises
    ------
    InputError
        The buffer may not be bound so; a format that no buffer is read as; a part that lies beyond
        the buffer, or is not of whole elements.
    """
    check_bind(buffer, kind)
    element = _element(buffer, form)
    if form:
        _fits(kind, form)
    integer("first", first, 0, buffer.size - 1)
    place = element if form or buffer.stride else RAW_PLACE
    if first % place:
        raise InputError("first", f"be a multiple of {place} bytes", first)
    room = (buffer.size - first) // element * element
    if size is None and not room:
        raise InputError("buffer", f"hold an element of {element} bytes", buffer.size - first)
    size = room if size is None else size
    integer("size", size, 1, buffer.size - first)
    if size % element:
        raise InputError("size", f"be a multiple of {element} bytes", size)
    return View(buffer, kind, form, Dimension.BUFFER, first=first, size=size)


def _element(buffer, form):
    """Bytes of an element of a buffer's view."""
    if form == Format.UNKNOWN:
        return buffer.stride or 4
    if buffer.stride:
        raise InputError("format of the view", "be UNKNOWN for a structured buffer", form.name)
    if form not in DXGI or FORMATS[form].block > 1:
        raise InputError("format of the view", "be one that a buffer is read as", form.name)
    return FORMATS[form].bytes


def texture_view(
    texture: Texture,
    kind: Bind,
    form: Format | None = None,
    first_level: int = 0,
    level_count: int | None = None,
    first_layer: int = 0,
    layer_count: int | None = None,
    cube: bool = False,
    read_only_depth: bool = False,
    read_only_stencil: bool = False,
) -> View:
    """A view of levels and layers of a texture.

    Parameters
    ----------
    texture : Texture
    kind : Bind
    form : Format, optional
        That of the texture by default, which must not be typeless then.
    first_level, first_layer : int
    level_count, layer_count : int, optional
        All from the first on by default; of targets and for unordered access one level.
    cube : bool
        As cubes: six layers each.
    read_only_depth, read_only_stencil : bool

    Raises
    ------
    InputError
        The texture may not be bound so; a format of another family, or that cannot be so; levels
        or layers that there are not.
    """
    check_bind(texture, kind)
    layout = texture.layout
    form = layout.form if form is None else form
    is_cast = kind == Bind.UNORDERED_ACCESS and layout.form in CAST_TO_WORDS and form in WORDS
    if FORMATS[form].family != FORMATS[layout.form].family and not is_cast:
        family = [
            name.name for name in Format if FORMATS[name].family == FORMATS[layout.form].family
        ]
        raise InputError("format of the view", f"be one of {', '.join(family)}", form.name)
    if not FORMATS[layout.form].typeless and form != layout.form:
        raise InputError(
            "format of the view", f"be {layout.form.name}, which has a type", form.name
        )
    if FORMATS[form].typeless:
        raise InputError("format of the view", "have a type", form.name)
    _fits(kind, form)
    integer("first_level", first_level, 0, layout.levels - 1)
    is_output = kind != Bind.SHADER_RESOURCE
    most = 1 if is_output else layout.levels - first_level
    level_count = integer("level_count", most if level_count is None else level_count, 1, most)
    is_volume = texture.dimension == Dimension.TEXTURE3D
    layers = layout.size_of(first_level)[2] if is_volume else layout.layers
    integer("first_layer", first_layer, 0, layers - 1)
    layer_count = layers - first_layer if layer_count is None else layer_count
    integer("layer_count", layer_count, 1, layers - first_layer)
    if is_volume and not is_output and layer_count < layers:
        raise InputError("layer_count", f"be all {layers} slices of a volume to read", layer_count)
    if cube and (not texture.cube or layer_count % 6):
        raise InputError("cube", "be of a cube's texture, six layers each", layer_count)
    if cube and kind == Bind.UNORDERED_ACCESS:  # [fs 22.3.42]
        raise InputError("cube", "be off for UNORDERED_ACCESS", cube)
    if (read_only_depth or read_only_stencil) and kind != Bind.DEPTH_STENCIL:
        raise InputError("read_only", "be of depths", kind)
    return View(
        texture,
        kind,
        form,
        Dimension.CUBE if cube else texture.dimension,
        first_level,
        level_count,
        first_layer,
        layer_count,
        read_only_depth,
        read_only_stencil,
    )


def _fits(kind, form):
    """Whether a format may be bound so."""
    if (kind == Bind.DEPTH_STENCIL) != (form in DEPTH_FORMATS):
        names = ", ".join(depth.name for depth in DEPTH_FORMATS)
        rule = f"be one of {names} for DEPTH_STENCIL, and for nothing else"
        raise InputError("format of the view", rule, form.name)
    if kind == Bind.RENDER_TARGET and form not in RENDERABLE:
        raise InputError("format of a render target", "be one that is drawn to", form.name)
    if kind == Bind.UNORDERED_ACCESS and form not in STORABLE:  # [fs 5.3.9.2]
        rule = "be one that is drawn to, and not sRGB, for UNORDERED_ACCESS"
        raise InputError("format of the view", rule, form.name)
