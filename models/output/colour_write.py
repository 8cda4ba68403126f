# SPDX-License-Identifier: BSD-2-Clause
"""Colours of a target: blended, and kept in memory behind a cache."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.surface import check_places
from fixfunc.models.memory.tile_cache import TileCache, TrafficKind
from fixfunc.models.memory.tile_codecs import ColourCodec, RawCodec, TileCodec
from fixfunc.models.output import output_merger
from fixfunc.models.output.blend import blend_of
from fixfunc.models.output.formats import colour_format, load, masked, shader_alpha
from fixfunc.models.output.output_merger import (
    Numbers,
    in_steps,
    merge_channels,
    numbers,
    outputs,
    refined,
)
from fixfunc.models.payload import integer
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.state import TARGET_FIELDS, blending_known, needs_constant, needs_second
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendOp


def blend(
    new: np.ndarray,
    old: np.ndarray,
    state: np.void,
    fractions: np.ndarray | None = None,
    constant: np.ndarray | None = None,
    second: Numbers | None = None,
) -> np.ndarray:
    """What is stored of samples.

    Parameters
    ----------
    new, old : ndarray of uint32
        What a shader gives, and what is stored, both in the plane's format.
    state : numpy.void
        With the fields of :data:`fixfunc.spec.payloads.PLANE_STATE`.
    fractions : ndarray of uint32, optional
        What the shader's colours were rounded by; by default nothing.
    constant : ndarray of float32, shape (4,), optional
        Blend constant, ones by default: see :func:`~fixfunc.models.output.output_merger.in_steps`.
    second : Numbers, optional
        The shader's second colours, with fractions; zeros by default.

    Returns
    -------
    ndarray of uint32
        Blended: see :func:`fixfunc.models.output.output_merger.merge_channels`. Where the format
        lacks alpha, the shader's lies at :func:`~fixfunc.models.output.formats.shader_alpha`, and
        what is stored has 1. Colours of sRGB are blended as linear ones, of 16 bits. Unblended: the
        shader's bits, or those of the logic operation, whatever the fractions. Channels that are
        not written keep their bits; bits of no channel are 0.
    """
    form = colour_format(Format(int(state["colour_format"])))
    how = blend_of(state)
    if how.enable and form.kind == "FLOAT":
        given = Numbers(new, np.uint32(0) if fractions is None else fractions)
        return output_merger.merge_packed_floats(given, old, form, how, constant, second)
    if fractions is None and (second is not None or needs_constant(state)):
        fractions = np.uint32(0)  # a factor has steps
    size = form.layout.size
    given, stored = (_bytes(texels, np.shape(new)) for texels in (new, old))
    if how.enable or how.logic:
        source, steps, other = _of_shader(given, form), 1, None
        if fractions is not None and not how.logic:
            bare = source
            source, steps = _refined(bare, fractions, new, form)
            if form.is_srgb and how.op in (BlendOp.MIN, BlendOp.MAX):
                source[:, :3] = bare[:, :3]  # a byte is stored as it came
            if second is not None:
                words = _of_shader(_bytes(second.packed, np.shape(new)), form)
                other, _ = _refined(words, second.fractions, new, form)
        fixed = None if constant is None or not needs_constant(state) else in_steps(constant, form)
        made = merge_channels(source, stored[:, :size], form, how, fixed, other, steps, True)
    else:
        made = masked(given[:, :size], stored[:, :size], form, how.write)
    out = np.zeros_like(given)
    out[:, :size] = made
    return out.view("<u4").reshape(np.shape(new))


def _of_shader(given, form):
    """Packed colours as channels, an alpha that the format does not store among them."""
    alpha = shader_alpha(form)
    channels = form.layout.channels + (() if alpha is None else (alpha,))
    return load(given, form._replace(layout=form.layout._replace(channels=channels)))


def _refined(channels, fractions, new, form):
    """The same with their fractions, of one shape with ``new``; and their steps."""
    return refined(channels, np.broadcast_to(fractions, np.shape(new)).ravel(), form)


def _bytes(texels, shape):
    """Texels of up to 32 bits, as bytes: shape (n, 4)."""
    words = np.broadcast_to(np.asarray(texels, "<u4"), shape)
    return np.ascontiguousarray(words).reshape(-1, 1).view(np.uint8)


def constant_of(clear: np.void) -> np.ndarray:
    """The blend constant of a beat of :data:`fixfunc.spec.payloads.CLEAR`: float32, shape (4,)."""
    return np.array([clear[f.name] for f in payloads.BLEND_CONSTANT], np.uint32).view(np.float32)


class ColourCache(TileCache):
    """Colours in memory, 32 bits a sample, behind a cache: parameters are those of
    :class:`~fixfunc.models.memory.tile_cache.TileCache`."""

    @staticmethod
    def codec(_state: np.void, shape: CacheShape, edge: int) -> TileCodec:
        """By a palette or by differences, if not raw."""
        return RawCodec(4, edge) if shape.colours == "raw" else ColourCodec(4, edge)

    def run(
        self,
        tiles: np.ndarray,
        colours: np.ndarray | Numbers,
        state: np.void,
        passed: np.ndarray | None = None,
        constant: np.ndarray | None = None,
        second: Numbers | None = None,
    ) -> None:
        """Write shaded tiles, in order.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`fixfunc.spec.payloads.tile`, ``mask``: samples that passed an early test.
        colours : ndarray of uint32, or Numbers, shape (n, edge, edge)
            What the shader gives for each sample.
        state : numpy.void
            Of the draw.
        passed : ndarray of bool, shape (n, edge, edge), optional
            Samples that passed in the end; read in draws that are written late.
        constant : ndarray of float32, shape (4,), optional
            Blend constant.
        second : Numbers, optional
            The shader's second colours; zeros by default.

        Raises
        ------
        InputError
            A tile outside the target.
        """
        if not state["colour_write"]:
            check_places(tiles, self._columns, self._rows)
            return
        packed, fractions = numbers(colours)
        fractions = np.broadcast_to(fractions, packed.shape)
        other = second or Numbers(*np.zeros((2, *packed.shape), np.uint32))
        masks = unpack(tiles["mask"], packed.shape[-1])
        late = not state["early_write"]
        reads = state["blend_enable"] or state["logic_op_enable"]
        self.merge(
            tiles,
            masks,
            passed if late and passed is not None else masks,
            not (late or reads) and state["colour_write"] == 15,
            lambda lanes, old: blend(
                *(packed[lanes], old.view("<u4")[:, 0], state, fractions[lanes], constant),
                Numbers(other.packed[lanes], other.fractions[lanes]),
            ),
        )

    def merge(
        self,
        tiles: np.ndarray,
        shaded: np.ndarray,
        written: np.ndarray,
        replaces: bool,
        make: Callable[[tuple[np.ndarray, ...], np.ndarray], np.ndarray],
    ) -> None:
        """Merge samples of tiles with what the target holds, in order.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
        shaded, written : ndarray of bool, shape (n, edge, edge)
            Samples that the shader was asked for, and those of them that are written.
        replaces : bool
            What a sample held makes no difference: a tile that is written as a whole is not
            fetched.
        make : callable
            Takes lanes, a tuple of tile, j and i, and bytes of what these hold, uint8 of shape
            (m, bytes); returns what is stored.
        """
        check_places(tiles, self._columns, self._rows)
        used = np.flatnonzero(shaded.any((1, 2)))
        tiles = tiles[used]
        written = written[used]

        def change(batch, held):
            tile, j, i = np.nonzero(written[batch])
            values = held["values"]
            made = make((used[batch[tile]], j, i), values[tile, j, i])
            values[tile, j, i] = made.view(np.uint8).reshape(len(made), values.shape[-1])
            return written[batch].any((1, 2))

        needed = ~written.all((1, 2)) | (not replaces)
        self.access(self._numbers(tiles), needed, np.ones(len(used), bool), change)


class ColourTarget:
    """Colours of a plane of a target, and what their memory holds.

    Parameters
    ----------
    memory : ndarray of uint8
        All of it: written in place.
    shape : CacheShape, optional
    edge : int
        Samples along a tile's edge.

    Attributes
    ----------
    state : numpy.void
        The draw state in force, from :func:`fixfunc.models.state.draw_state`.
    cache : ColourCache
        Of the target that the last clear of all of one began.
    """

    def __init__(self, memory: np.ndarray, shape: CacheShape | None = None, edge: int = 8) -> None:
        self._memory = memory
        self._shape = shape or CacheShape()
        self._edge = edge
        self.state = None
        self.cache = None
        self._traffic = Counter()

    def clear(self, rectangle: Sequence[int], value: int, base: int = 0) -> None:
        """Clear a rectangle of pixels (x0, y0, x1, y1).

        One of all of the target begins it, and it lies at ``base`` from then on. A value, as it is
        stored, of other than 32 bits raises :class:`~fixfunc.spec.errors.InputError`.
        """
        value = integer("value", value, 0, (1 << payloads.COLOUR) - 1)
        size = int(self.state["target_width"]), int(self.state["target_height"])
        if not any(rectangle[:2]) and all(
            end >= side for end, side in zip(rectangle[2:], size, strict=True)
        ):
            self._traffic = self.traffic
            self.cache = ColourCache(self.state, self._shape, self._edge, self._memory[base:])
        self.cache.clear(rectangle, value)

    def draw(
        self,
        tiles: np.ndarray,
        colours: np.ndarray | Numbers,
        passed: np.ndarray | None = None,
        constant: np.ndarray | None = None,
        second: Numbers | None = None,
    ) -> None:
        """Write shaded tiles: as :meth:`ColourCache.run`."""
        self.cache.run(tiles, colours, self.state, passed, constant, second)

    def flush(self) -> None:
        """Bring all that was written to memory."""
        if self.cache:
            self.cache.flush()

    @property
    def traffic(self) -> Counter[TrafficKind]:
        """Traffic so far: :meth:`fixfunc.models.memory.tile_cache.TileCache.counts`."""
        return self._traffic + (self.cache.counts() if self.cache else Counter())


class ColourPlanes:
    """All colour planes of a target.

    A draw state, and a clear, is of the plane that its ``slot`` says; where there is one plane,
    ``slot`` is not read. A state of the first plane begins a draw state: the others are not written
    until each has had a state of its own. A plane but the first is written, and cleared in part,
    once a clear of all of it has begun it on the target. A state whose format or blending is not
    known writes nothing to its plane; whoever draws while it is the last is to be refused before,
    for all planes, as :class:`~fixfunc.models.memory.contract.StageContract` does. Where the first
    plane is blended with a second colour, no other one is written [fs 17.6].

    Parameters
    ----------
    memory, shape, edge
        As of :class:`ColourTarget`.
    planes : int
        1 to 8.
    formats : sequence of Format
        What planes may be.
    second, floats : bool
        A shader may put out a second colour for the first plane; planes of floats are blended.

    Attributes
    ----------
    planes : list of ColourTarget
    constant : ndarray of float32, shape (4,), or None
        Blend constant of all planes.
    """

    def __init__(
        self,
        memory: np.ndarray,
        shape: CacheShape | None = None,
        edge: int = 8,
        planes: int = 1,
        formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        floats: bool = False,
    ) -> None:
        if not 1 <= planes <= payloads.COLOUR_PLANES:
            raise InputError("planes", f"be 1 to {payloads.COLOUR_PLANES}", planes)
        self.planes = [ColourTarget(memory, shape, edge) for _ in range(planes)]
        self.constant = None
        self._known = tuple(formats), second, planes, floats
        self._second = second
        self._outputs = max(planes, 1 + second)
        self._takes_both = False  # the first plane has both of a shader's colours
        self._begun = [False] * planes
        self._target = None
        self._state = None

    @property
    def state(self) -> np.void:
        """The draw state in force; setting one sets that of its plane."""
        return self._state

    @state.setter
    def state(self, state: np.void) -> None:
        self._state = state
        number = int(state["slot"]) if len(self.planes) > 1 else 0
        is_known = blending_known(state, *self._known)
        if not number:
            self._takes_both = is_known and needs_second(state)
        for n, plane in enumerate(self.planes):
            kept = state if n == number or plane.state is None else plane.state
            own = state.copy()
            for name in payloads.PLANE_STATE:
                own[name] = kept[name]
            if n != number and (not number or plane.state is None):
                own["colour_write"] = 0
            if n == number and (not is_known or (n and self._takes_both)):
                own["colour_write"] = 0
            plane.state = own

    @property
    def written(self) -> list[int]:
        """The format of each colour that a shader is asked for; 0 of those that it is not."""
        states = [plane.state for plane in self.planes]
        formats = [int(state["colour_format"]) if state["colour_write"] else 0 for state in states]
        if self._takes_both:
            formats[1:2] = formats[:1]
        return formats + [0] * (self._outputs - len(formats))

    def clear(self, rectangle: Sequence[int], value: int, base: int = 0, slot: int = 0) -> None:
        """Clear a rectangle of the plane that ``slot`` says: see :meth:`ColourTarget.clear`."""
        number = int(slot) if len(self.planes) > 1 else 0
        value = integer("value", value, 0, (1 << payloads.COLOUR) - 1)
        if number >= len(self.planes):
            return
        size = int(self._state["target_width"]), int(self._state["target_height"])
        covers = tuple(rectangle) == (0, 0, *size)
        if covers and not number and self._state[TARGET_FIELDS] != self._target:
            self._target = self._state[TARGET_FIELDS]
            self._begun = [False] * len(self.planes)
        self._begun[number] |= covers
        if self._begun[number]:
            self.planes[number].clear(rectangle, value, base)

    def draw(
        self, tiles: np.ndarray, colours: np.ndarray | Numbers, passed: np.ndarray | None = None
    ) -> None:
        """Write shaded tiles: as :meth:`ColourCache.run`.

        ``colours`` has the shape (outputs, n, edge, edge); or (n, edge, edge), of every output.
        Outputs are planes; the one behind the first may be a second colour of that.
        """
        of_planes = outputs(colours, self._outputs)
        second = of_planes[1] if self._second else None
        for plane, begun, its in zip(self.planes, self._begun, of_planes, strict=False):
            if begun:
                plane.draw(tiles, its, passed, self.constant, second)

    def flush(self) -> None:
        """Bring all that was written to memory."""
        for plane in self.planes:
            plane.flush()

    @property
    def traffic(self) -> Counter[TrafficKind]:
        """Traffic of all planes: see :attr:`ColourTarget.traffic`."""
        return sum((plane.traffic for plane in self.planes), Counter())
