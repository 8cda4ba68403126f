# SPDX-License-Identifier: BSD-2-Clause
"""What is measured: speed, bytes, area and clock; never part of the tests.

__main__.py       measures and writes docs/bench.md, by page.py
speed.py          clocks on chosen work, seconds of the software
frames.py         whole frames on the top
passes.py         those of several passes: blended, discarded, of photographs, cleared often
depth.py, memory.py, tessellation.py, texture.py   what each stage saves
golden/           reuse of vertices, changes of state, colours in memory, frames of the machine and
                  recorded ones
predicted/        predicted clocks beside those of the hardware
area/             static timing and area in standard cells
assess/           which figures are of sources that have changed, and the run of those
synthesis.py      cells of an FPGA, and gates of a sum
checks.py         what the protocol checks of the volume tier cost
tour/             figures of the guided tour
site/             the pages and the reference as a site
figures.py        figures of tessellation and of vertex reuse
"""
