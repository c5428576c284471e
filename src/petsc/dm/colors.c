/* The colours of patches, for pictures of meshes. */
#include "internal.h"

/* the corner of a cell that is the vertex of its patch. place: the position of the cell in the patch */
static int CornerOf(int dim, int place, int frame)
{
  int corner = 0;

  for (int d = 0; d < dim; d++) corner |= (!(place >> VpFrameAxis(frame, d) & 1) ^ VpFrameFlips(frame, d)) << d;
  return corner;
}

/*@
   DMVPatchDGGetPatchColors - Gets the colours of the patches around the vertices of this rank's cells

   Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  color - [cells][2^dim] the colour at each corner of each cell, x fastest, from 0; -1 where no patch is, on the boundary and around
           irregular vertices

   Level: advanced

   Note:
   They are the colours of the finest level of `PCVPATCHDG`. Patches of one colour share no cell. A sweep takes the last colour first. The
   cells of the DM must have one level.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `PCVPATCHDG`
@*/
PetscErrorCode DMVPatchDGGetPatchColors(DM dm, PetscInt color[])
{
  VpPatches patches;
  VpMesh    mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetPatchColors()"));
  mesh = DMVPatchDGData(dm)->mesh;
  if (mesh->nown) VpAssertPointer(color, 2);
  PetscCheck(!VpMeshIsAdaptive(mesh), mesh->comm, PETSC_ERR_SUP,
             "DMVPatchDGGetPatchColors(): cells of different levels have patches on the levels of the cycle. Refine all cells alike");
  for (int64_t i = 0; i < (int64_t)mesh->nown << mesh->dim; i++) color[i] = -1;
  PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
  for (int c = 0; c < patches.ncolor; c++) {
    for (int64_t i = (int64_t)patches.start[c] << mesh->dim; i < (int64_t)patches.start[c + 1] << mesh->dim; i++) {
      const int corner = CornerOf(mesh->dim, (int)(i & ((1 << mesh->dim) - 1)), patches.frame ? patches.frame[i] : 0);

      if (patches.cell[i] < mesh->nown) color[((int64_t)patches.cell[i] << mesh->dim) + corner] = c;
    }
  }
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}
