# SPDX-License-Identifier: BSD-2-Clause
"""Programmable stages of a context: shaders, and what is bound to them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fixfunc.models.frontend.state.pieces import encode, floats
from fixfunc.models.host.calls import names_calls
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.resources import Bind, Buffer, check_bind
from fixfunc.models.host.states import SamplerState
from fixfunc.models.host.views import View
from fixfunc.models.payload import integer
from fixfunc.models.texture.sampler import ADDRESSES, FILTERS, REDUCTIONS
from fixfunc.spec.descriptors import (
    BINDING,
    CONSTANTS,
    SAMPLER,
    SHADERS,
    TABLE,
    BindingKind,
    Stage,
)
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import StateKind

SLOTS = {  # of a stage [fs 21]
    BindingKind.CONSTANTS: 14,
    BindingKind.RESOURCE: 128,
    BindingKind.SAMPLER: 16,
    BindingKind.UNORDERED: 8,
}
CONSTANT = 16  # bytes
MOST_CONSTANTS = 4096  # that a shader sees of a buffer
CONSTANT_STEP = 16  # constants, of parts of a buffer [fs 5.3.4.3.2]
WORD = (1 << 32) - 1
KEEP = -1  # a counter stays as it is
MOST_COUNT = (1 << 32) - 2  # all ones is -1


class Constants(NamedTuple):
    """A part of a constant buffer."""

    resource: Buffer
    first: int  # bytes
    shown: int  # bytes that a shader sees


def constants_of(buffer: Buffer, first: int, count: int | None) -> Constants:
    """A part of a constant buffer, in constants; by default all up to 4096.

    Raises
    ------
    InputError
        A part that begins or ends between two sixteens, or is too great.
    """
    integer("first constant", first, 0, WORD // CONSTANT)
    left = max(buffer.size // CONSTANT - first, 0)
    is_whole = count is None
    count = min(left, MOST_CONSTANTS) if is_whole else count
    integer("constant count", count, 0, MOST_CONSTANTS)
    for name, value in (("first constant", first), ("constant count", 0 if is_whole else count)):
        if value % CONSTANT_STEP:
            raise InputError(name, f"be a multiple of {CONSTANT_STEP}", value)
    return Constants(buffer, CONSTANT * first, CONSTANT * count)


class Shader:
    """A shader of a device, by its number in packets.

    Parameters
    ----------
    number : int
    stage : Stage
    program : object
        A callable, or an object of :mod:`fixfunc.models.machine.shaders`.
    """

    def __init__(self, number: int, stage: Stage, program: object) -> None:
        self.number = number
        self.stage = stage
        self.program = program


@names_calls
class ShaderStage:
    """A programmable stage of a context.

    Parameters
    ----------
    stage : Stage
    changed : callable
        Told which :class:`~fixfunc.spec.ring.StateKind` changes.
    set_word : callable
        Writes a word to an address: the counter of a view.
    heap : Heap
        That of the device.

    Attributes
    ----------
    shader : Shader, optional
    bound : dict of (BindingKind, slot) to what is bound
    """

    def __init__(
        self,
        stage: Stage,
        changed: Callable[[StateKind], object],
        set_word: Callable[[int, int], object],
        heap: Heap,
    ) -> None:
        self.heap = heap
        self._stage = stage
        self._changed = changed
        self._set_word = set_word
        self.shader: Shader | None = None
        self.bound: dict[tuple[BindingKind, int], Constants | View | SamplerState] = {}

    def set_shader(self, shader: Shader | None) -> None:
        """Set the stage's shader; None turns the stage off."""
        if shader is not None and shader.stage != self._stage:
            raise InputError("shader", f"be of stage {self._stage.name}", shader.stage.name)
        self.shader = shader
        self._changed(StateKind.SHADERS)

    def set_constant_buffers(
        self,
        start: int,
        buffers: Sequence[Buffer | None],
        first_constants: Sequence[int] | None = None,
        constant_counts: Sequence[int] | None = None,
    ) -> None:
        """Bind constant buffers to slots from ``start`` on; None unbinds.

        Parameters
        ----------
        start : int
        buffers : sequence of Buffer, optional
        first_constants, constant_counts : sequence of int, optional
            The part of each that a shader sees, in constants of 16 bytes: multiples of 16, at most
            4096 of them; zeros where the buffer has ended [fs 5.3.4.3.2]. By default a buffer's
            first 4096.
        """
        for buffer in buffers:
            check_bind(buffer, Bind.CONSTANT_BUFFER)
        firsts = [0] * len(buffers) if first_constants is None else first_constants
        counts = [None] * len(buffers) if constant_counts is None else constant_counts
        integer("first_constants", len(firsts), len(buffers), len(buffers))
        integer("constant_counts", len(counts), len(buffers), len(buffers))
        parts = [
            buffer and constants_of(buffer, first, count)
            for buffer, first, count in zip(buffers, firsts, counts, strict=True)
        ]
        self._bind(BindingKind.CONSTANTS, start, parts)

    def set_shader_resources(self, start: int, views: Sequence[View | None]) -> None:
        """Bind views of resources to slots from ``start`` on; None unbinds."""
        self._views(BindingKind.RESOURCE, Bind.SHADER_RESOURCE, start, views)

    def set_samplers(self, start: int, samplers: Sequence[SamplerState | None]) -> None:
        """Bind samplers to slots from ``start`` on; None stands for the default."""
        self._bind(BindingKind.SAMPLER, start, samplers)

    def set_unordered_access_views(
        self,
        start: int,
        views: Sequence[View | None],
        initial_counts: Sequence[int] | None = None,
    ) -> None:
        """Bind views for unordered access, of a pixel or a compute shader.

        D3D11 sets those of a pixel shader with the targets, in slots behind theirs.

        Parameters
        ----------
        start : int
        views : sequence of View, optional
        initial_counts : sequence of int, optional
            Of views with a counter: what it is from now on; -1, as by default, keeps it
            [fs 5.3.10.2].
        """
        if self._stage not in (Stage.PIXEL, Stage.COMPUTE):
            rule = "be of a pixel or compute shader"
            raise InputError("unordered access", rule, self._stage.name)
        counts = [KEEP] * len(views) if initial_counts is None else initial_counts
        integer("initial_counts", len(counts), len(views), len(views))
        counted = []
        for view, count in zip(views, counts, strict=True):
            integer("initial count", count, KEEP, MOST_COUNT)
            if view and view.flag and count != KEEP:
                counted.append((view.counter_address, count))
        self._views(BindingKind.UNORDERED, Bind.UNORDERED_ACCESS, start, views)
        for address, count in counted:
            self._set_word(address, count)

    def clear(self) -> None:
        """Unbind all."""
        self.bound.clear()
        self.set_shader(None)
        self._changed(StateKind.BINDINGS)

    def _views(self, kind, bind, start, views):
        for view in filter(None, views):
            view.check(bind)
        self._bind(kind, start, views)

    def _bind(self, kind, start, values):
        integer(f"start of {kind.name}", start, 0, SLOTS[kind] - 1)
        integer(f"end of {kind.name}", start + len(values), 0, SLOTS[kind])
        for slot, value in enumerate(values, start):
            if value is None:
                self.bound.pop((kind, slot), None)
            else:
                self.bound[kind, slot] = value
        self._changed(StateKind.BINDINGS)

    def table(self) -> list[bytes]:
        """Transfers of what is bound: pairs, as :data:`fixfunc.spec.descriptors.BINDING` says."""
        out = []
        for (kind, slot), value in self.bound.items():
            fields = {}
            if isinstance(value, View):
                fields = {"flag": value.flag, "counter_address": value.counter_address}
            head = encode(BINDING, stage=self._stage, kind=kind, slot=slot, **fields)
            out += [head, _entry(value)]
        return out


def shaders(stages: dict[Stage, ShaderStage]) -> bytes:
    """The piece of state that names shaders."""
    numbers = {stage.name.lower(): its.shader.number for stage, its in stages.items() if its.shader}
    return encode(SHADERS, **numbers)


def bindings(stages: dict[Stage, ShaderStage], place: Callable[[list[bytes]], int]) -> bytes:
    """The piece of state that names the table of what is bound."""
    rows = [row for stage in stages.values() for row in stage.table()]
    return encode(TABLE, address=place(rows), count=len(rows))


def _entry(value):
    """What is bound, as a transfer."""
    if isinstance(value, Constants):
        first = min(value.first, value.resource.size)
        size = min(value.resource.size - first, value.shown)
        address = value.resource.address + first
        return encode(CONSTANTS, address=address, size=size, shown=value.shown)
    if isinstance(value, View):
        return value.encode()
    bias, low, high, *border = floats(
        value.mip_lod_bias, value.min_lod, value.max_lod, *value.border_color
    )
    return encode(
        SAMPLER,
        minify=FILTERS.index(value.min_filter),
        magnify=FILTERS.index(value.mag_filter),
        mip=FILTERS.index(value.mip_filter),
        address_u=ADDRESSES.index(value.address_u),
        address_v=ADDRESSES.index(value.address_v),
        address_w=ADDRESSES.index(value.address_w),
        anisotropy=value.max_anisotropy,
        reduction=REDUCTIONS.index(value.reduction),
        comparison=value.comparison_func,
        bias=bias,
        min_lod=low,
        max_lod=high,
        **{f"border{n}": bits for n, bits in enumerate(border)},
    )
