# SPDX-License-Identifier: BSD-2-Clause
"""Blocks as ``fixfunc list`` has them: a record made beside the hardware, read without it.

``python -m fixfunc.cosim.verilog.listed`` writes it anew, which needs Amaranth. The tests hold the
record to the hardware, entry by entry.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from fixfunc.cosim.parameters import settable, takes
from fixfunc.cosim.verilog import measured
from fixfunc.spec.errors import InputError

RECORD = Path(__file__).with_name("listed.json")


@cache
def _record() -> dict[str, dict[str, Any]]:
    return {entry["block"]: entry for entry in json.loads(RECORD.read_text())}


def names() -> list[str]:
    """Every block, in the order of the pipeline's stages."""
    return list(_record())


def block(stem: str) -> dict[str, Any]:
    """A block as ``fixfunc list --json`` shows it: ``block``, ``stage``, ``summary``.

    ``takes`` has in words what each parameter may be. And ``configurations`` by name: ``purpose``,
    ``parameters`` as ``--set`` takes them, ``um2`` and ``mhz`` where measured. An unknown name
    raises :class:`~fixfunc.spec.errors.InputError`.
    """
    if stem not in _record():
        raise InputError("block", f"be one of {', '.join(names())}", stem)
    entry = _record()[stem]
    configurations = {
        config: found | (measured.figures(stem, config) or {})
        for config, found in entry["configurations"].items()
    }
    return entry | {"configurations": configurations}


def of_hardware() -> list[dict[str, Any]]:
    """What the record has to be, read from the components themselves."""
    from fixfunc.cosim import catalogue

    return [
        {
            "block": block.stem,
            "stage": block.stage,
            "summary": block.summary,
            "takes": {
                name: said
                for params in block.configurations.values()
                for name, said in takes(params).items()
            },
            "configurations": {
                config: {"purpose": purpose, "parameters": settable(block.parameters(config))}
                for config, purpose in block.purposes.items()
            },
        }
        for block in catalogue.blocks().values()
    ]


def main() -> None:
    """Write the record."""
    from fixfunc.cosim import files

    files.write(RECORD, json.dumps(of_hardware(), indent=1) + "\n")


if __name__ == "__main__":
    main()
