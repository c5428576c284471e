"""solve(): from the data of a problem to its solution, by one KSP, with a report."""
from __future__ import annotations

import re
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable, Iterator, Mapping, Optional

import numpy as np
from petsc4py import PETSc

from .fields import Data, rhs
from .library import Handle, call, option_is_used, reason
from .mesh import maximum, require
from .picture import plot
from .show import text

DEFAULTS = {'ksp_type': 'fgmres', 'pc_type': 'vpatchdg'}
PRECISIONS = None, 'single', 'double'


@dataclass(eq=False, repr=False)
class Solution:
    """A solution and the report of its solve, which print() shows. Functions of this package take it for its vector.

    Attributes
    ----------
    dm : PETSc.DM
        The mesh.
    u : PETSc.Vec
        The coefficients of the solution, for `point_values`, `evaluate`, `line`, `integral`, `errors`, `plot`, ...
    iterations : int
        The KSP's iterations.
    reason : str
        PETSc's reason to end, for instance 'CONVERGED_RTOL'.
    residual : float
        |b - A u| / |b|, computed anew after the solve. If the problem is singular, without the part of b that no u reaches.
    seconds : float
        The time of set-up and solve.
    precision : str or None
        'single' or 'double', of the cycle; None with other preconditioners.
    history : numpy.ndarray
        The KSP's own residual norms, [iterations + 1].
    """
    dm: PETSc.DM
    u: PETSc.Vec
    iterations: int
    reason: str
    residual: float
    seconds: float
    precision: Optional[str]
    history: np.ndarray

    def __repr__(self) -> str:
        return (f'{self.u.getSize()} unknowns, {self.iterations} iterations, {self.reason}, true relative residual {self.residual:.1e}, '
                f'{self.seconds:.3f} s' + (f', {self.precision} precision' if self.precision else ''))

    @property
    def handle(self) -> int:
        """PETSc's Vec."""
        return self.u.handle

    def plot(self, **how):
        """Draws the solution: `plot(dm, u, ...)`."""
        return plot(self.dm, self.u, **how)


class ConvergenceError(RuntimeError):
    """The KSP did not converge. `solution` is what it ended with."""

    def __init__(self, solution: Solution, rtol: float):
        super().__init__(f'The solve ended with {solution.reason} after {solution.iterations} iterations: the true relative residual is '
                         f'{solution.residual:.1e}, rtol is {rtol:.1e}')
        self.solution = solution


def _flat(options) -> dict:
    """Options by name, without the dash, of a dict or of an object with attributes or of a PETSc.Options."""
    if isinstance(options, PETSc.Options):
        options = options.getAll()
    known = options if isinstance(options, Mapping) else getattr(options, '__dict__', None)
    if known is None:
        raise TypeError(f"options: a dict, {{'ksp_rtol': 1e-8}}, or an object with such attributes is needed, not {options!r}")
    return {str(name).lstrip('-'): None if value is True else value for name, value in known.items()}


@contextmanager
def _options(given: Mapping, prefix: str) -> Iterator[None]:
    """Puts options into PETSc's database for as long as they are needed. Those that are there stay as they are."""
    database = PETSc.Options()
    added = [prefix + name for name in given if not database.hasName(prefix + name)]
    for name, value in given.items():
        if prefix + name in added:
            database.setValue(prefix + name, value)
    try:
        yield
        unused = [name for name in added if not option_is_used(name)]
        if unused:
            warnings.warn(f'solve(): nothing has used the options {", ".join(unused)}. They are those of a KSP and its PC, as in '
                          "{'ksp_rtol': 1e-8}.", stacklevel=4)
    finally:
        for name in added:
            database.delValue(name)


def _residual(A: PETSc.Mat, b: PETSc.Vec, u: PETSc.Vec) -> float:
    r = b.duplicate()
    A.mult(u, r)
    r.aypx(-1, b)
    b = b.copy()
    outside = A.getNullSpace()
    if outside.handle:  # A is symmetric: no u reaches this part of b
        outside.remove(b)
        outside.remove(r)
    return r.norm() / (b.norm() or 1)


def _precision(dm: PETSc.DM, ksp: PETSc.KSP) -> str | None:
    said = re.search(r'(single|double) precision', text(ksp.getPC())) if ksp.getPC().getType() in ('vpatchdg', 'vpatch') else None
    return PRECISIONS[int(maximum(dm, PRECISIONS.index(said and said[1])))]  # only the first rank has the text


def _solvable(A: PETSc.Mat, b: PETSc.Vec) -> PETSc.Vec:
    """b without the component along the constants, where these are the null space of A."""
    space, size = A.getNullSpace(), b.norm()
    if not space or not size:
        return b
    b = b.copy()
    space.remove(b)
    rest = b.norm()
    if size**2 - rest**2 > (1e-6 * size)**2:
        warnings.warn('The data do not add up to 0: without Dirichlet and Robin sides and without c there is no solution. It is solved without '
                      f'the mean of the data, {np.sqrt(size**2 - rest**2) / size:.1e} of their size.', stacklevel=3)
    if rest < 1e-12 * size:  # rounding errors of a constant
        b.set(0)
    return b


def set_element_restriction(pc: PETSc.PC, dm: PETSc.DM, nodes) -> None:
    """Has a PC of type vpatchdg precondition a continuous operator, the matrix of its KSP. Collective

    Parameters
    ----------
    pc
        The PC, of a KSP that has the matrix.
    dm
        A DM with the operator's cells, degree, boundary conditions and coefficient.
    nodes
        The rows of the matrix that belong to the nodes of this rank's cells, [cells][(degree+1)^dim], x fastest; -1: the node has no row, or its
        row is that of the identity.
    """
    rows = PETSc.IS().createGeneral(np.ascontiguousarray(nodes, dtype=PETSc.IntType).reshape(-1), comm=pc.comm)
    call('PCVPatchDGSetElementRestrictionIS', pc, Handle(dm.handle), Handle(rows.handle))
    rows.destroy()


def solve(dm: PETSc.DM, f: Data | None = None, dirichlet: Callable | float | None = None, neumann: Callable | float | None = None, *,
          b: PETSc.Vec | None = None, guess: PETSc.Vec | Solution | None = None, rtol: float = 1e-8, options: Mapping | object | None = None,
          prefix: str = '') -> Solution:
    """Solves -div(a grad u) + c u = f with its data on the boundary. Collective.

    Options of the command line overrule the arguments: -ksp_monitor, -ksp_view, -ksp_type cg, ...

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, with the coefficient, c and the boundary conditions (`create`).
    f, dirichlet, neumann : float, callable, array or None
        The data, as `rhs` takes them. None is 0.
    b : PETSc.Vec, optional
        The right-hand side, in place of the data.
    guess : PETSc.Vec or Solution, optional
        Coefficients to start from, by default 0. They stay as they are.
    rtol : float
        The KSP stops when the residual has this share of that of b.
    options : dict or object, optional
        Options of the KSP and its PC by their names, {'ksp_type': 'cg', 'pc_vpatchdg_symmetric': True}, or an object with such attributes. True or
        None is an option without a value. By default 'ksp_type' is 'fgmres', 'pc_type' is 'vpatchdg'.
    prefix : str
        A prefix of these options on the command line: with 'flow_' they are -flow_ksp_rtol and the like.

    Returns
    -------
    Solution
        u, with iterations, reason, true residual, seconds and precision.

    Raises
    ------
    ConvergenceError
        The KSP diverged or reached its largest number of iterations. Its message names the reason, its attribute `solution` is what was reached.
    ValueError
        Data have the wrong shape, belong to sides that do not exist, or both data and b are given.
    """
    require(dm, b is None or f is dirichlet is neumann is None, 'solve(): f, dirichlet and neumann, or b, which holds them, but not both')
    start, ksp = time.perf_counter(), PETSc.KSP().create(comm=dm.comm)
    ksp.setOptionsPrefix(prefix)
    ksp.setOperators(dm.createMat())
    ksp.setTolerances(rtol=rtol)
    ksp.setInitialGuessNonzero(guess is not None)
    ksp.setConvergenceHistory()
    with _options({**DEFAULTS, **_flat(options or {})}, prefix):
        ksp.setFromOptions()
        if ksp.getType() in ('cg', 'gmres') and not PETSc.Options().hasName(f'{prefix}ksp_norm_type'):
            ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)  # rtol is that of the true residual
        call('PCVPatchDGCheckMemory', ksp.getPC(), Handle(ksp.handle))  # before there are vectors
        given = time.perf_counter()
        b = _solvable(ksp.getOperators()[0], rhs(dm, f, dirichlet, neumann) if b is None else b)
        u = b.duplicate() if guess is None else getattr(guess, 'u', guess).copy()
        start += time.perf_counter() - given
        ksp.solve(b, u)
    seconds = time.perf_counter() - start
    found = Solution(dm, u, ksp.getIterationNumber(), reason(ksp), _residual(ksp.getOperators()[0], b, u), seconds, _precision(dm, ksp),
                     ksp.getConvergenceHistory().copy())
    rtol, ended = ksp.getTolerances()[0], ksp.getConvergedReason()
    for used in (ksp.getOperators()[0], ksp):
        used.destroy()
    if ended < 0:
        raise ConvergenceError(found, rtol)
    return found
