/* What a level looks like to a kernel: flat arrays.

   A vector of a level is an array [cells][n^dim] of the level's precision, x fastest: own cells, then ghosts (mesh.h). It holds the
   coefficients of functions (tables.h), so A stands for M^-1 A = sum_d D_d throughout. Kernels are picked once per level, by precision,
   dimension and degree.

   A x reads only traces of neighbours. So ghosts may also be stored per side that an own cell shares with a ghost, instead of per cell.
   Then only the coefficients that make the traces on this side are set, nsweep = nown, and nlocal = nown + the number of such sides. */
#pragma once
#include "../tables/tables.h"
#include "../tables/turn.h"
#include "../compat.h"

typedef enum { VP_SINGLE, VP_DOUBLE } VpPrecision;
/* bytes of a number */
VP_SIZE size_t VpRealBytes(VpPrecision precision)
{
  return precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
}
/* what a backend keeps for a view: tables and lists of its own */
typedef struct VpPlans VpPlans;

/* the stride along direction d of an array whose strides along x, y, z are 1, sy, sz */
VP_SIZE int VpLineStride(int d, int sy, int sz)
{
  return d == 0 ? 1 : d == 1 ? sy : sz;
}

/* offset of line l along a direction with this stride, in an array with n values per line */
VP_SIZE int VpLineStart(int n, int stride, int l)
{
  return l % stride + l / stride * stride * n;
}

/* Views of a level: its cells, the patches of a smoother, its single cells, the interface patches at its end, the transfers to the next
   coarser level. Matrices of one direction are row-major. `void` arrays hold numbers of the level's precision, on the backend. m = 2 n.

   The 2^dim cells of a patch, or children of a cell, are numbered by one bit per direction, sides by direction and end:

          y                                     3
          |   2 | 3                          +-----+
          |   --+--   1 = x, 2 = y, 4 = z   0|     |1   4 and 5 are the sides along z
          |   0 | 1                          +-----+
          +--------- x                          2 */

/* The most frequent entries of a table along x, y and z. Fast kernels are made for the cells or patches that have them. inside[d] is an
   entry between cells of equal size and coefficient, so it is its own mirror image. bounded[d][s] differs from inside[d] only by a boundary
   on side s, and hanging[d][s] only by a side s that hangs. */
typedef struct {
  PetscBool found;
  int32_t   inside[3], bounded[3][2], hanging[3][2]; /* -1: none */
} VpCommon;
enum { VP_MOST_SIZES = 8 };

/* Sides that hang: the cells beyond are half or twice as large. There `neighbor` has VP_HANGING, and `lines` have no face terms. The form
   of a fine face, between a cell (u) and one beyond it (u') with traces V and Q in reference scaling, is a (gamma [u][v] - {q}[v] -
   [u]{p}). Here [u] = s V - s' V', {q} = (r Q - r' Q')/2, and {p} is the same for v. */
typedef struct {
  int32_t       n;
  const VpFace *face; /* [n] with their cells in ascending order */
  const void   *form; /* [n][VP_HANG_FORM]: s, r, from VP_HANG_OTHER on s', r', then gamma, from VP_HANG_A on a of the 2^(dim-1) faces,
                         and from VP_HANG_EXCESS on by how much each a is larger than the coefficient in the cell's line at this side */
  const void   *half; /* [2 halves][n][n] P, then R (VpTransferBuild): the tangential interpolation to a half, and its adjoint */
  const void   *lift; /* [2 ends][value, slope][n] M^-1 of the traces */
} VpHangView;
enum { VP_HANG_OTHER = 2, VP_HANG_GAMMA = 4, VP_HANG_A, VP_HANG_EXCESS = VP_HANG_A + 4, VP_HANG_FORM = VP_HANG_EXCESS + 4 };
/* Defines a function of the form of a fine face with the coefficient a, for a type of numbers. The traces *v, *q of a cell become the
   factors of value and slope of the cell's test functions. v2, q2: traces beyond. turned: 1 if the cell is one of those beyond, else 0 */
#define VP_FACE_FORM(function, Number) \
  function(const Number *form, int turned, Number a, Number *v, Number *q, Number v2, Number q2) \
  { \
    const Number *own = form + turned * VP_HANG_OTHER, *other = form + (1 - turned) * VP_HANG_OTHER; \
    const Number  jump = own[0] * *v - other[0] * v2, mean = (own[1] * *q - other[1] * q2) / 2; \
\
    *v = a * (form[VP_HANG_GAMMA] * jump - mean) * own[0]; \
    *q = -a * jump / 2 * own[1]; \
  }
/* An operator with a coefficient at points, in the Gauss basis. z = scale factor x are a cell's coefficients in the basis phihat_q, and
   A is

     sum_q G grad z . grad z'  in cells,      sum_t sigma [z] z' - {F(z)} z' - [z] F(z') / 2  on their sides.

   Here the gradient is that of the reference cell, q and t are Gauss points of the cell and of its side, V is z on the side, F = H . grad z
   outward, [z] = V - V', {F} = (F - F') / 2, and V', F' are those of the cell beyond in its own outward direction, or 0 at a boundary. The
   numbers w of the points are in the basis functions. At Dirichlet sides H is 2 G, at other conditions 0.

   Sides that hang are integrated at the points of the fine ones. On each of these, a part of the coarse side, V and F of the coarse cell
   are those of a cell whose reference coordinates along the side are the fine cell's. H and sigma of the whole coarse side are 0.

     components    G                          H at a side with the normal d
     dim           xx, yy, zz                 dd
     dim(dim+1)/2  xx, xy, xz, yy, yz, zz     dd, then towards the other directions in ascending order, + on an upper side, - on a lower */
typedef struct {
  int            components;
  int            spread;    /* numbers of a row of H: n^(dim-1), or 1 where H is the same on all of a side */
  VpPrecision    precision; /* of cell, side and factor */
  int32_t        period;    /* cell c has the numbers of cell c modulo period */
  const void    *cell;      /* [period][components][n^dim] G; with `affine` [period][n^dim] a, or NULL: 1 */
  const void    *side;      /* [period][2 dim][VpMetricRows][spread] H; with `affine` [period][2 dim][spread] H_dd */
  const double  *affine;    /* [period][VpMetricAffine] S, where G = a S, then [d][VpMetricRows - 1] H / H_dd on upper sides; or NULL */
  const double  *penalty;   /* [period] k (k + 1) times the cell's factor */
  const double  *beyond;    /* [period][2 dim][n^(dim-1)] sigma - penalty H_dd, which is penalty' H_dd' of the cell beyond */
  const double  *mass;      /* [period][n^dim] c of the reaction */
  const double  *scale;     /* [period] 1/sqrt(volume of the cell's box), or of the cell if cells are parallelepipeds */
  const void    *factor;    /* [period][n^dim] `root`, where G is a full matrix and there is no `affine`; NULL: 1 */
  const double  *root;      /* [period][n^dim] 1/sqrt(volume factor of the map); NULL: 1 */
  const double  *slope;     /* [n][n] row q: sqrt(w_q) phihat_i'(x_q) */
  const double  *end;       /* [2 ends][value, outward slope][n] of the functions phihat_i */
  const double  *weight;    /* [n] roots of the points' weights along a direction */
  const double  *flux[6];   /* [side] [place of its cells where a flux is given][n^(dim-1)] by what fluxes are multiplied there */
  int32_t        traced;    /* on adaptive meshes the cells that have `traces`, all that A x reads; else 0 */
  double        *traces;    /* [traced, or VpTracedAtOnce][2 dim][V, F][n^(dim-1)] of x, scratch; NULL on a device */
  const int32_t *first;     /* [hang.n] the first part of a side that hangs: a coarse one has 2^(dim-1) parts, a fine one has 1 */
  const double  *part;      /* [parts][VpMetricRows + 1][n^(dim-1)] H of the coarse cell, then sigma, at the points of a fine side */
  const double  *half;      /* [2 halves][n][n] row q: from coefficients along a coarse side to those along its half */
  double        *parted;    /* [parts][V, F][n^(dim-1)] of the coarse cells, scratch; NULL on a device */
} VpMetricView;
VP_SIZE int VpMetricRows(int dim, int components)
{
  return components > dim ? dim : 1;
}
/* how many cells have traces at once: a power of two, with 2^16 numbers at most, which stay in a cache */
VP_SIZE int VpTracedAtOnce(int dim, int n)
{
  const int numbers = 4 * dim * (dim == 3 ? n * n : n);
  int       cells = 1;

  while (2 * cells * numbers <= 1 << 16) cells *= 2;
  return cells;
}
VP_SIZE int VpMetricAffine(int dim, int components)
{
  return components + dim * (VpMetricRows(dim, components) - 1);
}
/* most cells beyond one side, where `hanging` sides of the mesh hang; most cells beyond all sides of a cell */
enum { VP_MOST_BEYOND = 24 };
VP_SIZE int VpMostBeyond(int dim, int hanging)
{
  return hanging ? 1 << (dim - 1) : 1;
}
/* number of the entry (d, e) of a symmetric matrix, or of a diagonal one (e = d) */
VP_SIZE int VpMetricEntry(int dim, int components, int d, int e)
{
  const int low = d < e ? d : e, high = d < e ? e : d;

  return components > dim ? low * (2 * dim - low - 1) / 2 + high : d;
}
/* What lines consist of in addition to a view's `unit` and `coefficient`, where they differ from cell to cell: a backend that makes lines
   by itself (VpPrefers.makes_lines) does so for the kernels that read some. */
typedef struct {
  double        penalty;   /* k (k + 1) times the factor of penalties */
  double        reaction;  /* in every line */
  double        h[3];      /* size of all cells */
  const double *condition; /* [boundary][3] mean, then of gamma what is divided by h, and the rest */
  const void   *volume;    /* [nlocal] volume of a cell relative to its size; NULL: no side weighs by volumes */
} VpLineParts;

typedef struct VpGather_ VpGather; /* ops.h */

/* The cells. */
typedef struct {
  int             dim, n;
  int             nt, first[2]; /* traces at end s of a cell are made of its coefficients [first[s], first[s] + nt) along the direction */
  int32_t         nown, nsweep, nlocal;
  const int32_t  *neighbor; /* [nsweep][2 dim] a cell, or a code: of a boundary (VpBoundaryAt), whose entry is odd on an upper
                                         side, of a side that hangs (VP_HANGING), or of the level's end (VP_LEVEL_END) */
  const uint8_t  *turn;     /* [nsweep][2 dim] how the cell beyond a side is turned (tables/turn.h); NULL: none is */
  const int32_t  *line;     /* [nsweep][dim] entry of `lines` for the cell and direction */
  const void     *lines;    /* [entries][VpLineSize]: D, then g[side][value, slope][n] (VpLineBuild); NULL: there are `parts` */
  VpLineParts     parts;
  VpCommon        common;                           /* of `lines` */
  int             nsize;                            /* number of other cell sizes, on adaptive meshes */
  VpCommon        size[VP_MOST_SIZES];              /* the common lines of these sizes */
  double          hanging[1 + VP_MOST_SIZES][3][3]; /* [common, then sizes][d] VpLineLift of these lines */
  const void     *unit;             /* [dim][VpLineSize] the line inside for a = 1, without reaction; NULL unless a varies over cells of one
                                      size */
  const void     *coefficient;      /* [nlocal][directions] a, if there is `unit` */
  const uint8_t  *weighed;          /* [nsweep] a bit per side that weighs by volumes, where the cell's lines and not `unit` say what A is;
                                      NULL: none does, or there is no `turn` */
  int             directions;       /* 1, or dim where a is a diagonal tensor */
  double          reaction;         /* of cells, if there is `unit` */
  double          outside[3][2][4]; /* [d][side] the matrix B of VpLineBoundary, with which a boundary acts like a cell beyond */
  double          ending[4];        /* the same matrix of the level's end, for lines that are `inside` otherwise */
  int64_t         position;         /* number of cell 0 among the cells of all ranks. If boxes are halved equally often in all directions,
                                      aligned blocks of 2^(dim k) cells are cubes */
  const void     *traces;           /* [2 ends][value, slope][nt], of the coefficients first[s], ... */
  const void     *expand;           /* VpBasis.expand in the same layout: from traces to coefficients */
  const VpBasis  *basis;            /* the level's basis, on the host: traces and expand are made from it */
  const void     *enter, *leave;    /* [n][n] from and to the outer vectors' basis */
  const VpGather *gather; /* What enters without x, or leaves an outer level, is read from values at nodes; NULL: from those of cells */
  VpHangView      hang;
  VpMetricView    metric; /* of an outer level in the Gauss basis; then there are no `lines`. components 0: none */
  VpPlans        *plans;  /* NULL until prepare() (VpOps) */
} VpView;

/* The patches of a smoother. */
typedef struct {
  const int32_t *patch;    /* [npatch][2^dim] cells */
  const uint8_t *frame;    /* [npatch][2^dim] frames of the cells on the patch's axes (tables/turn.h); NULL: 0 */
  const int32_t *type;     /* [npatch][dim] entry of `fdm` for the patch and direction */
  const void    *fdm;      /* [entries][VpFdmSize]: F, B, lambda (VpFdmBuild) */
  const uint8_t *mirrored; /* [entries] whether its modes are alternately even and odd (VpFdmIsMirrored) */
  VpCommon    common; /* of `fdm`, for patches whose cells all have the common lines. bounded[d][0] and bounded[d][1] mirror each other */
  const void *factor; /* [npatch][dim + 1] s of every direction, along which the patch's coefficient is s times that of its tables, then its
                         reaction; or NULL: 1, and `reaction` */
  const uint8_t *replaceable; /* [npatch] Bit 0: the tables are those of A on the patch itself, so that VP_MODE_REPLACE gives the same as
                                 VP_MODE_CORRECT. Bit 1 + side: the level ends beyond some cells of that side, where A is as view.ending
                                 says, while the tables have cells beyond all of it. NULL: 0 */
  int            lacks;       /* how many functions at a side towards another cell the space of patches lacks */
  double         reaction;    /* c: a patch inverts sum_d s_d lambda_d + c */
  double         cutoff;      /* The inverse of a sum of eigenvalues up to cutoff is 0. Only a singular coarsest level needs it; else it is
                              -1. */
  const uint8_t *cover; /* [nlocal] the colours whose patches have the cell, a bit each. The view has VP_COVER_COLORS of them at most */
  const void    *drop;  /* [entries of the cells' `lines`][2][VpLineSize] the line without face terms towards a cell on its lower, upper
                              side; NULL unless VP_MODE_LOCAL is used */
  VpPlans       *plans; /* as in VpView */
} VpPatchView;

/* The interface patches at a level's end: sides of leaves K of the next coarser level, beyond which there are 2^(dim-1) cells F of the
   level. A patch is K and these cells:

       +-------+---+     A side's entry of `table` inverts A_KK by K's lines, and A_FF by one line along the normal and lines of two cells
       |       | F |     along other directions. Z = M (1 - G M)^-1 couples both blocks. G takes a lift t on K's side to the traces of
       |   K   +---+     A_KK^-1 t there. M takes traces of K there to what they add to themselves through A_FK, A_FF^-1 and A_KF.
       |       | F |     Z is [column][row], 2 n^(dim-1) of each, V before Q.
       +-------+---+

   The values of all F are one array with n values along the side's normal and 2n along other directions. */
enum { VP_INTERFACE_COLORS = 48 };
typedef struct {
  VpHangView     sides;                   /* with K in ascending order */
  const int32_t *around;                  /* [n][2 dim] the sides of the same K; -1 where the cells beyond are not finer */
  const int32_t *order;                   /* sides in the order of the steps of their patches */
  int32_t start[VP_INTERFACE_COLORS + 1]; /* step c is [start[c], start[c+1]) of `order`: one colour, or several with the result of colour
                                               by colour */
  int32_t kind[7];                        /* sides number s of leaves are [kind[s], kind[s+1]) of by_kind; on the host, as start */
  const int32_t *by_kind;                 /* all sides, also those whose patches other ranks solve. No two sides of a kind share a cell. */
  const int32_t *type;                    /* [n] entry of `table` */
  int32_t        ntype;
  const void    *table;  /* [ntype][VpInterfaceSize]: blocks [dim + 1][VpBlockSize] of K's lines and of F's line along the normal
                            (VpBlockBuild); problems [dim - 1][VpFdmSize] of F's other lines (VpFdmBuild); the sums of eigenvalues of K's
                            modes and of those of all F; [K, F][traces, what they get of lifts][V, Q][n] of the modes along the normal at
                            the side; Z */
  const void    *weight; /* [n] 1/s where K's coefficient is s times that of its tables. NULL: the coefficient is the same everywhere */
  double         reaction;
} VpInterfaceView;
VP_SIZE int VpFaceSize(int n, int dim)
{
  return dim == 3 ? n * n : n;
}
/* number of trace l of the i-th cell F among the traces of all F on the side, [2n] or [2n][2n] */
VP_SIZE int VpInterfaceTrace(int n, int i, int l)
{
  return (i & 1) * n + l % n + ((i >> 1) * n + l / n) * 2 * n;
}
/* offset of the table of K's lines or, if fine is 1, of F's lines along d, in an entry whose blocks and problems have these sizes. normal:
   the direction across the side. With d = dim it is the size of all these tables. */
VP_SIZE int VpInterfaceLine(int block, int problem, int dim, int normal, int fine, int d)
{
  return !fine ? d * block : d == normal ? dim * block : (dim + 1) * block + (d - (d > normal)) * problem;
}
/* offsets in an entry of VpInterfaceView.table: of sums of eigenvalues, of traces or (lifted) what modes get of lifts, and of Z; size of an
   entry [numbers] */
VP_SIZE int VpInterfaceSums(int n, int dim, int fine)
{
  return VpInterfaceLine(VpBlockSize(n), VpFdmSize(n), dim, 0, 1, dim) + fine * n * VpFaceSize(n, dim);
}
VP_SIZE int VpInterfaceEnds(int n, int dim, int fine, int lifted)
{
  return VpInterfaceSums(n, dim, 1) + (n << (dim - 1)) * VpFaceSize(n, dim) + (2 * fine + lifted) * 2 * n;
}
VP_SIZE int VpInterfaceZ(int n, int dim)
{
  return VpInterfaceEnds(n, dim, 2, 0);
}
VP_SIZE int VpInterfaceSize(int n, int dim)
{
  return VpInterfaceZ(n, dim) + 4 * VpFaceSize(n, dim) * VpFaceSize(n, dim);
}
/* K or, if fine is 1, all F as one: numbers of values along directions, and offsets of its tables in an entry */
typedef struct {
  int dim, n, normal, width; /* n values along the direction `normal`, `width` along others */
  int line[3], sums, trace, lifted;
} VpInterfaceBlock;
static inline VpInterfaceBlock VpInterfaceBlockOf(int n, int dim, int normal, int fine)
{
  VpInterfaceBlock b = {dim, n, normal, fine ? 2 * n : n, {0, 0, 0}, VpInterfaceSums(n, dim, fine), 0, 0};

  b.trace = VpInterfaceEnds(n, dim, fine, 0);
  b.lifted = VpInterfaceEnds(n, dim, fine, 1);
  for (int d = 0; d < dim; d++) b.line[d] = VpInterfaceLine(VpBlockSize(n), VpFdmSize(n), dim, normal, fine, d);
  return b;
}
/* number of values along d; number of lines along the normal, and stride of their values */
static inline int VpBlockExtent(const VpInterfaceBlock *b, int d)
{
  return d == b->normal ? b->n : b->width;
}
static inline int VpBlockLines(const VpInterfaceBlock *b)
{
  return VpFaceSize(b->width, b->dim);
}
static inline int VpBlockStride(const VpInterfaceBlock *b)
{
  return VpLineStride(b->normal, b->width, b->width * b->width);
}

/* number of a cell's low modes */
VP_SIZE int VpLowModes(int dim)
{
  return 1 + 2 * dim;
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
enum { VP_FIRST_HALF, VP_SECOND_HALF, VP_WHOLE, VP_UNEQUAL };

/* The transfers to the next coarser level. */
typedef struct {
  const void    *P, *R;   /* [2 entries][n][n] (VpTransferBuild): of the halves, then of each pair of unequal parts */
  PetscBool      reverse; /* a mirror reverses the order of the basis; else it changes the sign of every second function (VpBasisMirror) */
  const int32_t *parent;  /* [cells] the parent, a cell of the coarser level */
  const uint8_t *corner;  /* [cells] how the cell lies in its parent, 2 bits per direction, x lowest */
  const int32_t *table;   /* [cells][dim] entry of P and R where `corner` has VP_UNEQUAL; NULL: nowhere */
  const int32_t *child;   /* [ncoarse][2^dim] the child that is upper in the directions whose bits are set; -1: none */
  int32_t        ncoarse; /* own cells of the coarser level */
  int            merged;  /* bits of the directions in which some coarse cells have two children */
  PetscBool      halves;  /* every cell is a half of its parent in every direction */
  VpPlans       *plans;   /* as in VpView */
} VpTransferView;

/* How a patch gets its residual. */
typedef enum {
  VP_MODE_REPLACE, /* x = A_j^-1 (b - what the neighbours' traces add). The patch's old values are not read. Requires: space full, no mixed
                      side and one coefficient on the whole level, or replaceable patches */
  VP_MODE_CORRECT, /* x += A_j^-1 (b - A x) */
  VP_MODE_LOCAL,   /* x += A_j^-1 (b - Abar x), Abar without face terms on the patch's sides towards other cells */
  VP_MODE_GIVEN    /* x += A_j^-1 b: b is the residual */
} VpResidualMode;

/* what the bits of VpPatchView.replaceable say */
VP_SIZE int VpPatchIsReplaceable(uint8_t bits)
{
  return bits & 1;
}
VP_SIZE int VpPatchEndsAt(uint8_t bits, int side)
{
  return bits >> (1 + side) & 1;
}
/* the mode that a patch with these bits takes in a sweep of the given mode */
VP_SIZE VpResidualMode VpPatchMode(VpResidualMode mode, uint8_t bits)
{
  return mode == VP_MODE_CORRECT && VpPatchIsReplaceable(bits) ? VP_MODE_REPLACE : mode;
}

/* A step of a sweep. A program of steps is written at set-up and run by smoother/sweep.c. */
typedef enum {
  VP_STEP_READ,     /* The ghosts of b and x that a sweep reads begin to travel. */
  VP_STEP_AT_ONCE,  /* Takes the next n steps in one launch, where the backend does that. Else they are taken one by one. */
  VP_STEP_SWEEP,    /* Solves on the patches of a colour. */
  VP_STEP_RESIDUAL, /* Computes b - A x, which the next VP_STEP_SWEEP takes for b. */
  VP_STEP_SETTLE,   /* Brings the current values of cells [0, count) to the first buffer. */
  VP_STEP_GHOSTS,   /* Fetches the ghosts of x, which is settled. */
  VP_STEP_RENEW,    /* Fetches them between two colours, where values are in both buffers. */
  VP_STEP_CELLS     /* Solves on the single cells of a colour. */
} VpStepKind;
/* patches [first, last) of a colour with the same residual mode */
typedef struct {
  int32_t        first, last;
  VpResidualMode mode;
} VpBatch;
enum { VP_MOST_BATCHES = 4 }; /* of a colour: mixed patches or others, which touch ghosts or do not */
typedef struct {
  VpStepKind         kind;
  const VpPatchView *patches; /* VP_STEP_SWEEP; VP_STEP_SETTLE and VP_STEP_RENEW: the last ones swept; VP_STEP_AT_ONCE: the first ones */
  int                color;   /* VP_STEP_SWEEP: bit of `cover`; VP_STEP_AT_ONCE: the first of these; VP_STEP_CELLS: colour of cells */
  int                n;       /* VP_STEP_SWEEP: batches; VP_STEP_AT_ONCE: steps */
  int32_t            inner;   /* VP_STEP_SWEEP: patches from this one on touch ghosts */
  int32_t            count;   /* VP_STEP_SETTLE and VP_STEP_AT_ONCE: cells */
  VpBatch            batch[VP_MOST_BATCHES]; /* in the order of their patches */
} VpStep;

/* Values of ghosts, which may be under way. A kernel does the work that needs no ghosts, calls VpArrive, then does the rest. apply() and
   enter() call VpArrive in any case. */
typedef struct {
  const void *values;
  PetscErrorCode (*arrive)(void *context); /* waits for the values when it is called first; NULL: the values are there */
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

/* A grid of points in a cell, x fastest: count[d] points along d. count[d] is 1 along the normal of a side with all points, and along z in
   2D. matrix[d], [count[d]][n], takes coefficients along d to the wanted numbers at the points; its transpose takes these back. On a cell
   of size h the product of all matrices has the factor sqrt(h_x^power[0] h_y^power[1] h_z^power[2]). */
enum { VP_MAX_NQ = VP_MAX_N + 2 };
typedef struct {
  int    count[3], power[3];
  double x[3][VP_MAX_NQ], w[3][VP_MAX_NQ]; /* points in [0,1]; weights of integrals over the reference cell or its side */
  double matrix[3][VP_MAX_NQ * VP_MAX_N];
} VpGrid;

/* The n cells that have a grid: list[i], or first + i if list is NULL. */
typedef struct {
  int32_t        n, first;
  const int32_t *list;
  const double  *bounds; /* [n][lower corner, size][3]; in 2D 0 and 1 in the third direction */
  const double  *weight; /* [n] another factor, or NULL: 1 */
  /* of mapped cells, where the work needs it; else NULL */
  const double *point;   /* [n][points][dim] the points in physical space */
  const double *normal;  /* [n][points][dim] the outward unit normals of a side there */
  const double *measure; /* [n][points] the volume element, or the area element of a side, by that of the cell's box */
  const double *chain;   /* [n][points][rows][dim] what the derivatives along the directions of the box add to the wanted numbers */
  int           rows;    /* of `chain`; else 0 */
} VpPlaces;

VP_SIZE int32_t VpPlaceCell(const VpPlaces *places, int32_t i)
{
  return places->list ? places->list[i] : places->first + i;
}
VP_SIZE const double *VpPlaceLower(const VpPlaces *places, int32_t i)
{
  return places->bounds + 6 * (size_t)i;
}
VP_SIZE const double *VpPlaceSize(const VpPlaces *places, int32_t i)
{
  return VpPlaceLower(places, i) + 3;
}

/* number of points per cell */
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

/* A = D_x + D_y + D_z + c on a lattice of cells, diagonalised. A line along d has m = extent[d] n values, and m modes. */
enum { VP_LONGEST_LINE = 320 }; /* most values of a line */
typedef struct {
  int32_t        extent[3];     /* cells; in 2D 1 along the third direction */
  const int32_t *cell;          /* [extent[2]][extent[1]][extent[0]] cells; this and the following arrays are on the backend */
  const void    *to[3];         /* [m][m] row k: what value k adds to each mode */
  const void    *from[3];       /* [m][m] row k: what mode k adds to each value */
  const void    *eigenvalue[3]; /* [m] of the modes; those of the last direction contain c */
} VpSeparable;

/* The inverse of a symmetric matrix A on values of cells as a dense matrix M,

       M = E ((A + weight[0] e e^T)^-1 + weight[1] e e^T) L.

   L takes values in a level's basis to values in A's basis, cell by cell, and E takes these back. Requires: no leading principal submatrix
   of A + weight[0] e e^T is singular. All arrays are on the host. */
typedef struct {
  int32_t            n, first, count; /* number of rows of A; M has the rows [first, first + count), which are whole cells */
  const PetscInt    *start, *column;  /* row i of A has the entries [start[i], start[i+1]) */
  const PetscScalar *value;
  const double      *one;           /* e [n], or NULL: 0 */
  double             weight[2];     /* weight[0] keeps eigenvalues away from 0 */
  int                dim, order;    /* a cell has order^dim values, x fastest */
  const double      *enter, *leave; /* [order][order] E and L along a direction; NULL: both are 1 */
} VpDenseInverse;
