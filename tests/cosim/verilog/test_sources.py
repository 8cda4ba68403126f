# SPDX-License-Identifier: BSD-2-Clause
"""What names a thing that was built: the hash of all its sources, and of nothing else."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from fixfunc.cosim import catalogue as catalogues
from fixfunc.cosim import toolchain
from fixfunc.cosim.simulation.library import build
from fixfunc.cosim.verilog import sources
from fixfunc.tb import catalogue

# Folders that hold hardware, or harnesses around it, or what widths come from.
TREES = [toolchain.ROOT / folder for folder in (*sources.HARDWARE, "tb", "cosim")]
DYNAMIC = {  # look modules up, and hold no hardware
    "tb/catalogue.py",
    "cosim/catalogue.py",
    "cosim/completion.py",
    "tb/coverage/run.py",
    "cosim/record/tokens.py",
}


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_every_import_is_seen(tree):
    """As a parser sees them; nothing is imported by a name that is made."""
    for path in tree.rglob("*.py"):
        seen = set()
        nodes = list(ast.walk(ast.parse(path.read_text())))
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                seen |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                seen |= {alias.name for alias in node.names}
        assert {name for name in seen if name.startswith("fixfunc.")} <= set(
            sources._imports(path)
        ), path
        if str(path.relative_to(toolchain.ROOT)) not in DYNAMIC:
            assert not re.search(r"\b(import_module|__import__)\b", path.read_text()), path


@pytest.fixture
def copy(tmp_path, monkeypatch):
    for tree in TREES:
        shutil.copytree(tree, tmp_path / tree.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    return tmp_path


def test_a_hash_is_of_its_sources_alone(copy):
    def both():
        sources._imports.cache_clear()
        return [
            sources.digest(f"fixfunc.rtl.{name}", "default")
            for name in ("raster.tile_rasterizer", "texture.block_decode")
        ]

    before = both()
    assert both() == before
    for name, changed in {
        "spec/payloads.py": (True, True),
        "rtl/raster/cell_walker.py": (True, False),
        "rtl/texture/bc7.py": (False, True),
        "rtl/__init__.py": (True, True),
        "rtl/depth/hiz/hiz.py": (False, False),
    }.items():
        (copy / name).write_text((copy / name).read_text() + "# changed\n")
        after = both()
        assert tuple(one != two for one, two in zip(before, after, strict=True)) == changed, name
        before = after
    assert sources.digest("fixfunc.rtl.top", "tiny") != sources.digest("fixfunc.rtl.top", "default")


@pytest.mark.parametrize(
    ("stem", "harness", "part"),
    [
        ("hiz", "tb/depth/loop.py", "tb/depth/noise.py"),
        ("top", "cosim/reference/probed_top.py", "rtl/top.py"),
    ],
)
def test_a_harness_counts_as_a_source(stem, harness, part, copy):
    bench = catalogue.block(stem)
    found = sources.files(type(bench.simulated("tiny")).__module__)
    assert {copy / harness, copy / part} <= found


HARNESSED = [
    stem for stem in catalogues.blocks() if hasattr(catalogue.block(stem).bench, "Harness")
]


@pytest.mark.parametrize("stem", HARNESSED)
def test_a_block_in_a_harness_counts_as_a_source(stem, copy, monkeypatch):
    """Also where the harness is handed its block, and imports nothing of it."""
    monkeypatch.setattr(toolchain, "once", lambda path, *_: path)
    bench = catalogue.block(stem)
    before = bench.simulated_verilog("tiny")
    assert bench.simulated_verilog("tiny") == before
    path = copy / Path(bench.rtl.__file__).relative_to(catalogues.RTL.parent)
    path.write_text(path.read_text() + "# changed\n")
    assert bench.simulated_verilog("tiny") != before


def test_a_block_with_its_probes_is_not_the_block():
    """A harness may hold the block with other parameters: its Verilog has another name."""
    bench = catalogue.block("cached_depth")
    assert "probe_" in bench.simulated_verilog("tiny").read_text()
    assert "probe_" not in bench.verilog("tiny").read_text()


def test_nothing_is_made_to_find_that_it_exists(monkeypatch):
    block = catalogue.block("edge_evaluator")
    path = block.verilog("tiny")
    library = block.volume("tiny")
    monkeypatch.setattr("fixfunc.cosim.catalogue.generate", lambda *_: pytest.fail("elaborated"))
    monkeypatch.setattr("fixfunc.cosim.simulation.library._build", lambda *_: pytest.fail("built"))
    assert block.verilog("tiny") == path
    assert type(block.volume("tiny")) is type(library)


def test_what_is_built_anew_has_another_name(monkeypatch, tmp_path):
    """By its Verilog, the C++ around it, the level of the compiler."""
    monkeypatch.setattr(toolchain, "BUILD", tmp_path)
    monkeypatch.setattr(
        "fixfunc.cosim.simulation.library._build", lambda path, *_: path.write_text("")
    )
    names = {
        build(*of)
        for of in (
            ("a", "b", "m"),
            ("a", "c", "m"),
            ("c", "b", "m"),
            ("a", "b", "m", "0"),
            ("a", "b", "n"),
        )
    }
    assert len(names) == 5
    assert build("a", "b", "m") in names
