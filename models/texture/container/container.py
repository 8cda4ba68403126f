# SPDX-License-Identifier: BSD-2-Clause
"""A texture from a file of any kind."""

from pathlib import Path

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
        file = File(path.name, stream)
        head = stream.read(max(map(len, READERS)))
        reader = next((READERS[magic] for magic in READERS if head.startswith(magic)), None)
        try:
            if reader is None:
                raise InputError(
                    "first bytes", "be those of a DDS or KTX2 file", head.hex(" ") or "none"
                )
            return reader(file)
        except InputError as error:
            raise InputError(f"{path.name}: {error.field}", error.rule, error.value) from error
