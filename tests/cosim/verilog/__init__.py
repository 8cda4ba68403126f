# SPDX-License-Identifier: BSD-2-Clause
"""Generated Verilog: parts that are made once, sources that name them, what is given away."""
