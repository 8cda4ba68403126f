# SPDX-License-Identifier: BSD-2-Clause
"""Blocks as ``fixfunc list`` has them: a record made beside the hardware, read without it.

``python -m fixfunc.cosim.verilog.listed`` writes it anew, which needs Amaranth. The tests hold the
record to the hardware, entry by entry.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fixfunc.cosim.parameters import settable, takes
from fixfunc.cosim.verilog import measured
from fixfunc.spec.errors import InputError

if TYPE_CHECKING:
    from fixfunc.cosim.catalogue import Block

LANE = re.compile(r"\d+")
FEW = 4  # lanes that are listed one by one
RECORD = Path(__file__).with_name("listed.json")


@cache
def _record() -> dict[str, dict[str, Any]]:
    return {entry["block"]: entry for entry in json.loads(RECORD.read_text())}


def names() -> list[str]:
    """Every block, in the order of the pipeline's stages."""
    return list(_record())


def block(stem: str) -> dict[str, Any]:
    """A block as ``fixfunc list --json`` shows it: ``block``, ``stage``, ``summary``.

    ``takes`` has in words what each parameter may be, ``fields`` what each field means, by port and
    table: lanes of one meaning are one entry, as ``depth0..depth63``, of all that a configuration
    has. And ``configurations`` by name: ``purpose``,
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
            "fields": fields(block),
            "configurations": {
                config: {"purpose": purpose, "parameters": settable(block.parameters(config))}
                for config, purpose in block.purposes.items()
            },
        }
        for block in catalogue.blocks().values()
    ]


def fields(block: "Block") -> dict[str, dict[str, dict[str, str]]]:
    """Meanings of fields in any configuration, by port, table and names."""
    from fixfunc.cosim.vectors.fields import tables
    from fixfunc.cosim.verilog.generate import ports

    found: dict[str, dict[str, dict[str, str]]] = {}
    for config in block.configurations:
        for port in ports(block.create(config)):
            for table in tables(port):
                said = found.setdefault(port.name, {}).setdefault(table.name, {})
                said |= {field.name: field.meaning for field in table.fields}
    return {
        port: {table: _together(said) for table, said in by_table.items()}
        for port, by_table in found.items()
    }


def _together(said):
    """Many lanes of one meaning as one entry, the first and the last."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, meaning in said.items():
        groups.setdefault((LANE.sub("0", name), meaning), []).append(name)
    together = {}
    for (_, meaning), names in groups.items():
        shown = names if len(names) <= FEW else [f"{names[0]}..{names[-1]}"]
        together |= dict.fromkeys(shown, meaning)
    return together


def main() -> None:
    """Write the record."""
    from fixfunc.cosim import files

    files.write(RECORD, json.dumps(of_hardware(), indent=1) + "\n")


if __name__ == "__main__":
    main()
