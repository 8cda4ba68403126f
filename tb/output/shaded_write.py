# SPDX-License-Identifier: BSD-2-Clause
"""Colour write with a shader behind it, for its bench."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.output.colour_write import ColourWrite, ColourWriteParams
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.probes import ports, show
from fixfunc.spec import payloads
from fixfunc.spec.colours import colour_name, fraction_name, quads
from fixfunc.spec.state import Kind
from fixfunc.tb.depth.noise import sometimes

PLANE_BITS = 0x15732B49  # colours of planes, or both of a plane, differ by multiples of these
FRACTION_BITS = 0x2D5A1CE3  # fractions differ from colours, turned round, by these


class Harness(wiring.Component):
    """A shader behind it whose colours are made up from the place of a sample: one stream in.

    Every second fence that flushes is held back for a while and announced, as the depth test before
    it does.
    """

    HOLD_CLOCKS = 2047

    def __init__(self, params: ColourWriteParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(
                    stream.Signature(beat(tile=payloads.tested(params.edge), **payloads.CONTROL))
                ),
                "o": Out(stream.Signature(layout(payloads.FENCE))),
            }
            | {name: ColourWrite(params).signature.members[name] for name in of_planes(params)}
            | ports({"quads": layout(quads(params.edge, params.outputs))})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = ColourWrite(self._params)
        head = self.i.payload
        announced = Signal()
        hold = Signal()
        count = Signal(range(self.HOLD_CLOCKS + 1))
        m.d.comb += [
            announced.eq(
                self.i.valid & (head.kind == Kind.FENCE) & head.fence.flush & head.fence.sequence[0]
            ),
            hold.eq(announced & (count != self.HOLD_CLOCKS)),
            unit.flush_early.eq(hold),
            unit.i.valid.eq(self.i.valid & ~hold),
            unit.i.payload.eq(head),
            self.i.ready.eq(unit.i.ready & ~hold),
        ]
        m.d.sync += count.eq(Mux(announced, count + hold, 0))
        for name in ("o", *of_planes(self._params)):
            wiring.connect(m, getattr(unit, name), wiring.flipped(getattr(self, name)))
        shaded_quads = unit.quads.payload
        lanes = self._params.edge**2
        m.d.comb += [
            unit.colours.valid.eq(unit.quads.valid),
            unit.quads.ready.eq(unit.colours.ready),
        ]
        m.d.comb += unit.colours.payload.survivors.eq(
            ~Cat(shaded_quads.slot[n % 12] & ~shaded_quads.x[n % 2] for n in range(lanes))
        )
        self._answer(m, unit)
        for n in range(lanes):
            colour = Cat(
                (shaded_quads.x[:5] * 8 + n)[:8],
                shaded_quads.y[:8] ^ shaded_quads.slot[4:],
                ~shaded_quads.x[:8] ^ n,
                shaded_quads.slot[:8] ^ (shaded_quads.flat_colour[:8] & n),
            )
            for plane in range(self._params.outputs):
                given = unit.colours.payload[colour_name(plane, n)]
                m.d.comb += [
                    given.eq(colour ^ plane * PLANE_BITS if plane else colour),
                    unit.colours.payload[fraction_name(plane, n)].eq(
                        given.rotate_left(13) ^ FRACTION_BITS
                    ),
                ]
        show(m, unit.quads, self.probe_quads)
        return m

    def _answer(self, m, unit):
        """All that survives passes, if its depths have come along. Answers come sooner or later."""
        result = unit.shaded.payload
        complete = 1
        if self._params.shader_depths:
            m.d.comb += unit.colours.payload.replaces.eq(1)
            for n in range(self._params.edge**2):
                m.d.comb += unit.colours.payload[f"depth{n}"].eq(n)
                complete &= result[f"depth{n}"] == n
            complete &= result.replaces
        width = len(result.survivors)
        m.submodules.answers = answers = fifo.SyncFIFOBuffered(width=width, depth=64)
        offered = Signal()
        enable = sometimes(m, 256)
        with m.If(~offered | unit.answers.ready):
            m.d.sync += offered.eq(answers.r_rdy & ~(offered & (answers.level == 1)) & enable)
        m.d.comb += [
            unit.shaded.ready.eq(answers.w_rdy),
            answers.w_en.eq(unit.shaded.valid),
            answers.w_data.eq(Mux(complete, result.survivors, 0)),
            unit.answers.valid.eq(offered),
            unit.answers.payload.mask.eq(answers.r_data),
            answers.r_en.eq(offered & unit.answers.ready),
        ]


def of_planes(params: ColourWriteParams) -> list[str]:
    """Names of the ports that each plane has."""
    return [f"{name}_{port}" for name in params.names for port in ("counted", "memory")]
