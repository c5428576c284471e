/* Multigrid on meshes of cells of different levels: the levels' cells; residuals and interface patches against the operator on the
   leaves. */
/* ranks: 1 2 3 5 */
#include "support/refined.h"

/* the corners and sizes of all ranks' cells of a mesh, [ncell][2][3] */
static PetscErrorCode Everywhere(VpMesh mesh, PetscReal **bounds)
{
  PetscReal   *own;
  PetscMPIInt *count, *start;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(6 * (size_t)mesh->ncell, bounds));
  PetscCall(PetscMalloc3(6 * (size_t)mesh->nown, &own, mesh->size, &count, mesh->size, &start));
  for (int32_t c = 0; c < mesh->nown; c++) VpGeometryBounds(mesh->geometry, c, own + 6 * c, own + 6 * c + 3);
  for (int r = 0; r < mesh->size; r++) {
    start[r] = (PetscMPIInt)(6 * mesh->starts[r]);
    count[r] = (PetscMPIInt)(6 * mesh->starts[r + 1]) - start[r];
  }
  PetscCallMPI(MPI_Allgatherv(own, 6 * mesh->nown, MPIU_REAL, *bounds, count, start, MPIU_REAL, mesh->comm));
  PetscCall(PetscFree3(own, count, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do these bounds agree? */
static PetscBool AreSame(int dim, const PetscReal l[], const PetscReal h[], const PetscReal lower[], const PetscReal size[])
{
  for (int d = 0; d < dim; d++) {
    const PetscReal apart = PetscAbsReal(l[d] - lower[d]);

    /* around a periodic domain, which is the unit cube */
    if ((apart > 1e-12 && PetscAbsReal(apart - 1) > 1e-12) || PetscAbsReal(h[d] - size[d]) > 1e-12) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Does the cell of a mesh lie at these bounds? */
static PetscBool IsAt(VpMesh mesh, int32_t cell, const PetscReal lower[], const PetscReal size[])
{
  PetscReal l[3], h[3];

  VpGeometryBounds(mesh->geometry, cell, l, h);
  return AreSame(mesh->dim, l, h, lower, size);
}

/* Is that so on all ranks? */
static PetscBool OnAll(PetscBool here)
{
  (void)MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return here;
}

/* of the cells that are swept, ghosts too */
static PetscErrorCode CheckNeighbors(VpMesh mesh, PetscBool *right)
{
  const int  nside = 2 * mesh->dim;
  PetscReal *all;

  PetscFunctionBeginUser;
  PetscCall(Everywhere(mesh, &all));
  for (int32_t i = 0; i < nside * mesh->nsweep; i++) {
    const int       c = i / nside, side = i % nside;
    const int32_t   next = mesh->neighbor[i];
    const PetscBool inside = (PetscBool)(VpGeometryBoxBeyond(mesh->geometry, c, side) >= 0);
    PetscReal       at[3], size[3];
    PetscBool       found = PETSC_FALSE;

    VpGeometryBounds(mesh->geometry, c, at, size);
    at[side / 2] += side % 2 ? size[side / 2] : -size[side / 2];
    for (PetscInt other = 0; other < mesh->ncell && inside && !found; other++)
      found = AreSame(mesh->dim, all + 6 * other, all + 6 * other + 3, at, size);
    *right = (PetscBool)(*right && found == (next >= 0) && inside == (next >= 0 || next == VP_LEVEL_END));
    if (next >= 0) *right = (PetscBool)(*right && IsAt(mesh, next, at, size));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode levels_have_the_leaves_and_their_ancestors(const Setting *s, const Refined *r)
{
  const int family = 1 << s->dim;
  int      *seen;
  PetscBool once = PETSC_TRUE, children = PETSC_TRUE, neighbors = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(r->leaves->nown, &seen));
  for (int l = 0; l < r->n; l++) {
    const VpMesh mesh = r->mesh[l];

    for (int32_t c = 0; c < mesh->nown; c++) {
      PetscReal lower[3], size[3];

      VpGeometryBounds(mesh->geometry, c, lower, size);
      if (mesh->leaf[c] >= 0) {
        seen[mesh->leaf[c]]++;
        once = (PetscBool)(once && IsAt(r->leaves, mesh->leaf[c], lower, size));
      }
      for (int q = 0; q < family && l; q++) {
        const int32_t child = r->mesh[l - 1]->relation->child[c * family + q];
        PetscReal     at[3], half[3];

        for (int d = 0; d < 3; d++) {
          half[d] = size[d] / 2;
          at[d] = lower[d] + (q >> d & 1) * half[d];
        }
        children = (PetscBool)(children && (child >= 0) == (mesh->leaf[c] < 0));
        if (child >= 0)
          children = (PetscBool)(children && IsAt(r->mesh[l - 1], child, at, half) && r->mesh[l - 1]->relation->parent[child] == c);
      }
    }
    PetscCall(CheckNeighbors(mesh, &neighbors));
  }
  for (int32_t i = 0; i < r->leaves->nown; i++) once = (PetscBool)(once && seen[i] == 1);
  TapOk((PetscBool)(r->n > 2 && VpMeshIsPart(r->mesh[0]) && !VpMeshIsPart(r->mesh[r->n - 1])), "levels_are_parts_and_then_all_cells, %s",
        s->name);
  TapOk(OnAll(once), "every_leaf_is_on_one_level, %s", s->name);
  TapOk(OnAll(children), "children_fill_refined_cells, %s", s->name);
  TapOk(OnAll(neighbors), "neighbours_are_where_they_are, %s", s->name);
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own values and all ghosts of a level, from those on the leaves; cells that were refined have whatever there is */
static PetscErrorCode ToLevel(const Refined *r, int l, const double leaves[], double level[])
{
  const VpMesh mesh = r->mesh[l];
  double      *plain;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)mesh->nown * r->ndof, &plain));
  for (int32_t c = 0; c < mesh->nown; c++) {
    for (int i = 0; i < r->ndof; i++) plain[c * r->ndof + i] = mesh->leaf[c] < 0 ? 1e3 + i : leaves[mesh->leaf[c] * r->ndof + i];
  }
  PetscCall(r->level[l]->ops->enter(&r->level[l]->view, NULL, 1, NULL, VpGhostsAt(NULL), plain, level, NULL));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_ALL, 1, r->level[l]->unit, level, level + (size_t)mesh->nown * r->ndof));
  PetscCall(PetscFree(plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromLevel(const Refined *r, int l, const double level[], double leaves[])
{
  const VpMesh mesh = r->mesh[l];
  double      *plain;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)mesh->nown * r->ndof, &plain));
  PetscCall(r->level[l]->ops->leave(&r->level[l]->view, PETSC_FALSE, 1, level, plain));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (mesh->leaf[c] >= 0) PetscCall(PetscArraycpy(leaves + mesh->leaf[c] * r->ndof, plain + c * r->ndof, r->ndof));
  }
  PetscCall(PetscFree(plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on all ranks */
static double Largest(int n, const double x[])
{
  double most = 0;

  for (int i = 0; i < n; i++) most = PetscMax(most, fabs(x[i]));
  (void)MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return most;
}

/* Do all cells beyond a leaf's sides exist on its level, as leaves, or are coarser? */
static PetscBool SeesNoFiner(VpMesh mesh, int32_t cell)
{
  for (int side = 0; side < 2 * mesh->dim; side++) {
    const int32_t next = mesh->neighbor[cell * 2 * mesh->dim + side];

    if (next >= 0 && mesh->leaf[next] < 0) return PETSC_FALSE;
  }
  return (PetscBool)(mesh->leaf[cell] >= 0);
}

/* vectors on the leaves and on two levels, and on the level between the second and the third */
typedef struct {
  double         *x, *b, *r, *y; /* leaves */
  double         *X[3], *B[2];   /* levels l, l + 1, l + 2 */
  VpInterfaceView edges[2];
  VpArrays        arrays[2];
} Vectors;

static PetscErrorCode VectorsCreate(const Refined *r, int l, Vectors *v)
{
  const int n = r->leaves->nown * r->ndof;

  PetscFunctionBeginUser;
  *v = (Vectors){0};
  PetscCall(PetscMalloc4((size_t)r->leaves->nlocal * r->ndof, &v->x, n, &v->b, n, &v->r, n, &v->y));
  for (int i = 0; i < n; i++) {
    const PetscReal at[3] = {(PetscReal)(r->leaves->first * r->ndof + i), 1, 0};

    v->x[i] = Lot(at, 1) - 0.5;
    v->b[i] = 100 * (Lot(at, 2) - 0.5);
  }
  PetscCall(VpMeshExchange(r->leaves, VP_GHOST_ALL, 1, r->outer->unit, v->x, v->x + n));
  PetscCall(r->outer->ops->apply(&r->outer->view, 0, r->leaves->nown, v->x, VpGhostsAt(v->x + n), v->b, v->r));
  for (int i = 0; i < 3 && l + i < r->n; i++) {
    PetscCall(PetscMalloc1((size_t)r->mesh[l + i]->nlocal * r->ndof, &v->X[i]));
    PetscCall(ToLevel(r, l + i, v->x, v->X[i]));
  }
  for (int i = 0; i < 2; i++) {
    v->arrays[i] = (VpArrays){.backend = &VpBackendHost, .precision = VP_DOUBLE};
    PetscCall(PetscMalloc1((size_t)r->mesh[l + i]->nlocal * r->ndof, &v->B[i]));
    PetscCall(ToLevel(r, l + i, v->b, v->B[i]));
    if (!v->X[i + 1]) continue;
    PetscCall(VpPlaceInterfaces(r->level[l + i], r->level[l + i + 1], PETSC_TRUE, &v->arrays[i], &v->edges[i]));
    PetscCall(r->level[l]->ops->add_coarse(&r->level[l + i]->view, &v->edges[i], -1, v->X[i + 1], v->B[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorsDestroy(Vectors *v)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(v->X[i]));
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscFree(v->B[i]));
    PetscCall(VpArraysRelease(&v->arrays[i]));
  }
  PetscCall(PetscFree4(v->x, v->b, v->r, v->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode residuals_of_levels_are_the_operators(const Setting *s, const Refined *r, int l, const Vectors *v)
{
  const VpMesh mesh = r->mesh[l];
  double      *y, worst = 0;
  const double largest = Largest(r->leaves->nown * r->ndof, v->r);
  int          cells = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)mesh->nown * r->ndof, &y));
  PetscCall(
    r->level[l]->ops->apply(&r->level[l]->view, 0, mesh->nown, v->X[0], VpGhostsAt(v->X[0] + (size_t)mesh->nown * r->ndof), v->B[0], y));
  PetscCall(FromLevel(r, l, y, v->y));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (!SeesNoFiner(mesh, c)) continue;
    cells++;
    for (int i = mesh->leaf[c] * r->ndof; i < (mesh->leaf[c] + 1) * r->ndof; i++) worst = PetscMax(worst, fabs(v->y[i] - v->r[i]));
  }
  worst = Largest(1, &worst);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(cells && worst < 1e-12 * largest), "residuals_of_levels_are_the_operators, %s, level %d: %g on %d cells", s->name,
        r->n - l, worst / largest, cells);
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on one interface patch from the vectors as they are. worst[0]: the residual that is left on its cells; worst[1]: what the level's
   right-hand side lacks of that of the new values. */
static PetscErrorCode SolvePatch(const Refined *r, int l, const Vectors *v, int32_t patch, double worst[2])
{
  const VpFace   *edge = &r->mesh[l]->relation->ends.face[patch];
  const int       n = r->leaves->nown * r->ndof;
  VpInterfaceView one = v->edges[0];
  double         *x[2], *b, *fresh;
  int32_t        *order;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(one.sides.n, &order));
  for (int32_t i = 0; i < one.sides.n; i++) order[i] = patch; /* A patch that is solved has nothing to correct. */
  one.order = order;
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscMalloc1((size_t)r->mesh[l + i]->nown * r->ndof, &x[i]));
    PetscCall(PetscArraycpy(x[i], v->X[i], (size_t)r->mesh[l + i]->nown * r->ndof));
  }
  PetscCall(PetscMalloc2((size_t)r->mesh[l]->nown * r->ndof, &b, (size_t)r->mesh[l]->nown * r->ndof, &fresh));
  PetscCall(PetscArraycpy(b, v->B[0], (size_t)r->mesh[l]->nown * r->ndof));
  PetscCall(r->level[l]->ops->solve_interfaces(&r->level[l]->view, &r->level[l + 1]->view, &one, 0, one.sides.n, b, x[0], v->B[1], x[1]));
  PetscCall(ToLevel(r, l, v->b, fresh));
  PetscCall(r->level[l]->ops->add_coarse(&r->level[l]->view, &v->edges[0], -1, x[1], fresh));
  for (int i = 0; i < r->mesh[l]->nown * r->ndof; i++) worst[1] = PetscMax(worst[1], fabs(fresh[i] - b[i]));
  PetscCall(PetscArraycpy(v->y, v->x, n));
  for (int i = 0; i < 2; i++) PetscCall(FromLevel(r, l + i, x[i], v->y));
  PetscCall(r->outer->ops->apply(&r->outer->view, 0, r->leaves->nown, v->y, VpGhostsAt(v->y + n), v->b, v->r));
  for (int i = 0; i <= 1 << (r->leaves->dim - 1); i++) {
    const int32_t leaf = i ? r->mesh[l]->leaf[edge->cell[i]] : r->mesh[l + 1]->leaf[edge->cell[0]];

    if (leaf >= 0) worst[0] = PetscMax(worst[0], Largest(r->ndof, v->r + leaf * r->ndof));
  }
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(x[i]));
  PetscCall(PetscFree2(b, fresh));
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients are octaves in these tests: are those of the cells beyond a leaf's side and beside them the same, so that products fit? */
static PetscBool Fits(const Refined *r, const VpFace *edge)
{
  const int dim = r->leaves->dim;
  PetscBool fits = PETSC_TRUE;

  for (int i = 0; i < 1 << (dim - 1); i++) {
    for (int side = 0; side < 2 * dim; side++) {
      const PetscReal beyond = VpLevelCoefficientBeyond(r->level[0], edge->cell[1 + i], side);

      if (side / 2 == edge->side / 2 || !beyond) continue;
      fits = (PetscBool)(fits && beyond == VpLevelCoefficient(r->level[0], edge->cell[1], side / 2));
    }
  }
  return fits;
}

static PetscErrorCode edge_patches_are_solved(const Setting *s, const Refined *r)
{
  const PetscBool inexact = (PetscBool)(s->coefficient == COEFFICIENT_WAVES || s->coefficient == COEFFICIENT_CHECKERBOARD);
  const int       n = r->leaves->nown * r->ndof;
  double          worst[2] = {0, 0}, before;
  int             solved = 0;
  Vectors         v;

  PetscFunctionBeginUser;
  PetscCall(VectorsCreate(r, 0, &v));
  before = Largest(n, v.r);
  for (int32_t patch = 0; patch < r->mesh[0]->relation->ends.n; patch++) {
    if (!inexact && !Fits(r, &r->mesh[0]->relation->ends.face[patch])) continue;
    PetscCall(SolvePatch(r, 0, &v, patch, worst));
    solved++;
  }
  TapOk((PetscBool)(solved && worst[0] < (inexact ? 0.5 : 1e-10) * before), "edge_patches_leave_no_residual, %s: %g of %d", s->name,
        worst[0] / before, solved);
  TapOk((PetscBool)(worst[1] < 1e-10 * before), "edge_patches_keep_the_right_hand_side, %s: %g", s->name, worst[1] / before);
  PetscCall(VectorsDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLevels(const Setting *s)
{
  Refined r;
  Vectors v;

  PetscFunctionBeginUser;
  PetscCall(RefinedCreate(s, &VpBackendHost, VP_DOUBLE, &r));
  PetscCall(levels_have_the_leaves_and_their_ancestors(s, &r));
  for (int l = 0; l + 2 < r.n; l++) {
    PetscCall(VectorsCreate(&r, l, &v));
    PetscCall(residuals_of_levels_are_the_operators(s, &r, l, &v));
    PetscCall(VectorsDestroy(&v));
  }
  if (r.leaves->size == 1) PetscCall(edge_patches_are_solved(s, &r));
  PetscCall(RefinedDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(refined); i++) PetscCall(CheckLevels(&refined[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
