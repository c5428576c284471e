/* Meshes whose coarser ones merge cells in some boxes and directions, and boxes: cells, ghosts, parents and transfers
   on any number of ranks, against loops over the same mesh on one rank.
   ranks: 1 2 3 5 */
#include "support/grid.h"
#include "support/multigrid.h"
#include "../src/cycle/cycle.h"

typedef struct {
  const char *name;
  int         dim, degree, refine, periodic; /* bits of directions */
  PetscBool   notched;
  const char *width[3];
} Case;

static const Case cases[] = {
  {"graded square", 2, 2, 2, 0, PETSC_FALSE, {"1,.0625", "1,.0625"}},
  {"graded tube", 2, 3, 2, 2, PETSC_FALSE, {"1,.0625", "1,.0625"}},
  {"many boxes", 2, 1, 1, 0, PETSC_FALSE, {"5*16", "7*1"}},
  {"notched", 2, 4, 1, 0, PETSC_TRUE, {"4*16", "4*1"}},
  {"graded cube", 3, 2, 1, 0, PETSC_FALSE, {"1,.0625", "1,.0625", "1,.0625"}},
  {"channel", 3, 1, 1, 5, PETSC_FALSE, {"2*8", "2*8", "1,4,16,4,1"}},
};

enum {
  CELLS_ARE_THOSE_OF_ONE_RANK,
  NEIGHBORS_SHARE_FACES,
  GHOSTS_ARE_THE_LAYERS,
  PARENTS_CONTAIN_THEIR_CHILDREN,
  CHILDREN_FILL_THEIR_PARENTS,
  NCHECK
};
static const char *names[NCHECK] = {"cells_are_those_of_one_rank", "neighbors_share_faces", "ghosts_are_the_layers",
                                    "parents_contain_their_children", "children_fill_their_parents"};
static int         bad[NCHECK];

static PetscErrorCode MakeMeshOf(MPI_Comm comm, const Case *c, VpMesh *mesh)
{
  PetscBool  periodic[3];
  PetscReal *lower = NULL, *upper = NULL;
  PetscInt   nbox = 0;
  VpDomain   domain;

  PetscFunctionBeginUser;
  for (int d = 0; d < 3; d++) periodic[d] = (PetscBool)(c->periodic >> d & 1);
  PetscCall(GridBoxes(c->dim, c->width, c->notched, &nbox, &lower, &upper));
  PetscCall(VpDomainCreate(comm, &(VpBoxes){c->dim, (int32_t)nbox, lower, upper, NULL, periodic}, &domain));
  PetscCall(PetscFree2(lower, upper));
  PetscCall(VpMeshCreate(comm, domain, c->refine, mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* is the centre of a cell of one mesh in a cell of the other? */
static PetscBool Contains(VpMesh outer, int32_t cell, VpMesh inner, int32_t part)
{
  PetscReal lower[3], size[3], low[3], h[3];
  PetscBool in = PETSC_TRUE;

  VpGeometryBounds(outer->geometry, cell, lower, size);
  VpGeometryBounds(inner->geometry, part, low, h);
  for (int d = 0; d < outer->dim; d++) in = (PetscBool)(in && low[d] + h[d] / 2 > lower[d] && low[d] + h[d] / 2 < lower[d] + size[d]);
  return in;
}

/* of the mesh on one rank: cells beyond a side meet there, or wrap around */
static void CheckFaces(const Case *c, VpMesh one)
{
  for (int32_t i = 0; i < one->nown; i++) {
    for (int side = 0; side < 2 * c->dim; side++) {
      const int32_t next = one->neighbor[2 * c->dim * i + side];
      PetscReal     lower[2][3], size[2][3];

      if (next < 0) continue;
      VpGeometryBounds(one->geometry, i, lower[0], size[0]);
      VpGeometryBounds(one->geometry, next, lower[1], size[1]);
      for (int d = 0; d < c->dim; d++) {
        const PetscReal gap = side % 2 ? lower[1][d] - lower[0][d] - size[0][d] : lower[0][d] - lower[1][d] - size[1][d];

        if (d == side / 2) bad[NEIGHBORS_SHARE_FACES] += !(PetscAbsReal(gap) < 1e-12 || (c->periodic >> d & 1 && gap < 0));
        else bad[NEIGHBORS_SHARE_FACES] += PetscAbsReal(lower[0][d] - lower[1][d]) + PetscAbsReal(size[0][d] - size[1][d]) > 1e-12;
      }
      bad[NEIGHBORS_SHARE_FACES] += one->neighbor[2 * c->dim * next + (side ^ 1)] != i;
    }
  }
}

/* position[]: of the mesh's local cells */
static void CheckCells(const Case *c, VpMesh mesh, VpMesh one, const PetscInt position[])
{
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    PetscReal lower[2][3], size[2][3];

    VpGeometryBounds(mesh->geometry, i, lower[0], size[0]);
    VpGeometryBounds(one->geometry, (int32_t)position[i], lower[1], size[1]);
    for (int d = 0; d < 3; d++) bad[CELLS_ARE_THOSE_OF_ONE_RANK] += lower[0][d] != lower[1][d] || size[0][d] != size[1][d];
    if (i < mesh->nown) bad[CELLS_ARE_THOSE_OF_ONE_RANK] += position[i] != mesh->first + i;
    for (int side = 0; i < mesh->nsweep && side < 2 * c->dim; side++) {
      const int32_t next = mesh->neighbor[2 * c->dim * i + side], expected = one->neighbor[2 * c->dim * position[i] + side];

      bad[CELLS_ARE_THOSE_OF_ONE_RANK] += expected < 0 ? next != expected : next < 0 || position[next] != expected;
    }
  }
}

/* gives `layer` to the cells reached from `cell` by moves in different directions, where they have none */
static void Spread(VpMesh one, int32_t cell, int used, int layer, int layers[])
{
  for (int side = 0; side < 2 * one->dim; side++) {
    const int32_t next = one->neighbor[2 * one->dim * cell + side];

    if (next < 0 || (used >> side / 2 & 1)) continue;
    layers[next] = PetscMin(layers[next], layer);
    Spread(one, next, used | 1 << side / 2, layer, layers);
  }
}

static PetscErrorCode CheckGhosts(VpMesh mesh, VpMesh one, const PetscInt position[])
{
  const int32_t n = one->nown;
  int32_t       expected[4] = {0}, found[4] = {0};
  int          *layers, *face;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &layers));
  PetscCall(PetscCalloc1(n, &face));
  for (int32_t i = 0; i < n; i++) layers[i] = i >= mesh->first && i < mesh->first + mesh->nown ? 0 : 9;
  for (int layer = 1; layer <= 3; layer++) {
    for (int32_t i = 0; i < n; i++) {
      for (int side = 0; layer == 1 && layers[i] == 0 && side < 2 * one->dim; side++) {
        const int32_t next = one->neighbor[2 * one->dim * i + side];

        if (next >= 0) face[next] = 1;
      }
      if (layers[i] == layer - 1) Spread(one, i, 0, layer, layers);
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (layers[i] == 0 || layers[i] == 9) continue;
    expected[layers[i]]++;
    expected[0] += face[i];
  }
  for (int32_t i = mesh->nown; i < mesh->nhalo; i++) {
    const int layer = layers[position[i]];

    bad[GHOSTS_ARE_THE_LAYERS] += i < mesh->nface ? !face[position[i]] : i < mesh->nsweep ? layer != 1 && layer != 2 : layer != 3;
    if (layer > 0 && layer < 9) found[layer]++;
    found[0] += face[position[i]] && i < mesh->nface;
  }
  for (int layer = 0; layer < 4; layer++) bad[GHOSTS_ARE_THE_LAYERS] += found[layer] != expected[layer];
  PetscCall(PetscFree(layers));
  PetscCall(PetscFree(face));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode CheckParents(const Case *c, VpMesh mesh)
{
  VpMesh coarse = VpMeshCoarser(mesh);

  PetscFunctionBeginUser;
  for (int32_t i = 0; i < mesh->nhalo; i++) {
    const int32_t p = mesh->relation->parent[i];

    bad[PARENTS_CONTAIN_THEIR_CHILDREN] += p < 0 || p >= coarse->nlocal || !Contains(coarse, p, mesh, i);
  }
  for (int32_t p = 0; p < coarse->nown; p++) {
    PetscReal lower[3], size[3], volume = 0, all;

    VpGeometryBounds(coarse->geometry, p, lower, size);
    all = size[0] * size[1] * size[2];
    for (int k = 0; k < 1 << c->dim; k++) {
      const int32_t child = mesh->relation->child[((size_t)p << c->dim) + k];

      if (child < 0) continue;
      bad[CHILDREN_FILL_THEIR_PARENTS] += child >= mesh->nsweep || mesh->relation->parent[child] != p;
      VpGeometryBounds(mesh->geometry, child, lower, size);
      volume += size[0] * size[1] * size[2];
    }
    bad[CHILDREN_FILL_THEIR_PARENTS] += PetscAbsReal(volume - all) > 1e-12 * all;
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/* the function whose coefficients on a cell of this size are v, at a point given in parts of the cell */
static double At(const VpBasis *basis, int dim, const PetscReal size[], const double v[], const double x[])
{
  double phi[3][VP_MAX_N], sum = 0;
  int    n = basis->n, last = dim == 3 ? n : 1;

  for (int d = 0; d < dim; d++) {
    VpBasisEvaluate(basis, x[d], phi[d], NULL);
    for (int i = 0; i < n; i++) phi[d][i] /= sqrt(size[d]);
  }
  for (int k = 0; k < last; k++) {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) sum += v[i + n * (j + n * k)] * phi[0][i] * phi[1][j] * (dim == 3 ? phi[2][k] : 1);
  }
  return sum;
}

/* fine values of own cells are the function that the coarse values of all cells are; returns the largest error */
static double Embedding(VpMesh fine, VpMesh one_coarse, const VpBasis *basis, const double coarse[], const double values[])
{
  const int    dim = fine->dim;
  const size_t ndof = (size_t)PetscPowInt(basis->n, dim);
  double       worst = 0;

  for (int32_t i = 0; i < fine->nown; i++) {
    int32_t   p = 0;
    PetscReal lower[2][3], size[2][3];

    while (p < one_coarse->nown - 1 && !Contains(one_coarse, p, fine, i)) p++;
    VpGeometryBounds(fine->geometry, i, lower[0], size[0]);
    VpGeometryBounds(one_coarse->geometry, p, lower[1], size[1]);
    for (int point = 0; point < 3; point++) {
      double x[3], X[3], a, b;

      for (int d = 0; d < dim; d++) {
        x[d] = fmod(0.137 + 0.31 * point + 0.57 * d + 0.013 * i, 1);
        X[d] = (lower[0][d] + x[d] * size[0][d] - lower[1][d]) / size[1][d];
      }
      a = At(basis, dim, size[0], values + (size_t)i * ndof, x);
      b = At(basis, dim, size[1], coarse + (size_t)p * ndof, X);
      worst = PetscMax(worst, fabs(a - b) / (1 + fabs(b)));
    }
  }
  return worst;
}

static PetscErrorCode Transfers(const Case *c, VpMesh fine, VpMesh one_coarse, double worst[2])
{
  const VpProblem problem = {.degree = c->degree, .penalty = 1};
  VpLevel         level[2], all;
  VpVector        x[2], y[2];
  double         *v[2], *w[2], *known, *host[4], dot[3] = {0, 0, 0};
  void           *to;
  VpBasis         basis;

  PetscFunctionBeginUser;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, c->degree, &basis));
  PetscCall(VpLevelCreate(fine, &problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level[0]));
  PetscCall(VpLevelCreate(VpMeshCoarser(fine), &problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level[1]));
  PetscCall(VpLevelCreate(one_coarse, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &all));
  PetscCall(VpLevelSetTransfer(level[0]));
  PetscCall(VectorCreate(all, &known));
  Fill(all, 1, known); /* by positions: the same as on many ranks */
  for (int l = 0; l < 2; l++) {
    PetscCall(VpVectorCreate(level[l], 2, "test", &x[l]));
    PetscCall(VpVectorCreate(level[l], 2, "test", &y[l]));
    PetscCall(VectorCreate(level[l], &v[l]));
    PetscCall(VectorCreate(level[l], &w[l]));
    Fill(level[l], l, v[l]);
    PetscCall(VpVectorEnter(l ? x[1] : y[0], 1, v[l]));
  }
  PetscCall(VpVectorWrite(x[0], VP_GHOST_NONE, &to));
  PetscCall(VpProlong(level[0], NULL, x[1], fine->nown, PETSC_FALSE, to));
  PetscCall(VpRestrict(level[0], NULL, y[0], y[1]));
  PetscCall(VpVectorLeave(x[0], PETSC_FALSE, 1, w[0]));
  PetscCall(VpVectorLeave(y[1], PETSC_FALSE, 1, w[1]));
  for (int l = 0; l < 2; l++) {
    host[2 * l] = Get(level[l], v[l]);
    host[2 * l + 1] = Get(level[l], w[l]);
    for (size_t i = 0; i < OwnSize(level[l]); i++) {
      dot[l] += host[2 * l][i] * host[2 * l + 1][i];
      dot[2] += fabs(host[2 * l][i] * host[2 * l + 1][i]);
    }
  }
  worst[0] = PetscMax(worst[0], Embedding(fine, one_coarse, &basis, known, host[1]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dot, 3, MPI_DOUBLE, MPI_SUM, fine->comm));
  worst[1] = PetscMax(worst[1], fabs(dot[0] - dot[1]) / dot[2]);
  for (int l = 0; l < 2; l++) {
    PetscCall(PetscFree(host[2 * l]));
    PetscCall(PetscFree(host[2 * l + 1]));
    PetscCall(VectorDestroy(level[l], &v[l]));
    PetscCall(VectorDestroy(level[l], &w[l]));
    PetscCall(VpVectorDestroy(&x[l]));
    PetscCall(VpVectorDestroy(&y[l]));
    PetscCall(VpLevelDestroy(&level[l]));
  }
  PetscCall(VectorDestroy(all, &known));
  PetscCall(VpLevelDestroy(&all));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Check(const Case *c)
{
  VpMesh mesh, one, coarse, one_coarse;
  double worst[2] = {0, 0};
  int    levels;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(bad, NCHECK));
  PetscCall(MakeMeshOf(PETSC_COMM_WORLD, c, &mesh));
  PetscCall(MakeMeshOf(PETSC_COMM_SELF, c, &one));
  PetscCall(VpCountLevels(mesh->geometry->lattice, VP_COARSEN_LOCAL, &levels, NULL));
  for (int l = levels; l > 0; l--, mesh = coarse, one = one_coarse) {
    PetscInt *position;

    PetscCall(PetscMalloc1(mesh->nlocal + 1, &position));
    PetscCall(VpMeshPositions(mesh, position));
    CheckFaces(c, one);
    CheckCells(c, mesh, one, position);
    PetscCall(CheckGhosts(mesh, one, position));
    PetscCall(PetscFree(position));
    coarse = one_coarse = NULL;
    if (l > 1) {
      PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_LOCAL, &coarse));
      PetscCall(VpMeshCoarsen(one, one->geometry->lattice, VP_COARSEN_LOCAL, &one_coarse));
      PetscCall(CheckParents(c, mesh));
      PetscCall(Transfers(c, mesh, one_coarse, worst));
    }
    PetscCall(VpMeshDestroy(&mesh));
    PetscCall(VpMeshDestroy(&one));
  }
  for (int i = 0; i < NCHECK; i++) TapOk((PetscBool)!bad[i], "%s: %s, %d levels", names[i], c->name, levels);
  TapOk((PetscBool)(worst[0] < 1e-12), "prolongation_keeps_the_function: %s (%.1e)", c->name, worst[0]);
  TapOk((PetscBool)(worst[1] < 1e-13), "restriction_is_adjoint: %s (%.1e)", c->name, worst[1]);
  PetscFunctionReturn((PetscErrorCode)0);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Check(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
