# SPDX-License-Identifier: BSD-2-Clause
"""Commands of a context that move data without any state.

copies.py   clears, copies, resolves, smaller levels, updates, reads
checks.py   what they must obey
"""
