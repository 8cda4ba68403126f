# SPDX-License-Identifier: BSD-2-Clause
"""Every proof holds, and tells the hardware from a broken one."""

import pytest

from fixfunc.tb.proofs import catalogue
from fixfunc.tb.proofs.engine.solver import PROVED, REFUTED
from tests import tiers
from tests.lib.bench import broken
from tests.proofs.broken import PARTS, PRIMITIVES

PROOFS = [
    pytest.param(proof.name, marks=() if proof.quick else pytest.mark.qualify)
    for proof in catalogue.PROOFS.values()
]
BROKEN = [
    pytest.param(*row, marks=() if catalogue.PROOFS[row[0]].quick else pytest.mark.qualify)
    for row in PRIMITIVES + PARTS
]


@pytest.mark.plan("proofs-1")
@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_holds(name, tmp_path):
    verdict = catalogue.PROOFS[name].run(tmp_path, reach=tiers.QUALIFY)
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
    assert {row[0] for row in PRIMITIVES + PARTS} == {*catalogue.PROOFS}
