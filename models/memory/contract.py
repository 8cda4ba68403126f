# SPDX-License-Identifier: BSD-2-Clause
"""Contract of the stages of a target: what they obey, what they refuse, what a fence reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.formats import MOST
from fixfunc.models.memory.surface import tile_grid
from fixfunc.models.state import TARGET_FIELDS, check_blend_state, check_depth_state
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, DepthFormat, FenceError

PLANES = "depth", "stencil", "colour"


@dataclass(frozen=True)
class StageLimits:
    """What a stage supports.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    samples : int
        Greatest number of samples of a pixel: 1, 2, 4 or 8.
    formats : tuple of DepthFormat
        Depth formats.
    stencil : bool
        Stencil tests.
    tiles : int, optional
        Tiles of a target, by row and column, that the stage can hold; any number by default.
    colour_formats : tuple of Format
        Formats of colour planes, of stages that blend colours.
    second : bool
        These know a shader's second colour for the first plane.
    colour_planes : int
        Colour planes of targets.
    floats : bool
        Colour planes of floats are blended.
    """

    edge: int = 8
    samples: int = max(SAMPLE_COUNTS)
    formats: tuple[DepthFormat, ...] = tuple(DepthFormat)
    stencil: bool = True
    tiles: int | None = None
    colour_formats: tuple[Format, ...] = BASE_FORMATS
    second: bool = False
    colour_planes: int = 1
    floats: bool = False

    def check(self, state: np.void, blends: bool = False) -> None:
        """Raise :class:`~fixfunc.spec.errors.InputError` for a draw state that is not obeyed.

        Those of stages that blend colours are checked for that, too.
        """
        check_depth_state(state)
        if blends:
            known = self.colour_formats, self.second, self.colour_planes, self.floats
            check_blend_state(state, *known)
        form = DepthFormat(state["depth_format"])
        if form not in self.formats:
            names = ", ".join(known.name for known in self.formats)
            raise InputError("depth_format", f"be one of {names}", form.name)
        samples = SAMPLE_COUNTS[state["samples"]]
        if samples > self.samples:
            raise InputError("samples", f"be at most {self.samples}", samples)
        if state["stencil_test"] and not self.stencil:
            raise InputError("stencil_test", "be 0 without stencil values", 1)

    def supports(self, state: np.void, blends: bool = False) -> bool:
        """Whether a draw state is obeyed."""
        try:
            self.check(state, blends)
        except InputError:
            return False
        return True


class Cleared(NamedTuple):
    """A clear that is obeyed."""

    rectangle: tuple[int, int, int, int]  # x0, y0, x1, y1 in pixels, cut to the target
    values: dict[str, int]  # by plane; planes that are not cleared are missing
    bases: dict[str, int]  # by plane: where it lies, in bytes
    covers_target: bool
    begins_target: bool  # another target than the one before is in force from here on


class FenceCounts:
    """Samples that passed and errors since the last fence, as fences report them.

    Attributes
    ----------
    passed : int
        Samples since the last fence with ``begin``.
    error : int
        Bits of :class:`~fixfunc.spec.state.FenceError` since the last fence.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.error = 0

    def report(self, fence: np.void, counts_samples: bool = True) -> None:
        """Fill in a fence, and begin anew.

        Parameters
        ----------
        fence : numpy.void
            Fields of :data:`fixfunc.spec.payloads.FENCE`, written in place: ``any`` and
            ``passed``; ``error`` is added to that of the stages before.
        counts_samples : bool
            The stage counts samples; others leave ``any`` and ``passed`` alone.
        """
        fence["error"] |= self.error
        self.error = 0
        if counts_samples:
            fence["any"] = self.passed > 0
            fence["passed"] = self.passed
            if fence["begin"]:
                self.passed = 0


class StageContract:
    """Legality of what one stage receives.

    A draw state is obeyed if the stage supports it. Work on a target is legal once a clear of all
    of it has begun it; until then, and on any other target, clears and tiles are refused, and the
    next fence reports it. So are tiles outside the target, or beyond what the stage holds.

    Parameters
    ----------
    limits : StageLimits
    planes : sequence of str
        Planes whose clears the stage receives.
    begins : sequence of str, optional
        Planes that a clear has to name, all of them, to begin a target: ``planes`` by default.
        Without any every draw state begins its target, as in HiZ, which then knows nothing of it.

    Attributes
    ----------
    state : numpy.void
        The draw state in force.
    legal : bool
        Work is obeyed.
    fence : FenceCounts
    """

    def __init__(
        self,
        limits: StageLimits,
        planes: Sequence[str] = ("depth", "stencil"),
        begins: Sequence[str] | None = None,
    ) -> None:
        self.limits = limits
        self.state = None
        self.legal = False
        self.fence = FenceCounts()
        self._planes = tuple(planes)
        self._begins = self._planes if begins is None else tuple(begins)
        self._supported = False
        self._target = None

    def set_state(self, state: np.void) -> bool:
        """A draw state comes into force; returns whether work under it is legal."""
        self.state = state
        self._supported = self.limits.supports(state, "colour" in self._planes)
        self.legal = self._supported and (not self._begins or state[TARGET_FIELDS] == self._target)
        return self.legal

    def clear(self, record: np.void, may_begin: bool = True) -> Cleared | None:
        """What a clear does, by fields of :data:`fixfunc.spec.payloads.CLEAR`; None if nothing.

        It is refused under a state that is not supported, for a depth that the format cannot
        store, and on a target that neither has begun nor begins with it.

        Parameters
        ----------
        record : numpy.void
        may_begin : bool
            A clear of all of the target begins it; one of a colour plane but the first does not.
        """
        planes = [plane for plane in self._planes if record[plane]]
        if not planes:
            return None
        size = int(self.state["target_width"]), int(self.state["target_height"])
        x0, y0, x1, y1 = (int(record[name]) for name in ("x0", "y0", "x1", "y1"))
        rectangle = x0, y0, min(x1, size[0]), min(y1, size[1])
        covers = rectangle == (0, 0, *size)
        begins = may_begin and covers and all(record[plane] for plane in self._begins)
        if (
            not self._supported
            or ("depth" in planes and record["depth_value"] > self._depth_most())
            or not (self.legal or begins)
        ):
            self.fence.error |= FenceError.STATE
            return None
        was_legal = self.legal
        if begins:
            self._target = self.state[TARGET_FIELDS]
            self.legal = True
        return Cleared(
            rectangle,
            {plane: int(record[f"{plane}_value"]) for plane in planes},
            {plane: int(record[f"{plane}_base"]) for plane in planes},
            covers,
            begins and not was_legal,
        )

    def accepted(self, tiles: np.ndarray) -> np.ndarray:
        """Which tiles are obeyed: bool, shape (n,); those that are refused count as errors.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            ``x`` and ``y``, in tiles.
        """
        columns, rows = tile_grid(self.state, self.limits.edge)
        inside = (tiles["x"] < columns) & (tiles["y"] < rows)
        if self.limits.tiles is not None:
            inside &= tiles["y"].astype(np.int64) * columns + tiles["x"] < self.limits.tiles
        if len(tiles) and not self.legal:
            self.fence.error |= FenceError.STATE
        if not inside.all():
            self.fence.error |= FenceError.PLACE
        return inside & self.legal

    def _depth_most(self):
        """1.0 as the format in force stores it."""
        return MOST[DepthFormat(self.state["depth_format"])]
