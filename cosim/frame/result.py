# SPDX-License-Identifier: BSD-2-Clause
"""What became of a frame."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fixfunc.cosim.report.capture import Capture
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.models.scene.render import Frame


@dataclass
class Result:
    """A frame that has been drawn."""

    frame: Frame  # golden; with hardware, colours and HiZ's outcomes are those of the hardware
    figures: dict[str, Any]  # as in frame.json
    capture: Capture  # of the golden machine; with hardware HiZ's outcomes are of the hardware
    modes: np.ndarray | None = (
        None  # of tiles of depths in memory, row by row; without hardware None
    )
    timeline: Timeline | None = None  # of the hardware
    failures: list[str] = field(default_factory=list)  # why the frame cannot be believed, in words
