# SPDX-License-Identifier: BSD-2-Clause
"""Which files of a frame over time are asked for."""

from pathlib import Path
from typing import NamedTuple

from fixfunc.cosim import files
from fixfunc.cosim.simulation.events import BURSTS
from fixfunc.cosim.time import traffic
from fixfunc.cosim.time.timeline import Timeline


class Outputs(NamedTuple):
    """Files of a frame that the hardware draws; of several memories that of the first.

    Parameters
    ----------
    trace : Path, optional
        A file, for Perfetto.
    traffic : Path, optional
        A folder, for Ramulator 2 and DRAMsim3.
    """

    trace: Path | None = None
    traffic: Path | None = None

    @property
    def bursts(self) -> int:
        """Most bursts that a run has to keep."""
        return BURSTS if any(self) else 0

    def check(self) -> None:
        """See that all can be written, before hours of work.

        Raises :class:`~fixfunc.spec.errors.InputError` where one cannot.
        """
        if self.trace:
            files.open_file(self.trace)
        if self.traffic:
            files.free_folder(self.traffic)

    def write(self, timeline: Timeline) -> None:
        """Write them, each whole or not at all."""
        if self.trace:
            from fixfunc.cosim.time.trace import trace  # its package is a large one

            files.write(self.trace, trace(timeline))
        if self.traffic:
            files.write_folder(self.traffic, traffic.files(timeline))
        for path in filter(None, self):
            print(f"wrote {path}")


NONE = Outputs()
