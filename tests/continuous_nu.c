/* Iterations on continuous operators: those of an independent program, for random right-hand sides. */
/* ranks: 1 2 4 */
#include "support/continuous.h"

#define FGMRES "-ksp_type fgmres -ksp_gmres_restart 200 "
#define CG     "-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_symmetric "

/* nu: of B, of Jacobi steps before and after it, after it, and of CG with a symmetric cycle; 0: not known */
static const struct {
  int       dim, degree;
  PetscInt  cells;
  PetscBool lobatto;
  Sides     sides;
  double    nu[4];
} rows[] = {
  {2, 1, 16, PETSC_FALSE, LEFT_OUT, {6.3, 4.4, 4.9, 5.4}}, {2, 2, 16, PETSC_FALSE, LEFT_OUT, {5.7, 3.8, 4.2, 5.5}},
  {2, 3, 16, PETSC_FALSE, LEFT_OUT, {6.0, 3.8, 4.4, 5.9}}, {2, 6, 16, PETSC_FALSE, LEFT_OUT, {6.1, 4.0, 4.8, 6.1}},
  {2, 2, 64, PETSC_FALSE, LEFT_OUT, {5.7, 3.9}},           {2, 8, 8, PETSC_FALSE, LEFT_OUT, {6.3, 4.1, 5.2}},
  {3, 1, 8, PETSC_FALSE, LEFT_OUT, {7.0, 4.5, 5.4, 6.6}},  {3, 2, 8, PETSC_FALSE, LEFT_OUT, {6.9, 4.1, 5.0, 6.9}},
  {2, 1, 16, PETSC_FALSE, NATURAL, {6.9, 5.2, 0, 5.7}},    {2, 3, 16, PETSC_FALSE, NATURAL, {5.4, 3.6, 0, 5.3}},
  {3, 2, 8, PETSC_FALSE, NATURAL, {6.3, 4.2, 0, 6.1}},     {2, 1, 16, PETSC_FALSE, IDENTITY_ROWS, {6.3, 4.4}},
  {2, 4, 16, PETSC_FALSE, IDENTITY_ROWS, {6.1, 3.8}},
};

static PetscErrorCode Measure(const NodeGrid *g, const char options[], double *nu)
{
  PetscReal residual;
  PetscInt  its;
  char      all[256];
  Problem   p;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(g, 1, "", &p));
  PetscCall(
    PetscSNPrintf(all, sizeof(all), "-ksp_rtol 1e-8 -ksp_max_it 100 -pc_vpatchdg_precision double -vpatchdg_warnings 0 %s", options));
  PetscCall(SolveWith(&p, all, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_are_as_published(void)
{
  static const char *const ways[] = {FGMRES "-pc_vpatchdg_jacobi none", FGMRES "-pc_vpatchdg_jacobi both",
                                     FGMRES "-pc_vpatchdg_jacobi after", CG "-pc_vpatchdg_jacobi none"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    const NodeGrid g = {
      .dim = rows[i].dim, .degree = rows[i].degree, .cells = rows[i].cells, .lobatto = rows[i].lobatto, .sides = rows[i].sides};

    for (int way = 0; way < 4; way++) {
      double nu = 0;

      if (!(rows[i].nu[way] > 0)) continue;
      PetscCall(Measure(&g, ways[way], &nu));
      TapOk((PetscBool)(fabs(nu - rows[i].nu[way]) <= 0.5), "iterations_are_as_published, %dD Q%d %d cells%s%s, %s: %.2f for %.1f", g.dim,
            g.degree, (int)g.cells, g.lobatto ? ", lobatto" : "",
            g.sides == NATURAL ? ", Neumann"
            : g.sides          ? ", rows of the identity"
                               : "",
            strstr(ways[way], "-pc_vpatchdg"), nu, rows[i].nu[way]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(iterations_are_as_published());
  PetscCall(PetscFinalize());
  return TapEnd();
}
