"""Meshes of cells of different levels: how large the error is on every cell, which ones are refined, and what becomes of vectors."""
from __future__ import annotations

import ctypes
from typing import Callable

import numpy as np
from petsc4py import PETSc

from .fields import check_boundary, check_data
from .library import Callbacks, Flux, Function, Handle, Real, Reals, call, new_dm, reals, value
from .mesh import cells, require

FLAGS = np.array([2, 0, 1], np.intc)  # DMAdaptFlag of -1, 0 and 1


def refine_cells(dm: PETSc.DM, mark: np.ndarray) -> PETSc.DM:
    """Returns the mesh with some cells refined and some coarsened. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    mark : array_like
        [cells] of this rank: 1 (or True) for cells to refine, 0 for those that stay, -1 for those to coarsen. Cells are coarsened if all that were
        made of the same one are marked so. More cells are refined until neighbours differ by one level at most.

    Returns
    -------
    PETSc.DM

    Raises
    ------
    ValueError
        On one rank the marks have the wrong shape or other values.
    """
    mark, n = np.asarray(mark), cells(dm)
    require(dm, mark.shape == (n,) and bool(np.isin(mark, (-1, 0, 1)).all()), f'marks are {n} numbers, one for each of this rank\'s cells: 1, 0 or -1')
    flags = FLAGS[mark.astype(int) + 1]
    return new_dm('DMVPatchDGRefineCells', dm, flags.ctypes.data_as(ctypes.c_void_p))


def transfer(old: PETSc.DM, new: PETSc.DM, x: PETSc.Vec) -> PETSc.Vec:
    """Returns the coefficients of a function on another mesh. Collective.

    It is the same function where cells were refined, its projection where they were coarsened.

    Parameters
    ----------
    old, new : PETSc.DM
        The mesh of x, and the one that `refine_cells` made of it.
    x : PETSc.Vec
        The coefficients on the old mesh.

    Returns
    -------
    PETSc.Vec
        The coefficients on the new mesh.
    """
    y = new.createGlobalVec()
    call('DMVPatchDGTransfer', old, Handle(new.handle), Handle(x.handle), Handle(y.handle))
    return y


def estimate(dm: PETSc.DM, x: PETSc.Vec, f: Callable | float | None = None, dirichlet: Callable | float | None = None,
             neumann: Callable | float | None = None, coefficient: Callable | float | None = None) -> np.ndarray:
    """Returns the estimated error of a solution on each cell. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the solution.
    f, dirichlet, neumann : float or callable, optional
        The data, as `rhs` takes them, numbers or functions. None is 0.
    coefficient : float or callable, optional
        The exact a of -div(a grad u), where one number per cell stands for a smooth function. Without it that error is not seen.

    Returns
    -------
    numpy.ndarray
        [cells] of this rank. The root of the sum of the squares on all ranks estimates the L2 norm of the gradient's error.
    """
    check_data(dm, f=f, coefficient=coefficient)
    check_boundary(dm, dirichlet, neumann)
    eta, callbacks = np.empty(cells(dm)), Callbacks()
    functions = [callbacks.point(Function, data) for data in (coefficient, f, dirichlet)] + [callbacks.point(Flux, neumann)]
    callbacks.call('DMVPatchDGEstimateWithCoefficient', dm, Handle(x.handle), *functions, None, eta.ctypes.data_as(Reals))
    return eta


def surplus(dm: PETSc.DM, x: PETSc.Vec) -> np.ndarray:
    """Returns, for each cell, the part of a function that a coarser cell cannot represent: an indicator for `mark` that needs no data. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    x : PETSc.Vec
        The coefficients of the function.

    Returns
    -------
    numpy.ndarray
        [cells] of this rank.
    """
    eta = np.empty(cells(dm))
    call('DMVPatchDGEstimateSurplus', dm, Handle(x.handle), eta.ctypes.data_as(Reals))
    return eta


def mark(dm: PETSc.DM, eta: np.ndarray, how: str = 'doerfler', refine: float = 0.5, coarsen: float = 0) -> np.ndarray:
    """Returns which cells to refine and to coarsen. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    eta : array_like
        [cells] of this rank: the errors that `estimate` or `surplus` gives.
    how : {'doerfler', 'maximum'}
        doerfler refines as few cells as have the share `refine` of the sum of eta^2; maximum refines those with more than `refine` times the
        largest eta.
    refine, coarsen : float
        Numbers from 0 to 1. Cells with less than `coarsen` times the largest eta are coarsened.

    Returns
    -------
    numpy.ndarray
        [cells]: 1, 0 or -1, for `refine_cells`.

    Raises
    ------
    ValueError
        The errors have the wrong shape on one rank, or `how` is unknown.
    """
    eta, n = np.asarray(eta, float), cells(dm)
    require(dm, eta.shape == (n,), f'there are errors of the shape {eta.shape}, this rank has {n} cells')
    flags = np.empty(n, np.intc)
    call('DMVPatchDGMark', dm, ctypes.c_int(value('VPatchDGMarkings', how)), Real(refine), Real(coarsen), reals(eta), flags.ctypes.data_as(ctypes.c_void_p))
    return np.array([0, 1, -1])[flags]
