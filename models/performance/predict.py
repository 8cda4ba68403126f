# SPDX-License-Identifier: BSD-2-Clause
"""How many clocks a frame takes on a machine, and what holds it."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from fixfunc.models.performance.cache_moves import TRANSFER, cache_moves
from fixfunc.models.performance.events import PLANES, Beat, FrameEvents
from fixfunc.models.performance.line import chunks, serve
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.ports import Port
from fixfunc.models.performance.reader import reading
from fixfunc.models.performance.stations import DRAIN, STATIONS, Stations
from fixfunc.spec.errors import InputError
from fixfunc.models.memory.coded_tiles import PER_TRANSFER

CHUNK = 512  # beats that are followed at once
NEVER = -1e18  # a clock that all others are behind
# Clocks from stage to stage, of a beat that waits for nothing.
SETUP = 112  # reader to rasterizer
RASTER = 45
HIZ = 12
REQUEST = 8
FRONT = 8  # a request to the depth test
DEPTH = 24  # the depth test to colour write
DISPATCH = 24  # colour write to quads
SHADE = 90  # a tile's last quad to its colours
ROW = 70  # a tile's last quad to the row of its triangle, which is free
OUTSIDE = 4  # to a shader outside and back
RETURN = 24  # colour write to the end
SLOTS = 2  # a RELEASE at the end to its slots
ROUND = 4 * DRAIN + 8  # more clocks of a fence that the triangle table sends
FLUSH = 20  # from the end of flushes to the status


@dataclass(frozen=True)
class Prediction:
    """What a frame takes on a machine.

    Parameters
    ----------
    clocks : int
    seconds : float
    busy : dict of float
        By station, and by port and way (``depth read``): clocks in which it works.
    waits : dict of float
        By what the reader waits for (``slots`` of the vertex ring, ``rows`` of the triangle table,
        ``setup``): clocks.
    holding : str
        The station, or the port, that works for most of the clocks.
    bytes : dict of int
        By client of memory.
    utilisation : dict of float
        By port and way, the share of the clocks in which it moves transfers.
    """

    clocks: int
    seconds: float
    busy: dict
    waits: dict
    holding: str
    bytes: dict
    utilisation: dict


def predict(
    events: FrameEvents, params: MachineParams | None = None, free: Collection[str] = ()
) -> Prediction:
    """Follow a frame through a machine.

    Every beat leaves every station in order, as soon as it has come, the one before it has left,
    and there is room behind.

    Parameters
    ----------
    events : FrameEvents
    params : MachineParams, optional
        By default the top of this project.
    free : collection of str
        Stations of :data:`~fixfunc.models.performance.stations.STATIONS` that take no time.

    Raises
    ------
    InputError
        A station that there is not.
    """
    for name in free:
        if name not in STATIONS:
            raise InputError("free", f"be of {', '.join(STATIONS)}", name)
    params = params or MachineParams()
    first = _Frame(events, params, free).run()
    return first if not params.memory.shared else _Frame(events, params, free, first).run()


def _speeds(plane, alone):
    """Of reads and writes of a port on a shared channel: what all others leave of it.

    ``alone`` is the frame with a channel for each. A turn comes as often as others have one.
    """
    if alone is None:
        return 1.0, 1.0
    loads = {name: value for name, value in alone.utilisation.items() if value}
    total = sum(loads.values())
    return tuple(
        min(1.0, max(1 - total + loads.get(f"{plane} {way}", 0), 1 / max(len(loads), 1)))
        for way in ("read", "write")
    )


class _Frame:
    """Times of all beats at each station."""

    def __init__(self, events, params, free, alone=None):
        self._events = events
        self._params = params
        count = len(events.beats)
        self._kind = events.beats["kind"].tolist()
        fences = np.flatnonzero(events.beats["kind"] == Beat.FENCE)
        self._moves = {
            name: cache_moves(
                events.uses[name], events.surfaces[name], events.sizes[name], fences, params.cache
            )
            for name in PLANES
        }
        self._bytes = {
            name: moves.bytes(events.sizes[name]) for name, moves in self._moves.items()
        }
        self._bytes["commands"] = TRANSFER * int(events.packets["transfers"].sum()), 0
        self._ports = {
            name: Port(self._moves[name], params, n, _speeds(name, alone))
            for n, name in enumerate(PLANES)
        }
        self._reading = reading(events, params)
        self._stations = Stations(events, params, self._reading, self._moves["colour"])
        self._service = self._stations.service
        for name in free:
            self._service[name] = np.zeros(count)
        self._left = {name: np.zeros(count) for name in (*STATIONS, "out")}
        self._free = {name: np.zeros(self._units(name)) for name in STATIONS}
        # The first use of each beat.
        self._first = {
            name: np.searchsorted(events.uses[name]["beat"], np.arange(count + 1))
            for name in PLANES
        }
        self._fence = 0.0  # when a fence may begin to flush colours
        self._waits = dict.fromkeys(("slots", "rows", "setup"), 0.0)

    def _units(self, name):
        """Stations of a name that stand side by side."""
        if name in ("fetch", "pixels"):
            return self._params.pixel_pipes
        return self._params.rasterizers if name in ("raster", "hiz", "depth", "colour") else 1

    def run(self):
        """Follow all beats."""
        read = self._reading
        kind = self._events.beats["kind"]
        waits = [read.ahead, read.release, read.window, read.flushed, read.returned]
        waits += [self._write_backs(name) for name in PLANES]
        # Control beats end a range: they wait for all units, and all wait for them.
        controls = np.flatnonzero(kind >= Beat.STATE)
        for begin, end in chunks([*waits, *self._stations.rooms.values()], len(kind), CHUNK):
            for first, last in _cut(begin, end, controls):
                self._follow(first, last)
        return self._prediction()

    def _write_backs(self, name):
        """The beat whose write-back memory must have acknowledged for each; -1: none."""
        beat = self._events.uses[name]["beat"]
        out = np.full(len(self._kind), -1)
        for other in self._ports[name].pending():
            some = np.flatnonzero(other >= 0)
            np.maximum.at(out, beat[some], beat[other[some]])
        return out

    def _follow(self, first, last):
        """A range of beats, from station to station."""
        own = slice(first, last)
        left = self._left
        rooms = {name: room[own] for name, room in self._stations.rooms.items()}
        at = self._read(own, rooms["setup"])
        at = self._serve("raster", own, at + SETUP + RASTER, "depth", rooms["tiles"], -HIZ)
        at = self._serve("hiz", own, at + HIZ)
        ready = [self._on_chip(name, own, at + REQUEST) for name in ("depth", "stencil")]
        at = np.maximum(at + REQUEST + FRONT, np.maximum(*ready))
        at = self._serve("depth", own, at, "pixels", rooms["colours"], 0)
        self._control(own, ("depth", "stencil"), "depth")
        at = left["depth"][own]
        for name in ("depth", "stencil"):
            self._evict(name, own, at)
        at = at + DEPTH
        ready = self._on_chip("colour", own, at + REQUEST)
        at = self._serve("fetch", own, at + DISPATCH, "colour", rooms["shading"], 0)
        at = self._serve("pixels", own, at)
        beats = self._events.beats[own]
        at = at + np.where(beats["built_in"], SHADE, OUTSIDE) * beats["shaded"]
        self._serve("colour", own, np.maximum(at, ready))
        self._control(own, ("colour",), "colour")
        at = left["colour"][own]
        self._evict("colour", own, at)
        left["out"][own] = at + RETURN

    def _read(self, own, setup):
        """When beats leave the reader."""
        read, left = self._reading, self._left
        before, behind = read.before[own], read.behind[own]
        fetched = _behind(left["reader"], read.ahead[own], np.zeros(len(before)))
        came = self._serve("commands", own, fetched + np.zeros(len(before)))
        came = came + sum(self._params.memory.latency) / 2 - behind
        came = np.where(read.transfers[own] > 0, came, NEVER)
        returned = _behind(left["out"], read.returned[own], ROUND)
        gates = {
            "slots": _behind(left["out"], read.release[own], SLOTS),
            "rows": np.maximum(_behind(left["pixels"], read.window[own], ROW), returned),
            "setup": _behind(left["raster"], setup, before - RASTER),
        }
        may = np.maximum(came + before, _behind(left["out"], read.flushed[own], SLOTS))
        for gate in gates.values():
            may = np.maximum(may, gate)
        free = self._free["reader"][0]
        at = self._serve("reader", own, may - before)
        earlier = np.append(free, at[:-1]) + before
        for name, gate in gates.items():
            if np.ndim(gate):
                self._waits[name] += float(np.clip(gate - earlier, 0, None).sum())
        return at

    def _serve(self, name, own, arrive, behind=None, room=None, extra=0):
        """When beats leave a station; a beat waits until another one has left one behind it."""
        if behind:
            arrive = np.maximum(arrive, _behind(self._left[behind], room, extra))
        service = self._service[name][own]
        free = self._free[name]
        units = len(free)
        if units == 1:
            left = serve(arrive, service, free[0])
            free[0] = left[-1]
        else:
            unit = self._stations.unit[own]
            left = arrive.copy()
            for number in range(units):
                some = np.flatnonzero((unit < 0) | (unit % units == number))
                if len(some):
                    found = serve(arrive[some], service[some], free[number])
                    left[some] = np.where(unit[some] < 0, np.maximum(left[some], found), found)
                    free[number] = found[-1]
            if unit[-1] < 0:
                free[:] = np.maximum(free, left[-1])
        self._left[name][own] = left
        return left

    def _control(self, own, planes, station):
        """A clear, or a fence that flushes, at the end of a range takes memory as long.

        Colours are flushed as soon as the fence has come to the depth test, and all of them are
        written.
        """
        beat = own.stop - 1
        kind = self._kind[beat]
        if kind not in (Beat.CLEAR, Beat.FENCE):
            return
        left = self._left[station]
        begin = end = left[beat]
        if kind == Beat.FENCE and station == "colour":
            begin = max(self._fence, left[beat - 1] if beat else 0)
        self._fence = begin + DEPTH
        for name in planes:
            port = self._ports[name]
            surfaces = self._events.surfaces[name]
            if kind == Beat.CLEAR:
                for tiles in surfaces["tiles"][surfaces["beat"] == beat].tolist():
                    end = max(end, port.clear(left[beat], -(-tiles // PER_TRANSFER)) + FRONT)
            else:
                end = max(end, port.flush(beat, begin + FRONT) + FLUSH)
        left[beat] = end
        self._free[station][:] = end

    def _on_chip(self, name, own, asked):
        """When the tile of each beat is on chip, and there is room for the one that leaves."""
        uses = slice(self._first[name][own.start], self._first[name][own.stop])
        if uses.stop == uses.start:
            return NEVER
        out = np.full(own.stop - own.start, NEVER)
        place = self._events.uses[name]["beat"][uses] - own.start
        port = self._ports[name]
        out[place] = np.maximum(port.request(uses, asked[place]), port.room(uses))
        return out

    def _evict(self, name, own, at):
        uses = slice(self._first[name][own.start], self._first[name][own.stop])
        if uses.stop > uses.start:
            place = self._events.uses[name]["beat"][uses] - own.start
            self._ports[name].evict(uses, at[place])

    def _prediction(self):
        count = len(self._events.beats)
        clocks = max((times[-1] for times in self._left.values()), default=0) if count else 0
        ports = {
            f"{name} {way}": clocks_
            for name, port in self._ports.items()
            for way, clocks_ in port.busy.items()
        }
        busy = {
            name: float(service.sum()) / self._units(name)
            for name, service in self._service.items()
        } | ports
        return Prediction(
            int(np.ceil(clocks)),
            float(clocks) / self._params.clock,
            busy,
            self._waits,
            max(busy, key=busy.get),
            {name: sum(ways) for name, ways in self._bytes.items()},
            {name: value / max(clocks, 1) for name, value in ports.items()},
        )


def _behind(times, room, extra):
    """When each beat may enter, that waits for another one to have left; NEVER if none does."""
    if room.max(initial=-1) < 0:
        return NEVER
    return np.where(room >= 0, times[room] + extra, NEVER)


def _cut(begin, end, controls):
    """Ranges that end behind each control beat."""
    inside = controls[np.searchsorted(controls, begin) : np.searchsorted(controls, end)]
    ends = [*(inside + 1).tolist(), end]
    for stop in dict.fromkeys(ends):
        if stop > begin:
            yield begin, stop
            begin = stop
