# SPDX-License-Identifier: BSD-2-Clause
"""Amaranth layouts of the payload tables in :mod:`fixfunc.spec.payloads`."""

from collections.abc import Iterable, Mapping

from amaranth.hdl import Value, signed, unsigned
from amaranth.lib.data import StructLayout, UnionLayout, View

from fixfunc.spec import payloads


class TableLayout(StructLayout):
    """Struct layout of a field table.

    Attributes
    ----------
    meanings : mapping
        What each field means, by its name.
    """

    def __init__(self, fields: Iterable[payloads.Field]) -> None:
        fields = tuple(fields)
        super().__init__({f.name: signed(f.bits) if f.signed else unsigned(f.bits) for f in fields})
        self.meanings: Mapping[str, str] = {f.name: f.meaning for f in fields}


def layout(fields: Iterable[payloads.Field]) -> TableLayout:
    """Struct layout of a field table, in its order."""
    return TableLayout(fields)


def carried(target: View, source: View, without: Iterable[str] = ("kind",)) -> list:
    """Assignments of the fields that two structs share, by name, to the first of them."""
    names = [name for name in target.shape().members if name in source.shape().members]
    return [target[name].eq(source[name]) for name in names if name not in without]


def meanings(shape: StructLayout) -> Mapping[str, str]:
    """What each field of a struct means, by its name; empty of one that is not of a table."""
    return shape.meanings if isinstance(shape, TableLayout) else {}


def beat(**tables: Iterable[payloads.Field]) -> UnionLayout:
    """Union layout of the tables that share a stream.

    ``kind`` reads the first field of them all.
    """
    return UnionLayout(
        {"kind": payloads.KIND.bits} | {name: layout(fields) for name, fields in tables.items()}
    )


def fields_of(transfer: Value, table: tuple[payloads.Field, ...]) -> View:
    """The fields of a table in the lowest bits of a value, such as a packet's first transfer."""
    return layout(table)(transfer[: payloads.width(table)])
