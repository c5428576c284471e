"""Heat through a wall of brick and insulation, whose cells, materials and sides come from a Gmsh file:  python3 gmsh.py [-dm_refine 2]"""
import sys
from pathlib import Path
import petsc4py
petsc4py.init(sys.argv)
import vpatchdg
from petsc4py import PETSc

plex = PETSc.DMPlex().createFromFile(str(Path(__file__).with_name('wall.msh')))  # its cells are rectangles
dm = plex.convert('vpatchdg')
dm.setFromOptions()  # -dm_refine n bisects the cells n times
vpatchdg.set_label_boundary(dm, {1: 'dirichlet', 2: ('robin', 200.), 3: 'neumann'})  # physical curves: inside, outside, ends of the wall
dm.setUp()
vpatchdg.set_region_coefficient(dm, plex, {10: 1., 11: 0.04})  # physical surfaces: brick, insulation
solution = vpatchdg.solve(dm, dirichlet=20)  # 20 degrees inside, air of 0 degrees outside, no heat through the ends
PETSc.Sys.Print(f'{solution.iterations} iterations, heat through the wall {-vpatchdg.flux(dm, solution, 2):.4f}')
