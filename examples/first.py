"""-div grad u = 1 in the unit cube, u = 0 on its boundary:  python3 first.py [-ksp_monitor and other options]"""
import sys
import petsc4py
petsc4py.init(sys.argv)
import vpatchdg
from petsc4py import PETSc

dm = vpatchdg.create(dim=3, degree=4, refine=3)  # 8 x 8 x 8 cells
solution = vpatchdg.solve(dm, f=1, dirichlet=0)  # or functions of points: f=lambda x: x[..., 0] * x[..., 1]
middle = vpatchdg.evaluate(dm, solution.u, [0.5, 0.5, 0.5])
PETSc.Sys.Print(f'{solution}\nu = {middle:.5f} in the middle')
