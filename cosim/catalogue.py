# SPDX-License-Identifier: BSD-2-Clause
"""The blocks, by name: found by where their files lie, imported on demand."""

import importlib
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from amaranth.hdl import UnusedElaboratable
from amaranth.lib import wiring

from fixfunc.cosim import codec, toolchain
from fixfunc.cosim.simulation.library import OPTIMISE
from fixfunc.cosim.simulation.volume import LATENCIES, Memory, Run, Volume
from fixfunc.cosim.verilog import sources
from fixfunc.cosim.verilog.generate import contract, generate
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TRANSFER

# Blocks are made here for their ports alone, too: what was generated of them is kept.
warnings.simplefilter("ignore", UnusedElaboratable)

RTL = Path(__file__).parents[1] / "rtl"
STAGES = (
    "frontend",
    "tessellation",
    "geometry",
    "raster",
    "depth",
    "texture",
    "output",
    "memory",
)


class Block(NamedTuple):
    """A block: its stem, its stage, and where its hardware lies below ``rtl``, with dots."""

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
    def bench(self) -> ModuleType:
        """Module of the bench, with ``requests``, ``expected`` and ``describe``."""
        place = f"{self.stage}.{self.stem}" if self.stage else self.stem
        return importlib.import_module(f"fixfunc.tb.{place}")

    @property
    def configurations(self) -> dict[str, Any]:
        """Parameters by the names of the configurations."""
        return self.rtl.CONFIGS

    @property
    def purposes(self) -> dict[str, str]:
        """What each configuration is for, in words."""
        return self.rtl.PURPOSE

    def parameters(self, name: str = "default") -> Any:
        """The parameters of a configuration.

        An unknown name raises :class:`~fixfunc.spec.errors.InputError`.
        """
        if name not in self.configurations:
            raise InputError(
                f"configuration of {self.stem}", f"be one of {', '.join(self.configurations)}", name
            )
        return self.configurations[name]

    def create(self, config: str = "default") -> wiring.Component:
        """The component, in a configuration."""
        return self.component(self.parameters(config))

    def expected(self, rows: np.ndarray, config: str = "default") -> dict[str, np.ndarray]:
        """What the golden model gives for packed beats in: packed beats out, by port."""
        return codec.by_port(self.bench.expected(rows, self.parameters(config)))

    def differences(
        self, given: dict[str, np.ndarray], expected: dict[str, np.ndarray], config: str = "default"
    ) -> tuple[int, str | None]:
        """How many beats of a component are not the expected ones, and the first of them in words,
        or None.

        Parameters
        ----------
        given, expected : dict of ndarray of uint64
            Packed beats, by port.
        """
        count = 0
        first = None
        for port, wanted in expected.items():
            got = given[port]
            both = min(len(given[port]), len(wanted))
            differ = np.flatnonzero((got[:both] != wanted[:both]).any(1))
            count += len(differ) + abs(len(got) - len(wanted))
            if first is None and len(differ):
                n = differ[0]
                words = [
                    self.bench.describe(rows[n], self.parameters(config))
                    if port == "o"
                    else codec.to_hex(rows[n])
                    for rows in (got, wanted)
                ]
                first = "{}: beat {}\n  got      {}\n  expected {}".format(port, n, *words)
            elif first is None and len(got) != len(wanted):
                first = f"{port}: {len(got)} beats, expected {len(wanted)}"
        return count, first

    def simulated(self, config: str = "default") -> wiring.Component:
        """What stands before the simulator: the component, or what its bench puts around it."""
        if hasattr(self.bench, "Harness"):
            return self.bench.Harness(self.parameters(config))
        return self.create(config)

    def verilog(self, config: str = "default", simulated: bool = False) -> Path:
        """Path of the block's SystemVerilog, with ``simulated`` of what :meth:`simulated` says;
        elaborated once, then kept.

        Its name holds the hash of its sources, so that nothing is elaborated to find it.
        """
        component = self.simulated(config) if simulated else self.create(config)
        digest = sources.digest(
            type(component).__module__, self.stem, config, repr(self.parameters(config))
        )
        path = toolchain.BUILD / "verilog" / f"{self.stem}-{config}-{digest}.sv"
        return toolchain.once(
            path, lambda out: out.write_text(generate(component, self.stem, config))
        )

    def volume(self, config: str = "default", optimise: int = OPTIMISE) -> Volume:
        """What :meth:`simulated` says as a :class:`~fixfunc.cosim.simulation.volume.Volume`."""
        return Volume(
            self.simulated(config),
            self.stem,
            self.verilog(config, simulated=True).read_text(),
            optimise,
        )

    def compare(
        self,
        volume: Volume,
        rows: np.ndarray,
        config: str = "default",
        paces: tuple[str, str] = ("full", "full"),
        seed: int = 0,
        **limits: int,
    ) -> tuple[Run, dict[str, np.ndarray], int, str | None]:
        """Send packed beats through a Verilated component and through the golden model.

        A bench whose golden model must know in which order things came to pass reads that from what
        came out: ``replay``. ``inputs`` says what goes into which port, if there are several. One
        with ``memory`` puts that behind the component's AXI4 ports, as fast or slow as the seed
        says; in the end it is compared like an output.

        Returns
        -------
        run : fixfunc.cosim.simulation.volume.Run
        expected : dict of ndarray of uint64
            Packed beats, by port.
        count, first
            As of :meth:`differences`.
        """
        replay = getattr(self.bench, "replay", None)
        expected = {"o": rows} if replay else self.expected(rows, config)
        memory = None
        if hasattr(self.bench, "memory"):
            memory = Memory(
                self.bench.memory(rows, self.parameters(config)), LATENCIES[seed % len(LATENCIES)]
            )
        inputs = (
            self.bench.inputs(rows, self.parameters(config))
            if hasattr(self.bench, "inputs")
            else {"i": rows}
        )
        run = volume.run(
            inputs,
            2 * max(map(len, expected.values())) + 65536,
            paces,
            seed,
            memory=memory,
            **limits,
        )
        if memory:
            run.outputs["memory"] = memory.data.view(np.uint64).reshape(-1, TRANSFER // 64)
        if replay:
            expected = codec.by_port(replay(rows, run.outputs, self.parameters(config)))
        return run, expected, *self.differences(run.outputs, expected, config)

    @property
    def summary(self) -> str:
        """First paragraph of the component's docstring, on one line."""
        return " ".join(contract(self.component)[0].split())


@cache
def blocks() -> dict[str, Block]:
    """Every block by its stem, in the order of the pipeline's stages.

    A block is a file of a stage, or of a folder of one, that has ``CONFIGS``.
    """
    found = {"top": Block("top", "", "top")}
    for stage in STAGES:
        files = [*(RTL / stage).glob("*.py"), *(RTL / stage).glob("*/*.py")]
        for path in sorted(files, key=lambda path: path.stem):
            if "\nCONFIGS = {" in path.read_text():
                place = ".".join(path.relative_to(RTL).with_suffix("").parts)
                found[path.stem] = Block(path.stem, stage, place)
    return found


def block(stem: str) -> Block:
    """One block; an unknown name raises :class:`~fixfunc.spec.errors.InputError`."""
    known = blocks()
    if stem not in known:
        raise InputError("block", f"be one of {', '.join(known)}", stem)
    return known[stem]


def frames() -> ModuleType:
    """What turns a golden frame into a command stream, and knows what should come of it."""
    return importlib.import_module("fixfunc.tb.frames")
