# SPDX-License-Identifier: BSD-2-Clause
"""Structured buffers with counters: structures are appended and consumed [fs 5.3.10, 18.6.5.1]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.errors import InputError
from tests.host.drawing import LEFT, MEMORY, READ, RIGHT, WHOLE, Scene, words

APPEND, COUNTER = UnorderedFlag.APPEND, UnorderedFlag.COUNTER
PAIR = np.dtype(("<u4", (2,)))
WRAPS = 1 << 32


class Structures:
    """A device with a buffer of pairs of words, a view of all but its first and last two."""

    def __init__(self, flag=APPEND, count=10):
        self.device = Device(MEMORY)
        self.context = self.device.context
        self.buffer = self.device.create_buffer(8 * count, READ | Bind.UNORDERED_ACCESS, stride=8)
        part = {"first": 16, "size": 8 * count - 32}
        self.view = self.device.create_unordered_access_view(self.buffer, flag=flag, **part)
        self.context.cs.set_unordered_access_views(0, [self.view])

    def dispatch(self, function, threads):
        """Run a group of threads."""
        shader = self.device.create_compute_shader(ComputeShader(function, (threads, 1, 1)))
        self.context.cs.set_shader(shader)
        self.context.dispatch(1)

    def pairs(self):
        """All of the buffer: shape (structures, 2)."""
        return self.context.read(self.buffer).view("<u4").reshape(-1, 2)

    def counted(self, view=None):
        """What the counter is."""
        word = self.device.create_buffer(16)
        self.context.copy_structure_count(word, 8, view or self.view)
        got = self.context.read(word).view("<u4")
        assert not got[[0, 1, 3]].any()
        return int(got[2])


def appends(value):
    """A shader whose threads append a value, and their number."""

    def append(waves, bound):
        number = waves.index[..., None]
        bound.append(0, waves.mask, np.concatenate([np.full_like(number, value), number], -1))

    return append


# What is counted.


@pytest.mark.plan("host-19")
def test_structures_are_appended_by_one_dispatch_after_the_other():
    made = Structures()
    assert made.counted() == 0
    made.dispatch(appends(7), 2)
    made.dispatch(appends(8), 3)
    assert made.counted() == 5
    expected = [(7, 0), (7, 1), (8, 0), (8, 1), (8, 2)]
    assert made.pairs().tolist() == [[0, 0]] * 2 + [list(pair) for pair in expected] + [[0, 0]] * 3


@pytest.mark.plan("host-19")
@pytest.mark.parametrize("threads", [6, 7, 40])
def test_what_lies_beyond_the_view_is_dropped_and_counted(threads):
    """[fs 18.6.5.1]: writes to a full buffer are discarded, yet the counter continues going."""
    made = Structures()
    made.dispatch(appends(9), threads)
    assert made.counted() == threads
    assert made.pairs()[2:8].tolist() == [[9, n] for n in range(6)]
    assert not made.pairs()[[0, 1, 8, 9]].any()


@pytest.mark.plan("host-19")
def test_what_was_appended_is_consumed():
    """[fs 22.17.18]: the new value after a decrement names the structure; the count wraps."""
    made = Structures()
    made.dispatch(appends(3), 4)
    taken = []

    def consume(waves, bound):
        taken.append(bound.consume(0, waves.mask, PAIR)[waves.mask])

    made.dispatch(consume, 3)
    assert made.counted() == 1
    made.dispatch(consume, 3)
    assert made.counted() == WRAPS - 2
    assert taken[0].tolist() == [[3, 3], [3, 2], [3, 1]]
    assert taken[1].tolist() == [[3, 0], [0, 0], [0, 0]]
    made.dispatch(appends(4), 3)  # two of which wrap
    assert made.counted() == 1
    assert made.pairs()[2].tolist() == [4, 2]


@pytest.mark.plan("host-19")
def test_shaders_see_the_values_of_a_counter():
    """[fs 22.17.17, 22.17.18]: the original value of an increment, the new one of a decrement."""
    made = Structures(COUNTER)
    got = []

    def count(name):
        def call(waves, bound):
            odd = waves.mask & (waves.index % 2 == 1)
            numbers = getattr(bound, name)(0, odd)
            assert numbers.dtype == np.uint32
            got.append(numbers[odd].tolist())
            assert not numbers[~odd].any()
            bound.unordered(0).view("<u4").reshape(-1, 2)[numbers[odd], 1] = 1 + waves.index[odd]

        return call

    made.dispatch(count("increment"), 8)
    made.dispatch(count("decrement"), 4)
    assert got == [[0, 1, 2, 3], [3, 2]]
    assert made.counted() == 2
    assert made.pairs()[2:8, 1].tolist() == [2, 4, 4, 2, 0, 0]


@pytest.mark.plan("host-19")
def test_each_view_has_a_counter_that_binding_sets_or_keeps():
    """[fs 5.3.10.1, 5.3.10.2]: counters belong to views; -1 keeps, any other value sets."""
    made = Structures()
    other = made.device.create_unordered_access_view(made.buffer, flag=COUNTER)
    bind = made.context.cs.set_unordered_access_views
    made.dispatch(appends(1), 2)
    assert (made.counted(), made.counted(other)) == (2, 0)
    for counts, expected in (
        (None, (2, 0)),
        ([-1, 5], (2, 5)),
        ([WRAPS - 2, -1], (WRAPS - 2, 5)),
        ([4, 0], (4, 0)),
    ):
        bind(0, [made.view, other], counts)
        assert (made.counted(), made.counted(other)) == expected
    made.dispatch(appends(6), 1)
    assert made.pairs()[6].tolist() == [6, 0]
    made.context.clear_state()
    made.context.clear_unordered_access_view_uint(made.view, 3)
    assert made.counted() == 5


@pytest.mark.plan("host-19")
def test_as_many_vertices_are_drawn_as_were_appended():
    """Pixels append in the order of draws, and the count is an argument of a draw."""
    scene = Scene()
    device, context = scene.device, scene.context
    buffer = device.create_buffer(4 * 2000, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(buffer, flag=APPEND)
    context.ps.set_unordered_access_views(0, [view])

    def append(quads, bound):
        place = (quads.y * 32 + quads.x).astype(np.uint32) + np.uint32(quads.floats(0)[0, 0, 0, 0])
        bound.append(0, quads.live, place)
        return PixelResults(quads.floats(0))

    scene.shade(append, unordered=True)
    context.om.set_render_targets([])
    context.rs.set_viewports(context.rs.viewports)
    scene.draw(LEFT, (1000, 0, 0, 0))
    scene.draw(LEFT, (3000, 0, 0, 0))
    arguments = device.create_buffer(data=words(0, 1, 0, 0))
    context.copy_structure_count(arguments, 0, view)
    got = context.read(buffer).view("<u4")
    count = int(context.read(arguments).view("<u4")[0])
    half = count // 2
    assert len(set(got[:half])) == half == len(set(got[half:count]))
    assert set(got[:half] + 2000) == set(got[half:count]) and not got[count:].any()
    vertices = device.create_query(QueryKind.PIPELINE_STATISTICS)
    context.begin(vertices)
    context.draw_instanced_indirect(arguments)
    context.end(vertices)
    assert context.get_data(vertices).ia_vertices == count


@pytest.mark.plan("host-19")
def test_a_count_that_a_predicate_leaves_out_is_not_copied():
    """[fs 20.2]: CopyStructureCount honours predication."""
    made = Structures()
    made.dispatch(appends(1), 5)
    predicate = made.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    made.context.begin(predicate)
    made.context.end(predicate)
    word = made.device.create_buffer(4)
    for value, expected in ((False, 0), (True, 5)):
        made.context.set_predication(predicate, value)
        made.context.copy_structure_count(word, 0, made.view)
        assert made.context.read(word).view("<u4").tolist() == [expected]


@pytest.mark.plan("host-19")
def test_nothing_is_appended_to_a_slot_without_a_view():
    made = Structures()
    made.context.cs.set_unordered_access_views(0, [None], [7])
    found = []

    def all_of_them(waves, bound):
        bound.append(0, waves.mask, waves.thread)
        found.append(bound.increment(0, waves.mask))
        found.append(bound.decrement(1, waves.mask))
        found.append(bound.consume(2, waves.mask, PAIR))

    made.dispatch(all_of_them, 3)
    assert [values.shape for values in found] == [(1, 32), (1, 32), (1, 32, 2)]
    assert not any(values.any() for values in found)
    assert made.counted() == 0


# What fails.


@pytest.mark.plan("host-19")
@pytest.mark.parametrize("stage", ["pixel", "compute"])
def test_work_that_fails_counts_nothing(stage):
    scene = Scene()
    device, context = scene.device, scene.context
    buffer = device.create_buffer(64, Bind.UNORDERED_ACCESS, stride=8)
    view = device.create_unordered_access_view(buffer, flag=APPEND)
    getattr(context, stage[0] + "s").set_unordered_access_views(0, [view], [2])

    def fails(inputs, bound):
        mask = inputs.live if stage == "pixel" else inputs.mask
        for _ in range(2):
            bound.append(0, mask, np.ones((*mask.shape, 2), np.uint32))
        raise ZeroDivisionError

    scene.shade(fails, unordered=True)
    context.cs.set_shader(device.create_compute_shader(ComputeShader(fails)))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            scene.draw(WHOLE) if stage == "pixel" else context.dispatch(1)
    word = device.create_buffer(4)
    context.copy_structure_count(word, 0, view)
    assert context.read(word).view("<u4").tolist() == [2]
    assert not context.read(buffer).any()


@pytest.mark.plan("host-19")
@pytest.mark.parametrize(
    ("flag", "use", "text"),
    [
        (COUNTER, lambda b, m: b.append(0, m, m), "flag of the view must be APPEND, not COUNTER"),
        (COUNTER, lambda b, m: b.consume(0, m, PAIR), "must be APPEND, not COUNTER"),
        (APPEND, lambda b, m: b.increment(0, m), "must be COUNTER, not APPEND"),
        (APPEND, lambda b, m: b.decrement(0, m), "must be COUNTER, not APPEND"),
        (UnorderedFlag.NONE, lambda b, m: b.increment(0, m), "must be COUNTER, not NONE"),
        (APPEND, lambda b, _m: b.unordered(0), "flag of the view must not be APPEND, not 0"),
        (
            COUNTER,
            lambda b, m: (b.increment(0, m), b.decrement(0, m)),
            "counter must be counted up or down, not both",
        ),
        (
            APPEND,
            lambda b, m: (b.consume(0, m, PAIR), b.append(1, m, np.zeros((*m.shape, 2), "u4"))),
            "counter must be counted up or down, not both",
        ),
        (COUNTER, lambda b, m: b.increment(0, m.astype(int)), "mask must be an array of bool"),
        (COUNTER, lambda b, _m: b.increment(0, [True]), "mask must be an array of bool"),
        (APPEND, lambda b, m: b.append(0, m, m), "structures must be of 8 bytes for lanes of"),
        (APPEND, lambda b, m: b.append(0, m, np.zeros((8, 8))), "structures must be of 8 bytes"),
        (APPEND, lambda b, m: b.append(0, m, m.astype(object)), "structures must be of 8 bytes"),
        (APPEND, lambda b, m: b.consume(0, m, "<u4"), "structure must be of 8 bytes, not 4"),
    ],
)
def test_what_a_shader_may_not_do_with_a_counter(flag, use, text):
    """[fs 22.3.44]: each flag has its instructions; [fs 22.17.17]: one way in a shader."""
    made = Structures(flag)
    made.context.cs.set_unordered_access_views(0, [made.view] * 2)
    with pytest.raises(InputError, match=text):
        made.dispatch(lambda waves, bound: use(bound, waves.mask), 4)
    assert not made.pairs().any()
    if flag:
        assert made.counted() == 0


@pytest.mark.plan("host-19")
def test_a_pixel_shader_that_counts_declares_it():
    scene = Scene()
    device, context = scene.device, scene.context
    buffer = device.create_buffer(64, Bind.UNORDERED_ACCESS, stride=8)
    view = device.create_unordered_access_view(buffer, flag=COUNTER)
    context.ps.set_unordered_access_views(0, [view])
    scene.shade(lambda quads, bound: bound.increment(0, quads.live))
    with pytest.raises(InputError, match="unordered access must be declared by the shader"):
        scene.draw(RIGHT)


@pytest.mark.plan("host-19")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda m, raw, _p: m.device.create_unordered_access_view(raw, flag=COUNTER),
            "flag must be NONE but for a structured buffer, not COUNTER",
        ),
        (lambda m, raw, _p: m.context.copy_structure_count(raw, 2, m.view), "multiple of 4"),
        (lambda m, raw, _p: m.context.copy_structure_count(raw, 64, m.view), r"lie in 0\.\.60"),
        (lambda m, raw, _p: m.context.copy_structure_count(raw, -4, m.view), r"lie in 0\.\.60"),
        (
            lambda m, raw, plain: m.context.copy_structure_count(raw, 0, plain),
            "flag of the view must be APPEND or COUNTER, not NONE",
        ),
        (
            lambda m, raw, _p: m.context.copy_structure_count(
                raw, 0, m.device.create_shader_resource_view(m.buffer)
            ),
            "view must be one of UNORDERED_ACCESS",
        ),
        (
            lambda m, _r, _p: m.context.cs.set_unordered_access_views(0, [m.view], []),
            r"initial_counts must lie in 1\.\.1, not 0",
        ),
        (
            lambda m, _r, _p: m.context.cs.set_unordered_access_views(0, [m.view], [-2]),
            r"initial count must lie in -1\.\.",
        ),
        (
            lambda m, _r, plain: m.context.cs.set_unordered_access_views(
                7, [m.view, plain], [3, 3]
            ),
            r"end of UNORDERED must lie in 0\.\.8, not 9",
        ),
    ],
)
def test_calls_about_counters_that_break_a_rule(call, text):
    made = Structures()
    raw = made.device.create_buffer(64, Bind.UNORDERED_ACCESS)
    plain = made.device.create_unordered_access_view(raw)
    with pytest.raises(InputError, match=text):
        call(made, raw, plain)
    assert made.counted() == 0
    assert not made.context.read(raw).any()


@pytest.mark.plan("host-19")
def test_what_is_bound_of_another_device_writes_nothing_here():
    """Counters of views, and how much of a buffer is filled, are set in the memory of their own."""
    made, stranger = Structures(), Structures()
    streams = [d.create_buffer(64, Bind.STREAM_OUTPUT) for d in (made.device, stranger.device)]
    before = made.device.memory.copy()
    with pytest.raises(InputError, match="views must be of the same device"):
        made.context.cs.set_unordered_access_views(0, [stranger.view], [5])
    with pytest.raises(InputError, match="buffers must be of the same device"):
        made.context.so.set_targets(streams[1:], [8])
    assert (made.device.memory == before).all()


@pytest.mark.plan("host-19")
def test_counters_are_given_back_with_their_buffer():
    made = Structures()
    create = made.device.create_buffer
    made.device.release(create(data=bytes([7]) * 2048))
    views = [made.device.create_unordered_access_view(made.buffer, flag=COUNTER) for _ in range(3)]
    assert [made.counted(view) for view in views] == [0, 0, 0]  # whatever lay there
    before = create(16).address
    made.device.release(made.buffer)
    assert [create(16).address < before for _ in range(5)] == [True] * 5
    with pytest.raises(InputError, match="view must not be released"):
        made.counted()
