# SPDX-License-Identifier: BSD-2-Clause
"""State objects, with D3D11's names and defaults; each checks itself."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from fixfunc.models.annotations import check_types
from fixfunc.models.output.blend import Blend
from fixfunc.models.payload import integer
from fixfunc.models.raster import forced_samples
from fixfunc.models.texture import sampler
from fixfunc.spec.descriptors import TARGETS
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import (
    COLOURS_OF_SOURCE,
    BlendFactor,
    BlendOp,
    Compare,
    Cull,
    LogicOp,
    StencilOp,
)


@dataclass(frozen=True)
class RasterizerState:
    """D3D11_RASTERIZER_DESC2 [fs 15.1].

    Conservative coverage is of tier 1: triangles without area are left out, and there are neither
    depths nor several samples. A forced number of samples is 1, 4, 8 or 16 [fs 3.5.6]; 0: that of
    the targets.
    """

    wireframe: bool = False
    cull: Cull = Cull.BACK
    front_counter_clockwise: bool = False
    depth_bias: int = 0
    depth_bias_clamp: float = 0.0
    slope_scaled_depth_bias: float = 0.0
    depth_clip_enable: bool = True
    scissor_enable: bool = False
    multisample_enable: bool = False
    antialiased_line_enable: bool = False
    conservative_raster: bool = False
    forced_sample_count: int = 0

    def __post_init__(self):
        check_types(self)
        forced_samples.check_count(self.forced_sample_count)
        integer("depth_bias", self.depth_bias, -(1 << 31), (1 << 31) - 1)
        for name in ("depth_bias_clamp", "slope_scaled_depth_bias"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(name, "be a finite number", getattr(self, name))


@dataclass(frozen=True)
class StencilFace:
    """D3D11_DEPTH_STENCILOP_DESC."""

    fail: StencilOp = StencilOp.KEEP
    depth_fail: StencilOp = StencilOp.KEEP
    pass_: StencilOp = StencilOp.KEEP
    func: Compare = Compare.ALWAYS

    def __post_init__(self):
        check_types(self)


@dataclass(frozen=True)
class DepthStencilState:
    """D3D11_DEPTH_STENCIL_DESC [fs 17.8-17.12]."""

    depth_enable: bool = True
    depth_write: bool = True
    depth_func: Compare = Compare.LESS
    stencil_enable: bool = False
    stencil_read_mask: int = 0xFF
    stencil_write_mask: int = 0xFF
    front_face: StencilFace = field(default_factory=StencilFace)
    back_face: StencilFace = field(default_factory=StencilFace)

    def __post_init__(self):
        check_types(self)
        for name in ("stencil_read_mask", "stencil_write_mask"):
            integer(name, getattr(self, name), 0, 255)


@dataclass(frozen=True)
class RenderTargetBlend:
    """D3D11_RENDER_TARGET_BLEND_DESC1 [fs 17.1], and dithering, which D3D11 does not have."""

    blend_enable: bool = False
    src_blend: BlendFactor = BlendFactor.ONE
    dest_blend: BlendFactor = BlendFactor.ZERO
    blend_op: BlendOp = BlendOp.ADD
    src_blend_alpha: BlendFactor = BlendFactor.ONE
    dest_blend_alpha: BlendFactor = BlendFactor.ZERO
    blend_op_alpha: BlendOp = BlendOp.ADD
    write_mask: int = 15
    logic_op_enable: bool = False
    logic_op: LogicOp = LogicOp.NOOP
    dither_enable: bool = False

    def __post_init__(self):
        check_types(self)
        for name in ("src_blend_alpha", "dest_blend_alpha"):
            if getattr(self, name) in COLOURS_OF_SOURCE:
                raise InputError(name, "be no colour", getattr(self, name).name)
        integer("write_mask", self.write_mask, 0, 15)
        if self.logic_op_enable and self.blend_enable:
            raise InputError("logic_op_enable", "be off where blend_enable is on", True)

    @property
    def blend(self) -> Blend:
        """As the output merger takes it."""
        return Blend(
            self.blend_enable,
            self.src_blend,
            self.dest_blend,
            self.blend_op,
            self.src_blend_alpha,
            self.dest_blend_alpha,
            self.blend_op_alpha,
            self.write_mask,
            self.logic_op_enable,
            self.logic_op,
            self.dither_enable,
        )


@dataclass(frozen=True)
class BlendState:
    """D3D11_BLEND_DESC1: without ``independent_blend_enable`` the first target's holds for all."""

    render_target: Sequence[RenderTargetBlend] = (RenderTargetBlend(),)
    alpha_to_coverage_enable: bool = False
    independent_blend_enable: bool = False

    def __post_init__(self):
        check_types(self)
        integer("render_target", len(self.render_target), 1, TARGETS)
        if self.independent_blend_enable and any(t.logic_op_enable for t in self.render_target):
            raise InputError("logic_op_enable", "be off with independent_blend_enable", True)

    def of(self, target: int) -> Blend:
        """Blend state of a target."""
        if not self.independent_blend_enable:
            return self.render_target[0].blend
        if target < len(self.render_target):
            return self.render_target[target].blend
        return Blend()


@dataclass(frozen=True)
class SamplerState:
    """D3D11_SAMPLER_DESC [fs 7.18.3]; filters, reductions and address modes by name."""

    min_filter: str = "linear"
    mag_filter: str = "linear"
    mip_filter: str = "linear"
    address_u: str = "clamp"
    address_v: str = "clamp"
    address_w: str = "clamp"
    mip_lod_bias: float = 0.0
    max_anisotropy: int = 1
    border_color: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    min_lod: float = -3.402823466e38
    max_lod: float = 3.402823466e38
    reduction: str = "standard"
    comparison_func: Compare = Compare.NEVER

    def __post_init__(self):
        check_types(self)
        sampler.Sampler(
            self.min_filter,
            self.mag_filter,
            self.mip_filter,
            (self.address_u, self.address_v, self.address_w),
            tuple(self.border_color),
            self.mip_lod_bias,
            self.min_lod,
            self.max_lod,
            self.max_anisotropy,
            self.reduction,
            self.comparison_func,
        )
