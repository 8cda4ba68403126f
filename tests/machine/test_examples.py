# SPDX-License-Identifier: BSD-2-Clause
"""The examples draw what their pictures show."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
NAMES = (
    "triangle",
    "textured_mesh",
    "instanced_grid",
    "tessellated_terrain",
    "stencil_shadow",
    "shadow_map",
    "reflections",
    "particles",
    "deferred",
    "transparency",
)


@pytest.mark.plan("machine-4")
@pytest.mark.parametrize("name", NAMES)
def test_an_example_draws_its_picture(name):
    image = importlib.import_module(f"fixfunc.examples.{name}").draw(640, 360)[..., :3].astype(int)
    stored = np.asarray(Image.open(ROOT / f"docs/pictures/examples/{name}.png")).astype(int)
    assert image.shape == stored.shape
    # Sines and lengths of shaders are the C library's: where they differ by a unit, a pixel may.
    wrong = (np.abs(image - stored) > 2).any(2)
    assert wrong.sum() <= 200, wrong.sum()
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 500


@pytest.mark.plan("machine-4")
def test_an_example_is_a_command(tmp_path):
    target = tmp_path / "small.png"
    command = [sys.executable, "-m", "fixfunc.examples.triangle", "-o", target, "--width", "64"]
    done = subprocess.run([*command, "--height", "36"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Image.open(target).size == (64, 36)
    assert "written" in done.stdout


@pytest.mark.parametrize("package", ["trimesh", "PIL"])
def test_an_example_says_which_extra_is_missing(package):
    code = (
        f"import runpy, sys; sys.modules[{package!r}] = None; "
        "runpy.run_module('fixfunc.examples.triangle', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    said = (
        f"fixfunc: {package} is missing: type \"pip install '.[mesh]'\" in a checkout of fixfunc\n"
    )
    assert (done.returncode, done.stderr) == (1, said)
