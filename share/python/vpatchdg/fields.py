"""Functions and vectors: values at points, right-hand sides, errors.

A vector of the DM holds coefficients of an orthonormal basis. Points are the (degree+1)^dim Gauss points of every cell: arrays
[cells][points][dim] of this rank's cells, and values [cells][points].

Values may also be in a vector like dm.createGlobalVec() of a DM that is not continuous, in the same order: then nothing is copied, and nothing leaves a GPU where vectors live
there. numpy.from_dlpack(vector), or cupy.from_dlpack(vector) on a GPU, is an array that shares a vector's memory, and vector(dm, array) is the
reverse. Arrays of other libraries that speak DLPack or have a __cuda_array_interface__ are also taken without a copy."""
from __future__ import annotations

import ctypes
from numbers import Real as Number
from typing import Callable, NamedTuple, Optional, Sequence, Union

import numpy as np
from petsc4py import PETSc

from .arrays import memory, vector
from .library import HOST, Callbacks, Flux, Function, Handle, Int, Real, ask, call, compiled, is_pointwise, new_vector, reals
from .mesh import bounds, cells, require, together

Data = Union[Callable, np.ndarray, PETSc.Vec, float]


def is_data(data) -> bool:
    """Whether it is a number, a function of points, or None."""
    return data is None or callable(data) or compiled(data) is not None or isinstance(data, Number)


def check_data(dm: PETSc.DM, **given) -> None:
    """Raises a ValueError on all ranks if one of the data is no number, function of points or None. Collective."""
    for name, data in given.items():
        require(dm, is_data(data), f'{name}: a number or a function of points is needed, not {type(data).__name__}')


def check_boundary(dm: PETSc.DM, dirichlet, neumann) -> None:
    """Raises a ValueError on all ranks if data on the boundary are of a wrong type, or belong to sides that do not exist. Collective."""
    check_data(dm, dirichlet=dirichlet, neumann=neumann)
    if not any(data is not None and data != 0 for data in (dirichlet, neumann)):
        return
    exist = [new_vector('DMVPatchDGCreateBoundaryVector', dm, ctypes.c_int(kind)).getSize() > 0 for kind in range(2)]
    for name, data, there, kinds in zip(('dirichlet', 'neumann'), (dirichlet, neumann), exist, ('Dirichlet', 'Neumann or Robin')):
        others = 'all sides are ' + ('Neumann or Robin' if exist[1] else 'Dirichlet') if any(exist) else 'all sides are periodic'
        if data is not None and data != 0 and not there:
            raise ValueError(f'{name}: no side of the boundary is {kinds}, {others}. create(boundary=...) says which condition holds where')


class Errors(NamedTuple):
    """Norms of u_h - u and of grad u_h - grad u, cell by cell; h1 is None where no gradient was given."""
    l2: float
    h1: Optional[float]


def points(dm: PETSc.DM, at: Sequence[float] | None = None) -> np.ndarray:
    """Returns the coordinates of points in each of this rank's cells. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    at : sequence of m floats, optional
        Positions along each direction of a cell, from 0 (its lower side) to 1: the points of a cell are their m^dim combinations, x fastest.
        (0, 1) are its corners. By default the degree + 1 Gauss points.

    Returns
    -------
    numpy.ndarray
        [cells][m^dim][dim] in the unit of length of the mesh.
    """
    dim = dm.getDimension()
    if at is None:
        return new_vector('DMVPatchDGGetPoints', dm).getArray().reshape(cells(dm), -1, dim)
    gauss = points(dm)
    if is_mapped(dm, gauss):
        return np.stack([inside(gauss[..., d], [np.asarray(at, float)] * dim) for d in range(dim)], axis=-1)
    return _in_boxes(dm, np.asarray(at, float))


def _in_boxes(dm: PETSc.DM, at: np.ndarray) -> np.ndarray:
    (lower, upper), grid = bounds(dm), np.meshgrid(*[at] * dm.getDimension(), indexing='ij')
    reference = np.stack([g.ravel() for g in reversed(grid)], axis=-1)
    return lower[:, None] + (upper - lower)[:, None] * reference


def is_mapped(dm: PETSc.DM, gauss: np.ndarray | None = None) -> bool:
    """Whether cells of this rank are not boxes, by where their Gauss points are."""
    gauss = points(dm) if gauss is None else gauss
    at = np.polynomial.legendre.leggauss(round(gauss.shape[1]**(1 / gauss.shape[2])))[0]
    lower, upper = bounds(dm)
    return bool((abs(gauss - _in_boxes(dm, (1 + at) / 2)) > 1e-10 * (upper - lower).max(axis=1)[:, None, None]).any())


def point_values(dm: PETSc.DM, x: PETSc.Vec, out: PETSc.Vec | None = None, *, at: Sequence[float] | None = None) -> np.ndarray | PETSc.Vec:
    """Returns the values of a function at points in each of this rank's cells. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.
    out : PETSc.Vec, optional
        A vector like `dm.createGlobalVec()` of a DM that is not continuous, which gets the values at the Gauss points, on a GPU if it lives there.
    at : sequence of m floats, optional
        Which points, as in `points`; (0, 1) are the corners. A corner of several cells has a value in each of them.

    Returns
    -------
    numpy.ndarray or PETSc.Vec
        [cells][m^dim], x fastest, by default at the (degree + 1)^dim Gauss points; or `out`.
    """
    values = new_vector('DMVPatchDGCreatePointVector', dm) if out is None else out
    call('DMVPatchDGGetPointValues', dm, Handle(x.handle), Handle(values.handle))
    if out is not None:
        return out
    values = values.getArray().reshape(cells(dm), -1)
    return values if at is None else inside(values, [np.asarray(at, float)] * dm.getDimension())


def inside(values: np.ndarray, at: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the values at other points [cells][m^dim] of functions that have the values [cells][points] at the Gauss points.

    at: dim arrays of positions from 0 to 1, [m] or, if each cell has its own, [cells][m].
    """
    n = round(values.shape[1]**(1 / len(at)))
    gauss, legendre = np.polynomial.legendre.leggauss(n)[0], np.polynomial.legendre.legvander
    values, basis = values.reshape(-1, *[n] * len(at)), np.linalg.inv(legendre(gauss, n - 1))
    for axis, positions in zip(range(len(at), 0, -1), at):
        rows = np.moveaxis(values, axis, -1)
        new = rows.reshape(len(values), int(np.prod(rows.shape[1:-1])), n) @ np.swapaxes(legendre(2 * positions - 1, n - 1) @ basis, -1, -2)
        values = np.moveaxis(new.reshape(*rows.shape[:-1], new.shape[-1]), -1, axis)
    return values.reshape(len(values), int(np.prod(values.shape[1:])))


def from_point_values(dm: PETSc.DM, u: Data) -> PETSc.Vec:
    """Returns the coefficients of the function that has given values at the Gauss points. Collective.

    The same vector is the right-hand side (u, phi_i), integrated by these points.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    u : array, PETSc.Vec, float or callable
        The values [cells][points], a number, or a function of points x[n, dim] that returns values [n].

    Returns
    -------
    PETSc.Vec

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    """
    if callable(u):
        at = points(dm)
        found = together(dm, ask, u, at.reshape(-1, at.shape[-1]))
        u = found.reshape(at.shape[:2]) if found.ndim else found
    values, x = _at_points(dm, u), dm.createGlobalVec()
    call('DMVPatchDGSetPointValues', dm, Handle(values.handle), Handle(x.handle))
    return x


def _at_points(dm: PETSc.DM, u: np.ndarray | PETSc.Vec | float) -> PETSc.Vec:
    """A vector with values at the points."""
    if isinstance(u, PETSc.Vec):
        return u
    if not isinstance(u, np.ndarray) and memory(u):
        return vector(dm, u)
    values, u = new_vector('DMVPatchDGCreatePointVector', dm), np.asarray(u, float)
    shape = (cells(dm), values.getLocalSize() // max(cells(dm), 1))
    require(dm, u.shape in ((), shape), f'values at points of the shape {shape} are needed, not {u.shape}')
    values.setArray(np.broadcast_to(u, shape).ravel())
    return values


def gradients(dm: PETSc.DM, x: PETSc.Vec) -> np.ndarray:
    """Returns the gradients of a function at the Gauss points of this rank's cells. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.

    Returns
    -------
    numpy.ndarray
        [cells][points][dim], in the unit of the function by that of length.
    """
    found = new_vector('DMVPatchDGGetPoints', dm)
    call('DMVPatchDGGetPointGradients', dm, Handle(x.handle), Handle(found.handle))
    return found.getArray().reshape(cells(dm), -1, dm.getDimension())


def evaluate(dm: PETSc.DM, x: PETSc.Vec, at: np.ndarray) -> np.ndarray:
    """Returns the values of a function at any points of the domain. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.
    at : array_like
        [..., dim]: one point or many, a list of each rank's own, on cells of any rank. An empty list has the shape [0][dim].

    Returns
    -------
    numpy.ndarray
        [...], a number for one point. At a point on sides of cells one of the cells is taken.

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    PETSc.Error
        A point lies outside of the domain.
    """
    at = np.asarray(at, float)
    dim = dm.getDimension()
    require(dm, at.ndim > 0 and at.shape[-1] == dim, f'points of the shape (..., {dim}) are needed, not {at.shape}')
    values = np.empty(at.shape[:-1])
    call('DMVPatchDGEvaluate', dm, Handle(x.handle), Int(values.size), reals(at), reals(values))
    return values[()]


def gather(dm: PETSc.DM, array: np.ndarray) -> np.ndarray:
    """Returns the rows of all ranks' arrays [n, ...] one after the other, on all ranks. Collective."""
    array = np.ascontiguousarray(array, float)
    if dm.comm.size == 1:
        return array
    mine = PETSc.Vec().createWithArray(array.ravel(), (array.size, None), comm=dm.comm)
    scatter, everything = PETSc.Scatter.toAll(mine)
    scatter.scatter(mine, everything)
    found = everything.getArray().reshape(-1, *array.shape[1:]).copy()
    for used in (scatter, everything, mine):
        used.destroy()
    return found


def _touched(dm: PETSc.DM, start: np.ndarray, end: np.ndarray, n: int) -> np.ndarray:
    """Which of n points from start to end lie in this rank's cells, [n]."""
    found, fit = np.zeros(n, bool), 1e-9
    lower, upper = bounds(dm)
    with np.errstate(divide='ignore', invalid='ignore'):  # along d all points lie between two faces, or none does
        t = np.sort([(lower - start) / (end - start), (upper - start) / (end - start)], axis=0)
    still = start == end
    t[:, :, still] = np.where((lower <= start) & (start <= upper), [[[-np.inf]], [[np.inf]]], [[[np.inf]], [[-np.inf]]])[:, :, still]
    first, last = t[0].max(axis=1, initial=0), t[1].min(axis=1, initial=1)
    for t0, t1 in zip(first[first <= last], last[first <= last]):
        found[int(np.ceil(t0 * (n - 1) - fit)):int(np.floor(t1 * (n - 1) + fit)) + 1] = True
    return found


def line(dm: PETSc.DM, x: PETSc.Vec, start: Sequence[float], end: Sequence[float], n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values of a function at equally spaced points of a line. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.
    start, end : sequence of dim floats
        The first and the last point.
    n : int
        The number of points, 2 or more.

    Returns
    -------
    at : numpy.ndarray
        The points [n][dim].
    values : numpy.ndarray
        [n], the same on all ranks; NaN outside of the domain.

    Raises
    ------
    ValueError
        A point has not dim coordinates.
    """
    dim = dm.getDimension()
    start, end = (np.asarray(point, float) for point in (start, end))
    require(dm, start.shape == end.shape == (dim,) and n > 1, f'two points of {dim} coordinates and n > 1 are needed, not {start}, {end}, {n}')
    at, values = np.linspace(start, end, n), np.full(n, np.nan)
    mine = np.flatnonzero(_touched(dm, start, end, n))
    found = gather(dm, np.stack([mine, evaluate(dm, x, at[mine])], axis=-1))
    values[found[:, 0].astype(int)] = found[:, 1]
    return at, values


def integral(dm: PETSc.DM, x: PETSc.Vec) -> float:
    """Returns the integral of a function over the domain. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.

    Returns
    -------
    float
        In the unit of the function times that of volume.
    """
    found = Real()
    call('DMVPatchDGIntegrate', dm, Handle(x.handle), ctypes.byref(found))
    return found.value


def rhs(dm: PETSc.DM, f: Data | None = None, dirichlet: Callable | float | None = None, neumann: Callable | float | None = None) -> PETSc.Vec:
    """Returns the right-hand side of -div(a grad u) + c u = f with its data on the boundary. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    f : float, callable, array or PETSc.Vec, optional
        A number; a function of points x[n, dim] that returns values [n]; or its values at the Gauss points [cells][points]. None is 0.
    dirichlet : float or callable, optional
        u on Dirichlet sides, a number or a function like f.
    neumann : float or callable, optional
        du/dn on Neumann sides, du/dn + alpha u on Robin sides: a number, or a function of points x[n, dim] and outward normals [n, dim], or of
        points alone.

    Returns
    -------
    PETSc.Vec

    Raises
    ------
    ValueError
        Values have the wrong shape, data are no numbers or functions, or data on the boundary are for sides that do not exist.

    Notes
    -----
    Compiled functions of one point (Function, Flux) are called point by point.
    """
    require(dm, is_data(f) or isinstance(f, PETSc.Vec) or memory(f) is not None,
            f'f: a number, a function of points x[n, dim], or an array [cells][points] of values at the Gauss points is needed, not {f!r}')
    check_boundary(dm, dirichlet, neumann)
    b, callbacks = dm.createGlobalVec(), Callbacks()
    values = f if isinstance(f, PETSc.Vec) or ((found := memory(f)) and found.shape) else None
    data = None if values is not None else f, dirichlet, neumann
    one = compiled(dirichlet) is not None or compiled(neumann) is not None  # compiled functions get one normal for all points
    batches = callbacks.batch(data[0]), callbacks.batch(dirichlet), callbacks.batch(neumann, normals='one' if one else 'each')
    callbacks.call('DMVPatchDGComputeRHSBatch' if one else 'DMVPatchDGComputeRHSSideBatch', dm, *batches, HOST, None, Handle(b.handle))
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


def add_point_sources(dm: PETSc.DM, b: PETSc.Vec, at: np.ndarray, q: np.ndarray | float) -> PETSc.Vec:
    """Adds point sources, wells for instance, to a right-hand side: the sum of q_i delta(x - x_i). Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    b : PETSc.Vec
        The right-hand side, which is changed.
    at : array_like
        [n][dim]: the points, a list of each rank's own, on cells of any rank. A point that several ranks give counts several times: give each
        on one rank, and np.zeros((0, dim)) with q = 1 on the others.
    q : array_like or float
        [n]: the strengths, the integrals of the sources, or one number for all.

    Returns
    -------
    PETSc.Vec
        b.

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    PETSc.Error
        A point lies outside of the domain.
    """
    at, q = np.asarray(at, float), np.asarray(q, float)
    dim = dm.getDimension()
    right = at.ndim == 2 and at.shape[1] == dim and q.shape in ((), at.shape[:1])
    require(dm, right, f'points (n, {dim}) and strengths (n,) are needed, not {at.shape} and {q.shape}')
    call('DMVPatchDGAddPointSources', dm, Int(len(at)), reals(at), reals(np.broadcast_to(q, len(at))), Handle(b.handle))
    return b


def flux(dm: PETSc.DM, x: PETSc.Vec, label: int) -> float:
    """Returns the integral of a du/dn over the sides of the boundary that have a label. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of u.
    label : int
        The label, as in `set_label_boundary`; if sides have no labels 0, 1, 2, ... for all sides with the outward normal x-, x+, y-, ...

    Returns
    -------
    float
        The same on all ranks. n is the outward normal.

    Raises
    ------
    PETSc.Error
        No side on the boundary has the label.
    """
    found = Real()
    call('DMVPatchDGIntegrateFlux', dm, Handle(x.handle), Int(label), ctypes.byref(found))
    return found.value


def errors(dm: PETSc.DM, x: PETSc.Vec, u: Callable | float | None = None, gradient: Callable | None = None) -> Errors:
    """Returns norms of the difference of a discrete function and u. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the discrete function.
    u : float or callable, optional
        A number, or a function of points x[n, dim] that returns values [n]. None is 0.
    gradient : callable, optional
        A function of points that returns the gradient of u, [n, dim].

    Returns
    -------
    Errors
        l2: the L2 norm of the difference; h1: that of the gradients' difference, cell by cell, or None if no gradient was given.

    Raises
    ------
    ValueError
        Values have the wrong shape.
    """
    check_data(dm, u=u, gradient=gradient)
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
