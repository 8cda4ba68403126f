# SPDX-License-Identifier: BSD-2-Clause
"""Modules of generated Verilog, and which instance is which."""

import re
from collections import Counter
from functools import cache

MODULE = re.compile(r"(?ms)^module (\\\S+ ?|[\w$]+).*?^endmodule\n?")
INSTANCE = re.compile(r"(?m)^  (\\\S+|[A-Za-z_][\w$]*) {1,2}(\\\S+|[A-Za-z_][\w$]*) {0,2}\($")


def modules(text: str) -> dict[str, str]:
    """Text of each module, by name, in order."""
    return {bare(found[1]): found[0] for found in MODULE.finditer(text)}


def instances(module: str) -> dict[str, str]:
    """Names of modules within a module, by the names of their instances."""
    return {bare(found[2]): bare(found[1]) for found in INSTANCE.finditer(module)}


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


def around(text: str, top: str, module: str) -> str:
    """Text of ``top`` and of all that stands below it, but for what stands in ``module`` alone."""
    known = modules(text)
    names = [top]
    for name in names:
        below = dict.fromkeys(instances(known[name]).values())
        names += [n for n in below if n not in (module, *names) and n in known]
    return "".join(known[name] for name in known if name in names)


def sizes(text: str, top: str) -> dict[str, tuple[int, int]]:
    """Of each module: how many instances of it stand below ``top``, and characters of one of them.

    Those of what stands below it count, once for each instance.
    """
    known = modules(text)
    below = {name: Counter(instances(module).values()) for name, module in known.items()}

    @cache
    def expanded(name):
        inner = sum(n * expanded(of) for of, n in below[name].items() if of in known)
        return len(known[name]) + inner

    counts: Counter = Counter()

    def count(name, times):
        counts[name] += times
        for of, n in below[name].items():
            if of in known:
                count(of, n * times)

    count(top, 1)
    return {name: (n, expanded(name)) for name, n in counts.items()}


def connections(module: str, instance: str) -> str:
    """Text of an instance within the text of a module; empty if it has none of that name."""
    name = re.escape(instance)
    found = re.search(rf"(?ms)^  \S+ {{1,2}}\\?{name} {{0,2}}\(\n.*?^  \);\n", module)
    return found[0] if found else ""


def bare(name: str) -> str:
    """A name without what Verilog puts around one that is no word."""
    return name.strip().removeprefix("\\")
