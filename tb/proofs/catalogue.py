# SPDX-License-Identifier: BSD-2-Clause
"""All proofs, by name."""

from fixfunc.spec.errors import InputError
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.lib import arithmetic, axi, delay, fifo, memories, pending, skid_buffer

PROOFS = {
    proof.name: proof
    for module in (skid_buffer, fifo, delay, memories, pending, axi, arithmetic)
    for proof in module.PROOFS
}


def chosen(names: list[str]) -> list[Proof]:
    """Proofs of these names; all of them without a name.

    Raises
    ------
    InputError
        There is none of a name.
    """
    for name in names:
        if name not in PROOFS:
            raise InputError("proof", f"be one of {', '.join(PROOFS)}", name)
    return [proof for proof in PROOFS.values() if not names or proof.name in names]
