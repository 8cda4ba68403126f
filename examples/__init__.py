# SPDX-License-Identifier: BSD-2-Clause
"""Draws through D3D11's device and context: python -m fixfunc.examples.triangle

triangle.py              three vertices, a colour each
textured_mesh.py         a glTF file (data/house.glb) with its materials
instanced_grid.py        boxes by one call, with a place and a colour for each
tessellated_terrain.py   patches, hull and domain shader, a wireframe
stencil_shadow.py        a shadow volume: geometry shader, stencil test, three passes
scaffold.py              what they share: targets, cameras, meshes from files
verilog/                 benches in SystemVerilog of single blocks
"""

from importlib.util import find_spec

from fixfunc.cosim.toolchain import to_install

for package in ("trimesh", "PIL"):
    if find_spec(package) is None:
        raise SystemExit(f"fixfunc: {package} is missing: {to_install('mesh')}")
