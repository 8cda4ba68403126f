# SPDX-License-Identifier: BSD-2-Clause
"""The wheel, as its users have it: installed outside the checkout.

Beside it only what an extra requires is installed.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fixfunc
from fixfunc.cosim import toolchain
from tests import tiers

README = (toolchain.ROOT / "README.md").read_text()
LEFT = shutil.ignore_patterns(
    ".*", "build", "out", "__pycache__", "*.egg-info"
)  # of the checkout, by a build of the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built of a copy: a checkout's ``build`` may hold files of another day."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(toolchain.ROOT, folder / "source", ignore=LEFT)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "-o",
        folder,
        folder / "source",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    (path,) = folder.glob("fixfunc-*.whl")
    return path


def brought(extra, of="fixfunc", known=None):
    """Distributions that ``of[extra]`` asks for, by name, and those that they ask for."""
    known = {} if known is None else known
    for line in importlib.metadata.requires(of) or []:
        need = Requirement(line)
        if need.marker and not need.marker.evaluate({"extra": extra}):
            continue
        for more in need.extras:
            brought(more, need.name, known)
        name = canonicalize_name(need.name)  # Jinja2 is jinja2
        if name not in known and name != "fixfunc":
            known[name] = importlib.metadata.distribution(name)
            brought("", name, known)
    return known


@pytest.fixture(scope="module")
def install(wheel, tmp_path_factory):
    """Makes an environment of the wheel and of what an extra brings.

    Runs commands there, in an empty folder.
    """
    made = {}

    def create(extra):
        folder = tmp_path_factory.mktemp(f"with_{extra or 'nothing'}")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--python",
                folder / "env/bin/python",
                "install",
                "-q",
                "--no-deps",
                "--no-index",
                "--disable-pip-version-check",
                wheel,
            ],
            check=True,
        )
        (packages,) = (folder / "env/lib").glob("python3*/site-packages")
        for distribution in brought(extra).values():
            for name in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
                (packages / name).symlink_to(distribution.locate_file(name))
        (folder / "here").mkdir()
        return folder

    def run(extra, *command):
        folder = made.setdefault(extra, None) or made.update({extra: create(extra)}) or made[extra]
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "COV"))
        }
        path = os.pathsep.join([str(folder / "env/bin"), os.environ["PATH"]])
        return subprocess.run(
            [folder / "env/bin" / command[0], *command[1:]],
            cwd=folder / "here",
            capture_output=True,
            text=True,
            env=clean | {"PATH": path, "XDG_CACHE_HOME": str(folder / "cache")},
        )

    return run


def test_what_the_wheel_holds(wheel):
    """Licence, types, data: everything of the folders that the package is made of."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for tree in ("spec", "models", "rtl", "cosim", "tb", "examples"):
        for path in (toolchain.ROOT / tree).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                assert f"fixfunc/{path.relative_to(toolchain.ROOT)}" in names
    assert {"fixfunc/__init__.py", "fixfunc/py.typed"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if not name.startswith(("fixfunc/", "fixfunc-"))]


def test_models_need_numpy_alone(install):
    """README's example, and every golden model; what needs more says what to type."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = install("", "python", "-c", f"{example}\nprint(masks.shape, masks.sum())")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\(1, 64, 128, 4\) [1-9]\d+\n", done.stdout)
    every = (
        "import fixfunc.models, importlib, pkgutil\n"
        "for module in pkgutil.walk_packages(fixfunc.models.__path__, 'fixfunc.models.'): "
        "print(importlib.import_module(module.name).__file__)"
    )
    done = install("", "python", "-c", every)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 50
    assert all("site-packages" in line for line in done.stdout.splitlines())
    shown = "import fixfunc, fixfunc.d3d11; print(fixfunc.render('teapot', 64, 36).facts)"
    done = install("", "python", "-c", shown)
    assert done.stdout.startswith("teapot, 64x36, 4x: 4032 triangles"), done.stderr
    assert brought("").keys() == {"numpy"}
    done = install("", "fixfunc", "list")
    assert done.stdout.startswith("top: "), done.stderr
    done = install("", "fixfunc", "verilog", "edge_evaluator")
    assert (done.returncode, done.stderr) == (
        2,
        "fixfunc: amaranth is missing: type \"pip install '.[rtl]'\" in a checkout of fixfunc\n",
    )


def test_each_extra_is_enough(install):
    """For the hardware; for golden frames of the teapot, one or a sweep."""
    assert install("rtl", "fixfunc", "list").stdout.startswith("top: ")
    done = install("rtl", "fixfunc", "verilog", "edge_evaluator", "--config", "tiny")
    assert done.stdout.startswith(
        "// SPDX-License-Identifier: BSD-2-Clause\n// edge_evaluator (tiny), fixfunc "
    )
    done = install(
        "mesh", "fixfunc", "frame", "teapot", "--golden", "--size", "64x48", "--divisions", "2"
    )
    assert "nothing compared" in done.stdout, done.stderr
    done = install("sweep", "fixfunc", "sweep", "--golden", "--over", "size=64x48")
    assert "wrote sweep: sweep.parquet" in done.stdout, done.stderr
    done = install("mesh", "fixfunc", "frame", "teapot", "--size", "64x48")
    assert (done.returncode, done.stderr) == (
        2,
        "fixfunc: amaranth is missing: type \"pip install '.[rtl]'\" in a checkout of fixfunc\n",
    )


def commands():
    """What README says to type; of frames small ones in ``make test``."""
    typed = README if tiers.QUALIFY else README.replace("640x360", "64x36")
    return [
        line.split("#")[0].split()
        for block in re.findall(r"```\n(.*?)```", typed, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("fixfunc ")
    ]


def test_the_version(install):
    """That of pyproject.toml, here and in the wheel; the changelog has it, with a date."""
    (version,) = re.findall(
        r'(?m)^version = "(.*)"$', (toolchain.ROOT / "pyproject.toml").read_text()
    )
    assert fixfunc.__version__ == toolchain.version() == version
    done = install("", "python", "-c", "import fixfunc; print(fixfunc.__version__)")
    assert (done.stdout, done.stderr) == (f"{version}\n", "")
    releases = re.findall(r"(?m)^## (.*)$", (toolchain.ROOT / "CHANGELOG.md").read_text())
    assert re.fullmatch(rf"{re.escape(version)} - 20\d\d-\d\d-\d\d", releases[0])


def test_the_command(install):
    """README's commands, benches and batches, from a wheel; the module is the command."""
    first = tiers.SIMULATORS[0]
    assert {command[1] for command in commands()} >= {"list", "verilog", "frame"}
    for command in [
        *commands(),
        ["fixfunc", "--version"],
        ["python", "-m", "fixfunc.cosim", "--version"],
        [
            "python",
            "-m",
            "fixfunc.tb",
            "volume",
            "edge_evaluator",
            "--config",
            "tiny",
            "--count",
            "2000",
        ],
        ["python", "-m", "fixfunc.tb", "run", "edge_evaluator", "--config", "tiny", "--sim", first],
    ]:
        done = install("sim", *command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert done.stdout or "-o" in command
        assert "Warning" not in done.stderr
