# SPDX-License-Identifier: BSD-2-Clause
"""A file whose header is read: numbers, warnings, and shapes that are checked first."""

import struct
import warnings
from typing import BinaryIO, NamedTuple

from fixfunc.models.texture.container.formats import FileFormat
from fixfunc.models.texture.texture import LAYERS, MOST_BYTES, check_shape, size
from fixfunc.spec.errors import InputError, InputWarning


class Shape(NamedTuple):
    """Size and number of a file's images."""

    width: int
    height: int
    levels: int
    depth: int = 1
    layers: int = 1
    faces: int = 1
    dimension: int = 2

    @property
    def images(self) -> int:
        """Layers of all faces."""
        return self.layers * self.faces

    def bytes_of(self, form: FileFormat, level: int) -> int:
        """Bytes of a level of one image, all its slices."""
        return form.bytes_of(*size(self.width, self.height, level)) * max(self.depth >> level, 1)

    def check(self, form: FileFormat) -> None:
        """Raise ``InputError`` for a shape that D3D11 does not allow, before anything is read."""
        check_shape(form.name, self.width, self.height, self.levels, self.faces, self.depth)
        if not 1 <= self.images <= LAYERS:
            raise InputError("number of layers", f"be 1 to {LAYERS // self.faces}", self.layers)
        read = FileFormat(form.form)  # which may be wider than the file's texels
        total = self.images * sum(self.bytes_of(read, n) for n in range(self.levels))
        if total > MOST_BYTES:
            raise InputError("size of the texture", f"be at most {MOST_BYTES} bytes", total)

    def fields(self) -> dict[str, int]:
        """Fields of a :class:`~fixfunc.models.texture.texture.Texture`."""
        return {"faces": self.faces, "dimension": self.dimension, "depth": self.depth}


class File:
    """A file that is open.

    Parameters
    ----------
    name : str
        For warnings.
    stream : binary file
    """

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.stream = stream
        self.length = stream.seek(0, 2)
        stream.seek(0)

    def unpack(self, form: str, part: str) -> tuple:
        """Numbers of a header, by ``struct``; ``part`` says in an error what lacks."""
        data = self.stream.read(struct.calcsize(form))
        if len(data) < struct.calcsize(form):
            raise InputError("size of the file", f"be enough for {part}", f"{self.length} bytes")
        return struct.unpack(form, data)

    def warn(self, text: str) -> None:
        """Warn of a mistake in a file that is read nevertheless."""
        warnings.warn(f"{self.name}: {text}", InputWarning, stacklevel=5)
