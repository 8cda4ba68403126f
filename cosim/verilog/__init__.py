# SPDX-License-Identifier: BSD-2-Clause
"""What is generated: SystemVerilog, packages, FuseSoC cores.

generate.py   a component as SystemVerilog
sources.py    the hash of all that decides it
export.py     everything, into a folder
packed.py     payloads as packed structs
measured.py   area and clock, as measured
"""
