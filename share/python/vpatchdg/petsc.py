"""The library and petsc4py, which have to use one and the same PETSc. Where they do not, an ImportError says what to type."""
from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
BUILT = HERE.parents[2] / 'build/lib/libvpatchdg.so'  # of `make`, if this package is the one in its folder share/python
IN_TREE = (HERE.parent / 'build.py').exists() and BUILT.exists()
PATH = Path(os.environ.get('VPATCHDG_LIBRARY') or (BUILT if IN_TREE else HERE / 'libvpatchdg.so')).absolute()


class _Place(ctypes.Structure):
    """Dl_info of dlfcn.h"""
    _fields_ = [('file', ctypes.c_char_p), ('base', ctypes.c_void_p), ('name', ctypes.c_char_p), ('address', ctypes.c_void_p)]


def address(library: ctypes.CDLL) -> int:
    """Of a function of the PETSc that the library uses."""
    return ctypes.cast(library.PetscInitialize, ctypes.c_void_p).value


def _version(library: ctypes.CDLL) -> str:
    numbers = [ctypes.c_int64() for _ in range(4)]  # a PetscInt has 32 or 64 bits
    library.PetscGetVersionNumber(*map(ctypes.byref, numbers))
    return '.'.join(str(n.value) for n in numbers[:3])


def _file(library: ctypes.CDLL) -> str:
    place = _Place()
    ctypes.CDLL(None).dladdr(library.PetscInitialize, ctypes.byref(place))
    return place.file.decode()


def _what(library: ctypes.CDLL) -> str:
    return f'PETSc {_version(library)} ({_file(library)})'


def load() -> ctypes.CDLL:
    """The library, or an ImportError."""
    if not PATH.exists():
        raise ImportError(f'there is no {PATH}: VPATCHDG_LIBRARY names the libvpatchdg.so of `make`, or install the package by `pip install .`')
    try:
        return ctypes.CDLL(str(PATH))
    except OSError as error:
        raise ImportError(f'{PATH} can not be loaded: {error}') from None


def _petsc4py_of(library: ctypes.CDLL) -> str:
    """What to type for a petsc4py of the library's PETSc."""
    folder = ctypes.c_char_p()
    library.PetscGetPetscDir(ctypes.byref(folder))
    top = Path(folder.value.decode())
    prefix = Path(_file(library)).parent.parent
    arch = prefix.relative_to(top) if prefix.is_relative_to(top) and prefix != top else ''
    minor = _version(library).rpartition('.')[0]
    system = f'  /usr/bin/python3 (after apt-get install python3-petsc4py), not {sys.executable}\n' if str(top).startswith('/usr/lib/') else ''
    system = '' if sys.executable == '/usr/bin/python3' else system
    return f"{system}  PETSC_DIR={top} PETSC_ARCH={arch} {sys.executable} -m pip install 'petsc4py=={minor}.*'"


try:
    import petsc4py
    from petsc4py import PETSc
except ModuleNotFoundError as error:
    if error.name != 'petsc4py':
        raise
    _library = load()
    raise ImportError(f'{sys.executable} has no petsc4py. {PATH} uses {_what(_library)}. What to type for a petsc4py of that:\n'
                      f'{_petsc4py_of(_library)}') from None
except ImportError as error:
    raise ImportError(f'petsc4py ({petsc4py.__file__}) can not be loaded: {error}. If it was compiled for NumPy 1, as Debian\'s was: '
                      f"{sys.executable} -m pip install 'numpy<2'") from error


def require_one(library: ctypes.CDLL) -> None:
    """Ensures: the library and petsc4py use one PETSc, or ImportError says what to type."""
    theirs = ctypes.CDLL(PETSc.__file__)
    if address(library) == address(theirs):
        return
    config = petsc4py.get_config()
    raise ImportError(f'{PATH} was built with {_what(library)}, petsc4py ({petsc4py.__file__}) uses another one, {_what(theirs)}. Build vpatchdg with '
                      f'that, in its folder:\n  PETSC_DIR={config["PETSC_DIR"]} PETSC_ARCH={config["PETSC_ARCH"]} {sys.executable} -m pip install .\n'
                      f'or take a petsc4py of the PETSc that vpatchdg was built with:\n{_petsc4py_of(library)}')
