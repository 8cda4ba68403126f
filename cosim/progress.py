# SPDX-License-Identifier: BSD-2-Clause
"""What is being done, on standard error: a line that moves on a terminal, lines elsewhere."""

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

INTERVAL = 8  # seconds between two lines of one step, off a terminal


class Steps:
    """The steps of some work, one after the other.

    ``with Steps() as step: step("raster")``. Off a terminal each step prints a line when it begins,
    and another one every :data:`INTERVAL` seconds until it ends: long work does not look like a
    hang. A step that can tell how much of it is done says so, in place of its seconds.
    """

    def __init__(
        self, console: Console | None = None, columns: Sequence[ProgressColumn] = ()
    ) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            *columns,
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("")
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._name = ""
        self._share: Callable[[], str] | None = None
        self._step_start = time.monotonic()

    def __enter__(self) -> "Steps":
        if self._console.is_terminal:
            self._progress.start()
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._console.is_terminal:
            self._progress.stop()

    def __call__(self, name: str, share: Callable[[], str] | None = None) -> None:
        """The next step begins.

        Parameters
        ----------
        name : str
        share : callable, optional
            Says how much of it is done, such as "12 of 40 files"; nothing while it does not know.
        """
        with self._lock:
            self._name = name
            self._share = share
            self._step_start = time.monotonic()
        if self._console.is_terminal:
            self._progress.reset(self._task, description=name)
        else:
            self._say(name)

    def note(self, name: str) -> None:
        """The same step, told anew: off a terminal not before its next line is due."""
        with self._lock:
            self._name = name
        self._progress.update(self._task, description=name)

    def _beat(self) -> None:
        """What goes on, now and then: off a terminal a line, on one the description."""
        last_line = time.monotonic()
        while not self._ended.wait(0.5):
            with self._lock:
                name = self._name
                share = self._share
                step_start = self._step_start
            now = time.monotonic()
            done = share() if share else ""
            if self._console.is_terminal:
                if done:
                    self._progress.update(self._task, description=f"{name}: {done}")
            elif name and now - max(last_line, step_start) >= INTERVAL:
                last_line = now
                self._say(f"{name}: {done or f'{now - step_start:.0f} s'}")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class Bar(Steps):
    """Pieces of some work, so many: on a terminal a bar, elsewhere a line for each that ends.

    ``with Bar("drawing points", 16) as bar: bar.advance("the first")``.
    """

    def __init__(self, name: str, total: int, console: Console | None = None) -> None:
        super().__init__(console, (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()))
        self._title = name
        self._total = total
        self._done = 0

    def __enter__(self) -> "Bar":
        super().__enter__()
        terminal = self._console.is_terminal
        self(self._title, None if terminal else lambda: f"{self._done} of {self._total}")
        self._progress.update(self._task, total=self._total)
        return self

    def advance(self, line: str) -> None:
        """One more has been done: off a terminal ``line`` says which."""
        self._done += 1
        self._progress.advance(self._task)
        if not self._console.is_terminal:
            self._say(f"{self._done} of {self._total}: {line}")
