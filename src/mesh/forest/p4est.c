/* p4est, as the library starts it, and what it can hold. */
#include "forest.h"
#include <p8est.h> /* P8EST_QMAXLEVEL */

/* libsc leaves the package numbers behind: a second PetscInitialize must find them unset. Where an adaptive mesh lives
   on, as in Python, libsc would abort the program, and stays. */
static PetscErrorCode FinalizeForest(void)
{
  PetscFunctionBegin;
  if (sc_package_id < 0 || sc_memory_status(sc_package_id) || sc_memory_status(p4est_package_id)) PetscFunctionReturn(PETSC_SUCCESS);
  sc_finalize();
  sc_package_id = p4est_package_id = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program or another package may have started libsc, and p4est on it; what is started here is ended in PetscFinalize. sc_init() is
   collective on its communicator: with a communicator of all ranks, a mesh on some ranks would wait for the others. */
PetscErrorCode VpForestInitialize(void)
{
  PetscFunctionBegin;
  if (sc_package_id < 0) {
    sc_init(MPI_COMM_SELF, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    PetscCall(PetscRegisterFinalize(FinalizeForest));
  } else if (p4est_package_id < 0) p4est_init(NULL, SC_LP_ERROR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p4est aborts the program when it fails: so its limits, and ours, are checked before. The same on all ranks. */
PetscErrorCode VpForestCheckSize(MPI_Comm comm, VpDomain domain, int level)
{
  const int    finest = domain->dim == 2 ? P4EST_QMAXLEVEL : P8EST_QMAXLEVEL;
  const double ncell = domain->nbox * pow(2, domain->dim * level);

  PetscFunctionBegin;
  PetscCheck(level >= 0 && level <= finest, comm, PETSC_ERR_ARG_OUTOFRANGE, "Boxes refined %d times: p4est has 0 to %d in %d dimensions",
             level, finest, domain->dim);
  PetscCheck(ncell <= PETSC_MAX_INT, comm, PETSC_ERR_SUP,
             "%d %s refined %d times are %.0f cells: PetscInt has %d bits (refine less, or configure PETSc with 64-bit indices)",
             (int)domain->nbox, VpDomainBoxes(domain), level, ncell, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *VpForestVersion(void)
{
  return P4EST_VERSION;
}
