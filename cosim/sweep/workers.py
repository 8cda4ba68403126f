# SPDX-License-Identifier: BSD-2-Clause
"""Who draws points: processes of this machine, or workers of a Dask cluster."""

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, connection, get_context, parent_process
from typing import Any

from fixfunc.cosim.sweep.parameters import Point
from fixfunc.cosim.toolchain import ToolError
from fixfunc.spec.errors import InputError

# A client of an address without a port complains once more when it is collected.
ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?([^\s:/@\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")
PATIENCE = 10  # seconds until a scheduler that does not answer is given up
Draw = Callable[[Point], dict[str, Any]]  # a point to its row
Drawing = Callable[[Sequence[Point]], Iterator[dict[str, Any]]]  # rows as points end


@contextmanager
def drawing(draw: Draw, jobs: int, scheduler: str | None = None) -> Iterator[Drawing]:
    """What draws points by ``draw``: so many processes of this machine, or a cluster's workers.

    Raises
    ------
    InputError
        No scheduler answers at the address, or it has no worker.
    """
    if scheduler is None:
        yield partial(_processes, draw, jobs)
        return
    if not ADDRESS.fullmatch(scheduler):
        raise InputError("scheduler", "be the address of a Dask scheduler, HOST:PORT", scheduler)
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        said = f"{scheduler}: {str(error).splitlines()[0]}"
        raise InputError("scheduler", "be the address of a Dask scheduler", said) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise InputError("scheduler", "have workers", f"{scheduler}, with none")
        yield partial(_cluster, draw, client)


def _processes(draw, jobs, points):
    """Rows of points as they end, by so many processes of this machine.

    No process is left behind, however the work ends: not where it is interrupted, and not where
    this process is killed.
    """
    jobs = max(1, min(jobs, len(points)))
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin) as pool:
        try:
            work = [pool.submit(_outcome, draw, point) for point in points]
            for future in as_completed(work):
                yield _row(future.result())
        except BrokenProcessPool:
            said = "a process that drew was ended: where memory is short, set fewer --jobs"
            raise ToolError(said) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.kill()  # one that simulates does not hear an interrupt
            raise


def _outcome(draw, point):
    """A row, or what an error says: errors of more than a text do not come back from a process."""
    try:
        return draw(point), None
    except InputError as error:
        return None, (error.field, error.rule, f"{error.value}")


def _row(outcome):
    row, refused = outcome
    if refused:
        raise InputError(*refused)
    return row


def _begin():
    """A worker leaves Ctrl-C to its parent, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent_process().sentinel,), daemon=True).start()


def _follow(sentinel):
    connection.wait([sentinel])
    os._exit(1)


def _cluster(draw, client, points):
    """Rows of points as they end, by the workers of a cluster; nothing of them is left there."""
    from distributed import as_completed as completed

    futures = [client.submit(_outcome, draw, point, pure=False) for point in points]
    try:
        for future in completed(futures, loop=client.loop):
            yield _row(future.result())
    finally:
        client.cancel(futures, force=True)
