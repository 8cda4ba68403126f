# SPDX-License-Identifier: BSD-2-Clause
"""Files of textures.

container.py  a file of any kind
file.py       a file that is open, and a shape that is checked before it is read
dds.py        DDS, read and written; masks.py: formats that a DDS tells by masks
ktx2.py       KTX2, plain or compressed
formats.py    texels as files store them, and as the sampler takes them
"""

from fixfunc.models.texture.container.container import is_container, read, read_stream
from fixfunc.models.texture.container.dds import write_dds
from fixfunc.models.texture.container.ktx2 import VULKAN
from fixfunc.models.texture.texels import DXGI

__all__ = ["DXGI", "VULKAN", "is_container", "read", "read_stream", "write_dds"]
