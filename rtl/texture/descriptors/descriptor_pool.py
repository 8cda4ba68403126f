# SPDX-License-Identifier: BSD-2-Clause
"""Descriptor pool: textures and samplers by number, from memory, in front of the texture unit."""

from dataclasses import dataclass, replace

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi, AxiReader, join
from fixfunc.rtl.lib.bits import minimum, named
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.descriptors.texture_check import CANDIDATE, TextureCheck
from fixfunc.rtl.texture.unit.layouts import gradient_fields
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS as UNITS
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.cache import CODED_STATE, EXTENDED, FORMAT, LINEAR, StoredFormat
from fixfunc.spec.textures.descriptors import (
    DESCRIPTOR,
    POOL,
    POOL_PLACE,
    POOL_QUAD,
    POOL_SELECT,
    REFUSED,
    STRIDE,
    DescriptorKind,
    Refusal,
)
from fixfunc.spec.textures.unit import (
    ARRAY_STATE,
    NO_FORMAT,
    SAMPLE_STATE,
    TEXTURE_QUAD,
    TEXTURE_STATE,
    TextureKind,
)

KIND = 1  # bits of a texture state before them
TRANSFERS = 3  # of a descriptor
STRIDE_BITS = (STRIDE - 1).bit_length()


@dataclass(frozen=True)
class DescriptorPoolParams:
    """Shape of a :class:`DescriptorPool`.

    Parameters
    ----------
    size : int
        Most descriptors of a pool: a power of two, at most 128.
    formats : tuple of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.
    anisotropy : int
        Most samples along a footprint that there may be: 1 or 16.
    layers : bool
        Textures may be arrays; else a descriptor of one is refused.
    cubes : bool
        Textures may be cubes; else a descriptor of one is refused.
    gradients : bool
        Quads bring gradients, which pass.
    surfaces : tuple of StoredFormat
        Formats of textures that may be coded surfaces; others are refused. With layers alone.
    rows : tuple of StoredFormat
        Formats of textures that may lie as rows of texels; others are refused. With layers alone.
    points : tuple of StoredFormat
        Formats of textures that are sampled by points alone; other samplers of them are refused.
    """

    size: int = POOL
    formats: tuple[StoredFormat, ...] = UNITS["default"].stored.formats
    extent: int = UNITS["default"].addresses.extent
    anisotropy: int = UNITS["default"].anisotropy
    layers: bool = True
    cubes: bool = False
    gradients: bool = False
    surfaces: tuple[StoredFormat, ...] = ()
    rows: tuple[StoredFormat, ...] = ()
    points: tuple[StoredFormat, ...] = ()

    @property
    def quad(self) -> tuple[Field, ...]:
        """Field table of a quad in."""
        return (*POOL_QUAD, *gradient_fields(self.gradients, self.cubes))

    @property
    def beats(self) -> UnionLayout:
        """Layout of a beat in."""
        tables = {"select": POOL_SELECT, "quad": self.quad, "place": POOL_PLACE}
        return UnionLayout({"kind": 2} | {name: layout(table) for name, table in tables.items()})

    @property
    def unit_quad(self) -> tuple[Field, ...]:
        """Field table of a quad for the texture unit."""
        return (*TEXTURE_QUAD, *gradient_fields(self.gradients, self.cubes))

    @property
    def requests(self) -> UnionLayout:
        """Layout of a beat for the texture unit."""
        tables = {"state": self.state, "quad": self.unit_quad}
        return UnionLayout({"kind": 1} | {name: layout(table) for name, table in tables.items()})

    @property
    def state(self) -> tuple[Field, ...]:
        """Field table of a STATE for the texture unit."""
        linear = (LINEAR,) if self.rows else ()
        return (*SAMPLE_STATE, *(CODED_STATE if self.surfaces else ()), *linear)

    @property
    def kept(self) -> tuple[Field, ...]:
        """Fields that are kept: of others bits are 0, or the descriptor is refused."""
        if self.rows:
            return DESCRIPTOR
        if self.surfaces:
            return tuple(field for field in DESCRIPTOR if field != LINEAR)
        extended = (EXTENDED,) if self.extended else ()
        return (*TEXTURE_STATE[1:], *(ARRAY_STATE if self.layers or extended else ()), *extended)

    @property
    def extended(self) -> bool:
        """Formats may have numbers from 32 on."""
        return any(form >> FORMAT for form in self.formats)

    def __post_init__(self):
        if not 2 <= self.size <= POOL or self.size & (self.size - 1):
            raise ValueError(f"size must be a power of two in 2..{POOL}, not {self.size!r}")
        for name in ("surfaces", "rows"):
            if getattr(self, name) and not self.layers:
                raise InputError(name, "be none without layers", getattr(self, name))


CONFIGS = {
    name: DescriptorPoolParams(
        formats=unit.stored.formats,
        extent=unit.addresses.extent,
        anisotropy=unit.anisotropy,
        layers=unit.layers,
        cubes=unit.cubes,
        gradients=unit.gradients,
        surfaces=unit.stored.surfaces,
        rows=unit.stored.rows,
        points=unit.points,
    )
    for name, unit in UNITS.items()
}
CONFIGS["tiny"] = replace(CONFIGS.pop("tiny_full"), size=8)
PURPOSE = {  # of each configuration
    "default": "128 descriptors, every format of TEXTURE packets",
    "full": "the same, every format of the texture cache, and gradients that quads bring",
    "plain": "the same without BC1 to BC7",
    "small": "without BC1 to BC7, textures of up to 2,048 texels across",
    "tiny": "for benches: eight descriptors, of up to 64 texels across, and all of full",
}


class DescriptorPool(wiring.Component):
    """Turn numbers of descriptors into states of the texture unit; quads pass, all in order.

    A beat a clock, a SELECT of a descriptor on chip too. Another one is read from memory, checked,
    and kept until the next POOL. A refused one becomes a state without a format, of which the
    texture unit reads no texel and says so; it is read again each time.

    Parameters
    ----------
    params : DescriptorPoolParams

    Members
    -------
    i : In(stream.Signature(params.beats))
        POOL, SELECT or QUAD: :class:`fixfunc.spec.textures.descriptors.DescriptorKind`.
    o : Out(stream.Signature(params.requests))
        For the texture unit: a STATE a SELECT, a QUAD a QUAD; a clock later at the earliest.
    refused : Out(stream.Signature(layout(REFUSED)))
        One a refused SELECT, before its STATE, which waits for it.
    memory : Out(Axi())
        Reads 96 bytes a descriptor. Read channels alone are used.
    """

    LATENCY = 1

    def __init__(self, params: DescriptorPoolParams = CONFIGS["default"]) -> None:
        self._params = params
        self._kept = payloads.width(params.kept)
        super().__init__(
            {
                "i": In(stream.Signature(params.beats)),
                "o": Out(stream.Signature(params.requests)),
                "refused": Out(stream.Signature(layout(REFUSED))),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.reader = reader = AxiReader(TRANSFERS, 3, 1)
        m.submodules.check = check = TextureCheck(
            *(p.formats, p.extent, p.anisotropy, p.layers, p.cubes, p.surfaces, p.rows, p.points)
        )
        m.submodules.kept = kept = Memory(shape=self._kept, depth=p.size, init=[])
        join(m, self.memory, reader.memory)
        place = Signal(layout(POOL_PLACE))
        known = Signal(p.size)
        candidate = Signal(CANDIDATE)
        known_state = Signal(CANDIDATE)
        reason = Signal(Refusal)
        held = Signal(p.beats)
        held_valid = Signal()
        taken = Signal()
        number = held.select.number
        write = kept.write_port()
        read = kept.read_port()
        m.d.comb += [
            self.i.ready.eq(~held_valid | taken),
            read.en.eq(self.i.valid & self.i.ready),
            read.addr.eq(self.i.payload.select.number),
            write.addr.eq(number),
            Value.cast(known_state).eq(read.data << KIND),
            write.data.eq(Value.cast(candidate)[KIND:]),
            check.candidate.eq(candidate),
            check.limit.eq(place.limit),
            reader.request.payload.address.eq((place.base + number) << STRIDE_BITS),
            reader.request.payload.transfers.eq(TRANSFERS),
            self.refused.payload.number.eq(number),
            self.refused.payload.reason.eq(reason),
        ]
        with m.If(self.i.ready):
            m.d.sync += [held_valid.eq(self.i.valid), held.eq(self.i.payload)]

        with m.FSM():
            with m.State("PASS"), m.If(held_valid), m.Switch(held.kind):
                with m.Case(DescriptorKind.QUAD):
                    m.d.comb += [
                        *self._output(taken),
                        *carried(self.o.payload.quad, held.quad),
                        self.o.payload.quad.kind.eq(TextureKind.QUAD),
                    ]
                with m.Case(DescriptorKind.SELECT):
                    with m.If(number >= place.count):
                        m.d.sync += reason.eq(Refusal.NUMBER)
                        m.next = "REFUSE"
                    with m.Elif(known.bit_select(number, 1)):
                        m.d.comb += self._state(known_state, held, taken)
                    with m.Else():
                        m.next = "REQUEST"
                with m.Default():
                    m.d.comb += taken.eq(1)
                    m.d.sync += [
                        place.eq(held.place),
                        place.count.eq(minimum(held.place.count, p.size)),
                        known.eq(0),
                    ]
            self._fetch(m, reader, check, candidate, reason)
            with m.State("DECIDE"):
                m.d.sync += reason.eq(Mux(check.supported, Refusal.ADDRESS, Refusal.STATE))
                m.next = "REFUSE"
                with m.If(check.supported & ~check.beyond):
                    m.d.comb += write.en.eq(1)
                    m.d.sync += known.bit_select(number, 1).eq(1)
                    m.next = "GIVE"
            self._give(m, candidate, held, taken)
        return m

    def _output(self, taken):
        return [self.o.valid.eq(1), taken.eq(self.o.ready)]

    def _state(self, texture, held, taken):
        """A texture and its sampler, and how the SELECT samples it."""
        out = self.o.payload.state
        return [*self._output(taken), *carried(out, texture), *carried(out, held.select)]

    def _fetch(self, m, reader, check, candidate, reason):
        """A descriptor from memory, checked; of one that fails no transfer counts."""
        failed = Signal()
        earlier = Signal((TRANSFERS - 1) * payloads.TRANSFER)
        beat = reader.o.payload
        data = named(m, Cat(earlier, beat.data), "data")
        fails = named(m, failed | beat.error, "fails")
        with m.State("REQUEST"):
            m.d.comb += reader.request.valid.eq(1)
            with m.If(reader.request.ready):
                m.next = "READ"
        with m.State("READ"):
            m.d.comb += reader.o.ready.eq(1)
            with m.If(reader.o.valid):
                m.d.sync += [
                    earlier.eq(data[payloads.TRANSFER :]),
                    failed.eq(fails & ~beat.last),
                ]
                with m.If(beat.last):
                    m.d.sync += [
                        Value.cast(candidate).eq(data[: payloads.width(DESCRIPTOR)] << KIND),
                        *([] if self._params.layers else [candidate.distance.eq(0)]),
                        reason.eq(Refusal.MEMORY),
                    ]
                    with m.If(fails):
                        m.next = "REFUSE"
                    with m.Else():
                        m.next = "START"
        with m.State("START"):
            m.d.comb += check.start.eq(1)
            m.next = "CHECK"
        with m.State("CHECK"), m.If(check.done):
            m.next = "DECIDE"

    def _give(self, m, candidate, held, taken):
        """The state of a descriptor that was read, or the one that stands for a refused one."""
        with m.State("REFUSE"):
            m.d.comb += self.refused.valid.eq(1)
            m.d.sync += [
                candidate.eq(0),
                candidate.width.eq(1),
                candidate.height.eq(1),
                candidate.format.eq(NO_FORMAT),
            ]
            with m.If(self.refused.ready):
                m.next = "GIVE"
        with m.State("GIVE"):
            m.d.comb += self._state(candidate, held, taken)
            with m.If(self.o.ready):
                m.next = "PASS"
