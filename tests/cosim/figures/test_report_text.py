# SPDX-License-Identifier: BSD-2-Clause
"""The report of a golden frame, as text: nothing is built for it."""

import re

import numpy as np

from fixfunc.cosim.frame import mesh, report
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene


def test_a_name_of_a_file_is_text(tmp_path):
    """Of the frame, and of what its figures hold: no tag of it is one of the page."""
    frame = render(Scene(*mesh.teapot(1), 16, 8, 1))
    name = "</title><script>alert('x')</script>&amp;"
    path = tmp_path / "frame.html"
    figures = {"title": name, "counters": frame.counters, "seconds": {}}
    report.write(path, name, frame, np.zeros(2, np.uint8), figures)
    page = path.read_text()
    assert len(re.findall("<script", page)) == len(re.findall("</script>", page)) == 4
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;amp;" in page
    assert "alert('x')</script>" not in page
