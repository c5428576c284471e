/* p4est under one set of names for two dimensions and, where p4est_to_p8est.h came first, for three. */
#pragma once
#include "../internal.h"
#ifndef P4_TO_P8
  #include <p4est_algorithms.h>
  #include <p4est_bits.h>
  #include <p4est_communication.h>
  #include <p4est_extended.h>
  #include <p4est_io.h>
  #include <p4est_iterate.h>
  #include <p4est_mesh.h>
  #define VP_FOREST(name)  name##2
  #define VP_QUADRANT_Z(q) 0
#else
  #include <p8est_algorithms.h>
  #include <p8est_bits.h>
  #include <p8est_communication.h>
  #include <p8est_extended.h>
  #include <p8est_io.h>
  #include <p8est_iterate.h>
  #include <p8est_mesh.h>
  #define VP_FOREST(name)  name##3
  #define VP_QUADRANT_Z(q) (q)->z
#endif

/* connectivity.c: p4est's connectivity of the domain's boxes. Corners and edges matter where levels differ. */
p4est_connectivity_t *VP_FOREST(VpConnectivity)(VpDomain);
