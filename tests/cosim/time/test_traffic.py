# SPDX-License-Identifier: BSD-2-Clause
"""Traffic as text, by readers that are written from those of Ramulator 2 and DRAMsim3."""

from pathlib import Path

import numpy as np
import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.time import dram_table, timeline, traffic
from fixfunc.cosim.time.outputs import Outputs
from fixfunc.models.memory.dram.configurations import GTX_480
from fixfunc.models.memory.dram.service import serve
from fixfunc.spec.errors import InputError
from tests.cosim.time import runs


def dramsim3(text):
    """``is >> std::hex >> addr >> mem_op >> std::dec >> added_cycle``, again and again."""
    words = text.split()
    assert len(words) % 3 == 0
    for address, operation, clock in zip(words[::3], words[1::3], words[2::3], strict=True):
        assert operation in ("READ", "WRITE")  # what is no write is read, whatever it is
        assert clock.isdigit()
        yield operation == "WRITE", int(address, 16), int(clock)


def load_store(text):
    """Lines of two tokens between single spaces; hexadecimal where they begin with 0x."""
    for line in text.splitlines():
        operation, address = line.split(" ")
        assert operation in ("LD", "ST")
        yield operation == "ST", int(address[2:], 16) if address[:2] == "0x" else int(address)


def read_write(text):
    """Lines of two tokens; an address is decimal numbers between commas, one a level of DRAM."""
    for line in text.splitlines():
        operation, address = line.split(" ")
        assert operation in ("R", "W")
        yield operation == "W", [int(number) for number in address.split(",")]


READERS = dict(zip(traffic.FORMATS, (dramsim3, load_store, read_write), strict=True))


def read(files):
    """Transfers of each trace, by its name."""
    out = {}
    for name, data in files.items():
        if not name.endswith(".trace"):
            continue
        port, form = name.removesuffix(".trace").split(".", 1)
        out[port, form] = list(READERS[form](data.decode()))
    return out


@pytest.mark.plan("time-8")
def test_every_transfer_is_a_line():
    """A write's clock is that in which its last transfer was taken; clocks begin at the frame."""
    found = read(traffic.files(timeline.of(*runs.run())))
    assert {port for port, _ in found} == {"all", *runs.PORTS}
    commands = [(False, 0x2000 + 32 * n, 3) for n in range(4)] + [(False, 0x2080, 4)]
    assert found["commands_memory", "dramsim3"] == commands
    depth = [
        *((True, 0x100 + 32 * n, 25) for n in range(2)),
        *((False, 0x100 + 32 * n, 42) for n in range(2)),
        (True, 0x1E0, 43),
    ]
    assert found["depth_memory", "dramsim3"] == depth
    assert found["all", "dramsim3"] == commands + depth
    for port in ("all", *runs.PORTS):
        transfers = found[port, "dramsim3"]
        assert found[port, "ramulator.loadstore"] == [it[:2] for it in transfers]
        assert [it[2] for it in transfers] == sorted(it[2] for it in transfers)


@pytest.mark.plan("time-8")
def test_an_address_is_a_place_of_the_channel():
    """Every byte has one: 16 banks in four groups, rows of 2 KB, columns of 32 bytes."""
    outputs, events = runs.run()
    events.bursts["address"] = [0x2000, 0x7FF80, 0x800, 0x87E0, 0xFFFF_FFE0]
    events.bursts["transfers"] = [4, 4, 1, 1, 1]
    found = read(traffic.files(timeline.of(outputs, events)))
    for port in ("all", *runs.PORTS):
        pairs = zip(
            found[port, "ramulator.readwrite"], found[port, "ramulator.loadstore"], strict=True
        )
        for (wrote, vector), (write, address) in pairs:
            channel, rank, group, bank, row, column = vector
            assert (channel, rank) == (0, 0)
            assert max(group, bank) < 4
            assert column < 64
            assert ((row * 16 + group * 4 + bank) * 64 + column) * 32 == address
            assert wrote == write


@pytest.mark.plan("time-8")
def test_a_port_that_is_silent_has_no_file():
    """A reader of nothing would divide by its length."""
    outputs, events = runs.run()
    some = events._replace(bursts=events.bursts[events.bursts["port"] == 0])
    names = traffic.files(timeline.of(outputs, some))
    assert {name.split(".")[0] for name in names} == {"all", "commands_memory"}
    assert not traffic.files(timeline.of(outputs, events._replace(bursts=events.bursts[:0])))


@pytest.mark.plan("dram-6")
def test_traffic_of_a_top_goes_through_the_golden_dram():
    """Every transfer is an access of its port, in the clock of its line, and is answered."""
    outputs, events = runs.run()
    found = timeline.of(outputs, events)
    accesses = traffic.accesses(found)
    lines = read(traffic.files(found))["all", "dramsim3"]
    names = "write", "address", "clock"
    assert lines == list(zip(*(accesses[name].tolist() for name in names), strict=True))
    answers = serve(GTX_480, accesses)
    clients = {found.ports[row["client"]]: row for row in answers.clients()}
    assert clients["commands_memory"]["read"] == 5 * 32
    assert clients["depth_memory"]["written"] == 3 * 32
    assert clients["depth_memory"]["read"] == 2 * 32
    assert clients["depth_memory"]["hits"] == 4  # all lie in one tile, whose row is opened once
    assert (answers.latency >= 358).all()  # the way, and a row that is open


@pytest.mark.plan("dram-6")
def test_a_frame_has_a_table_of_the_golden_dram():
    """Clocks, row hits and efficiency by port, in text; a port that is silent has no row."""
    found = timeline.of(*runs.run())
    first, heads, *rows = dram_table.text(found).split("\n\n")[0].splitlines()
    answers = serve(GTX_480, traffic.accesses(found))
    assert first.startswith(f"GTX 480: {len(answers.accesses)} transfers of 32 bytes, ")
    assert f", {answers.clocks:,} clocks, {answers.efficiency:.1%} of" in first
    assert heads.split()[:3] == ["port", "read", "written"]
    by_port = {row.split()[0]: row.split()[1:] for row in rows}
    clients = {found.ports[row["client"]]: row for row in answers.clients()}
    assert set(by_port) == set(clients)
    for port, row in clients.items():
        read, written, hits, closed, conflicts, latency, lines = by_port[port]
        assert (int(read), int(written)) == (row["read"], row["written"])
        assert hits == f"{row['hits'] / row['accesses']:.1%}"
        assert (int(closed), int(conflicts)) == (row["closed"], row["conflicts"])
        assert (latency, lines) == (f"{row['latency']:.0f}", f"{row['efficiency']:.2%}")
    silent = found._replace(bursts=found.bursts[:0])
    assert dram_table.text(silent) == ""


@pytest.mark.plan("time-9")
def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    outputs = Outputs(tmp_path / "a.pftrace", tmp_path / "dram")
    outputs.check()
    assert not list(tmp_path.iterdir())
    found = timeline.of(*runs.run())
    write = Path.write_bytes

    def interrupted(path, data):
        write(path, data[: len(data) // 2])
        if path.name.startswith("depth"):
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        outputs.write(found)
    assert [path.name for path in tmp_path.iterdir()] == ["a.pftrace"]
    monkeypatch.undo()
    outputs.write(found)
    assert len(list((tmp_path / "dram").iterdir())) == 10  # traces, and dram.txt
    with pytest.raises(InputError, match="output folder must be an empty folder"):
        outputs.check()
    with pytest.raises(InputError, match="output file must lie in a folder that exists"):
        Outputs(tmp_path / "no" / "a.pftrace").check()
    assert Outputs().bursts == 0 < Outputs(tmp_path).bursts


@pytest.mark.plan("time-8")
def test_bytes_are_those_of_the_bursts():
    rng = np.random.default_rng(3)
    outputs, events = runs.run()
    bursts = np.zeros(500, events.bursts.dtype)
    bursts["port"] = rng.integers(0, 2, 500)
    bursts["write"] = rng.integers(0, 2, 500)
    bursts["transfers"] = rng.integers(1, 9, 500)
    bursts["address"] = rng.integers(0, 1 << 20, 500) * 256
    bursts["addressed"] = np.sort(rng.integers(20, 9000, 500))
    bursts["last"] = bursts["addressed"] + rng.integers(0, 30, 500).astype(np.uint64)
    found = read(traffic.files(timeline.of(outputs, events._replace(bursts=bursts))))
    for number, port in enumerate(runs.PORTS):
        for write in (0, 1):
            chosen = bursts[(bursts["port"] == number) & (bursts["write"] == write)]
            for form in traffic.FORMATS:
                lines = [it for it in found[port, form] if it[0] == write]
                assert len(lines) == chosen["transfers"].sum()
    everything = sorted(found["all", "dramsim3"])
    assert everything == sorted(it for port in runs.PORTS for it in found[port, "dramsim3"])


@pytest.mark.plan("time-9")
@pytest.mark.parametrize("mesh", ["teapot", "s.glb", "r.npz"])
def test_a_golden_frame_has_no_clocks(mesh, tmp_path, capsys):
    for name in ("trace", "traffic"):
        path = tmp_path / "out"
        arguments = ["frame", mesh, "--golden", f"--{name}", str(path), "-o", str(tmp_path / "o")]
        assert main(arguments) == 2
        said = f"{name} must be of a frame that the hardware draws, not {path}"
        assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
