# SPDX-License-Identifier: BSD-2-Clause
"""What a shader takes and returns for tiles of the top."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.back_half.back_half import Coloured
from fixfunc.models.depth.depth_unit import Shaded
from fixfunc.models.frontend.vertex_ring import Assembly
from fixfunc.models.output.output_merger import Numbers
from fixfunc.models.payload import carried
from fixfunc.models.pixel.pixel_pipe import PixelPipe
from fixfunc.spec.payloads import tested


class Shading(NamedTuple):
    """Inputs of a shader."""

    tiles: np.ndarray  # fields of fixfunc.spec.payloads.tested; masks hold samples that go out
    state: np.void  # the draw state
    triangle: np.ndarray  # of each tile: the number of its triangle since the stream began
    assembly: Assembly | None = None  # of these triangles, where there is a vertex ring
    formats: Sequence[int] = ()  # of each colour that is asked for; 0 of those that are not


class Shades(NamedTuple):
    """Outputs of a shader for tiles; what is not the colour counts in late draws alone."""

    # uint32, shape (n, edge, edge), of every output; or (outputs, n, edge, edge)
    colours: np.ndarray
    survivors: np.ndarray | None = None  # bool, shape (n, edge, edge): not discarded; default all
    depths: np.ndarray | None = None  # uint32, shape (n, edge, edge): in place of the planes'
    replaces: np.ndarray | None = None  # bool, shape (n,): tiles with such depths; default all
    fractions: np.ndarray | None = None  # uint32, shaped as colours: what rounded them; default 0

    def complete(self, count: int, edge: int) -> "Shades":
        """The same of ``count`` tiles with every field filled in."""
        shape = count, edge, edge
        with_depths = self.depths is not None
        fractions = np.uint32(0) if self.fractions is None else self.fractions
        of_planes = (*np.shape(self.colours)[:-3], *shape)
        return Shades(
            np.broadcast_to(self.colours, of_planes),
            np.broadcast_to(True if self.survivors is None else self.survivors, shape),
            np.broadcast_to(self.depths if with_depths else np.uint32(0), shape),
            np.broadcast_to(with_depths if self.replaces is None else self.replaces, count),
            np.broadcast_to(fractions, of_planes),
        )


def flat(shading: Shading) -> np.ndarray:
    """The shader that is built in: the colour of the draw state."""
    return np.full((len(shading.tiles), 1, 1), shading.state["flat_colour"], np.uint32)


def by_pixel_states(pipe: PixelPipe) -> Callable[[Shading], Shades]:
    """The shader that is built in where there is a vertex ring."""

    def shade(shading: Shading) -> Shades:
        state = shading.state
        made = pipe.shade(
            shading.tiles,
            int(state["samples"]),
            shading.triangle,
            shading.assembly,
            shading.formats,
            bool(state["conservative"]),
        )
        words = made.colours, made.fractions
        colours, fractions = (its[0] for its in words) if len(shading.formats) == 1 else words
        return Shades(colours, made.survivors, fractions=fractions)

    return shade


class StreamShader:
    """A shader of a list of triangles, as the back half sees it.

    Parameters
    ----------
    shader : callable
        Takes :class:`Shading`, returns colours or :class:`Shades`.
    state : numpy.void
        The draw state.
    triangle : ndarray of int, shape (n,)
        Of each tile: the number of its triangle since the stream began.
    covered : ndarray of uint, shape (n,)
        Samples of each tile that its triangle covers.
    edge : int
        Samples along a tile's edge.
    assembly : Assembly, optional
        Of the triangles of the stream.
    formats : sequence of int
        Of each colour that is asked for; 0 of those that are not.

    Attributes
    ----------
    shades : Shades
        Complete: of the tiles that were shaded in the end.
    """

    def __init__(
        self,
        shader: Callable[[Shading], np.ndarray | Shades],
        state: np.void,
        triangle: np.ndarray,
        covered: np.ndarray,
        edge: int,
        assembly: Assembly | None = None,
        formats: Sequence[int] = (),
    ) -> None:
        self._shader = shader
        self._state = state
        self._triangle = triangle
        self._covered = covered
        self._edge = edge
        self._assembly = assembly
        self._formats = formats

    def late(self, tiles: np.ndarray, numbers: np.ndarray) -> Shaded:
        """What the shader does to samples before a late test."""
        made = self._shade(tiles, numbers)
        return Shaded(made.survivors, made.depths, made.replaces)

    def finish(self, tiles: np.ndarray, numbers: np.ndarray, passed: np.ndarray) -> Coloured:
        """Colours of tiles: all samples that passed are written."""
        self.shades = self._shade(tiles, numbers)
        return Coloured(Numbers(self.shades.colours, self.shades.fractions), passed)

    def _shade(self, tiles, numbers):
        asked = carried(tiles, tested(self._edge))
        asked["covered"] = self._covered[numbers]
        triangle = self._triangle[numbers]
        shading = Shading(asked, self._state, triangle, self._assembly, self._formats)
        made = self._shader(shading)
        made = made if isinstance(made, Shades) else Shades(made)
        return made.complete(len(tiles), self._edge)
