# SPDX-License-Identifier: BSD-2-Clause
"""Cube faces: directions of quads become faces, places on them, and gradients."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cube.face import DIRECTION, WAYS, Face
from fixfunc.rtl.texture.state_feed import PIXELS, TURN, feed
from fixfunc.spec.textures.cube import CUBE_QUAD, CUBE_STATE, FACED_QUAD, CubeKind

BEATS = UnionLayout({"kind": 1, "state": layout(CUBE_STATE), "quad": layout(CUBE_QUAD)})
TURNS = StructLayout({"state": layout(CUBE_STATE), "quad": layout(CUBE_QUAD), "pixel": TURN})


@dataclass(frozen=True)
class CubeFacesParams:
    """Shape of :class:`CubeFaces`: there is one."""


CONFIGS = {"default": CubeFacesParams(), "tiny": CubeFacesParams()}
PURPOSE = {  # of each configuration
    "default": "faces of cubes of any size",
    "tiny": "for benches: the default by another name",
}


class CubeFaces(wiring.Component):
    """Faces that the pixels of quads see, in order: a quad in four clocks, a pixel each.

    Parameters
    ----------
    params : CubeFacesParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.cube.CubeKind`.
    o : Out(stream.Signature(layout(FACED_QUAD)))
        :attr:`latency` clocks behind the last clock of a quad at the earliest.
    """

    latency = Face.LATENCY + StallablePipeline.AROUND

    def __init__(self, params: CubeFacesParams = CONFIGS["default"]) -> None:
        super().__init__(
            {"i": In(stream.Signature(BEATS)), "o": Out(stream.Signature(layout(FACED_QUAD)))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.turns = pipeline = StallablePipeline(FaceTurns(), Face.LATENCY)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        feed(m, self.i, pipeline, CubeKind.QUAD, turns=lambda _: 1)
        return m


class FaceTurns(wiring.Component):
    """Faces of a quad, whose pixels come one behind the other; free-running.

    Members
    -------
    i : In(TURNS)
        A quad in four clocks, each with the number of a pixel.
    o : Out(layout(FACED_QUAD))
        ``Face.LATENCY`` clocks behind the last one.
    """

    def __init__(self) -> None:
        super().__init__({"i": In(TURNS), "o": Out(layout(FACED_QUAD))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.face = unit = Face()
        quad, pixel = self.i.quad, self.i.pixel
        directions = ArrayLayout(DIRECTION, PIXELS)(
            Cat(quad[f"{name}{n}"] for n in range(PIXELS) for name in "uvw")
        )
        fine = ~self.i.state.coarse
        right, lower = pixel[0] & fine, pixel[1] & fine
        m.d.comb += [
            unit.i.own.eq(choose(pixel, [directions[n] for n in range(PIXELS)])),
            *(unit.i.across[x].eq(Mux(lower, directions[2 + x], directions[x])) for x in range(2)),
            *(
                unit.i.down[y].eq(Mux(right, directions[2 * y + 1], directions[2 * y]))
                for y in range(2)
            ),
        ]
        turns = [unit.o]
        for _ in range(PIXELS - 1):
            turns.append(delay(m, turns[-1], 1, f"face_{len(turns)}"))
        for n, found in enumerate(reversed(turns)):
            m.d.comb += [self.o[f"{name}{n}"].eq(found[name]) for name in ("face", "u", "v")]
            m.d.comb += [
                self.o[f"{way}_{name}{n}"].eq(found[way][name]) for way in WAYS for name in "uv"
            ]
        return m
