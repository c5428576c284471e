#!/usr/bin/env -S python3 -B
"""smoothing.py -dll_append /path/to/libvpatchdg.so: what sweeps and cycles leave of a random error, into smoothing.json, which pictures.py
draws. Needs petsc4py; the unit square, 8 x 8 cells of degree 3, u = 0 on the boundary."""
import ctypes
import json
import os
import sys

import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

CELLS, DEGREE = 8, 3
library = ctypes.CDLL(PETSc.Options()['dll_append'])
options = PETSc.Options()
SETTINGS = {'dm_vpatchdg_dim': 2, 'dm_vpatchdg_degree': DEGREE, 'dm_refine': 3, 'a_pc_type': 'vpatch', 'b_pc_type': 'vpatchdg'}
for name, value in SETTINGS.items():
    options[name] = value
dm = PETSc.DM().create()
dm.setType('vpatchdg')
dm.setFromOptions()
dm.setUp()
A = dm.createMat()
e, r, z, points = (dm.createGlobalVec() for _ in range(4))


def call(name, *arguments):
    if getattr(library, name)(*(ctypes.c_void_p(a.handle) if isinstance(a, PETSc.Object) else a for a in arguments)):
        sys.exit(name + ' failed')


# the points of a cell follow one another, x fastest: where those of the picture's lines, from below, are in a vector
n, order = DEGREE + 1, [0] * e.getSize()
for cell in range(CELLS**2):
    lower, upper = (ctypes.c_double * 3)(), (ctypes.c_double * 3)()
    call('DMVPatchDGGetCellBounds', dm, cell, lower, upper)
    column, row = (round(lower[d] * CELLS) * n for d in range(2))
    for j in range(n):
        for i in range(n):
            order[(row + j) * CELLS * n + column + i] = cell * n * n + j * n + i

generator = PETSc.Random().create()
generator.setInterval((-1, 1))
generator.seed = 1
e.setRandom(generator)
pictures = {}
CASES = (('a random error', None, 0), ('after one sweep', 'a_', 1), ('after four sweeps', 'a_', 4), ('after two cycles', 'b_', 2))
for name, prefix, times in CASES:
    x = e.duplicate()
    e.copy(x)
    pc = PETSc.PC().create()
    pc.setOptionsPrefix(prefix)
    pc.setOperators(A)
    pc.setFromOptions()
    for _ in range(times):
        A.mult(x, r)
        pc.apply(r, z)
        x.axpy(-1, z)
    call('DMVPatchDGGetPointValues', dm, x, points)
    values = points.getArray(readonly=True)
    pictures[name] = {'norm': x.norm() / e.norm(), 'values': [float('%.3g' % values[i]) for i in order]}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'smoothing.json'), 'w') as f:
    json.dump({'cells': CELLS, 'degree': DEGREE, 'pictures': pictures}, f)
PETSc.Sys.Print(*(f'{name}: {p["norm"]:.2e}' for name, p in pictures.items()), sep='\n')
