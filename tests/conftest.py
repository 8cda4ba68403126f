# SPDX-License-Identifier: BSD-2-Clause
"""Simulators and oracle, chosen by SIM and ORACLE.

A missing one fails the test, and is never skipped in silence.

Tests of a block run in one process, the longest block first: see :mod:`tests.tiers`.
"""

import os
import sys
from collections import Counter
from pathlib import Path

# Where Python is told to write no bytecode, as in many containers, each of hundreds of processes
# would compile all that it imports, site packages too: a second each. It is kept beside the builds.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / "build/bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

import pytest
from hypothesis import settings

from tests import summary, tiers
from tests.oracles.assembly import LlvmpipeAssembly
from tests.oracles.blend import LlvmpipeBlend
from tests.oracles.coverage import Llvmpipe
from tests.oracles.depth import LlvmpipeDepth
from tests.oracles.faces import LlvmpipeFaces
from tests.oracles.frames import LlvmpipeFrames
from tests.oracles.tessellation import LlvmpipeTessellator
from tests.oracles.texture import Mesa, MesaSampler
from tests.oracles.vertex_formats import LlvmpipeVertexFormats

settings.register_profile("fixfunc", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("fixfunc")


def pytest_generate_tests(metafunc):
    """``make test`` runs a bench at some pairs of paces, ``make qualify`` at all of them.

    See :mod:`tests.bench`.
    """
    if "simulator" in metafunc.fixturenames and not any(
        "simulator" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")
    ):
        block = getattr(metafunc.module, "BLOCK", None)
        metafunc.parametrize("simulator", tiers.simulators(block))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(tiers.group(item)))
        item.user_properties.append((summary.GROUP, tiers.group(item)))
    order = {name: n for n, name in enumerate(tiers.LONGEST)}
    items.sort(key=lambda item: order.get(tiers.group(item), len(order)))


LEFT_OUT = pytest.StashKey[Counter]()


def pytest_deselected(items):
    """Count what waits for ``make qualify``, by group."""
    waiting = [item for item in items if item.get_closest_marker("qualify")]
    if waiting:
        counts = waiting[0].config.stash.setdefault(LEFT_OUT, Counter())
        counts.update(tiers.group(item) for item in waiting)


def pytest_sessionfinish(session):
    """A process of several tells the first what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(LEFT_OUT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every process leaves out the same, and is counted once."""
    left_out = getattr(node, "workeroutput", {}).get("left_out", {})
    node.config.stash[LEFT_OUT] = node.config.stash.get(LEFT_OUT, Counter()) | Counter(left_out)


def pytest_report_header():
    return f"seed {tiers.SEED}: SEED={tiers.SEED} repeats it"


def pytest_terminal_summary(terminalreporter, config):
    left_out = config.stash.get(LEFT_OUT, Counter())
    terminalreporter.section("by group")
    for line in summary.table(terminalreporter.stats, left_out):
        terminalreporter.write_line(line)
    if tiers.QUALIFY:
        terminalreporter.write_line(f"summary: {summary.write(terminalreporter.stats, tiers.SEED)}")


def _oracle(make):
    if os.environ.get("ORACLE", "llvmpipe") == "none":
        pytest.skip("ORACLE=none")

    def checked(*arguments):
        try:
            return make(*arguments)
        except Exception as error:
            pytest.fail(
                f"no Mesa llvmpipe: type 'apt-get install libegl1 libopengl0 libgl1-mesa-dri', "
                f"or set ORACLE=none ({error})"
            )

    return checked


@pytest.fixture
def llvmpipe():
    """A maker of oracles of coverage: ``llvmpipe(samples)``."""
    return _oracle(Llvmpipe)


@pytest.fixture
def llvmpipe_depth():
    """A maker of oracles of depth and stencil."""
    return _oracle(LlvmpipeDepth)


@pytest.fixture
def llvmpipe_blend():
    """A maker of oracles of blending."""
    return _oracle(LlvmpipeBlend)


@pytest.fixture
def llvmpipe_tessellator():
    """A maker of oracles of tessellation."""
    return _oracle(LlvmpipeTessellator)


@pytest.fixture
def llvmpipe_texture():
    """A maker of decoders of textures."""
    return _oracle(Mesa)


@pytest.fixture
def llvmpipe_sampler():
    """A maker of samplers."""
    return _oracle(MesaSampler)


@pytest.fixture
def llvmpipe_assembly():
    """A maker of oracles of primitives."""
    return _oracle(LlvmpipeAssembly)


@pytest.fixture
def llvmpipe_faces():
    """A maker of oracles of which face a pixel shows: ``llvmpipe_faces(width, height)``."""
    return _oracle(LlvmpipeFaces)


@pytest.fixture
def llvmpipe_frames():
    """A maker of oracles of whole frames."""
    return _oracle(LlvmpipeFrames)


@pytest.fixture
def llvmpipe_vertex_formats():
    """A maker of fetchers of vertex data."""
    return _oracle(LlvmpipeVertexFormats)
