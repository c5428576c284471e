"""The DM: its creation, its cells and its coefficient."""
from __future__ import annotations

import ctypes
from typing import Callable, Mapping, Sequence

import numpy as np
from petsc4py import PETSc

from .library import Callbacks, Handle, Int, Real, Reals, call, reals, value


def require(dm: PETSc.DM, right: bool, message: str) -> None:
    """ValueError on all ranks where it is wrong on one. Collective."""
    wrong = PETSc.Vec().createMPI((1, None), comm=dm.comm)
    wrong.set(0 if right else 1)
    if wrong.max()[1]:
        raise ValueError(message if not right else f'on another rank: {message}')


def create(dim: int = 3, degree: int = 3, refine: int = 0, *, domain: str | None = None, grid: Sequence[int | Sequence[float]] | None = None,
           lower: Sequence[float] | None = None, upper: Sequence[float] | None = None,
           boxes: Sequence[tuple[Sequence[float], Sequence[float]]] | None = None, boundary: str | Sequence[str] | Callable | None = None,
           robin: float | Sequence[float] | None = None, penalty: float | None = None, reaction: float | None = None, coefficient: Callable | np.ndarray | None = None,
           vec_type: str | None = None, mat_type: str | None = None, prefix: str | None = None, comm=None) -> PETSc.DM:
    """A DM of type vpatchdg that is set up: -div(a grad u) + c u with polynomials of a degree on boxes, each refined a number of times.

    domain: "box" (the default), "lshape" or "fichera"; grid is the numbers of boxes, lower and upper are the corners of the domain. In place of a number of
    equal boxes grid may have the coordinates of their faces in that direction.
    boxes: pairs of lower and upper corners, a domain of one's own. They may differ in size but share whole sides.
    boundary: "dirichlet", "neumann", "robin" or "periodic", for all sides or one for each in the order x-, x+, y-, ... Or a function that is given the
    middle of every side of a box on the boundary and its outward normal, and returns one of the first three, or ("robin", alpha).
    robin: alpha of robin sides, where du/dn + alpha u is given, for all or one for each side.
    reaction, coefficient: c, and a as set_coefficient() takes it.
    prefix: that of its options, which overrule the arguments.
    Collective.
    """
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
        corners = _vectors('boxes', boxes, (len(boxes), 2, dim))
        call('DMVPatchDGSetBoxes', dm, Int(len(boxes)), reals(corners[:, 0].copy()), reals(corners[:, 1].copy()))
    callbacks = Callbacks()
    if callable(boundary):
        call('DMVPatchDGSetBoundaryFunction', dm, callbacks.side(boundary), None)
    elif boundary is not None:
        sides = [boundary] * (2 * dim) if isinstance(boundary, str) else list(boundary)
        if len(sides) != 2 * dim:
            raise ValueError(f'boundary: one for all sides, or {2 * dim}, not {len(sides)}')
        call('DMVPatchDGSetBoundary', dm, (ctypes.c_int * len(sides))(*(value('VPatchDGBoundaries', side) for side in sides)))
    if robin is not None:
        call('DMVPatchDGSetRobin', dm, reals(np.broadcast_to(np.asarray(robin, float), 2 * dim)))
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
    if coefficient is not None:
        set_coefficient(dm, coefficient)
    return dm


def set_label_boundary(dm: PETSc.DM, conditions: Mapping[int, str | tuple[str, float]]) -> None:
    """What holds where sides have a label: {1: "neumann", 2: ("robin", alpha)}, before dm.setUp(). A DM that was converted from a DMPlex has the
    labels of its "Face Sets", or of "marker". Collective."""
    for label, condition in conditions.items():
        name, alpha = (condition, 0.) if isinstance(condition, str) else condition
        call('DMVPatchDGSetLabelBoundary', dm, Int(label), value('VPatchDGBoundaries', name), Real(alpha))


def _vectors(name: str, given, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(given, float)
    if array.shape != shape:
        raise ValueError(f'{name}: an array of shape {shape} is needed, not {array.shape}')
    return array


def _set_grid(dm: PETSc.DM, dim: int, grid, lower, upper) -> None:
    faces = [np.ravel(g).astype(float) for g in grid or ()]
    if grid is not None and len(faces) != dim:
        raise ValueError(f'grid: {dim} numbers or lists of faces are needed, not {len(faces)}')
    n = None if grid is None else (Int * dim)(*(int(f[0]) if len(f) == 1 else 1 for f in faces))
    corners = [None if c is None else reals(_vectors(name, c, (dim,))) for name, c in (('lower', lower), ('upper', upper))]
    call('DMVPatchDGSetBoxGrid', dm, n, *corners)
    for d, f in enumerate(faces):
        if len(f) > 1:
            call('DMVPatchDGSetGrid', dm, Int(d), Int(len(f) - 1), reals(f))


def cells(dm: PETSc.DM) -> int:
    """The number of cells of this rank."""
    n = Int()
    call('DMVPatchDGGetCells', dm, ctypes.byref(n))
    return n.value


def bounds(dm: PETSc.DM) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper corners [cells][dim] of this rank's cells."""
    lower, upper = (np.empty((cells(dm), dm.getDimension())) for _ in range(2))
    for cell in range(len(lower)):
        call('DMVPatchDGGetCellBounds', dm, Int(cell), reals(lower[cell]), reals(upper[cell]))
    return lower, upper


def view_cells(dm: PETSc.DM, name: str, values: np.ndarray, viewer: PETSc.Viewer) -> None:
    """Writes a number for each of this rank's cells into a .vtu file, next to the vectors that are viewed there. Collective."""
    values = np.asarray(values, float)
    require(dm, values.shape == (cells(dm),), f'the numbers have the shape {values.shape}, this rank has {cells(dm)} cells')
    call('DMVPatchDGViewCells', dm, name.encode(), reals(values), Handle(viewer.handle))


def coefficient(dm: PETSc.DM) -> np.ndarray:
    """The coefficient a of this rank's cells, a copy: [cells], or where it is a tensor [cells][dim]."""
    a, n, tensor = Reals(), cells(dm), (cells(dm), dm.getDimension())
    call('DMVPatchDGGetTensorCoefficient', dm, ctypes.byref(a))
    if a:
        return np.ctypeslib.as_array(a, tensor).copy() if n else np.ones(tensor)
    call('DMVPatchDGGetCoefficient', dm, ctypes.byref(a))
    return np.ctypeslib.as_array(a, (n,)).copy() if a and n else np.ones(n)


def set_coefficient(dm: PETSc.DM, a: Callable | np.ndarray | float) -> None:
    """Sets the coefficient a: a positive number for each of this rank's cells, or a diagonal tensor [cells][dim], or a function of their centres
    [cells][dim]. Matrices of the DM and their preconditioners follow. Collective."""
    if callable(a):
        a = a(np.mean(bounds(dm), axis=0))
    a, n = np.asarray(a, float), cells(dm)
    dim = dm.getDimension()
    require(dm, a.shape in ((), (n,), (n, dim)), f'the coefficient has the shape {a.shape}, this rank has {n} cells')
    if a.ndim == 2:
        call('DMVPatchDGSetTensorCoefficient', dm, reals(a))
    else:
        call('DMVPatchDGSetCoefficient', dm, reals(np.broadcast_to(a, n)))
