"""-div grad u + exp(u) = f by Newton's method: the Jacobian is a matrix in Python, and one cycle serves all steps.

  python3 nonlinear.py -dm_refine 5 -snes_monitor -ksp_converged_reason
"""
import sys

import numpy as np
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

import vpatchdg

dm = vpatchdg.create(dim=2, degree=4, refine=4)
A, P = dm.createMat(), dm.createMat()


def exact(x):
    return np.sin(np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])


b = vpatchdg.rhs(dm, lambda x: 2 * np.pi**2 * exact(x) + np.exp(exact(x)))


def function(snes, u, F):
    A.mult(u, F)
    F.axpy(1, vpatchdg.from_point_values(dm, np.exp(vpatchdg.point_values(dm, u))))  # (exp(u), phi_i)
    F.axpy(-1, b)


class Jacobian:
    """v -> A v + (exp(u) v, phi_i)"""
    weight = None

    def mult(self, mat, v, w):
        A.mult(v, w)
        w.axpy(1, vpatchdg.from_point_values(dm, self.weight * vpatchdg.point_values(dm, v)))


operator = Jacobian()
J = PETSc.Mat().createPython(A.getSizes(), operator, comm=dm.comm)
J.setUp()
P.shift(1)  # P = A + I for all steps: 1 is about exp(u), and the mass matrix is the identity


def jacobian(snes, u, J, P):
    operator.weight = np.exp(vpatchdg.point_values(dm, u))
    return True


u = b.duplicate()
snes = PETSc.SNES().create()
snes.setFunction(function, b.duplicate())
snes.setJacobian(jacobian, J, P)
snes.setTolerances(rtol=1e-10)
ksp = snes.getKSP()
ksp.setType('fgmres')
ksp.setTolerances(rtol=1e-6)
ksp.getPC().setType('vpatchdg')
snes.setFromOptions()
snes.solve(None, u)
PETSc.Sys.Print(f'{snes.getIterationNumber()} steps of Newton, {snes.getLinearSolveIterations()} iterations, '
                f'L2 error {vpatchdg.errors(dm, u, exact).l2:.1e}')
snes.destroy()  # SNES and J refer to Python objects, which refer to them
J.destroy()
