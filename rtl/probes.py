# SPDX-License-Identifier: BSD-2-Clause
"""What goes by inside, shown outside, so that a golden model can follow it stage by stage."""

from collections.abc import Mapping

from amaranth.hdl import Module, ShapeLike
from amaranth.lib import stream
from amaranth.lib.wiring import Member, Out

PREFIX = "probe_"  # of the ports' names


def ports(probes: Mapping[str, ShapeLike]) -> dict[str, Member]:
    """Members for streams of these shapes, by name."""
    return {f"{PREFIX}{name}": Out(stream.Signature(shape)) for name, shape in probes.items()}


def show(m: Module, watched: stream.Interface, port: stream.Interface) -> None:
    """Every beat that moves in a stream moves at ``port`` too, whose ``ready`` nobody asks for."""
    m.d.comb += [
        port.valid.eq(watched.valid & watched.ready),
        port.payload.eq(watched.payload),
    ]
