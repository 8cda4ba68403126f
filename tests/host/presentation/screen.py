# SPDX-License-Identifier: BSD-2-Clause
"""A swap chain that is drawn to, and what its display shows."""

import numpy as np

from tests.host.drawing import LEFT, RIGHT, WHOLE, Scene

SIDE = 16  # pixels: two by two tiles
PARTS = {"whole": WHOLE, "left": LEFT, "right": RIGHT}


class Screen:
    """A scene that is drawn to the back buffer of a swap chain."""

    def __init__(self, width=SIDE, height=SIDE, coded=False, **chain):
        self.scene = Scene(width, height, coded=coded)
        self.device = self.scene.device
        self.chain = self.device.create_swap_chain(width, height, **chain)
        self.target = self.device.create_render_target_view(self.chain.buffer)
        self.scene.context.om.set_render_targets([self.target])

    def draw(self, part, colour):
        """Fill all of the back buffer, or a half."""
        self.scene.draw(PARTS[part], (*(value / 255 for value in colour), 1))

    def show(self, level, sync_interval=None):
        """Present a frame of one grey."""
        self.draw("whole", (level,) * 3)
        self.chain.present(sync_interval)

    def greys(self, count):
        """The next lines, each of which is of one grey."""
        lines = np.stack([self.chain.display.line() for _ in range(count)])
        assert (lines == lines[:, :1, :1]).all()
        return lines[:, 0, 0].tolist()
