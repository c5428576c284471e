"""Discontinuous Galerkin methods on boxes with vertex-patch multigrid, for petsc4py.

    import vpatchdg

    dm = vpatchdg.create(dim=2, degree=4, refine=5)
    solution = vpatchdg.solve(dm, f=lambda x: x[..., 0] * x[..., 1])
    print(solution)
    vpatchdg.plot(dm, solution.u, file='u.png')

Importing the package loads its library into petsc4py's PETSc, which then knows the DM and the PC of type "vpatchdg". For options of the command
line call petsc4py.init(sys.argv) before this package is imported.

meshes       create, cells, bounds, coefficient, set_coefficient, set_region_coefficient, set_label_boundary
solving      rhs, add_point_sources, solve; a KSP of petsc4py with pc_type vpatchdg; set_element_restriction
values       points, point_values, gradients, evaluate, line, integral, flux, errors, from_point_values, vector
pictures     plot, plot_mesh, shapes, patch_colors, view_cells, text, load_ipython_extension
refinement   estimate, surplus, mark, refine_cells, transfer

A function of points takes an array x[n, dim] and returns the values [n]: x[..., 0] is the first coordinate of all points. Where speed matters, a
compiled function is called without Python: a ctypes function of type vpatchdg.Batch, or of vpatchdg.Function or vpatchdg.Flux for one point, or a
numba.cfunc of that signature.

A Vec of the DM holds coefficients. Arrays are those of this rank's cells. Functions that are "Collective" are called on all ranks.
"""
from . import petsc  # first: says what to type where petsc4py is missing or does not fit  # noqa: F401
from .adapt import estimate, mark, refine_cells, surplus, transfer
from .arrays import vector
from .fields import add_point_sources, errors, evaluate, flux, from_point_values, gradients, integral, line, point_values, points, rhs
from .library import Batch, Flux, Function, __version__
from .mesh import bounds, cells, coefficient, create, set_coefficient, set_label_boundary, set_region_coefficient, view_cells
from .picture import plot
from .pictures import patch_colors, plot_mesh, shapes
from .show import load_ipython_extension, text
from .solving import ConvergenceError, Solution, set_element_restriction, solve

# what help() shows and `import *` brings: without Batch, Flux, Function and ConvergenceError, whose base classes fill pages
__all__ = ['Solution', 'add_point_sources', 'bounds', 'cells', 'coefficient', 'create', 'errors', 'estimate', 'evaluate', 'flux', 'from_point_values',
           'gradients', 'integral', 'line', 'load_ipython_extension', 'mark', 'patch_colors', 'plot', 'plot_mesh', 'point_values', 'points',
           'refine_cells', 'rhs', 'set_coefficient', 'set_element_restriction', 'set_label_boundary', 'set_region_coefficient', 'shapes', 'solve',
           'surplus', 'text', 'transfer', 'vector', 'view_cells']
