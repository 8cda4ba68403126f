# SPDX-License-Identifier: BSD-2-Clause
"""Shared edges: of two triangles on an edge, each sample belongs to exactly one."""

from types import ModuleType

from amaranth.hdl import Array, Const, Signal, Value, signed

from fixfunc.rtl.geometry import edges
from fixfunc.rtl.geometry.triangle_setup import TriangleSetupParams
from fixfunc.rtl.raster import edge_evaluator
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.sizes import sizes

COORDINATE = 3  # bits of a coordinate, in 1/256 pixel around the first pixel's centre
STEP = 6
VALUE = 12
OFFSET = 3  # bits of a sample's place, in 1/16 pixel
# Of Direct3D's sample patterns, by log2 of the samples: columns and rows of samples in a pixel as
# log2, and places in 1/16 pixel. Typed here, apart from the hardware.
PATTERNS = [
    ((0, 0), [(0, 0)]),
    ((0, 1), [(4, 4), (-4, -4)]),
    ((1, 1), [(-2, -6), (6, -2), (-6, 2), (2, 6)]),
    ((1, 2), [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)]),
]


def fill_rule(second_edge: int, module: ModuleType) -> Properties:
    """Two triangles of one winding, the first edge of one reversed in the other."""
    p = Properties()
    m = p.m
    places = [[p.constant(COORDINATE, f"{axis}_{vertex}") for axis in "xy"] for vertex in range(4)]
    x = p.constant(signed(OFFSET), "sample_x")
    y = p.constant(signed(OFFSET), "sample_y")
    # Vertices 0, 1, 2; and 1, 0, 3, from the one that makes 1 to 0 the edge of that number.
    corners = [(0, 1, 2), [(1, 0, 3), (3, 1, 0), (0, 3, 1)][second_edge]]
    triangles = []
    for n, vertices in enumerate(corners):
        narrow = sizes(module, STEP=signed(STEP), VALUE_BITS=VALUE, VALUE=signed(VALUE))
        with narrow, sizes(payloads, EDGE_STEP=STEP):
            unit = module.Edges(TriangleSetupParams(edge=4))
            p.add(unit, f"triangle_{n}")
        m.d.comb += [unit.start.eq(1), unit.samples.eq(0), unit.x.eq(0), unit.y.eq(0)]
        for k, vertex in enumerate(vertices):
            for axis, place in zip("xy", places[vertex]):
                m.d.comb += unit.triangle[f"{axis}{k}"].eq(128 - (1 << COORDINATE - 1) + place)
        triangles.append(unit)
    first, second = triangles
    settled = p.past(1, first.latency + 1)
    inside = []
    for unit, k in ((first, 0), (second, second_edge)):
        value = Signal(signed(VALUE + 4), name=f"value_{len(inside)}")
        m.d.comb += value.eq(unit.c[k] - unit.reach[k].as_signed() + unit.a[k] * x + unit.b[k] * y)
        inside.append(p.named(f"inside_{len(inside)}", value >= 0))
    draws = settled & ~first.zero_area & ~second.zero_area & (first.ccw == second.ccw)
    p.prove("exactly_one", ~draws | (inside[0] ^ inside[1]))
    return p


def first_edge(module: ModuleType = edges) -> Properties:
    """Edge 0 and edge 0."""
    return fill_rule(0, module)


def middle_edge(module: ModuleType = edges) -> Properties:
    """Edge 0 and edge 1."""
    return fill_rule(1, module)


def last_edge(module: ModuleType = edges) -> Properties:
    """Edge 0 and edge 2, whose value is not multiplied, but the rest of the area."""
    return fill_rule(2, module)


def lane_sign(module: ModuleType = edge_evaluator) -> Properties:
    """A tile of 4x4, and one of its lanes: any."""
    p = Properties()
    params = EdgeEvaluatorParams(edge=4, step_bits=2)
    unit = module.EdgeEvaluator(params)
    p.add(unit)
    edge = unit.i.payload
    m = p.m
    fields = {name: p.constant(len(Value.cast(edge[name])), name) for name in ("samples", "a", "b")}
    fields["c"] = p.constant(params.width, "c")
    m.d.comb += [edge[name].eq(value) for name, value in fields.items()]
    m.d.comb += [unit.i.valid.eq(1), unit.o.ready.eq(1)]
    lane = p.constant(4, "lane")
    offsets = []
    for (columns, rows), positions in PATTERNS:
        of_mode = []
        for n in range(16):
            i, j = n % 4, n // 4
            number = (i & (1 << columns) - 1) + ((j & (1 << rows) - 1) << columns)
            dx, dy = positions[number]
            of_mode.append((dx + 16 * (i >> columns), dy + 16 * (j >> rows)))
        offsets.append(of_mode)
    place = []
    for axis in range(2):
        tables = [Array(Const(one[axis], signed(8)) for one in of_mode) for of_mode in offsets]
        place.append(p.named("xy"[axis], Array(table[lane] for table in tables)[edge.samples]))
    exact = Signal(signed(params.width + 8))
    m.d.comb += exact.eq(edge.c.as_signed() + edge.a * place[0] + edge.b * place[1])
    half = 1 << params.width - 1
    fits = (exact >= -half) & (exact < half)
    settled = p.past(1, unit.latency)
    p.prove("valid", ~settled | unit.o.valid)
    covered = unit.o.payload.mask.bit_select(lane, 1)
    p.prove("sign", ~(settled & fits) | (covered == (exact >= 0)))
    p.reach("zero", settled & (exact == 0) & covered & (lane == 9) & (edge.samples == 3))
    return p


STATEMENT = (
    "For two triangles on opposite sides of an edge, in opposite directions, each sample belongs "
    "to exactly one by its edge function and fill rule: edge 0 of one, edge {} of the other."
)
SMALL = (
    f"every vertex of {COORDINATE} bits in 1/256 pixel, every sample of {OFFSET} bits in 1/16 pixel"
)
PROOFS = [
    *(
        Proof(
            f"shared_edge_{k}",
            "geometry/edges.py Edges",
            STATEMENT.format(k),
            build,
            depth=15,
            size=SMALL,
            assumed="Both triangles have an area.",
            seconds=300,
            quick=False,
            fresh=True,
        )
        for k, build in enumerate((first_edge, middle_edge, last_edge))
    ),
    Proof(
        "lane_sign",
        "raster/edge_evaluator.py EdgeEvaluator",
        "A lane of the mask is set exactly where the edge function at its sample is not negative, "
        "in every mode.",
        lane_sign,
        depth=8,
        size="tile of 4x4, steps of 2 bits, every value",
        assumed="The edge function fits its width in that lane.",
        seconds=300,
        fresh=True,
    ),
]
