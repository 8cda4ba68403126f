# SPDX-License-Identifier: BSD-2-Clause
"""A frame from reader to memory: when each beat leaves each station."""

from collections.abc import Collection, Iterator

import numpy as np

from fixfunc.models.performance.events import Beat, FrameEvents
from fixfunc.models.performance.line import chunks, serve
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.planes import FRONT, NEVER, Planes
from fixfunc.models.performance.reader import reading
from fixfunc.models.performance.stations import DRAIN, STATIONS, Stations

CHUNK = 512  # beats that are followed at once
# Clocks from station to station, of a beat that waits for nothing.
SETUP = 112  # reader to rasterizer
RASTER = 45
HIZ = 12
REQUEST = 8
DEPTH = 24  # the depth test to colour write
DISPATCH = 24  # colour write to quads
SHADE = 90  # a tile's last quad to its colours
STREAM = 45  # the same of quads that follow others of their triangle
ROW = 70  # a tile's last quad to the row of its triangle, which is free
OUTSIDE = 4  # to a shader outside and back
RETURN = 24  # colour write to the end
SLOTS = 2  # a RELEASE at the end to its slots
ROUND = 4 * DRAIN + 8  # more clocks of a fence that the triangle table sends


class Flow:
    """Follows the beats of a frame.

    Parameters
    ----------
    events : FrameEvents
    params : MachineParams
    free : collection of str
        Stations that take no time.
    loads : dict of float
        As of :class:`~fixfunc.models.performance.planes.Planes`.

    Attributes
    ----------
    left : dict of ndarray of float64, shape (beats,)
        By station, and ``out``: when each beat has left it.
    waits : dict of float
        What the reader waits for, in clocks: ``slots`` of the vertex ring, ``rows`` of the triangle
        table, places behind the triangle ``setup``.
    planes : Planes
    """

    def __init__(
        self, events: FrameEvents, params: MachineParams, free: Collection[str], loads: dict
    ) -> None:
        self._params = params
        self._beats = events.beats
        self._kind = events.beats["kind"].tolist()
        self.planes = Planes(events, params, loads)
        self._reading = reading(events, params)
        self._stations = Stations(events, params, self._reading, self.planes.moves["colour"])
        self._service = self._stations.service | {name: np.zeros(len(self._kind)) for name in free}
        self.left = {name: np.zeros(len(self._kind)) for name in (*STATIONS, "out")}
        self.waits = dict.fromkeys(("slots", "rows", "setup"), 0.0)
        self._free = {name: np.zeros(self._units(name)) for name in STATIONS}
        self._shown = np.zeros(len(self._kind))  # when colours are written, if memory alone decides
        self._fence = 0.0  # when a fence may begin to flush colours

    def _units(self, name):
        """Stations of a name that stand side by side."""
        if name in ("fetch", "pixels"):
            return self._params.pixel_pipes
        return self._params.rasterizers if name in ("raster", "hiz", "depth", "colour") else 1

    @property
    def busy(self) -> dict[str, float]:
        """By station, clocks in which it works on triangles and tiles.

        Of several side by side one's share.
        """
        work = self._beats["kind"] < Beat.STATE
        return {
            name: float(service[work].sum()) / self._units(name)
            for name, service in self._service.items()
        }

    def run(self) -> float:
        """Follow all beats; returns when the last one has left."""
        read = self._reading
        rooms = [read.ahead, read.release, read.window, read.flushed, read.returned]
        rooms += [*self.planes.waits(), *self._stations.rooms.values()]
        # Control beats end a range: they wait for all units, and all wait for them.
        controls = np.flatnonzero(self._beats["kind"] >= Beat.STATE)
        for begin, end in chunks(rooms, len(self._kind), CHUNK):
            for first, last in _cut(begin, end, controls):
                self._follow(slice(first, last))
        return float(max(times[-1:].max(initial=0) for times in self.left.values()))

    def _follow(self, own):
        """A range of beats, from station to station."""
        rooms = {name: room[own] for name, room in self._stations.rooms.items()}
        planes = self.planes
        at = self._read(own, rooms["setup"]) + SETUP + RASTER
        at = self._serve("raster", own, self._room(at, "depth", rooms["tiles"], -HIZ))
        at = self._serve("hiz", own, at + HIZ) + REQUEST
        ready = [planes.on_chip(name, own, at) for name in ("depth", "stencil")]
        at = np.maximum(at + FRONT, np.maximum(*ready))
        at = self._serve("depth", own, self._room(at, "pixels", rooms["colours"], 0))
        at = self._control(own, ("depth", "stencil"), "depth")
        for name in ("depth", "stencil"):
            planes.evict(name, own, at)
        at = at + DEPTH
        ready = planes.on_chip("colour", own, at + REQUEST)
        at = self._room(at + DISPATCH, "colour", rooms["shading"], 0)
        at = np.maximum(at, self._colours_wait(own, ready))
        at = self._serve("pixels", own, self._serve("fetch", own, at))
        beats = self._beats[own]
        at = at + np.where(beats["built_in"], SHADE, OUTSIDE) * beats["shaded"]
        self._serve("colour", own, np.maximum(at, ready))
        at = self._control(own, ("colour",), "colour")
        planes.evict("colour", own, at)
        self.left["out"][own] = at + RETURN

    def _colours_wait(self, own, ready):
        """When the pixel pipe moves on, whose colours wait for tiles that come from memory."""
        if np.ndim(ready) == 0:
            ready = np.full(own.stop - own.start, NEVER)
        free = self._free["colour"].min()
        self._shown[own] = serve(ready, self._service["colour"][own], free)
        return _behind(self._shown, self._stations.ahead[own], STREAM - SHADE)

    def _read(self, own, setup):
        """When beats leave the reader."""
        read, left = self._reading, self.left
        before, behind = read.before[own], read.behind[own]
        fetched = self._room(np.full(len(before), NEVER), "reader", read.ahead[own], 0)
        came = self._serve("commands", own, fetched) + sum(self._params.memory.latency) / 2
        came = np.where(read.transfers[own] > 0, came + before - behind, NEVER)
        may = self._room(came, "out", read.flushed[own], SLOTS)
        returned = _behind(left["out"], read.returned[own], ROUND)
        gates = {
            "slots": _behind(left["out"], read.release[own], SLOTS),
            "rows": np.maximum(_behind(left["pixels"], read.window[own], ROW), returned),
            "setup": _behind(left["raster"], setup, before - RASTER),
        }
        for gate in gates.values():
            may = np.maximum(may, gate)
        free = self._free["reader"][0]
        at = self._serve("reader", own, may - before)
        earlier = np.append(free, at[:-1]) + before
        for name, gate in gates.items():
            if np.ndim(gate):
                self.waits[name] += float(np.clip(gate - earlier, 0, None).sum())
        return at

    def _room(self, at, station, room, more):
        """Beats wait until others have left a station behind them."""
        return np.maximum(at, _behind(self.left[station], room, more))

    def _serve(self, name, own, arrive):
        """When beats leave a station."""
        service = self._service[name][own]
        free = self._free[name]
        if len(free) == 1:
            left = serve(arrive, service, free[0])
            free[0] = left[-1]
        else:
            left = self._serve_side_by_side(free, self._stations.unit[own], arrive, service)
        self.left[name][own] = left
        return left

    def _serve_side_by_side(self, free, unit, arrive, service):
        """The same of several stations; what is of no unit goes through all of them."""
        left = arrive.copy()
        units = len(free)
        for number in range(units):
            some = np.flatnonzero((unit < 0) | (unit % units == number))
            if len(some):
                found = serve(arrive[some], service[some], free[number])
                left[some] = np.where(unit[some] < 0, np.maximum(left[some], found), found)
                free[number] = found[-1]
        if unit[-1] < 0:
            free[:] = np.maximum(free, left[-1])
        return left

    def _control(self, own, planes, station):
        """A clear, or a fence that flushes, at the end of a range takes memory as long.

        Colours are flushed as soon as the fence has come to the depth test, and all of them are
        written.
        """
        beat = own.stop - 1
        kind = self._kind[beat]
        left = self.left[station]
        if kind in (Beat.CLEAR, Beat.FENCE):
            begin = end = left[beat]
            obey = self.planes.clear if kind == Beat.CLEAR else self.planes.flush
            if kind == Beat.FENCE and station == "colour":
                begin = max(self._fence, left[beat - 1] if beat else 0)
            self._fence = begin + DEPTH
            left[beat] = max(end, *(obey(name, beat, begin) for name in planes))
            self._free[station][:] = left[beat]
        return left[own]


def _behind(times, room, more):
    """When each beat may enter, that waits for another one to have left; NEVER if none does."""
    if room.max(initial=-1) < 0:
        return NEVER
    return np.where(room >= 0, times[room] + more, NEVER)


def _cut(begin: int, end: int, controls: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges that end behind each control beat."""
    inside = controls[np.searchsorted(controls, begin) : np.searchsorted(controls, end)]
    for stop in dict.fromkeys([*(inside + 1).tolist(), end]):
        yield begin, stop
        begin = stop
