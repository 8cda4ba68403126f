# SPDX-License-Identifier: BSD-2-Clause
"""Texels of a recorded frame as D3D11 stores them, and what differs of two surfaces."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.report.capture import displayed
from fixfunc.models.output.formats import colour_format, encode, load
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format

_STENCIL = {Format.D24_UNORM_S8_UINT: 3, Format.D32_FLOAT_S8X24_UINT: 4}  # byte of a texel


class Differences(NamedTuple):
    """Numbers of pixels that differ, and the greatest differences, in units or values of floats."""

    colours: int = 0
    most: float = 0.0
    depths: int = 0
    deepest: int = 0
    stencils: int = 0


def octets(texels: np.ndarray, form: Format) -> np.ndarray:
    """Texels of :data:`fixfunc.cosim.recorded.frame.TEXEL` as bytes, with another axis."""
    if form not in DEPTH_FORMATS:
        stored = encode(np.ascontiguousarray(texels["colour"]).reshape(-1, 4), form)
        return stored.reshape(*texels.shape, -1)
    words = np.ascontiguousarray(texels["depth"], "<u4").view("u1").reshape(*texels.shape, 4)
    if form == Format.D16_UNORM:
        return words[..., :2]
    if form not in _STENCIL:
        return words
    out = np.zeros((*texels.shape, 4 if form == Format.D24_UNORM_S8_UINT else 8), np.uint8)
    out[..., :4] = words
    out[..., _STENCIL[form]] = texels["stencil"]
    return out


def differences(found: np.ndarray, wanted: np.ndarray, form: Format) -> Differences:
    """Beside one another: both uint8, shape (height, width, bytes)."""
    if form in DEPTH_FORMATS:
        apart = np.abs(depths(found, form) - depths(wanted, form))
        stencils = 0
        if form in _STENCIL:
            pair = (stencil_values(data, form) for data in (found, wanted))
            stencils = int(np.not_equal(*pair).sum())
        return Differences(0, 0.0, int((apart > 0).sum()), int(apart.max(initial=0)), stencils)
    size = found.shape[-1]
    pair = [load(data.reshape(-1, size), colour_format(form)) for data in (found, wanted)]
    # Widened: differences of integers have a sign, and those of floats are exact.
    apart = np.abs(pair[0].astype(np.float64) - pair[1])
    return Differences(int((apart > 0).any(1).sum()), float(apart.max(initial=0)))


def stencil_values(data: np.ndarray, form: Format) -> np.ndarray | None:
    """Stencil values of texels: uint8, without the last axis; None, if the format has none."""
    return data[..., _STENCIL[form]] if form in _STENCIL else None


def depths(data: np.ndarray, form: Format) -> np.ndarray:
    """Depths as they are stored, int64: those of floats are in order, too."""
    size = {Format.D16_UNORM: 2, Format.D24_UNORM_S8_UINT: 3}.get(form, 4)
    words = np.zeros((*data.shape[:2], 4), np.uint8)
    words[..., :size] = data[..., :size]
    return words.view("<u4")[..., 0].astype(np.int64)


def picture(data: np.ndarray, form: Format) -> np.ndarray:
    """A surface of colours to look at, top down: uint8, shape (height, width, 3)."""
    rows, columns, size = data.shape
    return displayed(data.reshape(-1, size), form).reshape(rows, columns, 4)[::-1, :, :3]
