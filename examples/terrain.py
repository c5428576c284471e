"""Wind over a hill: in every time step the pressure makes the velocity free of divergence, and tangential to the ground.

  python3 terrain.py [-steps 5] [-dm_refine 3]

The channel is periodic along x, and its cells follow the ground. The solver is made once; right-hand sides change.
"""
import sys
import petsc4py
petsc4py.init(sys.argv)
import numpy as np
import vpatchdg
from petsc4py import PETSc


def wind(x, t):
    """The velocity without pressure."""
    gust = 0.3 * np.sin(np.pi / 2 * x[..., 0] - t)
    return np.stack([x[..., 1] * (2 - x[..., 1]) + gust, 0 * gust], axis=-1)


def minus_divergence(x, t):
    return -0.15 * np.pi * np.cos(np.pi / 2 * x[..., 0] - t)


dm = vpatchdg.create(dim=2, degree=4, refine=1, grid=[16, 4], boundary=['periodic', 'periodic', 'neumann', 'neumann'], map=('bump', 2))
ksp = PETSc.KSP().create()
ksp.setOperators(dm.createMat())
ksp.setType('vpatchdgfcg')
ksp.setTolerances(rtol=1e-8)
ksp.getPC().setType('vpatchdg')
ksp.setFromOptions()
ksp.setInitialGuessNonzero(True)

x, p, constants = vpatchdg.points(dm), dm.createGlobalVec(), ksp.getOperators()[0].getNullSpace()
for step in range(PETSc.Options().getInt('steps', 5)):
    t = 0.2 * step
    # -div grad p = -div wind and dp/dn = wind n: what is left, wind - grad p, has no divergence and no part along the normal
    b = vpatchdg.rhs(dm, lambda x: minus_divergence(x, t), neumann=lambda x, n: (wind(x, t) * n).sum(axis=-1))
    constants.remove(b)
    ksp.solve(b, p)
    gradient = vpatchdg.gradients(dm, p)
    energy, work = (vpatchdg.integral(dm, vpatchdg.from_point_values(dm, (v * w).sum(axis=-1)))
                    for v, w in ((gradient, gradient), (wind(x, t) - gradient, gradient)))
    PETSc.Sys.Print(f't = {t:.1f}: {ksp.getIterationNumber()} iterations, pressure does {abs(work) / energy:.0e} of its energy as work')
