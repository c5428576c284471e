"""-div grad u = f on an L-shape, solved on a sequence of meshes, each refined where the estimated error is large.

  python3 adapt.py [-most 20000] -dll_append /path/to/libvpatchdg.so -dm_vpatchdg_degree 3

u = r^(2/3) sin(2/3 phi), whose gradient is infinite at the corner: on uniform meshes the error of grad u decreases like
unknowns^(-1/3) at every degree, on adaptive meshes like unknowns^(-degree/2).
"""
import sys

import numpy as np
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

import vpatchdg


def angle(x):
    """angle from the side that points up; 3/2 pi on the other side"""
    phi = np.arctan2(x[..., 1], x[..., 0]) - np.pi / 2
    return np.where(phi < -1e-12, phi + 2 * np.pi, phi)


def solution(x):
    return (x**2).sum(axis=-1)**(1 / 3) * np.sin(2 * angle(x) / 3)


def gradient(x):
    slope = 2 / 3 * (x**2).sum(axis=-1)**(-1 / 6)
    return np.stack([-slope * np.cos(angle(x) / 3), -slope * np.sin(angle(x) / 3)], axis=-1)


dm = vpatchdg.create(dim=2, degree=3, refine=1, domain='lshape')
x = dm.createGlobalVec()
most = PETSc.Options().getInt('most', 10000)
PETSc.Sys.Print('unknowns  its  error of grad u')
while True:
    found = vpatchdg.solve(dm, dirichlet=solution, guess=x)
    x = found.u
    PETSc.Sys.Print(f'{x.getSize():8d} {found.iterations:4d}  {vpatchdg.errors(dm, x, solution, gradient).h1:.2e}')
    if x.getSize() >= most:
        break
    eta = vpatchdg.estimate(dm, x, dirichlet=solution)
    finer = vpatchdg.refine_cells(dm, vpatchdg.mark(dm, eta))
    dm, x = finer, vpatchdg.transfer(dm, finer, x)
