"""The DM: its creation, its cells and its coefficient."""
from __future__ import annotations

import ctypes
from numbers import Integral, Real as Number
from typing import Callable, Mapping, Sequence

import numpy as np
from petsc4py import PETSc

from .library import Callbacks, Handle, Int, Ints, Real, Reals, ask, call, names, reals, value


def require(dm: PETSc.DM, right: bool, message: str) -> None:
    """Raises a ValueError on all ranks if `right` is false on one rank. Collective."""
    if on_any_rank(dm, not right):
        raise ValueError(message if not right else f'on another rank: {message}')


def on_any_rank(dm: PETSc.DM, so: bool) -> bool:
    """Whether `so` is true on one rank. Collective."""
    return maximum(dm, so) > 0


def maximum(dm: PETSc.DM, number: float) -> float:
    """The largest of one number per rank. Collective."""
    numbers = PETSc.Vec().createMPI((1, None), comm=dm.comm)
    numbers.set(number)
    return numbers.max()[1]


def together(dm: PETSc.DM, function: Callable, *arguments):
    """Calls a function that is not collective. If it raises an exception on one rank, all ranks raise one. Collective."""
    result = error = None
    try:
        result = function(*arguments)
    except Exception as raised:
        error = raised
    if on_any_rank(dm, error is not None):
        raise error or RuntimeError('a function raised an exception on another rank')
    return result


def numbers(name: str, given, wanted: str = 'a number is') -> np.ndarray:
    """The array of what a caller gives. Raises a ValueError that names the argument and what is wanted."""
    try:
        return np.array(given, float)
    except (TypeError, ValueError):
        raise ValueError(f'{name}: {wanted} needed, not {given!r}') from None


def create(dim: int = 3, degree: int = 3, refine: int = 0, *, domain: str | None = None, grid: int | Sequence[int | Sequence[float]] | None = None,
           lower: float | Sequence[float] | None = None, upper: float | Sequence[float] | None = None,
           boxes: Sequence[tuple[Sequence[float], Sequence[float]]] | None = None, boundary: str | Sequence[str] | Callable | None = None,
           robin: float | Sequence[float] | None = None, penalty: float | None = None, reaction: float | None = None,
           coefficient: Callable | np.ndarray | float | None = None, vec_type: str | None = None, mat_type: str | None = None,
           prefix: str | None = None, comm=None) -> PETSc.DM:
    """Creates a mesh, with the polynomials and the operator -div(a grad u) + c u on it: a DM of type vpatchdg that is set up. Collective.

    Options of the command line overrule the arguments.

    Parameters
    ----------
    dim : int
        2 or 3.
    degree : int
        The degree of the polynomials in each variable, 1 to 8.
    refine : int
        How often each box is halved in every direction: a box has 2**(dim * refine) cells.
    domain : {'box', 'lshape', 'fichera'}, optional
        The box [0, 1]^dim unless `lower` and `upper` say otherwise; [-1, 1]^2 without its quadrant x, y > 0; [-1, 1]^3 without its octant.
    grid : int or sequence of dim ints or of arrays of floats, optional
        The number of equal boxes per direction, by default 1; one int is taken for all directions. In place of a number, the coordinates of the
        boxes' faces in that direction, in increasing order.
    lower, upper : float or sequence of dim floats, optional
        The corners of the domain, by default 0 and 1; one number is taken for all directions.
    boxes : sequence of pairs of corners, optional
        Lower and upper corner of each box, a domain of one's own. Boxes may differ in size and share whole sides.
    boundary : str, sequence of 2 * dim str, or callable, optional
        'dirichlet' (the default), 'neumann', 'robin' or 'periodic', for all sides or for each in the order x-, x+, y-, y+, z-, z+. A callable is
        given the middle [dim] of each side of a box on the boundary and its outward normal [dim]. It returns one of the first three, or
        ('robin', alpha).
    robin : float or sequence of 2 * dim floats, optional
        alpha of Robin sides, by default 1, in du/dn + alpha u = g [1 / length].
    penalty : float, optional
        A factor of the penalty, by default 1.
    reaction : float, optional
        The number c >= 0, by default 0.
    coefficient : callable, array or float, optional
        a, by default 1, as `set_coefficient` takes it.
    vec_type, mat_type : str, optional
        PETSc's types: 'cuda' puts vectors and work on the GPU, 'aij' assembles matrices.
    prefix : str, optional
        The prefix of the DM's options.
    comm : communicator, optional
        The ranks, by default all.

    Returns
    -------
    PETSc.DM

    Raises
    ------
    ValueError
        An argument has the wrong shape or an unknown name.
    PETSc.Error
        The library refuses a value; the message says which values exist.
    """
    for name, number, kind in (('dim', dim, Integral), ('degree', degree, Integral), ('refine', refine, Integral), ('penalty', penalty, Number),
                               ('reaction', reaction, Number)):
        if not (number is None or isinstance(number, kind)):
            raise ValueError(f'{name}: {"a number" if kind is Number else "an integer"} is needed, not {number!r}')
    dm = PETSc.DM().create(comm=comm)
    dm.setType('vpatchdg')
    dm.setDimension(dim)
    dm.setRefineLevel(refine)
    call('DMVPatchDGSetDegree', dm, Int(degree))
    if domain is not None:
        call('DMVPatchDGSetDomain', dm, value('VPatchDGDomains', domain))
    if grid is not None or lower is not None or upper is not None:
        _set_grid(dm, dim, grid, lower, upper)
    if boxes is not None:
        corners = _vectors('boxes', boxes, (len(boxes) if hasattr(boxes, '__len__') else 1, 2, dim))
        call('DMVPatchDGSetBoxes', dm, Int(len(boxes)), reals(corners[:, 0].copy()), reals(corners[:, 1].copy()))
    callbacks = Callbacks()
    if callable(boundary):
        call('DMVPatchDGSetBoundaryFunction', dm, callbacks.side(boundary), None)
    elif boundary is not None:
        sides = [boundary] * (2 * dim) if isinstance(boundary, str) else list(boundary)
        if not all(isinstance(side, str) for side in sides):
            raise ValueError(f"boundary: names are needed, not {boundary!r}. alpha of 'robin' sides is an argument of its own: robin=2.0, or "
                             f'robin=[...] with {2 * dim} numbers')
        if len(sides) != 2 * dim:
            raise ValueError(f'boundary: one for all sides, or {2 * dim}, not {len(sides)}')
        call('DMVPatchDGSetBoundary', dm, (ctypes.c_int * len(sides))(*(value('VPatchDGBoundaries', side) for side in sides)))
    if robin is not None:
        call('DMVPatchDGSetRobin', dm, reals(_vectors('robin', robin, (2 * dim,))))
    for name, number in (('Penalty', penalty), ('Reaction', reaction)):
        if number is not None:
            call(f'DMVPatchDGSet{name}', dm, Real(number))
    if vec_type is not None:
        dm.setVecType(vec_type)
    if mat_type is not None:
        dm.setMatType(mat_type)
    dm.setOptionsPrefix(prefix)
    dm.setFromOptions()
    callbacks.run(dm.setUp)
    if robin is not None and not callable(boundary):
        _require_robin(dm, dim)
    if coefficient is not None:
        set_coefficient(dm, coefficient)
    return dm


def _require_robin(dm: PETSc.DM, dim: int) -> None:
    """Raises a ValueError if no side is Robin."""
    sides, all_names = (ctypes.c_int * 6)(), names('VPatchDGBoundaries')
    call('DMVPatchDGGetBoundary', dm, sides)
    if all_names.index('robin') not in sides[:2 * dim]:
        raise ValueError(f"robin: no side of the boundary is 'robin'; the sides are {', '.join(all_names[side] for side in sides[:2 * dim])}")


def set_label_boundary(dm: PETSc.DM, conditions: Mapping[int, str | tuple[str, float]]) -> None:
    """Sets the boundary conditions of sides that have a label, before `dm.setUp()`. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, not set up yet. A DM that was converted from a DMPlex has the labels of its "Face Sets", or of "marker".
    conditions : dict
        Label -> 'dirichlet', 'neumann' or ('robin', alpha).

    Raises
    ------
    ValueError
        A condition has an unknown name.
    PETSc.Error
        No side has the label, or the DM is set up.
    """
    for label, condition in conditions.items():
        name, alpha = (condition, 0.) if isinstance(condition, str) else condition
        call('DMVPatchDGSetLabelBoundary', dm, Int(label), value('VPatchDGBoundaries', name), Real(alpha))


def _vectors(name: str, given, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this shape. A number stands for that number everywhere."""
    array = numbers(name, given, f'a number or an array of shape {shape} is')
    if array.shape not in ((), shape):
        raise ValueError(f'{name}: a number or an array of shape {shape} is needed, not {array.shape}')
    return np.broadcast_to(array, shape).copy()


def _set_grid(dm: PETSc.DM, dim: int, grid, lower, upper) -> None:
    grid = [grid] * dim if np.isscalar(grid) else grid
    faces = [] if grid is None else [np.ravel(numbers('grid', g, 'a number of boxes, or a list of faces, for each direction is')) for g in grid]
    if grid is not None and len(faces) != dim:
        raise ValueError(f'grid: one number of boxes, or {dim} numbers or lists of faces are needed, not {len(faces)}')
    if any(len(f) == 1 and f[0] % 1 for f in faces):
        raise ValueError(f'grid: a number of boxes is an integer, not in {grid}')
    n = None if grid is None else (Int * dim)(*(int(f[0]) if len(f) == 1 else 1 for f in faces))
    corners = [None if c is None else reals(_vectors(name, c, (dim,))) for name, c in (('lower', lower), ('upper', upper))]
    call('DMVPatchDGSetBoxGrid', dm, n, *corners)
    for d, f in enumerate(faces):
        if len(f) > 1:
            call('DMVPatchDGSetGrid', dm, Int(d), Int(len(f) - 1), reals(f))


def cells(dm: PETSc.DM) -> int:
    """Returns the number of cells of this rank.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    int
    """
    n = Int()
    call('DMVPatchDGGetCells', dm, ctypes.byref(n))
    return n.value


def bounds(dm: PETSc.DM) -> tuple[np.ndarray, np.ndarray]:
    """Returns the corners of this rank's cells.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    lower, upper : numpy.ndarray
        [cells][dim] in the unit of length of the mesh.
    """
    lower, upper = (np.empty((cells(dm), dm.getDimension())) for _ in range(2))
    for cell in range(len(lower)):
        call('DMVPatchDGGetCellBounds', dm, Int(cell), reals(lower[cell]), reals(upper[cell]))
    return lower, upper


def view_cells(dm: PETSc.DM, name: str, values: np.ndarray, viewer: PETSc.Viewer) -> None:
    """Writes one number per cell into a .vtu file, next to the vectors that are viewed there. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    name : str
        The name of the numbers in the file.
    values : array_like
        [cells] of this rank.
    viewer : PETSc.Viewer
        Of `PETSc.Viewer().createVTK(...)`.

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    """
    values = np.asarray(values, float)
    require(dm, values.shape == (cells(dm),), f'the numbers have the shape {values.shape}, this rank has {cells(dm)} cells')
    call('DMVPatchDGViewCells', dm, name.encode(), reals(values), Handle(viewer.handle))


def coefficient(dm: PETSc.DM) -> np.ndarray:
    """Returns a copy of the coefficient a of this rank's cells.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    numpy.ndarray
        [cells], or [cells][dim] if it is a diagonal tensor.
    """
    a, n, tensor = Reals(), cells(dm), (cells(dm), dm.getDimension())
    call('DMVPatchDGGetTensorCoefficient', dm, ctypes.byref(a))
    if a:
        return np.ctypeslib.as_array(a, tensor).copy() if n else np.ones(tensor)
    call('DMVPatchDGGetCoefficient', dm, ctypes.byref(a))
    return np.ctypeslib.as_array(a, (n,)).copy() if a and n else np.ones(n)


def set_coefficient(dm: PETSc.DM, a: Callable | np.ndarray | float) -> None:
    """Sets the coefficient a, which is constant on each cell. Matrices of the DM and their preconditioners follow. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    a : float, array_like or callable
        A positive number; or an array of this rank's cells: one number per cell [cells], or dim numbers per cell [cells][dim], the diagonal of a
        tensor. A callable is given the cells' centres x[cells, dim] and returns such an array.

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    PETSc.Error
        A number is not positive.
    """
    n, dim = cells(dm), dm.getDimension()
    if callable(a):
        a = together(dm, ask, a, np.mean(bounds(dm), axis=0), None, ((), (dim,)))
    a = together(dm, numbers, 'the coefficient', a, 'a number, an array of numbers or a function of the cells\' centres is')
    require(dm, a.shape in ((), (n,), (n, dim)), f'the coefficient has the shape {a.shape}. It is one number, or for the {n} cells of this rank one '
            f'number per cell, ({n},), or {dim} numbers per cell, ({n}, {dim}), which are the diagonal of a tensor. Full tensors do not exist.')
    if a.ndim == 2:
        call('DMVPatchDGSetTensorCoefficient', dm, reals(a))
    else:
        call('DMVPatchDGSetCoefficient', dm, reals(np.broadcast_to(a, n)))


def set_region_coefficient(dm: PETSc.DM, mesh: PETSc.DMPlex, a: Mapping[int, float]) -> None:
    """Sets the coefficient of every cell by the region of a DMPlex that contains it, for instance of a Gmsh file. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, set up, that was converted from the DMPlex; it may have been refined.
    mesh : PETSc.DMPlex
        The DMPlex, with its label "Cell Sets": the physical groups of a Gmsh file.
    a : dict
        Region -> its coefficient, a positive number. -1 stands for cells without a region. Every region of the mesh is needed.

    Raises
    ------
    ValueError
        A coefficient is no number.
    PETSc.Error
        A region has no coefficient, which the message names, or a number is not positive.
    """
    regions, found = np.array(list(a), PETSc.IntType), numbers('a', list(a.values()), 'a number for each region is')
    call('DMVPatchDGSetRegionCoefficient', dm, Handle(mesh.handle), Int(len(regions)), regions.ctypes.data_as(Ints), reals(found))
