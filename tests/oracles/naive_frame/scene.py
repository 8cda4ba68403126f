# SPDX-License-Identifier: BSD-2-Clause
"""What is drawn: a frame, its draws and all of their state, as plain values.

Enumerations are those of :mod:`fixfunc.spec.state` by their numbers.
"""

from dataclasses import dataclass, field

from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, LogicOp, StencilOp

SIZE = 64  # pixels of a target along each axis


@dataclass(frozen=True)
class Vertex:
    """A corner in clip space, and attributes of four float32 each."""

    position: tuple[float, float, float, float]
    attributes: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class Face:
    """Stencil state of one face."""

    fail: int = StencilOp.KEEP
    depth_fail: int = StencilOp.KEEP
    pass_: int = StencilOp.KEEP
    func: int = Compare.ALWAYS


@dataclass(frozen=True)
class Target:
    """Blend state of one target."""

    enable: bool = False
    source: int = BlendFactor.ONE
    target: int = BlendFactor.ZERO
    op: int = BlendOp.ADD
    source_alpha: int = BlendFactor.ONE
    target_alpha: int = BlendFactor.ZERO
    op_alpha: int = BlendOp.ADD
    mask: int = 15
    logic: bool = False
    logic_op: int = LogicOp.NOOP


@dataclass(frozen=True)
class Shader:
    """A pixel shader of a fixed kind.

    Attribute n is the colour of target n, and of a second source. The last attribute steers what
    is declared: a pixel is discarded where its x is below zero, its y is the depth that is put
    out, and its z times 256 is the coverage. A depth that is not ``any`` is the greater, or the
    lesser, of that and the position's.
    """

    modes: tuple[str, ...]
    discards: bool = False
    depth: str | None = None
    coverage: bool = False
    early: bool = False
    position: str = "centre"

    @property
    def by_sample(self) -> bool:
        """It runs once a sample."""
        return self.position == "sample" or any(mode.endswith("_sample") for mode in self.modes)


@dataclass(frozen=True)
class Draw:
    """A draw call: triangles in order, and all state."""

    triangles: tuple[tuple[Vertex, Vertex, Vertex], ...]
    shader: Shader
    depth_test: bool = False
    depth_write: bool = True
    depth_func: int = Compare.LESS
    bias: int = 0
    bias_slope: float = 0.0
    bias_clamp: float = 0.0
    stencil_test: bool = False
    stencil_read: int = 255
    stencil_write: int = 255
    stencil_ref: int = 0
    front: Face = Face()
    back: Face = Face()
    cull: int = Cull.NONE
    front_ccw: bool = False
    depth_clip: bool = True
    scissor: tuple[int, int, int, int] | None = None
    viewport: tuple[float, ...] = (0.0, 0.0, SIZE, SIZE, 0.0, 1.0)
    targets: tuple[Target, ...] = (Target(),)  # one: of all targets
    factor: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    sample_mask: int = 0xFFFFFFFF
    alpha_to_coverage: bool = False


@dataclass(frozen=True)
class Frame:
    """A frame: targets, what they are cleared to, and draws."""

    draws: tuple[Draw, ...]
    samples: int = 1
    depth: Format | None = Format.D24_UNORM_S8_UINT
    clear_depth: float = 1.0
    clear_stencil: int = 0
    colours: tuple[Format, ...] = (Format.R8G8B8A8_UNORM,)
    clear_colours: tuple[tuple[float, ...], ...] = field(default=((0.0, 0.0, 0.0, 0.0),))
