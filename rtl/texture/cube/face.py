# SPDX-License-Identifier: BSD-2-Clause
"""The face of a cube that a pixel sees, the place on it, and its gradients."""

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.digit_recurrence import Divide
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply_add import MultiplyAdd
from fixfunc.rtl.texture.level_of_detail.gradients import VECTOR, late

# Of each face, +x to -z, what lies along s, t and its normal [fs 5.3.8].
FACES = ("-z-y+x", "+z-y-x", "+x+z+y", "+x-z-y", "+x-y+z", "-x-y-z")
SIGN = 1 << FLOAT32.magnitude
ONE, HALF = 0x3F800000, 0x3F000000
DIRECTION = ArrayLayout(32, 3)
WAYS = "across", "down"
# A pixel's direction, and the two whose difference each gradient is.
SEEN = StructLayout({"own": DIRECTION} | {way: ArrayLayout(DIRECTION, 2) for way in WAYS})
FACED = StructLayout({"face": 3, "u": 32, "v": 32} | dict.fromkeys(WAYS, VECTOR))


def parts_of(face: int) -> list[tuple[int, bool]]:
    """Components along s, t and the normal of a face: which, and whether negated."""
    signs, names = FACES[face][::2], FACES[face][1::2]
    return [("xyz".index(name), sign == "-") for sign, name in zip(signs, names, strict=True)]


class Face(wiring.Component):
    """A pixel a clock; free-running.

    The face is that of the greatest component, z before y before x. With s, t and n along it and
    its normal u is s / n / 2 + 1/2, a quotient and a multiply-add; a gradient is
    (ds - s / n dn) / n / 2, a multiply-add and a quotient. What is not finite of a direction is 0.

    Members
    -------
    i : In(SEEN)
    o : Out(FACED)
        :attr:`LATENCY` clocks later.
    """

    _FACE = 2
    _DIFFERENCES = 1 + Add.STEPS + 1
    _SHARES = _FACE + Divide.STEPS
    _SLOPES = _SHARES + MultiplyAdd.STEPS
    _QUOTIENTS = _SLOPES + Divide.STEPS
    LATENCY = _QUOTIENTS + 1

    def __init__(self) -> None:
        super().__init__({"i": In(SEEN), "o": Out(FACED)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        face, along = self._face(m)
        steps = self._steps(m, delay(m, face, 1 + Add.STEPS - self._FACE, "face"))
        # It has no sign: of a component below zero it points the other way.
        length = along[2][: FLOAT32.magnitude]
        normal = named(m, Mux(FLOAT32.is_zero(along[2]), ONE, length), "normal")
        shares = [
            self._unit(m, Divide(), f"share_{name}", along[n], normal)
            for n, name in enumerate("uv")
        ]
        held = late(m, "face_held", self._SLOPES - self._FACE, face=face, normal=normal)
        clocks = self._SHARES - self._DIFFERENCES
        moves = {way: late(m, f"{way}_held", clocks, **values) for way, values in steps.items()}
        places = [
            self._unit(m, MultiplyAdd(), f"place_{name}", share, HALF, HALF)
            for share, name in zip(shares, "uv", strict=True)
        ]
        clocks = self._QUOTIENTS - self._SLOPES
        done = late(m, "place_held", clocks, face=held.face, u=places[0], v=places[1])
        m.d.sync += [self.o[name].eq(done[name]) for name in ("face", "u", "v")]
        for way, move in moves.items():
            for share, name in zip(shares, "uv", strict=True):
                operands = share ^ SIGN, move.n, move[name]
                slope = self._unit(m, MultiplyAdd(), f"{way}_{name}", *operands)
                found = self._unit(m, Divide(), f"{way}_{name}_quotient", slope, held.normal)
                m.d.sync += self.o[way][name].eq(halved(found))
        return m

    def _face(self, m):
        """The number of the face, and components along s, t and its normal; two clocks."""
        finite = [
            register(m, regular(value), 32, f"component_{n}") for n, value in enumerate(self.i.own)
        ]
        x, y, z = (value[: FLOAT32.magnitude] for value in finite)
        of_z = named(m, (z >= x) & (z >= y), "of_z")
        of_y = named(m, y >= x, "of_y")
        greatest = Mux(of_z, finite[2], Mux(of_y, finite[1], finite[0]))
        is_negative = FLOAT32.sign_of(greatest) & ~FLOAT32.is_zero(greatest)
        face = named(m, Cat(is_negative, ~of_z & of_y, of_z), "found_face")
        along = [
            register(m, value, 32, f"along_{n}") for n, value in enumerate(on_face(finite, face))
        ]
        return register(m, face, 3, "face"), along

    def _steps(self, m, face):
        """Differences along s, t and the normal, by way and name."""
        found = {}
        for way in WAYS:
            ends = [
                [register(m, end[n], 32, f"{way}_{n}_{k}") for n in range(3)]
                for k, end in enumerate(self.i[way])
            ]
            differences = [
                self._unit(m, Add(), f"{way}_difference_{n}", ends[1][n], ends[0][n] ^ SIGN)
                for n in range(3)
            ]
            found[way] = {
                name: register(m, value, 32, f"{way}_step_{name}")
                for name, value in zip("uvn", on_face(differences, face), strict=True)
            }
        return found

    def _unit(self, m, unit, name, *operands):
        m.submodules[name] = unit
        for port, operand in zip("abc", operands, strict=False):
            m.d.comb += getattr(unit, port).eq(operand)
        return unit.o


def on_face(vector: list[Value], face: Value) -> list[Value]:
    """Components of a vector along s, t and the normal of a face."""
    options = [
        [vector[n] ^ (SIGN if negated else 0) for n, negated in parts_of(number)]
        for number in range(len(FACES))
    ]
    return [choose(face, [option[k] for option in options]) for k in range(3)]


def regular(value: Value) -> Value:
    """A float32; of what is not finite 0, of a denormal a zero of its sign."""
    exponent = FLOAT32.exponent_of(value)
    magnitude = gated(value[: FLOAT32.magnitude], exponent != 0)
    signed = Cat(magnitude, value[FLOAT32.magnitude])
    return gated(signed, exponent != FLOAT32.top)


def halved(value: Value) -> Value:
    """Half a float32; what is too small is a zero of its sign."""
    exponent = FLOAT32.exponent_of(value)
    magnitude = Cat(value[: FLOAT32.fraction], (exponent - 1)[: FLOAT32.exponent])
    kept = Mux(exponent == FLOAT32.top, value[: FLOAT32.magnitude], gated(magnitude, exponent > 1))
    return Cat(kept, value[FLOAT32.magnitude])
