# SPDX-License-Identifier: BSD-2-Clause
"""A program on device and context as a command stream of the top, and what should come of it."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.frame.job import MOST, PAGE, Job, in_memory
from fixfunc.cosim.program.recording import (
    EDGE,
    Cleared,
    Listed,
    Missing,
    Recording,
    Wrote,
    tile_keys,
)
from fixfunc.cosim.reference import top
from fixfunc.models.formats import MOST as DEEPEST
from fixfunc.models.memory.surface import plane_bytes, tiles_of, to_image
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.state import check_draw_state, needs_constant
from fixfunc.models.top.shades import Shades, Shading
from fixfunc.rtl.top import TopParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, DepthFormat

TARGETS = 8  # that a draw state tells apart
PLANES = "depth", "stencil", "colour"


class Placed(NamedTuple):
    """A target in the memory of the top."""

    colour: tuple | None  # Target.key
    depth: tuple | None
    bases: dict[str, int]  # of planes, bytes
    state: np.void  # of its first draw
    background: int  # that its colours were cleared to


class ProgramJob(Job):
    """What a program has drawn, as packets.

    Parameters
    ----------
    recording : Recording
    params : fixfunc.rtl.top.TopParams

    Attributes
    ----------
    missing : list of Missing
        Draws that the top does not execute, in order. What is drawn on their targets behind them
        is not what the program has drawn, up to the next clear.
    placed : list of Placed
        Targets, in the order in which they are begun.
    executed : int
        Lists of triangles in the stream.
    """

    def __init__(self, recording: Recording, params: TopParams) -> None:
        self.missing: list[Missing] = []
        self.placed: list[Placed] = []
        self.executed = 0
        self._limits = top.limits_of(params)
        self._depths = params.depth.shader_depths
        self._packets = CommandList()
        self._cleared: dict[tuple, dict[str, int]] = {}  # by target: since it was drawn on
        self._state: np.void | None = None
        self._constant: np.ndarray | None = None
        self._shaded = []
        self._first = [0]  # triangle of each list, and the end
        self._at = 0
        for call in recording.calls:
            self._add(call)
        if not self.executed:
            raise InputError("program", "have a draw that the top can execute", self.missing)
        transfers = self._packets.fence(1).transfers
        if len(transfers) > MOST:
            raise InputError("program", f"take at most {MOST} transfers of packets", len(transfers))
        super().__init__(params, *in_memory(transfers, self._at), self.shader)

    def picture(self, memory: np.ndarray, target: tuple) -> np.ndarray:
        """Colours of a target as memory holds them.

        Parameters
        ----------
        memory : ndarray of uint8
            After the stream has been executed.
        target : tuple
            :attr:`fixfunc.models.machine.targets.Target.key`: it is the last that was begun.

        Returns
        -------
        ndarray of uint32, shape (height, width, samples)
        """
        placed = [it for it in self.placed if it.colour == target][-1]
        state = placed.state
        cache = ColourCache(state, top.shape(self.params), EDGE, memory[placed.bases["colour"] :])
        cache.load_modes(placed.background)
        size = int(state["target_width"]), int(state["target_height"])
        samples = SAMPLE_COUNTS[state["samples"]]
        image = to_image(cache.values(), *size, samples)
        return image.reshape(size[1], size[0], samples)

    def _add(self, call):
        if isinstance(call, Cleared):
            self._cleared.setdefault(call.target, {}).update(call.values)
        elif isinstance(call, Wrote):
            self._leave(call.address)
        elif isinstance(call, Missing):
            self.missing.append(call)
        else:
            what = self._lacks(call)
            if what:
                self.missing.append(Missing(call.draw, what))
            else:
                self._draw(call)

    def _leave(self, address):
        """Targets of a resource hold something else now."""
        for key in [key for key in self._cleared if key[0] == address]:
            del self._cleared[key]
        if self.placed and any(
            key and key[0] == address for key in (self.placed[-1].colour, self.placed[-1].depth)
        ):
            self.placed[-1] = self.placed[-1]._replace(colour=None, depth=None)

    def _lacks(self, call: Listed):
        """What the top lacks for a list, or an empty text."""
        state = call.state
        limits = self._limits
        size = max(int(state["target_width"]), int(state["target_height"]))
        reasons = {
            f"targets of more than {limits.pixels} pixels": size > limits.pixels,
            f"depths of {DepthFormat(int(state['depth_format'])).name}": state["depth_format"]
            not in limits.formats,
            "conservative coverage": bool(state["conservative"]) and not limits.conservative,
            "depths from a shader": call.shaded.depths is not None and not self._depths,
            "stencil values": bool(state["stencil_test"]) and not limits.stencil,
        }
        found = next((what for what, lacks in reasons.items() if lacks), "")
        if found:
            return found
        try:
            check_draw_state(state, *limits.blending)
        except InputError as error:
            return str(error)
        keys = _keys(call)
        if self._is_placed(keys) or all(self._is_cleared(key) for key in keys if key):
            return ""
        return "a clear of the whole target, right before its first draw"

    def _is_placed(self, keys):
        return bool(self.placed) and keys == (self.placed[-1].colour, self.placed[-1].depth)

    def _is_cleared(self, key):
        values = self._cleared.get(key, {})
        return "colour" in values or "depth" in values

    def _draw(self, call):
        keys = _keys(call)
        if needs_constant(call.state):
            self._set_constant(call.constant)
        if not self._is_placed(keys):
            self._begin(call, keys)
        state = call.state.copy()
        state["target"] = (len(self.placed) - 1) % TARGETS
        self._set(state)
        values = self._pending(keys)
        if values:
            self._clear(state, values)
        self._packets.triangles(call.triangles)
        self._shaded.append(call.shaded)
        self._first.append(self._first[-1] + len(call.triangles))
        self.executed += 1

    def _begin(self, call, keys):
        """A target that the draws before were not on: all of its planes are cleared."""
        state = call.state.copy()
        state["target"] = len(self.placed) % TARGETS
        count = tiles_of(state)
        bases = {}
        for plane in PLANES:
            bases[plane] = self._at
            self._at += -(-plane_bytes(count, plane) // PAGE) * PAGE
        values = {
            "depth": DEEPEST[DepthFormat(int(state["depth_format"]))],
            "stencil": 0,
            "colour": 0,
        } | self._pending(keys)
        if self.placed:
            self._packets.fence()
        self._packets.target(**bases)
        self._set(state)
        self._clear(state, values)
        self.placed.append(Placed(*keys, bases, state, values["colour"]))

    def _pending(self, keys):
        """Values that a target's planes have been cleared to since it was drawn on."""
        return {
            name: value for key in keys if key for name, value in self._cleared.pop(key, {}).items()
        }

    def _set(self, state):
        if self._state is None or state != self._state:
            self._packets.state(state)
            self._state = state

    def _set_constant(self, constant):
        if self._constant is None or (constant != self._constant).any():
            self._packets.blend_constant(constant)
            self._constant = constant

    def _clear(self, state, values):
        size = int(state["target_width"]), int(state["target_height"])
        fields = dict.fromkeys(values, 1) | {f"{name}_value": v for name, v in values.items()}
        self._packets.clear((0, 0, *size), **fields)

    def shader(self, shading: Shading) -> Shades:
        """What the program's shaders made of tiles, looked up."""
        shape = len(shading.tiles), EDGE, EDGE
        colours, fractions = np.zeros((2, self.params.colour.outputs, *shape), np.uint32)
        survivors = np.ones(shape, bool)
        depths = np.zeros(shape, np.uint32)
        replaces = np.zeros(len(shading.tiles), bool)
        lists = np.searchsorted(self._first, shading.triangle, "right") - 1
        for number in np.unique(lists):
            some = np.flatnonzero(lists == number)
            shaded = self._shaded[number]
            keys = tile_keys(shading.triangle[some] - self._first[number], shading.tiles[some])
            at = np.searchsorted(shaded.keys, keys)
            given = len(shaded.colours)
            colours[:given, some] = shaded.colours[:, at]
            fractions[:given, some] = shaded.fractions[:, at]
            survivors[some] = shaded.survivors[at]
            if shaded.depths is not None:
                depths[some] = shaded.depths[at]
                replaces[some] = True
        put_out = depths if self._depths else None
        return Shades(colours, survivors, put_out, replaces, fractions)


def _keys(call: Listed) -> tuple[tuple | None, tuple | None]:
    """What tells a list's target of colours, and that of depths, from others."""
    return call.colour and call.colour.key, call.depth and call.depth.key
