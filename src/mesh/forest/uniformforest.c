/* p4est: the forest of boxes and its partition. Compiled for two dimensions here and for three in uniformforest3d.c. */
#include "forest.h"

/* starts: [size+1]. p4est cuts the uniform forest and keeps only the coarsest quadrants that fill each rank's piece of the curve. */
void VP_FOREST(VpForestPartition)(MPI_Comm comm, VpDomain domain, int level, int64_t starts[])
{
  p4est_connectivity_t *conn = VP_FOREST(VpConnectivity)(domain, PETSC_FALSE);
  p4est_t              *forest = p4est_new_ext(comm, conn, 0, level, 0, 0, NULL, NULL);

  for (int r = 0; r <= forest->mpisize; r++) {
    const p4est_quadrant_t *first = &forest->global_first_position[r];

    starts[r] = ((int64_t)first->p.which_tree << P4EST_DIM * level) + (int64_t)p4est_quadrant_linear_id(first, level);
  }
  p4est_destroy(forest);
  p4est_connectivity_destroy(conn);
}

#ifndef P4_TO_P8
  #include <p8est.h> /* P8EST_QMAXLEVEL */
void VpForestPartition3(MPI_Comm, VpDomain, int level, int64_t starts[]);

/* libsc leaves the package numbers behind: a second PetscInitialize must find them unset. Where an adaptive mesh lives
   on, as in Python, libsc would abort the program, and stays. */
static PetscErrorCode Finalize(void)
{
  PetscFunctionBeginUser;
  if (sc_package_id < 0 || sc_memory_status(sc_package_id) || sc_memory_status(p4est_package_id)) PetscFunctionReturn(PETSC_SUCCESS);
  sc_finalize();
  sc_package_id = p4est_package_id = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program or another package may have started libsc, and p4est on it; what is started here is ended in PetscFinalize. sc_init() is
   collective on its communicator: on that of all ranks, a mesh on some of them would wait for the others. */
PetscErrorCode VpForestInitialize(void)
{
  PetscFunctionBeginUser;
  if (sc_package_id < 0) {
    sc_init(MPI_COMM_SELF, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    PetscCall(PetscRegisterFinalize(Finalize));
  } else if (p4est_package_id < 0) p4est_init(NULL, SC_LP_ERROR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p4est aborts the program when it fails: so its limits, and ours, are checked before. The same on all ranks. */
PetscErrorCode VpForestCheckSize(MPI_Comm comm, VpDomain domain, int level)
{
  const int    finest = domain->dim == 2 ? P4EST_QMAXLEVEL : P8EST_QMAXLEVEL;
  const double ncell = domain->nbox * pow(2, domain->dim * level);

  PetscFunctionBeginUser;
  PetscCheck(level >= 0 && level <= finest, comm, PETSC_ERR_ARG_OUTOFRANGE, "Boxes refined %d times: p4est has 0 to %d in %d dimensions",
             level, finest, domain->dim);
  PetscCheck(ncell <= PETSC_MAX_INT, comm, PETSC_ERR_SUP,
             "%d boxes refined %d times are %.0f cells: PetscInt has %d bits (refine less, or configure PETSc with 64-bit indices)",
             (int)domain->nbox, level, ncell, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCounts(MPI_Comm comm, VpLattice L, PetscMPIInt size, const PetscInt counts[])
{
  const double ncell = (double)L->ncell;
  double       most = ceil(ncell / size), sum = 0;

  PetscFunctionBeginUser;
  for (int r = 0; counts && r < size; r++) {
    PetscCheck(counts[r] >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cells for rank %d", counts[r], r);
    most = PetscMax(r ? most : 0, (double)counts[r]);
    sum += (double)counts[r];
  }
  PetscCheck(!counts || sum == ncell, comm, PETSC_ERR_ARG_SIZ, "%.0f cells given to the ranks, the mesh has %.0f", sum, ncell);
  PetscCheck(most <= VP_MAX_CELLS, comm, PETSC_ERR_SUP,
             "%d boxes are %.0f cells, %.0f on one rank: at most %d fit (refine less, or use more ranks)", (int)L->domain->nbox, ncell,
             most, VP_MAX_CELLS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *VpForestVersion(void)
{
  return P4EST_VERSION;
}

PetscErrorCode VpForestPartition(MPI_Comm comm, VpLattice lattice, const PetscInt counts[], PetscInt starts[])
{
  const VpDomain domain = lattice->domain;
  MPI_Comm       own;
  PetscMPIInt    size;
  int64_t       *first;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(CheckCounts(comm, lattice, size, counts));
  starts[0] = 0;
  for (int r = 0; counts && r < size; r++) starts[r + 1] = starts[r] + counts[r];
  if (size == 1) starts[1] = (PetscInt)lattice->ncell;
  if (counts || size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpForestInitialize());
  PetscCall(PetscMalloc1(size + 1, &first));
  PetscCallMPI(MPI_Comm_dup(comm, &own)); /* p4est's messages have fixed tags */
  (domain->dim == 2 ? VpForestPartition2 : VpForestPartition3)(own, domain, lattice->shape->bits[0], first);
  PetscCallMPI(MPI_Comm_free(&own));
  for (int r = 0; r <= size; r++) starts[r] = (PetscInt)first[r];
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
