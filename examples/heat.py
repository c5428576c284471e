"""du/dt - div grad u = 1, u = 0 at time 0 and on the boundary, by any implicit method of TS.

  python3 heat.py -dm_vpatchdg_dim 2 -dm_refine 5 -ts_type bdf

In the basis of vpatchdg the mass matrix is the identity. Every step solves (A + shift I) x = r, and the cycle approximates this inverse.
"""
import sys

import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
import vpatchdg

dm = vpatchdg.create()
b = vpatchdg.rhs(dm, 1)  # (1, phi_i)
A, J = dm.createMat(), dm.createMat()


def function(ts, t, u, udot, F):
    A.mult(u, F)
    F.axpby(1, 1, udot)  # F = u' + A u - b
    F.axpy(-1, b)


def jacobian(ts, t, u, udot, shift, J, P):
    A.copy(P)  # without entries this costs nothing
    P.shift(shift)
    return True


def monitor(ts, step, t, u):
    PETSc.Sys.Print(f'step {step:2d}  t = {t:.4f}  integral of u = {b.dot(u):.8f}  iterations so far {ts.getKSPIterations()}')


ts = PETSc.TS().create()
ts.setProblemType(PETSc.TS.ProblemType.LINEAR)
u = dm.createGlobalVec()
ts.setIFunction(function, u.duplicate())
ts.setIJacobian(jacobian, J)
ts.setType('beuler')
ts.setTimeStep(0.01)
ts.setMaxTime(0.1)
ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
ts.setMonitor(monitor)
ksp = ts.getSNES().getKSP()
ksp.setType('fgmres')
ksp.setTolerances(rtol=1e-8)
ksp.getPC().setType('vpatchdg')
ts.setFromOptions()
ts.solve(u)
