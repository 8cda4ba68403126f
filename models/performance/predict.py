# SPDX-License-Identifier: BSD-2-Clause
"""How many clocks a frame takes on a machine, and what holds it."""

from dataclasses import dataclass

import numpy as np

from fixfunc.models.performance.cache_moves import NONE, cache_moves
from fixfunc.models.performance.events import PLANES, Beat, FrameEvents
from fixfunc.models.performance.line import chunks, places, serve
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.ports import Port
from fixfunc.models.performance.reader import reading
from fixfunc.spec.state import Outcome

CHUNK = 256  # beats that are followed at once
# Clocks from stage to stage, of a beat that waits for nothing.
SETUP = 112  # reader to rasterizer
RASTER = 30
HIZ = 12
REQUEST = 8
DEPTH = 24  # its place in the depth test to that behind it
DISPATCH = 12  # colour write to quads
SHADE = 75  # a tile's last quad to its colours
OUTSIDE = 4  # the same of a shader outside
RETURN = 12  # colour write to the end
DRAIN = 11  # of a control beat at a block that lets tiles drain
FLUSH = 20  # from the end of flushes to the status


@dataclass(frozen=True)
class Prediction:
    """What a frame takes.

    Parameters
    ----------
    clocks : float
    busy : dict of float
        By station, clocks in which it works.
    waits : dict of float
        By station, clocks in which what it has done waits for the station behind it.
    holding : str
        The station that holds the frame.
    bytes : dict of int
        By client.
    utilisation : dict of float
        By port and way, the share of the clocks in which it moves a transfer.
    seconds : float
    """

    clocks: float
    busy: dict
    waits: dict
    holding: str
    bytes: dict
    utilisation: dict
    seconds: float
    left: dict


def predict(events: FrameEvents, params: MachineParams | None = None) -> Prediction:
    """Follow a frame through a machine."""
    return _Frame(events, params or MachineParams()).run()


class _Frame:
    """Times of all beats at each station."""

    def __init__(self, events, params):
        self._events = events
        self._params = params
        beats = self._beats = events.beats
        count = self._count = len(beats)
        kind = beats["kind"]
        fences = np.flatnonzero(kind == Beat.FENCE)
        self._moves = {
            name: cache_moves(
                events.uses[name], events.surfaces[name], events.sizes[name], fences, params.cache
            )
            for name in PLANES
        }
        self._ports = {
            name: Port(self._moves[name], params.cache, params.memory, n)
            for n, name in enumerate(PLANES)
        }
        self._reading = reading(events, params)
        is_control = kind >= Beat.STATE
        is_tile = kind == Beat.TILE
        last = np.zeros(count, bool)
        last[:-1] = beats["first"][1:] | is_control[1:]
        last[-1:] = True
        self._tested = is_control | (is_tile & ((beats["outcome"] != Outcome.DROP) | last))
        self._coloured = is_control | (is_tile & (beats["shaded"] | (last & self._tested)))
        self._service()
        queues = params.queues
        firsts = np.flatnonzero(beats["first"] | is_control)
        self._setup_room = places(firsts, count, queues.setup)
        tested = np.flatnonzero(self._tested)
        self._tile_room = places(tested, count, queues.tiles)
        coloured = np.flatnonzero(self._coloured)
        self._colour_room = places(coloured, count, queues.colours)
        self._shading_room = places(coloured, count, queues.shading)
        self._left = {name: np.zeros(count) for name in ("reader", "raster", "hiz", "depth", "fetch", "pixels", "colour", "out")}
        self._starts = {name: np.searchsorted(events.uses[name]["beat"], np.arange(count + 1)) for name in PLANES}
        self.gated = 0.0

    def _service(self):
        beats, params = self._beats, self._params
        kind = beats["kind"]
        is_control = kind >= Beat.STATE
        is_tile = kind == Beat.TILE
        drains = is_control * float(DRAIN)
        pipes = params.pixel_pipes * params.attributes
        begins = np.zeros(self._count, bool)  # the first shaded tile of its triangle
        shaded = np.flatnonzero(beats["shaded"] & beats["built_in"])
        begins[shaded] = np.append(True, np.diff(beats["triangle"][shaded]) != 0)[: len(shaded)]
        attributes = beats["attributes"].astype(np.float64)
        quads = beats["quads"] * np.maximum(attributes, 1)
        inside = np.where(beats["built_in"], quads, 1.0) * beats["shaded"]
        self.service = {
            "raster": np.where(is_tile, 1 / params.tiles, 0.0) + (beats["set_up"] & (kind == Beat.EMPTY)) + is_control,
            "hiz": is_tile / params.tiles + drains,
            "depth": self._tested * np.where(is_control, 2 * DRAIN, np.where(beats["late"], 2.0, 1.0) / params.tiles),
            "fetch": begins * (1 + 3 * attributes) / params.pixel_pipes,
            "pixels": (inside + begins * (1 + attributes)) / pipes,
            "colour": self._coloured * np.where(is_control, 2 * DRAIN, np.maximum(1, self._groups())),
        }

    def _groups(self):
        """Turns of tiles that are blended: of one that is filled all groups."""
        groups = self._beats["groups"].astype(np.float64)
        uses = self._events.uses["colour"]
        filled = np.zeros(self._count, bool)
        filled[uses["beat"][self._moves["colour"].fill != NONE]] = True
        groups = np.where(filled & (groups > 0), 4, groups)
        return np.ceil(groups / self._params.lanes)

    def run(self):
        reading_ = self._reading
        rooms = [reading_.release, reading_.window, reading_.flushed, reading_.returned, self._setup_room, self._tile_room, self._colour_room, self._shading_room]
        kind = self._beats["kind"]
        special = np.flatnonzero((kind == Beat.FENCE) | (kind == Beat.CLEAR))
        for begin, end in chunks(rooms, self._count, CHUNK):
            cuts = special[(special >= begin) & (special < end)]
            for first, last in _split(begin, end, cuts):
                self._step(first, last)
        return self._prediction()

    def _step(self, a, b):
        own = slice(a, b)
        left = self._left
        r = self._reading
        before = {name: (times[a - 1] if a else 0.0) for name, times in left.items()}
        # Reader.
        arrive = np.full(b - a, -1e18)
        for name, room, extra in (("out", r.release, 2), ("out", r.flushed, 2), ("out", r.returned, 4 * DRAIN + 8), ("pixels", r.window, SHADE - 20)):
            arrive = np.maximum(arrive, _after(left[name], room[own], extra))
        gate = arrive - r.before[own]
        gate = np.maximum(gate, _after(left["raster"], self._setup_room[own], -RASTER))
        free_run = before["reader"] + np.cumsum(r.before[own] + r.behind[own])
        x = serve(gate, r.before[own] + r.behind[own], before["reader"])
        left["reader"][own] = x
        x = serve(np.maximum(x + SETUP + RASTER, _after(left["depth"], self._tile_room[own], -HIZ)), self.service["raster"][own], before["raster"])
        left["raster"][own] = x
        x = serve(x + HIZ, self.service["hiz"][own], before["hiz"])
        left["hiz"][own] = x
        ready = self._ready("depth", a, b, x + REQUEST)
        ready = np.maximum(ready, self._ready("stencil", a, b, x + REQUEST))
        ready = np.maximum(ready, _after(left["pixels"], self._colour_room[own], 0))
        x = np.maximum(x + REQUEST + 8, ready)
        x = serve(x, self.service["depth"][own], before["depth"])
        x = self._control(a, b, x, ("depth", "stencil"))
        left["depth"][own] = x
        self._evict("depth", a, b, x)
        self._evict("stencil", a, b, x)
        x = x + DEPTH
        ready = self._ready("colour", a, b, x + REQUEST)
        x = np.maximum(x + DISPATCH, _after(left["colour"], self._shading_room[own], 0))
        x = serve(x, self.service["fetch"][own], before["fetch"])
        left["fetch"][own] = x
        x = serve(x, self.service["pixels"][own], before["pixels"])
        left["pixels"][own] = x
        wait = np.where(self._beats["shaded"][own], np.where(self._beats["built_in"][own], SHADE, OUTSIDE), 0)
        x = serve(np.maximum(x + wait, ready), self.service["colour"][own], before["colour"])
        x = self._control(a, b, x, ("colour",))
        left["colour"][own] = x
        self._evict("colour", a, b, x)
        left["out"][own] = x + RETURN

    def _control(self, a, b, x, planes):
        kind = self._beats["kind"][b - 1]
        if kind == Beat.CLEAR:
            ends = [x[-1]]
            for name in planes:
                found = self._events.surfaces[name]
                for row in found[found["beat"] == b - 1]:
                    ends.append(self._ports[name].clear(x[-1], -(-int(row["tiles"]) // 64)) + 10)
            x[-1] = max(ends)
        elif kind == Beat.FENCE:
            x[-1] = max(self._ports[name].flush(b - 1, x[-1] + 8) for name in planes) + FLUSH
        return x

    def _range(self, name, a, b):
        return self._starts[name][a], self._starts[name][b]

    def _ready(self, name, a, b, asked):
        first, last = self._range(name, a, b)
        out = np.full(b - a, -1e18)
        if last > first:
            place = self._events.uses[name]["beat"][first:last] - a
            port = self._ports[name]
            found = port.request(first, asked[place])
            found = np.maximum(found, port.room(first, last - first))
            out[place] = found
        return out

    def _evict(self, name, a, b, x):
        first, last = self._range(name, a, b)
        if last > first:
            place = self._events.uses[name]["beat"][first:last] - a
            self._ports[name].evict(first, x[place])

    def _prediction(self):
        clocks = float(max(times[-1] for times in self._left.values())) if self._count else 0.0
        busy = {name: float(service.sum()) for name, service in self.service.items()}
        busy["reader"] = float((self._reading.before + self._reading.behind).sum())
        for name, port in self._ports.items():
            for way, value in port.busy.items():
                busy[f"{name} {way}"] = value
        holding = max(busy, key=busy.get)
        sizes = self._events.sizes
        moved = {name: self._moves[name].bytes(sizes[name]) for name in PLANES}
        moved["commands"] = 32 * int(self._events.packets["transfers"].sum())
        use = {f"{name} {way}": value / max(clocks, 1) for name, port in self._ports.items() for way, value in port.busy.items()}
        return Prediction(clocks, busy, {}, holding, moved, use, clocks / self._params.clock, self._left)


def _after(times, room, extra):
    return np.where(room >= 0, times[room] + extra, -1e18)


def _split(begin, end, cuts):
    at = begin
    for cut in cuts:
        yield at, cut + 1
        at = cut + 1
    if at < end:
        yield at, end
