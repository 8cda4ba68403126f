# SPDX-License-Identifier: BSD-2-Clause
"""Quads out to a shader, its colours into memory."""

from dataclasses import dataclass, replace

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.depth_test import DepthTestParams
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.memory.surface.state_check import check_colour_formats
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCache, TileCacheParams
from fixfunc.rtl.memory.tile_client.plane_states import plane_states
from fixfunc.rtl.memory.tile_client.slot_front import SlotFront
from fixfunc.rtl.memory.tile_client.slot_requests import (
    SlotRequests,
    colour_planes,
    reads_target,
    requested_beat,
)
from fixfunc.rtl.output.blend_constant import hold_constant
from fixfunc.rtl.output.blend_turns import BlendTurns
from fixfunc.rtl.output.colour_slots import ColourSlots
from fixfunc.rtl.output.plane_formats import PlaneFormats, by_bytes
from fixfunc.rtl.output.shaded_colours import ShadedColours
from fixfunc.rtl.output.shading_queue import ShadingQueue
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import (
    BASE_FORMATS,
    COLOUR_FORMATS,
    colours,
    quads,
)
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.state import Kind, SlotOp

COMPLETIONS = 32  # of slot commands, and fences: above what is in flight


@dataclass(frozen=True)
class ColourWriteParams:
    """Shape of a :class:`ColourWrite`.

    Parameters
    ----------
    edge, samples, sets, ways, table_lines, reads, writes, ahead, victims, any_order
        See :class:`~fixfunc.rtl.memory.tile_cache.tile_cache.TileCacheParams`.
    differences : bool
        Colours are coded in memory: see
        :class:`~fixfunc.rtl.memory.tile_cache.tile_cache.TileCacheParams`.
    shading : int
        Most tiles that wait for their colours.
    shader_depths : bool
        Shaders may put out depths.
    planes : int
        Colour planes of a target, each with a cache of its own: 1 to 8.
    formats : tuple of Format
        What each of them may be, R8G8B8A8_UNORM among them.
    lanes : int
        Samples of a plane that are blended in a clock: they divide a tile's.
    floats : bool
        Planes of floats are blended; else they are written alone.
    second : bool
        A shader may give a second colour for the first plane, while it gives no other plane one.
    """

    edge: int = 8
    samples: int = 8
    sets: int = 256
    ways: int = 4
    table_lines: int = 1024
    reads: int = 256
    writes: int = 256
    ahead: int = 1024
    victims: int = 512
    differences: bool = True
    shading: int = 256
    shader_depths: bool = True
    planes: int = 1
    formats: tuple[Format, ...] = BASE_FORMATS
    lanes: int = 16
    any_order: bool = False
    second: bool = False
    floats: bool = False

    def __post_init__(self):
        self.cache  # noqa: B018 - its rules hold here
        if self.shading < 3:
            raise ValueError(f"shading must be above 2, not {self.shading!r}")
        if not 1 <= self.planes <= payloads.COLOUR_PLANES:
            raise ValueError(f"planes must lie in 1..{payloads.COLOUR_PLANES}, not {self.planes!r}")
        check_colour_formats("formats", self.formats)
        if self.lanes < 1 or self.edge**2 % self.lanes:
            raise ValueError(f"lanes must divide {self.edge**2} samples, not {self.lanes!r}")
        if self.floats and not PlaneFormats.of(self.formats, floats=True).float_layouts:
            raise InputError("floats", "be False without formats of floats", True)

    @property
    def cache(self) -> TileCacheParams:
        """Shape of the cache of colours."""
        return TileCacheParams(
            self.edge,
            self.samples,
            self.sets,
            self.ways,
            self.table_lines,
            self.reads,
            self.writes,
            self.ahead,
            self.victims,
            COLOUR,
            self.differences,
            self.any_order,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the planes."""
        return tuple(plane.name for plane in colour_planes(self.planes))

    @property
    def outputs(self) -> int:
        """Colours that a shader gives for a sample."""
        return max(self.planes, 1 + self.second)

    @property
    def obeyed(self) -> DepthTestParams:
        """Draw states that are supported: those of the depth test before this block."""
        return DepthTestParams(self.edge, self.samples, 2)


_TINY = ColourWriteParams(
    edge=4,
    sets=8,
    ways=2,
    table_lines=2,
    reads=8,
    writes=8,
    ahead=128,
    victims=4,
    differences=False,
    shading=96,
    lanes=4,
)
CONFIGS = {
    "default": ColourWriteParams(),
    "planes": ColourWriteParams(planes=payloads.COLOUR_PLANES, formats=COLOUR_FORMATS),
    "raw": ColourWriteParams(differences=False),
    "tiny": _TINY,
    "tiny_planes": replace(_TINY, planes=3, formats=COLOUR_FORMATS),
    "tiny_second": replace(_TINY, formats=COLOUR_FORMATS, second=True),
    "tiny_second_bytes": replace(_TINY, second=True),
    "tiny_floats": replace(_TINY, formats=COLOUR_FORMATS, second=True, floats=True),
    "tiny_second_planes": replace(_TINY, planes=2, formats=COLOUR_FORMATS, second=True),
}
PURPOSE = {  # of each configuration
    "default": "RGBA8, a cache of 1,024 tiles, coded in memory",
    "planes": "the same, with eight colour planes of any format of up to 32 bits, a cache each",
    "raw": "one plane, raw in memory",
    "tiny": "for benches: tiles of 4x4, a cache of 16",
    "tiny_planes": "the same, with three colour planes of any format of up to 32 bits",
    "tiny_second": "the same, with one of them, and two colours of a shader for it",
    "tiny_second_bytes": "the same of RGBA8 alone",
    "tiny_floats": "the same, and floats are blended, of two colours too",
    "tiny_second_planes": "two colour planes of any such format, or two colours for the first",
}
UNREAD = payloads.RASTER_STATE  # of a draw state


class ColourWrite(wiring.Component):
    """Hand out the quads of covered tiles, and write what a shader makes of them.

    One tile per clock, in order, out and back, all its planes at once; a tile that is not on chip
    waits for memory. One that is blended takes a clock for each group of ``params.lanes`` samples
    of which one is written. Where what is stored decides, tiles that have a sample in common wait
    for one another as :class:`~fixfunc.rtl.output.colour_slots.ColourSlots` asks, but for the first
    one behind a miss. A target begins with a clear of all of it.

    Colours take 32 bits a sample, in the format of their plane, as the shader has packed them; what
    is blended takes as many of fractions.

    With several colour planes a draw state, and a clear, is of the one that its ``slot`` says:
    see :class:`~fixfunc.rtl.memory.tile_client.plane_states.PlaneStates`. A plane but the first is
    written once a clear of all of it has begun it on the target.

    With ``second`` a state of the first plane may ask for the shader's second colour, which comes
    where that for a plane 1 would; no other plane is written then [fs 17.6].

    Of draws without ``early_write`` the depth test decides after the shader: what the shader says
    of their samples goes to it, and the colours wait until its answer has come.

    Parameters
    ----------
    params : ColourWriteParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles of samples that passed, or may pass. A tile without such samples is not shaded.
    quads : Out(stream.Signature(layout(quads(params.edge, params.outputs))))
        Quads that are to be shaded. The format of a second colour is 0 where it is not asked for.
    colours : In(stream.Signature(layout(colours(edge, shader_depths, outputs))))
        Colours of the quads, in the same order.
    shaded : Out(stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths))))
        Of tiles of late draws, what ``colours`` says of their samples.
    answers : In(stream.Signature(layout(payloads.coverage(params.edge**2))))
        Samples of the same tiles that passed in the end.
    o : Out(stream.Signature(layout(payloads.FENCE)))
        Fences, when every beat before them is done; one that flushes, when all is in memory. Error
        4: memory failed.
    colour_counted : Out(stream.Signature(layout(caching.counted(params.differences))))
    colour_memory : Out(Axi(...))
        See :class:`~fixfunc.rtl.memory.tile_cache.tile_cache.TileCache`. With several planes there
        are ``colour1_counted``, ``colour1_memory``, and so on.
    flush_early : In(1)
        The next beat will be a fence that flushes: the cache may be flushed before it comes.
    """

    def __init__(self, params: ColourWriteParams = CONFIGS["default"]) -> None:
        self._params = params
        shaded = colours(params.edge, params.shader_depths, params.outputs)
        of_planes = {}
        for name in params.names:
            counted = layout(caching.counted(params.differences))
            of_planes |= {
                f"{name}_counted": Out(stream.Signature(counted)),
                f"{name}_memory": Out(Axi(params.cache.ids)),
            }
        super().__init__(
            {
                "i": In(
                    stream.Signature(beat(tile=payloads.tested(params.edge), **payloads.CONTROL))
                ),
                "quads": Out(stream.Signature(layout(quads(params.edge, params.outputs)))),
                "colours": In(stream.Signature(layout(shaded))),
                "shaded": Out(
                    stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths)))
                ),
                "answers": In(stream.Signature(layout(payloads.coverage(params.edge**2)))),
                "o": Out(stream.Signature(layout(payloads.FENCE))),
            }
            | of_planes
            | {"flush_early": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        planes = colour_planes(p.planes)
        tile = payloads.tested
        request = requested_beat(p.edge, planes, tile)
        m.submodules.requests = requests = SlotRequests(
            p.obeyed, planes, p.ahead, p.formats, p.second, p.floats, tile
        )
        slots = [
            ColourSlots(p.edge, p.cache.slots, p.lanes, p.formats, p.second, n == 0, p.floats)
            for n in range(p.planes)
        ]
        latency = slots[0].latency
        hazard_window = latency + 1  # clocks from a read of a slot to its write, and one
        caches = self._per_plane(m, "cache", [TileCache(p.cache, hazard_window) for _ in planes])
        m.submodules.shading = shading = ShadingQueue(
            p.edge, request, p.shading, p.planes, p.formats, p.second, p.floats
        )
        bits = [COLOUR] * p.planes
        m.submodules.front = front = SlotFront(p.edge, planes, bits, latency + 4, tile)
        self._per_plane(m, "slots", slots)
        wiring.connect(m, wiring.flipped(self.i), requests.i)
        wiring.connect(m, requests.o, shading.i)
        wiring.connect(m, shading.quads, wiring.flipped(self.quads))
        wiring.connect(m, shading.o, front.i)
        for name, cache in zip(p.names, caches, strict=True):
            wiring.connect(m, getattr(requests, name), cache.i)
            wiring.connect(m, cache.o, getattr(front, name))
            wiring.connect(m, cache.counted, wiring.flipped(getattr(self, f"{name}_counted")))
            wiring.connect(m, cache.memory, wiring.flipped(getattr(self, f"{name}_memory")))

        m.d.comb += requests.flush_early.eq(self.flush_early)
        states = plane_states(m, front, p.planes, p.formats, p.second, p.floats)
        hold_constant(m, front, slots)
        m.submodules.turns = turns = BlendTurns(
            p.edge**2, p.lanes, p.planes, hazard_window, slots[0].forwarded
        )
        self._take_turns(m, turns, shading.o, front, caches, states)
        for name, state, slot in zip(p.names, states, slots, strict=True):
            m.d.comb += [
                slot.state.eq(state),
                slot.clear.eq(front.clear),
                slot.command.eq(getattr(front, f"{name}_command")),
                slot.fill_values.eq(getattr(front, f"{name}_values")),
                slot.tile.eq(front.tile),
                slot.turn.eq(turns.turn),
                slot.clearing.eq(front.clearing),
            ]
        self._shade(m, shading, front, slots, turns)
        done = [
            self._complete(m, name, slot, cache)
            for name, slot, cache in zip(p.names, slots, caches, strict=True)
        ]
        fences = self._pass_fences(m, front)
        room = fences.available
        for completions in done:
            room &= completions.available
        m.d.sync += front.room.eq(room)
        return m

    def _per_plane(self, m, name, units):
        """A unit for each plane; the first has no number in its name."""
        for n, unit in enumerate(units):
            m.submodules[f"{name}_{n}" if n else name] = unit
        return units

    def _take_turns(self, m, turns, tiles, front, caches, states):
        """A tile that is blended in any plane enters group by group."""
        p = self._params
        request = tiles.payload
        for n, (cache, state) in enumerate(zip(caches, states, strict=True)):
            m.d.comb += [
                turns.commands[n].valid.eq(cache.o.valid & request.requested[n]),
                turns.commands[n].op.eq(cache.o.payload.op),
                turns.commands[n].slot.eq(cache.o.payload.slot),
                turns.reads[n].eq(reads_target(state, by_bytes(p.formats, p.second))),
            ]
        m.d.comb += [
            turns.mask.eq(request.beat.tile.mask),
            turns.clearing.eq(request.clearing),
            turns.enters.eq(front.accept | tiles.ready),
            front.stall.eq(turns.stall),
            front.stays.eq(~turns.last),
        ]

    def _shade(self, m, shading, front, slots, turns):
        """A tile of a draw enters with its colours, which leave with its last turn."""
        p = self._params
        unit = ShadedColours(p.edge, p.shader_depths, p.outputs)
        m.submodules.shaded = unit
        wiring.connect(m, wiring.flipped(self.colours), unit.colours)
        wiring.connect(m, wiring.flipped(self.answers), unit.answers)
        wiring.connect(m, unit.shaded, wiring.flipped(self.shaded))
        m.d.comb += [
            unit.next_late.eq(shading.late),
            unit.entry_late.eq(~front.state.early_write),
            unit.enter.eq(front.accept & shading.shaded & turns.last),
            shading.back.eq(unit.returned),
            front.inputs_ready.eq(~shading.shaded | unit.ready),
        ]
        operands = [(n, slot.colours, slot.fractions) for n, slot in enumerate(slots)]
        if p.second:
            operands.append((1, slots[0].second, slots[0].second_fractions))
        for output, colours_of_slot, of_lanes in operands:
            packed, fractions = unit.o[output]
            m.d.sync += colours_of_slot.eq(packed)
            for n, fraction in enumerate(of_lanes):
                of_groups = [fractions[k] for k in range(n, p.edge**2, p.lanes)]
                m.d.sync += fraction.eq(pick(turns.groups, of_groups))
        passed = Signal(p.edge**2)
        m.d.sync += passed.eq(unit.passed)
        for slot in slots:
            m.d.comb += slot.tile.mask.eq(front.tile.mask & passed)

    def _complete(self, m, name, slots, cache):
        """The cache of a plane hears what has been done with each slot."""
        lanes = self._params.edge**2
        shape = layout(caching.completion(self._params.edge, COLOUR))
        done = CreditedFIFO(shape, COMPLETIONS, lookahead=4)
        m.submodules[name.replace("colour", "done")] = done
        wiring.connect(m, done.o, cache.done)
        m.d.comb += [
            done.consume.eq(slots.completes),
            done.push.eq(slots.done.valid),
            done.i.op.eq(slots.done.op),
            done.i.slot.eq(slots.done.slot),
            done.i.written.eq(Mux(has(slots.done.op, SlotOp.USE), slots.written, 0)),
            *(done.i[f"value{n}"].eq(slots.values[n]) for n in range(lanes)),
        ]
        return done

    def _pass_fences(self, m, front):
        """Fences go on, and tell of errors."""
        shape = self.o.payload.shape()
        m.submodules.fences = fences = CreditedFIFO(shape, COMPLETIONS, lookahead=4)
        wiring.connect(m, fences.o, wiring.flipped(self.o))
        fence = front.control_valid & (front.control.kind == Kind.FENCE)
        m.d.comb += [
            fences.consume.eq(fence),
            fences.push.eq(fence),
            fences.i.eq(front.control.fence),
            fences.i.error.eq(front.fence_error),
        ]
        return fences
