# SPDX-License-Identifier: BSD-2-Clause
"""Draws whose every pixel is given: a target of any format, and a shader that looks it up."""

import struct

import numpy as np

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, RenderTargetBlend
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp
from tests.host.drawing import WHOLE, Scene
from tests.oracles.specification import numbers

SIDE = 16
ENDS = (0.0, 1.0, 0.5, -1.0, -0.0, 2.0, 1e-40, 1 / 255, 254.5 / 255, 1 / 510, 0.9999999)
ODD = (float("nan"), float("inf"), float("-inf"), 3e38, -3e38)


def colours(rng, odd=True, reach=1.25):
    """Colours of all pixels, a third of their channels at an end: float32, (SIDE, SIDE, 4)."""
    found = rng.uniform(-reach, reach, (SIDE, SIDE, 4)).astype(np.float32)
    chosen = np.float32(ENDS + (ODD if odd else ()))
    return np.where(rng.random(found.shape) < 0.35, rng.choice(chosen, found.shape), found)


class Board:
    """A target of ``SIDE`` by ``SIDE`` pixels; a draw covers all of it."""

    def __init__(self, form: str, samples: int = 1) -> None:
        self.scene = Scene(width=SIDE, height=SIDE, samples=samples)
        self.form = form
        self.texture = self.scene.device.create_texture2d(
            Format[form], SIDE, SIDE, 1, 1, samples, Bind.RENDER_TARGET
        )
        self.target = self.scene.device.create_render_target_view(self.texture)
        self.scene.context.om.set_render_targets([self.target], None)
        self.scene.context.rs.set_viewports([Viewport(width=SIDE, height=SIDE)])

    def fill(self, raw: np.ndarray) -> None:
        """Write texels: uint8."""
        self.scene.context.update_subresource(self.texture, raw)

    def paint(self, *sources: np.ndarray, **declared) -> None:
        """Draw all pixels, each by the shader's own colours; (SIDE, SIDE, 4) of each source."""

        def pixel(quads, _bound):
            y, x = np.clip(quads.y, 0, SIDE - 1), np.clip(quads.x, 0, SIDE - 1)
            return PixelResults([source[y, x] for source in sources])

        self.scene.shade(pixel, **declared)
        self.scene.draw(WHOLE)

    def raw(self) -> np.ndarray:
        """What is stored: uint8, shape (SIDE, SIDE, samples, bytes)."""
        return self.scene.context.read(self.texture).copy()


def unpacked(raw: np.ndarray, form: str) -> dict[str, np.ndarray]:
    """Channels of texels as integers, by letter; SNORM and SINT have a sign."""
    word = np.zeros(raw.shape[:-1], object)
    for place in range(raw.shape[-1]):
        word = word + (raw[..., place].astype(object) << 8 * place)
    found = {}
    begin = 0
    for at, bits, kind in numbers.channels(form):
        value = np.array(word >> begin & (1 << bits) - 1, object)
        if kind in ("SNORM", "SINT"):
            value = np.where(value >> bits - 1, value - (1 << bits), value)
        found[at] = value
        begin += bits
    return found


def random_blend(rng, dual: bool) -> dict[str, object]:
    """Factors and operations by name, weighted to those that are not plain."""
    factors = [its.name for its in BlendFactor if dual or "SRC1" not in its.name]
    plain = [name for name in factors if not name.endswith("_COLOR")]
    operations = ["ADD", "SUBTRACT", "REV_SUBTRACT"] + [] if dual else [o.name for o in BlendOp]
    pick = {"enable": True, "write": int(rng.choice([15, 15, 15, 7, 8, 5, 0]))}
    for name, choices in (
        ("source", factors),
        ("target", factors),
        ("op", operations),
        ("source_alpha", plain),
        ("target_alpha", plain),
        ("op_alpha", operations),
    ):
        pick[name] = str(rng.choice(choices))
    return pick


def state_of(pick: dict[str, object], **more) -> BlendState:
    """The API's state of a blend by names."""
    target = RenderTargetBlend(
        pick["enable"],
        BlendFactor[pick["source"]],
        BlendFactor[pick["target"]],
        BlendOp[pick["op"]],
        BlendFactor[pick["source_alpha"]],
        BlendFactor[pick["target_alpha"]],
        BlendOp[pick["op_alpha"]],
        pick["write"],
    )
    return BlendState((target,), **more)


def float_of(raw: int) -> float:
    """The float32 of 32 bits."""
    return struct.unpack("<f", struct.pack("<I", raw))[0]
