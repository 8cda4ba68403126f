# SPDX-License-Identifier: BSD-2-Clause
"""A multiprocessor: warps whose registers fit, and a scheduler that hides their latency."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

REGISTER = 4  # bytes
NEVER = 1 << 62  # a clock that does not come

ISSUE = np.dtype([("clock", "i8"), ("warp", "i8"), ("instruction", "i8")])


@dataclass(frozen=True)
class Multiprocessor:
    """A SIMD engine with its register file [rtr 23.2, 23.3].

    Parameters
    ----------
    register_file : int
        Bytes.
    lanes : int
        Threads of a warp: all of them take an instruction in one clock.
    most_warps : int
        Warps that may be resident, however few registers they have.
    """

    register_file: int = 256 * 1024
    lanes: int = 32
    most_warps: int = 32

    def __post_init__(self):
        integer("register_file", self.register_file, 1, 1 << 30)
        integer("lanes", self.lanes, 1, 1 << 10)
        integer("most_warps", self.most_warps, 1, 1 << 10)

    def warps_of_registers(self, registers: int) -> Fraction:
        """Warps whose registers fill the register file, exactly.

        Parameters
        ----------
        registers : int
            Of 32 bits, of a thread.
        """
        integer("registers", registers, 1, 1 << 16)
        return Fraction(self.register_file, registers * REGISTER * self.lanes)

    def occupancy(self, registers: int) -> Fraction:
        """Active warps per warp that may be, at most 1 [rtr 23.12]; parts of a warp count."""
        return min(self.warps_of_registers(registers) / self.most_warps, Fraction(1))

    def resident_warps(self, registers: int) -> int:
        """Whole warps that are resident at a time.

        Raises
        ------
        InputError
            A thread of so many registers, of which not even one warp fits.
        """
        count = min(int(self.warps_of_registers(registers)), self.most_warps)
        if not count:
            raise InputError("registers", "leave room for a warp", registers)
        return count


@dataclass(frozen=True)
class Schedule:
    """What a SIMD engine issues.

    Parameters
    ----------
    issues : ndarray of ISSUE, shape (n,)
        In order: at most one a clock.
    clocks : int
        Until the result of the last instruction.
    """

    issues: np.ndarray
    clocks: int

    @property
    def utilisation(self) -> Fraction:
        """Share of the clocks in which an instruction is issued."""
        return Fraction(len(self.issues), max(self.clocks, 1))


def schedule(latencies: np.ndarray, warps: int, resident: int) -> Schedule:
    """Issue a program for many warps, the oldest that is ready first.

    A warp's next instruction is ready when the one before it has its result: as if each needed it.
    A warp becomes resident in the clock in which another one has its last result, in order; a
    change of warps costs no clock [rtr 23.2].

    Parameters
    ----------
    latencies : ndarray of int, shape (instructions,)
        Clocks from the issue of each instruction to its result, 1 or more: hundreds of a texture.
    warps : int
        Warps that execute the program, oldest first.
    resident : int
        Warps that are resident at a time.
    """
    latencies = np.asarray(latencies, np.int64)
    if latencies.ndim != 1 or not len(latencies) or latencies.min() < 1:
        raise InputError("latencies", "be a row of clocks of 1 or more", latencies)
    integer("warps", warps, 0, 1 << 24)
    integer("resident", resident, 1, 1 << 16)
    slots = min(warps, resident)
    warp = np.arange(slots)
    instruction = np.zeros(slots, np.int64)
    ready = np.zeros(slots, np.int64)  # clock of the next issue; NEVER: no warp
    issues = np.zeros(warps * len(latencies), ISSUE)
    entered = slots
    clock = 0
    for issue in issues:
        clock = max(clock, int(ready.min()))
        slot = np.where(ready <= clock, warp, NEVER).argmin()
        issue["clock"] = clock
        issue["warp"] = warp[slot]
        issue["instruction"] = instruction[slot]
        ready[slot] = clock + latencies[instruction[slot]]
        instruction[slot] += 1
        clock += 1
        if instruction[slot] == len(latencies):
            instruction[slot] = 0
            warp[slot] = entered
            ready[slot] = ready[slot] if entered < warps else NEVER
            entered += 1
    ends = issues["clock"] + latencies[issues["instruction"]]
    return Schedule(issues, int(ends.max(initial=0)))
