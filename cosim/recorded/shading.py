# SPDX-License-Identifier: BSD-2-Clause
"""Draws of OpenGL's fixed functions, shaded by the golden interpolator and the golden sampler."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim.recorded.frame import (
    Address,
    Base,
    Environment,
    Fog,
    Interpolation,
    RecordedFrame,
)
from fixfunc.cosim.recorded.lookup import NONE, Lookup
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.states import SamplerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.output.formats import colour_format, encode, load
from fixfunc.models.pixel.pixel_inputs import PixelQuads
from fixfunc.models.pixel.pixel_shader import LOCATIONS, PixelResults
from fixfunc.spec.dxgi import Format

MOST_ATTRIBUTES = 6  # colours of two sides, coordinates, fog
FILTERS = "point", "linear"
_BACKS = "gl_BackColor", "gl_BackSecondaryColor"
_WAYS = "perspective", "linear", "constant"


class Unshaded(Exception):
    """A draw that cannot be shaded: what it needs, in words."""


class Shading:
    """A draw's shaders, and what is bound for them.

    Parameters
    ----------
    frame : RecordedFrame
    number : int
        Of the draw.

    Attributes
    ----------
    tests : int
        Fragments of which the test of alpha comes out otherwise.

    Raises
    ------
    Unshaded
        The draw is no one of fixed functions with a 2D texture at most.
    """

    def __init__(self, frame: RecordedFrame, number: int) -> None:
        self._frame = frame
        self._draw = frame.draws[number]
        self._number = number
        _check_kind(frame, number)
        self._state = frame.shadings[number]
        bindings = frame.draw_bindings(number)
        used = bindings[bindings["environment"] != Environment.SHADER]
        if len(used) > 1:
            raise Unshaded(f"textures of {len(used)} units")
        self.binding = used[0] if len(used) else None
        needed = self._needed()
        rows = frame.draw_varyings(number)
        names = [frame.names[it] for it in rows["name"]]
        for name in needed:
            if name not in names:
                raise Unshaded(f"vertices without {name}")
        # Others are not interpolated: a program may have more than there are attributes.
        wanted = {*needed, *_BACKS} & set(names)
        self._places = [names.index(name) for name in sorted(wanted)]
        self._names = sorted(wanted)
        self._varyings = rows[self._places]
        if self.binding is not None:
            self._check_texture()
        self._parts: list[np.ndarray] = []
        self.tests = 0

    def _needed(self):
        """Names of varyings without which nothing can be shaded."""
        names = ["gl_FrontColor"]
        if self.binding is not None:
            names.append(self._coordinates)
        if self._state["colour_sum"]:
            names.append("gl_FrontSecondaryColor")
        if self._state["fog"]:
            names.append("gl_FogFragCoord")
        return names

    @property
    def _coordinates(self):
        return f"gl_TexCoord[{self.binding['unit']}]"

    @property
    def texture(self) -> int | None:
        """Its number; None of a draw without."""
        return None if self.binding is None else int(self.binding["texture"])

    def _check_texture(self):
        if self.texture < 0:
            raise Unshaded("an incomplete texture")
        row = self._frame.textures[self.texture]
        base = Base(int(row["base"]))
        is_decal = self.binding["environment"] == Environment.DECAL
        if row["dimension"] != 2 or row["cube"] or row["rectangle"] or row["layers"] > 1:
            raise Unshaded("a texture that is not 2D")
        if self.sampler_row["comparison"]:
            raise Unshaded("a texture of depths that are compared")
        if "INT" in Format(int(row["form"])).name:
            raise Unshaded("a texture of integers")
        if is_decal and base not in (Base.COLOUR, Base.COLOUR_ALPHA):
            raise Unshaded("GL_DECAL of a texture without colours")

    @property
    def sampler_row(self) -> np.void:
        """State of its sampler: :data:`fixfunc.cosim.recorded.frame.SAMPLER`."""
        return self._frame.samplers[self.binding["sampler"]]

    # What is set of a context.

    def vertices(self) -> np.ndarray:
        """Attributes, four floats each: float32, shape (n, varyings, 4).

        Flat ones are those of the triangle's provoking corner.
        """
        values = self._frame.draw_values(self._number)
        every = self._frame.draw_varyings(self._number)["components"].astype(np.int64)
        begins = np.cumsum(every) - every
        out = np.zeros((len(values), len(self._varyings), 4), np.uint32)
        for n, (place, row) in enumerate(zip(self._places, self._varyings, strict=True)):
            begin, count = begins[place], every[place]
            out[:, n, :count] = values[:, begin : begin + count]
            if row["interpolation"] == Interpolation.CONSTANT:
                corners = out[:, n].reshape(-1, 3, 4)
                corners[:] = corners[:, int(self._state["provoking"])][:, None]
        return out.view(np.float32)

    @property
    def modes(self) -> list[str]:
        """How attributes are interpolated."""
        found = []
        for row in self._varyings:
            way, where = _WAYS[row["interpolation"]], LOCATIONS[row["location"]]
            found.append(way if where == "centre" or way == "constant" else f"{way}_{where}")
        return found

    def sampler(self) -> SamplerState:
        """State of its sampler."""
        row = self.sampler_row
        return SamplerState(
            *(FILTERS[row[name]] for name in ("min_filter", "mag_filter", "mip_filter")),
            *(Address(int(mode)).name.lower() for mode in row["address"]),
            mip_lod_bias=float(row["bias"]),
            max_anisotropy=int(row["anisotropy"]),
            border_color=row["border"].tolist(),
            min_lod=float(row["min_lod"]),
            max_lod=float(row["max_lod"]),
        )

    # Shaders.

    def vertex(self, waves: VertexWaves, _bound: object) -> VertexResults:
        """The vertex shader: what was recorded."""
        count = len(self._varyings)
        attributes = np.stack([waves.floats(1 + n) for n in range(count)], 2)
        return VertexResults(waves.floats(0), attributes)

    def pixel(
        self, lookup: Lookup, is_counted: bool
    ) -> Callable[[PixelQuads, Bindings], PixelResults]:
        """A pixel shader that stands for the fixed functions, and compares itself with a lookup."""

        def shade(quads: PixelQuads, bound: Bindings) -> PixelResults:
            colours = self._colour(quads, bound)
            covered, found, recorded = lookup.recorded(quads)
            known = found != NONE
            visible = lookup.visible(colours[covered][:, 3])
            if is_counted:
                self._note(colours[covered][known], recorded[known])
                differs = visible != lookup.visible(recorded[:, 3])
                self.tests += int((differs & known).sum())
            discarded = np.zeros(covered.shape, bool)
            discarded[covered] = ~known | ~visible
            return PixelResults(colours, discarded)

        return shade

    def _colour(self, quads, bound):
        """Colours of quads: float32, shape (q, 2, 2, 4)."""
        colours = self._sided(quads, "Color")
        if self.binding is not None:
            colours = self._textured(quads, bound, colours)
        if self._state["colour_sum"]:
            more = self._sided(quads, "SecondaryColor")
            colours[..., :3] = np.clip(colours[..., :3] + more[..., :3], 0, 1)
        if self._state["fog"]:
            colours[..., :3] = self._fogged(quads, colours[..., :3])
        return np.clip(colours, 0, 1)

    def _attribute(self, quads, name):
        return quads.floats(self._names.index(name))

    def _sided(self, quads, name):
        """A colour of the front, or where it is turned away of the back, if that has its own."""
        front, back = f"gl_Front{name}", f"gl_Back{name}"
        colours = self._attribute(quads, front).copy()
        if self._state["two_side"] and back in self._names:
            behind = ~quads.front
            colours[behind] = self._attribute(quads, back)[behind]
        return colours

    def _textured(self, quads, bound, colours):
        """Behind the texture environment."""
        place = self._attribute(quads, self._coordinates)
        with np.errstate(divide="ignore", invalid="ignore"):
            place = place[..., :2] / place[..., 3:]
        # Of coordinates before any clamp: what lies beyond an edge is not magnified.
        slopes = quads.derivatives(place)
        for axis in range(2):
            if self.sampler_row["clamped"] >> axis & 1:
                place[..., axis] = np.clip(place[..., axis], 0, 1)
        texel = bound.sample(0, 0, np.ascontiguousarray(place), gradients=slopes)
        row = self._frame.textures[self.texture]
        ends = np.zeros((*texel.shape[:-1], 2), np.float32) + np.float32([0, 1])
        texel = np.concatenate([texel, ends], -1)[..., row["swizzle"]]
        how = Environment(int(self.binding["environment"]))
        return environment(how, Base(int(row["base"])), colours, texel)

    def _fogged(self, quads, colours):
        state = self._state
        far = np.abs(self._attribute(quads, "gl_FogFragCoord")[..., :1])
        density, start, end = (np.float32(state[f"fog_{it}"]) for it in ("density", "start", "end"))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if state["fog"] == Fog.LINEAR:
                share = (end - far) / (end - start)
            elif state["fog"] == Fog.EXP:
                share = np.exp(-density * far)
            else:
                share = np.exp(-((density * far) ** 2))
        share = np.clip(np.nan_to_num(share), 0, 1)
        return share * colours + (1 - share) * state["fog_colour"][:3]

    # What was found.

    def _note(self, colours, recorded):
        """Note how far colours are from recorded ones, both as the target stores them."""
        form = Format(int(self._draw["form"]))
        if form == Format.UNKNOWN:
            return
        stored = colour_format(form)
        values = [
            load(encode(np.ascontiguousarray(it), form), stored) for it in (colours, recorded)
        ]
        apart = np.abs(values[0].astype(np.float64) - values[1])
        if stored.kind != "FLOAT":
            apart /= (1 << 16) - 1 if stored.is_srgb else stored.most
        self._parts.append(apart.max(1, initial=0))

    def apart(self) -> np.ndarray:
        """How far all fragments are, as parts of what is 1.0: float64, shape (n,)."""
        return np.concatenate([np.zeros(0), *self._parts])


def _check_kind(frame, number):
    """Refuse what is not of the fixed functions."""
    if not len(frame.shadings):
        raise Unshaded("a file of version 1, without varyings")
    state = frame.shadings[number]
    if state["program"]:
        raise Unshaded("a program of shaders")
    if state["reason"] >= 0:
        raise Unshaded(frame.names[state["reason"]])


def environment(how: Environment, base: Base, colour: np.ndarray, texel: np.ndarray) -> np.ndarray:
    """What a texture environment makes of a colour and a texel [OpenGL 2.1, tables 3.22 and 3.23].

    Parameters
    ----------
    how : Environment
    base : Base
        What of the texture takes part: the rest of the colour stays.
    colour, texel : ndarray of float32, shape (..., 4)

    Returns
    -------
    ndarray of float32, shape (..., 4)
    """
    out = colour.copy()
    rgb, alpha = out[..., :3], out[..., 3]
    has_colour, has_alpha = base != Base.ALPHA, base != Base.COLOUR
    if how == Environment.DECAL:
        share = texel[..., 3:] if base == Base.COLOUR_ALPHA else np.float32(1)
        rgb[:] = rgb * (1 - share) + texel[..., :3] * share
        return out
    if has_colour:
        if how == Environment.MODULATE:
            rgb *= texel[..., :3]
        elif how == Environment.REPLACE:
            rgb[:] = texel[..., :3]
        else:
            rgb[:] = np.clip(rgb + texel[..., :3], 0, 1)
    if has_alpha:
        if how == Environment.REPLACE:
            alpha[:] = texel[..., 3]
        elif how == Environment.ADD and base == Base.INTENSITY:
            alpha[:] = np.clip(alpha + texel[..., 3], 0, 1)
        else:
            alpha *= texel[..., 3]
    return out
