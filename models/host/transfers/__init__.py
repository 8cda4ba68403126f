# SPDX-License-Identifier: BSD-2-Clause
"""Commands of a context that move data without any state.

copies.py   clears, copies, resolves, smaller levels, updates, reads
mapping.py  subresources that the CPU has
checks.py   what they must obey
"""
