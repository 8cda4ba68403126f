# SPDX-License-Identifier: BSD-2-Clause
"""Vectors of a block for the benches of others: golden beats, and readers of them.

vectors.py   beats in and out, drawn and written into a folder
readers.py   a bench in Verilog and a header in C++ that read them
fields.py    the fields of a port's payload, at their bits
"""
