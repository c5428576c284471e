/* A session of PETSc: the ranks on this host, the number of threads per rank, and the entry for -citations. */
#include "session.h"
#include "../../base/threads.h"

PetscMPIInt      VPatchDGHostRank = 0, VPatchDGHostSize = 1;
static PetscBool cited = PETSC_FALSE;

static const char citation[] = "@article{CuiKanschat2024,\n"
                               "  author = {Cui, Cu and Kanschat, Guido},\n"
                               "  title  = {Multilevel Interior Penalty Methods on {GPU}s},\n"
                               "  eprint = {2405.18982},\n"
                               "  archivePrefix = {arXiv},\n"
                               "  year   = {2024}\n"
                               "}\n";

PetscErrorCode VpCite(void)
{
  return PetscCitationsRegister(citation, &cited);
}

PetscErrorCode VpSessionBegin(void)
{
  MPI_Comm host;

  PetscFunctionBegin;
  cited = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_rank(host, &VPatchDGHostRank));
  PetscCallMPI(MPI_Comm_size(host, &VPatchDGHostSize));
  PetscCall(VpFindThreads(host));
  PetscCall(PetscInfo(NULL, "Set-up in threads: %d on this rank\n", VpThreads));
  PetscCallMPI(MPI_Comm_free(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
