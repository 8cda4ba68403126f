# SPDX-License-Identifier: BSD-2-Clause
"""Shaders of a frame's draws, their textures on a device, and how far all is from the record."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.recorded.frame import RecordedFrame
from fixfunc.cosim.recorded.shading import FILTERS, MOST_ATTRIBUTES, Shading, Unshaded
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind, Texture, layout_of_texture
from fixfunc.spec.descriptors import Dimension
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError

UNIT = 255  # differences are told in units of 1 / 255
_EQUAL = 1e-6  # of these: that of two floats that are one


class Tolerance(NamedTuple):
    """How far a share of a kind's fragments may be from those that were recorded."""

    share: float
    units: float


# Kinds of draws. llvmpipe interpolates by float32 planes: a colour may be rounded otherwise. It
# mixes texels in float32 or in bytes, by coordinates that are not rounded to 1/256 of a texel; its
# levels are off by an eighth at most, as tests/texture/sampler has it, so that what lies between
# two is off by an eighth of what they differ by. The nearest texel, or level, may be its neighbour.
TOLERANCES = {
    "no texture": Tolerance(0.999, 1),
    "texels mixed": Tolerance(0.999, 3),
    "levels mixed": Tolerance(0.999, UNIT / 8),
    "nearest texels or levels": Tolerance(0.98, 3),
}


class ShadedDraw(NamedTuple):
    """How far fragments of a draw are from those that were recorded, in units of 1/255."""

    call: int
    reason: str = ""  # why it was not shaded
    kind: str = ""  # of TOLERANCES
    texture: str = ""  # filters and format, or an empty text
    fragments: int = 0
    largest: float = 0.0
    percentile: float = 0.0  # that of 99.9 %
    differing: int = 0  # fragments
    tests: int = 0  # fragments of which the test of alpha comes out otherwise


class ShadedKind(NamedTuple):
    """The same of all draws of a kind."""

    kind: str
    draws: int
    fragments: int
    largest: float
    percentile: float
    differing: int
    within: float  # share of fragments within the tolerance
    believed: bool


class Shaders:
    """Shaders of draws that can be shaded.

    Parameters
    ----------
    frame : RecordedFrame
    device : Device
        With :func:`room` for them.

    Attributes
    ----------
    draws : list of ShadedDraw
        That have been finished, or cannot be shaded.
    """

    def __init__(self, frame: RecordedFrame, device: Device) -> None:
        self._frame = frame
        self._device = device
        self._textures: dict[int, Texture] = {}
        self._apart: dict[str, list[np.ndarray]] = defaultdict(list)
        self.draws: list[ShadedDraw] = []

    def of(self, number: int) -> Shading | None:
        """Shaders of a draw, with its texture bound; None of one that cannot be shaded."""
        try:
            shading = Shading(self._frame, number)
            if shading.texture is not None:
                self._bind(shading)
        except Unshaded as reason:
            self.draws.append(ShadedDraw(int(self._frame.draws[number]["call"]), str(reason)))
            return None
        return shading

    def _bind(self, shading):
        number = shading.texture
        if number not in self._textures:
            self._textures[number] = _create(self._device, self._frame, number)
        form = Format(int(self._frame.textures[number]["form"]))
        view = self._device.create_shader_resource_view(self._textures[number], form)
        self._device.context.ps.set_shader_resources(0, [view])
        self._device.context.ps.set_samplers(0, [shading.sampler()])

    def finish(self, number: int, shading: Shading) -> None:
        """A draw has been shaded."""
        kind, words = self._kind(shading)
        apart = shading.apart() * UNIT
        self._apart[kind].append(apart)
        call = int(self._frame.draws[number]["call"])
        figures = _figures(apart)
        self.draws.append(ShadedDraw(call, "", kind, words, len(apart), *figures, shading.tests))

    def _kind(self, shading):
        """A draw's kind, and its texture in words."""
        if shading.binding is None:
            return "no texture", ""
        row, sampler = self._frame.textures[shading.texture], shading.sampler_row
        filters = [FILTERS[sampler[f"{it}_filter"]] for it in ("min", "mag", "mip")]
        words = f"{'/'.join(filters)} {Format(int(row['form'])).name}"
        has_levels = row["levels"] > 1 and sampler["max_lod"] > 0.5
        if "point" in filters[:2] or (has_levels and filters[2] == "point"):
            return "nearest texels or levels", words
        return ("levels mixed" if has_levels else "texels mixed"), words

    def kinds(self) -> list[ShadedKind]:
        """How far all draws are, kind by kind."""
        found = []
        for kind, tolerance in TOLERANCES.items():
            if not self._apart[kind]:
                continue
            apart = np.concatenate(self._apart[kind])
            within = float((apart <= tolerance.units + _EQUAL).mean()) if len(apart) else 1.0
            found.append(
                ShadedKind(
                    *(kind, len(self._apart[kind]), len(apart), *_figures(apart), within),
                    within >= tolerance.share,
                )
            )
        return found


def _figures(apart):
    """The largest difference, that of 99.9 %, and how many there are."""
    if not len(apart):
        return 0.0, 0.0, 0
    largest, percentile = float(apart.max()), float(np.percentile(apart, 99.9))
    return round(largest, 3), round(percentile, 3), int((apart > _EQUAL).sum())


def _create(device, frame, number):
    """A texture of a frame on a device; one that D3D11 has not raises :class:`Unshaded`."""
    row = frame.textures[number]
    info = FORMATS[Format(int(row["form"]))]
    width, height, levels = (int(row[name]) for name in ("width", "height", "levels"))
    begin = int(row["first"])
    data = []
    for level in range(levels):
        wide, high = max(width >> level, 1), max(height >> level, 1)
        size = -(-wide // info.block) * -(-high // info.rows) * info.bytes
        data.append(frame.octets[begin : begin + size])
        begin += size
    try:
        return device.create_texture2d(info.family, width, height, levels, data=data)
    except InputError as error:
        raise Unshaded(f"a texture that D3D11 has not: {error}") from error


def room(frame: RecordedFrame) -> int:
    """Bytes of memory for textures and varyings, at most."""
    rows = frame.textures
    octets = 0
    for row in rows[(rows["dimension"] == 2) & (rows["layers"] == 1)]:
        sides = (int(row[name]) for name in ("width", "height", "depth", "levels", "layers"))
        family = FORMATS[Format(int(row["form"]))].family
        try:
            octets += layout_of_texture(
                *(Dimension.TEXTURE2D, family, *sides, 1, Bind.SHADER_RESOURCE, False)
            ).bytes
        except InputError:  # it is refused where a draw has it
            continue
    return octets + 16 * MOST_ATTRIBUTES * int(frame.draws["vertices"].max(initial=0))
