# SPDX-License-Identifier: BSD-2-Clause
"""Lookup: rounds find their blocks in the first level, ahead of the texels."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.bits import among, choose, gated, named
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.cache.formats import HALVINGS
from fixfunc.rtl.texture.cache.layouts import OFFSET, QUARTERS, SURFACE, TextureCacheParams
from fixfunc.rtl.texture.cache.tags import Tags
from fixfunc.spec.textures.cache import CACHE_STATE, LEVELS, LINE_NUMBER, PITCH

MISSES = 16  # rounds with misses that wait for the miss scheduler


class Lookup(wiring.Component):
    """Look up the blocks of a round: four quarters side by side, a round a clock.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    state : In(layout(CACHE_STATE))
        Constant while not ``idle``, and while rounds come.
    i : In(stream.Signature(params.round))
    pending : Out(stream.Signature(params.pending))
        Every round, in order.
    missed : Out(stream.Signature(params.missed))
        Rounds whose blocks are not all on chip, in the same order.
    idle : Out(1)
        No round needs ``state``.
    forget : In(1)
        Nothing is on chip; while no round is under way.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        # Layers, rows of tiles, or of texels.
        self._multiplies = params.layers or bool(params.coded) or params.linear
        self._tags = 3 if self._multiplies else 2  # clock in which they are looked up
        super().__init__(
            {
                "state": In(layout(CACHE_STATE)),
                "i": In(stream.Signature(params.round)),
                "pending": Out(stream.Signature(params.pending)),
                "missed": Out(stream.Signature(params.missed)),
                "idle": Out(1),
                "forget": In(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks to ``pending``."""
        return self._tags + Tags.LATENCY + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        params = self._params
        m.submodules.pending = pending = CreditedFIFO(params.pending, params.queue)
        m.submodules.missed = missed = CreditedFIFO(params.missed, MISSES)
        wiring.connect(m, pending.o, wiring.flipped(self.pending))
        wiring.connect(m, missed.o, wiring.flipped(self.missed))
        tags = []
        for n in range(QUARTERS):
            key = LINE_NUMBER + params.offset + params.format + bool(params.coded)
            key += sum(params.pitch.values())
            unit = Tags(params.sets // QUARTERS, params.ways, key)
            m.submodules[f"tags_{n}"] = unit
            tags.append(unit)
            m.d.comb += unit.forget.eq(self.forget)
        ready = pending.available & missed.available & tags[0].ready
        enters = named(m, self.i.valid & ready, "enters")
        m.d.comb += [
            self.i.ready.eq(ready),
            pending.consume.eq(enters),
            missed.consume.eq(enters),
        ]
        t = Timeline(m)
        t.enter(0, valid=enters, round=self.i.payload)
        surface = self._surface(m)
        t.enter(1, surface=surface)
        if params.linear:
            pitch = gated(self.state.distance[:PITCH], self.state.linear)
            t.enter(1, pitch=named(m, pitch, "pitch"), linear=self.state.linear)
        self._address(m, t)
        asking = t[self._tags]
        coded = asking.surface.coded if params.coded else []
        rows = Cat(asking.pitch, asking.linear) if params.linear else []
        m.d.comb += self.idle.eq(~t[1].valid)
        for n, unit in enumerate(tags):
            m.d.comb += [
                unit.lookup.eq(asking.valid & asking.round.wanted[n]),
                unit.set.eq(asking.sets[n][2:]),
                unit.key.eq(
                    Cat(asking.lines[n], asking.offsets[n], asking.round.format, coded, rows)
                ),
            ]
        last = t[self._tags + Tags.LATENCY]
        missing = Signal(QUARTERS)
        for n, unit in enumerate(tags):
            slot = Cat(last.sets[n][2:], unit.way)
            m.d.comb += [
                missing[n].eq(last.round.wanted[n] & ~unit.hit),
                pending.i.slots[n].eq(slot),
                missed.i.blocks[n].line.eq(last.lines[n]),
                missed.i.blocks[n].offset.eq(last.offsets[n]),
                missed.i.blocks[n].slot.eq(slot),
            ]
        m.d.comb += [
            pending.push.eq(last.valid),
            *(pending.i[name].eq(last.round[name]) for name in ("first", "last", "refused")),
            pending.i.reads.eq(last.round.reads),
            pending.i.lookups.eq(sum(last.round.wanted)),
            pending.i.misses.eq(sum(missing)),
            *([pending.i.wide.eq(among(last.round.format, params.wide))] if params.wide else []),
            *([pending.i.linear.eq(last.linear)] if params.linear else []),
            missed.push.eq(last.valid & missing.any()),
            missed.cancel.eq(last.valid & ~missing.any()),
            missed.i.missing.eq(missing),
            missed.i.format.eq(last.round.format),
            *([missed.i.surface.eq(last.surface)] if params.coded else []),
            *(missed.i[name].eq(getattr(last, name)) for name in params.pitch),
        ]
        return m

    def _surface(self, m):
        """The coded surface that the texture is, for its lines that are to be read."""
        surface = Signal(SURFACE)
        first = self.state.base0 >> LINE_NUMBER - len(surface.first)
        m.d.comb += [*carried(surface, self.state), surface.first.eq(first)]
        return surface

    def _address(self, m, t):
        """Lines, offsets and sets of the blocks of a round: a clock later, with layers two."""
        entered = t[1].round
        halves = [Signal(ArrayLayout(LINE_NUMBER, QUARTERS), name=f"half_{n}") for n in range(2)]
        lines = Signal(ArrayLayout(LINE_NUMBER, QUARTERS))
        offsets = Signal(ArrayLayout(self._params.offset, QUARTERS))
        sets = Signal(ArrayLayout(range(self._params.sets), QUARTERS))
        # Of a line, which a block takes; above them, that it takes two.
        most = OFFSET + bool(self._params.wide)
        halvings = Signal(range(most + 1))
        with m.Switch(entered.format):
            for form in self._params.formats:
                with m.Case(form):
                    m.d.comb += halvings.eq(HALVINGS[form] % (OFFSET + 2))
        distance = self._distance(m)
        for n in range(QUARTERS):
            place = entered.places[n]
            number = Cat(bit for pair in zip(place.x, place.y, strict=True) for bit in pair)
            base = choose(place.level, [self.state[f"base{level}"] for level in range(LEVELS)])
            lines_of = [*(number >> n for n in range(OFFSET + 1)), number << 1]
            places_of = [number << OFFSET - n for n in range(OFFSET + 1)]
            if self._params.linear:
                lines_of, places_of = self._in_rows(m, place, number, n)
            whole = choose(halvings, lines_of[: most + 1])
            # Blocks of other levels and layers begin in other sets, since they are read together.
            hashed = number + (place.level << 3) + place.level + entered.first_set
            if self._params.layers:
                hashed += place.layer
            if self._multiplies:
                factor, whole = self._in_tiles(place, whole)
                parts = partial_products(distance, factor)
                both = carry_save(m, [base, whole, *parts], LINE_NUMBER, f"line_parts_{n}")
                for half, part in zip(halves, both, strict=True):
                    m.d.sync += half[n].eq(part)
                m.d.sync += lines[n].eq(halves[0][n] + halves[1][n])
            else:
                m.d.sync += lines[n].eq(base + whole)
            m.d.sync += [
                offsets[n].eq(choose(halvings, places_of[: most + 1])[: self._params.offset]),
                sets[n].eq(hashed),
            ]
        t.enter(self._tags, lines=lines)
        t.enter(2, offsets=offsets, sets=sets)

    def _distance(self, m):
        """Lines from a layer to the next, from a row of tiles, or from four rows of texels."""
        distance = self.state.distance
        if not self._params.linear:
            return distance
        return named(m, Mux(self.state.linear, distance << 2, distance)[:LINE_NUMBER], "distance")

    def _in_rows(self, m, place, number, n):
        """Lines before a block, and where it begins in its line, in 4 bytes, by the halvings of
        its format: in Morton order, or in the first of its rows of texels, four of a block.
        """
        before = named(m, Mux(self.state.linear, place.x, number << 2), f"before_{n}")
        lines_of = [*(before >> n + 2 for n in range(OFFSET + 1)), before >> 1]
        return lines_of, [*(before << 2 >> n for n in range(OFFSET + 1)), before << 3]

    def _in_tiles(self, place, whole):
        """How often the distance counts, and lines beside it: those of a layer in Morton order, of
        a row of texels, or of a row of tiles, each of which has four lines in that order.
        """
        layer = Value.cast(place.layer) if self._params.layers else Const(0, 0)
        if self._params.linear:
            layer = Mux(self.state.linear, place.y, layer)
        if not self._params.coded:
            return layer, whole
        in_row = Cat(place.x[0], place.y[0], place.x[1:])
        coded = self.state.coded
        return Mux(coded, place.y[1:], layer), Mux(coded, in_row, whole)
