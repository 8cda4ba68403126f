# SPDX-License-Identifier: BSD-2-Clause
"""Draws through D3D11's device and context: python -m fixfunc.examples.triangle

triangle.py              three vertices, a colour each
textured_mesh.py         a glTF file (data/house.glb) with its materials
instanced_grid.py        boxes by one call, with a place and a colour for each
tessellated_terrain.py   patches, hull and domain shader, a wireframe
stencil_shadow.py        a shadow volume: geometry shader, stencil test, three passes
shadow_map.py            depths from a lamp without depth clip, compared as a texture
reflections.py           a cube that is drawn, its smaller levels, and a ring that mirrors it
particles.py             stream output from buffer to buffer, draw_auto, squares of points
deferred.py              four targets, light of many lamps in floats, a shader for each sample
transparency.py          lists by pixel: unordered access with a counter, sorted in a second pass
scaffold.py              what they share: targets, cameras, meshes from files
verilog/                 benches in SystemVerilog of single blocks
"""

from importlib.util import find_spec

from fixfunc.cosim.toolchain import to_install

for package in ("trimesh", "PIL"):
    if find_spec(package) is None:
        raise SystemExit(f"fixfunc: {package} is missing: {to_install('mesh')}")
