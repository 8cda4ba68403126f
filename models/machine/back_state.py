# SPDX-License-Identifier: BSD-2-Clause
"""State of the back half: what the stages from triangles to targets take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fixfunc.models.output.blend import Blend
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults, PixelShader


@dataclass(frozen=True)
class BackState:
    """State of all stages of the back half.

    Parameters
    ----------
    colours : sequence of VIEW or None
        Up to eight targets.
    depth : VIEW, optional
    draw : dict
        Fields of the draw state: cull, front_ccw, bias, depth and stencil.
    rectangles : sequence of (viewport, scissor)
        By viewport: extents and pixels, as :func:`fixfunc.models.state.draw_state` takes them.
    depth_ranges : sequence of (float, float)
        By viewport.
    shader : PixelShader, optional
        Without one there are no colours.
    function : callable, optional
        The shader's function, with what is bound to it.
    blends : sequence of Blend
        By target.
    factor : ndarray of float32, shape (4,)
    sample_mask : int
    conservative : bool
        Outer coverage: of one sample, without depths.
    alpha_to_coverage : bool
        Of the shader's first colour.
    """

    colours: Sequence[np.void | None]
    depth: np.void | None
    draw: dict
    rectangles: Sequence[tuple]
    depth_ranges: Sequence[tuple[float, float]]
    shader: PixelShader | None
    function: Callable[[PixelQuads], PixelResults] | None
    blends: Sequence[Blend]
    factor: np.ndarray
    sample_mask: int = 0xFFFFFFFF
    conservative: bool = False
    alpha_to_coverage: bool = False

    @property
    def does(self) -> tuple[str, ...]:
        """What decides when tests are made, as draw states take it."""
        if self.shader is None:
            return ("plain",)
        drops = self.by_alpha and not self.shader.early
        return (*self.shader.does, "discard") if drops else self.shader.does

    @property
    def by_alpha(self) -> bool:
        """Alpha decides about coverage, if the shader does not itself [fs 16.9.4]."""
        return self.alpha_to_coverage and not (self.shader and self.shader.coverage)

    @property
    def is_off(self) -> bool:
        """Nothing that is rasterized could have an effect [fs 16.9.1]."""
        return self.shader is None and not (self.draw["depth_test"] or self.draw["stencil_test"])
