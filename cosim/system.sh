#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what comes from the system's packages, where that is allowed; otherwise says what to type.
#   system.sh python PYTHON     what .venv needs
#   system.sh compiler PYTHON   what builds a Verilated block
#   system.sh tools PYTHON      what the tests need besides: Icarus, Mesa, a browser
set -u
what=$1 python=$2 missing=

need() { # package, then the command that finds it
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

library() { ldconfig -p | grep -q "$1"; }

case $what in
python)
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "fixfunc needs Python 3.11 or newer: set PYTHON=/path/to/python3" >&2
        exit 1
    }
    need python3-venv "$python" -c 'import ensurepip, venv'
    ;;
compiler)
    need g++ command -v g++
    need make command -v make
    ;;
tools)
    need iverilog command -v iverilog
    need ccache command -v ccache
    need perl command -v perl
    need chromium command -v chromium
    need chromium-driver command -v chromedriver
    need libegl1 library libEGL.so.1
    need libopengl0 library libOpenGL.so.0
    need libgl1-mesa-dri test -e /usr/lib/x86_64-linux-gnu/dri/swrast_dri.so -o -e /usr/lib/aarch64-linux-gnu/dri/swrast_dri.so
    need libpython3-dev "$python" -c 'import sys, find_libpython; sys.exit(not find_libpython.find_libpython())'
    ;;
esac

[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -n"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null; then
    echo "installing$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    { $sudo apt-get update -q && $sudo apt-get install -q -y --no-install-recommends $missing; } >/dev/null 2>&1 && exit 0
fi
echo "missing$missing: type 'apt-get install$missing' as root" >&2
[ "$what" = tools ] && echo "the demo runs without them; the tests need them, or SIM=verilator ORACLE=none" >&2
exit 1
