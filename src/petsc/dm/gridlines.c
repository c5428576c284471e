/* The faces of a grid's boxes in each direction, from numbers or from words. */
#include "internal.h"

#define MAX_PIECES 4096 /* more than any list may have, so that longer lists are noticed */

PetscReal DMVPatchDGFace(DM dm, PetscInt d, PetscInt i)
{
  const DM_VPatchDG *dg = dm->data;

  return dg->face[d] ? dg->face[d][i] : dg->lower[d] + (dg->upper[d] - dg->lower[d]) * (PetscReal)i / (PetscReal)dg->grid[d];
}

static PetscErrorCode CheckDirection(DM dm, PetscInt direction)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckDimension(dm));
  PetscCheck(direction >= 0 && direction < DMVPatchDGDim(dm), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "Direction %" PetscInt_FMT " of a grid in dimension %" PetscInt_FMT ": they are counted from 0 on", direction,
             DMVPatchDGDim(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetGrid - Sets the coordinates of the faces of boxes in one direction

   Logically Collective

   Input Parameters:
+  dm        - the DM
.  direction - 0, 1 or 2
.  n         - number of boxes in this direction
-  face      - [n + 1] coordinates of their faces, in increasing order

   Options Database Keys:
.  -dm_vpatchdg_grid_x pieces - the coordinates, in the syntax of the notes; likewise _y and _z

   Level: beginner

   Notes:
   Other directions do not change: they have equal boxes unless their faces are also set. A later `DMVPatchDGSetBoxGrid()` makes all boxes
   equal again.

   The value of an option consists of pieces that are separated by commas. A piece is one of
.vb
   x             a coordinate
   a:b:n         n equal boxes from a to b
   a:b:n:r       n boxes from a to b, each r times as wide as the one before
   tanh:a:b:n:s  n boxes from a to b that are thin at both ends, with faces at tanh(s t)/tanh(s), t from -1 to 1
.ve
   A piece may begin where the previous piece ends. For a channel, use -dm_vpatchdg_grid_x 0:4:8 -dm_vpatchdg_grid_y tanh:-1:1:8:2
   -dm_vpatchdg_grid_z 0:2:4. It is an error to combine these options with -dm_vpatchdg_boxes, _lower, _upper or _coordinates.

   The piece a:b:n corresponds to `DMDASetUniformCoordinates()`, and -dm_vpatchdg_coordinates does the same for all directions.
   `DMConvert()` accepts a `DMDA` with its coordinates, including stretched ones.

   Refinement (-dm_refine) bisects boxes in every direction.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetGrid()`, `DMVPatchDGSetBoxGrid()`, `DMVPatchDGSetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetGrid(DM dm, PetscInt direction, PetscInt n, const PetscReal face[])
{
  DM_VPatchDG *dg;
  PetscBool    changes;
  PetscReal   *copy;
  char         name;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(CheckDirection(dm, direction));
  PetscCheck(n > 0 && n <= VP_MAX_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " boxes in direction %" PetscInt_FMT ": there must be at least one, and at most %d", n, direction,
             VP_MAX_BOXES);
  VpAssertPointer(face, 4);
  name = (char)('x' + direction);
  for (PetscInt i = 0; i <= n; i++) {
    PetscCheck(!PetscIsInfOrNanReal(face[i]), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
               "Face %" PetscInt_FMT " of the boxes in direction %c is at %g, which is no coordinate", i, name, (double)face[i]);
    PetscCheck(!i || face[i] > face[i - 1], PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
               "Faces %" PetscInt_FMT " and %" PetscInt_FMT
               " of the boxes in direction %c are at %.17g and %.17g: coordinates must increase",
               i - 1, i, name, (double)face[i - 1], (double)face[i]);
  }
  changes = (PetscBool)(n != dg->grid[direction]);
  for (PetscInt i = 0; i <= n && !changes; i++) changes = (PetscBool)(face[i] != DMVPatchDGFace(dm, direction, i));
  PetscCall(DMVPatchDGCheckChange(dm, changes, "grid of boxes"));
  PetscCall(PetscMalloc1(n + 1, &copy));
  PetscCall(PetscArraycpy(copy, face, n + 1));
  PetscCall(PetscFree(dg->face[direction]));
  dg->face[direction] = copy;
  dg->grid[direction] = n;
  dg->lower[direction] = face[0];
  dg->upper[direction] = face[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetGrid - Gets the coordinates of the faces of boxes in one direction

   Not Collective

   Input Parameters:
+  dm        - the DM
-  direction - 0, 1 or 2

   Output Parameters:
+  n    - number of boxes in this direction
-  face - [n + 1] coordinates of their faces

   Level: beginner

   Note:
   Any output may be `NULL`. A first call can thus get n, and a second call can pass an array for the faces.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetGrid()`, `DMVPatchDGGetBoxGrid()`
@*/
PetscErrorCode DMVPatchDGGetGrid(DM dm, PetscInt direction, PetscInt *n, PetscReal face[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(CheckDirection(dm, direction));
  if (n) *n = dg->grid[direction];
  for (PetscInt i = 0; face && i <= dg->grid[direction]; i++) face[i] = DMVPatchDGFace(dm, direction, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a growing list of faces */
typedef struct {
  MPI_Comm    comm;
  const char *option, *piece; /* what is being read, for messages */
  PetscInt    n;
  PetscReal  *x;
} Faces;

/* Makes the list longer by n faces. *x: the first of them */
static PetscErrorCode GrowFaces(Faces *f, PetscInt n, PetscReal **x)
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)(f->n + n) * sizeof(*f->x), &f->x));
  *x = f->x + f->n;
  f->n += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadNumber(const Faces *f, const char text[], PetscReal *x)
{
  char *end;

  PetscFunctionBegin;
  *x = (PetscReal)strtod(text, &end);
  PetscCheck(end != text && !*end && !PetscIsInfOrNanReal(*x), f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s %s: \"%s\" is no number", f->option,
             f->piece, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Position of face i of n in [0,1]. Geometric widths are summed from the wide end so that they cannot overflow. Ratio 1: equal widths */
static PetscReal GeometricFraction(PetscInt i, PetscInt n, PetscReal ratio)
{
  const double power = fabs(log(ratio));
  const double fraction = power > 0 ? expm1(-(double)(ratio > 1 ? n - i : i) * power) / expm1(-(double)n * power) : 0;

  if (power == 0) return (PetscReal)i / (PetscReal)n;
  return ratio > 1 ? 1 - fraction : fraction;
}

static PetscReal TanhFraction(PetscInt i, PetscInt n, PetscReal strength)
{
  return 0.5 + 0.5 * tanh(strength * (2 * (double)i / (double)n - 1)) / tanh(strength);
}

/* Appends the faces of a piece with n boxes. number[given], 3 or 4 words: a, b, n and the parameter of fraction() */
static PetscErrorCode AppendPiece(Faces *f, int given, char *const number[], PetscReal (*fraction)(PetscInt, PetscInt, PetscReal))
{
  PetscReal x[4] = {0, 0, 0, 1}, *face;
  PetscBool begins; /* The piece has a first face of its own. */
  PetscInt  n;

  PetscFunctionBegin;
  for (int i = 0; i < given; i++) PetscCall(ReadNumber(f, number[i], &x[i]));
  PetscCheck(x[1] > x[0], f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s %s: a piece from %g to %g, coordinates must increase", f->option, f->piece,
             (double)x[0], (double)x[1]);
  PetscCheck(x[2] >= 1 && x[2] <= VP_MAX_BOXES && x[2] == floor(x[2]), f->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%s %s: %g boxes, there must be a whole number of them, at least one and at most %d", f->option, f->piece, (double)x[2],
             VP_MAX_BOXES);
  PetscCheck(x[3] > 0, f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s %s: the ratio of two boxes and the strength of tanh are positive, not %g",
             f->option, f->piece, (double)x[3]);
  n = (PetscInt)x[2];
  begins = (PetscBool)(!f->n || f->x[f->n - 1] != x[0]);
  PetscCall(GrowFaces(f, n + begins, &face));
  if (begins) *face++ = x[0];
  for (PetscInt i = 1; i < n; i++) *face++ = x[0] + (x[1] - x[0]) * fraction(i, n, x[3]);
  *face = x[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadPiece(Faces *f, char piece[])
{
  PetscReal *x;
  PetscBool  curve;
  int        n;
  char     **word;

  PetscFunctionBegin;
  f->piece = piece;
  PetscCall(PetscStrToArray(piece, ':', &n, &word));
  PetscCall(PetscStrcmp(n ? word[0] : "", "tanh", &curve));
  if (curve && n == 5) PetscCall(AppendPiece(f, 4, word + 1, TanhFraction));
  else if (!curve && (n == 3 || n == 4)) PetscCall(AppendPiece(f, n, word, GeometricFraction));
  else if (!curve && n == 1) {
    PetscCall(GrowFaces(f, 1, &x));
    PetscCall(ReadNumber(f, word[0], x));
  } else {
    SETERRQ(f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s %s: a coordinate, a:b:n, a:b:n:ratio and tanh:a:b:n:strength exist, with commas between",
            f->option, piece);
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridOption(DM dm, PetscInt d, PetscBool others, VpOptionItems PetscOptionsObject)
{
  static const char *const option[] = {"-dm_vpatchdg_grid_x", "-dm_vpatchdg_grid_y", "-dm_vpatchdg_grid_z"};
  Faces                    f = {.comm = PetscObjectComm((PetscObject)dm), .option = option[d]};
  const VPatchDGDomain     domain = DMVPatchDGData(dm)->domain;
  PetscInt                 n = MAX_PIECES;
  PetscBool                set;
  char                   **piece;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &piece));
  PetscCall(PetscOptionsStringArray(option[d], "Faces of the boxes: x0,x1,... or a:b:n or a:b:n:ratio or tanh:a:b:n:strength (domain box)",
                                    "DMVPatchDGSetGrid", piece, &n, &set));
  if (set) {
    PetscCheck(domain == VPATCHDG_DOMAIN_BOX, f.comm, PETSC_ERR_ARG_INCOMP, "%s belongs to -dm_vpatchdg_domain box, this is %s", option[d],
               VPatchDGDomains[domain]);
    PetscCheck(!others, f.comm, PETSC_ERR_ARG_INCOMP,
               "%s says where boxes are, and so do -dm_vpatchdg_boxes, _lower, _upper and _coordinates: give each direction as "
               "-dm_vpatchdg_grid_x, _y, _z, where a:b:n is n equal boxes from a to b",
               option[d]);
    PetscCheck(n < MAX_PIECES, f.comm, PETSC_ERR_ARG_SIZ, "%s has %d pieces or more: DMVPatchDGSetGrid() takes any number", option[d],
               MAX_PIECES);
    for (PetscInt i = 0; i < n; i++) PetscCall(ReadPiece(&f, piece[i]));
    PetscCheck(f.n > 1, f.comm, PETSC_ERR_ARG_SIZ, "%s has one face, a box has two", option[d]);
    PetscCall(DMVPatchDGSetGrid(dm, d, f.n - 1, f.x));
    PetscCall(PetscFree(f.x));
    for (PetscInt i = 0; i < n; i++) PetscCall(PetscFree(piece[i]));
  }
  PetscCall(PetscFree(piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGridOptions(DM dm, PetscBool others, VpOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < dm->dim; d++) PetscCall(GridOption(dm, d, others, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}
