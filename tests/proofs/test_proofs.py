# SPDX-License-Identifier: BSD-2-Clause
"""Every proof holds, and tells the hardware from a broken one."""

import pytest

from fixfunc.tb.proofs import catalogue
from fixfunc.tb.proofs.engine.solver import PROVED, REFUTED
from tests.lib.bench import broken

PROOFS = [
    pytest.param(name, marks=() if proof.quick else pytest.mark.qualify)
    for name, proof in catalogue.PROOFS.items()
]
# Of each proof: a file of ``rtl`` in dots, a text of it, what it is replaced by, and properties of
# which one breaks.
BROKEN = [
    ("skid_buffer", "lib.skid_buffer", "next_level < 2", "next_level < 3", "enabled"),
    (
        "skid_buffer",
        "lib.skid_buffer",
        "Mux(level == 2, second, self.i)",
        "Mux(level == 1, second, self.i)",
        "in_order",
    ),
    (
        "stallable_pipeline",
        "lib.skid_buffer",
        "self.i.valid, 1 + self._latency",
        "self.i.valid, 2 + self._latency",
        "kept",
    ),
]


@pytest.mark.plan("proofs-1")
@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_holds(name, tmp_path):
    verdict = catalogue.PROOFS[name].run(tmp_path)
    assert verdict.result == PROVED, f"{verdict.reason}\n{verdict.trace and verdict.trace.table()}"


@pytest.mark.plan("proofs-2")
@pytest.mark.parametrize(("name", "stem", "right", "wrong", "property"), BROKEN)
def test_broken_hardware_is_refuted(name, stem, right, wrong, property, tmp_path):
    verdict = catalogue.PROOFS[name].run(tmp_path, broken(stem, right, wrong))
    assert verdict.result == REFUTED, verdict.reason
    assert property in verdict.reason.split(", ")
    assert verdict.trace.last(f"holds_{property}") == 0


@pytest.mark.plan("proofs-2")
def test_every_subject_is_broken():
    assert {row[0] for row in BROKEN} == set(catalogue.PROOFS)
