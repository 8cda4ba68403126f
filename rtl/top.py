"""The hardware pipeline, as far as it stands: triangle setup and tile rasterizer."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.geometry import triangle_setup
from rtl.payload import beat
from rtl.raster import tile_rasterizer
from spec import payloads


@dataclass(frozen=True)
class TopParams:
    """Shape of a :class:`Top`: the shapes of its blocks, which must have the same tile edge.

    Parameters
    ----------
    setup : TriangleSetupParams
    raster : TileRasterizerParams
    """

    setup: triangle_setup.TriangleSetupParams = triangle_setup.CONFIGS["default"]
    raster: tile_rasterizer.TileRasterizerParams = tile_rasterizer.CONFIGS["default"]

    def __post_init__(self):
        if self.setup.edge != self.raster.edge:
            raise ValueError(f"setup.edge must be raster.edge {self.raster.edge!r}, not {self.setup.edge!r}")


CONFIGS = {
    "default": TopParams(),
    "shared": TopParams(raster=tile_rasterizer.CONFIGS["shared"]),
    "tiny": TopParams(triangle_setup.CONFIGS["tiny"], tile_rasterizer.CONFIGS["tiny"]),
}


class Top(wiring.Component):
    """Triangles in, covered tiles out; control beats pass through in order.

    One triangle and one covered tile per clock, in order.

    Parameters
    ----------
    params : TopParams

    Members
    -------
    i : In(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
        As of :class:`~rtl.geometry.triangle_setup.TriangleSetup`.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        As of :class:`~rtl.raster.tile_rasterizer.TileRasterizer`.
    """

    def __init__(self, params=CONFIGS["default"]):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
            "o": Out(stream.Signature(beat(tile=payloads.tile(params.raster.edge), **payloads.CONTROL))),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.setup = setup = triangle_setup.TriangleSetup(self._params.setup)
        m.submodules.raster = raster = tile_rasterizer.TileRasterizer(self._params.raster)
        wiring.connect(m, wiring.flipped(self.i), setup.i)
        wiring.connect(m, setup.o, raster.i)
        wiring.connect(m, raster.o, wiring.flipped(self.o))
        return m
