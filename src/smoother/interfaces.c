/* The tables of interface patches, where a level of an adaptive mesh ends (VpInterfaceView). Patches with equal keys share an entry. */
#include "interfacekey.h"
#include "../base/threads.h"

/* K, or all F as one, and the table entry that describes it */
typedef struct {
  VpInterfaceBlock at;
  double          *table, reaction;
} Block;

/* Sets the traces of the modes along the normal at one end of their line, and what lifts at this end add to the modes. */
static void BuildEndTables(const VpBasis *basis, int end, const Block *b)
{
  const int     n = b->at.n;
  const double *F = b->table + b->at.line[b->at.normal], *B = F + VpBackAt(n);

  for (int k = 0; k < 2; k++) {
    const double *phi = k ? basis->slope[end] : basis->value[end];
    double       *trace = b->table + b->at.trace + k * n, *lifted = b->table + b->at.lifted + k * n;

    for (int mode = 0; mode < n; mode++) trace[mode] = lifted[mode] = 0;
    for (int i = 0; i < n; i++) {
      const double lift = (double)VpBasisLift(basis, end, k, i);

      for (int mode = 0; mode < n; mode++) {
        trace[mode] += phi[i] * B[i * n + mode];
        lifted[mode] += F[mode * n + i] * lift;
      }
    }
  }
}

static Block BuildBlock(VpLevel level, const VpInterfaceKey *key, int fine, double table[])
{
  const double penalty = level->problem.penalty;
  const int    n = level->basis.n, dim = level->mesh->dim, normal = key->side / 2, s = key->side % 2;
  Block        b = {.at = VpInterfaceBlockOf(n, dim, normal, fine), .table = table, .reaction = key->reaction};
  double      *sums = table + b.at.sums;

  for (int d = 0; d < dim; d++) {
    const int m = VpBlockExtent(&b.at, d), tangential = d - (d > normal), wide = fine && d != normal;
    double   *to = table + b.at.line[d], *lambda = to + VpLambdaAt(m);

    if (wide) VpFdmBuild(&level->basis, &key->tangential[tangential], VP_SPACE_FULL, penalty, to);
    else VpBlockBuild(&level->basis, fine ? &key->normal : &key->own[d], penalty, to);
    for (int i = 0; i < m; i++) lambda[i] *= wide ? key->times[tangential] * level->typical : level->typical;
  }
  for (int i = 0; i < n * VpBlockLines(&b.at); i++) {
    sums[i] = 0;
    for (int d = 0, mode = i; d < dim; mode /= VpBlockExtent(&b.at, d), d++) {
      const int m = VpBlockExtent(&b.at, d);

      sums[i] += table[b.at.line[d] + VpLambdaAt(m) + mode % m];
    }
  }
  BuildEndTables(&level->basis, fine ? 1 - s : s, &b);
  return b;
}

/* t = F t, or (back) B t, along the directions of the side; t: [V, Q][lines along the normal] */
static void TransformSide(const Block *b, int back, double t[])
{
  const int width = b->at.width;

  for (int d = 0, stride = 1; d < b->at.dim; d++) {
    if (d == b->at.normal) continue;
    VpLinesApply(width, b->table + b->at.line[d] + back * VpBackAt(width), stride, 2 * VpBlockLines(&b->at) / width, t);
    stride *= width;
  }
}

/* t [V, Q][lines along the normal] = traces A^-1 lift t on the side */
static void ApplyBlockInverse(const Block *b, double t[])
{
  const int     n = b->at.n, size = VpBlockLines(&b->at), stride = VpBlockStride(&b->at);
  const double *trace = b->table + b->at.trace, *lifted = b->table + b->at.lifted;

  TransformSide(b, 0, t);
  for (int l = 0; l < size; l++) {
    const double *sums = b->table + b->at.sums + VpLineStart(n, stride, l);
    double        V = 0, Q = 0;

    for (int mode = 0; mode < n; mode++) {
      const double a = (lifted[mode] * t[l] + lifted[n + mode] * t[size + l]) / (sums[mode * stride] + b->reaction);

      V += trace[mode] * a;
      Q += trace[n + mode] * a;
    }
    t[l] = V;
    t[size + l] = Q;
  }
  TransformSide(b, 1, t);
}

/* out = M t, both [V, Q][m] on K's side: goes to all F, through the inverse of A_FF, and back. half: P, then R (VpTransferHalves) */
static void ApplyThroughFine(const Block *fine, const double form[], const double half[], const double t[], double out[])
{
  const int n = fine->at.n, along = fine->at.dim - 1, m = VpFaceSize(n, fine->at.dim), faces = 1 << along, size = VpBlockLines(&fine->at);
  double    f[8 * VP_MAX_N * VP_MAX_N] = {0}, part[2 * VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < faces; i++) {
    memcpy(part, t, 2 * (size_t)m * sizeof(*t));
    for (int k = 0; k < 2; k++) VpTransferApply(along, n, half, i, part + k * m);
    for (int l = 0; l < m; l++) {
      double *V = f + VpInterfaceTrace(n, i, l), *Q = V + size;

      VpFaceTests(form, 1, form[VP_HANG_A + i], V, Q, part[l], part[m + l]);
    }
  }
  ApplyBlockInverse(fine, f);
  memset(out, 0, 2 * (size_t)m * sizeof(*out));
  for (int i = 0; i < faces; i++) {
    memset(part, 0, sizeof(part));
    for (int l = 0; l < m; l++) {
      const double *V = f + VpInterfaceTrace(n, i, l), *Q = V + size;

      VpFaceTests(form, 0, form[VP_HANG_A + i], &part[l], &part[m + l], *V, *Q);
    }
    for (int k = 0; k < 2; k++) VpTransferApply(along, n, half + 2 * n * n, i, part + k * m);
    for (int l = 0; l < 2 * m; l++) out[l] += part[l];
  }
}

/* Replaces the n rows [A, B], where A is [n][n] and B has `columns` - n columns, by [1, A^-1 B]: elimination with the largest pivot of each
   column. */
static void EliminateRows(int n, int columns, double rows[])
{
  for (int k = 0; k < n; k++) {
    double *row = rows + k * columns, *pivot = row;

    for (int i = k + 1; i < n; i++) {
      if (fabs(rows[i * columns + k]) > fabs(pivot[k])) pivot = rows + i * columns;
    }
    for (int j = columns - 1; j >= k; j--) {
      const double old = row[j];

      row[j] = pivot[j] / pivot[k];
      if (pivot != row) pivot[j] = old;
    }
    for (int i = 0; i < n; i++) {
      double *other = rows + i * columns, factor = other[k];

      for (int j = k; j < columns && i != k; j++) other[j] -= factor * row[j];
    }
  }
}

/* Builds a table entry. Elimination gives the transpose of Z = M (1 - G M)^-1. scratch: twice the size of Z */
static void BuildEntry(VpLevel level, const VpInterfaceKey *key, double table[], double scratch[])
{
  const int   n = level->basis.n, dim = level->mesh->dim, size = 2 * VpFaceSize(n, dim);
  const Block coarse = BuildBlock(level, key, 0, table), fine = BuildBlock(level, key, 1, table);
  double      half[4 * VP_MAX_N * VP_MAX_N], *Z = table + VpInterfaceZ(n, dim);

  VpTransferHalves(&level->basis, half, half + 2 * n * n);
  for (int column = 0; column < size; column++) {
    double *row = scratch + column * 2 * size, *M = row + size, unit[2 * VP_MAX_N * VP_MAX_N] = {0};

    unit[column] = 1;
    ApplyThroughFine(&fine, key->form, half, unit, M);
    memcpy(row, M, (size_t)size * sizeof(*M));
    ApplyBlockInverse(&coarse, row);
    for (int i = 0; i < size; i++) row[i] = unit[i] - row[i];
  }
  EliminateRows(size, 2 * size, scratch);
  for (int column = 0; column < size; column++) memcpy(Z + column * size, scratch + (2 * column + 1) * size, (size_t)size * sizeof(*Z));
}

/* Computes the entries of all keys and places them on the backend. */
static PetscErrorCode PlaceTable(VpLevel fine, const VpDictionary *keys, VpArrays *arrays, VpInterfaceView *view)
{
  const int             n = fine->basis.n, dim = fine->mesh->dim;
  const VpInterfaceKey *key = (const VpInterfaceKey *)keys->item;
  const size_t          size = VpInterfaceSize(n, dim), nscratch = 2 * (size - VpInterfaceZ(n, dim));
  double               *table, *scratch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(keys->n * size, &table, keys->n * nscratch, &scratch));
  VP_LOOP_HEAVY (i, keys->n) BuildEntry(fine, &key[i], table + i * size, scratch + i * nscratch);
  view->ntype = keys->n;
  PetscCall(VpArraysPlaceReals(arrays, table, keys->n * size, "interface patches", &view->table));
  PetscCall(PetscFree2(table, scratch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* type[i] = the table entry of interface i, or -1 if its patch is not swept */
static PetscErrorCode NumberKeys(VpMesh mesh, const VpInterfaceKey key[], int32_t type[], VpDictionary *keys)
{
  const VpFaces *ends = &mesh->relation->ends;

  PetscFunctionBegin;
  for (int32_t i = 0; i < ends->n; i++) {
    uint64_t word[VP_INTERFACE_WORDS];

    type[i] = -1;
    if (!VpMeshSweepsEnd(mesh, &ends->face[i])) continue;
    VpInterfaceWords(&key[i], mesh->dim, word);
    PetscCall(VpDictionaryAdd(keys, word, &key[i], &type[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlaceInterfaces(VpLevel fine, VpLevel coarse, PetscBool together, VpArrays *arrays, VpInterfaceView *view)
{
  const VpFaces  *ends = &fine->mesh->relation->ends;
  VpDictionary    different;
  VpInterfaceKey *key; /* set where the interface's patch is swept */
  double         *weight;
  int32_t        *type;

  PetscFunctionBegin;
  PetscCall(VpPlaceHanging(coarse, fine, ends, arrays, &view->sides));
  view->reaction = VpLevelReaction(fine);
  PetscCall(VpMallocLarge(ends->n, &key));
  PetscCall(PetscMalloc2(ends->n, &weight, ends->n, &type));
  VP_LOOP (i, ends->n) {
    weight[i] = fine->typical / VpLevelLargest(coarse, ends->face[i].cell[0]);
    if (VpMeshSweepsEnd(fine->mesh, &ends->face[i])) key[i] = VpInterfaceKeyOf(fine, coarse, &ends->face[i]);
  }
  PetscCall(VpDictionaryCreate(VP_INTERFACE_WORDS, sizeof(VpInterfaceKey), &different));
  PetscCall(NumberKeys(fine->mesh, key, type, &different));
  PetscCall(PlaceTable(fine, &different, arrays, view));
  PetscCall(VpPlaceArray(arrays, type, ends->n, "interface patches", &view->type));
  PetscCall(VpPlaceInterfaceOrder(fine->mesh, together, different.n, type, arrays, view));
  if (!VpLevelIsUniform(fine)) PetscCall(VpArraysPlaceReals(arrays, weight, ends->n, "interface patches", &view->weight));
  PetscCall(VpDictionaryDestroy(&different));
  PetscCall(PetscFree2(weight, type));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}
