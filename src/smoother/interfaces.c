/* The tables of interface patches, where a level of an adaptive mesh ends (VpInterfaceView). A patch depends on the lines of its
   leaf K and of the cells F beyond one of K's sides, so few are different. */
#include "interfacekey.h"
#include "../base/dictionary.h"
#include "../base/memory.h"
#include "../base/threads.h"

/* the numbers of one entry, and where its parts are */
typedef struct {
  int     n, dim, normal, end, m; /* m: functions on K's side */
  double  reaction;
  double *own[3], *across, *wide[2], *ends, *Z; /* of the entry; wide goes by tangential direction */
} Entry;

static void Locate(VpLevel level, const VpInterfaceKey *key, double *table, Entry *e)
{
  const int n = level->basis.n, dim = level->mesh->dim;

  *e = (Entry){.n = n, .dim = dim, .normal = key->side / 2, .end = key->side % 2, .m = VpFaceSize(n, dim), .reaction = key->reaction};
  for (int d = 0; d < dim; d++) e->own[d] = table + d * VpBlockSize(n);
  e->across = table + dim * VpBlockSize(n);
  for (int i = 0; i < dim - 1; i++) e->wide[i] = table + VpInterfaceWide(n, dim, i);
  e->ends = table + VpInterfaceEnds(n, dim);
  e->Z = table + VpInterfaceZ(n, dim);
}

/* out = (M_1 x M_0) in, from `columns` to `rows` values along each of so many directions */
static void Tangential(int directions, int rows, int columns, const double *const M[], const double in[], double out[])
{
  const int planes = directions == 2 ? columns : 1;
  double    t[4 * VP_MAX_N * VP_MAX_N];

  for (int p = 0; p < planes; p++) {
    for (int i = 0; i < rows; i++) {
      double *sum = directions == 2 ? &t[p * rows + i] : &out[i];

      *sum = 0;
      for (int j = 0; j < columns; j++) *sum += M[0][i * columns + j] * in[p * columns + j];
    }
  }
  for (int q = 0; q < rows && directions == 2; q++) {
    for (int i = 0; i < rows; i++) {
      out[q * rows + i] = 0;
      for (int p = 0; p < columns; p++) out[q * rows + i] += M[1][q * columns + p] * t[p * rows + i];
    }
  }
}

/* the modes of a line of n values at one of its ends: their traces and what they get of the lift of V and Q, both [V, Q][n], and their
   eigenvalues */
typedef struct {
  int           n;
  const double *trace, *lifted, *lambda;
} Ends;

/* to [trace, lifted][V, Q][n]: an entry's `ends`, which this fills */
static Ends EndsOf(const VpBasis *basis, const double *line, int end, double to[])
{
  const int     n = basis->n;
  const double *F = line, *B = F + VpBackAt(n);

  memset(to, 0, VpInterfaceModes(n, 1, 0) * sizeof(*to));
  for (int k = 0; k < 2; k++) {
    const double *phi = k ? basis->slope[end] : basis->value[end];
    double       *trace = to + k * n, *lifted = to + VpInterfaceModes(n, 0, 1) + k * n;

    for (int i = 0; i < n; i++) {
      const double lift = (double)VpBasisLift(basis, end, k, i);

      for (int mode = 0; mode < n; mode++) {
        trace[mode] += phi[i] * B[i * n + mode];
        lifted[mode] += F[mode * n + i] * lift;
      }
    }
  }
  return (Ends){n, to, to + VpInterfaceModes(n, 0, 1), F + VpLambdaAt(n)};
}

/* t [2] = traces (lambda + the line's modes)^-1 lift t */
static void Across(const Ends *ends, double lambda, double t[2])
{
  double sum[2] = {0, 0};

  for (int mode = 0; mode < ends->n; mode++) {
    const double a = (ends->lifted[mode] * t[0] + ends->lifted[ends->n + mode] * t[1]) / (ends->lambda[mode] + lambda);

    for (int k = 0; k < 2; k++) sum[k] += ends->trace[k * ends->n + mode] * a;
  }
  t[0] = sum[0];
  t[1] = sum[1];
}

/* t [2][width^(dim-1)] = traces A^-1 lift t on one side of A's cells; normal: of the lines along its normal; along: the tables of the
   others */
static void ThroughInverse(const Entry *e, const Ends *normal, int width, double *const along[], double t[])
{
  const int     directions = e->dim - 1, size = directions == 2 ? width * width : width;
  const double *F[2] = {along[0], along[1]}, *B[2], *lambda[2];
  double        modes[2][4 * VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < directions; i++) {
    B[i] = F[i] + VpBackAt(width);
    lambda[i] = F[i] + VpLambdaAt(width);
  }
  for (int k = 0; k < 2; k++) Tangential(directions, width, width, F, t + k * size, modes[k]);
  for (int mode = 0; mode < size; mode++) {
    double both[2] = {modes[0][mode], modes[1][mode]};

    Across(normal, lambda[0][mode % width] + (directions == 2 ? lambda[1][mode / width] : 0) + e->reaction, both);
    for (int k = 0; k < 2; k++) modes[k][mode] = both[k];
  }
  for (int k = 0; k < 2; k++) Tangential(directions, width, width, B, modes[k], t + k * size);
}

/* out = M t, both [2][m] on K's side: to the cells F, through the inverse of A_FF, and back */
static void ThroughFine(const Entry *e, const Ends *normal, const double form[], const double half[], const double t[], double out[])
{
  const int     n = e->n, faces = 1 << (e->dim - 1), wide = 2 * n, size = e->dim == 3 ? wide * wide : wide;
  const double *P = half, *R = half + 2 * n * n;
  double        f[8 * VP_MAX_N * VP_MAX_N] = {0}, part[2][VP_MAX_N * VP_MAX_N], back[2][VP_MAX_N * VP_MAX_N];

  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < faces; i++) {
      const double *M[2] = {(pass ? R : P) + (i & 1) * n * n, (pass ? R : P) + (i >> 1) * n * n};
      const int     start = (i & 1) * n + (i >> 1) * n * wide;

      for (int k = 0; k < 2 && !pass; k++) Tangential(e->dim - 1, n, n, M, t + k * e->m, part[k]);
      memset(back, 0, sizeof(back));
      for (int l = 0; l < e->m; l++) {
        const int at = start + l % n + l / n * wide;

        if (pass)
          VpFaceTests(form, form + VP_HANG_OTHER, form[VP_HANG_GAMMA], form[VP_HANG_A + i], &back[0][l], &back[1][l], f[at], f[size + at]);
        else
          VpFaceTests(form + VP_HANG_OTHER, form, form[VP_HANG_GAMMA], form[VP_HANG_A + i], &f[at], &f[size + at], part[0][l], part[1][l]);
      }
      for (int k = 0; k < 2 && pass; k++) {
        Tangential(e->dim - 1, n, n, M, back[k], part[k]);
        for (int l = 0; l < e->m; l++) out[k * e->m + l] += part[k][l];
      }
    }
    if (!pass) ThroughInverse(e, normal, wide, e->wide, f);
  }
}

/* A [n][n] becomes its inverse, by elimination with the largest pivot of each column */
static void Invert(int n, double A[])
{
  int swap[2 * VP_MAX_N * VP_MAX_N];

  for (int k = 0; k < n; k++) {
    int    p = k;
    double pivot;

    for (int i = k + 1; i < n; i++) {
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    }
    swap[k] = p;
    for (int j = 0; j < n && p != k; j++) {
      const double old = A[k * n + j];

      A[k * n + j] = A[p * n + j];
      A[p * n + j] = old;
    }
    pivot = A[k * n + k];
    A[k * n + k] = 1;
    for (int j = 0; j < n; j++) A[k * n + j] /= pivot;
    for (int i = 0; i < n; i++) {
      const double factor = A[i * n + k];

      if (i == k) continue;
      A[i * n + k] = 0;
      for (int j = 0; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int i = 0; i < n && swap[k] != k; i++) {
      const double old = A[i * n + k];

      A[i * n + k] = A[i * n + swap[k]];
      A[i * n + swap[k]] = old;
    }
  }
}

/* how many numbers of room Couple needs */
static size_t CoupleRoom(int m)
{
  return 8 * (size_t)m * m + 4 * (size_t)m;
}

/* Z = M (1 - G M)^-1, column by column of M and G M */
static void Couple(const VpBasis *basis, const Entry *e, const double form[], double room[])
{
  const int  size = 2 * e->m;
  double    *M = room, *inverse = M + size * size, *t = inverse + size * size, *own[2];
  const Ends K = EndsOf(basis, e->own[e->normal], e->end, e->ends),
             F = EndsOf(basis, e->across, 1 - e->end, e->ends + VpInterfaceModes(e->n, 1, 0));
  double half[4 * VP_MAX_N * VP_MAX_N];

  VpTransferHalves(basis, half, half + 2 * e->n * e->n);
  for (int d = 0, i = 0; d < e->dim; d++) {
    if (d != e->normal) own[i++] = e->own[d];
  }
  for (int column = 0; column < size; column++) {
    memset(t, 0, 2 * (size_t)size * sizeof(*t));
    t[column] = 1;
    ThroughFine(e, &F, form, half, t, t + size);
    for (int i = 0; i < size; i++) M[i * size + column] = t[size + i];
    ThroughInverse(e, &K, e->n, own, t + size);
    for (int i = 0; i < size; i++) inverse[i * size + column] = (i == column) - t[size + i];
  }
  Invert(size, inverse);
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) t[j] = 0;
    for (int k = 0; k < size; k++) {
      for (int j = 0; j < size; j++) t[j] += M[i * size + k] * inverse[k * size + j];
    }
    for (int j = 0; j < size; j++) e->Z[j * size + i] = t[j];
  }
}

static void Build(VpLevel level, const VpInterfaceKey *key, double table[], double room[])
{
  const double penalty = level->problem.penalty;
  const int    n = level->basis.n;
  Entry        e;

  Locate(level, key, table, &e);
  for (int i = 0; i <= e.dim; i++) {
    double *to = i < e.dim ? e.own[i] : e.across;

    VpBlockBuild(&level->basis, i < e.dim ? &key->own[i] : &key->normal, penalty, to, to + VpBackAt(n), to + VpLambdaAt(n));
    for (int k = 0; k < n; k++) to[VpLambdaAt(n) + k] *= level->typical;
  }
  for (int i = 0; i < e.dim - 1; i++) {
    double *to = e.wide[i];

    VpFdmBuild(&level->basis, &key->tangential[i], VP_SPACE_FULL, penalty, to, to + VpBackAt(2 * n), to + VpLambdaAt(2 * n));
    for (int k = 0; k < 2 * n; k++) to[VpLambdaAt(2 * n) + k] *= key->times[i] * level->typical;
  }
  Couple(&level->basis, &e, key->form, room);
}

/* the entries of the keys' table */
typedef struct {
  VpLevel               level;
  const VpInterfaceKey *key;
  double               *table, *room;
} Entries;

static void BuildEntries(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Entries *entries = context;
  const int      n = entries->level->basis.n, dim = entries->level->mesh->dim;

  for (int32_t i = first; i < last; i++)
    Build(entries->level, &entries->key[i], entries->table + i * (size_t)VpInterfaceSize(n, dim),
          entries->room + i * CoupleRoom(VpFaceSize(n, dim)));
}

/* the words of the keys of interfaces, [ninterface][VP_INTERFACE_WORDS] */
typedef struct {
  VpLevel   fine, coarse;
  uint64_t *word;
} Keys;

static void FindKeys(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Keys   *keys = context;
  const VpMesh  mesh = keys->fine->mesh;
  const VpFace *interface = mesh->relation->ends.face;

  for (int32_t i = first; i < last; i++) {
    VpInterfaceKey key;

    if (!VpMeshSweepsEnd(mesh, &interface[i])) continue;
    key = VpInterfaceKeyOf(keys->fine, keys->coarse, &interface[i]);
    VpInterfaceWords(&key, mesh->dim, keys->word + (size_t)i * VP_INTERFACE_WORDS);
  }
}

/* type[i] = the entry for interface i, or -1 where it is not swept; the different keys; of_type[type] = the first interface that has it */
static PetscErrorCode NumberKeys(VpLevel fine, VpLevel coarse, int32_t type[], int32_t of_type[], VpDictionary *keys)
{
  const VpFaces *ends = &fine->mesh->relation->ends;
  uint64_t      *word;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)ends->n * VP_INTERFACE_WORDS, &word));
  VpLoop(ends->n, FindKeys, &(Keys){fine, coarse, word});
  for (int32_t i = 0; i < ends->n; i++) {
    const uint64_t *its = word + (size_t)i * VP_INTERFACE_WORDS;

    type[i] = -1;
    if (!VpMeshSweepsEnd(fine->mesh, &ends->face[i])) continue;
    type[i] = VpDictionaryFind(keys, its);
    if (type[i] < 0) {
      const VpInterfaceKey key = VpInterfaceKeyOf(fine, coarse, &ends->face[i]);

      PetscCall(VpDictionaryAdd(keys, its, &key, &type[i]));
      of_type[type[i]] = i;
    }
  }
  PetscCall(PetscFree(word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpLevel fine, coarse;
  double *weight, *excess; /* [ninterface], [ninterface][faces beyond a side] */
} Coefficients;

static void FindCoefficients(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Coefficients *to = context;
  const VpLevel       fine = to->fine, coarse = to->coarse;
  const int           faces = 1 << (fine->mesh->dim - 1);

  for (int32_t i = first; i < last; i++) {
    const VpFace   *interface = &fine->mesh->relation->ends.face[i];
    const PetscReal a = VpLevelCoefficient(coarse, interface->cell[0], interface->side / 2),
                    b = VpLevelCoefficientBeyond(coarse, interface->cell[0], interface->side);
    double form[VP_HANG_FORM];

    to->weight[i] = fine->typical / VpLevelLargest(coarse, interface->cell[0]);
    VpHangingForm(coarse, fine, interface, form);
    for (int f = 0; f < faces; f++) to->excess[i * faces + f] = form[VP_HANG_A + f] - VpHarmonicMean(a, b);
  }
}

/* Where the coefficient varies, a patch is that of its tables divided by its weight. The line of a leaf K takes the mean
   beyond for all of a side; `excess` says by how much the coefficient of every fine face is larger. */
static PetscErrorCode PlaceCoefficients(VpLevel fine, VpLevel coarse, VpArrays *arrays, VpInterfaceView *view)
{
  const int32_t n = fine->mesh->relation->ends.n;
  const int     faces = 1 << (fine->mesh->dim - 1);
  double       *weight, *excess;

  PetscFunctionBegin;
  if (VpLevelIsUniform(fine)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &weight, (size_t)n * faces, &excess));
  VpLoop(n, FindCoefficients, &(Coefficients){fine, coarse, weight, excess});
  PetscCall(VpArraysPlaceReals(arrays, weight, n, "interface patches", &view->weight));
  PetscCall(VpArraysPlaceReals(arrays, excess, (size_t)n * faces, "interface patches", &view->excess));
  PetscCall(PetscFree2(weight, excess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlaceInterfaces(VpLevel fine, VpLevel coarse, PetscBool together, VpArrays *arrays, VpInterfaceView *view)
{
  const VpMesh   mesh = fine->mesh;
  const VpFaces *ends = &mesh->relation->ends;
  const size_t   size = VpInterfaceSize(fine->basis.n, mesh->dim);
  VpDictionary   keys;
  int32_t       *type, *of_type;
  double        *table, *room;

  PetscFunctionBegin;
  PetscCall(VpPlaceHanging(coarse, fine, ends, arrays, &view->sides));
  view->reaction = VpLevelReaction(fine);
  PetscCall(VpDictionaryCreate(VP_INTERFACE_WORDS, sizeof(VpInterfaceKey), &keys));
  PetscCall(PetscMalloc2(ends->n, &type, ends->n, &of_type));
  PetscCall(NumberKeys(fine, coarse, type, of_type, &keys));
  PetscCall(PetscMalloc2(keys.n * size, &table, keys.n * CoupleRoom(VpFaceSize(fine->basis.n, mesh->dim)), &room));
  VpLoopHeavy(keys.n, BuildEntries, &(Entries){fine, (const VpInterfaceKey *)keys.item, table, room});
  PetscCall(VpPlaceArray(arrays, type, ends->n, "interface patches", &view->type));
  view->ntype = keys.n;
  PetscCall(VpPlaceArray(arrays, of_type, keys.n, "interface patches", &view->of_type));
  PetscCall(VpArraysPlaceReals(arrays, table, keys.n * size, "interface patches", &view->table));
  PetscCall(VpPlaceInterfaceOrder(mesh, together, keys.n, type, arrays, view));
  PetscCall(PlaceCoefficients(fine, coarse, arrays, view));
  PetscCall(PetscFree2(table, room));
  PetscCall(PetscFree2(type, of_type));
  PetscCall(VpDictionaryDestroy(&keys));
  PetscFunctionReturn(PETSC_SUCCESS);
}
