# SPDX-License-Identifier: BSD-2-Clause
"""Shaders of a machine: numpy callables of inputs and of what is bound, and what they declare.

A vertex or a domain shader is a callable alone. Every callable takes the inputs of its stage, and
:class:`fixfunc.models.machine.bindings.Bindings`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fixfunc.models.annotations import check_types
from fixfunc.models.frontend.compute_stage import ComputeShader
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.stream_output import Declaration
from fixfunc.models.pixel.pixel_stage import PixelShader
from fixfunc.models.tessellation.stages import HullResults
from fixfunc.spec.descriptors import Stage
from fixfunc.spec.draw import Topology

__all__ = ["PROGRAMS", "ComputeShader", "GeometryShader", "HullShader", "PixelShader"]


@dataclass(frozen=True)
class HullShader:
    """A hull shader and what it declares [fs 10].

    Parameters
    ----------
    function : callable
        Takes :class:`fixfunc.models.tessellation.stages.HullPatches`.
    kind, partitioning, output : str
        As :class:`fixfunc.models.tessellation.stages.Tessellation` takes them.
    """

    function: Callable[..., HullResults]
    kind: str = "quad"
    partitioning: str = "fractional_odd"
    output: str = "triangle_cw"

    def __post_init__(self):
        check_types(self)


@dataclass(frozen=True)
class GeometryShader:
    """A geometry shader and what it declares [fs 13], and what of its streams goes to buffers.

    Parameters
    ----------
    function : callable, optional
        Takes :class:`fixfunc.models.geometry.geometry_stage.GeometryInputs`. Without one,
        primitives pass as they are, to stream output.
    output, most, instances
        As :class:`fixfunc.models.geometry.geometry_stage.GeometryStage` takes them.
    stream_output : mapping of stream to Declaration
    rasterized : int, optional
        The stream that is drawn; None: nothing is.
    """

    function: Callable[..., Emitted] | None = None
    output: Topology = Topology.TRIANGLE_STRIP
    most: int = 64
    instances: int = 1
    stream_output: Mapping[int, Declaration] = field(default_factory=dict)
    rasterized: int | None = 0

    def __post_init__(self):
        check_types(self)


# Stages whose shader declares something; others are callables.
PROGRAMS = {
    Stage.HULL: HullShader,
    Stage.GEOMETRY: GeometryShader,
    Stage.PIXEL: PixelShader,
    Stage.COMPUTE: ComputeShader,
}
