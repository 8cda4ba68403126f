# SPDX-License-Identifier: BSD-2-Clause
"""Predicted clocks of frames beside those of the hardware; what no hardware here can show.

__main__.py  measure, and write ``docs/architecture/predicted.md``: ``python -m bench.predicted``
rows.py      a frame by the hardware and by the model
tried.py     what the model says would help, tried on the hardware
choices.py   rasterizers, caches, memories, processors of the documents: predictions alone
page.py      the page, of ``docs/architecture/predicted.json``
"""
