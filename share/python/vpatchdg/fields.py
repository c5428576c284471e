"""Functions and vectors: values at points, right-hand sides, errors.

A vector of the DM holds coefficients of an orthonormal basis. Points are the (degree+1)^dim Gauss points of every cell: arrays
[cells][points][dim] of this rank's cells, and values [cells][points]."""
from __future__ import annotations

import ctypes
from typing import Callable, NamedTuple, Optional, Union

import numpy as np
from petsc4py import PETSc

from .library import Callbacks, Flux, Function, Handle, Real, call, names, new_vector
from .mesh import cells, require

Data = Union[Callable, np.ndarray, float]


class Errors(NamedTuple):
    """Norms of u_h - u and of grad u_h - grad u, cell by cell; h1 is None where no gradient was given."""
    l2: float
    h1: Optional[float]


def points(dm: PETSc.DM) -> np.ndarray:
    """The coordinates of this rank's points. Collective."""
    return new_vector('DMVPatchDGGetPoints', dm).getArray().reshape(cells(dm), -1, dm.getDimension())


def point_values(dm: PETSc.DM, x: PETSc.Vec) -> np.ndarray:
    """The values at this rank's points of the function that has the coefficients x. Collective."""
    values = dm.createGlobalVec()
    call('DMVPatchDGGetPointValues', dm, Handle(x.handle), Handle(values.handle))
    return values.getArray().reshape(cells(dm), -1)


def from_point_values(dm: PETSc.DM, u: Data) -> PETSc.Vec:
    """The coefficients of the function that has the values u (an array, a number or a function of points) at the points. The same vector is the
    right-hand side (u, phi_i), by these points. Collective."""
    values, x = dm.createGlobalVec(), dm.createGlobalVec()
    u = np.asarray(u(points(dm)) if callable(u) else u, float)
    shape = (cells(dm), values.getLocalSize() // max(cells(dm), 1))
    require(dm, u.shape in ((), shape), f'values at points of the shape {shape} are needed, not {u.shape}')
    values.setArray(np.broadcast_to(u, shape).ravel())
    call('DMVPatchDGSetPointValues', dm, Handle(values.handle), Handle(x.handle))
    return x


def _compiled(f) -> bool:
    return isinstance(getattr(f, 'ctypes', f), ctypes._CFuncPtr)


def _is_singular(dm: PETSc.DM) -> bool:
    sides, reaction = (ctypes.c_int * 6)(), Real()
    call('DMVPatchDGGetBoundary', dm, sides)
    call('DMVPatchDGGetReaction', dm, ctypes.byref(reaction))
    return reaction.value == 0 and names('VPatchDGBoundaries').index('dirichlet') not in sides[:2 * dm.getDimension()]


def rhs(dm: PETSc.DM, f: Data | None = None, dirichlet: Callable | float | None = None, neumann: Callable | float | None = None) -> PETSc.Vec:
    """The right-hand side of -div(a grad u) + c u = f, u = dirichlet and du/dn = neumann(x, normal) on sides of these kinds; None is 0.

    f is an array of values at the points, or a number or function that is evaluated there. The functions on the boundary, and a compiled f, are
    called point by point, with more points, as by DMVPatchDGComputeRHS(). Collective.
    """
    b, callbacks = dm.createGlobalVec(), Callbacks()
    volume = f if _compiled(f) else None
    functions = callbacks.make(Function, volume), callbacks.make(Function, dirichlet), callbacks.make(Flux, neumann)
    callbacks.call('DMVPatchDGComputeRHS', dm, *functions, None, Handle(b.handle))
    if f is not None and volume is None:
        b.axpy(1, from_point_values(dm, f))
        if _is_singular(dm):
            one = from_point_values(dm, 1)
            b.axpy(-b.dot(one) / one.dot(one), one)
    return b


def errors(dm: PETSc.DM, x: PETSc.Vec, u: Callable | float | None = None, gradient: Callable | None = None) -> Errors:
    """Norms of the difference of the function with the coefficients x and of u, whose gradient [dim] is another function. None is 0. The functions
    are called point by point. Collective."""
    callbacks, l2, h1 = Callbacks(), Real(), Real()
    functions = callbacks.make(Function, u), callbacks.make(Function, gradient, dm.getDimension())
    callbacks.call('DMVPatchDGComputeErrors', dm, Handle(x.handle), *functions, None, ctypes.byref(l2), ctypes.byref(h1) if gradient else None)
    return Errors(l2.value, h1.value if gradient else None)
