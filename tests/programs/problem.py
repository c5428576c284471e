"""What the tests of the Python package share: a smooth function, a solver, and what they expect of bad input."""
import numpy as np
from petsc4py import PETSc

PI = np.pi


class Skipped(Exception):
    """What a test needs is not here."""


def wave(x):
    return np.cos(PI * x[..., 0]) * np.cos(2 * PI * x[..., 1])


def wave_gradient(x):
    x, y = x[..., 0], x[..., 1]
    return np.stack([-PI * np.sin(PI * x) * np.cos(2 * PI * y), -2 * PI * np.cos(PI * x) * np.sin(2 * PI * y)], axis=-1)


def solve(dm, b):
    ksp = PETSc.KSP().create()
    ksp.setDM(dm)
    ksp.setType('fgmres')
    ksp.setTolerances(rtol=1e-11)
    ksp.getPC().setType('vpatchdg')
    x = b.duplicate()
    ksp.solve(b, x)
    assert 0 < ksp.its <= 12, ksp.its
    return x


def refused(kind, words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), f'{words} is not in: {error}'
        return
    raise AssertionError(f'{call.__name__} took {arguments} {named}')
