/* Reads the continuous elements of a DMPLEX: where nodes are, which rows they have, and which sides are Dirichlet ones. */
#include "elements.h"
#include "usergrid.h"
#include <petscdmplex.h>
#include <petscfe.h>

#define NEAR    1e-9 /* Coordinates of nodes that differ by less are one. */
#define NATURAL 1    /* label of sides that have a node with a row */

typedef struct {
  int       dim, degree, n, ndof;
  PetscBool fits; /* Functions are those of a grid of nodes, and the following is known. */
  double    point[VP_MAX_N];
  int       place[VP_MAX_N * VP_MAX_N * VP_MAX_N]; /* [ndof] the place, x fastest, of the node of every function of the PetscFE */
} Element;

static const char otherwise[] = "PCVPatchDGSetElementRestriction() takes other operators";

/* Ensures: errors unless the DMPLEX has one field, a PetscFE of one component. */
static PetscErrorCode GetElement(DM plex, PetscFE *fe)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)plex);
  PetscInt       fields, components;
  PetscClassId class = 0;
  PetscObject field = NULL;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(plex, &fields));
  PetscCheck(fields <= 1, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the DMPLEX has %" PetscInt_FMT " fields, and one is preconditioned: -pc_type fieldsplit has a "
             "preconditioner for each",
             fields);
  if (fields) {
    PetscCall(DMGetField(plex, 0, NULL, &field));
    PetscCall(PetscObjectGetClassId(field, &class));
  }
  PetscCheck(class == PETSCFE_CLASSID, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the DMPLEX has no PetscFE, which says where its nodes are (DMAddField()). %s", otherwise);
  *fe = (PetscFE)field;
  PetscCall(PetscFEGetNumComponents(*fe, &components));
  PetscCheck(components == 1, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the PetscFE has %" PetscInt_FMT " components, and one is preconditioned", components);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* index of the coordinate t of [-1,1] among the first *n of `point`, to which it is added if it is new and there is room */
static int FindCoordinate(Element *e, PetscReal t, int *n)
{
  const double x = (1 + (double)t) / 2;
  int          i = 0;

  while (i < *n && fabs(e->point[i] - x) > NEAR) i++;
  if (i == *n && i < e->n) e->point[(*n)++] = x;
  return i;
}

/* Tests whether nodes are at 0 and 1 along a direction, and lie symmetrically. */
static PetscBool AreNodesOfLines(const Element *e)
{
  PetscBool are = (PetscBool)(fabs(e->point[0]) <= NEAR);

  for (int i = 0; i < e->n; i++) are = (PetscBool)(are && fabs(e->point[i] + e->point[e->n - 1 - i] - 1) <= NEAR);
  return are;
}

/* Sets e->fits if every function is the value at a node of a grid. */
static PetscErrorCode FindNodes(PetscDualSpace dual, Element *e)
{
  int       n = 0;
  PetscBool taken[VP_MAX_N * VP_MAX_N * VP_MAX_N] = {PETSC_FALSE}, fits = PETSC_TRUE;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2 && fits; pass++) { /* The first pass finds the coordinates. */
    for (int f = 0; f < e->ndof && fits; f++) {
      const PetscReal *x, *w;
      PetscInt         count;
      PetscQuadrature  rule;

      PetscCall(PetscDualSpaceGetFunctional(dual, f, &rule));
      PetscCall(PetscQuadratureGetData(rule, NULL, NULL, &count, &x, &w));
      fits = (PetscBool)(count == 1 && PetscAbsReal(w[0] - 1) <= NEAR);
      e->place[f] = 0;
      for (int d = e->dim - 1; d >= 0 && fits; d--) {
        const int i = FindCoordinate(e, x[d], &n);

        fits = (PetscBool)(i < n);
        e->place[f] = e->place[f] * e->n + i;
      }
      if (!pass || !fits) continue;
      fits = (PetscBool)!taken[e->place[f]];
      taken[e->place[f]] = PETSC_TRUE;
    }
    fits = (PetscBool)(fits && n == e->n);
    if (!pass) PetscCall(PetscSortReal(n, e->point));
  }
  e->fits = (PetscBool)(fits && AreNodesOfLines(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the element with that of the first rank with cells. Others may have made another one, because they do not know cells. */
static PetscErrorCode FillElement(DM plex, Element *e)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)plex);
  const PetscInt *each;
  PetscInt        dim, degree, ndof, first, last;
  PetscMPIInt     rank;
  PetscDualSpace  dual;
  PetscFE         fe = NULL;

  PetscFunctionBegin;
  PetscCall(GetElement(plex, &fe));
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(PetscFEGetDualSpace(fe, &dual));
  PetscCall(PetscDualSpaceGetOrder(dual, &degree));
  PetscCall(PetscDualSpaceGetDimension(dual, &ndof));
  PetscCall(PetscDualSpaceGetNumDof(dual, &each));
  *e = (Element){.dim = (int)dim, .degree = (int)degree, .n = (int)degree + 1, .ndof = (int)ndof};
  if (degree >= 1 && degree <= VP_MAX_DEGREE && ndof == PetscPowInt(degree + 1, dim) && each[0] == 1) PetscCall(FindNodes(dual, e));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(VpFirstRank(comm, (PetscBool)(last > first), &rank));
  if (rank < INT_MAX) PetscCallMPI(MPI_Bcast(e, sizeof(*e), MPI_BYTE, rank, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless functions are continuous and those of a grid of nodes. */
static PetscErrorCode CheckElement(MPI_Comm comm, const Element *e)
{
  PetscFunctionBegin;
  PetscCheck(e->dim == 2 || e->dim == 3, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the DMPLEX has %d dimensions, and two or three are preconditioned", e->dim);
  PetscCheck(e->ndof == PetscPowInt(e->n, e->dim), comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: a cell of the DMPLEX has %d functions of order %d, and tensor elements are preconditioned: on "
             "quadrilaterals and hexahedra (-dm_plex_simplex 0, and PetscFECreateDefault() with isSimplex false)",
             e->ndof, e->degree);
  PetscCheck(e->degree >= 1 && e->degree <= VP_MAX_DEGREE, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the PetscFE has degree %d, and degrees 1 to %d are preconditioned (-petscspace_degree)", e->degree,
             VP_MAX_DEGREE);
  PetscCheck(e->fits, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the functions of the PetscFE are not those of a grid of nodes with the cell's vertices among them, as of "
             "continuous Lagrange elements. %s",
             otherwise);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless the matrix has the rows of the DMPLEX, and none is the combination of others. */
static PetscErrorCode CheckRows(DM plex, PetscLayout rows)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)plex);
  PetscInt       own, theirs, constraints = 0;
  PetscMPIInt    first;
  PetscSection   section, anchors;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalSection(plex, &section));
  PetscCall(PetscSectionGetConstrainedStorageSize(section, &own));
  PetscCall(PetscLayoutGetLocalSize(rows, &theirs));
  PetscCall(VpFirstRank(comm, (PetscBool)(own != theirs), &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_SIZ,
             "-pc_type vpatchdg: on rank %d, the matrix has not the rows of the DMPLEX's vectors (DMCreateMatrix()). %s", first, otherwise);
  PetscCall(DMPlexGetAnchors(plex, &anchors, NULL));
  if (anchors) PetscCall(PetscSectionGetStorageSize(anchors, &constraints));
  PetscCall(VpFirstRank(comm, (PetscBool)(constraints > 0), &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the DMPLEX has hanging nodes, and cells of one level are preconditioned");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLattice(const VpUserGrid *grid)
{
  PetscFunctionBegin;
  PetscCheck(
    !grid->corner, grid->comm, PETSC_ERR_SUP,
    "-pc_type vpatchdg: the cells of the DMPLEX do not form a lattice, which matrices of a PetscFE need. Use another preconditioner "
    "(-pc_type gamg)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row [ncell][ndof] of the nodes of own cells, in the order of the grid */
static PetscErrorCode ListRows(DM plex, const Element *e, const VpUserGrid *grid, PetscInt row[])
{
  PetscSection local, global;
  PetscBool    same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(plex, &local));
  PetscCall(DMGetGlobalSection(plex, &global));
  for (PetscInt c = 0; c < grid->ncell; c++) {
    PetscInt own[VP_MAX_N * VP_MAX_N * VP_MAX_N], count, *index;

    PetscCall(DMPlexGetClosureIndices(plex, local, global, grid->point[c], PETSC_FALSE, &count, &index, NULL, NULL));
    for (int f = 0; f < e->ndof && count == e->ndof; f++) own[e->place[f]] = PetscMax(index[f], -1);
    same = (PetscBool)(same && count == e->ndof);
    PetscCall(DMPlexRestoreClosureIndices(plex, local, global, grid->point[c], PETSC_FALSE, &count, &index, NULL, NULL));
    for (int i = 0; i < e->ndof && same; i++) row[c * e->ndof + i] = own[VpPlaceIndex(grid->place + c, e->dim, e->n, i)];
  }
  PetscCall(VpCheckEverywhere(grid->comm, same, "-pc_type vpatchdg: a cell of the DMPLEX has not the unknowns of its PetscFE"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels sides by what their nodes say. Labels between cells do not matter. */
static void LabelSides(const Element *e, const PetscInt row[], VpUserGrid *grid)
{
  grid->labeled = PETSC_TRUE;
  for (PetscInt c = 0; c < grid->ncell; c++) {
    for (int side = 0, stride = 1; side < 2 * e->dim; stride *= side % 2 ? e->n : 1, side++) {
      grid->cell[c].label[side] = -1;
      for (int i = 0; i < e->ndof; i++) {
        const PetscBool on = (PetscBool)(i / stride % e->n == (side % 2 ? e->degree : 0));

        if (on && row[c * e->ndof + i] >= 0) grid->cell[c].label[side] = NATURAL;
      }
    }
  }
}

static PetscErrorCode CreateDM(DM plex, const Element *e, const VpUserGrid *grid, const char prefix[], DM *dm)
{
  const VpLabels *labels;
  PetscBool       natural = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VpUserGridConvert(plex, grid, dm));
  PetscCall(DMSetOptionsPrefix(*dm, prefix));
  PetscCall(DMVPatchDGSetDegree(*dm, e->degree));
  labels = &DMVPatchDGData(*dm)->labels;
  for (PetscInt i = 0; i < labels->nbox * 2 * e->dim; i++) natural = (PetscBool)(natural || labels->side[i] == NATURAL);
  if (natural) PetscCall(DMVPatchDGSetLabelBoundary(*dm, NATURAL, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to [own cells of dm][ndof] = row [ncell][ndof] */
static PetscErrorCode MoveRows(DM dm, const VpUserGrid *grid, int ndof, const PetscInt row[], PetscInt to[])
{
  MPI_Datatype type;
  PetscSF      map;

  PetscFunctionBegin;
  PetscCall(VpUserGridMap(dm, grid, &map));
  PetscCallMPI(MPI_Type_contiguous(ndof, MPIU_INT, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCall(PetscSFReduceBegin(map, type, row, to, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(map, type, row, to, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscSFDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillElements(DM plex, const Element *e, VpUserGrid *grid, const char prefix[], VpElements *to)
{
  PetscInt *row, ncell;

  PetscFunctionBegin;
  PetscCall(VpCheckPlaces(PetscObjectComm((PetscObject)plex), grid->ncell, e->ndof));
  PetscCall(PetscMalloc1(grid->ncell * e->ndof + 1, &row));
  PetscCall(ListRows(plex, e, grid, row));
  LabelSides(e, row, grid);
  PetscCall(CreateDM(plex, e, grid, prefix, &to->dm));
  PetscCall(DMVPatchDGGetCells(to->dm, &ncell));
  PetscCall(PetscMalloc1(ncell * e->ndof + 1, &to->node));
  PetscCall(MoveRows(to->dm, grid, e->ndof, row, to->node));
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpElementsCreate(DM plex, PetscLayout rows, const char prefix[], VpElements *to)
{
  Element        e;
  VpUserGrid     grid;
  PetscErrorCode error;

  PetscFunctionBegin;
  *to = (VpElements){.dm = NULL};
  PetscCall(FillElement(plex, &e));
  PetscCall(CheckElement(PetscObjectComm((PetscObject)plex), &e));
  PetscCall(CheckRows(plex, rows));
  PetscCall(VpUserGridCreate(PetscObjectComm((PetscObject)plex), plex, &grid));
  error = CheckLattice(&grid);
  if (!error) error = FillElements(plex, &e, &grid, prefix, to);
  PetscCall(VpUserGridDestroy(&grid));
  PetscCall(error);
  PetscCall(PetscArraycpy(to->point, e.point, e.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
