# SPDX-License-Identifier: BSD-2-Clause
"""Which files of a frame over time are asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fixfunc.cosim import files
from fixfunc.cosim.simulation.events import BURSTS
from fixfunc.cosim.time import dram_table, traffic
from fixfunc.cosim.time.timeline import Timeline

if TYPE_CHECKING:  # a golden frame does without its packages
    from fixfunc.cosim.simulation.volume import Volume


class Outputs(NamedTuple):
    """Files of a frame that the hardware draws; of several memories that of the first.

    Parameters
    ----------
    trace : Path, optional
        A file, for Perfetto.
    traffic : Path, optional
        A folder, for Ramulator 2 and DRAMsim3, and what the golden DRAM makes of it.
    waves : Path, optional
        A file, FST: for it the top is built once more.
    clocks : (int, int)
        Whose waves, since reset: first and end.
    """

    trace: Path | None = None
    traffic: Path | None = None
    waves: Path | None = None
    clocks: tuple[int, int] = (0, 1)

    @property
    def bursts(self) -> int:
        """Most bursts that a run has to keep."""
        return BURSTS if self.trace or self.traffic else 0

    def check(self) -> None:
        """See that all can be written, before hours of work.

        Raises :class:`~fixfunc.spec.errors.InputError` where one cannot.
        """
        if self.trace:
            files.open_file(self.trace)
        if self.traffic:
            files.free_folder(self.traffic)
        if self.waves:
            files.open_file(self.waves)

    @contextmanager
    def watching(self, volume: "Volume") -> Iterator[None]:
        """Around the run of a frame: its waves are written."""
        if not self.waves:
            yield
            return
        with files.whole(self.waves) as path:
            volume.waves(path, self.clocks)
            yield

    def write(self, timeline: Timeline) -> None:
        """Write them, each whole or not at all."""
        if self.trace:
            from fixfunc.cosim.time.trace import trace  # its package is a large one

            files.write(self.trace, trace(timeline))
        if self.traffic:
            table = {"dram.txt": dram_table.text(timeline).encode()}
            files.write_folder(self.traffic, traffic.files(timeline) | table)
        for path in filter(None, (self.trace, self.traffic, self.waves)):
            print(f"wrote {path}; the frame begins in clock {timeline.start} behind reset")


NONE = Outputs()
