# SPDX-License-Identifier: BSD-2-Clause
"""Words of resources, and what atomic operations make of them one by one [fs 22.17.8-22.17.28]."""

import numpy as np

from fixfunc.models.host.resources import Bind
from fixfunc.spec.dxgi import Format

WRITTEN = Bind.UNORDERED_ACCESS
WORDS = 1 << 32
STRIDE = 12  # of structures
OPERATIONS = ("and", "or", "xor", "add", "min", "max", "exchange", "compare_exchange")
VIEWS = ("1d", "1d array", "2d", "2d array", "3d", "typed", "raw", "structured")


def signed(word):
    """A word as a number with a sign."""
    return word - WORDS if word >= WORDS // 2 else word


def becomes(op, word, operand, compared, kind):
    """What a word is after one lane, by the text of each instruction."""
    number = signed if kind is np.int32 else int
    results = {
        "and": word & operand,
        "or": word | operand,
        "xor": word ^ operand,
        "add": (word + operand) % WORDS,  # insensitive to sign
        "min": word if number(word) <= number(operand) else operand,
        "max": word if number(word) >= number(operand) else operand,
        "exchange": operand,
        "compare_exchange": operand if word == compared else word,
    }
    return results[op]


def one_by_one(words, names, lanes, op, kind):
    """Change a dict of words, lane by lane; returns what each lane found, 0 of those without."""
    found = []
    for name, (operand, compared) in zip(names, lanes, strict=True):
        found.append(words.get(name, 0))
        if name in words:
            words[name] = becomes(op, words[name], operand, compared, kind)
    return found


def lanes_of(rng, count):
    """Operands and what they compare with: words of few values, of ends, and of any."""
    few = rng.integers(0, 4, (count, 2))
    ends = rng.choice([0, 1, WORDS // 2 - 1, WORDS // 2, WORDS - 1], (count, 2))
    kind = rng.random((count, 2))
    return np.where(kind < 0.6, few, np.where(kind < 0.8, ends, rng.integers(0, WORDS, (count, 2))))


class Words:
    """A resource of words with a view of a part, and what each place of the view is called.

    Attributes
    ----------
    resource, view
    held : dict
        What the view shows: words, by what a shader calls their places.
    is_flat : bool
        A place is one number, without an axis.
    has_layers : bool
        The last number of a place is the layer.
    """

    def __init__(self, device, kind, rng, form=Format.R32_UINT, bind=WRITTEN):
        self.has_layers = kind in ("1d array", "2d array")
        self.is_flat = kind in ("typed", "raw")
        self._device = device
        if kind in ("typed", "raw", "structured"):
            self._buffer(kind, rng, form)
        else:
            self._texture(kind, form, bind)
        self._made = self._cells()
        self.held = {name: self._made[cell] for name, cell in self._where.items()}

    def _buffer(self, kind, rng, form):
        """18 words of 30."""
        data = lanes_of(rng, 30)[:, 0].astype("<u4")
        stride = STRIDE if kind == "structured" else 0
        self.resource = self._device.create_buffer(data=data, bind=WRITTEN, stride=stride)
        form = form if kind == "typed" else Format.UNKNOWN
        first = 2 * stride or 32
        self.view = self._device.create_unordered_access_view(
            self.resource, form, first=first, size=72
        )
        names, self._limits, self._step = {
            "typed": ([(n,) for n in range(18)], [18], 1),
            "raw": ([(4 * n,) for n in range(18)], [72], 4),
            "structured": ([(n // 3, n % 3 * 4) for n in range(18)], [6, STRIDE], 4),
        }[kind]
        self._where = {name: first // 4 + n for n, name in enumerate(names)}

    def _texture(self, kind, form, bind):
        """Level 1; two layers of four, or two slices of three."""
        axes = int(kind[0])
        sides = (7, 6, 6)[:axes]
        more = {} if axes == 3 else {"array_size": 4 if self.has_layers else 1}
        make = getattr(self._device, f"create_texture{axes}d")
        self.resource = make(form, *sides, 2, bind=bind, **more)
        has_part = self.has_layers or axes == 3
        part = {"first_layer": 1, "layer_count": 2} if has_part else {}
        self.view = self._device.create_unordered_access_view(self.resource, first_level=1, **part)
        self._limits = [3, 3][:axes] + [2] * has_part
        self._step = 1
        self._where = {}
        for place in np.ndindex(*self._limits):
            x, y = (*place[: min(axes, 2)], 0)[:2]
            slot = place[-1] + 1 if has_part else 0
            self._where[place] = (1, *((0, slot) if axes == 3 else (slot, 0)), y, x)

    def _cells(self):
        """All words of the resource: of textures by level, layer, z, y and x."""
        read = self._device.context.read
        if not hasattr(self.resource, "layout"):
            return dict(enumerate(read(self.resource).view("<u4").tolist()))
        found = {}
        layout = self.resource.layout
        for which in np.ndindex(layout.levels, layout.layers):
            image = read(self.resource, which).copy().view("<u4")[..., 0, 0]
            for cell, word in np.ndenumerate(image if image.ndim == 3 else image[None]):
                found[*which, *cell] = int(word)
        return found

    def places(self, rng, count):
        """Places within the view, and outside on every side: int, shape (count, axes)."""
        places = np.stack(
            [rng.integers(-1, side // self._step + 1, count) for side in self._limits], -1
        )
        places[:, -1] *= self._step
        return places

    def now(self):
        """What the view shows, as ``held``; all else is as it was made."""
        cells = self._cells()
        shown = {name: cells[cell] for name, cell in self._where.items()}
        outside = cells.keys() - self._where.values()
        assert all(cells[cell] == self._made[cell] for cell in outside)
        return shown
