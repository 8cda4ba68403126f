# SPDX-License-Identifier: BSD-2-Clause
"""Cube faces: directions of quads become faces, places on them, and gradients."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cube.face import DIRECTION, WAYS, Face
from fixfunc.rtl.texture.state_feed import PIXELS, TURN, feed
from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.cube import CUBE_GRADIENTS, CUBE_QUAD, CUBE_STATE, FACED_QUAD, CubeKind


@dataclass(frozen=True)
class CubeFacesParams:
    """Shape of :class:`CubeFaces`.

    Parameters
    ----------
    gradients : bool
        Quads may bring gradients; else ``explicit_gradients`` of a state is nothing.
    """

    gradients: bool = False

    @property
    def quad(self) -> tuple[Field, ...]:
        """Field table of a quad in."""
        return (*CUBE_QUAD, *CUBE_GRADIENTS) if self.gradients else CUBE_QUAD

    @property
    def beats(self) -> UnionLayout:
        """Layout of a beat in."""
        return UnionLayout({"kind": 1, "state": layout(CUBE_STATE), "quad": layout(self.quad)})


CONFIGS = {
    "default": CubeFacesParams(),
    "tiny": CubeFacesParams(),
    "tiny_gradients": CubeFacesParams(gradients=True),
}
PURPOSE = {  # of each configuration
    "default": "faces of cubes of any size",
    "tiny": "for benches: the default by another name",
    "tiny_gradients": "the same, where quads may bring gradients",
}


class CubeFaces(wiring.Component):
    """Faces that the pixels of quads see, in order: a quad in four clocks, a pixel each.

    Parameters
    ----------
    params : CubeFacesParams

    Members
    -------
    i : In(stream.Signature(params.beats))
        STATE, or QUAD: :class:`fixfunc.spec.textures.cube.CubeKind`.
    o : Out(stream.Signature(layout(FACED_QUAD)))
        :attr:`latency` clocks behind the last clock of a quad at the earliest.
    """

    latency = Face.LATENCY + StallablePipeline.AROUND

    def __init__(self, params: CubeFacesParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(params.beats)),
                "o": Out(stream.Signature(layout(FACED_QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.turns = pipeline = StallablePipeline(FaceTurns(self._params), Face.LATENCY)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))
        feed(m, self.i, pipeline, CubeKind.QUAD, turns=lambda _: 1)
        return m


class FaceTurns(wiring.Component):
    """Faces of a quad, whose pixels come one behind the other; free-running.

    Parameters
    ----------
    params : CubeFacesParams

    Members
    -------
    i : In(StructLayout)
        ``state``, ``quad``, ``pixel``: a quad in four clocks, each with the number of a pixel.
    o : Out(layout(FACED_QUAD))
        ``Face.LATENCY`` clocks behind the last one.
    """

    def __init__(self, params: CubeFacesParams) -> None:
        self._gradients = params.gradients
        turns = {"state": layout(CUBE_STATE), "quad": layout(params.quad), "pixel": TURN}
        super().__init__({"i": In(StructLayout(turns)), "o": Out(layout(FACED_QUAD))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.face = unit = Face()
        quad, pixel = self.i.quad, self.i.pixel
        directions = vectors(quad, "")
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
        if self._gradients:
            self._bring(m, unit)
        turns = [unit.o]
        for _ in range(PIXELS - 1):
            turns.append(delay(m, turns[-1], 1, f"face_{len(turns)}"))
        for n, found in enumerate(reversed(turns)):
            m.d.comb += [self.o[f"{name}{n}"].eq(found[name]) for name in ("face", "u", "v")]
            m.d.comb += [
                self.o[f"{way}_{name}{n}"].eq(found[way][name]) for way in WAYS for name in "uv"
            ]
        return m

    def _bring(self, m, unit):
        """A gradient of the quad less +0 is itself: it passes the subtraction, sign and all."""
        with m.If(self.i.state.explicit_gradients):
            for way in WAYS:
                own = choose(self.i.pixel, [v.as_value() for v in vectors(self.i.quad, f"{way}_")])
                m.d.comb += [unit.i[way][0].eq(0), unit.i[way][1].eq(own)]


def vectors(quad: View, prefix: str) -> list[View]:
    """Vectors of the pixels of a quad."""
    return [DIRECTION(Cat(quad[f"{prefix}{name}{n}"] for name in "uvw")) for n in range(PIXELS)]
