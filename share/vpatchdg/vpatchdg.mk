# For the makefile of a program that uses vpatchdg:
#
#   include /usr/local/share/vpatchdg/vpatchdg.mk
#   program: program.c
#           $(VPATCHDG_CC) $(CFLAGS) $(VPATCHDG_CFLAGS) -o $@ $< $(VPATCHDG_LIBS)
#
# VPATCHDG_CC is the MPI compiler that vpatchdg was built with. The flags include those of that build's PETSc and MPI, and where programs find
# the libraries when they run.
# VPATCHDG_STATIC_LIBS in the place of VPATCHDG_LIBS links libvpatchdg.a and what that needs (p4est, and CUDA's runtime where it has CUDA).
# VPATCHDG_OPTIONS is the folder of options files, VPATCHDG_PLUGIN what -dll_append loads into a program that does not link the library.
vpatchdg_prefix  := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
vpatchdg_config   = PKG_CONFIG_PATH=$(vpatchdg_prefix)/lib/pkgconfig pkg-config
VPATCHDG_CC      := $(shell $(vpatchdg_config) --variable=ccompiler vpatchdg)
VPATCHDG_CFLAGS  := $(shell $(vpatchdg_config) --cflags vpatchdg)
VPATCHDG_LIBS    := $(shell $(vpatchdg_config) --libs vpatchdg)
VPATCHDG_STATIC_LIBS := $(vpatchdg_prefix)/lib/libvpatchdg.a $(filter-out -lvpatchdg,$(VPATCHDG_LIBS)) $(shell $(vpatchdg_config) --variable=private vpatchdg)
VPATCHDG_OPTIONS := $(vpatchdg_prefix)/share/vpatchdg/options
VPATCHDG_PLUGIN  := $(vpatchdg_prefix)/lib/libvpatchdg.so
