/* The slots of interface patches at a level's end (VpInterfaceView). */
#include "interfacepatch.h"

static PetscErrorCode SolveInterfaces(const Interfaces *interfaces, int32_t first, int32_t last, const REAL *bc, REAL *x, REAL *xc)
{
  Patches p = {.interfaces = *interfaces, .bc = bc, .new_x = x, .new_xc = xc, .side = -1};
  V       y[FACES * VALUES], u[VALUES];

  PetscFunctionBegin;
  PetscCall(CheckTraces(interfaces->fine, interfaces->degree->n, 0));
  for (int32_t next = first; next < last; next += p.interfaces.count) {
    SetPatches(&p, next, last);
    CoarseResidual(&p, u);
    FineRight(&p, y);
    SolvePatches(&p, y, u);
    Transform(&p.finer, 1, 0, y);
    Transform(&p.coarser, 1, 0, u);
    StorePatches(&p, y, u);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls work() for all sides, W at a time. No two sides of a call share a cell. */
INLINE void ForEachKind(Interfaces *e, void (*work)(const Interfaces *, int side, const int32_t at[W], const int32_t K[W], REAL sign),
                        REAL        sign)
{
  const VpInterfaceView *interfaces = e->interfaces;
  int32_t                at[W], K[W];

  for (int kind = 0; kind < 2 * DIM; kind++) {
    for (int32_t i = interfaces->kind[kind]; i < interfaces->kind[kind + 1]; i += W) {
      e->count = PetscMin(W, interfaces->kind[kind + 1] - i);
      for (int l = 0; l < W; l++) {
        at[l] = interfaces->by_kind[l < e->count ? i + l : i];
        K[l] = Side(e, at[l])->cell[0];
      }
      work(e, kind, at, K, sign);
    }
  }
}

static void AddCoarse(const Interfaces *e, int side, const int32_t at[W], const int32_t K[W], REAL sign)
{
  Traces t;

  CellTraces(e, e->coarse, e->xc, K, side, t);
  AddBeyond(e, side, at, sign, t);
}

static void SubtractFine(const Interfaces *e, int side, const int32_t at[W], const int32_t K[W], REAL sign)
{
  int32_t refined[W];
  Traces  t;
  V       r[VALUES];

  ClearLanes(Count(e), r);
  if (Varies(e)) CellTraces(e, e->coarse, e->xc, K, side, t);
  SubtractBeyond(e, side, at, Varies(e) ? t : NULL, r);
  AddTo(e, e->b, K, r);
  if (!Varies(e)) return;
  for (int l = 0; l < W; l++) {
    refined[l] = e->coarse->neighbor[(size_t)K[l] * 2 * DIM + (size_t)side];
    if (refined[l] >= e->coarse->nown) refined[l] = -1;
  }
  ClearLanes(Count(e), r);
  SubtractExcess(e, side, at, t, r);
  AddTo(e, e->b, refined, r);
}

#define VP_DEGREE(k) \
  VP_ALONG(k) \
  VP_LANES(Narrow, k, k + 1) \
  VP_LANES(Wide, k, 2 * (k + 1)) \
  static void Halo##k(const VpView *view, const Halo *halo, V u[], V v[]) \
  { \
    SubtractHalo(view, k + 1, halo, NULL, VpLineStride(halo->side / 2, k + 1, (k + 1) * (k + 1)), u, v); \
  } \
  static const Degree degree##k = {k + 1, Along##k, {Narrow##k, Wide##k}, Halo##k}; \
  VP_KERNEL( \
    AddCoarse, k, (const VpView *view, const VpInterfaceView *interfaces, int sign, const void *xc, void *b), \
    ForEachKind(&(Interfaces){.degree = &degree##k, .coarse = view, .interfaces = interfaces, .xc = xc, .b = b}, AddCoarse, (REAL)sign)) \
  VP_KERNEL(SubtractFine, k, \
            (const VpView *fine, const VpView *coarse, const VpInterfaceView *interfaces, const void *x, const void *xc, void *bc), \
            ForEachKind(&(Interfaces){&degree##k, fine, coarse, interfaces, x, xc, bc, 0}, SubtractFine, 1)) \
  PetscErrorCode VP_NAME(SolveInterfaces, VP_REAL, VP_DIM, k)(const VpView *fine, const VpView *coarse, const VpInterfaceView *interfaces, \
                                                              int32_t first, int32_t last, void *b, void *x, const void *bc, void *xc) \
  { \
    return SolveInterfaces(&(Interfaces){&degree##k, fine, coarse, interfaces, x, xc, b, 0}, first, last, bc, x, xc); \
  }
#include "../degrees.def"
