# SPDX-License-Identifier: BSD-2-Clause
"""Stations that beats pass in order: how long each takes for each, and who passes its queue."""

import numpy as np

from fixfunc.models.architecture.frame_work import Screen
from fixfunc.models.performance.cache_moves import NONE, CacheMoves
from fixfunc.models.performance.events import Beat, FrameEvents
from fixfunc.models.performance.line import places
from fixfunc.models.performance.params import MachineParams
from fixfunc.models.performance.reader import Reading
from fixfunc.spec.state import Outcome

# In the order of beats; what each is called on pages.
STATIONS = {
    "commands": "command fetch",
    "reader": "command reader",
    "raster": "rasterizer",
    "hiz": "HiZ",
    "depth": "depth test",
    "fetch": "attribute fetch",
    "pixels": "pixel pipe",
    "colour": "colour write",
}
DRAIN = 11  # clocks of a control beat at a block that lets tiles drain
GROUPS = 4  # of 16 samples, of a tile


class Stations:
    """Clocks of all beats at all stations of a machine.

    Attributes
    ----------
    service : dict of ndarray of float64, shape (n,)
        By station.
    rooms : dict of ndarray of int64, shape (n,)
        By queue, the beat that must have left it for each to enter; -1: none.
    ahead : ndarray of int64, shape (n,)
        The tile whose colours must have been written for each to enter the pixel pipe, which holds
        so many quads behind so many tiles; -1: none.
    unit : ndarray of int64, shape (n,)
        The rasterizer of a tile; -1 of what goes through all of them.
    """

    def __init__(
        self, events: FrameEvents, params: MachineParams, reading: Reading, colour: CacheMoves
    ) -> None:
        beats = events.beats
        count = len(beats)
        kind = beats["kind"]
        is_control = kind >= Beat.STATE
        is_tile = kind == Beat.TILE
        last = np.append(beats["first"] | is_control, True)[1:]  # of its triangle
        # Beats that go on to the depth test, and to colour write.
        is_tested = is_control | (is_tile & ((beats["outcome"] != Outcome.DROP) | last))
        is_coloured = is_control | (is_tile & beats["shaded"])
        self.unit = np.full(count, -1)
        if params.rasterizers > 1:
            screen = Screen(params.rasterizers, 1)
            self.unit[is_tile] = screen.owner(beats["x"][is_tile], beats["y"][is_tile])
        queues = params.queues
        every = np.flatnonzero(beats["first"] | is_control)
        tested = np.flatnonzero(is_tested)
        coloured = np.flatnonzero(is_coloured)
        self.rooms = {
            "setup": places(every, count, queues.setup),
            "tiles": places(tested, count, queues.tiles * params.rasterizers),
            "colours": places(coloured, count, queues.colours * params.rasterizers),
            "shading": places(coloured, count, queues.shading * params.pixel_pipes),
        }
        self.ahead = _ahead(beats, params)
        drains = DRAIN * is_control.astype(np.float64)
        tile = is_tile / params.tiles
        empty = beats["set_up"] & (kind == Beat.EMPTY)
        late = np.where(beats["late"], 2, 1)  # of a tile that is written late: it comes twice
        pipe = beats["shaded"] & beats["built_in"]
        attributes = beats["attributes"].astype(np.float64)
        begins = np.zeros(count, bool)  # the first shaded tile of its triangle
        shaded = np.flatnonzero(pipe)
        begins[shaded[np.append(True, np.diff(beats["triangle"][shaded]) != 0)[: len(shaded)]]] = 1
        quads = beats["quads"] * np.maximum(attributes, 1)
        inside = np.where(beats["built_in"], quads / params.attributes, 1.0) * beats["shaded"]
        turns = np.ceil(_groups(events, colour) / params.lanes)
        self.service = {
            "commands": reading.transfers * params.memory.read_clocks,
            "reader": reading.before + reading.behind,
            "raster": tile + empty + is_control,
            "hiz": tile + drains,
            "depth": tile * late * is_tested + 2 * drains,
            "fetch": begins * 3 * np.maximum(attributes, 1),
            "pixels": inside,
            "colour": np.maximum(1, turns) * (is_coloured & is_tile) + 2 * drains,
        }


def _ahead(beats, params):
    """The last tile that is so many tiles, and in front of those so many quads, before each."""
    out = np.full(len(beats), -1)
    shaded = np.flatnonzero(beats["shaded"] & beats["built_in"])
    behind = np.cumsum(beats["quads"][shaded], dtype=np.int64)
    before = behind - beats["quads"][shaded] - params.queues.pipe
    place = np.searchsorted(behind, before, "right") - 1
    waiting = min(params.queues.dispatch, len(shaded))
    place = np.concatenate([np.full(waiting, -1), place[: len(shaded) - waiting]])
    out[shaded] = np.where(place >= 0, shaded[np.maximum(place, 0)], -1)
    return out


def _groups(events, colour):
    """Groups of samples that are blended; all of a tile that is filled at once."""
    groups = events.beats["groups"].astype(np.float64)
    filled = events.uses["colour"]["beat"][colour.fill != NONE]
    groups[filled] = np.where(groups[filled] > 0, GROUPS, 0)
    return groups
