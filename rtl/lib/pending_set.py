# SPDX-License-Identifier: BSD-2-Clause
"""Pending set: keys of what is in flight, all compared at once."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import lowest
from fixfunc.spec.errors import InputError


class PendingSet(wiring.Component):
    """A content-addressable memory of keys.

    Parameters
    ----------
    bits : int
        Of a key.
    places : int
        Most keys at once.
    lookups : sequence of slice
        Bits of a key that each lookup compares.

    Members
    -------
    insert : In(1)
        ``key`` is pending from the next clock on. Allowed while ``available``; not for a key that
        is pending already.
    key : In(bits)
    remove : In(1)
        ``removed`` is not pending any more from the next clock on.
    removed : In(bits)
    lookup_<n> : In
    pending_<n> : Out(1)
        A key with the bits ``lookup_<n>`` is pending. Combinational.
    available : Out(1)
        There is a place.
    """

    def __init__(self, bits: int, places: int, lookups: Sequence[slice] = (slice(None),)) -> None:
        if places < 1:
            raise InputError("places", "be above 0", places)
        self._bits = bits
        self._places = places
        self._lookups = lookups
        members = {}
        for n, compared in enumerate(lookups):
            members |= {f"lookup_{n}": In(len(range(bits)[compared])), f"pending_{n}": Out(1)}
        super().__init__(
            {
                "insert": In(1),
                "key": In(bits),
                "remove": In(1),
                "removed": In(bits),
                "available": Out(1),
            }
            | members
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        valid = Signal(self._places)
        keys = [Signal(self._bits, name=f"key_{n}") for n in range(self._places)]
        inserts = Signal(self._places)
        removes = Signal(self._places)
        m.d.comb += [
            self.available.eq(~valid.all()),
            inserts.eq(lowest(~valid) & self.insert.replicate(self._places)),
            removes.eq(
                Cat(key == self.removed for key in keys) & self.remove.replicate(self._places)
            ),
        ]
        for n, compared in enumerate(self._lookups):
            lookup = getattr(self, f"lookup_{n}")
            equal = Cat(key[compared] == lookup for key in keys)
            m.d.comb += getattr(self, f"pending_{n}").eq((valid & equal).any())
        m.d.sync += valid.eq((valid & ~removes) | inserts)
        for n, key in enumerate(keys):
            with m.If(inserts[n]):
                m.d.sync += key.eq(self.key)
        return m
