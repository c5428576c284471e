"""Interior-penalty DG on boxes with vertex-patch multigrid, for petsc4py.

Importing this package loads its library into petsc4py's PETSc, which then knows the DM and the PC of type "vpatchdg":

    import vpatchdg
    from petsc4py import PETSc

    dm = vpatchdg.create(dim=2, degree=4, refine=5)
    ksp = PETSc.KSP().create()
    ksp.setDM(dm)
    ksp.setType('fgmres')
    ksp.getPC().setType('vpatchdg')
    b = vpatchdg.rhs(dm, lambda x: x[..., 0] * x[..., 1])
    u = b.duplicate()
    ksp.solve(b, u)
    vpatchdg.point_values(dm, u)    # a NumPy array

Options say most of what there is to say, and petsc4py's own methods do the rest; the functions here are for what neither reaches. For options of
the command line call petsc4py.init(sys.argv) before this package is imported.

A function of points takes an array x[..., dim] and returns the array of its values [...]: x[..., 0] is the first coordinate of many points. A
compiled function (a ctypes function of type Batch, or of Function or Flux for one point, or a numba.cfunc of that signature) is called without
Python.
"""
from . import petsc  # first: says what to type where petsc4py is missing or does not fit  # noqa: F401
from .adapt import estimate, mark, refine_cells, surplus, transfer
from .arrays import vector
from .fields import errors, evaluate, from_point_values, gradients, integral, point_values, points, rhs
from .library import Batch, Flux, Function
from .mesh import bounds, cells, coefficient, create, set_coefficient, set_label_boundary, view_cells
from .show import load_ipython_extension, text

__all__ = ['Batch', 'Flux', 'Function', 'bounds', 'cells', 'coefficient', 'create', 'errors', 'estimate', 'evaluate', 'from_point_values', 'gradients',
           'integral', 'mark', 'point_values', 'points', 'refine_cells', 'rhs', 'set_coefficient', 'set_label_boundary', 'surplus', 'text', 'transfer',
           'vector', 'view_cells', 'load_ipython_extension']
