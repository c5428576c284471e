/* Shared by the files vtk*.c: the file being written and its arrays. */
#pragma once
#include "functions.h"

/* the file, and the points of a cell */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  FILE       *file;   /* on rank 0 */
  PetscBool   failed; /* Rank 0 could not write. Other ranks learn this when all data is sent. */
  uint64_t    bytes;  /* bytes of all arrays */
  VpMesh      mesh;
  VpField     field;
  VpGrid      points;                 /* equidistant points */
  int         npoint, ncell, ncorner; /* number of points of a cell, of its linear cells, and of corners of a linear cell */
} VpVtk;

/* vtkarrays.c, on rank 0. Write errors are recorded in `failed`. */
void VpVtkWrite(VpVtk *, const void *data, size_t bytes);
void VpVtkLine(VpVtk *, const char text[]);
/* Arrays of the appended section. Collective */
PetscErrorCode VpVtkWritePoints(VpVtk *);
PetscErrorCode VpVtkWriteConnectivity(VpVtk *);
PetscErrorCode VpVtkWriteCells(VpVtk *); /* offsets of the linear cells' corners, their types, and their ranks */
PetscErrorCode VpVtkWriteCellData(VpVtk *, int vector,
                                  const PetscReal values[]); /* values: [own cells], or [own cells][vector] if vector > 0 */
PetscErrorCode VpVtkWriteField(VpVtk *, Vec);
