/* The numbers of a metric where sides hang: those of coarse cells at the points of fine sides. */
#include "making.h"

double VpPartOf(const VpMetricWork *mk, int32_t cell, int side)
{
  const VpFaces *faces = &mk->mesh->faces;

  if (VpMeshNeighbor(mk->mesh, cell, side) != VP_HANGING) return 1;
  return faces->face[VpFaceAt(faces->n, faces->face, cell, side)].kind == VP_FACE_FINE ? 0.5 : 1;
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

/* Makes H [rows][n^(dim-1)], G's row d, at the points of a fine side on the side of a coarse cell. Behind it, for the cell beyond: G_dd and
   G_dd det. K [n^(dim-1)][components] */
static void MakeSide(VpMetricWork *mk, int32_t cell, int side, const VpMapGrid *grid, const double K[], double H[])
{
  const int     dim = mk->dim, d = side / 2, face = mk->face;
  double       *seen = H + mk->rows * face;
  double        J[9 * VP_MAX_N * VP_MAX_N], G[6 * VP_MAX_N * VP_MAX_N], det[VP_MAX_N * VP_MAX_N];
  const double *normal = G + VpMetricEntry(dim, 6, d, d) * face;
  const int     given = mk->values->components;

  VpGeometryEvaluateGrid(mk->mesh->geometry, cell, grid, NULL, J);
  for (int i = 0; i < face * dim * dim; i++) J[i] *= i % dim == d ? 1 : 0.5;
  if (!VpHostPullBack(&(VpMapPoints){dim, given, grid->size, given, J, K}, G, det)) mk->bad = 1 + cell;
  for (int i = 0; i < face; i++) {
    H[i] = seen[i] = normal[i];
    seen[face + i] = normal[i] * det[i];
    for (int r = 1; r < mk->rows; r++) H[r * face + i] = G[VpMetricEntry(dim, 6, d, VpAlongSide(d, r)) * face + i] * (side % 2 ? 1 : -1);
  }
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
      MakeSide(mk, f->cell[0], side, &grid,
               mk->values->part + ((coarse << (mk->dim - 1)) + (size_t)half) * (size_t)(mk->face * mk->values->components), to);
    coarse++;
  }
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, size, MPI_DOUBLE, number, number + (size_t)mesh->nown * size));
  for (int32_t i = 0; i < mesh->faces.n; i++) {
    const VpFace   *f = &mesh->faces.face[i];
    const PetscBool fine = (PetscBool)(f->kind == VP_FACE_FINE);
    const double   *from = number + (size_t)f->cell[fine] * size;
    const size_t    at = (size_t)(m->first[i] + (fine ? 0 : half));

    if ((fine ? VpTurnSide(f->side, f->turn) : f->side) != side || (fine && f->half != half)) continue;
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

void VpWeighParts(VpMetricWork *mk)
{
  for (int32_t i = 0; i < mk->mesh->faces.n; i++) {
    const VpFace *f = &mk->mesh->faces.face[i];

    if (f->kind == VP_FACE_FINE)
      VpHostWeigh(&mk->to, 2 * mk->dim * f->cell[0] + f->side, f->turn, mk->parted + (size_t)mk->metric->first[i] * 2 * (size_t)mk->face);
  }
}

/* sigma on a side that hangs, of a coarse and a fine cell with these H_dd */
static double SigmaOf(const VpMetricWork *mk, int32_t coarse, double Hc, int32_t fine, double Hf)
{
  return mk->penalty[coarse] * Hc + 0.5 * mk->penalty[fine] * Hf;
}

/* Weighs H of the coarse cell on one part of the face f, and sets sigma there. Numbers of the part are in the order of the coarse cell's
   points. */
static void FinishPart(VpMetricWork *mk, const VpFace *f, int half)
{
  const PetscBool fine = (PetscBool)(f->kind == VP_FACE_FINE);
  const int32_t   cell[2] = {f->cell[fine], fine ? f->cell[0] : f->cell[1 + half]}; /* the coarse and the fine one */
  const int       side = fine ? f->side : VpTurnSide(f->side, f->turn), face = mk->face;
  const size_t    at = (size_t)(mk->metric->first[f - mk->mesh->faces.face] + (fine ? 0 : half));
  const double   *coarse = mk->parted + at * 2 * (size_t)face, *seen = mk->to.seen + VpSideAt(mk->dim, cell[1], side, 2 * face);
  double         *H = mk->metric->part + at * (size_t)((mk->rows + 1) * face);

  for (int k = 0; k < face; k++) {
    const int    other = VpTurnPoint(mk->n, f->turn, k), i = fine ? other : k, p = fine ? k : other; /* the coarse and the fine one's */
    const double weight[2] = {VpOwnWeight(&mk->to, coarse[face + i], seen[face + p]),
                              VpOwnWeight(&mk->to, seen[face + p], coarse[face + i])};

    for (int r = 0; r < mk->rows; r++) H[r * face + i] *= weight[0];
    H[mk->rows * face + i] = SigmaOf(mk, cell[0], weight[0] * coarse[i], cell[1], weight[1] * seen[p]);
    if (fine) {
      const double Hf = mk->to.H[VpSideAt(mk->dim, cell[1], side, mk->rows * face) + (size_t)p];

      mk->to.beyond[VpSideAt(mk->dim, cell[1], side, face) + (size_t)p] =
        SigmaOf(mk, cell[0], weight[0] * coarse[i], cell[1], Hf) - mk->penalty[cell[1]] * VpAsStored(mk->values->precision, Hf);
    }
  }
}

void VpFinishParts(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;

  for (int32_t i = 0; i < mesh->faces.n; i++) {
    const VpFace *f = &mesh->faces.face[i];

    for (int half = 0; half < m->first[i + 1] - m->first[i]; half++) FinishPart(mk, f, half);
    for (int k = 0; k < mk->face && f->kind == VP_FACE_COARSE; k++) {
      mk->to.beyond[VpSideAt(mk->dim, f->cell[0], f->side, mk->face) + (size_t)k] = 0;
      for (int r = 0; r < mk->rows; r++)
        mk->to.H[VpSideAt(mk->dim, f->cell[0], f->side, mk->rows * mk->face) + (size_t)(r * mk->face + k)] = 0;
    }
  }
}

PetscErrorCode VpStoreGhosts(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  const size_t   size = (size_t)(mk->face * mk->n);

  PetscFunctionBegin;
  PetscCall(VpMetricGetGhosts(mesh, VpMetricSideNumbers(m, mk->dim), m->precision, m->side));
  PetscCall(VpMetricGetGhosts(mesh, (size_t)VpMetricAffine(mk->dim, m->components), VP_DOUBLE, m->affine));
  PetscCall(VpMetricGetGhosts(mesh, 1, VP_DOUBLE, m->scale));
  PetscCall(VpMetricGetGhosts(mesh, size, VP_DOUBLE, m->root));
  if (m->factor != m->root) PetscCall(VpMetricGetGhosts(mesh, size, m->precision, m->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
