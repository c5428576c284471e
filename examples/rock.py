"""Draws the permeability and the pressure that the example rock has saved, at two heights:

  build/bin/rock -save rock.bin && python3 rock.py [-saved rock.bin] [-picture rock.png]
"""
import sys
import petsc4py
petsc4py.init(sys.argv)
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as pyplot
import numpy as np
import vpatchdg
from petsc4py import PETSc

viewer = PETSc.Viewer().createBinary(PETSc.Options().getString('saved', 'rock.bin'), 'r')
dm = PETSc.DM().create()
dm.setType('vpatchdg')
dm.load(viewer)
pressure = dm.createGlobalVec()
pressure.load(viewer)

permeability = vpatchdg.coefficient(dm)[:, 0]  # horizontal
height = dm.getBoundingBox()[2][1]
fields = ('log10 permeability', np.log10(permeability), 'viridis'), ('pressure', pressure, 'coolwarm')
figure, axes = pyplot.subplots(2, len(fields), figsize=(9, 12), constrained_layout=True)
for row, z in zip(axes, (0.8 * height, 0.3 * height)):  # among the layers, among the channels
    for ax, (name, values, colours) in zip(row, fields):
        vpatchdg.plot(dm, values, z=z, ax=ax, cmap=colours)
        ax.set_title(f'{name}, z = {z:g} ft') if dm.comm.rank == 0 else None
picture = PETSc.Options().getString('picture', 'rock.png')
if dm.comm.rank == 0:
    figure.savefig(picture, dpi=120)
PETSc.Sys.Print(f'{picture}: permeability and pressure, {pressure.getSize()} unknowns')
