# SPDX-License-Identifier: BSD-2-Clause
"""What the CPU writes by way of a list [fs 6.3.8]."""

import numpy as np
import pytest

from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.host.transfers.mapping import MapType
from fixfunc.spec.errors import InputError
from tests.host.drawing import Scene
from tests.host.lists.test_command_lists import DYNAMIC, STAGING


@pytest.mark.plan("host-23")
def test_what_is_mapped_in_a_list_is_written_by_it():
    """[fs 6.3.8]: first WRITE_DISCARD, then WRITE_NO_OVERWRITE beside what was written."""
    scene = Scene()
    device, context = scene.device, scene.context
    buffer = device.create_buffer(data=np.full(8, 5, np.uint8), bind=Bind.VERTEX_BUFFER, **DYNAMIC)
    deferred = device.create_deferred_context()
    copies = [device.create_buffer(8, **STAGING) for _ in range(2)]
    for k, (way, part) in enumerate(
        ((MapType.WRITE_DISCARD, slice(0, 2)), (MapType.WRITE_NO_OVERWRITE, slice(2, 4)))
    ):
        with deferred.map(buffer, way) as mapped:
            mapped.data[part] = k + 1
        deferred.copy_resource(copies[k], buffer)
    commands = deferred.finish_command_list()
    assert (context.read(buffer) == 5).all()
    context.execute_command_list(commands)
    assert context.read(copies[0]).tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert context.read(copies[1]).tolist() == [1, 1, 2, 2, 0, 0, 0, 0]


@pytest.mark.plan("host-23")
def test_maps_of_a_deferred_context_that_break_a_rule():
    scene = Scene()
    device, context = scene.device, scene.context
    dynamic = device.create_buffer(64, Bind.VERTEX_BUFFER, **DYNAMIC)
    staging = device.create_buffer(
        64, Bind(0), usage=Usage.STAGING, cpu_access=CpuAccess.READ | CpuAccess.WRITE
    )
    deferred = device.create_deferred_context()
    for resource, way, text in (
        (staging, MapType.READ, "map_type must be WRITE_DISCARD or WRITE_NO_OVERWRITE"),
        (staging, MapType.WRITE, "map_type must be WRITE_DISCARD or WRITE_NO_OVERWRITE"),
        (staging, MapType.WRITE_DISCARD, "of DYNAMIC resources, and of no others"),
        (dynamic, MapType.READ_WRITE, "map_type must be WRITE_DISCARD or WRITE_NO_OVERWRITE"),
        (dynamic, MapType.WRITE_NO_OVERWRITE, "must be WRITE_DISCARD first in a list"),
    ):
        with pytest.raises(InputError, match=text):
            deferred.map(resource, way)
    deferred.map(dynamic, MapType.WRITE_DISCARD)
    with pytest.raises(InputError, match="subresources must be unmapped at the end of a list"):
        deferred.finish_command_list()
    with pytest.raises(InputError, match="subresource must be mapped"):
        context.unmap(dynamic)
    with pytest.raises(InputError, match="target must not be mapped|source must not be mapped"):
        deferred.copy_buffer_region(staging, 0, dynamic, 0, 4)
    deferred.unmap(dynamic)
    deferred.finish_command_list()
    with pytest.raises(InputError, match="must be WRITE_DISCARD first in a list"):
        deferred.map(dynamic, MapType.WRITE_NO_OVERWRITE)
