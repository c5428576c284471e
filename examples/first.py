"""-div grad u = 1 in the unit cube, u = 0 on its boundary:  python3 first.py -dll_append /path/to/libvpatchdg.so"""
import sys
import petsc4py
petsc4py.init(sys.argv[:1] + '-dm_vpatchdg_degree 4 -dm_refine 3'.split() + sys.argv[1:])  # 8 x 8 x 8 cells
from petsc4py import PETSc

dm = PETSc.DM().create()
dm.setType('vpatchdg')
dm.setFromOptions()
dm.setUp()

ksp = PETSc.KSP().create()
ksp.setDM(dm)  # brings the operator and the right-hand side f = 1
ksp.setType('fgmres')
ksp.setTolerances(rtol=1e-8)
ksp.getPC().setType('vpatchdg')
ksp.setFromOptions()
ksp.solve(None, None)

x, b = ksp.getSolution(), ksp.getRhs()
residual = (b - ksp.getOperators()[0] * x).norm() / b.norm()
PETSc.Sys.Print(f'{x.getSize()} unknowns, {ksp.its} iterations, relative residual {residual:.1e}')
