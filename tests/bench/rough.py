#!/usr/bin/env -S python3 -B
"""Iterations for coefficients that jump inside coarse cells, next to the published ones.

  PYTHONPATH=share/python python3 tests/bench/rough.py [--method METHOD] [--problems LIST] [--fields LIST] [PETSc's options]

All other options go to PETSc and overrule those of the method. mpiexec -n 4 works as well: neither the coefficient nor the right-hand side
depends on the number of ranks.

  --method    today: V(0,1) on all levels; sweeps: the same with four sweeps over single cells; volumes: the finest level is followed by the
              finite-volume problem, with four sweeps over single cells; none: PETSc's options alone. By default today
  --problems  for instance 2D-Q2-32,3D-Q2-16: dimension, degree, cells per direction. By default those that are published for this method
  --fields    for instance 'layers 1 1e3,noise 1e4': "kind [width] factor". By default those that are published
  --list      prints the published fields and ends

nu is the number of iterations that reduces the true residual by eight digits: 8 / the mean digits of an iteration. FGMRES does not restart.
The right-hand side is random, the unit square or cube has Dirichlet sides, and the cycle runs in double precision. "-" stands for more than
80."""
import argparse
import math
import sys

try:
    import numpy as np
    import petsc4py
except ImportError as missing:
    sys.exit(f'rough.py needs NumPy and petsc4py ({missing}): apt-get install python3-petsc4py, and run it by that python3')

MOST, DIGITS, NONE = 80, 8, math.nan
MORE = math.inf  # more than MOST iterations
COLUMNS = 'today', 'sweeps', 'volumes'
COMMON = {
    'ksp_type': 'fgmres',
    'ksp_gmres_restart': 2 * MOST,
    'pc_type': 'vpatchdg',
    'pc_vpatchdg_precision': 'double',
    'vpatchdg_warnings': 0,
}
ALL_LEVELS = {'pc_vpatchdg_cycle_type': 'v', 'pc_vpatchdg_levels': 0, 'pc_vpatchdg_coarse': 'ksp'}
FOUR = {'pc_vpatchdg_cell_sweeps': 4, 'pc_vpatchdg_cell_sweep_ratio': 0}  # in all cells
METHODS = {
    'none': {},
    'today': {**ALL_LEVELS, 'pc_vpatchdg_cell_sweeps': 0},
    'sweeps': {**ALL_LEVELS, **FOUR},
    'volumes': {'pc_vpatchdg_levels': 1, 'pc_vpatchdg_coarse': 'volumes', **FOUR},
}

# problem -> the methods whose numbers stand in PUBLISHED, in this order
PROBLEMS = {
    (2, 2, 32): COLUMNS,
    (2, 3, 32): ('today', 'volumes'),
    (2, 2, 64): ('today', 'volumes'),
    (3, 2, 16): COLUMNS,
    (3, 1, 16): ('volumes',),
}

# field | 2D Q2 32 | 2D Q3 32 | 2D Q2 64 | 3D Q2 16 | 3D Q1 16.  "-": more than 80 iterations; ".": not published
PUBLISHED = """
constant      | 4.2  .    4.8  | 3.6 5.5  | 4.2 4.8  | 3.8  3.3  4.4  | .
smooth 3      | 8.9  7.9  4.9  | 9.1 5.6  | 8.3 4.8  | 8.1  6.9  4.7  | .
blocks 1e3    | 7.2  5.2  6.4  | 7.7 7.3  | .   6.4  | .    4.5  5.7  | .
layers 1 10   | 14.5 13.4 4.6  | 15.1 5.3 | 15.5 4.7 | 11.4 .    4.6  | .
layers 3 10   | 12.7 11.8 5.0  | 12.9 5.5 | 14.7 5.0 | 7.7  7.2  4.6  | .
layers 1 1e3  | 61   54   4.9  | 61  5.3  | -   4.9  | 23   22   4.8  | .
layers 3 1e6  | 19.3 18.1 5.2  | 20.1 6.0 | 48  5.3  | 9.2  8.5  4.9  | .
stripes 1 1e3 | -    .    10.4 | -   10.9 | .   10.6 | .    .    12.2 | .
stripes 3 1e3 | 46   29   7.8  | 49  9.4  | -   7.8  | -    15.0 9.0  | .
noise 10      | 12.0 8.2  6.4  | 16.6 7.7 | 15.4 6.7 | 21   6.3  6.4  | .
noise 100     | 23   15.0 9.2  | 32  11.6 | 37  9.4  | 63   10.3 9.2  | .
noise 1e4     | -    46   13.7 | -   17.5 | -   14.3 | -    24   12.6 | 9.5
noise 1e6     | -    -    15.3 | -   20.3 | -   16.9 | -    47   15.2 | .
corr 1e6      | 13.4 11.9 5.2  | 14.9 5.9 | 21  5.4  | 9.9  7.9  4.8  | .
spe 1e6       | 22   20.5 5.5  | 21  6.0  | 30  5.8  | 13.6 11.3 5.2  | .
disc 1e3      | 17.9 15.7 6.1  | 19.0 7.6 | 21  6.1  | 14.6 12.7 6.5  | .
disc 1e-3     | 11.5 .    6.0  | 12.1 7.5 | .   5.9  | .    .    6.1  | .
incl 1e3      | 63   51   7.0  | 73  9.0  | -   9.9  | 45   18   7.2  | .
incl 1e-3     | 29   9.9  6.9  | 39  9.3  | 20  6.9  | 60   8.0  7.1  | .
incl 1e6      | .    .    .    | .   .    | .   .    | .    .    .    | 6.1
chan 1e6      | -    .    7.9  | -   10.7 | -   9.5  | -    41   9.1  | .
"""


def published():
    """{(field, problem): {method: nu}}, with NONE where nothing is published"""
    words = {'-': MORE, '.': NONE}
    table = {}
    for line in PUBLISHED.strip().splitlines():
        field, *groups = (part.strip() for part in line.split('|'))
        for (problem, methods), group in zip(PROBLEMS.items(), groups):
            numbers = [words[word] if word in words else float(word) for word in group.split()]
            table[field, problem] = dict(zip(methods, numbers))
    return table


def smoothed(values, sigmas):
    """the Gaussian filter of SciPy, gaussian_filter(values, sigmas, mode='reflect')"""
    for axis, sigma in enumerate(sigmas):
        radius = int(4 * sigma + 0.5)
        weight = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma)**2)
        weight /= weight.sum()
        pads = [(radius, radius) if d == axis else (0, 0) for d in range(values.ndim)]
        padded = np.moveaxis(np.pad(values, pads, mode='symmetric'), axis, 0)
        values = np.moveaxis(sum(w * padded[i:i + values.shape[axis]] for i, w in enumerate(weight)), 0, axis)
    return values


def between(values):
    """the values, scaled to [0, 1]"""
    return (values - values.min()) / np.ptp(values)


def inclusions(rng, dim, n):
    inside = np.zeros((n,) * dim, bool)
    for _ in range(int(0.28 * (n / 3)**dim)):
        corner = rng.integers(0, n - 2, dim)
        inside[tuple(slice(c, c + 3) for c in corner)] = True
    return inside


def channels(rng, dim, n):
    inside = np.zeros((n,) * dim, bool)
    for _ in range(n // 4 if dim == 2 else n**2 // 8):
        direction = rng.integers(dim)
        at = list(rng.integers(0, n, dim))
        first = rng.integers(0, n // 2)
        at[direction] = slice(first, first + rng.integers(n // 4, n))
        inside[tuple(at)] = True
    return inside


def exponent(kind, width, dim, n):
    """log a / log factor on the cells [x][y][z]"""
    rng, shape = np.random.default_rng(1), (n,) * dim
    index = np.indices(shape)
    x = (index + 0.5) / n
    if kind == 'constant':
        return np.zeros(shape)
    if kind == 'smooth':
        return np.sin(2 * np.pi * x).prod(axis=0)
    if kind == 'blocks':
        return np.kron(rng.random((4,) * dim), np.ones((n // 4,) * dim))
    if kind == 'layers':
        return index[-1] // width % 2
    if kind == 'stripes':
        return index.sum(axis=0) // width % 2
    if kind == 'noise':
        return rng.random(shape)
    if kind == 'corr':
        return between(smoothed(rng.standard_normal(shape), (width,) * dim))
    if kind == 'spe':
        return between(smoothed(rng.standard_normal(shape), (width,) * (dim - 1) + (0.5,)))
    if kind == 'disc':
        return ((x - 0.503)**2).sum(axis=0) < 0.3**2
    if kind in ('incl', 'chan'):
        return (inclusions if kind == 'incl' else channels)(rng, dim, n)
    sys.exit(f'--fields: there is no field "{kind}"; --list prints those that exist')


def coefficient(field, dim, n):
    """a on the cells [x][y][z] of a field "kind [width] factor\""""
    kind, *numbers = field.split()
    factor = float(numbers[-1]) if numbers else 1.
    if kind == 'smooth':  # exp(factor sin sin)
        factor = math.exp(factor)
    width = float(numbers[0]) if len(numbers) > 1 else {'corr': 2., 'spe': 4.}.get(kind, 1.)
    return factor**np.asarray(exponent(kind, width, dim, n), float)


def count(dm, a, b, place):
    """nu and the residual that ended the solve; a and b on the cells [x][y][z], place [cells] of this rank's cells among them"""
    vpatchdg.set_coefficient(dm, a.ravel()[place])
    right, found = dm.createGlobalVec(), dm.createGlobalVec()
    right.setArray(b[place].ravel())
    norm, digits = right.norm(), []
    ksp = PETSc.KSP().create(comm=dm.comm)
    ksp.setOperators(dm.createMat())

    def ended(ksp, its, residual):
        """The residual of FGMRES may lose touch with the true one, which decides."""
        if residual <= 10.**-DIGITS * norm:
            residual = ksp.buildResidual().norm()
        digits.append(-math.log10(residual / norm) if residual > 0 else math.inf)
        if digits[-1] >= DIGITS:
            return PETSc.KSP.ConvergedReason.CONVERGED_RTOL
        return PETSc.KSP.ConvergedReason.DIVERGED_MAX_IT if its > MOST else PETSc.KSP.ConvergedReason.ITERATING

    ksp.setTolerances(rtol=1e-30, max_it=2 * MOST)
    ksp.setConvergenceTest(ended)
    ksp.setFromOptions()
    ksp.solve(right, found)
    nu = ksp.its * DIGITS / digits[-1] if ksp.reason > 0 else MORE
    for used in (ksp, right, found):
        used.destroy()
    PETSc.garbage_cleanup()
    return nu if nu <= MOST else MORE


def apart(nu, wanted):
    """Whether nu differs from what is published by more than a tenth."""
    if math.isnan(wanted):
        return False
    return nu != wanted and not abs(nu - wanted) <= 0.1 * wanted + 0.05  # published numbers are rounded


def word(nu):
    return '.' if math.isnan(nu) else '-' if math.isinf(nu) else f'{nu:.1f}'


def places(dm, dim, n):
    """The places [cells] of this rank's cells among the cells [x][y][z] of the fields. The last direction of the fields is the first one of
    the DM, as in the program of the published numbers: across layers these depend on the order of the colours."""
    index = (np.mean(vpatchdg.bounds(dm), axis=0) * n).astype(int)
    return np.ravel_multi_index(tuple(index.T[::-1]), (n,) * dim)


def table(problem, fields, method, known):
    """Prints nu of the fields. Returns how many numbers are published for this method, and which of them differ."""
    dim, degree, n = problem
    dm = vpatchdg.create(dim=dim, degree=degree, refine=n.bit_length() - 1)
    place = places(dm, dim, n)
    b = np.random.default_rng(0).standard_normal((n**dim, (degree + 1)**dim))
    PETSc.Sys.Print(f'{dim}D Q{degree}, {n} cells per direction, ranks: {dm.comm.size}, method {method}')
    PETSc.Sys.Print(f'{"field":14} {"nu":>6}  published: ' + ' '.join(f'{column:>7}' for column in COLUMNS))
    compared, differ = 0, []
    for field in fields:
        numbers = known.get((field, problem), {})
        nu, wanted = count(dm, coefficient(field, dim, n), b, place), numbers.get(method, NONE)
        compared += not math.isnan(wanted)
        if apart(nu, wanted):
            differ.append(f'{dim}D Q{degree} {n} {field}: {word(nu)} for {word(wanted)}')
        PETSc.Sys.Print(f'{field:14} {word(nu):>6}  {"":10} ' + ' '.join(f'{word(numbers.get(column, NONE)):>7}' for column in COLUMNS)
                        + ('  differs' if apart(nu, wanted) else ''))
    PETSc.Sys.Print()
    dm.destroy()
    return compared, differ


def problems(text, method):
    """The problems of a list like 2D-Q2-32,3D-Q1-16, or those that are published for the method."""
    if not text:
        return [problem for problem, methods in PROBLEMS.items() if method in methods or method == 'none']
    found = []
    for name in text.split(','):
        dim, degree, n = (int(part.strip('DQ')) for part in name.split('-'))
        if n & (n - 1):
            sys.exit(f'--problems {name}: the number of cells per direction is a power of two')
        found.append((dim, degree, n))
    return found


def main():
    known = published()
    names = list(dict.fromkeys(field for field, _ in known))
    if chosen.list:
        PETSc.Sys.Print(*names, sep='\n')
        return
    compared, differ = 0, []
    for problem in problems(chosen.problems, chosen.method):
        some = [name for name in names if not math.isnan(known.get((name, problem), {}).get(chosen.method, NONE))]
        now = table(problem, chosen.fields.split(',') if chosen.fields else some or names, chosen.method, known)
        compared, differ = compared + now[0], differ + now[1]
    PETSc.Sys.Print(f'{compared - len(differ)} of {compared} published numbers are met within 10 %', *differ, sep='\n  ')


def arguments():
    """Ours, and PETSc's with the options of the method before them, which those of the command line overrule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument('--method', default='today', choices=METHODS)
    for name in ('problems', 'fields'):
        parser.add_argument('--' + name, metavar='LIST')
    parser.add_argument('--list', action='store_true')
    ours, rest = parser.parse_known_args()
    given = {**COMMON, **METHODS[ours.method]}
    return ours, [sys.argv[0], *(word for name, value in given.items() for word in (f'-{name}', str(value))), *rest]


if __name__ == '__main__':
    chosen, petsc_options = arguments()
    petsc4py.init(petsc_options)
    try:
        import vpatchdg
    except ImportError as missing:
        sys.exit(f'rough.py: {missing}')
    from petsc4py import PETSc
    main()
