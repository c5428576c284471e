"""Meshes of cells of different levels: how large the error is on every cell, which ones are refined, and what becomes of vectors."""
from __future__ import annotations

import ctypes
from typing import Callable

import numpy as np
from petsc4py import PETSc

from .library import Callbacks, Flux, Function, Handle, Real, Reals, call, new_dm, reals, value
from .mesh import cells, require

FLAGS = np.array([2, 0, 1], np.intc)  # DMAdaptFlag of -1, 0 and 1


def refine_cells(dm: PETSc.DM, mark: np.ndarray) -> PETSc.DM:
    """A DM with some cells refined, and some coarsened: mark is 1 (or True) for those of this rank's cells that are refined, 0 for what stays, -1 for
    those that are coarsened, where all that were made of the same one are marked so. Collective."""
    mark, n = np.asarray(mark), cells(dm)
    require(dm, mark.shape == (n,) and bool(np.isin(mark, (-1, 0, 1)).all()), f'marks are {n} numbers, one for each of this rank\'s cells: 1, 0 or -1')
    flags = FLAGS[mark.astype(int) + 1]
    return new_dm('DMVPatchDGRefineCells', dm, flags.ctypes.data_as(ctypes.c_void_p))


def transfer(old: PETSc.DM, new: PETSc.DM, x: PETSc.Vec) -> PETSc.Vec:
    """The coefficients on the new mesh of the function that has the coefficients x on the old one: the same function where cells were refined, its
    projection where they were coarsened. Collective."""
    y = new.createGlobalVec()
    call('DMVPatchDGTransfer', old, Handle(new.handle), Handle(x.handle), Handle(y.handle))
    return y


def estimate(dm: PETSc.DM, x: PETSc.Vec, f: Callable | float | None = None, dirichlet: Callable | float | None = None,
             neumann: Callable | float | None = None, coefficient: Callable | float | None = None) -> np.ndarray:
    """The estimated error of the solution x on each of this rank's cells; the root of the sum of squares is that of the gradient. The data are those of
    rhs(), numbers or functions; they are asked point by point. coefficient: the exact a of -div(a grad u), where one number per cell stands for a
    smooth function; without it that error is not seen. Collective."""
    eta, callbacks = np.empty(cells(dm)), Callbacks()
    functions = [callbacks.point(Function, data) for data in (coefficient, f, dirichlet)] + [callbacks.point(Flux, neumann)]
    callbacks.call('DMVPatchDGEstimateWithCoefficient', dm, Handle(x.handle), *functions, None, eta.ctypes.data_as(Reals))
    return eta


def surplus(dm: PETSc.DM, x: PETSc.Vec) -> np.ndarray:
    """How much of x a coarser cell could not hold, for each of this rank's cells: an indicator for mark() that needs no data. Collective."""
    eta = np.empty(cells(dm))
    call('DMVPatchDGEstimateSurplus', dm, Handle(x.handle), eta.ctypes.data_as(Reals))
    return eta


def mark(dm: PETSc.DM, eta: np.ndarray, how: str = 'doerfler', refine: float = 0.5, coarsen: float = 0) -> np.ndarray:
    """Marks for refine_cells() by the errors that estimate() or surplus() gives. doerfler: as few cells are refined as have the part `refine` of the sum of eta^2;
    maximum: those with more than that part of the largest one. Cells with less than the part `coarsen` of the largest are coarsened. Collective."""
    eta, n = np.asarray(eta, float), cells(dm)
    require(dm, eta.shape == (n,), f'there are errors of the shape {eta.shape}, this rank has {n} cells')
    flags = np.empty(n, np.intc)
    call('DMVPatchDGMark', dm, ctypes.c_int(value('VPatchDGMarkings', how)), Real(refine), Real(coarsen), reals(eta), flags.ctypes.data_as(ctypes.c_void_p))
    return np.array([0, 1, -1])[flags]
