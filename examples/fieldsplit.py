"""Two fields that exchange heat, -div grad u + c (u - v) = 1 and -div grad v + c (v - u) = 0, by PCFIELDSPLIT with the cycle in each block.

  python3 fieldsplit.py -pc_fieldsplit_type multiplicative -c 100
"""
import sys

import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

import vpatchdg

c = PETSc.Options().getReal('c', 10)
dm = vpatchdg.create(dim=2, degree=4, refine=4)
block = dm.createMat()
block.shift(c)  # A + c I: the mass matrix is the identity
coupling = PETSc.Mat().createAIJ(block.getSizes(), nnz=1, comm=dm.comm)
diagonal = dm.createGlobalVec()
diagonal.set(-c)
coupling.setUp()
coupling.setDiagonal(diagonal)
coupling.assemble()
system = PETSc.Mat().createNest([[block, coupling], [coupling, block]], comm=dm.comm)
b = PETSc.Vec().createNest([vpatchdg.rhs(dm, 1), vpatchdg.rhs(dm)])
x = b.duplicate()

ksp = PETSc.KSP().create()
ksp.setOperators(system)
ksp.setType('fgmres')
ksp.setTolerances(rtol=1e-8)
pc = ksp.getPC()
pc.setType('fieldsplit')
rows = system.getNestISs()[0]
pc.setFieldSplitIS(('u', rows[0]), ('v', rows[1]))
ksp.setFromOptions()
pc.setUp()
for solve in pc.getFieldSplitSubKSP():
    solve.setType('preonly')
    solve.getPC().setType('vpatchdg')
    solve.setFromOptions()
ksp.solve(b, x)
r = b.duplicate()
system.mult(x, r)
residual = (b - r).norm() / b.norm()
PETSc.Sys.Print(f'{ksp.its} iterations, relative residual {residual:.1e}')
