# SPDX-License-Identifier: BSD-2-Clause
"""Settings of Sphinx for the site."""

import fixfunc

project = "fixfunc"
release = fixfunc.__version__
project_copyright = "the fixfunc authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["bench.site.docstrings", "bench.site.sources"]
include_patterns = ["*.md", "docs/**.md", "reference/**"]
root_doc = "index"
myst_heading_anchors = 4
autodoc_typehints = "none"  # docstrings have the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types are sentences, no names
napoleon_custom_sections = [("Members", "params_style"), ("Attributes", "params_style")]
html_theme = "alabaster"
html_theme_options = {
    "description": "The fixed-function half of a D3D11-class GPU",
    "fixed_sidebar": True,
    "page_width": "auto",
    "show_powered_by": False,
}
html_show_sphinx = False
html_copy_source = False
