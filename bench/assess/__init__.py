# SPDX-License-Identifier: BSD-2-Clause
"""What the pages of figures say, held to the sources: ``make assess``.

measures.py     coverage, mutation, proofs, area: rows of their pages, and what measures one again
conformance.py  docs/conformance.md, of the table conformance.toml
__main__.py     which rows are of sources that have changed, and the run of those
"""
