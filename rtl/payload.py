# SPDX-License-Identifier: BSD-2-Clause
"""Amaranth layouts of the payload tables in :mod:`fixfunc.spec.payloads`."""

from collections.abc import Iterable

from amaranth.hdl import signed, unsigned
from amaranth.lib.data import StructLayout, UnionLayout

from fixfunc.spec import payloads


def layout(fields: Iterable[payloads.Field]) -> StructLayout:
    """Struct layout of a field table, in its order."""
    return StructLayout({f.name: signed(f.bits) if f.signed else unsigned(f.bits) for f in fields})


def beat(**tables: Iterable[payloads.Field]) -> UnionLayout:
    """Union layout of the tables that share a stream.

    ``kind`` reads the first field of them all.
    """
    return UnionLayout(
        {"kind": payloads.KIND.bits} | {name: layout(fields) for name, fields in tables.items()}
    )
