# vpatchdg. `make help` says what there is to type; share/vpatchdg/setup.sh finds PETSc and p4est and writes $(BUILD)/config.mk.
SHELL    = /bin/bash -o pipefail
ARCH     = native
CFLAGS   = -O2 -g
LDFLAGS  =
prefix   = /usr/local
RANKS    = 2
BUILD    = build$(if $(SANITIZE),-sanitize)
$(if $(BUILD),,$(error BUILD is empty))
VERSION := $(shell sed -n 's/.*VPATCHDG_VERSION "\(.*\)"/\1/p' include/vpatchdg.h)
export PETSC_DIR PETSC_ARCH P4EST_DIR CFLAGS LDFLAGS ARCH BUILD

.PHONY: all run check bench install setup help clean FORCE
all:

ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif
$(BUILD)/config.mk: FORCE
	@CC='$(if $(filter command%,$(origin CC)),$(CC))' share/vpatchdg/setup.sh $@ $(MAKECMDGOALS)
ifneq ($(origin CC),command line)
CC       = $(PETSC_CC)
endif
MPIEXEC ?= $(PETSC_MPIEXEC)

# ---- compiling

ifdef SANITIZE
sanitize  = -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
warn      = -Wall -Wextra -Wshadow -Wno-unused-parameter $(if $(WERROR),-Werror)
compile   = @mkdir -p $(@D); echo "  CC $@"; $(CC) -std=gnu11 $(warn) -fPIC -fvisibility=hidden -MMD -MP -Iinclude $(PETSC_CFLAGS) $(CFLAGS)
link      = @mkdir -p $(@D); echo "  LD $@"; $(CC) $(CFLAGS) $(sanitize)
fast      = -O3 -march=$(ARCH) -fno-math-errno -ffp-contract=fast -fopenmp-simd

# the kernels are compiled once for every precision and dimension
kernels   = $(filter-out %/backend.c,$(wildcard src/kernels/host/*.c))
variants  = f2 f3 d2 d3
sources   = $(filter-out $(kernels),$(wildcard src/*/*.c src/*/*/*.c))
objects   = $(sources:src/%.c=$(BUILD)/obj/%.o) $(foreach v,$(variants),$(kernels:src/%.c=$(BUILD)/obj/%.$(v).o))
programs  = $(patsubst examples/%.c,$(BUILD)/bin/%,$(wildcard examples/*.c)) $(BUILD)/bin/bench
tests     = $(patsubst tests/%.c,$(BUILD)/tests/%,$(filter-out tests/bench.c,$(wildcard tests/*.c)))
mains     = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/*.c tests/*.c))
shared    = $(BUILD)/lib/libvpatchdg.so
static    = $(BUILD)/lib/libvpatchdg.a
soname    = libvpatchdg.so.$(firstword $(subst ., ,$(VERSION)))

all: $(shared) $(static) $(programs)

%.f2.o: kind = -DVP_REAL=float -DVP_DIM=2
%.f3.o: kind = -DVP_REAL=float -DVP_DIM=3
%.d2.o: kind = -DVP_REAL=double -DVP_DIM=2
%.d3.o: kind = -DVP_REAL=double -DVP_DIM=3
define kernel
$(BUILD)/obj/%.$(1).o: src/%.c
	$$(compile) $$(fast) $$(sanitize) $$(kind) -c $$< -o $$@
endef
$(foreach v,$(variants),$(eval $(call kernel,$(v))))

$(BUILD)/obj/%.o: src/%.c
	$(compile) $(sanitize) -c $< -o $@
$(mains): $(BUILD)/obj/%.o: %.c
	$(compile) $(sanitize) -c $< -o $@

$(objects) $(mains): $(BUILD)/config.mk
-include $(objects:.o=.d) $(mains:.o=.d)

$(shared): $(objects)
	$(link) -shared -Wl,-soname,$(soname) -Wl,-z,nodelete -o $@ $^ $(LDFLAGS) $(PETSC_LIBS) -lm
	@ln -sf $(@F) $(@D)/$(soname)
$(static): $(objects)
	@mkdir -p $(@D); rm -f $@; echo "  AR $@"; $(AR) rcs $@ $^

# programs use the shared library; plain.c knows only PETSc; tests reach inside through the static one
$(BUILD)/bin/plain: $(BUILD)/obj/examples/plain.o | $(shared)
	$(link) -o $@ $< $(LDFLAGS) $(PETSC_LIBS) -lm
$(BUILD)/bin/bench: $(BUILD)/obj/tests/bench.o $(shared)
	$(link) -o $@ $< -L$(BUILD)/lib -lvpatchdg -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) $(PETSC_LIBS) -lm
$(BUILD)/bin/%: $(BUILD)/obj/examples/%.o $(shared)
	$(link) -o $@ $< -L$(BUILD)/lib -lvpatchdg -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) $(PETSC_LIBS) -lm
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(static)
	$(link) -o $@ $< $(static) $(LDFLAGS) $(PETSC_LIBS) -lm
.SECONDARY:

# ---- running

# Open MPI as root, on more ranks than cores, in a container
export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export OMPI_MCA_rmaps_base_oversubscribe = 1
export PRTE_MCA_rmaps_default_mapping_policy = :oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism = none
export MPIEXEC

setup: $(BUILD)/config.mk
	@echo "PETSc $(PETSC_VERSION), compiler $(CC), mpiexec $(MPIEXEC)"

run: all
	@echo; echo "-div grad u = 1 in the unit cube, u = 0 on its boundary, $(RANKS) ranks"
	@for k in 2 3 4 5 7; do \
	  $(MPIEXEC) -n $(RANKS) $(BUILD)/bin/poisson -dm_vpatchdg_dim 3 -dm_vpatchdg_degree $$k -dm_refine 4 $(OPTIONS) \
	    | if [ $$k = 2 ]; then cat; else tail -n 1; fi || exit 1; done

# every test program runs on the numbers of ranks that its line "ranks: 1 2 4" names (or 1), through a file that prove can run
check: all $(tests)
	@rm -rf $(BUILD)/t; mkdir -p $(BUILD)/t; export SANITIZE=$(SANITIZE); for t in $(notdir $(tests)); do \
	  for n in $$(sed -n 's/.*ranks: *\([0-9][0-9 ]*\).*/\1/p;T;q' tests/$$t.c | grep . || echo 1); do \
	    printf '#!/bin/sh\nexec tests/run.sh %s %s\n' $$n $(BUILD)/tests/$$t > $(BUILD)/t/$$t.$$n.t; done; done; \
	  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 prove --timer --failures $(if $(V),-v) $(or $(T:%=$(BUILD)/t/%.*.t),$(BUILD)/t $(wildcard tests/*.t))

bench: all
	@$(MPIEXEC) -n $(RANKS) $(BUILD)/bin/bench -report $(BUILD)/bench.json $(OPTIONS)

install: all
	@install -d $(DESTDIR)$(prefix)/{lib/pkgconfig,include,share/vpatchdg/options}
	install -m 755 $(shared) $(DESTDIR)$(prefix)/lib/libvpatchdg.so.$(VERSION)
	ln -sf libvpatchdg.so.$(VERSION) $(DESTDIR)$(prefix)/lib/$(soname)
	ln -sf libvpatchdg.so.$(VERSION) $(DESTDIR)$(prefix)/lib/libvpatchdg.so
	install -m 644 $(static) $(DESTDIR)$(prefix)/lib
	install -m 644 include/vpatchdg.h $(DESTDIR)$(prefix)/include
	sed 's|@prefix@|$(prefix)|; s|@version@|$(VERSION)|; s|@petsc@|$(PETSC_PC)|; s|@petsc_version@|$(PETSC_VERSION)|; s|@private@|$(filter -lp4est -lsc,$(PETSC_LIBS)) -lm|' \
	  share/vpatchdg/vpatchdg.pc.in > $(DESTDIR)$(prefix)/lib/pkgconfig/vpatchdg.pc
	install -m 755 share/vpatchdg/compare.py $(DESTDIR)$(prefix)/share/vpatchdg
	install -m 644 share/vpatchdg/options/*.opts $(DESTDIR)$(prefix)/share/vpatchdg/options
	install -m 644 share/vpatchdg/vpatchdg.mk $(DESTDIR)$(prefix)/share/vpatchdg

help:
	@printf '%s\n' \
	'make                    library in $(BUILD)/lib, examples in $(BUILD)/bin' \
	'make run                solves a 3D Poisson problem, prints a table     RANKS=2 OPTIONS="-dm_refine 3 ..."' \
	'make check              builds and passes the tests                     T="mesh cycle" (only these) V=1 (verbose)' \
	'make check SANITIZE=1   the same with AddressSanitizer and UBSan, in build-sanitize' \
	'make bench              measures speed and memory                       RANKS=2' \
	'make install            library, header, pkg-config file, share/        prefix=/usr/local DESTDIR=' \
	'make setup              installs what is missing (run, check and bench do it too)' \
	'make clean              removes $(BUILD)' \
	'' \
	'PETSC_DIR= PETSC_ARCH=  a PETSc of one'"'"'s own (3.18 to 3.26); otherwise the one pkg-config knows' \
	'P4EST_DIR= CC= MPIEXEC= p4est, the MPI compiler and launcher, if not those found' \
	'ARCH=native CFLAGS="$(CFLAGS)" WERROR=1 BUILD=build'

clean:
	rm -rf $(BUILD)
