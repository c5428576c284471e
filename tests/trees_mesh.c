/* Cells of trees that meet in any way: neighbours, ghosts, shared sides and parents, by the points in space where cells meet.
   ranks: 1 2 3 5 */
#include "support/tap.h"
#include "support/trees.h"

/* X = the point of a local cell, at reference coordinates of it, that multilinear maps of trees give */
static void PointOf(const Trees *t, VpGeometry g, int32_t cell, const double xi[3], double X[3])
{
  const int32_t *corner = t->corner + ((size_t)g->box[cell] << t->dim);
  for (int i = 0; i < 3; i++) X[i] = 0;
  for (int k = 0; k < 1 << t->dim; k++) {
    double weight = 1;

    for (int d = 0; d < t->dim; d++) {
      const double at = ldexp(g->coord[3 * (size_t)cell + d] + xi[d], -VpHalvingsOf(g->lattice, g->box[cell])->bits[d]);

      weight *= k >> d & 1 ? at : 1 - at;
    }
    for (int i = 0; i < t->dim; i++) X[i] += weight * t->x[corner[k]][i];
  }
}

/* the same of point i of n^(dim-1) on a side */
static void SidePoint(const Trees *t, VpGeometry g, int32_t cell, int side, int n, int i, double X[3])
{
  double xi[3] = {0, 0, 0};

  xi[side / 2] = side % 2;
  for (int d = 0; d < t->dim; d++) {
    if (d == side / 2) continue;
    xi[d] = (i % n + 0.5) / n;
    i /= n;
  }
  PointOf(t, g, cell, xi, X);
}

static PetscBool IsSame(const double X[3], const double Y[3])
{
  return (PetscBool)(fabs(X[0] - Y[0]) + fabs(X[1] - Y[1]) + fabs(X[2] - Y[2]) < 1e-12);
}

/* whether points of sides are those of the cells beyond, by turns; *boundary: number of sides of own cells without a cell beyond */
static PetscBool SidesMeet(const Trees *t, VpMesh mesh, PetscInt *boundary)
{
  const int n = 3, points = VpFaceSize(n, t->dim);
  PetscBool meet = PETSC_TRUE;

  *boundary = 0;
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    for (int side = 0; side < 2 * t->dim; side++) {
      const int32_t next = VpMeshNeighbor(mesh, cell, side);

      *boundary += next < 0;
      for (int i = 0; i < points && next >= 0; i++) {
        double X[3], Y[3];

        SidePoint(t, mesh->geometry, cell, side, n, i, X);
        SidePoint(t, mesh->geometry, next, VpMeshSideBeyond(mesh, cell, side), n, VpTurnPoint(n, VpMeshTurn(mesh, cell, side), i), Y);
        meet = (PetscBool)(meet && IsSame(X, Y));
      }
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, boundary, 1, MPIU_INT, MPI_SUM, mesh->comm));
  return meet;
}

/* whether the sides that own cells share with ghosts come from their owners */
static PetscErrorCode SharedSides(const Trees *t, VpMesh mesh, PetscBool *same)
{
  const size_t nside = 2 * (size_t)t->dim;
  double      *own, *ghost;

  PetscFunctionBeginUser;
  *same = PETSC_TRUE;
  PetscCall(VpMeshSetSides(mesh));
  PetscCall(PetscMalloc2((size_t)mesh->nown * nside * 3, &own, (size_t)mesh->shared->n * nside * 3, &ghost));
  for (size_t i = 0; i < (size_t)mesh->nown * nside; i++)
    SidePoint(t, mesh->geometry, (int32_t)(i / nside), (int)(i % nside), 1, 0, own + 3 * i);
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SIDE, 3, MPI_DOUBLE, own, ghost));
  for (int32_t i = 0; i < mesh->nown * (int)nside && mesh->shared->n; i++) {
    const int32_t beyond = mesh->shared->beyond[i], cell = i / (int)nside, side = i % (int)nside;

    if (beyond < mesh->nown) continue;
    if (!IsSame(own + 3 * i, ghost + 3 * ((size_t)(beyond - mesh->nown) * nside + (size_t)VpMeshSideBeyond(mesh, cell, side))))
      *same = PETSC_FALSE;
  }
  PetscCall(PetscFree2(own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether own cells are in their parents, and children in theirs */
static PetscBool ParentsHoldChildren(VpMesh mesh)
{
  const VpGeometry fine = mesh->geometry, coarse = VpMeshCoarser(mesh)->geometry;
  PetscBool        hold = PETSC_TRUE;
  int32_t          children = 0, expected = 0;

  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    const int32_t parent = mesh->relation->parent[cell];

    hold = (PetscBool)(hold && fine->box[cell] == coarse->box[parent]);
    for (int d = 0; d < mesh->dim; d++) {
      const int halved =
        VpHalvingsOf(fine->lattice, fine->box[cell])->bits[d] - VpHalvingsOf(coarse->lattice, coarse->box[parent])->bits[d];

      hold = (PetscBool)(hold && fine->coord[3 * cell + d] >> halved == coarse->coord[3 * parent + d]);
    }
  }
  for (int32_t i = 0; i < VpMeshCoarser(mesh)->nown << mesh->dim; i++) {
    const int32_t parent = i >> mesh->dim, child = mesh->relation->child[i];

    if (!(i & ((1 << mesh->dim) - 1)))
      expected +=
        1 << (VpHalvingsOf(fine->lattice, coarse->box[parent])->shift - VpHalvingsOf(coarse->lattice, coarse->box[parent])->shift);
    hold = (PetscBool)(hold && (child < 0 || mesh->relation->parent[child] == parent));
    children += child >= 0;
  }
  return (PetscBool)(hold && children == expected);
}

/* Goes down to one cell per tree, where the first class of directions is thin. */
static PetscErrorCode Coarsen(const Trees *t, VpMesh mesh, const char name[])
{
  const VpCoarsening *step;
  PetscReal           a[MOST_TREES * 3];
  int32_t             class_of[MOST_TREES * 3], levels = 0;
  PetscInt            boundary;
  PetscBool           meet = PETSC_TRUE;
  VpLattice           L;

  PetscFunctionBeginUser;
  (void)VpDomainGetClasses(mesh->geometry->domain, class_of);
  for (int32_t i = 0; i < t->ntree * t->dim; i++) a[i / t->dim * 3 + i % t->dim] = class_of[i] ? 1 : 64;
  PetscCall(VpLatticeWith(mesh->geometry->lattice, a, &L));
  mesh = VpReference(mesh);
  PetscCall(VpLatticeCoarsen(L, VP_COARSEN_LOCAL, &step));
  while (step->coarse) {
    VpMesh next;

    PetscCall(VpMeshCoarsen(mesh, levels ? mesh->geometry->lattice : L, VP_COARSEN_LOCAL, &next));
    meet = (PetscBool)(SidesMeet(t, next, &boundary) && ParentsHoldChildren(mesh) && meet);
    PetscCall(VpMeshDestroy(&mesh));
    mesh = next;
    levels++;
    PetscCall(VpLatticeCoarsen(mesh->geometry->lattice, VP_COARSEN_LOCAL, &step));
  }
  TapOk((PetscBool)(meet && mesh->ncell == t->ntree), "cells_meet_down_to_the_trees: %s, %d levels", name, (int)levels);
  PetscCall(VpLatticeDestroy(&L));
  PetscCall(VpMeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sides: number of trees' sides on the boundary */
static PetscErrorCode Check(const Trees *t, int sides, const char name[])
{
  const VpCoarsening *step;
  VpDomain            domain;
  VpMesh              mesh, next;

  PetscFunctionBeginUser;
  PetscCall(TreesDomain(PETSC_COMM_WORLD, t, &domain));
  for (int level = 0; level < 3; level++) {
    PetscInt  boundary;
    PetscBool same, meet;

    PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, level, &mesh));
    meet = SidesMeet(t, mesh, &boundary);
    TapOk((PetscBool)(meet && boundary == sides << level * (t->dim - 1)), "cells_meet_in_space: %s, level %d", name, level);
    PetscCall(SharedSides(t, mesh, &same));
    TapOk(same, "shared_sides_come_from_their_owners: %s, level %d", name, level);
    if (level) {
      PetscCall(VpLatticeCoarsen(mesh->geometry->lattice, VP_COARSEN_FULL, &step));
      PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_FULL, &next));
      meet = SidesMeet(t, next, &boundary);
      TapOk((PetscBool)(meet && ParentsHoldChildren(mesh)), "parents_hold_children: %s, level %d", name, level);
      PetscCall(VpMeshDestroy(&next));
    }
    PetscCall(VpMeshRefine(mesh, &next));
    meet = SidesMeet(t, next, &boundary);
    TapOk((PetscBool)(meet && ParentsHoldChildren(next)), "refined_cells_are_in_their_parents: %s, level %d", name, level);
    PetscCall(VpMeshDestroy(&next));
    PetscCall(VpMeshDestroy(&mesh));
  }
  PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, 2, &mesh));
  PetscCall(Coarsen(t, mesh, name));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees t;

  PetscFunctionBeginUser;
  for (unsigned int seed = 1; seed < 4; seed++) {
    TreesStar(5, &t);
    TreesTurn(seed, &t);
    PetscCall(Check(&t, 10, "star"));
    TreesBall(2, &t);
    TreesTurn(seed, &t);
    PetscCall(Check(&t, 4, "disc"));
    TreesBall(3, &t);
    TreesTurn(seed, &t);
    PetscCall(Check(&t, 6, "ball"));
    TreesGrid(3, 2, &t);
    TreesTurn(seed, &t);
    PetscCall(Check(&t, 24, "cube"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
