/* Sides between cells of two sizes (VpHangView): traces of both cells, tangential interpolation, and lifts. A block works on one side at a
   time. Its threads are in groups, one for each of the 2^(DIM-1) fine faces; thread l of a group is at line l of a cell:

      +---------+----+     group 0 is at the face of the lower fine cell, group 1 at the other one's. ToFace takes the coarse cell's
      |         | F1 |     traces to a group's face, ToFaces those of group 0 to all groups' faces; FromFaces adds up what comes back.
      |    K    +----+
      |         | F0 |
      +---------+----+ */
#pragma once
#include "cell.cuh"
#include "device/load.cuh"

/* value V and slope Q at the end of a line */
template <class T>
struct TraceOf {
  T V, Q;
};

template <class T>
VP_FACE_FORM(static __device__ __forceinline__ void FaceTests, T)

template <class T, int DIM, int N>
struct HangThread {
  typedef TraceOf<T>   Trace;
  typedef Pack<T, 2>   Both; /* V and Q, side by side in shared memory */
  static constexpr int faces = 1 << (DIM - 1), lines = Power(N, DIM - 1), values = Power(N, DIM), threads = faces * lines;
  static constexpr int room = 2 * threads; /* numbers of shared memory */
  static constexpr int several = 512;      /* threads of a block that works on several sides: few lanes of its warps are idle then */
  static constexpr int sides = Max(1, several / threads);

  const VpFace *face;
  const T      *form, *half, *lift;
  T            *s;    /* the room; pairs of numbers are aligned */
  int           i, l; /* the group, the thread in it */

  __device__ __forceinline__ HangThread(const VpHangView &hang, T *shared)
      : face(hang.face), form((const T *)hang.form), half((const T *)hang.half), lift((const T *)hang.lift),
        s(shared + threadIdx.x / threads * room), i(threadIdx.x % threads / lines), l(threadIdx.x % lines)
  {
  }
  __device__ __forceinline__ const VpFace &Face(int32_t at) const
  {
    return face[at];
  }
  __device__ __forceinline__ const T *Form(int32_t at) const
  {
    return form + (size_t)at * VP_HANG_FORM;
  }

  /* at an end of a cell along d, which has the values u */
  __device__ __forceinline__ Trace Of(const Field<T> &f, int d, int end, const T *u) const
  {
    Trace t;

    Traces(f.nt, f.first[end], f.traces, end, u + LineStart<DIM>(d, N, l, N, N * N), VpLineStride(d, N, N * N), t.V, t.Q);
    return t;
  }

  /* takes the matrices from shared memory, for which there is this room. All threads of the block call, and wait for one another before
     they use them. */
  __device__ __forceinline__ void KeepHalf(T *to)
  {
    for (int k = threadIdx.x; k < 4 * N * N; k += blockDim.x) to[k] = half[k];
    half = to;
  }
  /* where a group's traces are in shared memory */
  __device__ __forceinline__ Both *Room(int group) const
  {
    return (Both *)s + lines * group;
  }
  /* row times a group's traces start, start + step, ... */
  __device__ __forceinline__ Trace Times(const T *row, int group, int start, int step) const
  {
    Trace t = {T(0), T(0)};

    UNROLL (int j = 0; j < N; j++) {
      const T    a = row[j];
      const Both u = Room(group)[start + j * step];
      t.V += a * u.a[0];
      t.Q += a * u.a[1];
    }
    return t;
  }
  __device__ __forceinline__ void Row(const T *row, int start, int step, Trace &t) const
  {
    __syncthreads();
    Room(i)[l] = {t.V, t.Q};
    __syncthreads();
    t = Times(row, i, start, step);
  }
  /* t = (M_1 x M_0) t, where M_i is the matrix of the half that bit i of part says */
  __device__ __forceinline__ void ToPart(const T *M, int part, Trace &t) const
  {
    Row(M + (part & 1) * N * N + l % N * N, l / N * N, 1, t);
    if (DIM == 3) Row(M + (part >> 1) * N * N + l / N * N, l % N, N, t);
  }
  __device__ __forceinline__ void ToFace(int part, Trace &t) const
  {
    ToPart(half, part, t);
  }
  /* every group's t at its face, of group 0's t */
  __device__ __forceinline__ void ToFaces(Trace &t) const
  {
    __syncthreads();
    if (i == 0) Room(0)[l] = {t.V, t.Q};
    __syncthreads();
    t = Times(half + (i & 1) * N * N + l % N * N, 0, l / N * N, 1);
    if (DIM == 3) Row(half + (i >> 1) * N * N + l / N * N, l % N, N, t);
  }
  /* the sum over all faces of t, each from its part */
  __device__ __forceinline__ void FromFaces(Trace &t) const
  {
    ToPart(half + 2 * N * N, i, t);
    __syncthreads();
    Room(i)[l] = {t.V, t.Q};
    __syncthreads();
    t = {T(0), T(0)};
    UNROLL (int face = 0; face < faces; face++) {
      const Both u = Room(face)[l];
      t.V += u.a[0];
      t.Q += u.a[1];
    }
  }

  /* The form of a fine face, with the coefficient a: here = the factors by which it multiplies V and Q of a test function on this side,
     from the traces on this side (here) and on the other (beyond). turned: the form's two cells change places */
  static __device__ __forceinline__ void Flux(const T *form, bool turned, T a, Trace &here, const Trace &beyond)
  {
    FaceTests(form + 2 * turned, form + 2 * !turned, form[VP_HANG_GAMMA], a, &here.V, &here.Q, beyond.V, beyond.Q);
  }

  /* number k of the lift of t at an end */
  __device__ __forceinline__ T Lift(int end, const Trace &t, int k) const
  {
    return lift[2 * end * N + k] * t.V + lift[(2 * end + 1) * N + k] * t.Q;
  }
  /* line l of a cell += sign times that, the numbers first, first + step, ... */
  __device__ __forceinline__ void AddLift(int d, int end, T sign, const Trace &t, T *y, int first, int step) const
  {
    T *line = y + LineStart<DIM>(d, N, l, N, N * N);

    for (int k = first; k < N; k += step) line[k * VpLineStride(d, N, N * N)] += sign * Lift(end, t, k);
  }
  /* the same of the coarse cell, whose t all groups have */
  __device__ __forceinline__ void AddLiftTogether(int d, int end, T sign, const Trace &t, T *y) const
  {
    AddLift(d, end, sign, t, y, i, faces);
    __syncthreads();
  }
};

/* what hangplan.cuh finds of a range of cells */
struct HangPlan {
  int32_t nface, nother;
  VpArray list;     /* faces, then the others */
  VpArray neighbor; /* as the view's, where sides of faces are HangingSide(their number) */
  VpArray traces;   /* of one face at least: lines of other sides read its first numbers, for nothing */
};

/* operator.cu. VpCudaFindTraces() finds the factors of sides of faces (Flux); then `hanging` goes with a field that has the plan's
   neighbours. */
template <class T, int DIM, int N>
PetscErrorCode VpCudaHangPlan(const VpView *, int32_t first, int32_t last, HangPlan **);
template <class T, int DIM, int N>
PetscErrorCode VpCudaFindTraces(const VpView *, const HangPlan *, Field<T> *, HangingTraces<T> *hanging);
