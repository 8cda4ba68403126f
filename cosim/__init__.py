# SPDX-License-Identifier: BSD-2-Clause
"""The product around models and hardware: Verilog, simulators, frames, the command line.

__main__.py        its commands; command_line.py: what command lines share
completion.py      what a shell may complete
catalogue.py       blocks by name, found where their files lie
parameters.py      parameters of a block by words
commands.py        writes a command stream; vertices.py: packets of the vertex ring
codec.py           payloads between structured arrays and packed vectors
toolchain.py       where simulators are, and where what they build is kept
files.py           files that are written whole or not at all; progress.py: what is being done
verilog/           a component becomes one SystemVerilog file; simulation/: libraries and runs
vectors/           golden beats of a block as files, for the benches of others
reference/         what hardware is compared with; frame/: scenes, jobs, reports
scene/             scenes of glTF files, drawn through device and context
figures/           what the figures of a frame say, in words and charts; report/: its page
time/              stalls, transfers and bursts of a frame over time, as charts and files
sweep/             frames over parameters of the machine; explore/: what if, by a model of time
program/           programs on device and context, drawn by the hardware
record/            frames of OpenGL programs are recorded; recorded/: such frames, drawn
"""
