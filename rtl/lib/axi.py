# SPDX-License-Identifier: BSD-2-Clause
"""AXI4 as blocks use it: bursts of whole transfers, in order.

:class:`AxiReader` and :class:`AxiWriter` turn streams into bursts; :func:`join` wires them to a
block's port.
"""

from amaranth.hdl import Const, Module, ShapeLike, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER

ADDRESS = 32

BURST = {"id": 1, "addr": ADDRESS, "len": 8, "size": 3, "burst": 2}
WRITE = {"data": TRANSFER, "strb": TRANSFER // 8, "last": 1}
RESPONSE = {"id": 1, "resp": 2}
READ = {"id": 1, "data": TRANSFER, "resp": 2, "last": 1}
READ_CHANNELS = {"ar": (BURST, Out), "r": (READ, In)}
WRITE_CHANNELS = {"aw": (BURST, Out), "w": (WRITE, Out), "b": (RESPONSE, In)}


class AxiChannels(wiring.Signature):
    """Some channels of an AXI4 port, seen from the block; names of members are the standard's.

    Parameters
    ----------
    channels : dict
        By its name: bits of its fields, and its flow.
    ids : int
        Bits of an id.
    """

    def __init__(self, channels: dict, ids: int = 1) -> None:
        members = {}
        for channel, (fields, flow) in channels.items():
            back = In if flow is Out else Out
            for name, bits in fields.items():
                members[f"{channel}{name}"] = flow(ids if name == "id" else bits)
            members |= {f"{channel}valid": flow(1), f"{channel}ready": back(1)}
        super().__init__(members)


class AxiRead(AxiChannels):
    """The channels that read, with ids of so many bits."""

    def __init__(self, ids: int = 1) -> None:
        super().__init__(READ_CHANNELS, ids)


class AxiWrite(AxiChannels):
    """The channels that write."""

    def __init__(self) -> None:
        super().__init__(WRITE_CHANNELS)


class Axi(AxiChannels):
    """A whole AXI4 port.

    Parameters
    ----------
    ids : int
        Bits of an id. Of more than one bit, memory may answer reads of different ids in any order.
    """

    def __init__(self, ids: int = 1) -> None:
        super().__init__(WRITE_CHANNELS | READ_CHANNELS, ids)


def join(m: Module, port: wiring.PureInterface, *units: wiring.PureInterface) -> None:
    """Wire the channels of readers and writers to a whole port."""
    for unit in units:
        for name, member in unit.signature.members.items():
            if member.flow is Out:
                m.d.comb += getattr(port, name).eq(getattr(unit, name))
            else:
                m.d.comb += getattr(unit, name).eq(getattr(port, name))


def constants(m: Module, port: wiring.PureInterface) -> None:
    """Assign what never changes: one id, transfers of 32 bytes at ascending addresses, all of their
    bytes.
    """
    names = port.signature.members
    for channel in (name for name in ("aw", "ar") if f"{name}id" in names):
        m.d.comb += [
            getattr(port, f"{channel}id").eq(0),
            getattr(port, f"{channel}size").eq(5),
            getattr(port, f"{channel}burst").eq(1),
        ]
    if "wstrb" in names:
        m.d.comb += port.wstrb.eq(Const(-1, TRANSFER // 8))


def _check(most, in_flight):
    """Refuse bursts that AXI4 has no length for, and queues that take none."""
    if not 1 <= most <= 256:
        raise InputError("most", "be 1 to 256", most)
    if in_flight < 3:
        raise InputError("in_flight", "be above 2", in_flight)


class AxiReader(wiring.Component):
    """Reads bursts, several at once; what was read comes in the order of the requests.

    Parameters
    ----------
    most : int
        Most transfers of a burst.
    in_flight : int
        Most requests that read, and whose data has not all been read.
    tag : ShapeLike
        Of what comes back beside the data of a request.
    turns : int, optional
        Most requests that wait for their turn, if more than ``in_flight`` since many read nothing.

    Members
    -------
    request : In(stream.Signature(...))
        ``address``, number of ``transfers``, ``tag``. One of no transfers reads nothing, and has
        an ``empty`` beat in its turn.
    o : Out(stream.Signature(...))
        One transfer a clock: its ``data``, its ``index`` within the burst, whether it is the
        ``last`` one; whether the request is ``empty``; ``error``: memory said so. ``data`` of an
        ``empty`` beat is what memory happens to offer: it may change while the beat waits.
    idle : Out(1)
        No request is in flight.
    memory : Out(AxiRead())
    """

    def __init__(self, most: int, in_flight: int, tag: ShapeLike, turns: int | None = None) -> None:
        _check(most, in_flight)
        self._in_flight = in_flight
        self._turns = max(in_flight, turns or 0)
        index = range(most + 1)
        self._pending = StructLayout({"transfers": index, "tag": tag})
        request = StructLayout({"address": ADDRESS, "transfers": index, "tag": tag})
        beat = StructLayout(
            {"data": TRANSFER, "index": index, "last": 1, "empty": 1, "error": 1, "tag": tag}
        )
        super().__init__(
            {
                "request": In(stream.Signature(request)),
                "o": Out(stream.Signature(beat)),
                "idle": Out(1),
                "memory": Out(AxiRead()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.memory
        constants(m, port)
        m.submodules.pending = pending = fifo.SyncFIFOBuffered(
            width=self._pending.size, depth=self._turns
        )
        begins = Signal()
        ends = Signal()
        available = Const(1)  # where all that wait for their turn may be reads
        if self._turns > self._in_flight:
            m.submodules.reading = reading = CreditCounter(self._in_flight)
            m.d.comb += [
                reading.consume.eq(begins),
                reading.release.eq(ends),
            ]
            available = reading.available
        self._send_address(m, port, pending, available, begins)

        head = self._pending(pending.r_data)
        index = Signal.like(head.transfers)
        empty = head.transfers == 0
        last = empty | (index == head.transfers - 1)
        transferred = self.o.valid & self.o.ready
        m.d.comb += [
            self.o.valid.eq(pending.r_rdy & (empty | port.rvalid)),
            port.rready.eq(pending.r_rdy & ~empty & self.o.ready),
            pending.r_en.eq(transferred & last),
            ends.eq(pending.r_en & ~empty),
            self.o.payload.data.eq(port.rdata),
            self.o.payload.index.eq(index),
            self.o.payload.last.eq(last),
            self.o.payload.empty.eq(empty),
            self.o.payload.error.eq(~empty & (port.rresp != 0)),
            self.o.payload.tag.eq(head.tag),
            self.idle.eq(pending.level == 0),
        ]
        with m.If(transferred):
            m.d.sync += index.eq(index + 1)
            with m.If(last):
                m.d.sync += index.eq(0)
        return m

    def _send_address(self, m, port, pending, available, begins):
        """Requests become addresses, and are pending until their data has come."""
        request = self.request.payload
        reads = request.transfers != 0
        address_ready = ~port.arvalid | port.arready
        pushed = self._pending(pending.w_data)
        may_read = address_ready & available
        m.d.comb += [
            self.request.ready.eq(pending.w_rdy & (may_read | ~reads)),
            pending.w_en.eq(self.request.valid & self.request.ready),
            begins.eq(pending.w_en & reads),
            pushed.transfers.eq(request.transfers),
            pushed.tag.eq(request.tag),
        ]
        with m.If(address_ready):
            m.d.sync += [
                port.arvalid.eq(begins),
                port.araddr.eq(request.address),
                port.arlen.eq(request.transfers - 1),
            ]


class AxiWriter(wiring.Component):
    """Writes bursts, several at once; responses come in the order of the bursts.

    Addresses do not wait for data, nor data for addresses.

    Parameters
    ----------
    most : int
        Most transfers of a burst.
    in_flight : int
        Most bursts without a response from memory.
    tag : ShapeLike
        Of what comes back with the response to a burst.

    Members
    -------
    burst : In(stream.Signature(...))
        ``address``, number of ``transfers``, ``tag``.
    data : In(stream.Signature(TRANSFER))
        Transfers of all bursts, in order; one a clock.
    response : Out(stream.Signature(...))
        ``tag`` of a burst that memory has taken; ``error``: it could not.
    idle : Out(1)
        Every burst has had its response.
    memory : Out(AxiWrite())
    """

    def __init__(self, most: int, in_flight: int, tag: ShapeLike) -> None:
        _check(most, in_flight)
        self._in_flight = in_flight
        self._most = most
        self._tag = tag
        burst = StructLayout({"address": ADDRESS, "transfers": range(most + 1), "tag": tag})
        super().__init__(
            {
                "burst": In(stream.Signature(burst)),
                "data": In(stream.Signature(TRANSFER)),
                "response": Out(stream.Signature(StructLayout({"tag": tag, "error": 1}))),
                "idle": Out(1),
                "memory": Out(AxiWrite()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.memory
        constants(m, port)
        burst = self.burst.payload
        m.submodules.lengths = lengths = fifo.SyncFIFOBuffered(
            width=len(burst.transfers), depth=self._in_flight
        )
        m.submodules.pending = pending = fifo.SyncFIFOBuffered(
            width=burst.shape()["tag"].width, depth=self._in_flight
        )
        address_ready = ~port.awvalid | port.awready
        accept = self.burst.valid & self.burst.ready
        m.d.comb += [
            self.burst.ready.eq(address_ready & lengths.w_rdy & pending.w_rdy),
            lengths.w_en.eq(accept),
            lengths.w_data.eq(burst.transfers),
            pending.w_en.eq(accept),
            pending.w_data.eq(burst.tag),
        ]
        with m.If(address_ready):
            m.d.sync += [
                port.awvalid.eq(accept),
                port.awaddr.eq(burst.address),
                port.awlen.eq(burst.transfers - 1),
            ]
        self._send(m, port, lengths)
        m.d.comb += [
            self.response.valid.eq(port.bvalid & pending.r_rdy),
            port.bready.eq(self.response.ready & pending.r_rdy),
            pending.r_en.eq(self.response.valid & self.response.ready),
            self.response.payload.tag.eq(pending.r_data),
            self.response.payload.error.eq(port.bresp != 0),
            self.idle.eq(pending.level == 0),
        ]
        return m

    def _send(self, m, port, lengths):
        """Transfers, of which the last of each burst is marked."""
        index = Signal(range(self._most + 1))
        last = index == lengths.r_data - 1
        transferred = self.data.valid & self.data.ready
        m.d.comb += [
            self.data.ready.eq(lengths.r_rdy & (~port.wvalid | port.wready)),
            lengths.r_en.eq(transferred & last),
        ]
        with m.If(~port.wvalid | port.wready):
            m.d.sync += [
                port.wvalid.eq(transferred),
                port.wdata.eq(self.data.payload),
                port.wlast.eq(last),
            ]
        with m.If(transferred):
            m.d.sync += index.eq(index + 1)
            with m.If(last):
                m.d.sync += index.eq(0)
