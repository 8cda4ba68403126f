# SPDX-License-Identifier: BSD-2-Clause
"""The driver that people program: D3D11's device and context on the golden machine.

device.py      memory, resources, views, shaders, queries
context.py     bound state, and the commands that become packets; transfers: those that move data
lists/         deferred contexts, and the command lists that they make
groups.py      input assembler, stream output, rasterizer, output merger of a context
stages.py      its programmable stages
states.py      state objects, with D3D11's defaults
resources.py   buffers and textures; memory.py: the heap where they lie
views.py       what of them is bound, and as which format
queries.py     queries and predicates
presentation/  swap chains
checks.py      what a draw must obey; calls.py: errors name their call
packets.py     the host's end of the ring
"""

from fixfunc.models.host.context import Context
from fixfunc.models.host.device import Device

__all__ = ["Context", "Device"]
