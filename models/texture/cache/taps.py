# SPDX-License-Identifier: BSD-2-Clause
"""Taps: texels that samples read, for the texture cache."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Taps:
    """Texels that samples read, in their order: arrays of equal length.

    An image is a layer, a face or a slice.
    """

    sample: list = field(default_factory=list)
    level: list = field(default_factory=list)
    image: list = field(default_factory=list)
    x: list = field(default_factory=list)
    y: list = field(default_factory=list)

    def add(self, **arrays: np.ndarray) -> None:
        """Append texels."""
        for name, found in arrays.items():
            getattr(self, name).append(found)

    def arrays(self) -> dict[str, np.ndarray]:
        """All texels, sample by sample: {name: ndarray of int64}."""
        arrays = {
            name: np.concatenate(found) if found else np.zeros(0, np.int64)
            for name, found in vars(self).items()
        }
        order = np.argsort(arrays["sample"], kind="stable")
        return {name: found[order] for name, found in arrays.items()}
