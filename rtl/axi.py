# SPDX-License-Identifier: BSD-2-Clause
"""AXI4, as far as blocks here use it: bursts of whole transfers, in order."""

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.spec.payloads import TRANSFER

ADDRESS = 32

BURST = {"id": 1, "addr": ADDRESS, "len": 8, "size": 3, "burst": 2}
WRITE = {"data": TRANSFER, "strb": TRANSFER // 8, "last": 1}
ANSWER = {"id": 1, "resp": 2}
READ = {"id": 1, "data": TRANSFER, "resp": 2, "last": 1}


class Axi(wiring.Signature):
    """An AXI4 port, seen from who asks; names of members are the standard's."""

    def __init__(self) -> None:
        channels = {"aw": (BURST, Out), "w": (WRITE, Out), "b": (ANSWER, In), "ar": (BURST, Out), "r": (READ, In)}
        members = {}
        for channel, (fields, flow) in channels.items():
            back = In if flow is Out else Out
            members |= {f"{channel}{name}": flow(bits) for name, bits in fields.items()}
            members |= {f"{channel}valid": flow(1), f"{channel}ready": back(1)}
        super().__init__(members)


def constants(m: Module, port: wiring.PureInterface) -> None:
    """Assign what never changes: one number, transfers of 32 bytes at ascending addresses, all of their bytes."""
    for channel in ("aw", "ar"):
        m.d.comb += [getattr(port, f"{channel}id").eq(0), getattr(port, f"{channel}size").eq(5), getattr(port, f"{channel}burst").eq(1)]
    m.d.comb += port.wstrb.eq(Const(-1, TRANSFER // 8))
