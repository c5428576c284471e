/* The contract between the algorithm and its backends: what a level looks like to a kernel (flat arrays), and what kernels there are.

   A vector of a level is an array [cells][n^dim] of the level's precision, x fastest: own cells, then ghosts (mesh.h). It holds the
   coefficients of functions (tables.h), so A stands for M^-1 A = sum_d D_d throughout. Kernels are picked once per level, by precision,
   dimension and degree.

   A x reads only the traces of a neighbour. So ghosts may also be stored per side that an own cell shares with a ghost, instead of per
   cell; of such a ghost only the coefficients that make these traces are set. Then nsweep = nown and nlocal = nown + the number of such
   sides. */
#pragma once
#include "../tables/tables.h"
#include "../compat.h"

typedef enum { VP_SINGLE, VP_DOUBLE } VpPrecision;

/* the stride along direction d of an array whose strides along x, y, z are 1, sy, sz */
VP_SIZE int VpLineStride(int d, int sy, int sz)
{
  return d == 0 ? 1 : d == 1 ? sy : sz;
}

/* A level as kernels see it, in views that different parts of the algorithm write: its cells, the patches of a smoother, its single cells,
   the edge where it ends, the transfers to the next coarser level. Matrices of one direction are row-major. `void` arrays hold numbers of
   the level's precision, on the backend. m = 2 n.

   The 2^dim cells of a patch, or children of a cell, are numbered by a bit a direction, sides by direction and end:

          y                                     3
          |   2 | 3                          +-----+
          |   --+--   1 = x, 2 = y, 4 = z   0|     |1   4 and 5 are the sides along z
          |   0 | 1                          +-----+
          +--------- x                          2 */

/* The commonest entries of a table along x, y and z. Fast kernels are made for the cells or patches that have them. inside[d] is the entry
   between cells of the same size and coefficient, so it is its own mirror image. edge[d][s] differs from inside[d] by a boundary on side s
   only. */
typedef struct {
  PetscBool found;
  int32_t   inside[3], edge[3][2]; /* -1: none */
} VpCommon;

/* Sides that hang: the cells beyond are half as large, or twice. `neighbor` has none there, and `lines` no face terms. The form of a fine
   face, between a cell u and one beyond it u', with traces V and Q in reference scaling, is a (gamma [u][v] - {q}[v] - [u]{p}), where
   [u] = s V - s' V', {q} = (r Q - r' Q')/2 and p as q for v. */
typedef struct {
  int32_t        n;
  const int32_t *cell; /* [n][7] the cell, in ascending order; its side; its number among the fine ones, or -1 where it is the coarse one;
                          beyond that the coarse one or the 2^(dim-1) fine ones, by a bit a tangential direction */
  const void    *form; /* [n][9]: s, r, s', r', gamma, and a of the 2^(dim-1) faces */
  const void    *half; /* [2 halves][n][n] P, then R (VpTransferBuild): the tangential interpolation to a half, and its adjoint */
  const void    *lift; /* [2 ends][value, slope][n] M^-1 of the traces */
} VpHangView;
enum { VP_HANG_CELL = 7, VP_HANG_FORM = 9 };
/* the first hanging side of a cell that is not before this one. Requires: the arrays are on the host */
static inline int32_t VpFirstHanging(const VpHangView *hang, int32_t cell)
{
  int32_t low = 0, high = hang->n;

  while (low < high) {
    const int32_t middle = low + (high - low) / 2;

    if (hang->cell[(size_t)middle * VP_HANG_CELL] < cell) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The cells. */
typedef struct {
  int     dim, n;
  int     nt, first[2]; /* the traces at end s of a cell are made of its coefficients [first[s], first[s] + nt) along the direction */
  int32_t nown, nsweep, nlocal;
  const int32_t *neighbor;         /* [nsweep][2 dim] a cell, or -1 - i at a boundary with the condition i, odd at an upper one; or the
                                      side hangs */
  const int32_t *line;             /* [nsweep][dim] entry of `lines` for the cell and direction */
  const void    *lines;            /* [entries][VpLineSize]: D, then g[side][value, slope][n] (VpLineBuild) */
  VpCommon       common;           /* of `lines` */
  double         outside[3][2][4]; /* [d][side] the matrix B of VpLineBoundary, with which a boundary acts like a cell beyond */
  int64_t        position;         /* of cell 0 among the cells of all ranks. Aligned blocks of 2^(dim k) consecutive positions are cubes
                                   with 2^k cells a side */
  const void    *traces;           /* [2 ends][value, slope][nt], of the coefficients first[s], ... */
  const void    *expand;           /* VpBasis.expand in the same layout: from traces to coefficients */
  const void    *enter, *leave;    /* [n][n] from and to the outer vectors' basis */
  VpHangView     hang;
  void          *device; /* what a backend keeps for this view; NULL at first */
} VpView;

/* The patches of a smoother. */
typedef struct {
  const int32_t *patch;    /* [npatch][2^dim] cells */
  const int32_t *type;     /* [npatch][dim] entry of `fdm` for the patch and direction */
  const void    *fdm;      /* [entries][VpFdmSize]: F, B, lambda (VpFdmBuild) */
  const uint8_t *mirrored; /* [entries] are its modes even and odd in turn (VpFdmIsMirrored)? */
  VpCommon       common;   /* of `fdm`, for patches whose cells all have the common lines. edge[d][0] and edge[d][1] mirror each other */
  const void    *weight;   /* [npatch] 1/s where the patch's coefficient is s times that of its tables, or NULL: 1 */
  int            lacks;    /* how many functions at a side towards another cell the space of patches lacks */
  double         reaction; /* c: a patch inverts sum(lambda) + c weight */
  double         cutoff;   /* the inverse of a sum of eigenvalues up to cutoff is 0 (only a singular coarsest level needs it; else -1) */
  const uint8_t *cover;    /* [nlocal] the colours whose patches hold the cell, a bit each */
  const void    *drop;     /* [entries of the cells' `lines`][2][VpLineSize] the line without face terms towards a cell on its lower, upper
                              side; NULL unless VP_FORM_LOCAL is used */
  const void    *unit;     /* [dim][VpLineSize] the line inside for a = 1, without reaction; NULL unless a varies over cells of one size */
  const void    *coefficient; /* [nlocal] a, where there is `unit`; then the view of the cells has `outside` */
  void          *device;      /* as of VpView */
} VpPatchView;

/* The edge where a level of an adaptive mesh ends: sides of leaves K of the next coarser level, behind which there are 2^(dim-1) cells F of
   the level. An edge patch is K and these cells:

       +-------+---+     A side's entry of `table` inverts the patch's parts one by one, A_KK by its lines, A_FF by one line along the
       |       | F |     normal and those of two cells along the other directions. Z = M (1 - G M)^-1 puts them together, where G is
       |   K   +---+     traces A_KK^-1 lift on K's side, and M what traces of K there add to themselves through A_FK, A_FF^-1 and A_KF.
       |       | F |     Z is [2 n^(dim-1)][2 n^(dim-1)], V before Q.
       +-------+---+ */
enum { VP_EDGE_COLORS = 48 };
typedef struct {
  VpHangView     sides;                     /* with K in ascending order */
  const int32_t *order;                     /* sides in the order of their patches: */
  int32_t        start[VP_EDGE_COLORS + 1]; /* those of colour c are [start[c], start[c+1]). It is on the host, as the next one */
  int32_t        kind[7];                   /* sides number s of their K are [kind[s], kind[s+1]) of: */
  const int32_t *by_kind; /* all sides, also those whose patches other ranks solve. No two of a kind have a cell in common. */
  const int32_t *type;    /* [n] entry of `table` */
  const void    *table;   /* [entries][VpEdgeSize]: the blocks of K's lines and of F's line along the normal [dim + 1][VpBlockSize]
                        (VpBlockBuild), the problems of F's other lines [dim - 1][VpFdmSize] (VpFdmBuild); Z */
  const void    *weight;  /* as of VpPatchView, where the coefficient is s times K's of the tables */
  const void    *excess;  /* [n][2^(dim-1)] by how much the coefficients of a side's faces exceed that of K's line there, or NULL: 0 */
  double         reaction;
} VpEdgeView;
VP_SIZE int VpFaceSize(int n, int dim)
{
  return dim == 3 ? n * n : n;
}
VP_SIZE int VpEdgeSize(int n, int dim)
{
  return (dim + 1) * VpBlockSize(n) + (dim - 1) * VpFdmSize(n) + 4 * VpFaceSize(n, dim) * VpFaceSize(n, dim);
}

/* Single cells, each solved by itself. */
typedef struct {
  const int32_t *cell;   /* own cells in the order of their colours */
  const int32_t *type;   /* [cells][dim] entry of `table` for the cell and direction */
  const void    *table;  /* [entries][VpBlockSize]: F, B, lambda (VpBlockBuild) */
  const void    *weight; /* [cells] 1/s where the cell's coefficient is s times that of its tables, or NULL: 1 */
  double         reaction;
} VpCellView;

/* How a cell lies in its parent along a direction: as its first half, its second half, all of it, or one of two unequal parts. */
enum { VP_FIRST_HALF, VP_SECOND_HALF, VP_WHOLE, VP_PART };

/* The transfers to the next coarser level. */
typedef struct {
  const void    *P, *R;   /* [2 entries][n][n] (VpTransferBuild): of the halves, then of each pair of unequal parts */
  PetscBool      reverse; /* does a mirror reverse the order of the basis, or change the sign of every second function (VpBasisMirror)? */
  const int32_t *parent;  /* [cells] the parent, a cell of the coarser level */
  const uint8_t *corner;  /* [cells] how the cell lies in it, 2 bits a direction, x lowest */
  const int32_t *table;   /* [cells][dim] the matrix where this is VP_PART; NULL: nowhere */
  const int32_t *child;   /* [ncoarse][2^dim] those that are upper in the directions that are bits; -1: none */
  int32_t        ncoarse; /* own cells of the coarser level */
  int            merged;  /* the directions in which some of them have two children, as bits */
  PetscBool      halves;  /* is every cell a half of its parent in every direction? */
  void          *device;  /* as of VpView */
} VpTransferView;

/* Where a patch gets its residual. */
typedef enum {
  VP_FORM_REPLACE, /* x = A_j^-1 (b - what the neighbours' traces add). The patch's old values are not read. Requires: space full, no mixed
                      side, one coefficient on the whole level */
  VP_FORM_EXACT,   /* x += A_j^-1 (b - A x) */
  VP_FORM_LOCAL,   /* x += A_j^-1 (b - Abar x), Abar without face terms on the patch's sides towards other cells */
  VP_FORM_GIVEN    /* x += A_j^-1 b: b is the residual */
} VpForm;

/* Patches [first, last) of one colour of a view, that get their residual the same way: a step of a sweep. */
typedef struct {
  const VpPatchView *patches;
  int                color; /* bit of `cover` */
  int32_t            first, last;
  VpForm             form;
} VpSweepStep;

/* Values of the cells nown, nown+1, ..., perhaps under way. A kernel does the work that needs none of them, calls VpArrive, then does the
   rest; `apply` and `enter_residual` call VpArrive in any case. */
typedef struct {
  const void *values;
  PetscErrorCode (*arrive)(void *context); /* waits for them the first time it is called; NULL: they are there */
  void *context;
} VpGhosts;

static inline VpGhosts VpGhostsAt(const void *values)
{
  VpGhosts there = {values, NULL, NULL};

  return there;
}
static inline PetscErrorCode VpArrive(VpGhosts ghosts)
{
  PetscFunctionBegin;
  if (ghosts.arrive) PetscCall(ghosts.arrive(ghosts.context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid of points in a cell, x fastest: count[d] of them along d, 1 along the normal of a side that they are on, and along a third
   direction that there is not. matrix[d], [count[d]][n], takes coefficients along d to what is wanted at the points, or back if
   transposed. With all of them a cell of the size h has the factor sqrt(h_x^power[0] h_y^power[1] h_z^power[2]). */
enum { VP_MAX_NQ = VP_MAX_N + 2 };
typedef struct {
  int    count[3], power[3];
  double x[3][VP_MAX_NQ], w[3][VP_MAX_NQ]; /* in [0,1]; the weights of integrals over the reference cell, or its side */
  double matrix[3][VP_MAX_NQ * VP_MAX_N];
} VpGrid;

/* The n cells that have a grid: list[i], or first + i where there is no list. */
typedef struct {
  int32_t        n, first;
  const int32_t *list;
  const double  *bounds; /* [n][lower corner, size][3]; in 2D 0 and 1 in the third direction */
  const double  *weight; /* [n] another factor, or NULL: 1 */
} VpPlaces;

/* the number of points of a cell */
VP_SIZE int VpGridSize(const VpGrid *grid)
{
  return grid->count[0] * grid->count[1] * grid->count[2];
}
/* h_x^power[0] h_y^power[1] h_z^power[2] */
VP_SIZE double VpGridPower(const int power[3], const double size[3])
{
  double product = 1;

  for (int d = 0; d < 3; d++) {
    for (int i = 0; i < power[d]; i++) product *= size[d];
    for (int i = 0; i > power[d]; i--) product /= size[d];
  }
  return product;
}

/* A = D_x + D_y + D_z + c on a lattice of cells, diagonalised: along d a line has m = extent[d] n values and as many modes. */
enum { VP_LONGEST_LINE = 320 }; /* the most values */
typedef struct {
  int32_t        extent[3];     /* cells; in 2D 1 along the third direction */
  const int32_t *cell;          /* [extent 2][extent 1][extent 0] the cell there; this and the following on the backend */
  const void    *to[3];         /* [m][m] row k: what value k adds to each mode */
  const void    *from[3];       /* [m][m] row k: what mode k adds to each value */
  const void    *eigenvalue[3]; /* [m] of the modes; those of the last direction contain c */
} VpSeparable;

/* Sides of cells of a lattice towards cells that are missing in it, as in a notch of a box. Arrays of values hold both sorts of cells. For
   every line that crosses such a side there are two sums over the values of the line in the cell and in the missing one:

          t[f] = sum_i take[f][0][i] x[i] + take[f][1][i] missing x[i]       f = 0, 1

   and what w[f] of such sums adds to the values is add[f][0][i] w[f] and add[f][1][i] w[f]. Sums are [f][side][line], lines in the order of
   their values on the side. */
typedef struct {
  int32_t        n, ncell;   /* sides; the cells beside them, missing ones included */
  const int32_t *side;       /* [n][VP_NOTCH_SIDE] the cell, the missing one, 2 dim entry of the tables + the cell's side */
  const int32_t *cell;       /* [ncell][VP_NOTCH_CELL] a cell, and what side lies on each of its own sides, or -1 */
  const void    *take, *add; /* [entries][2 f][cell, missing][n] */
} VpNotch;
enum { VP_NOTCH_SIDE = 3, VP_NOTCH_CELL = 7 };

/* Entries of a symmetric matrix K of sums over modes of three directions,

       K[row][column] = sum_k W[k][a] W[k][a'] sum_mn alpha[m][j] gamma[m][i] beta[n][i] / (lambda[0][k] + lambda[1][m] + lambda[2][n]),

   where a row has an a and a j, a column an a' and an i. All on the host. */
typedef struct {
  int32_t        modes[3], a, j, i; /* how many there are */
  const double  *lambda[3], *W, *alpha, *beta, *gamma;
  int32_t        rows, columns, size; /* rows and columns of these entries; rows of K */
  const int32_t *row, *column;        /* [..][3] number in K, a, j; number in K, a', i */
} VpCouple;

/* The inverse of a symmetric matrix A on values of cells as a dense matrix M,

       M = E ((A + weight[0] e e^T)^-1 + weight[1] e e^T) L,

   where L takes values in a level's basis to those that A is for, and E takes such values back, a cell at a time. No leading part of
   A + weight[0] e e^T, its first rows and columns, is singular. All but `rows` on the host. */
typedef struct {
  int32_t            n, first, count; /* rows of A; those of M that are wanted, [first, first + count): whole cells */
  const PetscInt    *start, *column;  /* row i of A is the entries [start[i], start[i+1]) */
  const PetscScalar *value;
  const double      *rows;          /* [n][n], on the backend, to be added to A, or NULL */
  const double      *one;           /* e [n], or NULL: 0 */
  double             weight[2];     /* the first of them leaves no eigenvalue at or near 0 */
  int                dim, order;    /* a cell has order^dim values, x fastest */
  const double      *enter, *leave; /* [order][order] E and L along a direction; NULL: both are 1 */
} VpDenseInverse;

/* the step that takes x + t e to where (b - A x, e) = 0, from (e, b - A x) and (e, A e) */
VP_SIZE double VpStepLength(const double dots[2])
{
  return dots[1] > 0 ? dots[0] / dots[1] : 0;
}

/* The kernels. A count n, or a range [first, last), says how much of what it names a kernel works on; lists are on the backend.

   A smoother's x has two buffers, x[0] and x[1]. `done` is the set of colours, a bit each, that the sweep has been through. The current
   values of a cell are in x[popcount(cover[cell] & done) & 1]. Patches of a colour read current values and write the other buffer, so that
   none of them sees what another one writes. */
typedef struct {
  /* y = A x, or y = b - A x where b is not NULL, on cells [first, last). Requires: last <= nsweep */
  PetscErrorCode (*apply)(const VpView *, int32_t first, int32_t last, const void *x, VpGhosts, const void *b, void *y);
  /* Solves on the patches [first, last). Requires: they are of one colour. */
  PetscErrorCode (*sweep)(const VpView *, const VpPatchView *, VpForm, int32_t first, int32_t last, unsigned done, const void *b,
                          void *const x[2]);
  /* Does n steps of sweeps that begin with the values in x[0], one after the other; those that follow one another with the same view and
     colour go together. A backend does so where this is faster than step by step; else *did = PETSC_FALSE and nothing has changed. Ensures:
     if *did, x[0] has the current values of cells [0, count), and the ghosts of b or x that were under way have arrived. NULL where a
     backend never does. Requires: n > 0, no form is VP_FORM_GIVEN, a view has all its patches of a colour in such neighbouring steps, and
     steps that begin with the same view, colour and n are always the same. */
  PetscErrorCode (*sweep_all)(const VpView *, int n, const VpSweepStep[], int32_t count, VpGhosts, const void *b, void *const x[2],
                              PetscBool *did);
  /* x += A_c^-1 r on cells c = cell[first], ..., cell[last - 1], where A_c is the cell's own block of A */
  PetscErrorCode (*solve_cells)(const VpView *, const VpCellView *, int32_t first, int32_t last, const void *r, void *x);
  /* b += sign A_FK xc on the cells F of all edge patches, xc being of the coarser level */
  PetscErrorCode (*add_coarse)(const VpView *, const VpEdgeView *, int sign, const void *xc, void *b);
  /* bc -= A_KF x on the leaves K, and what their values xc add to A x beyond what the coarser level adds, there and on
     the cells beyond that were refined */
  PetscErrorCode (*subtract_fine)(const VpView *, const VpView *coarse, const VpEdgeView *, const void *x, const void *xc, void *bc);
  /* Solves on the edge patches [first, last) of `order`: x and xc gain what removes the residuals of F and K. Requires: they
     are of one colour; A_FK xc has been taken from b, as from bc where its level ends. Ensures: the same of the new xc. */
  PetscErrorCode (*solve_edges)(const VpView *, const VpView *coarse, const VpEdgeView *, int32_t first, int32_t last, void *b, void *x,
                                const void *bc, void *xc);
  /* x[0] = the current values, on cells [0, count) */
  PetscErrorCode (*settle)(const VpPatchView *, int32_t count, unsigned done, void *const x[2]);
  /* to[i] = the current values of cell list[i] */
  PetscErrorCode (*current)(const VpPatchView *, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to);
  /* x = P xc, or x += P xc, on cells [first, last) of the fine level */
  PetscErrorCode (*prolong)(const VpTransferView *, int32_t first, int32_t last, PetscBool add, const void *xc, void *x);
  /* bc = R b on the coarser level's own cells */
  PetscErrorCode (*restrict_)(const VpTransferView *, const void *b, void *bc);
  /* Traces on sides of cells; list[i] = 2 dim cell + side. to[i] = V and Q, [2][n^(dim-1)], of x there. Unpacking writes nt coefficients
     of every line that carry traces there: those of least norm whose V and Q are from[i]. */
  PetscErrorCode (*pack_traces)(const VpView *, int32_t n, const int32_t *list, const void *x, void *to);
  PetscErrorCode (*unpack_traces)(const VpView *, int32_t n, const int32_t *list, const void *from, void *x);
  /* x[0] = A^-1 b, where sums of eigenvalues that are 0 count as infinite. x[1] is room for as many numbers. n > 1: for as many vectors of
     own cells, one after the other; requires: all cells are own. */
  PetscErrorCode (*invert)(const VpView *, const VpSeparable *, int32_t n, const void *b, void *const x[2]);
  /* t = the sums of x; b -= what w adds */
  PetscErrorCode (*take_notch)(const VpView *, const VpNotch *, const void *x, void *t);
  PetscErrorCode (*add_notch)(const VpView *, const VpNotch *, const void *w, void *b);
  /* y[k][i] = sum_j M[i][j] x[k][j], where M is [rows][columns], for k < n */
  PetscErrorCode (*product)(const VpView *, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y);
  /* dots[0] = (e, r) and dots[1] = (e, w) in L2 over this rank's own cells, in double precision; dots is on the backend. */
  PetscErrorCode (*dots)(const VpView *, const void *e, const void *r, const void *w, double *dots);
  /* y = z + sign t w (z NULL: y = sign t w) on cells [0, cells), with the t of VpStepLength(dots) */
  PetscErrorCode (*step)(const VpView *, int32_t cells, double sign, const double *dots, const void *w, const void *z, void *y);
  /* b = scale r on own cells, from an outer vector. The factor is applied in double precision. */
  PetscErrorCode (*enter)(const VpView *, double scale, const double *r, void *b);
  /* b = scale (f - A x), or scale f where x is NULL, from outer vectors; `outer` views the outer operator. *norm2 = this rank's sum
     of squares of the scaled residual, unless NULL. */
  PetscErrorCode (*enter_residual)(const VpView *, const VpView *outer, double scale, const double *x, VpGhosts, const double *f, void *b,
                                   double *norm2);
  /* z = scale x, or z += scale x, on own cells, to an outer vector. The factor is applied in double precision. */
  PetscErrorCode (*leave)(const VpView *, PetscBool add, double scale, const void *x, double *z);

  /* Functions at points, in outer vectors. These slots are NULL in single precision. Places i have values[i][points]. The host's may be
     called by several threads at a time. */
  /* x[i][point][dim] */
  PetscErrorCode (*coordinates)(const VpView *, const VpPlaces *, const VpGrid *, double *x);
  /* values[i][point][n] = factor (matrix[2] x matrix[1] x matrix[0]) x, by n grids that have the same points */
  PetscErrorCode (*evaluate)(const VpView *, const VpPlaces *, int n, const VpGrid[], const double *x, double *values);
  /* b = factor (matrix[2] x matrix[1] x matrix[0])^T values in these cells, or b += that. Requires: no cell is listed twice. */
  PetscErrorCode (*integrate)(const VpView *, const VpPlaces *, const VpGrid *, PetscBool add, const double *values, double *b);
  /* *sum += the integral over the cells of |u - v|^2, u as of evaluate, v = values[i][point][n] */
  PetscErrorCode (*distance)(const VpView *, const VpPlaces *, int n, const VpGrid[], const double *x, const double *values, double *sum);
  /* values[i] = a function at a point of its own in cell[i], where the basis functions along d have the values basis[i][d][n] */
  PetscErrorCode (*probe)(const VpView *, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values);
} VpOps;

/* a piece of work whose launches are replayed as one; zero at first */
typedef struct {
  int   calls;
  void *graph;
} VpRecording;

/* Memory and kernels of one kind of processor. Its work is in order; slots that hand something to the host wait for it. */
typedef struct {
  const char *name;
  PetscErrorCode (*alloc)(size_t bytes, const char *what, void **p); /* zeroed; its errors say what the memory is for, how much it is, and
                                                                        how much is free */
  PetscErrorCode (*release)(void *p);
  PetscErrorCode (*upload)(const void *host, size_t bytes, void *p);
  PetscErrorCode (*download)(const void *p, size_t bytes, void *host);
  PetscErrorCode (*zero)(void *p, size_t bytes);
  PetscErrorCode (*copy)(const void *from, size_t bytes, void *to); /* both on the backend */
  const VpOps *(*ops)(VpPrecision, int dim, int degree);
  /* cells of `block` bytes, list on the backend: to[i] = from[list[i]]; to[list[i]] = from[i] */
  PetscErrorCode (*pack)(int32_t n, size_t block, const int32_t *list, const void *from, void *to);
  PetscErrorCode (*unpack)(int32_t n, size_t block, const int32_t *list, const void *from, void *to);
  /* M [count][n], numbers of the precision on the backend, from what is on the host; the work is done in double precision. *largest: number
     on the diagonal of these rows before the second multiple of e e^T, E and L. */
  PetscErrorCode (*invert_dense)(const VpDenseInverse *, VpPrecision, void *M, double *largest);
  /* fills these entries of K, which is on the backend */
  PetscErrorCode (*couple)(const VpCouple *, double *K);
  /* These are NULL on the host. */
  PetscErrorCode (*release_plans)(void **device);  /* of a view. Required before its arrays change or go */
  PetscErrorCode (*available)(PetscBool *);        /* is there a device, and does it run these kernels? */
  PetscErrorCode (*choose)(int index, int *count); /* the device index modulo their number, for this process; index < 0: only count */
  PetscErrorCode (*use_stream)(void *stream);      /* work goes there (its native handle) from now on */
  PetscErrorCode (*wait)(void);                    /* for all work */
  PetscErrorCode (*memory)(double *available, double *total);             /* bytes */
  PetscErrorCode (*describe)(char text[], size_t size);                   /* the device and its software's versions */
  PetscErrorCode (*borrow)(size_t bytes, const char *what, void **);      /* memory for a short while, with any contents ... */
  PetscErrorCode (*give_back)(void *);                                    /* ... that the work given so far may still use */
  PetscErrorCode (*alloc_host)(size_t bytes, const char *what, void **p); /* host memory that is copied fast */
  PetscErrorCode (*release_host)(void *);
  /* The first call runs work(context), the second one records it and launches the record, later ones launch the record alone. Requires: its
     launches are always the same. */
  PetscErrorCode (*replay)(VpRecording *, PetscErrorCode (*work)(void *), void *context);
  PetscErrorCode (*forget)(VpRecording *);
  const struct VpLinks_ *links; /* between the devices of ranks (src/communication/messages.h) */
} VpBackend;
extern const VpBackend VpBackendHost, VpBackendCuda;    /* the second where VP_HAVE_CUDA */
double                 VpHostMemory(void);              /* bytes that can be had without swapping; negative: unknown */
const VpBackend       *VpBackendFind(const char *name); /* "host", "cuda"; NULL where it was not compiled in */
