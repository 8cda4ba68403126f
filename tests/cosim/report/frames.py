# SPDX-License-Identifier: BSD-2-Clause
"""Frames of every kind, and how a browser shows their pages."""

from pathlib import Path

import numpy as np

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.recorded import file
from tests.cosim.record.program import Program, recorded
from tests.cosim.scene.writer import COORDINATES, Writer

SMALL = ["--size", "160x90"]


def hardware(folder: Path) -> Path:
    """A mesh by the hardware itself."""
    assert main(["frame", "teapot", *SMALL, "--divisions", "2", "-o", str(folder)]) == 0
    return folder


def scene_file(path: Path) -> Path:
    """A square of many texels before a lit one, and a blended one before both."""
    writer = Writer()
    texels = np.random.default_rng(3).integers(0, 256, (64, 64, 4), np.uint8)
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": writer.texture(texels)}}}
    glass = {"pbrMetallicRoughness": {"baseColorFactor": [0.2, 0.5, 1, 0.5]}, "alphaMode": "BLEND"}
    writer.node(mesh=writer.mesh(material={}), name="wall")
    front = writer.mesh(material=material, TEXCOORD_0=COORDINATES)
    writer.node(mesh=front, translation=[0.3, 0.2, 0.5])
    writer.node(mesh=writer.mesh(material=glass), translation=[-0.3, -0.2, 0.8])
    return writer.save(path)


def scene(folder: Path) -> Path:
    """A scene by the golden machine."""
    path = scene_file(folder / "s.glb")
    assert main(["frame", str(path), "--golden", *SMALL, "-o", str(folder)]) == 0
    return folder


def recorded_file(path: Path) -> Path:
    """Two triangles of an OpenGL program: the second lies behind the first at its lower corner."""
    gl = Program()
    gl.swap()
    gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
    gl.glEnable(T.DEPTH_TEST)
    gl.triangle([(-0.9, -0.9, 0), (0.9, -0.9, 0), (-0.9, 0.5, 0)])
    gl.triangle([(-0.9, -0.9, 0.5), (0.2, -0.9, 0.5), (-0.9, 0.9, 0.5)])
    path.write_bytes(file.write(recorded(gl)))
    return path


def recording(folder: Path) -> Path:
    """A recorded frame by the golden machine."""
    path = recorded_file(folder / "r.npz")
    assert main(["frame", str(path), "--golden", "-o", str(folder)]) == 0
    return folder


def widen(browser, width):
    """The window has a width; below 500 pixels it is a phone's, which obeys its viewport alone."""
    size = {"width": width, "height": 1400, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def show(browser, page, width=1280):
    """A page at a width."""
    from selenium.webdriver.support.wait import WebDriverWait

    widen(browser, width)
    browser.get(f"file://{page}")
    ready = "return !document.getElementById('told') || document.body.dataset.ready === 'yes'"
    WebDriverWait(browser, 60, 0.05).until(lambda browser: browser.execute_script(ready))
