# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np
import pytest

from fixfunc.models.frontend import compute_stage
from fixfunc.models.frontend.compute_stage import ComputeShader, dispatch
from fixfunc.spec.errors import InputError


@pytest.mark.plan("compute-stage-1")
@pytest.mark.parametrize("threads", [(1, 1, 1), (32, 1, 1), (5, 3, 4), (33, 2, 1)])
@pytest.mark.parametrize("part", [1, 200, 1 << 20])
def test_every_thread_runs_once_in_its_order(threads, part, monkeypatch):
    monkeypatch.setattr(compute_stage, "PART", part)
    groups = (3, 2, 4)
    seen = []

    def keep(waves):
        assert waves.mask[:, 0].all()
        place = np.concatenate(
            [np.repeat(waves.group[:, None], 32, 1), waves.thread, waves.index[..., None]], 2
        )
        assert (waves.dispatched == place[..., :3] * threads + place[..., 3:6]).all()
        seen.extend(map(tuple, place[waves.mask].tolist()))

    count = dispatch(ComputeShader(keep, threads), keep, groups)
    right = []
    for z, y, x in itertools.product(*(range(n) for n in groups[::-1])):
        inner = itertools.product(*(range(n) for n in threads[::-1]))
        right += [(x, y, z, i, j, k, n) for n, (k, j, i) in enumerate(inner)]
    assert seen == right
    assert count == len(right)


@pytest.mark.plan("compute-stage-2")
def test_nothing_and_too_much():
    shader = ComputeShader(pytest.fail)
    assert dispatch(shader, pytest.fail, (0, 5, 5)) == 0
    with pytest.raises(InputError, match=r"groups along y must lie in 0\.\.65535, not 65536"):
        dispatch(shader, pytest.fail, (1, 65536, 1))
    with pytest.raises(InputError, match=r"threads along z must lie in 1\.\.64, not 65"):
        ComputeShader(len, (1, 1, 65))
    with pytest.raises(InputError, match=r"threads of a group must lie in 1\.\.1024, not 2048"):
        ComputeShader(len, (64, 32, 1))
