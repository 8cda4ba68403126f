# SPDX-License-Identifier: BSD-2-Clause
"""What work does to the machine's memory.

accesses.py  what it may touch, by client, before it does
undo.py      what it has changed, so that work that fails changes nothing
"""
