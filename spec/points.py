# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of domain points, as field tables: see :mod:`fixfunc.spec.payloads`."""

from fixfunc.spec.payloads import Field, each

DOMAIN_POINT = (
    Field("kind", 2),  # fixfunc.spec.state.PointKind: POINT, or END
    Field("first", 1),  # of its patch
    Field("patch", 16),  # what its domain shader is told of the patch
    *each("u v", 17),  # 1.16
)
MATCHED_POINT = (
    *DOMAIN_POINT,
    Field("hit", 1),  # it is in a wave already
    Field("dsid", 16),  # its place in the vertex buffer: wave * lanes + lane
)
VERTEX_INDEX = (
    Field("kind", 2),
    Field("first", 1),
    Field("dsid", 16),
)  # what primitives are assembled from
MATCHES = tuple(
    each("points hits misses waves partial_waves stalls wrong", 32)
)  # so far, at an END; wrong: releases of what nobody held


def wave(lanes: int) -> tuple[Field, ...]:
    """Domain points to be shaded together; those of other lanes are zero."""
    return (
        Field("dsid", 16),  # of lane 0
        *each("begin end", lanes.bit_length()),  # lanes begin..end - 1
        *(
            Field(f"{name}{n}", bits)
            for n in range(lanes)
            for name, bits in (("patch", 16), ("u", 17), ("v", 17))
        ),
    )
