"""Functions and vectors: values at points, right-hand sides, errors.

A vector of the DM holds coefficients of an orthonormal basis. Points are the (degree+1)^dim Gauss points of every cell: arrays
[cells][points][dim] of this rank's cells, and values [cells][points].

Values may also be in a vector like dm.createGlobalVec(), in the same order: then nothing is copied, and nothing leaves a GPU where vectors live
there. numpy.from_dlpack(vector), or cupy.from_dlpack(vector) on a GPU, is an array that shares a vector's memory, and vector(dm, array) is the
reverse. Arrays of other libraries that speak DLPack or have a __cuda_array_interface__ are also taken without a copy."""
from __future__ import annotations

import ctypes
from typing import Callable, NamedTuple, Optional, Union

import numpy as np
from petsc4py import PETSc

from .arrays import memory, vector
from .library import HOST, Callbacks, Flux, Function, Handle, Int, Real, call, is_pointwise, new_vector, reals
from .mesh import cells, require

Data = Union[Callable, np.ndarray, PETSc.Vec, float]


class Errors(NamedTuple):
    """Norms of u_h - u and of grad u_h - grad u, cell by cell; h1 is None where no gradient was given."""
    l2: float
    h1: Optional[float]


def points(dm: PETSc.DM) -> np.ndarray:
    """The coordinates of this rank's points. Collective."""
    return new_vector('DMVPatchDGGetPoints', dm).getArray().reshape(cells(dm), -1, dm.getDimension())


def point_values(dm: PETSc.DM, x: PETSc.Vec, out: PETSc.Vec | None = None) -> np.ndarray | PETSc.Vec:
    """The values at this rank's points of the function that has the coefficients x: an array, or the vector `out`, which gets them where it lives.
    Collective."""
    values = dm.createGlobalVec() if out is None else out
    call('DMVPatchDGGetPointValues', dm, Handle(x.handle), Handle(values.handle))
    return values.getArray().reshape(cells(dm), -1) if out is None else out


def from_point_values(dm: PETSc.DM, u: Data) -> PETSc.Vec:
    """The coefficients of the function that has the values u (an array, a vector, a number or a function of points) at the points. The same vector is the
    right-hand side (u, phi_i), by these points. Collective."""
    values, x = _at_points(dm, u(points(dm)) if callable(u) else u), dm.createGlobalVec()
    call('DMVPatchDGSetPointValues', dm, Handle(values.handle), Handle(x.handle))
    return x


def _at_points(dm: PETSc.DM, u: np.ndarray | PETSc.Vec | float) -> PETSc.Vec:
    """A vector with values at the points."""
    if isinstance(u, PETSc.Vec):
        return u
    if not isinstance(u, np.ndarray) and memory(u):
        return vector(dm, u)
    values, u = dm.createGlobalVec(), np.asarray(u, float)
    shape = (cells(dm), values.getLocalSize() // max(cells(dm), 1))
    require(dm, u.shape in ((), shape), f'values at points of the shape {shape} are needed, not {u.shape}')
    values.setArray(np.broadcast_to(u, shape).ravel())
    return values


def gradients(dm: PETSc.DM, x: PETSc.Vec) -> np.ndarray:
    """The gradients [cells][points][dim] at this rank's points of the function that has the coefficients x. Collective."""
    found = new_vector('DMVPatchDGGetPoints', dm)
    call('DMVPatchDGGetPointGradients', dm, Handle(x.handle), Handle(found.handle))
    return found.getArray().reshape(cells(dm), -1, dm.getDimension())


def evaluate(dm: PETSc.DM, x: PETSc.Vec, at: np.ndarray) -> np.ndarray:
    """The values at any points at[n, dim] of the domain, a list of each rank's own, of the function that has the coefficients x. Collective."""
    at = np.asarray(at, float)
    dim = dm.getDimension()
    require(dm, at.ndim == 2 and at.shape[1] == dim, f'points of the shape (n, {dim}) are needed, not {at.shape}')
    values = np.empty(len(at))
    call('DMVPatchDGEvaluate', dm, Handle(x.handle), Int(len(at)), reals(at), reals(values))
    return values


def integral(dm: PETSc.DM, x: PETSc.Vec) -> float:
    """The integral over the domain of the function that has the coefficients x. Collective."""
    found = Real()
    call('DMVPatchDGIntegrate', dm, Handle(x.handle), ctypes.byref(found))
    return found.value


def rhs(dm: PETSc.DM, f: Data | None = None, dirichlet: Callable | float | None = None, neumann: Callable | float | None = None) -> PETSc.Vec:
    """The right-hand side of -div(a grad u) + c u = f, u = dirichlet and du/dn = neumann(x, normal) on sides of these kinds; None is 0.

    f is an array or a vector of values at the points, or, as the other data, a number or a function. Functions are called with many points x[n, dim] at a
    time, and normals of the same shape; compiled ones of one point (Function, Flux) point by point. Collective.
    """
    b, callbacks = dm.createGlobalVec(), Callbacks()
    values = f if isinstance(f, PETSc.Vec) or ((found := memory(f)) and found.shape) else None
    data = None if values is not None else f, dirichlet, neumann
    batches = callbacks.batch(data[0]), callbacks.batch(dirichlet), callbacks.batch(neumann, normals=True)
    callbacks.call('DMVPatchDGComputeRHSBatch', dm, *batches, HOST, None, Handle(b.handle))
    if any(map(is_pointwise, data)):
        more = b.duplicate()
        functions = callbacks.pointwise(Function, data[0]), callbacks.pointwise(Function, dirichlet), callbacks.pointwise(Flux, neumann)
        callbacks.call('DMVPatchDGComputeRHS', dm, *functions, None, Handle(more.handle))
        b.axpy(1, more)
    if values is not None:
        given, more = _at_points(dm, values), b.duplicate()
        call('DMVPatchDGComputeRHSFromPoints', dm, Handle(given.handle), None, None, Handle(more.handle))
        b.axpy(1, more)
    return b


def errors(dm: PETSc.DM, x: PETSc.Vec, u: Callable | float | None = None, gradient: Callable | None = None) -> Errors:
    """Norms of the difference of the function with the coefficients x and of u, whose gradient [n, dim] is another function. None is 0. The functions
    are called as in rhs(). Collective."""
    callbacks, found = Callbacks(), (Real(), Real())
    for i, function in enumerate((u, gradient)):
        wanted = [ctypes.byref(number) if i == k else None for k, number in enumerate(found)]
        if i and function is None:
            continue
        if is_pointwise(function):
            functions = [callbacks.pointwise(Function, function if i == k else None) for k in range(2)]
            callbacks.call('DMVPatchDGComputeErrors', dm, Handle(x.handle), *functions, None, *wanted)
        else:
            functions = [callbacks.batch(function if i == k else None, dm.getDimension() if k else 1) for k in range(2)]
            callbacks.call('DMVPatchDGComputeErrorsBatch', dm, Handle(x.handle), *functions, HOST, None, *wanted)
    return Errors(found[0].value, found[1].value if gradient is not None else None)
