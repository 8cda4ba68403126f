# SPDX-License-Identifier: BSD-2-Clause
"""Pictures that the hardware's scan-out shows."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from fixfunc.cosim import codec, command_line, files
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.output.scan_out import setup_of
from fixfunc.models.payload import dtype
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.spec.colours import scanned
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.tb import catalogue
from fixfunc.tb.output import scan_out

DIVISIONS = 16  # of the teapot's patches


def picture(beats: np.ndarray, size: tuple[int, int], dither: bool, pixels: int) -> np.ndarray:
    """Pixels of a frame's beats: uint8, shape (height, width, 3); or uint16, shape (height, width).

    Parameters
    ----------
    beats : structured ndarray
        :func:`fixfunc.spec.colours.scanned`.
    size : (int, int)
        Width and height.
    dither : bool
        Pixels have 16 bits.
    pixels : int
        Of a beat.
    """
    wide, high = size
    values = np.stack([beats[f"pixel{n}"] for n in range(pixels)], -1).astype(np.uint32)
    lines = values.reshape(high, -1)[:, :wide]
    if dither:
        return lines.astype(np.uint16)
    return (lines[..., None] >> np.uint32([0, 8, 16]) & 255).astype(np.uint8)


def scanned_out(memory: np.ndarray, setup: np.void, config: str = "default") -> np.ndarray:
    """A frame, scanned out by the simulated hardware: uint8, shape (height, width, 3).

    Parameters
    ----------
    memory : ndarray of uint8
    setup : numpy.void
        :data:`fixfunc.spec.colours.SCAN_SETUP`, without dithering.
    config : str
        Of the block.

    Raises
    ------
    InputError
        The frame ended with an error.
    """
    block = catalogue.block("scan_out")
    pixels = block.parameters(config).pixels
    fields = scanned(pixels)
    size = int(setup["width"]), int(setup["height"])
    run = block.volume(config).run(
        {"i": scan_out.ordered(setup, "F")},
        size[0] * size[1] + 1,
        memory=Memory(memory.copy(), (20, 200)),
    )
    beats = codec.unpack(run.outputs["o"], fields, dtype(fields))
    if beats["error"][-1]:
        raise InputError("buffer", "be one that can be scanned out", size)
    return picture(beats, size, False, pixels)


def write(name: str, size: str, config: str, folder: Path) -> Path:
    """Draw a mesh by the golden pipeline, code its tiles, scan them out, write ``scan_out.png``.

    Parameters
    ----------
    name : str
        ``teapot``, or a file.
    size : str
        Width and height, as 640x360.
    config : str
        Of the block.
    folder : Path

    Raises
    ------
    InputError
        A size that is none, or a frame that is not the one that was drawn.
    """
    wide, high = command_line.sides(size)
    vertices, faces = mesh.teapot(DIVISIONS) if name == "teapot" else mesh.load(name)
    files.open_folder(folder)
    drawn = render(Scene(vertices, faces, wide, high, 1)).colour
    texels = np.full((high, wide, 4), 255, np.uint8)
    texels[..., :3] = drawn[..., :3]
    device = Device(coded=True)
    texture = device.create_texture2d(
        Format.R8G8B8A8_UNORM, wide, high, data=[texels], bind=Bind.RENDER_TARGET
    )
    view = piece(device.create_render_target_view(texture).encode(), VIEW)
    image = scanned_out(device.memory, setup_of(device.memory, [view]), config)
    if not (image == texels[..., :3]).all() or (image == image[0, 0]).all():
        raise InputError("picture", "be that of the frame, of more than one colour", size)
    data = io.BytesIO()
    Image.fromarray(image).save(data, "png")
    files.write(folder / "scan_out.png", data.getvalue())
    return folder / "scan_out.png"
