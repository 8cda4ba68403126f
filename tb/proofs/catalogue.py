# SPDX-License-Identifier: BSD-2-Clause
"""All proofs, by name."""

from fixfunc.spec.errors import InputError
from fixfunc.tb.proofs import late_z, plane_check, quotient, shared_edges
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.lib import (
    arithmetic,
    axi,
    delay,
    fifo,
    memories,
    pending,
    skid_buffer,
    tile_groups,
)
from fixfunc.tb.proofs.memory import bursts, tile_cache

PRIMITIVES = (skid_buffer, fifo, delay, memories, pending, axi, arithmetic, tile_groups)
MODULES = {
    proof.name: module
    for module in (*PRIMITIVES, bursts, tile_cache, late_z, plane_check, shared_edges, quotient)
    for proof in module.PROOFS
}
PROOFS = {
    proof.name: proof for module in dict.fromkeys(MODULES.values()) for proof in module.PROOFS
}


def chosen(names: list[str]) -> list[Proof]:
    """Proofs of these names; without a name, all.

    Raises
    ------
    InputError
        There is none of a name.
    """
    for name in names:
        if name not in PROOFS:
            raise InputError("proof", f"be one of {', '.join(PROOFS)}", name)
    return [PROOFS[name] for name in names or PROOFS]
