/* The contract between the algorithm and its backends: the kernels. views.h has the data that they see. */
#pragma once
#include "entities.h"
#include "messages.h"
#include "pullback.h"

/* The kernels. A kernel works on the range [first, last), or on n items of a list, which is on the backend.

   A smoother's x has two buffers, x[0] and x[1]. `done` holds bits of the colours that the sweep has done. The current values of a cell are
   in x[popcount(cover[cell] & done) & 1]. Patches of a colour read current values and write the other buffer, so that no patch sees what
   another one of its colour writes. */
typedef struct {
  /* Makes the plans of a view, before any other slot works on it. NULL where a backend keeps none. release_plans() frees them. */
  PetscErrorCode (*prepare)(VpView *);
  PetscErrorCode (*prepare_patches)(VpPatchView *);
  PetscErrorCode (*prepare_transfer)(VpTransferView *);
  /* y = A x, or y = b - A x if b is not NULL, on cells [first, last). Requires: last <= nsweep */
  PetscErrorCode (*apply)(const VpView *, int32_t first, int32_t last, const void *x, VpGhosts, const void *b, void *y);
  /* Solves on the patches [first, last). Requires: these patches are of one colour. */
  PetscErrorCode (*sweep)(const VpView *, const VpPatchView *, VpResidualMode, int32_t first, int32_t last, unsigned done, const void *b,
                          void *const x[2]);
  /* Does the sweeps among the n steps that follow this VP_STEP_AT_ONCE, one after the other, from the values in x[0]. A backend does so
     where this is faster than step by step; else *did = PETSC_FALSE and nothing has changed. Ensures: if *did, x[0] has the current values
     of cells [0, count), and the ghosts of b or x that were under way have arrived. NULL where a backend never does. Requires: there are
     patches, no mode is VP_MODE_GIVEN, and steps with the same view, colour and n are always followed by the same ones. */
  PetscErrorCode (*sweep_all)(const VpView *, const VpStep *, VpGhosts, const void *b, void *const x[2], PetscBool *did);
  /* x += A_c^-1 (b - A x) on cells c = cell[first], ..., cell[last - 1], where A_c is the cell's diagonal block of A. ghost: x on ghosts.
     Requires: no two of these cells share a side, and no side of these cells hangs. */
  PetscErrorCode (*solve_cells)(const VpView *, const VpCellView *, int32_t first, int32_t last, const void *ghost, const void *b, void *x);
  /* b += sign A_FK xc on the cells F of all interface patches, where xc is a vector of the coarser level */
  PetscErrorCode (*add_coarse)(const VpView *, const VpInterfaceView *, int sign, const void *xc, void *b);
  /* bc -= A_KF x on the leaves K. If there is VpInterfaceView.weight, also bc -= the terms of xc on K with the excess (VpHangView) as the
     coefficient, on K and on the refined cells beyond. */
  PetscErrorCode (*subtract_fine)(const VpView *, const VpView *coarse, const VpInterfaceView *, const void *x, const void *xc, void *bc);
  /* Solves on the interface patches [first, last) of `order`, and corrects x and xc by the solutions for the residuals of F and K.
     Requires: these patches are of one step; b is the right-hand side less A_FK xc; bc is likewise less the terms of the next coarser level
     where the coarser level ends. Ensures: b is less A_FK xc for the new xc. */
  PetscErrorCode (*solve_interfaces)(const VpView *, const VpView *coarse, const VpInterfaceView *, int32_t first, int32_t last, void *b,
                                     void *x, const void *bc, void *xc);
  /* x[0] = the current values on cells [0, count) */
  PetscErrorCode (*settle)(const VpPatchView *, int32_t count, unsigned done, void *const x[2]);
  /* to[i] = the current values of cell list[i] */
  PetscErrorCode (*current)(const VpPatchView *, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to);
  /* x = P xc, or x += P xc, on cells [first, last) of the fine level */
  PetscErrorCode (*prolong)(const VpTransferView *, int32_t first, int32_t last, PetscBool add, const void *xc, void *x);
  /* bc = R b on the coarser level's own cells */
  PetscErrorCode (*restrict_)(const VpTransferView *, const void *b, void *bc);
  /* The low modes of own cells, [nown][VpLowModes]: the coefficients of the constant, then of the Legendre polynomials of degrees 1 and 2
     of each direction alone, all orthonormal (those of degree 2 are 0 where the level's degree is 1). modes = those of b; x = the
     functions that have these modes and no others, or x += these. */
  PetscErrorCode (*restrict_modes)(const VpView *, const void *b, double *modes);
  PetscErrorCode (*prolong_modes)(const VpView *, PetscBool add, const double *modes, void *x);
  /* Traces on sides of cells, list[i] = 2 dim cell + side. Packing sets to[i] = V and Q of x on the side, [2][n^(dim-1)]. Unpacking writes
     the nt coefficients of every line that make the traces on the side: those of least norm whose V and Q are from[i]. */
  PetscErrorCode (*pack_traces)(const VpView *, int32_t n, const int32_t *list, const void *x, void *to);
  PetscErrorCode (*unpack_traces)(const VpView *, int32_t n, const int32_t *list, const void *from, void *x);
  /* x[0] = A^-1 b for n vectors of the lattice's cells, one after the other; x[1] is scratch. A sum of eigenvalues that is 0 counts as
     infinite. Requires: n = 1, or all cells are own. */
  PetscErrorCode (*solve_lines)(const VpView *, const VpSeparable *, int32_t n, const void *b, void *const x[2]);
  /* y[k][i] = sum_j M[i][j] x[k][j], where M is [rows][columns], for k < n */
  PetscErrorCode (*product)(const VpView *, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y);
  /* b = scale (f - A x) on own cells, or scale f if x is NULL, from outer vectors. `outer` is the view of the outer operator, or NULL if
     x and norm2 are. `scale` is applied in double precision. *norm2 = this rank's sum of squares of what enters, unless norm2 is NULL. */
  PetscErrorCode (*enter)(const VpView *, const VpView *outer, double scale, const double *x, VpGhosts, const double *f, void *b,
                          double *norm2);
  /* z = scale x, or z += scale x, on own cells, to an outer vector. `scale` is applied in double precision. */
  PetscErrorCode (*leave)(const VpView *, PetscBool add, double scale, const void *x, double *z);

  /* Functions at points, in outer vectors. These slots are NULL in single precision. Place i has values[i][points]. On the host several
     threads may call these slots at a time. */
  /* x[i][point][dim] */
  PetscErrorCode (*coordinates)(const VpView *, const VpPlaces *, const VpGrid *, double *x);
  /* values[i][point][n] = factor (matrix[2] x matrix[1] x matrix[0]) x, for n grids with the same points. If places have a `chain`, the
     grids are those of the dim derivatives, and values[i][point][rows] = chain times the result. */
  PetscErrorCode (*evaluate)(const VpView *, const VpPlaces *, int n, const VpGrid[], const double *x, double *values);
  /* b = factor (matrix[2] x matrix[1] x matrix[0])^T measure values on these cells, or b += this product. Requires: no cell is listed
     twice. */
  PetscErrorCode (*integrate)(const VpView *, const VpPlaces *, const VpGrid *, PetscBool add, const double *values, double *b);
  /* *sum += the integral over the cells of |u - v|^2, where u is the result of evaluate() and v = values[i][point][n] */
  PetscErrorCode (*distance)(const VpView *, const VpPlaces *, int n, const VpGrid[], const double *x, const double *values, double *sum);
  /* values[i] = x at a point of cell[i], where the basis functions along d have the values basis[i][d][n] */
  PetscErrorCode (*probe)(const VpView *, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values);

  /* Slots for views with a metric, in double precision. */
  /* y [1 + 2 dim VpMostBeyond][n^dim] = column `at` of a cell: what this coefficient adds to A x in the cell itself, then in the cells
     beyond[2 dim][VpMostBeyond] its sides (< 0: unchanged), as if these were different cells. NULL unless on the host */
  PetscErrorCode (*column)(const VpView *, int32_t cell, const int32_t beyond[], int at, double *y);
  /* b += what the numbers given[i][n^(dim-1)] at the points of a side of place i add to the right-hand side: as the values of u at a
     Dirichlet side (value), or as fluxes. Requires: places have a list */
  PetscErrorCode (*add_to_side)(const VpView *, int side, PetscBool value, const VpPlaces *, const double *given, double *b);
  /* y = A x on own cells, and *energy = the sum of x y, of this rank and on the host. NULL: as fast by apply() and a product of vectors */
  PetscErrorCode (*apply_energy)(const VpView *, const void *x, VpGhosts, void *y, double *energy);
  /* sums[n] = the inner products of vectors y[n] with what leave() writes, of this rank and on the host; n is 1 or 2. NULL: as fast by
     leave() and products of vectors */
  PetscErrorCode (*leave_products)(const VpView *, double scale, const void *x, int n, const double *const y[], double sums[]);
} VpOps;

/* The making of a metric. Each of these begins with the results of those before it. */
typedef struct {
  /* Sets G, H = row d of G towards the outside, `seen` of own cells, root, mass and `made`. */
  PetscErrorCode (*points)(const VpMaking *);
  /* Multiplies H by 2 w, and sets `beyond` = 2 w' G_dd' of the cell beyond, at a boundary G_dd. Sets made->jump. Does nothing where sides
     hang. Requires: `seen` of cells beyond */
  PetscErrorCode (*weigh)(const VpMaking *);
  /* Sets `beyond` as in VpMetricView, but where sides hang. */
  PetscErrorCode (*finish)(const VpMaking *);
  /* entry = root a^(1/4), for K = a. Changes mean, volume and share of `made` to those of this entry. */
  PetscErrorCode (*scale)(const VpMaking *, double *entry);
  /* so [ncell] = what is so of a cell's numbers, bits. rounding: of equal numbers that were computed at different points, a fraction */
  PetscErrorCode (*compare)(const VpMaking *, double rounding, int32_t *so);
  /* affine [ncell] as in VpMetricView */
  PetscErrorCode (*affine)(const VpMaking *, double *affine);
  /* to [n][count] = numbers in a precision */
  PetscErrorCode (*numbers)(const VpNumbers *, VpPrecision, void *to);
  /* to = what functions of points need of the maps at the points of a grid, in cells (side -1) or on their sides. On the host several
     threads may call this slot at a time. Requires: maps have nodes */
  PetscErrorCode (*places)(int dim, const VpCellMaps *, const VpPlaces *, int side, const VpMapGrid *, const VpPlaceNumbers *to);
} VpMakers;

/* The nodes of own cells: nodes that several cells have are one. Values of cells are [ncell][ndof], those of nodes [nnode]. A cell has as
   many places as values unless it is wide: of degree 1, with a third place in the middle along every direction, where functions have the
   mean of both ends. */
typedef struct {
  int32_t        ncell, nnode;
  int            dim, ndof, places;
  int            wide;
  const int32_t *node;  /* [ncell][places] the node at a place of a cell, -1: none */
  const int32_t *start; /* [nnode + 1] the places of node i are place[start[i]], ..., ascending */
  const int32_t *place; /* [start[nnode]] number of the place, places cell + its number in the cell */
} VpNodeView;
/* Value i of a cell is of_cell[cell] of_node[node] times the value at its node, 0 where there is no node; of_node NULL: 1. The value of a
   wide cell's corner is the sum over its places, by the adjoint of VpWideValue(). */
struct VpGather_ {
  VpNodeView    nodes;
  const double *of_cell, *of_node;
};
/* The form of continuous functions with numbers at points (pointform.h). Sides between cells have no terms. */
typedef struct {
  VpMetricView   metric;
  int            dim, n;
  const int32_t *neighbor;                       /* [ncell][2 dim] as in VpView */
  double         square[3][VP_MAX_N * VP_MAX_N]; /* value^2, value slope, slope^2 of the nodes' functions at points, [point][function] */
  double         end[2][2][VP_MAX_N];            /* [end][value^2, value times outward slope] of these functions */
} VpPointForm;
/* The form of continuous functions: its matrices along a direction on [0,1], of functions that are 1 at one of n nodes, and what cells are.
   Wide cells have the functions of cells half as wide. */
typedef struct {
  const VpPointForm *points; /* the form, if it has numbers at points, and nothing of what follows `cells`; or NULL */
  double            *cells;  /* [ncell][n^dim] then: scratch for what cells add */
  int                n;
  double             stiff[VP_MAX_N], mass[VP_MAX_N]; /* diagonals */
  const double      *strength; /* [ncell][4] coefficient times volume / width^2 along each direction, and the reaction times the volume */
  const int32_t     *end;      /* [ncell] number of the cell's entry in `ends`, -1: it has none; NULL: no cell has */
  const double      *ends;     /* [..][2 dim] what the condition on a side adds to the stiffness at its nodes */
} VpNodeForm;
/* what a cell adds to the diagonal at one of its places */
VP_POINT double VpNodeFormEntry(const VpNodeView *v, const VpNodeForm *f, int32_t cell, int place)
{
  const int     n = v->wide ? 3 : f->n;
  const double *g = f->strength + 4 * (size_t)cell;
  const double *ends = f->end && f->end[cell] >= 0 ? f->ends + (size_t)f->end[cell] * 2 * (size_t)v->dim : NULL;
  double        sum, mass = 1;

  if (f->cells) return f->cells[(size_t)cell * (size_t)v->places + (size_t)place];
  sum = g[3];
  for (int d = 0; d < v->dim; d++, place /= n) {
    const int at = place % n, i = v->wide ? at / 2 : at, halves = v->wide && at == 1 ? 2 : 1;
    double    stiff = f->stiff[i];

    if (ends && at == 0) stiff += ends[2 * d];
    if (ends && at == n - 1) stiff += ends[2 * d + 1];
    sum += g[d] * stiff / f->mass[i];
    mass *= halves * f->mass[i];
  }
  return sum * mass;
}
/* the value at a place of a wide cell, which has the values x [2^dim] at its corners */
VP_SIZE double VpWideValue(int dim, const double *x, int place)
{
  int    low = 0, middle = 0, n = 1;
  double sum = 0;

  for (int d = 0; d < dim; d++, place /= 3) {
    low |= (place % 3 == 2) << d;
    middle |= (place % 3 == 1) << d;
  }
  sum = x[low];
  for (int m = middle; m; m = (m - 1) & middle, n++) sum += x[low | m];
  return sum / n;
}
/* The adjoint adds to corner i the values at 2^dim places: number m, in the middle along the directions of the bits of m, times *share. */
VP_SIZE int VpWidePlace(int dim, int i, int m, double *share)
{
  int place = 0;

  *share = 1;
  for (int d = dim - 1; d >= 0; d--) {
    place = 3 * place + (m >> d & 1 ? 1 : 2 * (i >> d & 1));
    *share *= m >> d & 1 ? 0.5 : 1;
  }
  return place;
}

/* A piece of work whose launches are replayed as one. It is zero at first. */
typedef struct {
  int   calls;
  void *graph;
} VpRecording;

/* Measured times of a cycle's pieces, in seconds. An iteration takes `step` in addition to its cycle. A level's sweep and transfers take
   `color` per colour and `value` per unknown. A product of the inverse along lines takes `product`, `along` per value of a line, which are
   worked on one after the other, and `pair` per unknown and value of its line; a dense product takes `product`, and `entry` per entry of
   the matrix. A solve by the finest level's inverse takes `steps` iterations. The set-up of a dense inverse takes `invert` per cube of its
   unknowns. */
typedef struct {
  double step, color, value, product, along, pair, entry, steps, invert;
} VpLevelCosts;

/* What suits one kind of processor. Code above the backends asks for these, and not which backend it has. */
typedef struct {
  const char         *matrix;       /* PETSc's type of the matrices of finite volumes; NULL: these are used only if asked for */
  PetscInt            matrix_cells; /* Matrices of fewer cells than this are on the host, where latencies are shorter. */
  const char         *vector;       /* PETSc's type of vectors on the backend; NULL: the standard one */
  PetscReal           handover;     /* the largest ratio of coefficients that a level's cell joins rather than finite volumes begin there */
  const VpLevelCosts *costs;        /* [precision] by which a cycle's number of levels is chosen; NULL: a cycle takes all levels */
  PetscInt            gather_cells; /* A level gathers on fewer ranks if each has fewer cells than this ... */
  PetscInt            gather_unknowns; /* ... or fewer unknowns than this. */
  double              most_columns;    /* unknowns per rank, of all right-hand sides that a cycle works on at once */
  double    unlike;        /* time of an iteration in which all patches differ, divided by that of one in which those of a box are equal */
  double    most_volumes;  /* cells up to which a dense inverse is the cheapest solver of finite volumes on one rank */
  double    most_dense;    /* unknowns up to which a dense inverse is the cheapest solver of the coarsest level */
  PetscBool coarse_stays;  /* No rank gathers the coarsest level for a dense inverse; sweeps are preferred to a KSP on the host. */
  PetscBool coarse_fits;   /* Patch kernels are fastest if many patches have equal tables: coefficients are fitted coarsely. */
  PetscBool sorts_patches; /* The backend finds by itself which patches at a level's end are replaceable. */
  PetscBool rehearses;     /* A first solve waits for kernels and records, so set-up runs through one. */
  PetscBool makes_lines;   /* The backend makes the lines of cells that all differ (VpLineParts). */
  PetscBool gpu_flops;     /* PETSc counts the flops as those of a GPU. */
} VpPrefers;

/* Memory and kernels of one kind of processor. Work runs in the order in which it is given. Slots that return values to the host wait for
   it. */
typedef struct {
  const char      *name;
  const VpPrefers *prefers;
  PetscErrorCode (*alloc)(size_t bytes, const char *what, void **p); /* zeroed; an error says what the memory is for, its size, and how much
                                                                        is free */
  PetscErrorCode (*release)(void *p);
  PetscErrorCode (*borrow)(size_t bytes, const char *what, void **); /* scratch memory with any contents */
  PetscErrorCode (*give_back)(void *);                               /* Work given so far may still use the memory. */
  PetscErrorCode (*upload)(const void *host, size_t bytes, void *p);
  PetscErrorCode (*download)(const void *p, size_t bytes, void *host);
  PetscErrorCode (*zero)(void *p, size_t bytes);
  PetscErrorCode (*copy)(const void *from, size_t bytes, void *to); /* both on the backend */
  /* work(context) runs concurrently with work that is given until rejoin(). NULL: all work runs in order */
  PetscErrorCode (*aside)(PetscErrorCode (*work)(void *), void *context);
  PetscErrorCode (*rejoin)(void);
  /* VecMDot: dots[i] = sum_k x[k] y[i][k], k < n, on the host. VecMAXPY: x[k] += sum_i a[i] y[i][k]. NULL: PETSc's own functions are as
     fast */
  PetscErrorCode (*mdot)(size_t n, const double *x, int count, const double *const y[], double *dots);
  PetscErrorCode (*maxpy)(size_t n, double *x, int count, const double a[], const double *const y[]);
  /* x += alpha p, r -= alpha c [n], and *square = the sum of the squares of r, on the host */
  PetscErrorCode (*descend)(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *square);
  const VpOps *(*ops)(VpPrecision, int dim, int degree);
  const VpMakers *make; /* in double precision */
  /* to[places[i]] = from[list[i]], i < n, for cells of `block` bytes. Both lists are on the backend; NULL stands for 0, 1, ... */
  PetscErrorCode (*move)(int32_t n, size_t block, const int32_t *list, const void *from, const int32_t *places, void *to);
  /* Computes M [count][n] of VpDenseInverse in double precision, and stores it on the backend in the given precision. *largest = largest
     diagonal entry of these rows of (A + weight[0] e e^T)^-1 */
  PetscErrorCode (*invert_dense)(const VpDenseInverse *, VpPrecision, void *M, double *largest);
  /* nodes[node] = of_node[node] times the sum of of_cell[cell] times the value there over the node's places, in their order, the adjoint
     of VpGather. of_node NULL: 1. cells NULL: values are 1 */
  PetscErrorCode (*scatter)(const VpNodeView *, const double *of_cell, const double *of_node, const double *cells, double *nodes);
  /* nodes [nnode] = the diagonal of a form */
  PetscErrorCode (*form_diagonal)(const VpNodeView *, const VpNodeForm *, double *nodes);
  /* x = 1/x where x > 0, else 0; one = 1 there, else 0, unless it is NULL [n] */
  PetscErrorCode (*reciprocals)(size_t n, double *x, double *one);
  /* x = step (r - y), or x += step (r - y) [n]. step NULL: 1; y NULL: 0. y may be x unless it is added to. */
  PetscErrorCode (*relax)(size_t n, PetscBool add, const double *step, const double *r, const double *y, double *x);
  /* The following slots are NULL on the host. */
  PetscErrorCode (*number_nodes)(const VpEntities *, int32_t *node); /* node [ncell][n^dim] = the numbers of nodes. Requires: one rank */
  PetscErrorCode (*list_places)(const VpNodeView *, int32_t *start, int32_t *place); /* fills the view's lists from its nodes */
  PetscErrorCode (*release_plans)(VpPlans **);     /* of a view. Required before its arrays change or go */
  PetscErrorCode (*available)(PetscBool *);        /* whether there is a device that runs these kernels */
  PetscErrorCode (*choose)(int index, int *count); /* selects device index modulo *count, the number of devices; index < 0: only counts */
  PetscErrorCode (*use_stream)(void *stream);      /* gives all further work to a stream (native handle) */
  PetscErrorCode (*wait)(void);                    /* waits for all work */
  PetscErrorCode (*memory)(double *available, double *total);             /* bytes */
  PetscErrorCode (*describe)(char text[], size_t size);                   /* the device and its software's versions */
  PetscErrorCode (*alloc_host)(size_t bytes, const char *what, void **p); /* pinned host memory */
  PetscErrorCode (*release_host)(void *);
  /* The first call runs work(context). The second call records its launches and launches the record. Later calls launch the record alone.
     Requires: work() always makes the same launches. */
  PetscErrorCode (*replay)(VpRecording *, PetscErrorCode (*work)(void *), void *context);
  PetscErrorCode (*forget)(VpRecording *);
  const VpLinks *links;       /* kinds of links; one without a name ends the list */
  size_t         patch_bytes; /* bytes per patch in plans */
} VpBackend;
/* Devices take a stream, and the host takes none. */
static inline PetscBool VpIsDevice(const VpBackend *backend)
{
  return (PetscBool)(backend->use_stream != NULL);
}
extern const VpBackend VpBackendHost, VpBackendCuda;    /* the second where VP_HAVE_CUDA */
double                 VpHostMemory(void);              /* available bytes without swapping; negative: unknown */
const VpBackend       *VpBackendFind(const char *name); /* "host", "cuda"; NULL where it was not compiled in */
