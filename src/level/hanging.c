/* Sides that hang lie between cells of two sizes. This file makes the arrays that kernels read, and rows of the matrix.

   Every fine face uses the conforming face form with the coarse face's penalty, as if both cells were as large as the coarse one. */
#include "internal.h"
#include "../base/threads.h"

/* of a side whose cell is on `level`; the cells beyond are on `other`, which may be the same */
void VpHangingForm(VpLevel level, VpLevel other, const VpFace *hang, double form[VP_HANG_FORM])
{
  const VpMesh    mesh = level->mesh;
  const PetscBool coarse = (PetscBool)(hang->kind == VP_FACE_COARSE);
  const int       d = hang->side / 2, k = level->problem.degree;
  const PetscReal h = VpGeometrySize(mesh->geometry, hang->cell[0], d), there = VpGeometrySize(other->mesh->geometry, hang->cell[1], d),
                  a = VpLevelCoefficient(level, hang->cell[0], d);
  const PetscReal line = VpHarmonicMean(a, VpLevelCoefficientBeyond(level, hang->cell[0], hang->side));
  const PetscReal H[2] = {coarse ? h : 2 * h, coarse ? 2 * there : there};

  form[0] = 1 / sqrt(h);
  form[1] = 1 / (h * sqrt(h));
  form[VP_HANG_OTHER] = 1 / sqrt(there);
  form[VP_HANG_OTHER + 1] = 1 / (there * sqrt(there));
  form[VP_HANG_GAMMA] = level->problem.penalty * k * (k + 1) * (1 / H[0] + 1 / H[1]);
  for (int i = 0; i < VP_HANG_EXCESS - VP_HANG_A; i++) {
    const PetscBool is = (PetscBool)(i == 0 || (coarse && i < 1 << (mesh->dim - 1)));

    form[VP_HANG_A + i] = is ? VpHarmonicMean(a, VpLevelCoefficient(other, hang->cell[1 + i], d)) : 0;
    form[VP_HANG_EXCESS + i] = is ? form[VP_HANG_A + i] - line : 0;
  }
}

PetscErrorCode VpPlaceHanging(VpLevel level, VpLevel other, const VpFaces *faces, VpArrays *arrays, VpHangView *view)
{
  const int n = level->basis.n;
  double    half[4 * VP_MAX_N * VP_MAX_N], lift[4 * VP_MAX_N], *form;

  PetscFunctionBegin;
  view->n = faces->n;
  if (!faces->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpLevelPlaceMeshArray(level, faces->face, faces->n, "hanging sides", &view->face));
  PetscCall(PetscMalloc1((size_t)faces->n * VP_HANG_FORM, &form));
  VP_LOOP (i, faces->n) VpHangingForm(level, other, &faces->face[i], form + (size_t)i * VP_HANG_FORM);
  PetscCall(VpArraysPlaceReals(arrays, form, (size_t)faces->n * VP_HANG_FORM, "hanging sides", &view->form));
  PetscCall(PetscFree(form));
  VpTransferHalves(&level->basis, half, half + 2 * n * n);
  PetscCall(VpArraysPlaceReals(arrays, half, 4 * (size_t)n * n, "hanging sides", &view->half));
  for (int i = 0; i < 4 * n; i++) lift[i] = (double)VpBasisLift(&level->basis, i / n / 2, i / n % 2, i % n);
  PetscCall(VpArraysPlaceReals(arrays, lift, 4 * (size_t)n, "hanging sides", &view->lift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes row i of a tangential matrix, from functions of the side's cell (own) or of the cell beyond to those of the side's cell. bit:
   the half of the coarse side at which the fine cell lies */
static void TangentialRow(VpLevel level, PetscBool coarse, PetscBool own, int bit, int i, double row[])
{
  const int     n = level->basis.n;
  const double *P = (const double *)level->view.hang.half + bit * n * n, *R = P + 2 * n * n;

  for (int j = 0; j < n; j++) {
    row[j] = coarse ? R[i * n + j] : P[i * n + j];
    if (!own) continue;
    row[j] = i == j;
    for (int k = 0; k < n && coarse; k++) row[j] = (k ? row[j] : 0) + R[i * n + k] * P[k * n + j];
  }
}

/* Computes row i of a form's matrix along the normal, from functions of the side's cell (own) or of the cell beyond. face: the number of
   the fine face */
static void NormalRow(VpLevel level, int32_t side, int face, PetscBool own, int i, double row[])
{
  const VpFace  *hang = &level->mesh->faces.face[side];
  const double  *form = (const double *)level->view.hang.form + (size_t)side * VP_HANG_FORM;
  const VpBasis *basis = &level->basis;
  const int      n = basis->n, s = hang->side % 2, end = own ? s : 1 - s;
  const double  *lift = (const double *)level->view.hang.lift + 2 * s * n;

  for (int j = 0; j < n; j++) {
    const double V = basis->value[end][j], Q = basis->slope[end][j];
    double       value = own ? V : 0, slope = own ? Q : 0;

    VpFaceTests(form, 0, form[VP_HANG_A + face], &value, &slope, own ? 0 : V, own ? 0 : Q);
    row[j] = lift[i] * value + lift[n + i] * slope;
  }
}

int VpHangingRow(VpLevel level, int32_t side, int row, VpHangTerm term[], int *own)
{
  const VpFace   *hang = &level->mesh->faces.face[side];
  const int       n = level->basis.n, dim = level->mesh->dim, d = hang->side / 2;
  const PetscBool coarse = (PetscBool)(hang->kind == VP_FACE_COARSE);
  const int       faces = coarse ? 1 << (dim - 1) : 1;
  int             at[3] = {row % n, row / n % n, row / n / n};

  *own = faces;
  for (int t = 0; t < 2 * faces; t++) {
    const PetscBool self = (PetscBool)(t < faces);
    const int       face = t % faces, part = coarse ? face : hang->half;

    term[t].cell = self ? hang->cell[0] : hang->cell[1 + face];
    NormalRow(level, side, face, self, at[d], term[t].normal);
    for (int e = 0, bit = 0; e < dim; e++) {
      if (e == d) continue;
      TangentialRow(level, coarse, self, part >> bit & 1, at[e], term[t].tangential[bit]);
      bit++;
    }
  }
  return 2 * faces;
}
