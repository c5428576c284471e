"""Water flows through folded layers of rock, which let it through along the layers more easily than across them:

  python3 porous.py [-dm_refine 4] [-picture porous.png]

Cells follow the fold by a map. The permeability is a full matrix, a smooth function of points.
"""
import sys
import petsc4py
petsc4py.init(sys.argv)
import numpy as np
import vpatchdg
from petsc4py import PETSc

LAYERS = 4


def fold(x):
    """How much higher layers are at x."""
    return 0.1 * np.sin(2 * np.pi * x)


def bend(x):
    """The map of cells, from the unit square."""
    return np.stack([x[:, 0], x[:, 1] + fold(x[:, 0])], axis=-1)


def permeability(x):
    """k along a layer, a tenth of it across: k/10 (I + 9 t t^T) with the layer's direction t"""
    slope = 0.2 * np.pi * np.cos(2 * np.pi * x[:, 0])
    t = np.stack([np.ones_like(slope), slope], axis=-1) / np.sqrt(1 + slope**2)[:, None]
    k = np.exp(1.5 * np.cos(2 * np.pi * LAYERS * (x[:, 1] - fold(x[:, 0]))))
    return k[:, None, None] / 10 * (np.eye(2) + 9 * t[:, :, None] * t[:, None])


dm = vpatchdg.create(dim=2, degree=3, refine=4, grid=[1, 2], boundary=['dirichlet', 'dirichlet', 'neumann', 'neumann'], map=bend,
                     coefficient=permeability)
pressure = vpatchdg.solve(dm, dirichlet=lambda x: 1 - x[..., 0], options={'ksp_type': 'vpatchdgfcg'})
x = vpatchdg.points(dm)
flow = -np.einsum('cpde,cpe->cpd', permeability(x.reshape(-1, 2)).reshape(*x.shape, 2), vpatchdg.gradients(dm, pressure.u))
through = vpatchdg.integral(dm, vpatchdg.from_point_values(dm, flow[..., 0].copy()))  # as much on every line x = const
PETSc.Sys.Print(f'{pressure.u.getSize()} unknowns, {pressure.iterations} iterations, {through:.4f} flows through')
if PETSc.Options().hasName('picture'):
    vpatchdg.plot(dm, pressure.u, mesh=True, file=PETSc.Options().getString('picture'))
