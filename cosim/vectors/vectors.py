# SPDX-License-Identifier: BSD-2-Clause
"""Beats of a block and what its golden model makes of them, in a folder.

Nothing is elaborated, and nothing simulated: Amaranth says which ports a block has.
"""

import io
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.vectors import readers
from fixfunc.cosim.vectors.fields import tables
from fixfunc.cosim.verilog import export
from fixfunc.cosim.verilog.generate import Port, memory_ports, ports
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER

MOST = 10_000  # beats in that may be asked for; a rasterizer gives twenty beats for one
MOST_OF_MEMORY = 1_000  # likewise, of a block with memory, which its files hold twice


class Vectors(NamedTuple):
    """Beats in, beats out, and memory.

    Parameters
    ----------
    ports : list of :class:`~fixfunc.cosim.verilog.generate.Port`
        Those of ``beats``, in the order of the block's signature.
    beats : dict of ndarray of uint64, shape (n, words)
        Packed beats by port, little end first: what goes in, and what has to come out.
    memory : tuple of ndarray of uint64, shape (n, 4), or None
        Transfers of 32 bytes behind the AXI4 port, before and after.
    unreadable : int
        A transfer that cannot be read; -1 where there is none.
    """

    ports: list[Port]
    beats: Mapping[str, np.ndarray]
    memory: tuple[np.ndarray, np.ndarray] | None
    unreadable: int

    def files(self, block: Bench, config: str, seed: int) -> dict[str, bytes]:
        """Contents of every file, by its name."""
        out = {}
        arrays = {}
        for port in self.ports:
            stem = readers.stem(port)
            rows = self.beats[port.name]
            out[f"{stem}.hex"] = hexadecimal(rows, port.width)
            arrays[stem] = rows
            for table in tables(port):
                arrays[f"{stem}_{table.name}"] = table.records(rows)
        for name, transfers in zip(("before", "after"), self.memory or (), strict=False):
            out[f"memory_{name}.hex"] = hexadecimal(transfers, TRANSFER)
            arrays[f"memory_{name}"] = transfers
            arrays["memory_unreadable"] = np.int64(self.unreadable)
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)
        sizes = {port.name: len(self.beats[port.name]) for port in self.ports}
        transfers = len(self.memory[0]) if self.memory else 0
        title = f"{block.stem} ({config}), seed {seed}"
        parts = readers.Parts(block.stem, title, self.ports, sizes, transfers, self.unreadable)
        out["vectors.npz"] = packed.getvalue()
        out["fields.md"] = export.page(block, config).encode()
        return out | {name: text.encode() for name, text in readers.texts(parts).items()}


def has_vectors(block: Bench) -> bool:
    """Whether the golden model knows every beat of the block's own ports from its inputs alone.

    Others answer by when things happen, or by what a shader or a cache beside them does.
    """
    return hasattr(block.bench, "expected") and (
        not hasattr(block.bench, "Harness") or hasattr(block.bench, "own_ports")
    )


def check_count(block: Bench, count: int) -> None:
    """See that so many beats fit; others raise :class:`~fixfunc.spec.errors.InputError`."""
    most = MOST_OF_MEMORY if hasattr(block.bench, "memory") else MOST
    if not 1 <= count <= most:
        raise InputError("count", f"lie in 1..{most} for {block.stem}", count)


def draw(block: Bench, config: str, count: int, seed: int) -> Vectors:
    """Random beats in, about ``count`` of them, and what belongs to them.

    There are more where draws, patches or requests are whole.
    """
    params = block.parameters(config)
    bench = block.bench
    rows = bench.requests(np.random.default_rng(seed), count, params)
    given = {"i": rows}
    expected = block.expected(rows, config)
    if hasattr(bench, "own_ports"):
        given, expected = bench.own_ports(rows, expected, params)
    component = block.create(config)
    memory = None
    if memory_ports(component):
        before = bench.memory(rows, params).view(np.uint64).reshape(-1, TRANSFER // 64)
        memory = before, expected["memory"]
    byte = bench.unreadable(rows) if hasattr(bench, "unreadable") else None
    unreadable = -1 if byte is None else byte // (TRANSFER // 8)
    return Vectors(ports(component), given | expected, memory, unreadable)


def hexadecimal(rows: np.ndarray, bits: int) -> bytes:
    """Packed rows as ``$readmemh`` reads them: a line each, of as many digits as the bits need."""
    digits = -(-bits // 4)
    size = 16 * codec.words(bits)
    text = np.ascontiguousarray(rows[:, ::-1]).astype(">u8").tobytes().hex()
    lines = [text[end - digits : end] for end in range(size, len(text) + 1, size)]
    return "".join(f"{line}\n" for line in lines).encode()
