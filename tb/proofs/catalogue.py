# SPDX-License-Identifier: BSD-2-Clause
"""All proofs, by name."""

from fixfunc.spec.errors import InputError
from fixfunc.tb.proofs import plane_check, shared_edges
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.lib import arithmetic, axi, delay, fifo, memories, pending, skid_buffer
from fixfunc.tb.proofs.memory import bursts, tile_cache

PRIMITIVES = (skid_buffer, fifo, delay, memories, pending, axi, arithmetic)
PROOFS = {
    proof.name: proof
    for module in (*PRIMITIVES, bursts, tile_cache, plane_check, shared_edges)
    for proof in module.PROOFS
}
# Stated, and not decided by the solver in their time: they run by name alone.
OPEN = frozenset({"plane_check", "plane_check_tiny", "shared_edge_1", "shared_edge_2", "coverage"})


def decided() -> list[Proof]:
    """Proofs that the solver is known to decide."""
    return [proof for name, proof in PROOFS.items() if name not in OPEN]


def chosen(names: list[str]) -> list[Proof]:
    """Proofs of these names; without a name, all that the solver decides.

    Raises
    ------
    InputError
        There is none of a name.
    """
    for name in names:
        if name not in PROOFS:
            raise InputError("proof", f"be one of {', '.join(PROOFS)}", name)
    return [PROOFS[name] for name in names] if names else decided()
