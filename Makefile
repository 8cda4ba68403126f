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
MUTANTS ?= 40
PROGRAM ?= glxgears
FRAME ?= 10
OUT ?= out
# Recipes read these from the environment, where a name with spaces stays one name.
export PYTHON MESH PATCHES TEXTURE SIZE SAMPLES BLOCK CONFIG SIM COUNT MUTANTS PROOF SEED LIBERTY MEASURE PROGRAM FRAME OUT

.DEFAULT_GOAL := help
.PHONY: help demo record test qualify sim volume mutate coverage prove verilog bench area assess figures docs lint clean

help:
	@echo "make demo      draw MESH ($(MESH)) at SIZE ($(SIZE)), SAMPLES ($(SAMPLES)) by the RTL, held to the golden pipeline; report in $(OUT)/"
	@echo "               PATCHES=adaptive, or a factor: the teapot from its patches, through tessellator and domain matching"
	@echo "               TEXTURE=file.dds, .ktx2 or .png: around the mesh; blocks through the decoder"
	@echo "make record    FRAME ($(FRAME)) of an OpenGL PROGRAM ($(PROGRAM)): every fragment on the golden machine; $(OUT)/frame.npz, for 'fixfunc frame'"
	@echo "make test      the tests, on both simulators (SIM=verilator for one, ORACLE=none without Mesa); takes a while"
	@echo "make qualify   every test, every configuration, COUNT ($(COUNT)) beats of every block, a fresh SEED; hours; summary in $(OUT)/qualify.md"
	@echo "make sim       the bench of one BLOCK ($(BLOCK)) on SIM, with CONFIG ($(CONFIG)) and SEED"
	@echo "make volume    COUNT transactions of one BLOCK against its golden model, at Verilator's speed"
	@echo "make mutate    MUTANTS ($(MUTANTS)) changes of the source of one BLOCK, drawn by SEED, in CONFIG=tiny; its tests must notice each"
	@echo "make coverage  what the stimuli of a BLOCK, or of all, have tried: bins and lines, all of which must be hit, and toggles; writes docs/coverage"
	@echo "make prove     every proof, by SymbiYosys and z3 (minutes); writes docs/proofs/proofs.md; PROOF=name for one"
	@echo "make verilog   SystemVerilog of every block and the top in CONFIG, FuseSoC cores, ports, into $(OUT)/verilog"
	@echo "make bench     clocks and speed; writes docs/bench.md (about an hour)"
	@echo "make area      area and timing in standard cells, LIBERTY=file.lib[.gz]; into docs/bench.md (hours; seconds where nothing changed)"
	@echo "make assess    coverage, mutants, proofs and area (with LIBERTY) of sources that have changed; BLOCK, MEASURE for some; DRY=1 tells which"
	@echo "make figures   what domain matching and vertex reuse save, and a figure for each stop of the tour, drawn into docs"
	@echo "make docs      pages and a reference as a site that needs no network, into $(OUT)/docs; a broken link fails"
	@echo "make lint      ruff: rules, and the format of every file"
	@echo "make clean     remove what was built"

demo: .venv/ready
	$(BIN)/fixfunc frame "$$MESH" --size "$$SIZE" --samples "$$SAMPLES" --memory near,far $${PATCHES:+--patches "$$PATCHES"} $${TEXTURE:+--texture "$$TEXTURE"} -o "$$OUT"

record: .venv/record-ready
	@mkdir -p "$$OUT"
	$(BIN)/fixfunc record "$$PROGRAM" --frame "$$FRAME" -o "$$OUT/frame.npz"
	$(BIN)/fixfunc frame "$$OUT/frame.npz" --golden -o "$$OUT"

test: .venv/test-ready
	$(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder

qualify: .venv/test-ready
	@sh cosim/system.sh programs $(BIN)/python || true
	TIER=qualify $(BIN)/python -m pytest -m "qualify or not qualify" -n auto --dist loadgroup --no-loadscope-reorder

sim: .venv/test-ready
	for sim in $$SIM; do $(BIN)/python -m fixfunc.tb run "$$BLOCK" --config "$$CONFIG" --sim "$$sim" --seed "$${SEED:-0}" || exit; done

volume: .venv/ready
	$(BIN)/python -m fixfunc.tb volume "$$BLOCK" --config "$$CONFIG" --count "$$COUNT" --seed "$${SEED:-0}"

mutate: .venv/test-ready
	$(BIN)/python -m fixfunc.tb mutate "$$BLOCK" --config "$(if $(filter default,$(CONFIG)),tiny,$(CONFIG))" --count "$$MUTANTS" --seed "$${SEED:-0}"

# BLOCK has a default; here it counts only where it was given.
coverage: .venv/prove-ready
	$(BIN)/python -m fixfunc.tb coverage $(if $(filter file,$(origin BLOCK)),,"$$BLOCK") --seed "$${SEED:-0}"

prove: .venv/prove-ready
	$(BIN)/python -m fixfunc.tb prove $$PROOF

verilog: .venv/ready
	$(BIN)/fixfunc verilog all --config "$$CONFIG" -o "$$OUT/verilog"

bench: .venv/bench-ready
	$(BIN)/python -m bench

area: $(if $(LIBERTY),.venv/bench-ready)
	@$(if $(LIBERTY),$(BIN)/python -m bench.area "$$LIBERTY",echo "area: skipped: no standard-cell library: set LIBERTY=file.lib[.gz]")

assess: .venv/bench-ready
	$(BIN)/python -m bench.assess $(if $(filter file,$(origin BLOCK)),,"$$BLOCK") $${MEASURE:+--measure "$$MEASURE"} $${LIBERTY:+--liberty "$$LIBERTY"} $(if $(DRY),--list)

figures: .venv/bench-ready
	$(BIN)/python -m bench.figures
	$(BIN)/python -m bench.tour

docs: .venv/test-ready
	$(BIN)/python -m bench.site -o "$$OUT/docs"

lint: .venv/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Never OUT, which may be anyone's folder.
clean:
	rm -rf build out .pytest_cache .ruff_cache .hypothesis

# The demo and the volume tier need a C++ compiler; the tests need what system.sh installs or names.
.venv/made:
	@sh cosim/system.sh python "$$PYTHON"
	"$$PYTHON" -m venv .venv
	@touch $@

.venv/ready: .venv/made pyproject.toml constraints.txt
	@sh cosim/system.sh compiler $(BIN)/python
	@sh cosim/system.sh packages $(BIN)/python sim
	@touch $@

.venv/record-ready: .venv/made pyproject.toml constraints.txt
	@sh cosim/system.sh recorder $(BIN)/python
	@sh cosim/system.sh packages $(BIN)/python record
	@touch $@

.venv/prove-ready: .venv/ready
	@sh cosim/system.sh packages $(BIN)/python proofs
	@sh cosim/system.sh prover $(BIN)/python
	@touch $@

.venv/test-ready: .venv/prove-ready
	@sh cosim/system.sh packages $(BIN)/python test
	@sh cosim/system.sh tools $(BIN)/python || true
	@touch $@

.venv/bench-ready: .venv/test-ready
	@sh cosim/system.sh packages $(BIN)/python test,figures
	@sh cosim/system.sh timing $(BIN)/python || true
	@sh cosim/system.sh programs $(BIN)/python || true
	@touch $@
