/* What the files of this folder share. */
#pragma once
#include "level.h"
#include "../base/memory.h"
#include "../collective.h"

/* puts an array of the mesh, which lives as long as the level, on the backend */
#define VpLevelPlaceMeshArray(level, array, count, what, p) VpShowArray(&(level)->arrays, array, count, what, p)
/* level.c: change [n][n] = coefficients of an outer level's basis of the functions of nodes, [coefficient][node] */
PetscErrorCode VpLevelNodalChange(VpLevel, double change[]);
/* coefficient.c: copies the coefficient for all local cells (NULL on all ranks: 1), and sets uniform, typical, thinnest, aspect and beyond
   of the level */
PetscErrorCode VpLevelSetCoefficient(VpLevel, const VpProblem *);
/* metric/view.c: VpMetricView.slope of the Gauss basis */
void VpMetricSlopes(const VpBasis *gauss, double slope[]);
/* metric/view.c: fills view.metric, of an outer level with all of the metric, of other levels with the root alone */
PetscErrorCode VpLevelPlaceMetric(VpLevel, VpMetric);
/* linetables.c: makes the lines of the level and of its view, the common lines included */
PetscErrorCode VpLevelPlaceLines(VpLevel);
/* hanging.c: splits one row of A's terms on a hanging side into products, and returns the number of these terms. A term adds normal[i]
   tangential[0][j] tangential[1][k] to the entry towards a function of `cell`, which has the index i along the side's normal and j, k along
   the other directions. The first `own` terms are towards the side's own cell. Requires: the level is on the host, in double precision. */
typedef struct {
  int32_t cell;
  double  normal[VP_MAX_N], tangential[2][VP_MAX_N];
} VpHangTerm;
enum { VP_HANG_TERMS = 8 };
int VpHangingRow(VpLevel, int32_t side, int row, VpHangTerm[], int *own);

/* rows.c: matrices whose rows are computed one after the other. A cell has `rows` rows and `columns` columns. */
typedef struct {
  int          n;
  PetscInt    *column;
  PetscScalar *value;
} VpRow;
typedef struct VpRows_ VpRows;
struct VpRows_ {
  VpLevel level;
  int     rows, columns;
  size_t  most; /* entries of a row, if equal columns count apart */
  /* Computes row `at` of a cell, without equal columns. position: global positions of the local cells */
  PetscErrorCode (*create)(const VpRows *, const PetscInt position[], int32_t cell, int at, VpRow *);
  PetscBool     threads; /* create() is called in threads: rows are short, and it calls neither PETSc nor MPI and cannot fail */
  VpView        view;    /* of a level with a metric: that, on the host, for own cells and those beyond their sides */
  VpMetricBasis tables;  /* of its metric */
};
/* metric/view.c: numbers of H of a cell; gets those of cells beyond the sides of own ones, of an array [nface][count], if there is one;
   *local [nface][count] = the numbers of own cells and those, or NULL if there are none */
size_t         VpMetricSideNumbers(VpMetric, int dim);
PetscErrorCode VpMetricGetGhosts(VpMesh, size_t count, VpPrecision, void *array);
PetscErrorCode VpMetricWithGhosts(VpMesh, size_t count, VpPrecision, const void *own, void *local);
/* metric/view.c: the rows of A of a level with a metric; frees what they have; the diagonal of A [nown][n^dim] */
PetscErrorCode VpMetricRowsCreate(VpLevel, VpRows *);
PetscErrorCode VpMetricRowsDestroy(VpRows *);
PetscErrorCode VpMetricDiagonal(VpLevel, double diagonal[]);
void           VpRowAdd(VpRow *, PetscInt column, double value); /* but for zeros */
void           VpRowSum(VpRow *, PetscInt column, double value); /* adds to the entry of an equal column, if there is one */
PetscErrorCode VpRowMerge(VpRow *);                              /* sums up entries of equal columns */
/* Calls what(number of the row on this rank, row, context) for all own rows. */
PetscErrorCode VpForEachRow(const VpRows *, PetscErrorCode (*what)(PetscInt, const VpRow *, void *), void *context);
PetscErrorCode VpAssembleRows(const VpRows *, MatType, Mat *); /* type: aij, or one that derives from it */
