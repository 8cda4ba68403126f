# SPDX-License-Identifier: BSD-2-Clause
"""The fields of a port's payload, by the tables that share it."""

from typing import NamedTuple

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib.data import StructLayout, UnionLayout

from fixfunc.cosim import codec
from fixfunc.cosim.verilog.generate import Port
from fixfunc.models.payload import dtype
from fixfunc.rtl.payload import meanings
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind

ALONE = "fields"  # name of the table of a payload that has one
CONTROL = {"draw_state": Kind.STATE, "clear": Kind.CLEAR, "fence": Kind.FENCE}


class Table(NamedTuple):
    """A field table, and which beats it describes."""

    name: str
    fields: tuple[payloads.Field, ...]  # the first one lowest
    kind: int | None  # of those beats, their first field; None: of all

    def records(self, rows: np.ndarray) -> np.ndarray:
        """The packed beats that the table describes, by field.

        Returns
        -------
        structured ndarray
            ``beat``, int64, its number among ``rows``; then every field, in the narrowest integer
            that holds it.
        """
        at = np.arange(len(rows))
        if self.kind is not None:
            bits = np.uint64((1 << self.fields[0].bits) - 1)
            at = np.flatnonzero((rows[:, 0] & bits) == self.kind)
        values = codec.unpack(rows[at], self.fields, dtype(self.fields))
        out = np.zeros(len(at), [("beat", "i8"), *values.dtype.descr])
        out["beat"] = at
        for name in values.dtype.names:
            out[name] = values[name]
        return out


def tables(port: Port) -> list[Table]:
    """The tables of a port: one, or one for each kind of beat."""
    if isinstance(port.shape, StructLayout):
        return [Table(ALONE, _fields(port.shape), None)]
    if isinstance(port.shape, UnionLayout):
        shapes = {name: field.shape for name, field in port.shape}
        names = [name for name, shape in shapes.items() if isinstance(shape, StructLayout)]
        # Beats between work are numbered for all blocks, others by their order.
        numbers = {name: CONTROL.get(name, Kind.WORK) for name in names}
        if not CONTROL.keys() & shapes.keys():
            numbers = {name: number for number, name in enumerate(names)}
        return [Table(name, _fields(shapes[name]), int(numbers[name])) for name in names]
    return []


def _fields(shape: StructLayout) -> tuple[payloads.Field, ...]:
    return tuple(
        payloads.Field(
            name, field.width, Shape.cast(field.shape).signed, meanings(shape).get(name, "")
        )
        for name, field in shape
    )
