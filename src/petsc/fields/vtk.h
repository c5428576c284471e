/* Inside the files vtk*.c: the file that is written, and its arrays. */
#pragma once
#include "functions.h"

/* all that describes a cell's points */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  FILE       *file;   /* on rank 0 */
  PetscBool   failed; /* Something could not be written there; the others are told when all is sent. */
  uint64_t    bytes;  /* all that its arrays take */
  VpMesh      mesh;
  VpField     field;
  VpGrid      points;                 /* equidistant ones */
  int         npoint, ncell, ncorner; /* the points and linear cells of a cell, the corners of a linear cell */
} VpVtk;

/* vtkarrays.c. On rank 0: what could not be written is remembered in `failed`. */
void VpVtkWrite(VpVtk *, const void *data, size_t bytes);
void VpVtkLine(VpVtk *, const char text[]);
/* The arrays of an appended section. Collective */
PetscErrorCode VpVtkWritePoints(VpVtk *);
PetscErrorCode VpVtkWriteConnectivity(VpVtk *);
PetscErrorCode VpVtkWriteCells(VpVtk *); /* where a linear cell's corners end, what it is, and whose */
PetscErrorCode VpVtkWriteCellData(VpVtk *, int vector, const PetscReal values[]); /* [own cells], or if `vector` is not 0, so many each */
PetscErrorCode VpVtkWriteField(VpVtk *, Vec);
