# SPDX-License-Identifier: BSD-2-Clause
"""The documentation as a site that needs no network: make docs.

__main__.py    builds it
stage.py       lays out the pages as they stand, and pages of the reference by module
conf.py        settings of Sphinx
docstrings.py  docstrings as they stand in sources, made readable for Sphinx
sources.py     sources that pages link, as pages
"""
