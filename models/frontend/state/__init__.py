# SPDX-License-Identifier: BSD-2-Clause
"""State of work in a ring.

pieces.py  its fields, as words of packets
slots.py   where it is kept while work uses it
"""
