# SPDX-License-Identifier: BSD-2-Clause
"""Whatever is called: errors are typed, change nothing, and what was drawn is that of the rest."""

from collections import Counter, deque

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fixfunc.models.host.packets import RING, STATES
from fixfunc.models.host.queries import QueryKind
from fixfunc.spec.errors import InputError
from tests.host.calls.any_calls import calls
from tests.host.calls.worlds import BEGIN, World
from tests.tiers import SEED

LENGTH = 40  # calls of an example, at most
ONE = settings(
    max_examples=2,
    phases=(Phase.generate, Phase.shrink),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
HELD = ("buffer", "texture", "query", "swap chain")
PLACED = ("buffer", "texture", "query")  # at an address


def state(world):
    """What a call may change: what is bound, what is held, and memory behind ring and tables."""
    world.device.context.flush()
    bound = [
        {name: copied(value) for name, value in vars(group).items()}
        for context in (world.device.context, world.deferred)
        for group in context._groups
    ]
    bound.append(len(world.deferred._calls))
    held = [
        {name: copied(value) for name, value in vars(result).items()}
        for kind in HELD
        for result in world.results.get(kind, ())
    ]
    held.append({name: copied(value) for name, value in vars(world.device.heap).items()})
    for display in world.device.machine.displays.values():
        held.append((dict(vars(display)), display.moved, display.kept))
    return bound, held, world.device.memory[RING + STATES :].tobytes()


def copied(value):
    """Of what is changed in its place a copy."""
    return value.copy() if isinstance(value, dict | list | deque) else value


def shown(world):
    """What a program can read, and where: every subresource, every query that has ended."""
    context = world.device.context
    context.clear_state()  # predication, too
    out = [[held.address for kind in PLACED for held in world.results.get(kind, ())]]
    out += [[view.counter_address for view in world.results.get("unordered", ())]]
    for resource in world.resources():
        for mapped in list(resource.mapped.values()):
            mapped.unmap()
        layout = getattr(resource, "layout", None)
        places = (
            [(level, layer) for level in range(layout.levels) for layer in range(layout.layers)]
            if layout
            else [(0, 0)]
        )
        out += [context.read(resource, place).tobytes() for place in places]
    for number, display in world.device.machine.displays.items():
        out.append((number, display.moved, display.kept))
        out += [display.frame().tobytes() for _ in range(6)]  # what waits is shown, too
    for chain in world.results["swap chain"]:
        out += [frame.tobytes() for frame in chain.frames]
    # A timestamp counts pieces of work, those that are refused in the middle, too.
    queries = [
        query
        for query in world.results.get("query", ())
        if query.ended and not query.released and query.kind != QueryKind.TIMESTAMP
    ]
    return out, [context.get_data(query) for query in queries]


def run(made):
    """Make calls; returns the world and those that were legal."""
    world = World()
    for call in BEGIN:
        world.make(call)
    legal = []
    for call, watched in made:
        before = state(world) if watched else None
        try:
            world.make(call)
        except InputError:
            assert before is None or state(world) == before, call
        else:
            legal.append(call)
    return world, legal


@pytest.mark.plan("host-17")
@pytest.mark.parametrize("count", [40, pytest.param(4000, marks=pytest.mark.qualify)])
def test_only_legal_calls_have_an_effect(count):
    """10^3 calls, and 10^5 at qualify; the others raise nothing but typed errors.

    Each seed makes two examples, the least and one at random: those that hypothesis makes of
    earlier ones repeat their calls.
    """
    tried = Counter()

    @ONE
    @given(st.lists(st.tuples(calls(), st.booleans()), min_size=LENGTH // 2, max_size=LENGTH))
    def check(made):
        world, legal = run(made)
        tried.update(legal=len(legal), all=len(made))
        again = World()
        for call in (*BEGIN, *legal):
            again.make(call)
        assert shown(world) == shown(again)

    for number in range(count):
        seed(SEED + number)(check)()
    assert tried["all"] >= 25 * count
    assert 0.2 < tried["legal"] / tried["all"] < 0.9
