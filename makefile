# vpatchdg. `make help` says what there is to type; share/vpatchdg/setup.sh finds PETSc, p4est, CUDA and NCCL and writes $(BUILD)/{config,cuda,nccl,goals}.mk.
SHELL     = /bin/bash -o pipefail
ARCH      = native
CFLAGS    = -O2 -g
NVCCFLAGS = -O3
LDFLAGS   =
prefix    = /usr/local
RANKS     = 2
BUILD     = build$(if $(EMULATE),-emulate)$(if $(SANITIZE),-sanitize$(patsubst %,-%,$(filter quick,$(SANITIZE))))
$(if $(BUILD),,$(error BUILD is empty))
VERSION := $(shell sed -n 's/.*VPATCHDG_VERSION "\(.*\)"/\1/p' include/vpatchdg.h)
ifdef EMULATE
CUDA      = 1
CUDA_ARCH = 90
NVCC      = tests/emulate/nvcc
NCCL      = 0
export CUDA_ARCH NVCC
endif
export PETSC_DIR PETSC_ARCH P4EST_DIR CFLAGS NVCCFLAGS LDFLAGS ARCH BUILD

# all cores, unless -j or the MAKEFLAGS of the environment say how many; several goals are made one after the other
MAKEFLAGS += $(if $(word 2,$(MAKECMDGOALS)),,$(shell case " $$MAKEFLAGS" in (*" -j"*|*" j"*) ;; (*) echo -j$$(nproc 2>/dev/null || echo 1) ;; esac))

# a variable's value where it was given on the command line
typed = $(if $(filter command%,$(origin $1)),$($1))

.PHONY: all wheel run check check-gpu fuzz bench bench-gpu bench-gpus paper shapes need-gpu say-cuda doc install setup format format-check help clean FORCE
all:

ifneq ($(filter-out help clean format format-check,$(or $(MAKECMDGOALS),all)),)
include $(addprefix $(BUILD)/,config.mk cuda.mk nccl.mk goals.mk)
endif
$(BUILD)/config.mk: FORCE
	@CC='$(call typed,CC)' CXX='$(call typed,CXX)' CUDA='$(if $(SANITIZE),0,$(CUDA))' NCCL='$(NCCL)' share/vpatchdg/setup.sh $(@D) $(MAKECMDGOALS)
$(addprefix $(BUILD)/,cuda.mk nccl.mk goals.mk): $(BUILD)/config.mk FORCE
	@:
ifneq ($(origin CC),command line)
CC       = $(PETSC_CC)
endif
MPIEXEC ?= $(PETSC_MPIEXEC)

# ---- compiling

# what is made: a line for every file
begin     = @mkdir -p $(@D); echo "$1 $@"
# A first build says what it compiles and how long that takes: about 37 s for a file and an architecture of GPUs, 0.5 s for other files, on a core.
cores     = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)
archs     = $(patsubst code=sm_%,%,$(filter code=sm_%,$(subst $(comma), ,$(CUDA_CFLAGS))))
minutes   = about $(shell n=$$((($(words $(filter-out $(cuda),$(objects))) * 5 + $(words $1) * $(words $(archs)) * 370) / (600 * $(cores)) + 1)); \
            echo "$$n minute$$([ $$n = 1 ] || echo s)")
about     = \# vpatchdg $(VERSION), degrees 1 to $(shell grep -c '^VP_' src/kernels/degrees.def), for PETSc $(PETSC_VERSION), $(if $(CUDA_NVCC),with CUDA for the \
            architectures $(archs)$(if $(gpu),, (there is no GPU here)),without CUDA): $(words $(objects)) files, $(call minutes,$(cuda)) with \
            -j$(cores)$(if $(cuda),; CUDA=0 leaves CUDA out: $(call minutes,))
.PHONY: announce
announce:
	@echo '$(about)'
ifdef SANITIZE
sanitize  = -O$(if $(filter quick,$(SANITIZE)),0,1) -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
warn      = -Wall -Wextra -Wshadow -Wno-unused-parameter $(if $(WERROR),-Werror)
compile   = $(call begin,CC); $(CC) -std=gnu11 $(warn) -fPIC -fvisibility=hidden -MMD -MP -Iinclude $(PETSC_CFLAGS) $(CFLAGS)
nvcc      = $(call begin,NVCC); $(CUDA_NVCC) -std=c++17 --extended-lambda $(if $(WERROR),-Werror all-warnings) -MMD -MP \
            -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wno-unused-parameter -Iinclude $(CUDA_CFLAGS) $(NVCCFLAGS)
link      = $(call begin,LD); $(CC) $(CFLAGS) $(sanitize)
# for kernels, whose variables debuggers do not know: to follow these takes a quarter of their compilation
fast      = -O3 -march=$(ARCH) -fno-math-errno -ffp-contract=fast -fopenmp-simd $(if $(filter -g,$(CFLAGS)),-g1)

# the kernels are compiled once for every precision and dimension, but those of points and of metrics only in double
kernels   = $(filter-out %/backend.c %/dense.c %/nodes.c %/maps.c %/pullback.c,$(wildcard src/kernels/host/*.c))
variants  = f2 f3 d2 d3
variant   = $(filter-out %/points.f2.o %/points.f3.o %/metric.f2.o %/metric.f3.o %/metricsmall.f2.o %/metricsmall.f3.o,$(kernels:src/%.c=$(BUILD)/obj/%.$1.o))
sources   = $(filter-out $(kernels),$(wildcard src/*/*.c src/*/*/*.c))
cuda      = $(if $(CUDA_NVCC),$(patsubst %.cu,$(BUILD)/obj/%.o,$(wildcard cuda/*.cu cuda/*/*.cu)))
# what takes longest is begun first
objects   = $(cuda) $(foreach v,$(variants),$(call variant,$v)) $(sources:src/%.c=$(BUILD)/obj/%.o)
examples  = $(patsubst examples/%.c,$(BUILD)/bin/%,$(wildcard examples/*.c))
# tests are in tests/ itself; what they share in support, programs that tests/*.t start in programs, random cases in fuzz, measurements in
# bench and paper; *.cu only with CUDA
has       = $(wildcard $1/*.c) $(if $(CUDA_NVCC),$(wildcard $1/*.cu))
cases     = $(call has,tests)
measures  = $(call has,tests/bench) $(call has,tests/paper)
benches   = $(addprefix $(BUILD)/bin/,$(notdir $(basename $(measures))))
tests     = $(patsubst tests/%,$(BUILD)/tests/%,$(basename $(cases)))
programs  = $(patsubst tests/programs/%.c,$(BUILD)/bin/%,$(wildcard tests/programs/*.c))
fuzzer    = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/fuzz/*.c))
c_mains   = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/*.c tests/programs/*.c) $(filter %.c,$(cases) $(measures))) $(fuzzer)
cu_mains  = $(patsubst %.cu,$(BUILD)/obj/%.o,$(filter %.cu,$(cases) $(measures)) $(call has,tests/support))
shared    = $(BUILD)/lib/libvpatchdg.so
static    = $(BUILD)/lib/libvpatchdg.a
soname    = libvpatchdg.so.$(firstword $(subst ., ,$(VERSION)))

all: $(shared) $(static) $(examples)

%.f2.o: kind = -DVP_REAL=float -DVP_DIM=2
%.f3.o: kind = -DVP_REAL=float -DVP_DIM=3
%.d2.o: kind = -DVP_REAL=double -DVP_DIM=2
%.d3.o: kind = -DVP_REAL=double -DVP_DIM=3
define kernel
$(BUILD)/obj/%.$(1).o: src/%.c
	$$(compile) $$(fast) $$(sanitize) $$(kind) -c $$< -o $$@
endef
$(foreach v,$(variants),$(eval $(call kernel,$(v))))

# what set-up spends its time on where cells are mapped
$(addprefix $(BUILD)/obj/,kernels/host/maps.o kernels/host/pullback.o level/metric/definite.o): kind = $(fast)
# the one file that asks whether there is CUDA
$(BUILD)/obj/kernels/backends.o: kind = $(if $(CUDA_NVCC),-DVP_HAVE_CUDA)

$(BUILD)/obj/%.o: src/%.c
	$(compile) $(OPENMP) $(sanitize) $(kind) -c $< -o $@
$(BUILD)/obj/examples/%.o: examples/%.c
	$(compile) $(sanitize) -c $< -o $@
$(BUILD)/obj/tests/%.o: tests/%.c
	$(compile) $(sanitize) -c $< -o $@
$(BUILD)/obj/cuda/device/nccl.o: kind = $(NCCL_CFLAGS)
$(BUILD)/obj/cuda/device/nccl.o: $(BUILD)/nccl.last
$(BUILD)/obj/cuda/%.o: cuda/%.cu
	$(nvcc) $(kind) -c $< -o $@
$(BUILD)/obj/tests/%.o: tests/%.cu
	$(nvcc) -Xcompiler -fopenmp -c $< -o $@

$(objects): | $(if $(wildcard $(static)),,announce)
$(filter-out $(cuda),$(objects)) $(c_mains): $(BUILD)/config.mk
$(cuda) $(cu_mains): $(BUILD)/cuda.last
$(BUILD)/obj/kernels/backends.o $(shared) $(static): $(BUILD)/cuda.mk
-include $(objects:.o=.d) $(c_mains:.o=.d) $(cu_mains:.o=.d)

$(shared): $(objects) share/vpatchdg/exports.map
	$(link) -shared -Wl,-soname,$(soname),-z,nodelete,--exclude-libs,ALL,--version-script,share/vpatchdg/exports.map -o $@ $(objects) $(LDFLAGS) $(PETSC_LIBS) $(CUDA_LIBS) $(NCCL_LIBS) $(OPENMP) -lm
	@ln -sf $(@F) $(@D)/$(soname)
$(static): $(objects)
	$(call begin,AR); rm -f $@; $(AR) rcs $@ $(objects)

# examples use the shared library; plain.c, stencil.c and fem.c know only PETSc; tests and measurements reach inside through the static one
$(BUILD)/bin/plain $(BUILD)/bin/stencil $(BUILD)/bin/fem: $(BUILD)/bin/%: $(BUILD)/obj/examples/%.o | $(shared)
	$(link) -o $@ $< $(LDFLAGS) $(PETSC_LIBS) -lm
$(filter-out %/plain %/stencil %/fem,$(examples)): $(BUILD)/bin/%: $(BUILD)/obj/examples/%.o $(shared)
	$(link) -o $@ $< -L$(BUILD)/lib -lvpatchdg -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) $(PETSC_LIBS) -lm
# gold links a hundred programs in a third of the time
gold     := $(if $(shell command -v ld.gold),-fuse-ld=gold)
inside    = $(link) $(gold) $(if $(filter $<,$(cu_mains)),-fopenmp) -o $@ $(filter %.o,$^) $(static) $(LDFLAGS) $(PETSC_LIBS) $(CUDA_LIBS) $(NCCL_LIBS) \
            $(OPENMP) -lm
$(BUILD)/bin/bench_gpu: $(if $(CUDA_NVCC),$(BUILD)/obj/tests/support/waves.o)
$(BUILD)/bin/%: $(BUILD)/obj/tests/bench/%.o $(static)
	$(inside)
$(BUILD)/bin/%: $(BUILD)/obj/tests/paper/%.o $(static)
	$(inside)
$(tests): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(static)
	$(inside)
$(programs): $(BUILD)/bin/%: $(BUILD)/obj/tests/programs/%.o $(static)
	$(inside)
$(BUILD)/bin/fuzz: $(fuzzer) $(static)
	$(link) -o $@ $^ $(LDFLAGS) $(PETSC_LIBS) $(CUDA_LIBS) $(NCCL_LIBS) $(OPENMP) -lm
.SECONDARY:

# ---- running

# Open MPI as root, on more ranks than cores, in a container
include share/vpatchdg/mpi.env
export $(shell sed -n 's/ *=.*//p' share/vpatchdg/mpi.env)
export MPIEXEC

nccl_says = $(if $(NCCL_HEADER),with NCCL ($(NCCL_HEADER)),without NCCL$(if $(filter 0,$(NCCL)),,$(comma) whose header nccl.h was not found (NCCL_HOME= names \
            its folder)); messages between GPUs then go through MPI)
comma     = ,
setup: $(BUILD)/config.mk
	@echo "PETSc $(PETSC_VERSION)$(if $(PETSC_CUDA), with CUDA), compiler $(CC), mpiexec $(MPIEXEC)"
	@echo "$(if $(CUDA_NVCC),CUDA: $(CUDA_NVCC) $(filter arch=%,$(CUDA_CFLAGS))$(comma) $(nccl_says),no CUDA)"

# the name of a GPU that the kernels run on, and what puts a program there
gpu       = $(if $(filter 0,$(GPU)),,$(shell nvidia-smi --query-gpu=compute_cap,name --format=csv,noheader 2>/dev/null \
            | sed -n 's/^\([89]\|[1-9][0-9]\)\.[0-9], *//p' | head -n 1))
gpu_vec   = $(if $(PETSC_CUDA),-dm_vec_type cuda -use_gpu_aware_mpi 0,-dm_vpatchdg_backend cuda)

# Open MPI binds few ranks to a core each; beside a GPU the threads of set-up take the other cores
unbound   = OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none

say-cuda:
	@[ -z '$(CUDA_LEFT_OUT)' ] || echo '# without CUDA, since there is no GPU here (CUDA=1 compiles it all the same)'

run: say-cuda $(shared) $(BUILD)/bin/poisson
	@gpu='$(if $(CUDA_NVCC),$(gpu))'; ranks=$(RANKS); where=; options=; if [ -n "$$gpu" ]; then \
	  ranks=$(or $(call typed,RANKS),1); options='$(gpu_vec)'; where=", on the GPU ($$gpu; GPU=0 takes the CPU)"; export $(unbound); fi; \
	echo; echo "-div grad u = 1 in the unit cube, u = 0 on its boundary, ranks: $$ranks$$where"; \
	for k in 2 3 4 5 7; do \
	  $(MPIEXEC) -n $$ranks $(BUILD)/bin/poisson -dm_vpatchdg_dim 3 -dm_vpatchdg_degree $$k -dm_refine 4 $$options $(OPTIONS) \
	    | if [ $$k = 2 ]; then cat; else tail -n 1; fi || exit 1; done

# every test program runs on the numbers of ranks that its line "ranks: 1 2 4" names (or 1), through a file that prove can run
list_tests = rm -rf $(BUILD)/t; mkdir -p $(BUILD)/t; for t in $(notdir $(tests)); do \
	  for n in $$(sed -n 's/.*ranks: *\([0-9][0-9 ]*\).*/\1/p;T;q' tests/$$t.c* | grep . || echo 1); do \
	    printf '\#!/bin/sh\nexec tests/support/run.sh %s %s\n' $$n $(BUILD)/tests/$$t > $(BUILD)/t/$$t.$$n.t; done; done
# With several jobs one file more than make has jobs, 8 at most: programs wait while MPI starts them. What is installed by the tests is what was
# built.
jobs       = $(shell n=$(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(if $(filter -j,$(MAKEFLAGS)),8,1)); echo $$((n == 1 ? 1 : n < 8 ? n + 1 : 8)))
# T="cycle mesh.2 docs": cycle.c on all its numbers of ranks, mesh.c on 2, docs.t; without T all
chosen     = $(filter $(addprefix $(BUILD)/tests/,$(T) $(basename $(T))),$(tests))
scripts    = $(if $(EMULATE),,$(filter $(if $(T),$(T:%=tests/%.t),%),$(wildcard tests/*.t)))
# each of T names a test that there is
know_tests = for t in $(T); do [ -z "$$(ls tests/$$t.t tests/$$t.c* $(BUILD)/t/$$t.t 2>/dev/null)" ] || continue; \
	  has=$$(cd $(BUILD)/t && ls $${t%.*}.*.t 2>/dev/null | sed 's/\.t$$//'); \
	  echo "vpatchdg: T=$$t names no test$${has:+, there are }"$$has >&2; exit 1; done
everything = $(tests) $(if $(EMULATE),,all $(benches) $(programs) $(BUILD)/bin/fuzz)
# scripts, which take longest, are begun first; tests that run side by side have a thread per rank. Open MPI's cm, for networks between
# machines, sleeps 0.2 s in every start
prove      = $(if $(EMULATE),VPATCHDG_TEST=cuda) $(if $(filter-out 1,$(2)),OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1}) SANITIZE=$(SANITIZE) CUDA=$(if $(CUDA_NVCC),1,0) OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 \
	  OMPI_MCA_pml=$${OMPI_MCA_pml:-^cm} tests/support/prove.sh $(if $(V),-v) -j$(2) \
	  $(1) $(if $(T),$(foreach t,$(T),$(if $(wildcard tests/$t.c*),$(BUILD)/t/$t.*.t,$(if $(wildcard tests/$(basename $t).c*),$(BUILD)/t/$t.t))),$(BUILD)/t/*.t)
left_out   = $(if $(EMULATE),on an emulated GPU,$(if $(CUDA_NVCC),$(if $(gpu),the tests run on the CPU; make check-gpu runs them on the GPU,no GPU here),built without CUDA)$(if \
	     $(and $(CUDA_NVCC),$(gpu)),,: the tests in tests/*.cu and with VPATCHDG_TEST=cuda are skipped (make check-gpu)))

check: say-cuda $(if $(T),$(chosen) $(if $(scripts),$(everything)),$(everything))
	@$(list_tests)
	@$(know_tests)
	@echo '# $(left_out)'
	@$(call prove,$(scripts),$(if $(V),1,$(jobs)))
check-gpu: need-gpu $(everything)
	@! $(BUILD)/tests/cuda_kernels 0 | grep SKIP || { echo 'vpatchdg: nvidia-smi shows $(gpu), but CUDA finds no device it can use' >&2; exit 1; }
	@$(list_tests)
	@VPATCHDG_TEST=cuda PETSC_OPTIONS="$(if $(PETSC_CUDA),-use_gpu_aware_mpi 0) $$PETSC_OPTIONS" \
	  $(call prove,$(filter-out tests/install.t,$(scripts)),1)

# random cases, on the GPU where there is one
fuzz: say-cuda $(BUILD)/bin/fuzz
	@tests/fuzz/fuzz.py --program $(BUILD)/bin/fuzz --mpiexec '$(MPIEXEC)' --seed $(or $(SEED),1) $(if $(CASE),--only $(CASE),--runs $(or $(RUNS),200)) \
	  $(if $(JOBS),--jobs $(JOBS)) $(if $(and $(CUDA_NVCC),$(gpu)),--options='$(gpu_vec)') $(OPTIONS)
need-gpu:
	@$(if $(CUDA_NVCC),,echo 'vpatchdg: this build has no CUDA part, which needs nvcc: CUDA=1 says what is missing' >&2; exit 1)
	@$(if $(gpu),,echo 'vpatchdg: there is no GPU here (nvidia-smi shows none of compute capability 8.0 or later): run this on a machine with one' >&2; exit 1)

bench: say-cuda $(BUILD)/bin/bench
	@$(MPIEXEC) -n $(RANKS) $(BUILD)/bin/bench -report $(BUILD)/bench.json $(OPTIONS)
bench-gpu: need-gpu all $(benches)
	@$(unbound) $(MPIEXEC) -n $(or $(call typed,RANKS),1) $(BUILD)/bin/bench_gpu $(if $(PETSC_CUDA),-use_gpu_aware_mpi 0) \
	  -report $(BUILD)/bench-gpu.json $(OPTIONS)
	@! python3 -c 'import matplotlib' 2>/dev/null || python3 share/vpatchdg/plot.py $(BUILD)/bench-gpu.json $(BUILD)/bench-gpu.svg

# on 1, 2, 4, ... as many GPUs as there are
bench-gpus: need-gpu all $(benches)
	@files=; for ((n = 1; n <= $(shell nvidia-smi -L 2>/dev/null | wc -l); n *= 2)); do files="$$files $(BUILD)/bench-gpus-$$n.json"; \
	  $(unbound) $(MPIEXEC) -n $$n $(BUILD)/bin/bench_gpus $(if $(PETSC_CUDA),-use_gpu_aware_mpi 0) -report $(BUILD)/bench-gpus-$$n.json $(OPTIONS) || exit 1; done; \
	share/vpatchdg/scaling.py $$files $$(python3 -c 'import matplotlib' 2>/dev/null && echo $(BUILD)/bench-gpus.svg)

# the paper's tables and figures beside ours
paper: say-cuda $(BUILD)/bin/poisson $(benches)
	@PETSC_OPTIONS="$(if $(PETSC_CUDA),-use_gpu_aware_mpi 0) $$PETSC_OPTIONS" python3 -B share/vpatchdg/paper $(if $(filter 0,$(GPU)),--cpu) $(OPTIONS)

# other shapes of the CUDA kernels, compiled and timed one by one: hours for all degrees
shapes: need-gpu
	@python3 -B tests/bench/shapes.py measure $(DEGREES) --build $(BUILD)-shapes $(OPTIONS)

# the manual: man.py needs python3 alone, the HTML pages Sphinx
page_source = $(BUILD)/doc/source
doc: $(BUILD)/config.mk
	@rm -rf $(BUILD)/doc; mkdir -p $(page_source); cp -r share/doc/*.rst examples share/vpatchdg/options $(page_source)
	@python3 -B share/doc/man.py $(BUILD)/doc/man && python3 -B share/doc/reference.py $(page_source) && python3 -B share/doc/pictures.py $(page_source)/pictures && \
	  python3 -B share/vpatchdg/paper --draw --body --results share/doc/paper --page $(page_source)/paper_body.html > /dev/null
	@PYTHONPATH=share/doc PYTHONDONTWRITEBYTECODE=1 sphinx-build -q -W --keep-going -c share/doc -d $(BUILD)/doc/trees $(page_source) $(BUILD)/doc/html
	@echo 'file://$(abspath $(BUILD))/doc/html/index.html, and manual pages in $(BUILD)/doc/man'

# the Python package with this library; `pip install .` builds its own
wheel: $(shared)
	@$(or $(PYTHON),python3) -B share/python/build.py $(BUILD)/wheel $(shared)

# what pkg-config and CMake are told
fill = sed -e 's|@prefix@|$(prefix)|; s|@version@|$(VERSION)|; s|@soname@|$(soname)|; s|@petsc_version@|$(PETSC_VERSION)|; s|@cc@|$(CC)|' \
  -e 's|@cflags@|$(strip $(USER_CFLAGS))|; s|@libs@|$(strip $(USER_LIBS))|; s|@private@|$(strip $(P4EST_LIBS) $(CUDA_LIBS) $(NCCL_LIBS) $(OPENMP) -lm)|'
install: all
	@install -d $(DESTDIR)$(prefix)/{bin,lib/{pkgconfig,cmake/vpatchdg},include,share/vpatchdg/{options,examples,meshes}}
	install -m 755 $(shared) $(DESTDIR)$(prefix)/lib/libvpatchdg.so.$(VERSION)
	ln -sf libvpatchdg.so.$(VERSION) $(DESTDIR)$(prefix)/lib/$(soname)
	ln -sf libvpatchdg.so.$(VERSION) $(DESTDIR)$(prefix)/lib/libvpatchdg.so
	install -m 644 $(static) $(DESTDIR)$(prefix)/lib
	install -m 644 include/vpatchdg.h $(DESTDIR)$(prefix)/include
	install -m 755 $(BUILD)/bin/poisson $(DESTDIR)$(prefix)/bin/vpatchdg-poisson
	for file in $(notdir $(basename $(wildcard share/vpatchdg/*.cmake.in))); do $(fill) share/vpatchdg/$$file.in > $(DESTDIR)$(prefix)/lib/cmake/vpatchdg/$$file; done
	$(fill) share/vpatchdg/vpatchdg.pc.in > $(DESTDIR)$(prefix)/lib/pkgconfig/vpatchdg.pc
	install -m 755 $(wildcard share/vpatchdg/*.py) $(DESTDIR)$(prefix)/share/vpatchdg
	install -m 644 share/vpatchdg/options/*.opts $(DESTDIR)$(prefix)/share/vpatchdg/options
	install -m 644 share/vpatchdg/meshes/* $(DESTDIR)$(prefix)/share/vpatchdg/meshes
	install -m 644 $(wildcard examples/*.c examples/*.h examples/*.py examples/*.msh examples/*.ipynb) $(DESTDIR)$(prefix)/share/vpatchdg/examples
	install -m 644 share/vpatchdg/vpatchdg.mk share/vpatchdg/mpi.env $(DESTDIR)$(prefix)/share/vpatchdg
	@if command -v python3 >/dev/null; then python3 -B share/doc/man.py $(DESTDIR)$(prefix)/share/man && echo 'manual pages in $(prefix)/share/man'; \
	  else echo 'vpatchdg: there is no python3 here, which writes the manual pages: they are left out' >&2; fi
	@echo 'programs: PKG_CONFIG_PATH=$(prefix)/lib/pkgconfig pkg-config --cflags --libs vpatchdg, or include $(prefix)/share/vpatchdg/vpatchdg.mk'

# other versions of clang-format differ in details
CLANG_FORMAT = $(or $(shell command -v clang-format-14),clang-format)
format_files = find include src cuda examples tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh'
format format-check:
	@$(CLANG_FORMAT) --version 2>&1 | grep -q 'version 14\.' || { echo 'vpatchdg: this needs clang-format 14 (CLANG_FORMAT= names it)' >&2; exit 1; }
	@$(format_files) | xargs $(CLANG_FORMAT) $(if $(filter format,$@),-i,--dry-run --Werror)
	@$(format_files) | xargs awk 'length > 140 && !/"/ { print FILENAME ":" FNR ": has more than 140 columns"; n++ } END { exit n > 0 }'

help:
	@printf '%s\n' \
	'make                    library in $(BUILD)/lib, examples in $(BUILD)/bin' \
	'make run                solves a 3D Poisson problem, prints a table     RANKS=2 OPTIONS="-dm_refine 3 ..." GPU=0' \
	'make check              builds and passes the tests                     T="mesh cycle.2" (only these) V=1 (verbose)' \
	'make check-gpu          the same on a GPU                               T= V=' \
	'make check EMULATE=1    the same on an emulated GPU, in build-emulate, where there is none; slow, best with T=' \
	'make fuzz               random options and API calls                    RUNS=200 SEED=1 CASE=12 (one again) JOBS= GPU=0' \
	'make check SANITIZE=1   the same with AddressSanitizer and UBSan, in build-sanitize, without CUDA; =quick compiles faster and runs slower' \
	'make bench              measures speed and memory                       RANKS=2' \
	'make bench-gpu          the same on a GPU                               OPTIONS=' \
	'make bench-gpus         on 1, 2, 4, ... of the GPUs that are there      OPTIONS="-bench_only weak"' \
	'make paper              the paper'"'"'s tables and figures beside ours      OPTIONS="--only table1,figure5 --most 2e6 --resume" GPU=0' \
	'make shapes             tries other shapes of the CUDA kernels          DEGREES="3 4"' \
	'make doc                HTML pages and manual pages in $(BUILD)/doc        (HTML needs Sphinx)' \
	'make install            library, header, bin/, share/, for pkg-config, CMake  prefix=/usr/local DESTDIR=' \
	'make wheel              the Python package in $(BUILD)/wheel               (or: pip install .)' \
	'make format             formats the sources by clang-format 14          format-check: only says which are not' \
	'make setup              installs what is missing (run, check and bench do it too)' \
	'make clean              removes $(BUILD)' \
	'' \
	'PETSC_DIR= PETSC_ARCH=  a PETSc of one'"'"'s own (3.18 to 3.26); otherwise the one pkg-config knows' \
	'P4EST_DIR= CC= MPIEXEC= p4est, the MPI compiler and launcher, if not those found' \
	'CUDA=                   0: without CUDA; 1: not without it; otherwise with it where nvcc is found (run and check: and a GPU)' \
	'NCCL= NCCL_HOME=        NCCL, for messages between GPUs: 0, 1 as CUDA; its folder, if nvcc does not find nccl.h' \
	'CUDA_HOME= NVCC= CXX=   CUDA, its compiler and that one'"'"'s host compiler, if not those found' \
	'CUDA_ARCH="80 90"       the GPUs to compile for; otherwise the one that is there, or these two' \
	'ARCH=native CFLAGS="$(CFLAGS)" NVCCFLAGS="$(NVCCFLAGS)" WERROR=1 BUILD=build'

clean:
	rm -rf $(BUILD)
