/* What the tables of an interface patch depend on (VpInterfaceView): K is the leaf of the coarser level, F are the cells beyond one of its
   sides. Coefficients and the reaction are divided by the largest coefficient of K. */
#pragma once
#include "internal.h"
#include "../level/keys.h"

typedef struct {
  int       side;               /* K's side towards F */
  VpLineKey own[3];             /* K's lines */
  VpLineKey normal;             /* F's line along the side's normal */
  VpFdmKey  tangential[2];      /* F's lines of two cells along the other directions */
  double    times[2];           /* factors of the coefficients in `tangential` */
  double    form[VP_HANG_FORM]; /* as in VpHangView, of K's side, with the coefficients of F's lines */
  double    reaction;
} VpInterfaceKey;
VpInterfaceKey VpInterfaceKeyOf(VpLevel fine, VpLevel coarse, const VpFace *interface);
/* the key's numbers as words, for a dictionary */
enum { VP_INTERFACE_WORDS = 2 + 4 * VP_LINE_WORDS + 2 * (VP_FDM_WORDS + 1) };
void VpInterfaceWords(const VpInterfaceKey *, int dim, uint64_t word[VP_INTERFACE_WORDS]);
/* interfaceorder.c: sets the view's around, order, start, by_kind and kind; type[i] < types is the entry of interface i. together: as in
   VpPlaceInterfaces() */
PetscErrorCode VpPlaceInterfaceOrder(VpMesh fine, PetscBool together, int32_t types, const int32_t type[], VpArrays *, VpInterfaceView *);
