# SPDX-License-Identifier: BSD-2-Clause
"""A texture from a file of any kind."""

from pathlib import Path
from typing import BinaryIO

from fixfunc.models.texture.container import dds, ktx2
from fixfunc.models.texture.container.file import File
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

READERS = {dds.MAGIC: dds.read, ktx2.MAGIC: ktx2.read}


def read(path: str | Path) -> Texture:
    """Read a texture from a file.

    The file is a DDS with a FourCC, masks or a DX10 header, or a KTX2, plain or compressed by
    Zstandard or ZLIB; with textures of one to three dimensions, arrays or cubes, and levels.
    Nothing is read but the header and what it describes, and no more than the file has.

    Mistakes that writers commonly make are corrected, with an
    :class:`~fixfunc.spec.errors.InputWarning` that tells how the file was read.

    Raises
    ------
    InputError
        The file is another one, too short, or contradicts itself. The error names the file, the
        field, its rule and its value.
    """
    path = Path(path)
    with path.open("rb") as stream:
        return read_stream(path.name, stream)


def read_stream(name: str, stream: BinaryIO) -> Texture:
    """Read a texture from an open file: as :func:`read`, which has its name for errors."""
    file = File(name, stream)
    head = stream.read(max(map(len, READERS)))
    reader = next((READERS[magic] for magic in READERS if head.startswith(magic)), None)
    try:
        if reader is None:
            rule = "be those of a DDS or KTX2 file"
            raise InputError("first bytes", rule, head.hex(" ") or "none")
        return reader(file)
    except InputError as error:
        raise InputError(f"{name}: {error.field}", error.rule, error.value) from error


def is_container(data: bytes) -> bool:
    """Whether bytes begin as one of these files does."""
    return data.startswith(tuple(READERS))
