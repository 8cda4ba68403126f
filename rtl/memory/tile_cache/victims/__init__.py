# SPDX-License-Identifier: BSD-2-Clause
"""Victims on chip: tiles that have left their slots, and may come back before memory has them.

victim_buffer.py  codes of the last ones
victim_index.py   which of them are pending, and where
"""
