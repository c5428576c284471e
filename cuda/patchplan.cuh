/* Setting up the kernel of patch.cuh for a range of patches: which are alike, their tables, the order they are launched in. */
#pragma once
#include "patch.cuh"

/* of patches that are alike */
template <class T, int N>
struct LikePatches : VpPlan {
  VpArray           table;
  PatchTables<T, N> tables;
  EdgeTables<T, N>  edges;
};
/* Patches of a range: like patches inside, those at boundaries, both for the kernel of patch.cuh, and the rest. */
template <class T, int N>
struct SweepPlan : LikePatches<T, N> {
  int       nrest = 0;
  PatchList inside, edge;
  VpArray   rest;
};

/* entries of like patches: [direction] inside, at the lower and upper boundary (-1: none); entries of `lines` for cells inside */
struct Likeness {
  int32_t type[3][3], line[3];
};

/* inside[i] = are there cells beyond all sides of the patch? */
static __global__ void FindInside(const int32_t *patch, const int32_t *neighbor, int32_t first, int32_t count, uint8_t *inside)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  bool          all = true;

  if (i >= count) return;
  for (int q = 0; q < 8; q++) {
    const int32_t *beyond = neighbor + (size_t)patch[(size_t)(first + i) * 8 + q] * 6;
    for (int d = 0; d < 3; d++) all = all && beyond[2 * d + (q >> d & 1)] >= 0;
  }
  inside[i] = all;
}

/* kind = 0: rest, else 1 + sum_d (0 inside, 1 lower, 2 upper) 4^d */
static __global__ void MatchPatches(const int32_t *patch, const int32_t *type, const int32_t *line, const int32_t *neighbor, int32_t first,
                                    int32_t count, Likeness like, uint8_t *kind)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  bool          same = true;
  int           code = 0;

  if (i >= count) return;
  const int32_t *cells = patch + (size_t)(first + i) * 8;
  for (int d = 0; d < 3; d++) {
    const int32_t t = type[(size_t)(first + i) * 3 + d];
    const int     k = t == like.type[d][0] ? 0 : t == like.type[d][1] ? 1 : t == like.type[d][2] ? 2 : -1;
    same = same && k >= 0;
    code |= k << 2 * d;
    for (int q = 0; q < 8; q++) {
      const int s = q >> d & 1;
      if (neighbor[(size_t)cells[q] * 6 + 2 * d + s] < 0) same = same && k == 1 + s;
      else
        same = same && k != 1 + s && line[(size_t)cells[q] * 3 + d] == like.line[d];
    }
  }
  kind[i] = same ? 1 + code : 0;
}

/* example[d][s] = a patch whose cells all end on side s in direction d only, and are alike otherwise */
static __global__ void EdgeExamples(const int32_t *patch, const int32_t *type, const int32_t *neighbor, int32_t first, int32_t count,
                                    Likeness like, int32_t *example)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= count) return;
  const int32_t *cells = patch + (size_t)(first + i) * 8;
  for (int d = 0; d < 3; d++) {
    bool other = true;
    for (int e = 0; e < 3; e++) other = other && (e == d || type[(size_t)(first + i) * 3 + e] == like.type[e][0]);
    for (int s = 0; s < 2 && other; s++) {
      bool all = true;
      for (int q = 0; q < 8; q++) all = all && (neighbor[(size_t)cells[q] * 6 + 2 * d + s] < 0) == ((q >> d & 1) == s);
      if (all) atomicMax(example + 2 * d + s, first + i);
    }
  }
}

static __global__ void ListPatches(const int32_t *patch, const int32_t *neighbor, const uint8_t *cover, const int32_t *list, int32_t count,
                                   PatchCells *cells, PatchCovers *covers)
{
  const int32_t i = blockIdx.x * blockDim.y + threadIdx.y, h = threadIdx.x - 8;

  if (i >= count) return;
  const int32_t *own = patch + (size_t)list[i] * 8;
  int32_t        cell;
  if (h < 0) cell = own[threadIdx.x];
  else {
    const int d = h / 8, s = h / 4 % 2, q = h % 4;
    cell = neighbor[(size_t)own[(q >> d) << (d + 1) | s << d | (q & ((1 << d) - 1))] * 6 + 2 * d + s];
  }
  cells[i].cell[threadIdx.x] = cell;
  covers[i].cover[threadIdx.x] = cell < 0 ? 0 : cover[cell];
}

template <class T, int N>
struct SweepSetup {
  typedef Mirror<N, Thin(N)> Map;
  static constexpr int       m = 2 * N, width = VpFdmSize(N);

  /* place of value i of a line mirrored about the patch's middle, and its sign */
  static int Mirrored(int i, T *sign)
  {
    *sign = (T)Map::sign(i % N);
    return (i < N ? N : 0) + Map::index(i % N);
  }

  /* F and B of the first cell by parity; false where the patch is not its mirror image */
  static bool Transforms(const T *fdm, T (*F)[N * N], T (*B)[N * N])
  {
    for (int mode = 0; mode < m; mode++) {
      const int j = mode / 2, p = mode % 2;
      for (int i = 0; i < N; i++) {
        T         sign;
        const int to = Mirrored(i, &sign);
        const T   f = fdm[mode * m + i], b = fdm[m * m + i * m + mode];
        if (p) sign = -sign;
        if (fdm[mode * m + to] != sign * f || fdm[m * m + to * m + mode] != sign * b) return false;
        F[p][j * N + i] = f;
        B[p][i * N + j] = b;
      }
    }
    return true;
  }

  /* F and B at the lower boundary, from those there or at the upper one */
  static void EdgeTransforms(const T *fdm, bool upper, T *F, T *B)
  {
    for (int mode = 0; mode < m; mode++)
      for (int i = 0; i < m; i++) {
        T         sign = 1;
        const int to = upper ? Mirrored(i, &sign) : i;
        F[mode * m + i] = sign * fdm[mode * m + to];
        B[i * m + mode] = sign * fdm[m * m + to * m + mode];
      }
  }

  static PetscErrorCode Fetch(const VpPatchView *view, int32_t type, T *fdm)
  {
    return VpCudaFetch((const T *)view->fdm + (size_t)type * width, width * sizeof(T), fdm);
  }

  /* what a pair of traces beyond a side adds: g [value, slope][n] of the side, traces [value, slope][nt] at the neighbour's end there */
  static void Side(LikePatches<T, N> *plan, int d, int s, const T *g, const T *traces, T *table)
  {
    constexpr int nt = Thin(N);

    for (int f = 0; f < 2; f++) {
      for (int i = 0; i < N; i++) {
        const T a = nt == 2 ? g[i] * traces[f] + g[N + i] * traces[nt + f] : g[f * N + i];
        if (d == 2) plan->tables.add[s][f][i] = a;
        else
          table[PatchTable<N>::add + ((d * 2 + s) * N + i) * 2 + f] = a;
      }
      for (int t = 0; t < nt; t++) plan->tables.trace[1 - s][f][t] = traces[f * nt + t];
    }
  }

  static PetscErrorCode Examples(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, const Likeness &like, int32_t example[3][2])
  {
    VpArray device;

    PetscFunctionBegin;
    PetscCall(VpCudaAlloc(6 * sizeof(int32_t), "examples of patches", &device.p));
    VpCudaCall(cudaMemsetAsync(device.p, 0xff, 6 * sizeof(int32_t), VpCudaStream));
    EdgeExamples<<<(count + 255) / 256, 256, 0, VpCudaStream>>>(patches->patch, patches->type, view->neighbor, first, count, like,
                                                                (int32_t *)device.p);
    VpCudaLaunched("examples of patches");
    PetscCall(VpCudaFetch(device.p, 6 * sizeof(int32_t), example));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Like the sample, a patch inside. like->type[0][0] < 0 where it does not fit. */
  static PetscErrorCode Like(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, int32_t sample, LikePatches<T, N> *plan, Likeness *like)
  {
    int32_t type[3], cells[8], example[3][2];
    T       fdm[width], edge[width], entry[VpLineSize(N)], traces[4 * VP_MAX_N], table[PatchTable<N>::size] = {};

    PetscFunctionBegin;
    PetscCall(VpCudaFetch(patches->type + (size_t)sample * 3, sizeof(type), type));
    PetscCall(VpCudaFetch(patches->patch + (size_t)sample * 8, sizeof(cells), cells));
    PetscCall(VpCudaFetch(view->traces, 4 * (size_t)view->nt * sizeof(T), traces));
    for (int d = 0; d < 3; d++) {
      like->type[d][0] = type[d], like->type[d][1] = like->type[d][2] = -1;
      PetscCall(VpCudaFetch(view->line + (size_t)cells[0] * 3 + d, sizeof(int32_t), &like->line[d]));
    }
    PetscCall(Examples(view, patches, first, count, *like, example));
    for (int d = 0; d < 3; d++) plan->tables.same[d] = type[1] == type[0] && type[2] == type[0] ? 0 : d;
    for (int d = 0; d < 3; d++) {
      PetscCall(Fetch(patches, type[d], fdm));
      if (!Transforms(fdm, plan->tables.F[d], plan->tables.B[d])) like->type[0][0] = -1;
      for (int i = 0; i < m; i++) {
        table[2 * d * m + i] = fdm[2 * m * m + i] + (d == 2 ? (T)patches->reaction : T(0));
        if (d == 0) plan->tables.lambda[i] = fdm[2 * m * m + i];
      }
      for (int s = 0; s < 2; s++) {
        int32_t at;
        if (example[d][s] < 0) continue;
        PetscCall(VpCudaFetch(patches->type + (size_t)example[d][s] * 3 + d, sizeof(int32_t), &at));
        PetscCall(Fetch(patches, at, edge));
        if (like->type[d][1] < 0) {
          EdgeTransforms(edge, s == 1, plan->edges.F[d], plan->edges.B[d]);
          for (int i = 0; i < m; i++) table[(2 * d + 1) * m + i] = edge[2 * m * m + i] + (d == 2 ? (T)patches->reaction : T(0));
        } else {
          bool mirror = true; /* does the upper boundary mirror the lower one? */
          for (int i = 0; i < m; i++)
            mirror = mirror && fabs(edge[2 * m * m + i] + (d == 2 ? (T)patches->reaction : T(0)) - table[(2 * d + 1) * m + i]) <=
                                 1e-5 * fabs(table[(2 * d + 1) * m + i]);
          if (!mirror) continue;
        }
        like->type[d][1 + s] = at;
      }
      PetscCall(VpCudaFetch((const T *)view->lines + (size_t)like->line[d] * VpLineSize(N), sizeof(entry), entry));
      for (int s = 0; s < 2; s++) Side(plan, d, s, entry + N * N + 2 * s * N, traces + 2 * (1 - s) * view->nt, table);
    }
    PetscCall(VpCudaPlace(table, sizeof(table), "tables of like patches", &plan->table));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Kinds(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, const Likeness &like, void *device, uint8_t *kind)
  {
    PetscFunctionBegin;
    MatchPatches<<<(count + 255) / 256, 256, 0, VpCudaStream>>>(patches->patch, patches->type, view->line, view->neighbor, first, count, like,
                                                                (uint8_t *)device);
    VpCudaLaunched("match patches");
    PetscCall(VpCudaFetch(device, (size_t)count, kind));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode List(const VpView *view, const VpPatchView *patches, const int32_t *patch, const uint8_t *kinds, PatchList *list)
  {
    VpArray device;

    PetscFunctionBegin;
    if (!list->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaPlace(patch, (size_t)list->n * sizeof(int32_t), "a list of patches", &device));
    PetscCall(VpCudaPlace(kinds, (size_t)list->n, "kinds of patches", &list->kinds));
    PetscCall(VpCudaAlloc((size_t)list->n * sizeof(PatchCells), "cells of patches", &list->cells.p));
    PetscCall(VpCudaAlloc((size_t)list->n * sizeof(PatchCovers), "covers of patches", &list->covers.p));
    ListPatches<<<(list->n + 7) / 8, dim3(32, 8), 0, VpCudaStream>>>(patches->patch, view->neighbor, patches->cover, (const int32_t *)device.p,
                                                                     list->n, (PatchCells *)list->cells.p, (PatchCovers *)list->covers.p);
    VpCudaLaunched("list patches");
    VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* the list goes */
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Lists(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, const uint8_t *kind, SweepPlan<T, N> *plan)
  {
    int32_t *inside, *edge, *rest;
    uint8_t *kinds;

    PetscFunctionBegin;
    PetscCall(PetscMalloc4(count, &inside, count, &edge, count, &rest, count, &kinds));
    for (int32_t i = 0; i < count; i++) {
      if (kind[i] == 1) inside[plan->inside.n++] = first + i;
      else if (kind[i]) {
        kinds[plan->edge.n] = kind[i];
        edge[plan->edge.n++] = first + i;
      } else
        rest[plan->nrest++] = first + i;
    }
    PetscCall(List(view, patches, edge, kinds, &plan->edge));
    PetscCall(List(view, patches, inside, kind, &plan->inside)); /* its kinds are not read */
    PetscCall(VpCudaPlace(rest, (size_t)plan->nrest * sizeof(int32_t), "a list of patches", &plan->rest));
    PetscCall(PetscFree4(inside, edge, rest, kinds));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Inside(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, void *device, uint8_t *inside)
  {
    PetscFunctionBegin;
    FindInside<<<(count + 255) / 256, 256, 0, VpCudaStream>>>(patches->patch, view->neighbor, first, count, (uint8_t *)device);
    VpCudaLaunched("patches inside");
    PetscCall(VpCudaFetch(device, (size_t)count, inside));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the patch inside, of some tried, that most are like: *best; -1: none */
  static PetscErrorCode Sample(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, void *device, uint8_t *kind, int32_t *best)
  {
    int32_t most = 0, n = 0, *inside;

    PetscFunctionBegin;
    *best = -1;
    PetscCall(Inside(view, patches, first, count, device, kind));
    PetscCall(PetscMalloc1(count, &inside));
    for (int32_t i = 0; i < count; i++) {
      if (kind[i]) inside[n++] = i;
    }
    for (int k = 0; k < PetscMin(n, 16) && 2 * most < n; k++) {
      const int32_t sample = inside[(int64_t)n * (2 * k + 1) / (2 * PetscMin(n, 16))];
      int32_t       cell, number = 0;
      Likeness      like;

      PetscCall(VpCudaFetch(patches->patch + (size_t)(first + sample) * 8, sizeof(int32_t), &cell));
      for (int d = 0; d < 3; d++) {
        like.type[d][1] = like.type[d][2] = -1;
        PetscCall(VpCudaFetch(patches->type + (size_t)(first + sample) * 3 + d, sizeof(int32_t), &like.type[d][0]));
        PetscCall(VpCudaFetch(view->line + (size_t)cell * 3 + d, sizeof(int32_t), &like.line[d]));
      }
      PetscCall(Kinds(view, patches, first, count, like, device, kind));
      for (int32_t i = 0; i < count; i++) number += kind[i] == 1;
      if (kind[sample] != 1 || number <= most) continue;
      most = number;
      *best = first + sample;
    }
    PetscCall(PetscFree(inside));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the tables of like patches and the kind of every patch; *found = false: they are not alike, or not of a sort that patch.cuh can do */
  static PetscErrorCode Match(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, LikePatches<T, N> *plan, uint8_t *kind, bool *found)
  {
    int32_t  sample;
    Likeness like;
    VpArray  device;

    PetscFunctionBegin;
    *found = false;
    if (patches->weight || view->nt != Thin(N) || patches->cutoff >= 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaAlloc((size_t)count, "kinds of patches", &device.p));
    PetscCall(Sample(view, patches, first, count, device.p, kind, &sample));
    if (sample < 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Like(view, patches, first, count, sample, plan, &like));
    if (like.type[0][0] < 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Kinds(view, patches, first, count, like, device.p, kind));
    *found = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Fill(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, SweepPlan<T, N> *plan)
  {
    uint8_t *kind;
    bool     found;

    PetscFunctionBegin;
    PetscCall(PetscMalloc1(count, &kind));
    PetscCall(Match(view, patches, first, count, plan, kind, &found));
    if (found) PetscCall(Lists(view, patches, first, count, kind, plan));
    PetscCall(PetscFree(kind));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
