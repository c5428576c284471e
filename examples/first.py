"""first.c in Python: petsc4py loads the library by a PETSc option.

  python3 first.py -dll_append /usr/local/lib/libvpatchdg.so
"""
import sys
from ctypes import CDLL, CFUNCTYPE, POINTER, byref, c_double, c_int, c_int32, c_int64, c_void_p
from math import cos, pi

import petsc4py

petsc4py.init(sys.argv[:1] + "-dm_vpatchdg_degree 4 -dm_refine 3".split() + sys.argv[1:])  # what comes later wins
from petsc4py import PETSc

vpatchdg = CDLL(PETSc.Options().getString("dll_append"))
PetscInt = c_int64 if PETSc.IntType().nbytes == 8 else c_int32
Function = CFUNCTYPE(c_int, PetscInt, POINTER(c_double), POINTER(c_double), c_void_p)


@Function
def exact(dim, x, u, ctx):
    u[0] = cos(pi * x[0]) * cos(pi * x[1]) * cos(pi * x[2])
    return 0


@Function
def source(dim, x, f, ctx):
    f[0] = 3 * pi * pi * cos(pi * x[0]) * cos(pi * x[1]) * cos(pi * x[2])
    return 0


def call(name, dm, *arguments):
    """A function of vpatchdg.h; PETSc's objects are passed as what C knows them by."""
    code = getattr(vpatchdg, name)(c_void_p(dm.handle), *(c_void_p(a.handle) if hasattr(a, "handle") else a for a in arguments))
    if code:
        raise PETSc.Error(code)


dm = PETSc.DM().create()
dm.setType("vpatchdg")
dm.setFromOptions()
dm.setUp()
A = dm.createMatrix()
b = dm.createGlobalVector()
x = b.duplicate()
call("DMVPatchDGComputeRHS", dm, source, exact, None, None, b)

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("fgmres")
ksp.setTolerances(rtol=1e-8)
ksp.pc.setType("vpatchdg")
ksp.setFromOptions()
ksp.solve(b, x)

error = c_double()
call("DMVPatchDGComputeErrors", dm, x, exact, None, None, byref(error), None)
PETSc.Sys.Print("%d iterations, L2 error %.2e" % (ksp.its, error.value))
