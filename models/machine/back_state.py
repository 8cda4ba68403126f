# SPDX-License-Identifier: BSD-2-Clause
"""State of the back half: what the stages from triangles to targets take."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fixfunc.models.back_half.back_half import ALL_SAMPLES
from fixfunc.models.output.blend import Blend
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults, PixelShader
from fixfunc.models.raster import forced_samples
from fixfunc.spec.errors import InputError


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
    forced_samples : int
        Of the rasterizer, whatever targets have; 0: those of the targets [fs 3.5.6].
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
    sample_mask: int = ALL_SAMPLES
    conservative: bool = False
    alpha_to_coverage: bool = False
    forced_samples: int = 0

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
    def target_mask(self) -> int:
        """The sample mask: it is of targets, and without any of no effect [fs 3.5.6.4]."""
        has_targets = self.depth is not None or any(view is not None for view in self.colours)
        return self.sample_mask if has_targets else ALL_SAMPLES

    @property
    def is_off(self) -> bool:
        """Nothing that is rasterized could have an effect [fs 16.9.1]."""
        return self.shader is None and not (self.draw["depth_test"] or self.draw["stencil_test"])


def check_forced(
    count: int, samples: Iterable[int], has_depths: bool, shader: PixelShader | None
) -> None:
    """Raise ``InputError`` for what does not go with a forced number of samples [fs 3.5.6.2].

    Parameters
    ----------
    count : int
    samples : iterable of int
        Of each target of colours.
    has_depths : bool
        There is a target of depths, or a test of them or of stencil values is on.
    shader : PixelShader, optional
    """
    forced_samples.check_count(count)
    if not count:
        return
    if has_depths:
        raise InputError("forced_sample_count", "be 0 with depths and their tests", count)
    if count > 1 and any(its > 1 for its in samples):
        raise InputError("forced_sample_count", "be 0 or 1 with targets of several samples", count)
    if shader is not None and (shader.depth is not None or shader.by_sample):
        rule = "be 0 with a shader that puts out depths, or is asked for each sample"
        raise InputError("forced_sample_count", rule, count)
