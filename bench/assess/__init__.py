# SPDX-License-Identifier: BSD-2-Clause
"""What the pages of figures say, held to the sources: ``make assess``.

measures.py   coverage, mutation, proofs, area: rows of their pages, and what measures one again
__main__.py   which rows are of sources that have changed, and the run of those
"""
