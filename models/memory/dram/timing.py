# SPDX-License-Identifier: BSD-2-Clause
"""Clocks between two commands of a channel of DRAM, rule by rule."""

from dataclasses import dataclass, fields
from typing import Self

from fixfunc.models.payload import integer

LONGEST = 1 << 16  # clocks of any rule
SECOND = 10**12  # picoseconds


@dataclass(frozen=True)
class Timing:
    """Least distances, in clocks of the channel; names are those of data sheets.

    A command takes one clock of the channel's command lines.

    Parameters
    ----------
    t_rcd : int
        From ACTIVATE to READ or WRITE of the same bank.
    t_rp : int
        From PRECHARGE to ACTIVATE of the same bank.
    t_ras : int
        From ACTIVATE to PRECHARGE of the same bank.
    t_rtp : int
        From READ to PRECHARGE of the same bank.
    t_wr : int
        From the end of written data to PRECHARGE of the same bank.
    t_wtr : int
        From the end of written data to READ of any bank.
    t_rrd : int
        From ACTIVATE to ACTIVATE of any bank.
    t_cas : int
        From READ to the first clock of its data.
    t_cwl : int
        From WRITE to the first clock of its data.
    burst : int
        Clocks of the data lines that an access takes; 1 or more.
    turnaround : int
        Clocks in which the data lines are idle between data of different directions.
    """

    t_rcd: int
    t_rp: int
    t_ras: int
    t_rtp: int
    t_wr: int
    t_wtr: int
    t_rrd: int
    t_cas: int
    t_cwl: int
    burst: int = 1
    turnaround: int = 0

    def __post_init__(self):
        for field in fields(self):
            integer(field.name, getattr(self, field.name), int(field.name == "burst"), LONGEST)

    @classmethod
    def from_picoseconds(cls, hertz: int, **times: int) -> Self:
        """Times of a data sheet as whole clocks, rounded up.

        Parameters
        ----------
        hertz : int
            Clocks a second.
        times : int
            Picoseconds, by the names of the fields.
        """
        integer("hertz", hertz, 1, SECOND)
        clocks = {
            name: -(-integer(name, value, 0, SECOND) * hertz // SECOND)
            for name, value in times.items()
        }
        return cls(**clocks)
