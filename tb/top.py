"""Bench of :class:`rtl.top.Top`."""

import cocotb

from cosim import codec
from rtl.top import CONFIGS
from spec import payloads
from tb.bench import scenes
from tb.bench.bench import StreamBench, configuration
from tb.geometry import triangle_setup
from tb.raster import tile_rasterizer


def requests(rng, count, params):
    """Draws of triangles of every kind, between control beats."""
    return scenes.beats(rng, count, triangle_setup.IN, lambda triangles, _: codec.pack(triangles, payloads.TRIANGLE, triangle_setup.IN),
                        params.raster.samples, tile_rasterizer.PIXELS[params.raster.edge])


def expected(rows, params):
    """Covered tiles and control beats, packed: what one golden block gives, the next one takes."""
    return tile_rasterizer.expected(triangle_setup.expected(rows, params.setup), params.raster)


def describe(row, params):
    return tile_rasterizer.describe(row, params.raster)


class TopBench(StreamBench):
    def __init__(self, dut):
        self.params = configuration(CONFIGS)
        super().__init__(dut, lambda rows: expected(rows, self.params),
                         lambda row: describe(row, self.params))


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(source=["full", "random"], sink=["full", "bursty"])
async def tiles_of_triangles(dut, source, sink):
    bench = TopBench(dut)
    await bench.run(requests(bench.rng, 60, bench.params), source, sink)
