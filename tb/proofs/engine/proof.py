# SPDX-License-Identifier: BSD-2-Clause
"""One proof: what is proved of which hardware, how deep, and under which assumptions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.solver import Verdict, solve


@dataclass(frozen=True)
class Proof:
    """An entry of the table.

    Parameters
    ----------
    name : str
        Of its own; the command line takes it.
    subject : str
        The hardware: a file below ``rtl``, and what of it.
    statement : str
        What is proved, in a sentence.
    build : callable
        Makes the properties; takes the hardware's module, or a broken one in its place.
    depth : int
        k of the induction; without it, clocks from the reset.
    size : str
        Widths and depths of the hardware that is proved.
    assumed : str
        What the surroundings keep.
    induction : bool
        For all time.
    quick : bool
        In the suite of every day.
    seconds : int
        Limit of the solver.
    arrays, fresh : bool
        See :func:`~fixfunc.tb.proofs.engine.solver.solve`.
    """

    name: str
    subject: str
    statement: str
    build: Callable[..., Properties]
    depth: int
    size: str = ""
    assumed: str = ""
    induction: bool = True
    quick: bool = True
    seconds: int = 300
    arrays: bool = False
    fresh: bool = False

    @property
    def method(self) -> str:
        """How it is proved, in words."""
        return f"k-induction, k = {self.depth}" if self.induction else f"{self.depth} clocks"

    def run(self, folder: Path, module: ModuleType | None = None, reach: bool = True) -> Verdict:
        """Prove it of the hardware, or of another module in the place of the hardware's."""
        properties = self.build(module) if module else self.build()
        return solve(
            properties,
            folder,
            self.depth,
            self.induction,
            self.seconds,
            self.arrays,
            reach,
            self.fresh,
        )
