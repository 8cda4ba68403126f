# SPDX-License-Identifier: BSD-2-Clause
"""Depth codec: depths of every format between the slots of a depth test and memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring

from fixfunc.rtl.depth.compression.depth_compression import DepthCompressionParams
from fixfunc.rtl.depth.compression.plane_codec import PlaneCodec
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_cache.raw_codec import RawCodec, codec_members
from fixfunc.spec.payloads import FLOAT_DEPTH
from fixfunc.spec.state import SlotOp

RECEIVED = "stored", "completions", "evictions"  # streams into a codec
SENT = "filled", "evicted"  # streams out of it
FILLING = 1 << 10  # more than tiles that are in flight in a test


class DepthCodec(wiring.Component):
    """Code D16 and D24 by planes; keep tiles of D32F raw, or as they were cleared.

    The format is that of a target, which begins when nothing is in flight that matters to a codec:
    a USE of the target before may still be done, and changes nothing that a FILL does not set.

    Parameters
    ----------
    edge, samples, slots, fills, differences
        As :class:`~fixfunc.rtl.depth.compression.plane_codec.PlaneCodec` has them.

    Members
    -------
    See :func:`~fixfunc.rtl.memory.tile_cache.raw_codec.codec_members`. One completion a clock.
    """

    def __init__(self, edge: int, samples: int, slots: int, fills: int, differences: bool) -> None:
        mode = DepthCompressionParams(edge, samples, differences).mode_bits
        self._planes = PlaneCodec(edge, samples, slots, fills, differences)
        self._floats = RawCodec(edge, slots, FLOAT_DEPTH, mode)
        super().__init__(codec_members(edge, FLOAT_DEPTH, mode))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.planes = planes = self._planes
        m.submodules.floats = floats = self._floats
        for name in RECEIVED:
            self._receive(m, name)
        for name in SENT:
            self._send(m, name)
        for codec in (planes, floats):
            m.d.comb += [
                codec.samples.eq(self.samples),
                codec.cleared.eq(self.cleared),
                codec.available.eq(self.available),
            ]
        m.d.comb += [
            self.drained.eq(planes.drained & floats.drained & (self._filling(m) == 0)),
            self.push.eq(Mux(self.is_float, floats.push, planes.push)),
            self.row.eq(Mux(self.is_float, floats.row, planes.row)),
            self.commit.eq(Mux(self.is_float, floats.commit, planes.commit)),
        ]
        return m

    def _filling(self, m):
        """Tiles that have been filled in, and whose completion is awaited."""
        filling = Signal(range(FILLING))
        filled = self.filled.valid & self.filled.ready
        fills = has(self.completions.payload.op, SlotOp.FILL)
        complete = self.completions.valid & self.completions.ready & fills
        m.d.sync += filling.eq(filling + filled - complete)
        return filling

    def _receive(self, m, name):
        """A stream goes to the codec of the format."""
        source = getattr(self, name)
        planes = getattr(self._planes, name)
        floats = getattr(self._floats, name)
        m.d.comb += [
            planes.valid.eq(source.valid & ~self.is_float),
            floats.valid.eq(source.valid & self.is_float),
            source.ready.eq(Mux(self.is_float, floats.ready, planes.ready)),
        ]
        for sink in (planes, floats):
            if name == "evictions":
                m.d.comb += sink.payload.eq(source.payload)
                continue
            m.d.comb += [
                sink.payload[field].eq(source.payload[field])
                for field in sink.payload.shape().members
            ]

    def _send(self, m, name):
        """A stream comes from the codec of the format."""
        sink = getattr(self, name)
        planes = getattr(self._planes, name)
        floats = getattr(self._floats, name)
        m.d.comb += [
            sink.valid.eq(Mux(self.is_float, floats.valid, planes.valid)),
            planes.ready.eq(sink.ready & ~self.is_float),
            floats.ready.eq(sink.ready & self.is_float),
        ]
        if name == "evicted":
            m.d.comb += sink.payload.eq(Mux(self.is_float, floats.payload, planes.payload))
            return
        m.d.comb += sink.payload.wrong.eq(
            Mux(self.is_float, floats.payload.wrong, planes.payload.wrong)
        )
        for n, value in enumerate(sink.payload.values):
            m.d.comb += value.eq(
                Mux(self.is_float, floats.payload.values[n], planes.payload.values[n])
            )
