# SPDX-License-Identifier: BSD-2-Clause
"""Writes packets of the vertex ring: :mod:`fixfunc.spec.commands`."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import check, integers
from fixfunc.spec import commands
from fixfunc.spec.commands import SLOTS_A_TRANSFER, Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER, width

WORDS = TRANSFER // 64
ENTRY = width(commands.CORNER_SLOTS) // 8  # bytes of three slots


def header(opcode: int, length: int = 1, **fields: int) -> np.ndarray:
    """Any header: ndarray of uint64, shape (1, 4).

    A field that is no integer, or does not fit, raises :class:`~fixfunc.spec.errors.InputError`.
    """
    record = np.zeros(1, codec.wide(commands.VERTEX_PACKET))
    values = {"opcode": opcode, "length": length} | fields
    for name, value in integers(values, commands.VERTEX_PACKET, "packet").items():
        record[name] = value
    return codec.pack(record, commands.VERTEX_PACKET, TRANSFER)


def write_vertices(
    places: np.ndarray, attributes: np.ndarray | None = None, weights: np.ndarray | None = None
) -> np.ndarray:
    """A VERTICES packet: ndarray of uint64, shape (n, 4).

    Parameters
    ----------
    places : structured ndarray, shape (n,)
        Fields of :data:`fixfunc.spec.commands.VERTEX_PLACE`; one that does not fit raises
        :class:`~fixfunc.spec.errors.InputError`.
    attributes : ndarray of float32, or of uint32 as its bits, shape (n, a, 4), optional
    weights : structured ndarray, shape (n,), optional
        Fields of :data:`fixfunc.spec.commands.VERTEX_WEIGHTS`, of corners of cut triangles; without
        attributes.
    """
    if attributes is not None and weights is not None:
        raise InputError("weights", "stand without attributes", "given with them")
    values = np.zeros((len(places), 0, 4), np.uint32) if attributes is None else attributes
    count = values.shape[1]
    each = commands.vertex_transfers(count)
    out = np.zeros((len(places), each * WORDS), np.uint64)
    check(places, commands.VERTEX_PLACE)
    out[:, : WORDS // 2] = codec.pack(places, commands.VERTEX_PLACE, TRANSFER // 2)
    if weights is not None:
        check(weights, commands.VERTEX_WEIGHTS)
        out[:, WORDS // 2 :] = codec.pack(weights, commands.VERTEX_WEIGHTS, TRANSFER // 2)
    if values.dtype != np.uint32:
        values = np.ascontiguousarray(values, np.float32).view(np.uint32)
    bits = values.reshape(len(places), 4 * count)
    out.view(np.uint32)[:, WORDS : WORDS + 4 * count] = bits
    first = header(
        Opcode.VERTICES,
        1 + each * len(places),
        count=len(places),
        attributes=count,
        cut=int(weights is not None),
    )
    return np.concatenate([first, out.reshape(-1, WORDS)])


def write_primitives(slots: np.ndarray, attributes: int = 0) -> np.ndarray:
    """A PRIMITIVES packet: ndarray of uint64, shape (n, 4).

    Parameters
    ----------
    slots : ndarray of int, shape (n, 3)
        Of corners; of cut triangles shape (n, 2, 3), their own, then the primitive's.
    attributes : int
        How many are used.
    """
    cut = int(slots.ndim == 3)
    count = len(slots)
    slots = slots.reshape(-1, 3)
    rows = -(-len(slots) // SLOTS_A_TRANSFER)
    records = np.zeros(rows * SLOTS_A_TRANSFER, codec.wide(commands.CORNER_SLOTS))
    for corner in range(3):
        records[f"slot{corner}"][: len(slots)] = slots[:, corner]
    check(records, commands.CORNER_SLOTS)
    entries = codec.pack(records, commands.CORNER_SLOTS).view(np.uint8)[:, :ENTRY]
    data = np.zeros((rows, TRANSFER // 8), np.uint8)
    data[:, : ENTRY * SLOTS_A_TRANSFER] = entries.reshape(rows, ENTRY * SLOTS_A_TRANSFER)
    first = header(Opcode.PRIMITIVES, 1 + rows, count=count, attributes=attributes, cut=cut)
    return np.concatenate([first, data.view(np.uint64)])


def write_release(count: int) -> np.ndarray:
    """A RELEASE packet: ndarray of uint64, shape (1, 4)."""
    return header(Opcode.RELEASE, count=count)
