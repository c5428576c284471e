# For the makefile of a program that uses vpatchdg:
#
#   include /usr/local/share/vpatchdg/vpatchdg.mk
#   program: program.c
#           $(VPATCHDG_CC) $(CFLAGS) $(VPATCHDG_CFLAGS) -o $@ $< $(VPATCHDG_LIBS)
#
# VPATCHDG_STATIC_LIBS in the place of VPATCHDG_LIBS links libvpatchdg.a and what that needs (p4est, and CUDA's runtime where it has CUDA).
# VPATCHDG_OPTIONS is the folder of options files, VPATCHDG_PLUGIN what -dll_append loads into a program that does not link the library.
# PETSc is the one that pkg-config finds (PKG_CONFIG_PATH): it has to be the one vpatchdg was built with.
vpatchdg_prefix  := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
vpatchdg_config   = PKG_CONFIG_PATH=$(vpatchdg_prefix)/lib/pkgconfig:$(PKG_CONFIG_PATH) pkg-config
VPATCHDG_CC      ?= mpicc
VPATCHDG_CFLAGS  := $(shell $(vpatchdg_config) --cflags vpatchdg)
VPATCHDG_LIBS    := $(shell $(vpatchdg_config) --libs vpatchdg | sed 's/-L\([^ ]*\)/-L\1 -Wl,-rpath,\1/g')
VPATCHDG_STATIC_LIBS := $(vpatchdg_prefix)/lib/libvpatchdg.a $(filter-out -lvpatchdg,$(VPATCHDG_LIBS)) $(shell $(vpatchdg_config) --variable=private vpatchdg)
VPATCHDG_OPTIONS := $(vpatchdg_prefix)/share/vpatchdg/options
VPATCHDG_PLUGIN  := $(vpatchdg_prefix)/lib/libvpatchdg.so
