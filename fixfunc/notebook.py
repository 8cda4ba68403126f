# SPDX-License-Identifier: BSD-2-Clause
"""Frames in a notebook: a mesh is loaded and rendered by the golden models, and shows itself.

The teapot, and what a :class:`~fixfunc.d3d11.Device` has drawn, need numpy alone; files need the
extra ``mesh``.
"""

import base64
import html
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from fixfunc.cosim import command_line, files
from fixfunc.cosim.figures import counters
from fixfunc.models.host.device import Device
from fixfunc.models.host.resources import Texture
from fixfunc.models.payload import integer
from fixfunc.models.scene import render as scene_render
from fixfunc.models.scene.scene import Scene, check_memory, teapot
from fixfunc.models.state import draw_state
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

_SCENES = (".gltf", ".glb")
_SHOWN = 5  # reasons of draws that left nothing
_SWAPPED = {Format.B8G8R8A8_UNORM, Format.B8G8R8A8_UNORM_SRGB}
_PLAIN = {Format.R8G8B8A8_UNORM, Format.R8G8B8A8_UNORM_SRGB}


@dataclass
class Frame:
    """A picture and what was counted of it.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    facts : str
        One line.
    counters : mapping of str to int
        By name: :mod:`fixfunc.cosim.figures.counters` has those of frames in words.

    In a notebook it shows the picture, the line, and the counters, folded.
    """

    picture: np.ndarray = field(repr=False)
    facts: str = ""
    counters: Mapping[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        picture = np.asarray(self.picture)
        if picture.dtype != np.uint8 or picture.shape[2:] != (3,) or not picture.size:
            found = f"{picture.dtype} of {picture.shape}"
            raise InputError("picture", "be uint8 of shape (height, width, 3)", found)

    @classmethod
    def of(cls, device: Device, texture: Texture) -> Self:
        """What a device has drawn to a texture: level 0 of its first layer, the mean of samples.

        Parameters
        ----------
        device : Device
        texture : Texture
            Of 8 bits a channel, red, green, blue and alpha in either order.

        Raises
        ------
        InputError
            A texture of another format, or one that the device does not read.
        """
        form = texture.layout.form
        if form not in _PLAIN | _SWAPPED:
            names = ", ".join(sorted(it.name for it in _PLAIN | _SWAPPED))
            raise InputError("format of the texture", f"be one of {names}", form.name)
        image = _pixels(device, texture)
        image = image[..., [2, 1, 0]] if form in _SWAPPED else image[..., :3]
        height, width = image.shape[:2]
        draws = list(device.draws)
        drawn = sum(draw.counts["triangles"] for draw in draws)
        facts = f"{width}x{height}, {texture.layout.samples}x: {len(draws)} draws, "
        facts += f"{drawn} triangles"
        empty = [f"draw {draw.number}: {draw.reason}" for draw in draws if draw.reason]
        facts = "; ".join([facts, *empty[:_SHOWN]])
        return cls(np.ascontiguousarray(image), facts, dict(device.machine.totals))

    def png(self) -> bytes:
        """The picture as a PNG file."""
        height, width, _ = self.picture.shape
        rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter: none
        rows[:, 1:] = self.picture.reshape(height, -1)
        header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
        chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))

    def save(self, path: str | Path) -> None:
        """Write the picture as PNG, whole or not at all; a bad place raises ``InputError``."""
        files.write(files.open_file(Path(path)), self.png())

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png()).decode()
        facts = html.escape(self.facts)
        words = counters.table()
        rows = "".join(_row(name, words.get(name), n) for name, n in self.counters.items() if n)
        return (
            f'<figure><img alt="{facts}" src="data:image/png;base64,{data}">'
            f"<figcaption>{facts}</figcaption></figure>"
            f"<details><summary>Counters</summary><table>{rows}</table></details>"
        )


def _chunk(chunk):
    """A chunk of a PNG file: length, name, data, check [PNG 5.3]."""
    name, data = chunk
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _row(name, words, count):
    """A counter as a row of a table: in words, where it has some."""
    unit = words.unit if words else ""
    what = words.words if words else name
    cells = html.escape(what), f"{count:,}", html.escape(unit)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _pixels(device, texture):
    """Means of the samples of a texture: uint8, shape (height, width, 4)."""
    if texture.layout.samples == 1:
        return device.context.read(texture)[:, :, 0]
    width, height, _ = texture.layout.size_of(0)
    shown = device.create_texture2d(texture.layout.form, width, height)
    try:
        device.context.resolve_subresource(shown, (0, 0), texture, (0, 0))
        return device.context.read(shown)[:, :, 0]
    finally:
        device.release(shown)


@dataclass(frozen=True)
class Model:
    """What can be rendered.

    Parameters
    ----------
    name : str
    draw : callable
        Takes width, height and samples; returns :class:`Frame`.
    """

    name: str
    draw: Callable[[int, int, int], Frame] = field(repr=False)


def load(source: str | os.PathLike = "teapot", divisions: int = 8) -> Model:
    """Load the teapot, a mesh (.obj, .ply, .stl), or a scene (.gltf, .glb).

    Parameters
    ----------
    source : str or path
        A file, or "teapot".
    divisions : int
        Along each edge of the teapot's patches, 1 to 64.

    Raises
    ------
    InputError
        No such file, a format that is not known, or a number out of range.
    MeshError
        A file that cannot be read, or holds nothing to draw.
    ModuleNotFoundError
        The extra ``mesh`` is not installed, which a file needs.
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError("source", "be 'teapot', or a path", source)
    if str(source) == "teapot":
        return Model("teapot", _drawer(*teapot(integer("divisions", divisions, 1, 64))))
    path = Path(source)
    try:
        return _scene(path) if path.suffix.lower() in _SCENES else _mesh(path)
    except ModuleNotFoundError as error:
        text = command_line.missing(error)
        if text is None:
            raise
        raise ModuleNotFoundError(text, name=error.name) from error


def _mesh(path):
    """A file of triangles."""
    from fixfunc.cosim.frame import mesh

    return Model(path.stem, _drawer(*mesh.load(path)))


def _drawer(vertices, faces):
    """Renders a mesh."""

    def draw(width, height, samples):
        scene = Scene(vertices, faces, width, height, samples)
        check_memory(scene)
        frame = scene_render.render(scene)
        facts = f"{frame.counters['triangles']} triangles, {sum(frame.seconds.values()):.2f} s"
        return Frame(frame.colour, facts, frame.counters)

    return draw


def _scene(path):
    """A glTF file, which is read once more for each picture: its cameras depend on the shape."""
    from fixfunc.cosim.scene import gltf
    from fixfunc.cosim.scene.drawing import Drawing

    gltf.load(path, 1.0)

    def draw(width, height, samples):
        drawing = Drawing(gltf.load(path, width / height), width, height, samples)
        image = drawing.draw()
        facts = f"{drawing.draws} draws, {drawing.triangles} triangles"
        return Frame(np.ascontiguousarray(image), facts, dict(drawing.device.machine.totals))

    return Model(path.stem, draw)


def render(
    source: Model | str | os.PathLike, width: int = 640, height: int = 360, samples: int = 4
) -> Frame:
    """Render a model, or what :func:`load` makes of a source, by the golden models.

    Parameters
    ----------
    source : Model, str or path
    width, height : int
        Pixels.
    samples : int
        Of a pixel: 1, 2, 4 or 8.

    Raises
    ------
    InputError
        A size that the machine does not draw, or this computer does not hold; what :func:`load`
        raises.
    """
    draw_state(width, height, samples)
    model = source if isinstance(source, Model) else load(source)
    frame = model.draw(width, height, samples)
    frame.facts = f"{model.name}, {width}x{height}, {samples}x: {frame.facts}"
    return frame
