# SPDX-License-Identifier: BSD-2-Clause
"""What a shell may complete: commands, options, blocks, configurations, parameters, values.

``eval "$(register-python-argcomplete fixfunc)"`` switches it on; argcomplete then asks the program
itself, so that nothing is written twice. Nothing of the hardware is imported for an answer.
"""

import argparse
import importlib
import os
import re
from collections.abc import Callable, Iterable

from fixfunc.cosim.parameters import JOINT

JOINED = f", joined by {JOINT}"


def answer(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks what may follow, and end; do nothing for anybody else."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    for command, action in _actions(parser):
        completer = _COMPLETERS.get(f"{command} {action.dest}", _COMPLETERS.get(action.dest))
        if completer:
            action.completer = completer
    argcomplete.autocomplete(parser)


def _actions(parser):
    """Arguments of every command, and its name."""
    for action in parser._subparsers._group_actions:
        for name, command in action.choices.items():
            yield from ((name, argument) for argument in command._actions)


def _blocks(**_asked) -> Iterable[str]:
    from fixfunc.cosim.verilog import listed

    return listed.names()


def _blocks_and_all(**_asked) -> Iterable[str]:
    return [*_blocks(), "all"]


def _configurations(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    from fixfunc.cosim.verilog import listed

    known = parsed_args.block in listed.names()
    return listed.block(parsed_args.block)["configurations"] if known else ()


def _changes(parsed_args: argparse.Namespace, prefix: str, **_asked) -> Iterable[str]:
    """Parameters of a block, for ``--set``; behind one and its ``=`` what it takes."""
    from fixfunc.cosim.verilog import listed

    if parsed_args.block not in listed.names():
        return ()
    block = listed.block(parsed_args.block)
    name, equals, value = prefix.partition("=")
    if not equals:
        return [f"{one}=" for one in block["configurations"]["default"]["parameters"]]
    said = block["takes"].get(name, "")
    words = _words(said)
    if said.endswith(JOINED):
        words = _further(value, words, JOINT)
    return [f"{name}={word}" for word in words]


def _words(said: str) -> list[str]:
    """Words that a parameter takes, from what the record says of it; of numbers none."""
    found = re.fullmatch(rf"(?:one|some) of (.*?)(?:{re.escape(JOINED)})?", said)
    words = re.split(", ", found[1]) if found else re.split(" or ", said)
    if len(words) == 1 and "." in words[0]:
        module, _, encoding = words[0].rpartition(".")
        return [*getattr(importlib.import_module(module), encoding).__members__]
    return words if len(words) > 1 or found else []


def _further(text: str, words: Iterable[str], joint: str) -> list[str]:
    """A list that begins as ``text`` does, and one of the words that it lacks behind that."""
    *before, _ = text.split(joint)
    return [joint.join([*before, word]) for word in words if word not in before]


def _memories(prefix: str, **_asked) -> Iterable[str]:
    from fixfunc.cosim.sweep.parameters import MEMORIES

    return _further(prefix, MEMORIES, ",")


def _samples(**_asked) -> Iterable[str]:
    from fixfunc.spec.state import SAMPLE_COUNTS

    return map(str, SAMPLE_COUNTS)


def _simulators(**_asked) -> Iterable[str]:
    from fixfunc.cosim.toolchain import SIMULATORS

    return SIMULATORS


def _over(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    """Parameters of a sweep."""
    from fixfunc.cosim.sweep import parameters

    machine = "golden" if parsed_args.golden else "hardware"
    return [f"{one.name}=" for one in parameters.PARAMETERS if machine in one.machines]


def _explored(**_asked) -> Iterable[str]:
    from fixfunc.cosim.explore.bandwidth import NAME

    return ["teapot", NAME]


def _named(scene):
    """Configurations that a scene of ``explore`` has by name."""
    from fixfunc.cosim.explore import bandwidth, machines

    return bandwidth.CONFIGURATIONS if scene == bandwidth.NAME else machines.MACHINES


def _configurations_of_scene(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    return _named(parsed_args.scene)


def _parameters_of_scene(parsed_args: argparse.Namespace, **_asked) -> Iterable[str]:
    from fixfunc.cosim import parameters

    first = next(iter(_named(parsed_args.scene).values()))
    return [f"{name}=" for name in parameters.settable(first)]


_COMPLETERS: dict[str, Callable[..., Iterable[str]]] = {
    "block": _blocks,
    "verilog block": _blocks_and_all,
    "sim": _simulators,
    "memory": _memories,
    "samples": _samples,
    "config": _configurations,
    "changes": _changes,
    "over": _over,
    "explore scene": _explored,
    "explore on": _configurations_of_scene,
    "explore over": _parameters_of_scene,
}
