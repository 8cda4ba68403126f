# SPDX-License-Identifier: BSD-2-Clause
"""Several cards: rates of the document, pictures that are one, work that is shared."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.architecture.several_cards import Way, alternate, combine, owners, split
from fixfunc.spec.errors import InputError
from tests.architecture.test_sorting import frame

TENTH = 10**8  # nanoseconds: 10 frames a second


@pytest.mark.plan("several-cards-1")
@pytest.mark.parametrize(("cards", "rate"), [(1, 10), (2, 20), (4, 40)])
def test_rates_are_those_of_the_document(cards, rate):
    """10 frames a second by one card, 20 by two, 40 by four; each frame takes as long as before."""
    found = alternate([TENTH] * 41, cards, TENTH // cards)
    assert found.rate == rate
    assert (found.latency == TENTH).all()


@pytest.mark.plan("several-cards-1")
def test_frames_are_those_of_cards_nanosecond_by_nanosecond():
    rng = np.random.default_rng(1)
    for _ in range(40):
        cards, interval = int(rng.integers(1, 4)), int(rng.integers(0, 5))
        times = rng.integers(1, 12, 9).tolist()
        busy, begun, shown, now, last = [0] * cards, [], [], 0, -interval
        while len(begun) < len(times):
            card = len(begun) % cards
            if busy[card] <= now and now - last >= interval:
                begun.append(now)
                busy[card] = last_end = now + times[len(begun) - 1]
                shown.append(max([last_end, *shown[-1:]]))
                last = now
                continue
            now += 1
        found = alternate(times, cards, interval)
        assert found.begin.tolist() == begun
        assert found.shown.tolist() == shown
    assert alternate([], 2).rate == alternate([5], 2).rate == 0


@pytest.mark.plan("several-cards-2")
@pytest.mark.parametrize("way", [Way.PARTS, Way.LINES])
def test_lines_of_all_cards_are_the_picture(way):
    """Each card draws its own lines alone; what it has elsewhere is never seen."""
    rng = np.random.default_rng(2)
    for cards, height in ((1, 5), (2, 9), (3, 7), (4, 64)):
        picture = rng.integers(0, 256, (height, 6, 4), dtype=np.uint8)
        images = rng.integers(0, 256, (cards, height, 6, 4), dtype=np.uint8)
        card = owners(height, cards, way)
        assert set(card.tolist()) == set(range(cards))
        assert np.ptp(np.bincount(card)) <= 1
        for y in range(height):
            images[card[y], y] = picture[y]
        assert (combine(images, way) == picture).all()
    assert owners(6, 2, Way.PARTS).tolist() == [0, 0, 0, 1, 1, 1]
    assert owners(6, 2, Way.LINES).tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.plan("several-cards-2")
def test_samples_of_all_cards_are_averaged():
    rng = np.random.default_rng(3)
    for cards in (1, 2, 3, 4):
        images = rng.integers(0, 256, (cards, 5, 4, 3), dtype=np.uint8)
        found = combine(images, Way.SAMPLES)
        for place in np.ndindex(5, 4, 3):
            mean = Fraction(int(images[(slice(None), *place)].sum()), cards)
            assert found[place] == int(mean + Fraction(1, 2))


@pytest.mark.plan("several-cards-3")
def test_work_is_counted_one_by_one():
    rng = np.random.default_rng(4)
    work = frame(rng, 50)
    for cards in (1, 2, 3):
        for way in (Way.PARTS, Way.LINES):
            card = owners(work.height, cards, way)
            counts = [0] * cards
            for y in work.fragments["y"].tolist():
                counts[card[y]] += 1
            found = split(work, cards, way)
            assert found.fragments.tolist() == counts
            assert found.triangles == work.triangles
            assert found.moved == sum(it != 0 for it in card.tolist()) * work.width
            assert found.speedup == Fraction(sum(counts), max(counts))
    found = split(work, 4, Way.SAMPLES)
    assert found.fragments.tolist() == [len(work.fragments)] * 4
    assert found.moved == 3 * work.width * work.height


@pytest.mark.plan("several-cards-3")
def test_lines_in_turn_share_better_than_bands():
    """Where a scene's weight lies in one half of the screen."""
    work = frame(np.random.default_rng(5), 60)
    low = work.fragments[work.fragments["y"] < work.height // 2]
    uneven = type(work)(work.width, work.height, work.boxes, low)
    assert split(uneven, 2, Way.PARTS).speedup == 1
    assert split(uneven, 2, Way.LINES).speedup > Fraction(19, 10)


@pytest.mark.plan("several-cards-3")
def test_what_is_refused():
    with pytest.raises(InputError, match=r"cards must lie in 1\.\.64, not 0"):
        alternate([1], 0)
    with pytest.raises(InputError, match="time must lie in 1.."):
        alternate([0], 1)
    with pytest.raises(InputError, match="way must share lines, not SAMPLES"):
        owners(4, 2, Way.SAMPLES)
    with pytest.raises(InputError, match="images must be uint8 of shape"):
        combine(np.zeros((2, 2, 2)), Way.LINES)
