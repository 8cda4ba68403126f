# SPDX-License-Identifier: BSD-2-Clause
"""One random frame, drawn by the machine and by the naive renderer: its seed is the argument."""

import sys

from tests.machine.frames.naive_drawing import differences
from tests.machine.frames.random_frames import frame
from tests.oracles.naive_frame.frame import render


def main(seed: int) -> int:
    """Print the frame and where both differ; 1 if they do."""
    drawn = frame(seed)
    print(drawn)
    found = differences(drawn, render(drawn))
    print(*found or ["every sample is equal"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
