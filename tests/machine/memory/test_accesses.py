# SPDX-License-Identifier: BSD-2-Clause
"""Accesses of work, one by one, from state that is written here byte by byte."""

import numpy as np
import pytest

from fixfunc.models.frontend.command_processor import Work
from fixfunc.models.frontend.state.pieces import encode, piece
from fixfunc.models.host.packets import encoded
from fixfunc.models.machine.memory.accesses import Access, Client, of_work
from fixfunc.spec.descriptors import (
    BINDING,
    CONSTANTS,
    STATE,
    STREAM_BUFFER,
    TOTALS,
    VERTEX_BUFFER,
    VIEW,
    BindingKind,
    Dimension,
    UnorderedFlag,
)
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import FIELDS, RingOp, StateKind

TABLES = {
    "elements": 0x1000,
    "buffers": 0x1100,
    "viewports": 0x1200,
    "blend": 0x1300,
    "streams": 0x1500,
    "bindings": 0x1600,
    "targets": 0x1800,
}
TARGET = {
    "form": Format.R8G8B8A8_UNORM,
    "stored": Format.R8G8B8A8_UNORM,
    "dimension": Dimension.TEXTURE2D,
    "tiled": 1,
    "width": 16,
    "height": 8,
    "depth": 1,
    "levels": 1,
    "layers": 1,
    "level_count": 1,
    "layer_count": 1,
}
DEPTH = TARGET | dict.fromkeys(("form", "stored"), Format.D32_FLOAT)
BUFFER = {"dimension": Dimension.BUFFER, "form": Format.R32_UINT}


def work(op, more=(), **fields):
    data = np.frombuffer(encoded(op, **fields), np.uint8)
    return Work(op, piece(data.tobytes(), FIELDS[op]), (), tuple(more))


def view(**fields):
    return encode(VIEW, **fields)


@pytest.fixture
def state():
    """Memory with tables, and pieces of state that name them."""
    memory = np.zeros(1 << 16, np.uint8)

    def put(name, *rows):
        data = np.frombuffer(b"".join(rows), np.uint8)
        memory[TABLES[name] : TABLES[name] + len(data)] = data

    put(
        "buffers",
        encode(VERTEX_BUFFER, bound=1, address=0x2000, size=96, filled_address=0x2100),
        encode(VERTEX_BUFFER),
    )
    put(
        "streams",
        encode(STREAM_BUFFER),
        encode(STREAM_BUFFER, bound=1, address=0x3000, size=64, filled_address=0x3040),
    )
    flag = UnorderedFlag.COUNTER
    put(
        "bindings",
        encode(BINDING, kind=BindingKind.CONSTANTS),
        encode(CONSTANTS, address=0x4000, size=48, shown=64),
        encode(BINDING, kind=BindingKind.SAMPLER),
        bytes(32),
        encode(BINDING, kind=BindingKind.RESOURCE),
        view(**BUFFER, address=0x5000, first=16, size=32),
        encode(BINDING, kind=BindingKind.UNORDERED, flag=flag, counter_address=0x6100),
        view(**BUFFER, address=0x6000, size=128),
    )
    put(
        "targets",
        view(**TARGET, address=0x7000),
        bytes(32),
        view(**DEPTH, address=0x8000),
    )
    fields = {
        StateKind.INPUT: {
            "index_bytes": 2,
            "index_address": 0x2200,
            "index_size": 10,
            "elements": 3,
            "buffers": 2,
            "elements_address": TABLES["elements"],
            "buffers_address": TABLES["buffers"],
        },
        StateKind.VIEWPORTS: {"address": TABLES["viewports"], "count": 2},
        StateKind.BLEND: {"address": TABLES["blend"]},
        StateKind.STREAM_OUTPUT: {"address": TABLES["streams"], "count": 2},
        StateKind.BINDINGS: {"address": TABLES["bindings"], "count": 8},
        StateKind.TARGETS: {"address": TABLES["targets"], "colours": 2, "has_depth": 1},
    }
    return memory, [encode(STATE[kind], **fields.get(kind, {})) for kind in StateKind]


def table(name, rows):
    return Access(Client.COMMANDS, TABLES[name], 32 * rows, False)


SHADERS = [
    table("bindings", 8),
    Access(Client.SHADERS, 0x4000, 48, False),
    Access(Client.SHADERS, 0x5010, 32, False),
    Access(Client.SHADERS, 0x6000, 128, True),
    Access(Client.SHADERS, 0x6100, 4, True),
]
DRAWN = [
    table("elements", 3),
    table("buffers", 2),
    Access(Client.INPUT, 0x2000, 96, False),
    Access(Client.INPUT, 0x2100, 4, False),
    Access(Client.INPUT, 0x2200, 10, False),
    table("viewports", 2),
    table("blend", 8),
    table("streams", 2),
    Access(Client.STREAM_OUTPUT, 0x3000, 64, True),
    Access(Client.STREAM_OUTPUT, 0x3040, 4, True),
    *SHADERS,
    table("targets", 3),
    Access(Client.COLOUR, 0x7000, 16 * 8 * 4, True),
    Access(Client.DEPTH, 0x8000, 16 * 8 * 4, True),
]


@pytest.mark.plan("card-7")
@pytest.mark.parametrize(
    ("op", "fields", "first"),
    [
        (RingOp.DRAW, {"count": 3}, []),
        (RingOp.DRAW_AUTO, {}, []),
        (RingOp.DRAW_INDIRECT, {"address": 64}, [Access(Client.COMMANDS, 64, 16, False)]),
        (
            RingOp.DRAW_INDIRECT,
            {"address": 64, "indexed": 1},
            [Access(Client.COMMANDS, 64, 20, False)],
        ),
    ],
)
def test_a_draw_touches_tables_and_what_they_name(op, fields, first, state):
    assert list(of_work(state[0], work(op, **fields), state[1])) == first + DRAWN


@pytest.mark.plan("card-7")
def test_a_dispatch_touches_what_shaders_have(state):
    assert list(of_work(state[0], work(RingOp.DISPATCH, x=1), state[1])) == SHADERS
    indirect = work(RingOp.DISPATCH_INDIRECT, address=128)
    first = [Access(Client.COMMANDS, 128, 12, False)]
    assert list(of_work(state[0], indirect, state[1])) == first + SHADERS


@pytest.mark.plan("card-7")
@pytest.mark.parametrize(
    ("op", "client", "written"),
    [
        (RingOp.CLEAR, Client.TRANSFERS, [True]),
        (RingOp.MIPS, Client.TRANSFERS, [True]),
        (RingOp.PRESENT, Client.DISPLAY, [False]),
        (RingOp.COPY, Client.TRANSFERS, [False, True]),
        (RingOp.RESOLVE, Client.TRANSFERS, [False, True]),
    ],
)
def test_views_of_transfers(op, client, written, state):
    """The last one is the target."""
    views = [view(**TARGET, address=0x7000 + 0x1000 * n) for n in range(len(written))]
    found = list(of_work(state[0], work(op, views), state[1]))
    assert found == [
        Access(client, 0x7000 + 0x1000 * n, 512, write) for n, write in enumerate(written)
    ]


@pytest.mark.plan("card-7")
def test_bytes_queries_predicates_and_streams(state):
    size = 8 * len(TOTALS)

    def found(op, **fields):
        return list(of_work(state[0], work(op, **fields), state[1]))

    assert found(RingOp.COPY_BYTES, source=4, target=8, size=3) == [
        Access(Client.TRANSFERS, 4, 3, False),
        Access(Client.TRANSFERS, 8, 3, True),
    ]
    assert found(RingOp.QUERY, address=256) == [Access(Client.COMMANDS, 256, size, True)]
    assert found(RingOp.PREDICATE, enable=1, begin=512, end=1024) == [
        Access(Client.COMMANDS, 512, size, False),
        Access(Client.COMMANDS, 1024, size, False),
    ]
    assert not found(RingOp.PREDICATE, begin=512, end=1024)
    with pytest.raises(InputError, match="command stream must be executed where there is no MMU"):
        found(RingOp.LIST)
