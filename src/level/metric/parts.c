/* The numbers of a metric where sides hang: those of coarse cells at the points of fine sides. */
#include "making.h"

void VpWeighSides(int face, const double own[], const double other[], double weight[], double beyond[])
{
  for (int i = 0; i < face; i++) {
    const double P = own[face + i], there = other[face + i]; /* Both cells get the same sum. */

    weight[i] = 2 * there / (P + there);
    beyond[i] = 2 * P / (P + there);
  }
}

VpMetricSide VpFindBeyond(const VpMetricWork *mk, int32_t cell, int side, double turned[])
{
  const VpMesh  mesh = mk->mesh;
  const int32_t next = VpMeshNeighbor(mesh, cell, side);
  const size_t  stride = 2 * (size_t)mk->face;

  if (next >= 0) {
    const int     turn = VpMeshTurn(mesh, cell, side);
    const double *seen = mk->seen + ((size_t)next * 2 * (size_t)mk->dim + (size_t)VpTurnSide(side, turn)) * stride;

    for (int i = 0; i < 2 * mk->face && turn && turned; i++)
      turned[i] = seen[i / mk->face * mk->face + VpTurnPoint(mk->n, turn, i % mk->face)];
    return (VpMetricSide){next, turn ? turned : seen, 1};
  }
  if (next == VP_HANGING) {
    const int32_t at = VpFaceAt(mesh->faces.n, mesh->faces.face, cell, side);
    const VpFace *face = &mesh->faces.face[at];

    if (face->kind == VP_FACE_FINE) return (VpMetricSide){face->cell[1], mk->parted + (size_t)mk->metric->first[at] * stride, 0.5};
  }
  return (VpMetricSide){-1, NULL, 1};
}

PetscErrorCode VpAllocateParts(VpMetricWork *mk)
{
  const VpFaces *faces = &mk->mesh->faces;
  const VpMetric m = mk->metric;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(faces->n + 1, &m->first));
  m->first[0] = 0;
  for (int32_t i = 0; i < faces->n; i++) m->first[i + 1] = m->first[i] + (faces->face[i].kind == VP_FACE_COARSE ? 1 << (mk->dim - 1) : 1);
  PetscCall(PetscMalloc1((size_t)m->first[faces->n] * (size_t)((mk->rows + 1) * mk->face), &m->part));
  PetscCall(PetscMalloc1((size_t)m->first[faces->n] * 2 * (size_t)mk->face, &mk->parted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the points of a fine side on a coarse one */
static void SetPart(const VpMetricWork *mk, int side, int half, VpMapGrid *grid)
{
  const VpMapGrid *whole = &mk->at[1 + side];
  const double    *x[3] = {whole->x[0], whole->x[1], whole->x[2]};
  double           part[2][VP_MAX_N];
  int              count[3] = {whole->count[0], whole->count[1], whole->count[2]}, bit = 0;

  for (int d = 0; d < mk->dim; d++) {
    if (d == side / 2) continue;
    for (int q = 0; q < count[d]; q++) part[bit][q] = (whole->x[d][q] + (half >> bit & 1)) / 2;
    x[d] = part[bit++];
  }
  VpMapGridSet(mk->mesh->geometry->map, count, x, grid);
}

/* Makes H, G_dd and det on one part of all sides with one number. Coarse cells make them, and fine cells get them. */
static PetscErrorCode MakePart(VpMetricWork *mk, int side, int half, double number[])
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  const size_t   size = (size_t)((mk->rows + 2) * mk->face), kept = (size_t)(mk->rows * mk->face);
  size_t         coarse = 0;
  VpMapGrid      grid;

  PetscFunctionBegin;
  SetPart(mk, side, half, &grid);
  for (int32_t i = 0; i < mesh->faces.n; i++) {
    const VpFace *f = &mesh->faces.face[i];
    double       *to = number + (size_t)f->cell[0] * size;

    if (f->kind == VP_FACE_FINE) continue;
    if (f->side == side)
      VpMakeSide(mk, f->cell[0], side, half, &grid,
                 mk->values->part + ((coarse << (mk->dim - 1)) + (size_t)half) * (size_t)(mk->face * mk->values->components), to,
                 to + kept);
    coarse++;
  }
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, size, MPI_DOUBLE, number, number + (size_t)mesh->nown * size));
  for (int32_t i = 0; i < mesh->faces.n; i++) {
    const VpFace   *f = &mesh->faces.face[i];
    const PetscBool fine = (PetscBool)(f->kind == VP_FACE_FINE);
    const double   *from = number + (size_t)f->cell[fine] * size;
    const size_t    at = (size_t)(m->first[i] + (fine ? 0 : half));

    if ((fine ? f->side ^ 1 : f->side) != side || (fine && f->half != half)) continue;
    PetscCall(PetscArraycpy(m->part + at * (size_t)((mk->rows + 1) * mk->face), from, kept));
    PetscCall(PetscArraycpy(mk->parted + at * 2 * (size_t)mk->face, from + kept, 2 * mk->face));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMakeParts(VpMetricWork *mk)
{
  double *number;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)mk->mesh->nface * (size_t)((mk->rows + 2) * mk->face) + 1, &number));
  for (int i = 0; i < 2 * mk->dim << (mk->dim - 1); i++) PetscCall(MakePart(mk, i >> (mk->dim - 1), i % (1 << (mk->dim - 1)), number));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weighs H on one part of the face f, and sets sigma there. */
static void FinishPart(VpMetricWork *mk, const VpFace *f, int half)
{
  const PetscBool fine = (PetscBool)(f->kind == VP_FACE_FINE);
  const int32_t   cell[2] = {f->cell[fine], fine ? f->cell[0] : f->cell[1 + half]}; /* the coarse and the fine one */
  const int       side = fine ? f->side : f->side ^ 1;
  const size_t    at = (size_t)(mk->metric->first[f - mk->mesh->faces.face] + (fine ? 0 : half));
  const double   *coarse = mk->parted + at * 2 * (size_t)mk->face,
               *seen = mk->seen + ((size_t)cell[1] * 2 * (size_t)mk->dim + (size_t)side) * 2 * (size_t)mk->face;
  double *H = mk->metric->part + at * (size_t)((mk->rows + 1) * mk->face);
  double  weight[2][VP_MAX_N * VP_MAX_N];

  VpWeighSides(mk->face, coarse, seen, weight[0], weight[1]);
  for (int i = 0; i < mk->face; i++) {
    for (int r = 0; r < mk->rows; r++) H[r * mk->face + i] *= weight[0][i];
    H[mk->rows * mk->face + i] = VpSigmaOf(mk, cell[0], weight[0][i] * coarse[i], cell[1], weight[1][i] * seen[i]);
  }
}

void VpFinishParts(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;

  for (int32_t i = 0; i < mesh->faces.n; i++) {
    for (int half = 0; half < m->first[i + 1] - m->first[i]; half++) FinishPart(mk, &mesh->faces.face[i], half);
  }
}

/* *array = the same with the numbers of ghosts */
static PetscErrorCode AddGhosts(VpMesh mesh, size_t count, VpPrecision precision, void *array)
{
  void **at = array, *all;

  PetscFunctionBegin;
  PetscCall(VpMetricWithGhosts(mesh, count, precision, *at, &all));
  PetscCall(PetscFree(*at));
  *at = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStoreGhosts(VpMetricWork *mk)
{
  const VpMesh    mesh = mk->mesh;
  const VpMetric  m = mk->metric;
  const size_t    size = (size_t)(mk->face * mk->n);
  const PetscBool same = (PetscBool)(m->factor == m->root);

  PetscFunctionBegin;
  PetscCall(AddGhosts(mesh, VpMetricSideNumbers(m, mk->dim), m->precision, &m->side));
  PetscCall(AddGhosts(mesh, (size_t)VpMetricShape(mk->dim, m->components), VP_DOUBLE, &m->shape));
  PetscCall(AddGhosts(mesh, 1, VP_DOUBLE, &m->scale));
  PetscCall(AddGhosts(mesh, size, VP_DOUBLE, &m->root));
  if (same) m->factor = m->root;
  else PetscCall(AddGhosts(mesh, size, m->precision, &m->factor));
  m->ntraced = mesh->nface;
  PetscFunctionReturn(PETSC_SUCCESS);
}
