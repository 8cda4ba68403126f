# SPDX-License-Identifier: BSD-2-Clause
"""The report of a golden frame, as text: nothing is built for it."""

import re

from fixfunc.cosim.frame import mesh
from fixfunc.cosim.report import page
from fixfunc.cosim.report.capture import Capture
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene


def test_a_name_of_a_file_is_text(tmp_path):
    """Of the frame, and of what its figures hold: no tag of it is one of the page."""
    capture = Capture(16, 8, 1)
    name = "</title><script>alert('x')</script>&amp;"
    with capture.draw(name, "triangle list"):
        frame = render(Scene(*mesh.teapot(1), 16, 8, 1), probe=capture)
    path = tmp_path / "frame.html"
    figures = {"title": name, "counters": frame.counters, "memory": name}
    page.write(path, page.Report(name, figures, frame.colour, capture, notes=[name]))
    text = path.read_text()
    assert len(re.findall("<script", text)) == len(re.findall("</script>", text)) == 6
    assert text.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;amp;") == 3
    assert "alert('x')</script>" not in text
