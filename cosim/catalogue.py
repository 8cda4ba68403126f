# SPDX-License-Identifier: BSD-2-Clause
"""The blocks, by name: found by where their files lie, imported on demand."""

import importlib
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from amaranth.hdl import UnusedElaboratable
from amaranth.lib import wiring

from fixfunc.cosim import toolchain
from fixfunc.cosim.parameters import changed
from fixfunc.cosim.verilog import sources
from fixfunc.cosim.verilog.generate import contract, generate
from fixfunc.spec.errors import InputError

# Blocks are made here for their ports alone, too: what was generated of them is kept.
warnings.simplefilter("ignore", UnusedElaboratable)

CITED = re.compile(r" \[[^]]+\]")  # as [fs 3.1.3]
RTL = Path(__file__).parents[1] / "rtl"
STAGES = (
    "lib",
    "frontend",
    "tessellation",
    "geometry",
    "raster",
    "depth",
    "pixel",
    "texture",
    "output",
    "memory",
)


@dataclass(frozen=True)
class Block:
    """A block of the hardware.

    Parameters
    ----------
    stem, stage : str
        Names of the block and of its stage; the top has no stage.
    place : str
        Where its hardware lies below ``rtl``, with dots.
    """

    stem: str
    stage: str
    place: str

    @property
    def rtl(self) -> ModuleType:
        """Module of the hardware, with ``CONFIGS``."""
        return importlib.import_module(f"fixfunc.rtl.{self.place}")

    @property
    def component(self) -> type[wiring.Component]:
        """Class of the hardware."""
        return getattr(self.rtl, "".join(part.capitalize() for part in self.stem.split("_")))

    @property
    def configurations(self) -> dict[str, Any]:
        """Parameters by the names of the configurations."""
        return self.rtl.CONFIGS

    @property
    def purposes(self) -> dict[str, str]:
        """What each configuration is for, in words."""
        return self.rtl.PURPOSE

    def parameters(self, name: str = "default") -> Any:
        """The parameters of a configuration, or of one with changes: ``default,samples=2``.

        An unknown name raises :class:`~fixfunc.spec.errors.InputError`, and so does a change that
        :func:`~fixfunc.cosim.parameters.changed` refuses.
        """
        base, *changes = name.split(",")
        if base not in self.configurations:
            raise InputError(
                f"configuration of {self.stem}", f"be one of {', '.join(self.configurations)}", base
            )
        params = self.configurations[base]
        return changed(params, changes, self.stem) if changes else params

    def purpose(self, name: str) -> str:
        """What a configuration is for, in words, and what is changed of it."""
        base, *changes = name.split(",")
        return ", with ".join([self.purposes[base], *changes])

    def create(self, config: str = "default") -> wiring.Component:
        """The component, in a configuration."""
        return self.component(self.parameters(config))

    def verilog(self, config: str = "default") -> Path:
        """Path of the block's SystemVerilog, elaborated once, then kept."""
        return self.generated(self.create(config), config)

    def generated(self, component: wiring.Component, config: str, *variant: str) -> Path:
        """Path of the SystemVerilog of a component, as a module of the block's name.

        Its name holds the hash of its sources, so that nothing is elaborated to find it, and of a
        configuration with changes, which may be long, only where it began.

        Parameters
        ----------
        component : wiring.Component
            The block itself, or a harness around it.
        config : str
            Name of the configuration.
        variant : str
            What else tells the component from the block itself.
        """
        digest = self.digest(config, *variant, module=type(component).__module__)
        base = config.partition(",")[0]
        path = toolchain.BUILD / "verilog" / f"{self.stem}-{base}-{digest}.sv"
        return toolchain.once(
            path, lambda out: out.write_text(generate(component, self.stem, config))
        )

    def digest(self, config: str = "default", *variant: str, module: str | None = None) -> str:
        """Hash of all that decides the hardware of a configuration; nothing is elaborated.

        Parameters
        ----------
        config, variant : str
            As of :meth:`generated`.
        module : str, optional
            That of a harness. One that is handed its block does not import it: both count.
        """
        own = self.component.__module__
        return sources.digest(
            module or own,
            self.stem,
            config,
            repr(self.parameters(config)),
            sources.digest(own),
            *variant,
        )

    @property
    def sources(self) -> set[Path]:
        """Files of the block's hardware, and of all that it is made of."""
        return sources.files(self.component.__module__)

    @property
    def summary(self) -> str:
        """First paragraph of the component's docstring, on one line, without what it cites."""
        return CITED.sub("", " ".join(contract(self.component)[0].split()))


@cache
def blocks() -> dict[str, Block]:
    """Every block by its stem, in the order of the pipeline's stages.

    A block is a file of a stage, or of a folder of one, that has ``CONFIGS``.
    """
    by_stem = {"top": Block("top", "", "top")}
    for stage in STAGES:
        files = [*(RTL / stage).glob("*.py"), *(RTL / stage).glob("*/*.py")]
        for path in sorted(files, key=lambda path: path.stem):
            if "\nCONFIGS = {" in path.read_text():
                place = ".".join(path.relative_to(RTL).with_suffix("").parts)
                by_stem[path.stem] = Block(path.stem, stage, place)
    return by_stem


def block(stem: str) -> Block:
    """One block; an unknown name raises :class:`~fixfunc.spec.errors.InputError`."""
    known = blocks()
    if stem not in known:
        raise InputError("block", f"be one of {', '.join(known)}", stem)
    return known[stem]
