# SPDX-License-Identifier: BSD-2-Clause
"""How many clocks a frame takes on a machine, and what holds it."""

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil

from fixfunc.models.performance.events import FrameEvents
from fixfunc.models.performance.flow import Flow
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.stations import STATIONS
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class Prediction:
    """What a frame takes on a machine.

    Parameters
    ----------
    clocks : int
    seconds : float
    busy : dict of float
        By station, of :data:`~fixfunc.models.performance.stations.STATIONS`, and by port and way
        (``depth read``): clocks in which it works.
    waits : dict of float
        What the command reader waits for, in clocks: ``slots`` of the vertex ring, ``rows`` of the
        triangle table, places behind the triangle ``setup``.
    holding : str
        The station, or the port, that works for most of the clocks.
    bytes : dict of int
        By client of memory.
    counts : dict of int
        Tiles and transfers of the mode table, by the name of the hardware's counter:
        :data:`fixfunc.spec.counters.MOVED`.
    utilisation : dict of float
        By port and way, the share of the clocks in which it moves transfers.
    """

    clocks: int
    seconds: float
    busy: dict
    waits: dict
    holding: str
    bytes: dict
    counts: dict
    utilisation: dict


def predict(
    events: FrameEvents, params: MachineParams | None = None, free: Collection[str] = ()
) -> Prediction:
    """Follow a frame through a machine.

    Every beat leaves every station in order, as soon as it has come, the one before it has left,
    and there is room behind. Of ports that share a channel the frame is followed twice: with a
    channel for each, and with what the loads then found leave of one.

    Parameters
    ----------
    events : FrameEvents
    params : MachineParams, optional
        By default the top of this project.
    free : collection of str
        Stations of :data:`~fixfunc.models.performance.stations.STATIONS` that take no time: what
        they hold is what is saved.

    Raises
    ------
    InputError
        A station that there is not.
    """
    params = params or MachineParams()
    for name in free:
        if name not in STATIONS:
            raise InputError("free", f"be of {', '.join(STATIONS)}", name)
    found = _follow(events, params, free, {})
    if params.memory.shared:
        found = _follow(events, params, free, found.utilisation)
    return found


def _follow(events, params, free, loads):
    flow = Flow(events, params, free, loads)
    clocks = flow.run()
    ports = flow.planes.busy
    busy = flow.busy | ports
    return Prediction(
        ceil(clocks),
        clocks / params.clock,
        busy,
        flow.waits,
        max(busy, key=busy.get),
        {name: sum(ways) for name, ways in flow.planes.bytes.items()},
        flow.planes.counts,
        {name: value / max(clocks, 1) for name, value in ports.items()},
    )
