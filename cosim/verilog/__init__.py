# SPDX-License-Identifier: BSD-2-Clause
"""What is generated: SystemVerilog, packages, FuseSoC cores.

generate.py   a component as SystemVerilog
units.py      its parts, each elaborated once and kept
identity.py   what decides a part, and so names it
sources.py    the hash of the files that hardware, or a verdict on it, depends on
yosys.py      netlists become Verilog
hierarchy.py  modules and instances of what has been written
export.py     everything, into a folder
packed.py     payloads as packed structs
measured.py   area and clock, as measured
listed.py     blocks, configurations and parameters, to be read without the hardware
"""
