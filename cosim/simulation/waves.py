# SPDX-License-Identifier: BSD-2-Clause
"""Waves of a window of clocks of a Verilated component: what its library is built with for them."""

import shutil
import subprocess

from fixfunc.cosim import toolchain

OPTIONS = ("--trace-fst",)
_HEADERS = ("lz4.h", "zlib.h")  # that Verilator's writer of FST includes

_PARTS = {
    "waves_include": '#include <memory>\n#include "verilated_fst_c.h"\n',
    "waves": """\
struct Waves {  // of a window of clocks of a run: each clock is a nanosecond
    std::unique_ptr<VerilatedFstC> file;
    uint64_t first = 0, end = 0;
    void dump(uint64_t picoseconds) {
        if (file && first <= now && now < end) file->dump(now * 1000 + picoseconds);
    }
    void close() {
        if (file) file->close();
        file.reset();
    }
} waves;

""",
    "waves_context": "    context->traceEverOn(true);\n",
    "waves_low": "        waves.dump(0);\n",
    "waves_high": "        waves.dump(500);\n",
    "waves_end": "    waves.close();\n",
}
SET = """
extern "C" void sim_waves(void *handle, const char *path, uint64_t first, uint64_t end) {{
    waves.file = std::make_unique<VerilatedFstC>();
    waves.first = first, waves.end = end;
    static_cast<V{name} *>(handle)->trace(waves.file.get(), 99);
    waves.file->open(path);
}}
"""


def parts(traced: bool) -> dict[str, str]:
    """What the C++ around a component has for waves, by place: nothing, where it writes none."""
    return {place: text if traced else "" for place, text in _PARTS.items()}


def check() -> None:
    """Raise :class:`~fixfunc.cosim.toolchain.ToolError` where the writer cannot be compiled."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        return  # the build itself says so
    source = "".join(f"#include <{name}>\n" for name in _HEADERS)
    command = [compiler, "-E", "-x", "c++", "-"]
    if subprocess.run(command, input=source, capture_output=True, text=True).returncode:
        raise toolchain.ToolError(
            f"waves need {' and '.join(_HEADERS)}: type 'apt-get install liblz4-dev zlib1g-dev'"
        )
