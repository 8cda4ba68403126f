# SPDX-License-Identifier: BSD-2-Clause
"""Where the bits of a value are."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike


def named(m: Module, value: ValueLike, name: str) -> Signal:
    """``value`` under a name of its own: what Amaranth writes is an expression anew wherever it is
    used.
    """
    out = Signal(Value.cast(value).shape(), name=name)
    m.d.comb += out.eq(value)
    return out


def minimum(a: Value, b: ValueLike) -> Value:
    """The lesser of two; ``a`` if they are equal."""
    return Mux(a > b, b, a)


def maximum(a: Value, b: ValueLike) -> Value:
    """The greater of two; ``a`` if they are equal."""
    return Mux(a < b, b, a)


def clamp(value: Value, low: ValueLike, high: ValueLike) -> Value:
    """A value cut to a range, in one level of choice."""
    return Mux(value < low, low, Mux(value > high, high, value))


def gated(value: Value, flag: ValueLike) -> Value:
    """The value where a flag is set, else zero; the flag is written once, however wide it is."""
    return Mux(flag, value, 0)


def negated(value: Value, negative: Value) -> Value:
    """The value, or less it: bits above the lowest one set change, which takes no carry."""
    value = value.as_unsigned()
    return Cat(value[n] ^ (negative & value[:n].any()) for n in range(len(value))).as_signed()


def choose(index: Value, options: Sequence[ValueLike | None]) -> ValueLike | None:
    """The option of that number, by halves; one that is None costs nothing."""
    if len(options) == 1:
        return options[0]
    half = 1 << (len(options) - 1).bit_length() - 1
    low = choose(index, options[:half])
    high = choose(index, options[half:])
    if low is None or high is None:
        return high if low is None else low
    return Mux(index[half.bit_length() - 1], high, low)


def pick(one_hot: Value, options: Sequence[ValueLike]) -> Value:
    """The option whose bit is set, of one bit or none: ands and ors."""
    out = Const(0)
    for bit, option in zip(one_hot, options, strict=True):
        out = out | Mux(bit, option, 0)
    return out


class Selection:
    """Options by one index, as an AND and an OR of each that differs: many choose by few flags.

    Parameters
    ----------
    m : Module
    index : Value
    numbers : iterable of int
        What the index may be.
    name : str
        Of the flags.
    ahead : bool
        The index comes a clock before the options: flags, which reach many gates, are registers.
    """

    def __init__(
        self, m: Module, index: Value, numbers: Iterable[int], name: str, ahead: bool = False
    ) -> None:
        self._m = m
        self._domain = "sync" if ahead else "comb"
        self._index = index
        self._numbers = frozenset(numbers)
        self._name = name
        self._flags: dict[frozenset[int], ValueLike] = {}

    def flag(self, numbers: Iterable[int]) -> ValueLike:
        """Whether the index is one of them."""
        numbers = frozenset(numbers) & self._numbers
        if numbers not in self._flags:
            if numbers == self._numbers:
                flag = Const(1, 1)
            elif not numbers:
                flag = Const(0, 1)
            else:
                equal = Cat(self._index == number for number in sorted(numbers))
                flag = Signal(name=f"{self._name}_{len(self._flags)}")
                self._m.d[self._domain] += flag.eq(equal.any())
            self._flags[numbers] = flag
        return self._flags[numbers]

    def of(self, keys: Mapping[int, Hashable], options: Mapping[Hashable, Value]) -> Value:
        """The option whose key is that of the index; zero where there is no key."""
        numbers: dict[Hashable, set[int]] = {}
        for number, key in keys.items():
            numbers.setdefault(key, set()).add(number)
        out: Value = Const(0, 1)
        for key, those in numbers.items():
            flag = self.flag(those)
            option = Value.cast(options[key])
            whole = self._numbers <= those
            out = out | (option if whole else gated(option, flag))
        return out


def lowest(value: Value) -> Value:
    """The lowest bit set alone."""
    return Cat(value[n] & ~value[:n].any() for n in range(len(value)))


def among(value: Value, options: Iterable[ValueLike]) -> Value:
    """The value is one of the options."""
    return Cat(value == option for option in options).any()


def at_most_one(value: Value) -> Value:
    """No second bit is set."""
    return ~Cat(value[n] & value[:n].any() for n in range(1, len(value))).any()


def number(one_hot: ValueLike) -> Value:
    """Which bit is set."""
    one_hot = Value.cast(one_hot)
    return Cat(
        Cat(one_hot[n] for n in range(len(one_hot)) if n >> b & 1).any()
        for b in range((len(one_hot) - 1).bit_length())
    )


def leading_zeros(value: ValueLike) -> Value:
    """Zeros above the highest bit set, by halves.

    Of zero, all of its bits (one less if their number is a power of two).
    """

    def halves(bits):
        if len(bits) == 1:
            return []
        low, high = bits[: len(bits) // 2], bits[len(bits) // 2 :]
        high_zero = ~high.any()
        digits = zip(halves(low), halves(high), strict=True)
        return [*(Mux(high_zero, *pair) for pair in digits), high_zero]

    value = Value.cast(value)
    missing = (1 << (len(value) - 1).bit_length()) - len(value)
    filled = Cat(Const((1 << missing) - 1, missing), value) if missing else value
    return Cat(halves(filled))
