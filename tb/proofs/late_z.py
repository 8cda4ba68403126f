# SPDX-License-Identifier: BSD-2-Clause
"""The late-Z scoreboard: no early test of a sample that a tile which is out may still write."""

from types import ModuleType

from amaranth.hdl import Cat, Mux, Signal

from fixfunc.rtl.depth.late import late_z
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

MOST = 4
PLACES = 2
LANES = 2


def scoreboard(module: ModuleType = late_z) -> Properties:
    """Two places of two samples, four tiles; one place and one sample of it: any."""
    p = Properties()
    unit = module.LateZScoreboard(MOST, PLACES, LANES)
    p.add(unit)
    p.assume(unit.late_draw & unit.is_held)
    p.assume(unit.tests == p.constant(1, "tests"))
    place, sample = (p.constant(1, name) for name in ("place", "sample"))
    accept = p.named("accepts", unit.accept)
    waits = p.past(unit.offered & ~accept)
    offer = Cat(unit.place, unit.mask, unit.is_replacement)
    p.assume(~waits | (unit.offered & (offer == p.past(offer))))
    p.assume(~accept | (unit.offered & ~unit.stall))

    # Tiles that are out, the oldest first.
    count = Signal(range(MOST + 1))
    places = [Signal(1, name=f"place_{n}") for n in range(MOST)]
    masks = [Signal(LANES, name=f"mask_{n}") for n in range(MOST)]
    p.assume(~unit.back | ((count != 0) & unit.back_held & (unit.back_place == places[0])))
    left = p.named("left", count - unit.back)
    p.m.d.sync += count.eq(left + accept)
    for rows, new in ((places, unit.place), (masks, unit.mask)):
        for n, row in enumerate(rows):
            stays = Mux(unit.back, rows[n + 1] if n + 1 < MOST else row, row)
            p.m.d.sync += row.eq(Mux(accept & (left == n), new, stays))
    own = [(n < count) & (places[n] == place) for n in range(MOST)]
    is_out = p.named("is_out", Cat(own).any())
    shares = Cat(has & mask.bit_select(sample, 1) for has, mask in zip(own, masks, strict=True))
    is_shared = p.named("is_shared", shares.any())
    here = unit.place == place
    wants = here & unit.mask.bit_select(sample, 1)

    p.prove("samples", ~(accept & unit.tests & wants) | ~is_shared)
    p.prove("replaced", ~(accept & unit.is_replacement & here) | ~is_out)
    p.prove("kept", ~is_out | unit.is_occupied(place))

    # What the scoreboard knows of the place, and of the tile that is offered.
    p.prove("credit", p.inner("unit.credit.free") == MOST - count)
    returned = p.inner("unit.returned")
    oldest = p.named("oldest", (p.inner("unit.returning") + returned)[:2])
    p.prove("number", p.inner("unit.number") == (oldest + count)[:2])
    last = p.row("unit.last", place)
    for n, has in enumerate(own):
        is_last = has & ~Cat(own[n + 1 :]).any()
        p.prove(f"last_{n}", ~is_last | (last == (oldest + n)[:2]))
    its_own = returned & (p.inner("unit.returned_place") == place)
    p.prove("read_last", ~its_own | (p.read_data("unit.last") == last))
    known = p.row("unit.masks", place)
    p.prove("union", ~(is_shared & unit.tests) | known.bit_select(sample, 1))
    looked_up = p.inner("unit.looked_up")
    p.prove("looked_up", ~looked_up | waits)
    p.prove("read_masks", ~(looked_up & here) | (p.read_data("unit.masks") == known))
    p.prove("occupied", ~(looked_up & here & is_out) | p.inner("unit.occupied"))
    compared = p.inner("unit.compared")
    p.prove("compared", ~compared | looked_up)
    overlaps = p.inner("unit.overlaps")
    p.prove("overlaps", ~(compared & unit.tests & wants & is_shared) | overlaps)
    p.prove("replaces", ~(compared & unit.is_replacement) | overlaps)
    p.reach("beside", accept & here & is_out & unit.tests)
    p.reach("again", accept & wants & unit.tests & (p.past(is_shared, 4)))
    return p


PROOFS = [
    Proof(
        "late_z",
        "depth/late/late_z.py LateZScoreboard",
        "A tile that is tested early enters only when no tile is out that has a sample of it, one "
        "that replaces another only when none of its place is out; and a place of which a tile is "
        "out counts as occupied.",
        scoreboard,
        depth=3,
        size="2 places of 2 samples, 4 tiles",
        assumed="What is offered stays until it enters; tiles come back in their order; all keep "
        "their places, and all or none are tested early.",
        seconds=100,
    ),
]
