# SPDX-License-Identifier: BSD-2-Clause
"""Programs here are drawn by Mesa; ORACLE=none does without."""

import os

import pytest


@pytest.fixture(scope="module", autouse=True)
def mesa():
    """Every test here needs it; where it lacks, the first call says what to type."""
    if os.environ.get("ORACLE", "llvmpipe") == "none":
        pytest.skip("ORACLE=none")
