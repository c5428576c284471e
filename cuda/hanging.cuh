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

/* value V and slope Q at the end of a line; aligned, so that one instruction reads both */
template <class T>
struct alignas(2 * sizeof(T)) TraceOf {
  T V, Q;
};

template <class T>
VP_FACE_FORM(static __device__ __forceinline__ void FaceTests, T)

template <class T, int DIM, int N>
struct HangThread {
  typedef TraceOf<T>   Trace;
  static constexpr int faces = 1 << (DIM - 1), lines = Power(N, DIM - 1), values = Power(N, DIM), threads = faces * lines;
  static constexpr int scratch = 2 * threads; /* numbers of shared memory */
  static constexpr int several = 512;         /* most threads of a block that works on several sides, so that few lanes of warps are idle */
  static constexpr int sides = Max(1, several / threads);

  const VpFace *face;
  const T      *form, *half, *lift;
  T            *s;    /* the scratch, aligned as traces are */
  int           i, l; /* the group, the thread in it */

  __device__ __forceinline__ HangThread(const VpHangView &hang, T *shared)
      : face(hang.face), form((const T *)hang.form), half((const T *)hang.half), lift((const T *)hang.lift),
        s(shared + threadIdx.x / threads * scratch), i(threadIdx.x % threads / lines), l(threadIdx.x % lines)
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

  /* traces at an end along d of line l of a cell that has the values u */
  __device__ __forceinline__ Trace Of(const Field<T> &f, int d, int end, const T *u) const
  {
    Trace t;

    Traces(f.nt, f.first[end], f.traces, end, u + LineStart<DIM>(d, N, l, N, N * N), VpLineStride(d, N, N * N), t.V, t.Q);
    return t;
  }

  /* Copies the matrices to shared memory, [4 N^2] numbers, and uses them there. Requires: all threads of the block call, and a barrier
     follows. */
  __device__ __forceinline__ void KeepHalf(T *to)
  {
    for (int k = threadIdx.x; k < 4 * N * N; k += blockDim.x) to[k] = half[k];
    half = to;
  }
  /* a group's traces in shared memory */
  __device__ __forceinline__ Trace *TracesOf(int group) const
  {
    return (Trace *)s + lines * group;
  }
  /* product of a row of a matrix with the traces start, start + step, ... of a group */
  __device__ __forceinline__ Trace Times(const T *row, int group, int start, int step) const
  {
    Trace t = {T(0), T(0)};

    UNROLL (int j = 0; j < N; j++) {
      const T     a = row[j];
      const Trace u = TracesOf(group)[start + j * step];
      t.V += a * u.V;
      t.Q += a * u.Q;
    }
    return t;
  }
  __device__ __forceinline__ void Row(const T *row, int start, int step, Trace &t) const
  {
    __syncthreads();
    TracesOf(i)[l] = t;
    __syncthreads();
    t = Times(row, i, start, step);
  }
  /* t = (M_1 x M_0) t, where M_i is the matrix of the half that bit i of `which` says: P, or (adjoint) R */
  __device__ __forceinline__ void ToFace(int which, Trace &t, bool adjoint = false) const
  {
    const T *M = half + (adjoint ? 2 * N * N : 0);

    Row(M + (which & 1) * N * N + l % N * N, l / N * N, 1, t);
    if (DIM == 3) Row(M + (which >> 1) * N * N + l / N * N, l % N, N, t);
  }
  /* t = the traces at the group's face, for the traces t of group 0 on the whole side */
  __device__ __forceinline__ void ToFaces(Trace &t) const
  {
    __syncthreads();
    if (i == 0) TracesOf(0)[l] = t;
    __syncthreads();
    t = Times(half + (i & 1) * N * N + l % N * N, 0, l / N * N, 1);
    if (DIM == 3) Row(half + (i >> 1) * N * N + l / N * N, l % N, N, t);
  }
  /* t = the factors on the whole side, for the factors t on the faces of all groups */
  __device__ __forceinline__ void FromFaces(Trace &t) const
  {
    ToFace(i, t, true);
    __syncthreads();
    TracesOf(i)[l] = t;
    __syncthreads();
    t = {T(0), T(0)};
    UNROLL (int face = 0; face < faces; face++) {
      const Trace u = TracesOf(face)[l];
      t.V += u.V;
      t.Q += u.Q;
    }
  }

  /* here = the factors of V and Q of a test function on this side, in the form of a fine face with the coefficient a. At first `here` has
     the traces on this side, and `beyond` has those on the other side. turned: this side is the one beyond the form's cell */
  static __device__ __forceinline__ void Flux(const T *form, bool turned, T a, Trace &here, const Trace &beyond)
  {
    FaceTests(form, turned, a, &here.V, &here.Q, beyond.V, beyond.Q);
  }

  /* number k of the lift of t at an end */
  __device__ __forceinline__ T Lift(int end, const Trace &t, int k) const
  {
    return lift[2 * end * N + k] * t.V + lift[(2 * end + 1) * N + k] * t.Q;
  }
  /* Adds sign times the lift of t to the numbers first, first + step, ... of line l of a cell. */
  __device__ __forceinline__ void AddLift(int d, int end, T sign, const Trace &t, T *y, int first, int step) const
  {
    T *line = y + LineStart<DIM>(d, N, l, N, N * N);

    for (int k = first; k < N; k += step) line[k * VpLineStride(d, N, N * N)] += sign * Lift(end, t, k);
  }
  /* y += sign times the lift of t on the coarse cell, for which all groups have the same t */
  __device__ __forceinline__ void AddLiftTogether(int d, int end, T sign, const Trace &t, T *y) const
  {
    AddLift(d, end, sign, t, y, i, faces);
    __syncthreads();
  }
};

/* what hangplan.cuh finds for a range of cells */
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
