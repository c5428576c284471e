"""The smallest eigenvalues of -div grad, divided by pi^2, with SLEPc: 2, 5, 5, 8, 10 in the unit square, where u = 0 on the boundary.

  python3 eigenvalues.py -dll_append /path/to/libvpatchdg.so -dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 4 -eps_nev 5 ...

The page "Time steps and eigenvalues" has options for LOBPCG, Krylov-Schur and others.
"""
import math
import sys

import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc

dm = PETSc.DM().create()
dm.setType('vpatchdg')
dm.setFromOptions()
dm.setUp()

eps = SLEPc.EPS().create()
eps.setOperators(dm.createMat())  # the mass matrix is the identity
eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
eps.setFromOptions()
eps.solve()
PETSc.Sys.Print(f'{eps.getType()}: {eps.getIterationNumber()} iterations, {eps.getConverged()} eigenvalues')
for i in range(min(eps.getConverged(), eps.getDimensions()[0])):
    value = eps.getEigenvalue(i).real
    error = eps.computeError(i, SLEPc.EPS.ErrorType.ABSOLUTE) / max(abs(value), 1)
    PETSc.Sys.Print(f'{round(value / math.pi**2, 10) + 0:.10f}  residual {error:.0e}')
