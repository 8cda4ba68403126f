# SPDX-License-Identifier: BSD-2-Clause
"""Modules of generated Verilog, and which instance is which."""

import re

MODULE = re.compile(r"(?ms)^module (\\\S+ ?|[\w$]+).*?^endmodule\n?")
INSTANCE = re.compile(r"(?m)^  (\\\S+|[A-Za-z_][\w$]*)  ?(\\\S+|[A-Za-z_][\w$]*) ?\($")


def modules(text: str) -> dict[str, str]:
    """Text of each module, by name, in order."""
    return {_bare(found[1]): found[0] for found in MODULE.finditer(text)}


def instances(module: str) -> dict[str, str]:
    """Names of modules within a module, by the names of their instances."""
    return {_bare(found[2]): _bare(found[1]) for found in INSTANCE.finditer(module)}


def paths(text: str, top: str) -> dict[str, str]:
    """The module of every instance, by its place: ``top``, ``top.instance``, and so on."""
    below = {name: instances(module) for name, module in modules(text).items()}
    found = {top: top}
    waiting = [top]
    for path in waiting:
        for instance, module in below.get(found[path], {}).items():
            found[f"{path}.{instance}"] = module
            waiting.append(f"{path}.{instance}")
    return found


def places(found: dict[str, str]) -> dict[str, list[str]]:
    """Places of the instances of each module, from what :func:`paths` finds."""
    of: dict[str, list[str]] = {}
    for path, module in found.items():
        of.setdefault(module, []).append(path)
    return of


def part(text: str, module: str) -> str:
    """Text of a module and of all that stand below it."""
    known = modules(text)
    names = [module]
    for name in names:
        names += [n for n in dict.fromkeys(instances(known[name]).values()) if n not in names]
    return "".join(known[name] for name in known if name in names)


def _bare(name):
    return name.strip().removeprefix("\\")
