# SPDX-License-Identifier: BSD-2-Clause
"""AXI4 bursts: every burst once and in order, its last transfer marked, none forgotten."""

from types import ModuleType

from amaranth.hdl import Cat, Mux, Signal, Value

from fixfunc.rtl.lib import axi
from fixfunc.tb.proofs.engine.places import buffered_fifo
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.streams import Order, no_deadlock

MOST = 2
IN_FLIGHT = 3
TURNS = 4
TAG = 1


def _address_keeps(p: Properties, port: object, channel: str) -> Value:
    """An address stays until it is taken. Returns its fields that vary."""
    valid = getattr(port, f"{channel}valid")
    ready = getattr(port, f"{channel}ready")
    fields = Cat(getattr(port, f"{channel}addr"), getattr(port, f"{channel}len"))
    waits = p.past(valid & ~ready)
    p.prove("address_stable", ~waits | (valid & (fields == p.past(fields))))
    for name, value in (("id", 0), ("size", 5), ("burst", 1)):
        p.prove(f"address_{name}", getattr(port, f"{channel}{name}") == value)
    return fields


def _burst(request: object) -> Value:
    """Address and length of a request, as an address channel has them."""
    return Cat(request.address, (request.transfers - 1)[:8])


def reader(module: ModuleType = axi) -> Properties:
    """A reader of up to two transfers."""
    p = Properties()
    unit = module.AxiReader(MOST, IN_FLIGHT, TAG, TURNS)
    p.add(unit)
    port = unit.memory
    request = unit.request.payload
    out = unit.o.payload
    accept = unit.request.valid & unit.request.ready
    transferred = unit.o.valid & unit.o.ready
    p.assume(request.transfers <= MOST)

    # Addresses: each request of any transfers, once.
    fields = _address_keeps(p, port, "ar")
    sent = port.arvalid & port.arready
    addresses = Order(
        p, accept & (request.transfers != 0), _burst(request), sent, fields, 1, "address_"
    )
    addresses.holds_slots([(port.arvalid, fields)])

    # Beats: a request ends with its last one, whose index tells the transfers.
    finished = transferred & out.last
    length = Mux(out.empty, 0, out.index + 1)[: len(request.transfers)]
    wanted = Cat(request.transfers, request.tag)
    requests = Order(p, accept, wanted, finished, Cat(length, out.tag), TURNS, "request_")
    places = buffered_fifo(p, "unit.pending", TURNS)
    requests.holds_slots(places)
    index = Signal.like(out.index)
    p.m.d.sync += index.eq(Mux(transferred, Mux(out.last, 0, index + 1), index))
    head = Value.cast(places[0][1])[: len(request.transfers)]
    p.prove("index", out.index == index)
    p.prove("within", Mux(places[0][0] & (head != 0), index < head, index == 0))
    for n, (valid, place) in enumerate(places):
        p.prove(f"most_{n}", ~valid | (place[: len(request.transfers)] <= MOST))

    # Reads: of all that wait for their turn no more than so many.
    reads = Signal(range(TURNS + 1))
    begins = accept & (request.transfers != 0)
    p.m.d.sync += reads.eq(reads + begins - (finished & ~out.empty))
    p.prove("in_flight", reads <= IN_FLIGHT)
    p.prove("free", p.inner("unit.reading.free") == IN_FLIGHT - reads)
    p.prove("available", ~p.inner("unit.reading.available") | (reads < IN_FLIGHT))
    waiting = [valid & (place[: len(request.transfers)] != 0) for valid, place in places]
    p.prove("reads", reads == sum(waiting))

    # Data: a beat that is not empty is a transfer of memory, and none is dropped.
    taken = port.rvalid & port.rready
    p.prove("taken", taken == (transferred & ~out.empty))
    p.prove("data", ~taken | (out.data == port.rdata))
    p.prove("error", ~transferred | (out.error == (~out.empty & (port.rresp != 0))))
    p.prove("idle", unit.idle == (requests.count == 0))
    offered = (requests.count != 0) & (port.rvalid | out.empty)
    no_deadlock(p, offered & unit.o.ready, transferred, 2)
    room = (requests.count < IN_FLIGHT - 1) & port.arready
    no_deadlock(p, unit.request.valid & room, accept, 3, "accepts")
    p.reach("whole", finished & (out.index == 1) & p.past(transferred))
    return p


def writer(module: ModuleType = axi) -> Properties:
    """A writer of up to two transfers."""
    p = Properties()
    unit = module.AxiWriter(MOST, IN_FLIGHT, TAG)
    p.add(unit)
    port = unit.memory
    burst = unit.burst.payload
    accept = unit.burst.valid & unit.burst.ready
    p.assume(~unit.burst.valid | ((burst.transfers != 0) & (burst.transfers <= MOST)))

    fields = _address_keeps(p, port, "aw")
    sent = port.awvalid & port.awready
    addresses = Order(p, accept, _burst(burst), sent, fields, 1, "address_")
    addresses.holds_slots([(port.awvalid, fields)])

    # Transfers: each once, in order; the last of each burst is marked, and no other.
    put = unit.data.valid & unit.data.ready
    wrote = port.wvalid & port.wready
    transfers = Order(p, put, unit.data.payload, wrote, port.wdata, 1, "data_")
    transfers.holds_slots([(port.wvalid, port.wdata)])
    waits = p.past(port.wvalid & ~port.wready)
    held = Cat(port.wdata, port.wlast)
    p.prove("data_stable", ~waits | (port.wvalid & (held == p.past(held))))
    p.prove("all_bytes", port.wstrb.all())
    written = Signal.like(burst.transfers)  # transfers of the burst that memory has taken
    p.m.d.sync += written.eq(Mux(wrote, Mux(port.wlast, 0, written + 1), written))
    length = written + 1
    bursts = Order(
        p,
        accept,
        burst.transfers,
        wrote & port.wlast,
        length[: len(burst.transfers)],
        IN_FLIGHT + 1,
        "burst_",
    )
    lengths = buffered_fifo(p, "unit.lengths", IN_FLIGHT, "length_")
    last_waits = port.wvalid & port.wlast
    bursts.holds_slots([(last_waits, length), *lengths])
    index = p.inner("unit.index")
    p.prove("index", index == Mux(last_waits, 0, written + port.wvalid))
    p.prove("within", Mux(lengths[0][0], index < lengths[0][1], index == 0) | (index == 0))
    for n, (valid, place) in enumerate(lengths):
        p.prove(f"most_{n}", ~valid | ((place != 0) & (place <= MOST)))
    p.prove("short", ~port.wvalid | (length <= MOST))

    # Responses: the tag of each burst, once, as memory answers.
    answered = unit.response.valid & unit.response.ready
    tags = Order(p, accept, burst.tag, answered, unit.response.payload.tag, IN_FLIGHT, "tag_")
    tags.holds_slots(buffered_fifo(p, "unit.pending", IN_FLIGHT, "tag_"))
    p.prove("answered", answered == (port.bvalid & port.bready))
    p.prove("error", ~answered | (unit.response.payload.error == (port.bresp != 0)))
    p.prove("idle", unit.idle == (tags.count == 0))
    # Data waits for the length of its burst, a clock or two, and for memory, not for addresses.
    awaited = bursts.count > last_waits
    no_deadlock(p, unit.data.valid & awaited & port.wready, put, 2)
    room = (tags.count < IN_FLIGHT - 1) & (bursts.count < IN_FLIGHT - 1) & port.awready
    no_deadlock(p, unit.burst.valid & room, accept, 2, "accepts")
    no_deadlock(p, port.bvalid & unit.response.ready & (tags.count != 0), answered, 2, "answers")
    p.reach("whole", wrote & port.wlast & (written == 1))
    return p


PROOFS = [
    Proof(
        "axi_reader",
        "lib/axi.py AxiReader",
        "Every request becomes one burst of its length, in order; it gets exactly its transfers, "
        "in order, then its tag with the last one; no transfer of memory is dropped, no address "
        "changes while it waits; none waits for anything but memory and the receiver.",
        reader,
        depth=5,
        size="2 transfers, 3 in flight",
    ),
    Proof(
        "axi_writer",
        "lib/axi.py AxiWriter",
        "Every burst gets one address of its length, exactly its transfers in order, WLAST on the "
        "last of them and on no other, and its tag with the answer; nothing changes while it "
        "waits; data waits for no address.",
        writer,
        depth=5,
        size="2 transfers, 3 in flight",
        assumed="A burst has at least one transfer.",
    ),
]
