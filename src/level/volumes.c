/* The finite volumes of a level: one unknown per cell, which stands for u in the cell. T is the symmetric matrix of the fluxes between
   cells, and P makes functions from the cells' numbers: their constants, and slopes from the numbers on the faces.

   Each cell is a resistor along a direction: between its middle and its side there is the conductance 2 g, where g = a |F| / h. Two cells
   in a row, and what fixes u at a side (Dirichlet: r is infinite, Neumann: r = 0), make

       u_i --[2 g_i]-- u_F --[2 g_j]-- u_j     flux = 2 g_i g_j / (g_i + g_j), u_F = (g_i u_i + g_j u_j) / (g_i + g_j)
       u_i --[2 g_i]-- u_F --[r]-- 0           flux = 2 g_i r / (2 g_i + r),   u_F = 2 g_i u_i / (2 g_i + r)

   F is the face that both cells have in common. Where a side hangs there are several, and u_F of the coarse cell is the mean over them.
   Another geometry has another g, and that is all. */
#include "internal.h"

enum { MOST_BEYOND = 4 };

/* a side of a cell */
typedef struct {
  int     n;                                     /* of cells beyond: */
  int32_t cell[MOST_BEYOND];                     /* their numbers */
  double  flux[MOST_BEYOND], other[MOST_BEYOND]; /* to each, and its part of u_F */
  double  fixed, own;                            /* flux to the boundary; the cell's own part of u_F */
} Side;

/* g of a cell, for a face of its side */
static double ConductanceAt(VpLevel level, int32_t cell, int side, double area)
{
  return VpLevelCoefficient(level, cell, side / 2) * area / VpGeometrySize(level->mesh->geometry, cell, side / 2);
}

/* Adds a cell beyond the side. Both cells share the smaller of their two sides. */
static void AddBeyond(VpLevel level, int32_t cell, int side, int32_t beyond, Side *s)
{
  const VpGeometry g = level->mesh->geometry;
  const int        there = VpMeshSideBeyond(level->mesh, cell, side);
  const double     area = VpGeometryArea(g, cell, side), common = PetscMin(area, VpGeometryArea(g, beyond, there));
  const double     mine = ConductanceAt(level, cell, side, common), its = ConductanceAt(level, beyond, there, common);

  s->cell[s->n] = beyond;
  s->flux[s->n] = VpHarmonicMean(mine, its);
  s->other[s->n++] = its / (mine + its) * common / area;
  s->own += mine / (mine + its) * common / area;
}

static void AddBoundary(VpLevel level, int32_t cell, int side, int32_t beyond, Side *s)
{
  const VpGeometry g = level->mesh->geometry;
  const PetscBool  given = (PetscBool)(VpConditions[VpDomainSide(g->domain, beyond)].given == VP_GIVEN_VALUE);
  const double     half = 2 * ConductanceAt(level, cell, side, VpGeometryArea(g, cell, side));
  const double     r = half / 2 * VpLevelAlpha(level, cell, side, beyond) * VpGeometrySize(g, cell, side / 2);

  s->own = given ? 0 : half / (half + r);
  s->fixed = given ? half : s->own * r;
}

static Side SideOf(VpLevel level, int32_t cell, int side)
{
  const VpMesh   mesh = level->mesh;
  const VpFaces *faces = &mesh->faces;
  const int32_t  beyond = VpMeshNeighbor(mesh, cell, side);
  Side           s = {0};

  if (VpIsBoundary(beyond)) AddBoundary(level, cell, side, beyond, &s);
  else if (beyond >= 0) AddBeyond(level, cell, side, beyond, &s);
  else {
    for (int32_t i = VpFirstFace(faces->n, faces->face, cell); i < faces->n && faces->face[i].cell[0] == cell; i++) {
      const int count = faces->face[i].kind == VP_FACE_COARSE ? 1 << (mesh->dim - 1) : 1;

      for (int k = 0; k < count && faces->face[i].side == side; k++) AddBeyond(level, cell, side, faces->face[i].cell[1 + k], &s);
    }
  }
  return s;
}

static PetscErrorCode FluxRow(const VpRows *rows, const PetscInt position[], int32_t cell, int at, VpRow *row)
{
  const VpLevel level = rows->level;
  double        diagonal = level->scale * VpProblemReaction(&level->problem, cell) * VpGeometryVolume(level->mesh->geometry, cell);

  for (int side = 0; side < 2 * level->mesh->dim; side++) {
    const Side s = SideOf(level, cell, side);

    diagonal += s.fixed;
    for (int k = 0; k < s.n; k++) {
      diagonal += s.flux[k];
      VpRowSum(row, position[s.cell[k]], -s.flux[k]);
    }
  }
  VpRowSum(row, position[cell], diagonal);
  return PETSC_SUCCESS;
}

/* adds factor times u_F */
static void AddFaceValue(const Side *s, const PetscInt position[], int32_t cell, double factor, VpRow *row)
{
  VpRowSum(row, position[cell], factor * s->own);
  for (int k = 0; k < s->n; k++) VpRowSum(row, position[s->cell[k]], factor * s->other[k]);
}

/* The modes are coefficients in the orthonormal basis of the cell, hence the square root. */
static PetscErrorCode ModeRow(const VpRows *rows, const PetscInt position[], int32_t cell, int at, VpRow *row)
{
  const VpLevel level = rows->level;
  const double  root = sqrt(VpGeometryVolume(level->mesh->geometry, cell)), first = root / (2 * sqrt(3.)), second = root / (2 * sqrt(5.));
  const int     d = (at - 1) / 2, mode = at ? 1 + (at - 1) % 2 : 0;
  Side          lower, upper;

  if (!mode) VpRowSum(row, position[cell], root);
  if (!mode || mode > level->problem.degree) return PETSC_SUCCESS;
  lower = SideOf(level, cell, 2 * d);
  upper = SideOf(level, cell, 2 * d + 1);
  AddFaceValue(&upper, position, cell, mode == 1 ? first : second, row);
  AddFaceValue(&lower, position, cell, mode == 1 ? -first : second, row);
  if (mode == 2) VpRowSum(row, position[cell], -2 * second);
  return PETSC_SUCCESS;
}

/* The constants are kept off the null space: what is smaller than this part of T is no flux. */
#define SHIFT 1e-8

static PetscErrorCode ShiftSingular(Mat T)
{
  Vec       diagonal;
  PetscReal least;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(T, &diagonal, NULL));
  PetscCall(MatGetDiagonal(T, diagonal));
  PetscCall(VecMin(diagonal, NULL, &least));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatShift(T, SHIFT * least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAssembleVolumes(VpLevel level, MatType type, Mat *T, Mat *P)
{
  const int    dim = level->mesh->dim, modes = VpLowModes(dim);
  const size_t side = level->mesh->faces.n ? MOST_BEYOND : 1;
  const VpRows fluxes = {
    .level = level, .rows = 1, .columns = 1, .most = 1 + 2 * (size_t)dim * side, .create = FluxRow, .threads = PETSC_TRUE};
  const VpRows functions = {.level = level, .rows = modes, .columns = 1, .most = 3 + 2 * side, .create = ModeRow, .threads = PETSC_TRUE};

  PetscFunctionBegin;
  PetscCall(VpAssembleRows(&fluxes, type, T));
  PetscCall(MatSetOption(*T, MAT_SYMMETRIC, PETSC_TRUE));
  if (VpProblemIsSingular(level->mesh, &level->problem)) PetscCall(ShiftSingular(*T));
  PetscCall(VpSetPositiveDefinite(*T));
  PetscCall(VpAssembleRows(&functions, type, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
