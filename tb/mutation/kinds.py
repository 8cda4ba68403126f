# SPDX-License-Identifier: BSD-2-Clause
"""What may be changed of a node: each change is a kind, words for it, and the changed node."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Mux, Shape, Signal, Value

from fixfunc.tb.mutation.nodes import Assign, Operator, Part, Slice, SwitchValue

# By operator, what stands in its place.
SWAPS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "&": "|",
    "|": "&",
    "^": "|",
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "r|": "r&",
    "r&": "r|",
    "r^": "r|",
}
UNSIGNED = "sign lost"
TERMS = "&|"  # operators of which an operand may be lost
COUNTED = {"+", "-", "*", "==", "!=", "<", "<=", ">", ">="}  # whose constants may be off by one

NUMBER = 64  # bits of a value, at most, whose top bit may be lost; beyond that it is a structure


class Change(NamedTuple):
    """One change of a value: ``make`` takes the node, its operands changed already or not."""

    kind: str
    words: str
    make: Callable[[Value], Value]


def fit(value: Value, shape: Shape) -> Value:
    """A value cut or extended to a shape, as an assignment does it."""
    if value.shape() == shape:
        return value
    missing = shape.width - len(value)
    if missing > 0:
        top = value[-1] if value.shape().signed and len(value) else Const(0, 1)
        value = Cat(value, *[top] * missing)
    cut = value[: shape.width]
    return cut.as_signed() if shape.signed else cut


def off_by_one(value: int, shape: Shape) -> Iterator[tuple[int, Const]]:
    """The neighbours of a constant, as its difference and the new constant."""
    for step in (1, -1):
        if value + step >= 0 or shape.signed:
            yield step, Const(value + step)


def other(value: Const) -> tuple[int, Const]:
    """Another constant of the same width, and its difference."""
    top = (1 << len(value)) - 1
    step = 1 if value.value & top < top else -1
    return step, Const(value.value + step, value.shape())


def of_value(node: Value, siblings: dict) -> list[Change]:
    """Changes of a value."""
    if isinstance(node, Operator):
        return [*_of_operator(node)]
    if isinstance(node, Slice):
        return [*_of_slice(node, siblings)]
    if isinstance(node, Part):
        return [
            Change(
                "index",
                "index plus 1",
                lambda n: Part(n.value, fit(n.offset + 1, n.offset.shape()), n.width, n.stride),
            )
        ]
    if isinstance(node, SwitchValue):
        return [*_of_choice(node)]
    return []


def _of_operator(node: Operator) -> Iterator[Change]:
    name = node.operator
    if name in SWAPS and (len(node.operands) == 2 or name.startswith("r")):
        swap = SWAPS[name]
        yield Change("operator", f"{name} becomes {swap}", lambda n: Operator(swap, n.operands))
    elif name in "~-" and len(node.operands) == 1:
        yield Change("operator", f"{name} lost", lambda n: n.operands[0])
    elif name == "s":
        yield Change("width", UNSIGNED, lambda n: n.operands[0])
    if name in TERMS:
        for lost, side in enumerate(("left", "right")):
            yield Change("term", f"{side} operand lost", lambda n, k=lost: n.operands[1 - k])
    if name in COUNTED and len(node.operands) == 2:
        for place, operand in enumerate(node.operands):
            if isinstance(operand, Const):
                for step, new in off_by_one(operand.value, operand.shape()):
                    yield Change("constant", f"operand {place} {step:+}", _operand(place, new))


def _operand(place: int, new: Const) -> Callable[[Value], Value]:
    def make(node):
        operands = [*node.operands]
        operands[place] = new
        return Operator(node.operator, operands)

    return make


def _of_slice(node: Slice, siblings: dict) -> Iterator[Change]:
    if id(node) in siblings:
        _, key, name, swapped = siblings[id(node)]
        yield Change("field", f"{key} becomes {name}", lambda _: swapped)
        return
    whole = len(node.value)
    width = node.stop - node.start
    step = 1 if node.stop < whole else -1
    if 0 < width < whole:
        yield Change(
            "index",
            f"bits {step:+}",
            lambda n: n.value[n.start + step : n.stop + step],
        )
    if width > 1 and node.start and node.stop == whole:  # a number's upper bits: does it fit?
        yield Change(
            "index",
            "first bit +1",
            lambda n: Cat(n.value[n.start + 1 : n.stop], n.value[n.stop - 1]),
        )


def is_mux(node: SwitchValue) -> bool:
    """Whether a choice is a ``Mux``: of two, the first where its test is zero."""
    return (
        len(node.cases) == 2
        and node.cases[0][0] == ("0" * len(node.test),)
        and node.cases[1][0] is None
    )


def _of_choice(node: SwitchValue) -> Iterator[Change]:
    if not is_mux(node):
        yield Change(
            "index",
            "index plus 1",
            lambda n: SwitchValue(fit(n.test + 1, n.test.shape()), n.cases),
        )
        return
    yield Change("arms", "arms swapped", lambda n: Mux(n.test, n.cases[0][1], n.cases[1][1]))
    for place, words in ((1, "first arm"), (0, "second arm")):
        arm = node.cases[place][1]
        if isinstance(arm, Const) and len(arm):
            step, new = other(arm)
            yield Change("constant", f"{words} {step:+}", _arm(place, new))


def _arm(place: int, new: Const) -> Callable[[Value], Value]:
    def make(node):
        arms = [node.cases[0][1], node.cases[1][1]]
        arms[place] = new
        return Mux(node.test, arms[1], arms[0])

    return make


def of_assigned(statement: Assign) -> list[Change]:
    """Changes of the value that is assigned."""
    value = statement.rhs
    if isinstance(value, Const):
        step, new = other(value) if len(value) else (0, value)
        return [Change("constant", f"value {step:+}", lambda _: new)] if step else []
    width = min(len(value), len(statement.lhs))
    if not 2 <= width <= NUMBER:
        return []
    words = f"without bit {width - 1}"
    return [Change("width", words, lambda v: narrowed(v, width - 1))]


def narrowed(value: Value, width: int) -> Value:
    """A value that was stored in too few bits."""
    return value[:width].as_signed() if value.shape().signed else value[:width]


def of_condition() -> list[Change]:
    """Changes of the condition of an ``m.If`` or ``m.Elif``, one bit."""
    return [
        Change("condition", "negated", lambda v: ~v),
        Change("condition", "always", lambda _: Const(1, 1)),
        Change("condition", "never", lambda _: Const(0, 1)),
    ]


def reset_value(signal: Signal) -> int:
    """Another value for a register to have after reset."""
    top = (1 << len(signal)) - 1
    return (signal.init & top) ^ 1
