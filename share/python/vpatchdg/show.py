"""What PETSc's objects say of themselves, as text, and in IPython."""
from __future__ import annotations

import tempfile
from pathlib import Path

from petsc4py import PETSc


def text(thing: PETSc.Object) -> str:
    """Returns what `thing.view()` prints: settings, sizes, how a solver works. Collective.

    Parameters
    ----------
    thing : PETSc.Object
        A DM, KSP, PC, Mat, ...

    Returns
    -------
    str
        Empty on all ranks but the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'view'
        viewer = PETSc.Viewer().createASCII(str(file), 'w', comm=thing.comm)
        thing.view(viewer)
        viewer.destroy()
        return file.read_text() if file.exists() else ''


def load_ipython_extension(ipython) -> None:
    """After `%load_ext vpatchdg` a DM, KSP, PC or Mat at the end of a cell shows its view()."""
    formatter = ipython.display_formatter.formatters['text/plain']
    for kind in (PETSc.DM, PETSc.KSP, PETSc.PC, PETSc.Mat):
        formatter.for_type(kind, lambda thing, printer, cycle: printer.text(text(thing) if thing.handle else repr(thing)))
