# SPDX-License-Identifier: BSD-2-Clause
# make help lists what there is. Everything runs from .venv, which the first target that needs it builds.
PYTHON ?= python3
BIN := .venv/bin
MESH ?= teapot
SIZE ?= 1280x720
SAMPLES ?= 4
BLOCK ?= tile_rasterizer
CONFIG ?= default
SIM ?= icarus verilator
COUNT ?= 1000000
SEED ?= 0
OUT ?= out
export SIM

.DEFAULT_GOAL := help
.PHONY: help demo test sim volume verilog bench figures lint clean

help:
	@echo "make demo      draw MESH ($(MESH)) at SIZE ($(SIZE)), SAMPLES ($(SAMPLES)) by the RTL, held to the golden pipeline; report in $(OUT)/"
	@echo "               PATCHES=adaptive, or a factor: the teapot from its patches, through tessellator and domain matching"
	@echo "               TEXTURE=file.dds, .ktx2 or .png: around the mesh; blocks through the decoder"
	@echo "make test      every test, on both simulators (SIM=verilator for one, ORACLE=none without Mesa)"
	@echo "make sim       the bench of one BLOCK ($(BLOCK)) on SIM, with CONFIG ($(CONFIG)) and SEED"
	@echo "make volume    COUNT transactions of one BLOCK against its golden model, at Verilator's speed"
	@echo "make verilog   SystemVerilog of every block and the top, FuseSoC cores, ports, into $(OUT)/verilog"
	@echo "make bench     speed, area and clock frequency; writes docs/bench.md (about an hour)"
	@echo "make figures   what domain matching saves, drawn into docs/tessellation"
	@echo "make lint      ruff, strict"
	@echo "make clean     remove what was built"

demo: .venv/ready
	$(BIN)/fixfunc frame $(MESH) --size $(SIZE) --samples $(SAMPLES) $(if $(PATCHES),--patches $(PATCHES)) $(if $(TEXTURE),--texture $(TEXTURE)) -o $(OUT)

test: .venv/test-ready
	$(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder

sim: .venv/test-ready
	$(foreach s,$(SIM),$(BIN)/fixfunc run $(BLOCK) --config $(CONFIG) --sim $(s) --seed $(SEED) &&) true

volume: .venv/ready
	$(BIN)/fixfunc volume $(BLOCK) --config $(CONFIG) --count $(COUNT) --seed $(SEED)

verilog: .venv/ready
	$(BIN)/fixfunc verilog all -o $(OUT)/verilog

bench: .venv/bench-ready
	$(BIN)/python -m bench

figures: .venv/bench-ready
	$(BIN)/python -m bench.figures

lint: .venv/test-ready
	$(BIN)/ruff check .

clean:
	rm -rf build $(OUT) .pytest_cache .ruff_cache .hypothesis

# The demo and the volume tier need nothing but g++; the tests need what system.sh installs or names.
.venv/made:
	@sh cosim/system.sh python $(PYTHON)
	$(PYTHON) -m venv .venv
	@touch $@

.venv/ready: .venv/made pyproject.toml constraints.txt
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@sh cosim/system.sh tools $(BIN)/python || true
	@touch $@

.venv/test-ready: .venv/ready
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@

.venv/bench-ready: .venv/test-ready
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,synthesis,figures]'
	@touch $@
