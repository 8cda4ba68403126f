# SPDX-License-Identifier: BSD-2-Clause
"""Textures at the edges of their rules."""

from typing import Any

import numpy as np

from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import FORMAT, LINE, LINE_NUMBER
from fixfunc.tb.frontend import streams

CHANGED = (
    *("width", "height", "last", "format", "mode_u", "mode_v", "base", "anisotropy"),
    *("extended", "last_layer", "cube", "coded", "distance", "mode_table"),
)


def change_texture(rng: np.random.Generator, fields: dict[str, Any], reader: Any) -> None:
    """Change a size, a number or a level of a TEXTURE packet to one at an edge.

    ``reader`` is a :class:`fixfunc.rtl.frontend.command_reader.CommandReaderParams`.
    """
    name = rng.choice(CHANGED)
    if name in ("width", "height"):
        fields[name] = rng.choice((0, 1, 64, 65))
    elif name == "last":
        bits = int(max(fields["width"], fields["height"])).bit_length()
        fields[name] = rng.choice((bits - 1, bits, 15))
    elif name == "format":
        few = 1 << FORMAT
        fields[name] = rng.choice((*(form % few for form in reader.texture_formats), few - 1))
    elif name == "anisotropy":
        fields[name] = rng.choice((reader.texture_anisotropy, reader.texture_anisotropy + 1, 31))
    elif name in ("last_layer", "cube"):
        fields[name] = 1
    elif name in ("extended", "coded"):
        fields[name] = 1 - fields[name]
    elif name == "distance":
        fields[name] = rng.choice((1, 4, fields[name], (1 << LINE_NUMBER) - 4))
    elif name == "mode_table":
        fields[name] = streams.SIZE // (TRANSFER // 8) + rng.integers(-2, 2)
    elif name == "base":
        end = streams.SIZE // LINE - (1 << int(rng.integers(0, 9)))
        fields[f"base{int(rng.integers(0, fields['last'] + 1))}"] = end + rng.integers(-1, 2)
    else:
        fields[name] = rng.integers(0, 8)
