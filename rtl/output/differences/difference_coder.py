# SPDX-License-Identifier: BSD-2-Clause
"""From colours to their differences, in as few steps of memory as they take."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection, named
from fixfunc.rtl.lib.delay import DelayLine, held, register
from fixfunc.rtl.lib.tile_groups.bit_planes import by_planes
from fixfunc.rtl.lib.tile_groups.packer import Packer
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree, levels
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.differences import header
from fixfunc.rtl.output.differences.colour_order import ALPHA, CHANNELS, TURNS, ColourOrder
from fixfunc.rtl.output.differences.residuals import Residuals
from fixfunc.rtl.output.differences.widths import Widths, length, planes_used
from fixfunc.spec.colours import LANES


class DifferenceCoder(wiring.Component):
    """Differences in both turns, of which the shorter wins. A channel a clock, a tile in four.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    samples, lanes : In
        log2 of the samples of a pixel; colours. The same in all four clocks of a tile.
    channel : In(2)
        0 to 3 in the clocks of a tile; 0 between tiles.
    o : Out
        ``data``, and whether it ``fits`` into so many ``steps``, for a clock, :attr:`latency`
        clocks after the first of the tile.
    """

    # Clocks of a channel, and of a tile's first channel.
    CODED = Residuals.LATENCY + Widths.CODED
    TURNED = Residuals.LATENCY + Widths.LATENCY + 1  # the shorter turn is chosen
    PLANES = TURNED + 1  # payloads of a channel by bit plane

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        super().__init__(
            {
                "samples": In(2),
                "lanes": In(ArrayLayout(order.colour, LANES)),
                "channel": In(2),
                "o": Out(StructLayout({"data": order.room, "steps": 3, "fits": 1})),
            }
        )

    @property
    def _placed(self):
        """Clocks until payloads of a channel are side by side."""
        return self.PLANES + levels(self._order.count)

    @property
    def latency(self) -> int:
        """Clocks until those of all channels are."""
        return self._placed + len(CHANNELS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        order = self._order
        timeline = Timeline(m)
        timeline.enter(0, samples=self.samples, channel=self.channel, lane=self.lanes[0])
        m.submodules.residuals = residuals = Residuals(order)
        m.d.comb += [
            residuals.samples.eq(self.samples),
            residuals.lanes.eq(self.lanes),
            residuals.channel.eq(self.channel),
        ]
        self._turn(m, timeline, residuals.o)
        known = Cat(timeline[Residuals.LATENCY].lane, residuals.o)
        m.submodules.waiting = waiting = DelayLine(
            len(known), self.TURNED - Residuals.LATENCY, near=True
        )
        m.d.comb += waiting.i.eq(known)
        by_turn = residuals.o.shape()(waiting.o[order.colour :])
        timeline.enter(self.TURNED, residuals=self._chosen(m, timeline, by_turn, "residuals"))
        self._place(m, timeline)
        self._pack(m, timeline, waiting.o[: order.colour])
        return m

    def _turn(self, m, timeline, residuals):
        """The shorter turn; along x if both are as long."""
        order = self._order
        now = timeline[Residuals.LATENCY]
        totals = []
        codes = []
        for turn in TURNS:
            m.submodules[f"widths_{turn}"] = widths = Widths(order)
            m.d.comb += [
                widths.samples.eq(now.samples),
                widths.channel.eq(now.channel),
                widths.residuals.eq(residuals[turn]),
            ]
            codes.append(widths.o.codes)
            totals.append(widths.o.total)
        is_shorter = named(m, totals[1] < totals[0], "is_shorter")
        is_first = timeline[self.TURNED - 1].channel == CHANNELS[0]
        tile = held(m, Cat(is_shorter, Mux(is_shorter, *reversed(totals))), is_first, "of_tile")
        timeline.enter(self.TURNED, turn=tile[0], total=tile[1:])
        m.submodules.codes = line = DelayLine(len(Cat(codes)), self.TURNED - self.CODED, near=True)
        m.d.comb += line.i.eq(Cat(codes))
        by_turn = ArrayLayout(order.codes, len(TURNS))(line.o)
        timeline.enter(self.TURNED, codes=self._chosen(m, timeline, by_turn, "codes"))

    def _chosen(self, m, timeline, by_turn, name):
        """That of the shorter turn."""
        options = [Value.cast(by_turn[turn]) for turn in TURNS]
        return named(m, Mux(timeline[self.TURNED].turn, *reversed(options)), name)

    def _place(self, m, timeline):
        """Payloads of a channel by bit plane, then side by side."""
        order = self._order
        now = timeline[self.TURNED]
        samples = now.samples
        m.submodules.placing = placing = PlacingTree(order.widths, order.channel)
        selection = Selection(m, samples, order.modes, "mode")
        lanes = {n: now.residuals.word_select(n, order.bits) for n in range(LANES)}
        places = []
        for n in range(len(order.places)):
            keys = {mode: order.lane_at(mode, n) for mode in order.modes}
            keys = {mode: lane for mode, lane in keys.items() if lane is not None}
            places.append(named(m, selection.of(keys, lanes), f"place_{n}"))
        for group in range(order.count):
            code = now.codes.word_select(group, order.code)
            used = named(m, planes_used(code), f"used_{group}")
            values = [places[n] for n in order.of_group(group)]
            m.d.sync += [
                placing.i[f"value{group}"].eq(by_planes(order, samples, values, used, group)),
                placing.i[f"length{group}"].eq(length(order, samples, code, group)),
            ]
        timeline.enter(self._placed, payload=placing.o)

    def _pack(self, m, timeline, lane):
        """Payloads of all channels, the header before them."""
        order = self._order
        turned = timeline[self.TURNED]
        is_last = turned.channel == ALPHA
        codes = [turned.codes]
        for n in range(ALPHA):
            codes.insert(0, register(m, codes[0], order.codes, f"codes_before_{n + 1}"))
        tile = Cat(lane, turned.turn, turned.total, *codes)
        known = held(m, tile, is_last, "known")  # until the next tile's last channel
        at = order.colour + 1 + order.length
        lane, turn, total = known[: order.colour], known[order.colour], known[order.colour + 1 : at]
        codes = [known[at:].word_select(n, order.code) for n in range(order.leaves)]
        now = timeline[self._placed]
        is_first = now.channel == CHANNELS[0]
        samples = now.samples
        alpha = header.with_alpha(codes[order.leaf(ALPHA, 0) :])
        begin = named(m, header.length(order, samples, alpha), "begin")
        m.submodules.packer = packer = Packer(order.steps, order.channel, order.step)
        m.d.comb += [
            packer.start.eq(is_first),
            packer.at.eq(begin),
            packer.first.eq(header.packed(order, samples, lane, turn, codes)),
            packer.value.eq(now.payload.value),
            packer.length.eq(now.payload.length),
        ]
        bits = held(m, (total + begin)[: order.length], is_first, "bits")
        steps = Signal(order.length)
        m.d.comb += [
            steps.eq((bits + order.step - 1) >> order.step.bit_length() - 1),
            self.o.data.eq(packer.row),
            self.o.steps.eq(steps),
            self.o.fits.eq(steps <= order.steps),
        ]
