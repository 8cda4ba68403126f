# SPDX-License-Identifier: BSD-2-Clause
"""Clears, copies, resolves and smaller levels of textures in memory."""

import numpy as np

from fixfunc.models import formats
from fixfunc.models.lib import float32
from fixfunc.models.memory.layout import target_place, texture_at, written_at
from fixfunc.models.output import averages
from fixfunc.models.output.formats import encode, encode_bits
from fixfunc.models.payload import enumerated, integer
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import DEPTH_FORMATS, FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat

DEPTHS = {
    Format.D16_UNORM: DepthFormat.D16,
    Format.D24_UNORM_S8_UINT: DepthFormat.D24,
    Format.D32_FLOAT: DepthFormat.D32F,
    Format.D32_FLOAT_S8X24_UINT: DepthFormat.D32F,
}


def clear(memory: np.ndarray, view: np.void, packet: np.void) -> None:
    """Clear what a view shows.

    Parameters
    ----------
    memory : ndarray of uint8
    view : numpy.void
        :data:`fixfunc.spec.descriptors.VIEW`, of a target, or for unordered access.
    packet : numpy.void
        :data:`fixfunc.spec.ring.CLEAR`: floats are converted, integers are bits of channels.

    Raises
    ------
    InputError
        A format that is no target's, a rectangle of depths, or a view beyond memory.
    """
    if view["dimension"] == Dimension.BUFFER:
        if packet["rectangle"]:
            raise InputError("rectangle", "be of a texture", Dimension.BUFFER.name)
        _clear_buffer(memory, view, _element(view, packet))
        return
    values = clear_values(view, packet)
    layout, data = written_at(memory, view)
    if packet["rectangle"] and "colour" not in values:
        raise InputError("rectangle", "be of colours", Format(int(view["form"])).name)
    for layer in range(view["layer_count"]):
        place = target_place(view, layer)
        if packet["rectangle"]:
            _fill_rectangle(layout, data, place, values["colour"], packet)
            continue
        if "colour" in values:
            _fill(layout, data, place, values["colour"])
            continue
        if not layout.tiled:
            raise InputError("target", "be tiled", layout.form.name)
        for name, octets in values.items():
            number = int(name == "stencil")
            if number < len(layout.planes):
                _fill(layout, data, place, octets[: layout.planes[number].size], number)


def _element(view, packet):
    """Bytes of an element of a buffer: of its format, or a word, where it has none [fs 5.2.3.1]."""
    if not view["form"]:
        return np.array([packet["value0"]], "<u4").view(np.uint8)
    if view["form"] in list(DEPTH_FORMATS):
        form = Format(int(view["form"])).name
        raise InputError("format of a buffer", "not be one of depths", form)
    return clear_values(view, packet)["colour"]


def clear_values(view: np.void, packet: np.void) -> dict[str, np.ndarray]:
    """What a clear stores of each sample, parameters as in :func:`clear`.

    Returns
    -------
    dict of ndarray of uint8
        Bytes, little end first, of ``depth``, ``stencil`` or ``colour``: of depths four.
    """
    form = enumerated(Format, view["form"], "format")
    bits = np.array([[packet[f"value{n}"] for n in range(4)]], np.uint32)
    values = bits.view(np.float32)
    if form not in DEPTH_FORMATS:
        return {"colour": _texel(form, values, bool(packet["integer"]))}
    out = {}
    if packet["depth"]:
        value = formats.encode(values[0, 0], DEPTHS[form])
        out["depth"] = np.array([value], "<u4").view(np.uint8)
    if packet["stencil"]:
        out["stencil"] = np.array([packet["stencil_value"]], np.uint8)
    return out


def _texel(form, values, as_bits):
    """The texel of four floats, or of what are the bits of integers."""
    if as_bits:
        return encode_bits(values.view(np.uint32), form)[0]
    if form.name.endswith("INT"):
        values = _whole(values, form.name.endswith("SINT"))
    return encode(values, form)[0]


def _fill(layout, data, place, texel, plane=0):
    """Make all texels of a slice, or all values of a plane of it, the same."""
    level, layer, depth_slice = place
    if layout.coded:
        layout.coded_tiles(data, *place, plane).clear(texel)
    elif layout.tiled:
        layout.tiles(data, *place)[plane][:] = texel
    else:
        layout.read(data, level, layer)[depth_slice] = texel


def _fill_rectangle(layout, data, place, texel, packet):
    """Make texels of a rectangle of a slice the same, all of their samples."""
    level, layer, depth_slice = place
    x0, y0, x1, y1 = (int(packet[name]) for name in ("x0", "y0", "x1", "y1"))
    texels = layout.read(data, level, layer).copy()
    texels[depth_slice, y0:y1, x0:x1] = texel
    layout.write(data, level, layer, texels)


def _whole(values, signed):
    """Floats as integers of 32 bits: cut towards zero and to their range; NaN is 0 [fs 5.2.3.1]."""
    low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
    # Exact: a float32 and both ends fit float64.
    cut = np.clip(float32.widened(values, 0), low, high)
    return (cut.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _clear_buffer(memory, view, texel):
    """Elements of a buffer's view: all the same."""
    begin = int(view["address"]) + int(view["first"])
    end = begin + int(view["size"])
    if end > len(memory):
        raise InputError("buffer", f"end within memory, at {len(memory)}", end)
    memory[begin:end] = np.resize(texel, end - begin)


def copy(memory: np.ndarray, source: np.void, target: np.void, packet: np.void) -> None:
    """Copy a box of texels.

    Parameters
    ----------
    memory : ndarray of uint8
    source, target : numpy.void
        :data:`fixfunc.spec.descriptors.VIEW`, of formats of as many bytes.
    packet : numpy.void
        :data:`fixfunc.spec.ring.COPY`; of blocks, whole ones.

    Raises
    ------
    InputError
        A box that lies beyond one of them, or texels of another size.
    """
    from_layout, from_data = texture_at(memory, source)
    to_layout, to_data = texture_at(memory, target)
    if (from_layout.texel, from_layout.samples) != (to_layout.texel, to_layout.samples):
        rule = f"have texels of {from_layout.texel} bytes and {from_layout.samples} samples"
        raise InputError("target of a copy", rule, (to_layout.texel, to_layout.samples))
    texels = from_layout.read(from_data, *_subresource(from_layout, packet, "source"))
    into = _subresource(to_layout, packet, "target")
    whole = to_layout.read(to_data, *into).copy()
    edges, into_edges = (_edges(layout.form) for layout in (from_layout, to_layout))
    at = [int(packet[name]) // edge for name, edge in zip("zyx", into_edges, strict=True)]
    sides = list(zip("zyx", edges, strict=True))
    begin = [int(packet[f"{name}0"]) // edge for name, edge in sides]
    end = [-(-int(packet[f"{name}1"]) // edge) for name, edge in sides]
    for name, n in zip("zyx", range(3), strict=True):
        size = end[n] - begin[n]
        if not (0 <= begin[n] < end[n] <= texels.shape[n] and at[n] + size <= whole.shape[n]):
            raise InputError(f"box along {name}", "lie in source and target", (begin[n], end[n]))
    box = tuple(slice(b, e) for b, e in zip(begin, end, strict=True))
    place = tuple(slice(a, a + e - b) for a, b, e in zip(at, begin, end, strict=True))
    whole[place] = texels[box]
    to_layout.write(to_data, *into, whole)


def _edges(form):
    """Texels of a block along z, y and x."""
    return 1, FORMATS[form].rows, FORMATS[form].block


def resolve(memory: np.ndarray, source: np.void, target: np.void, packet: np.void) -> None:
    """Average the samples of each pixel: see :func:`fixfunc.models.output.averages.mean`.

    Parameters
    ----------
    memory : ndarray of uint8
    source, target : numpy.void
        :data:`fixfunc.spec.descriptors.VIEW`, of one size, the target of one sample.
    packet : numpy.void
        :data:`fixfunc.spec.ring.RESOLVE`: it names the format.

    Raises
    ------
    InputError
        A format without means, one that is not of both textures' family, or another size.

    Source: [fs 5.6.6, 19.2.4].
    """
    from_layout, from_data = texture_at(memory, source)
    to_layout, to_data = texture_at(memory, target)
    form = _averaged(packet["form"], from_layout, to_layout)
    texels = from_layout.read(from_data, *_subresource(from_layout, packet, "source"))
    mean = averages.mean(texels, form)[..., None, :]
    into = _subresource(to_layout, packet, "target")
    if mean.shape != to_layout.read(to_data, *into).shape:
        raise InputError("target of a resolve", f"have size {mean.shape[2]}, {mean.shape[1]}", into)
    to_layout.write(to_data, *into, mean)


def _subresource(layout, packet, which):
    """Level and layer of a packet: others than the texture has raise ``InputError``."""
    return tuple(
        integer(f"{which}_{name}", packet[f"{which}_{name}"], 0, count - 1)
        for name, count in (("level", layout.levels), ("layer", layout.layers))
    )


def mips(memory: np.ndarray, view: np.void) -> None:
    """Make the smaller levels of a view: see :func:`fixfunc.models.output.averages.halved`.

    Parameters
    ----------
    memory : ndarray of uint8
    view : numpy.void
        :data:`fixfunc.spec.descriptors.VIEW`: its format counts.

    Raises
    ------
    InputError
        A format without means, or one that is not of the texture's family.
    """
    layout, data = texture_at(memory, view)
    form = _averaged(view["form"], layout)
    first = int(view["first_level"])
    layers = range(view["first_layer"], view["first_layer"] + view["layer_count"])
    for layer in layers if layout.depth == 1 else (0,):
        for level in range(first, first + int(view["level_count"]) - 1):
            smaller = averages.halved(layout.read(data, level, layer), form)
            layout.write(data, level + 1, layer, smaller)


def _averaged(number, *layouts):
    """A format with means, of the family of textures."""
    form = enumerated(Format, number, "format of a mean")
    averages.check(form)
    for layout in layouts:
        if FORMATS[layout.form].family != FORMATS[form].family:
            raise InputError("format of a mean", f"be that of {layout.form.name}", form.name)
    return form
