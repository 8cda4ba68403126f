# SPDX-License-Identifier: BSD-2-Clause
"""Processes that draw through one golden machine, behind an MMU.

recording.py  a process' device and context, whose packets fill command buffers
process.py    its pages, its command buffers, what is to be uploaded
window.py     virtual memory as the machine sees it, page by page
card.py       memories, main ring, DMA engine, machine: who has it, and what comes back
"""
