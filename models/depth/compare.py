# SPDX-License-Identifier: BSD-2-Clause
"""The eight comparisons of depths and stencil values: of the new one with the old one."""

import numpy as np

from fixfunc.spec.state import Compare

COMPARE = {
    Compare.NEVER: lambda new, old: np.zeros(np.broadcast(new, old).shape, bool),
    Compare.LESS: np.less,
    Compare.EQUAL: np.equal,
    Compare.LESS_EQUAL: np.less_equal,
    Compare.GREATER: np.greater,
    Compare.NOT_EQUAL: np.not_equal,
    Compare.GREATER_EQUAL: np.greater_equal,
    Compare.ALWAYS: lambda new, old: np.ones(np.broadcast(new, old).shape, bool),
}
