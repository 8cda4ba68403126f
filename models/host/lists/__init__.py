# SPDX-License-Identifier: BSD-2-Clause
"""Command lists: calls are noted by a deferred context, and made by the immediate one [fs 6.3].

command_list.py      calls of a list, and how they are kept
deferred_context.py  checks calls and notes them; nothing happens
"""
