"""Loads libvpatchdg into the PETSc that petsc4py uses, and calls its functions."""
from __future__ import annotations

import ctypes
import inspect
import itertools

import numpy as np

from .petsc import PATH, PETSc, load, require_one

Int = np.ctypeslib.as_ctypes_type(PETSc.IntType)
Real = ctypes.c_double
Reals = ctypes.POINTER(Real)
Ints = ctypes.POINTER(Int)
Handle = ctypes.c_void_p
Function = ctypes.CFUNCTYPE(ctypes.c_int, Int, Reals, Reals, ctypes.c_void_p)
Function.__doc__ = 'VPatchDGFunction of vpatchdg.h: (dim, x, value, ctx) -> error code'
Flux = ctypes.CFUNCTYPE(ctypes.c_int, Int, Reals, Reals, Reals, ctypes.c_void_p)
Flux.__doc__ = 'VPatchDGFlux of vpatchdg.h: (dim, x, normal, value, ctx) -> error code'
Batch = ctypes.CFUNCTYPE(ctypes.c_int, Int, Int, Reals, Reals, Reals, ctypes.c_void_p)
Batch.__doc__ = 'VPatchDGBatch of vpatchdg.h, which threads call: (dim, n, x, normal or NULL, value, ctx) -> error code'
Side = ctypes.CFUNCTYPE(ctypes.c_int, Int, Int, Int, Reals, ctypes.POINTER(ctypes.c_int), Reals, ctypes.c_void_p)  # VPatchDGBoundaryFunction
HOST = 0  # PETSC_MEMTYPE_HOST


def _petsc4py(name: str, result, *arguments):
    """A function of petsc4py's interface for C."""
    capsule = PETSc.__pyx_capi__[name]
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_GetPointer', ctypes.pythonapi))
    title = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(('PyCapsule_GetName', ctypes.pythonapi))
    return ctypes.PYFUNCTYPE(result, *arguments)(pointer(capsule, title(capsule)))


def _check(code: int) -> None:
    """Raises a PETSc.Error with PETSc's messages where code is one of an error."""
    if code:
        _petsc4py('PyPetscError_Set', ctypes.c_int, ctypes.c_int)(code)


def _load() -> ctypes.CDLL:
    """Requires: petsc4py is initialized. Ensures: its PETSc knows the types of the library, or ImportError says why it can not."""
    library = load()
    require_one(library)
    try:
        _check(library.PetscDLLibraryRegister_vpatchdg())
    except PETSc.Error as error:
        raise ImportError(f'{PATH} does not fit petsc4py: {error}') from None
    return library


_library = _load()
__version__ = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(_library, 'VPatchDGVersion'))).decode()


def call(name: str, dm: PETSc.DM | PETSc.PC, *arguments) -> None:
    """Calls the library's function of that name. Its error becomes a PETSc.Error with PETSc's messages."""
    _check(getattr(_library, name)(Handle(dm.handle), *arguments))


def _new(wrap: str, name: str, dm: PETSc.DM, *arguments):
    """What a function of the library makes, as petsc4py's function `wrap` wraps it."""
    handle = Handle()
    call(name, dm, *arguments, ctypes.byref(handle))
    made = _petsc4py(wrap, ctypes.py_object, ctypes.c_void_p)(handle)
    made.decRef()  # petsc4py holds one reference, this function held another
    return made


def new_vector(name: str, dm: PETSc.DM, *arguments) -> PETSc.Vec:
    """The vector that a function of the library makes."""
    return _new('PyPetscVec_New', name, dm, *arguments)


def new_dm(name: str, dm: PETSc.DM, *arguments) -> PETSc.DM:
    """The DM that a function of the library makes."""
    return _new('PyPetscDM_New', name, dm, *arguments)


def degree(dm: PETSc.DM) -> int:
    """The degree of the polynomials."""
    found = Int()
    call('DMVPatchDGGetDegree', dm, ctypes.byref(found))
    return found.value


def reason(ksp: PETSc.KSP) -> str:
    """PETSc's name of what ended the last solve."""
    return ctypes.POINTER(ctypes.c_char_p).in_dll(_library, 'KSPConvergedReasons')[ksp.getConvergedReason()].decode()


def option_is_used(name: str) -> bool:
    """Whether something has asked PETSc's database for the option."""
    used = ctypes.c_int()
    _check(_library.PetscOptionsUsed(None, name.encode(), ctypes.byref(used)))
    return bool(used)


def names(enum: str) -> list[str]:
    """The values of an enum by its array of names, which ends in the enum's own name, a prefix and NULL."""
    array = ctypes.cast(ctypes.addressof(ctypes.c_char_p.in_dll(_library, enum)), ctypes.POINTER(ctypes.c_char_p))
    return [name.decode() for name in itertools.takewhile(bool, (array[i] for i in itertools.count()))][:-2]


def value(enum: str, name: str) -> int:
    """The value of an enum that has this name."""
    if name not in names(enum):
        raise ValueError(f'{name!r}: {", ".join(names(enum))} exist')
    return names(enum).index(name)


def reals(array: np.ndarray) -> Reals:
    return np.ascontiguousarray(array, np.float64).ctypes.data_as(Reals)


def compiled(function):
    """The ctypes function that it is or has, or None."""
    found = getattr(function, 'ctypes', function)
    return found if isinstance(found, ctypes._CFuncPtr) else None


def is_pointwise(function) -> bool:
    """Is it compiled, and a function of one point?"""
    return compiled(function) is not None and len(compiled(function).argtypes) < len(Batch._argtypes_)


def _ignores_normals(function) -> bool:
    """Whether a function of points and normals has one parameter, which can only be the points."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return len(parameters) == 1 and all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def ask(function, x: np.ndarray, normal: np.ndarray | None = None, each: tuple = ((),)) -> np.ndarray:
    """Returns the values of a user's function at points x[n][dim], or its value if that is the same everywhere.

    `each` has the possible shapes of the value at one point. Raises a ValueError for others. The function is called with more than dim points:
    x[0], written by somebody who expects x[dim][n], has the shape [dim] and must not pass for values at dim points.
    """
    n, dim = x.shape
    at = np.minimum(np.arange(max(n, dim + 1)), n - 1) if n else []
    normals = None if normal is None else np.broadcast_to(normal, x.shape)[at]
    x = x[at] if 0 < n <= dim else x
    values = np.asarray(function(x) if normal is None or _ignores_normals(function) else function(x, normals))
    if np.iscomplexobj(values):
        raise ValueError('A function of points returned complex values; real ones are needed')
    if values.shape == () or (len(each) == 1 and values.shape == each[0]):
        return values
    if values.shape not in [(len(x), *shape) for shape in each]:
        wanted = ' or '.join(str(('n', *shape)).replace("'", '') for shape in each)
        raise ValueError(f'A function of the points x[n, dim], here {x.shape}, returned values of shape {values.shape}; {wanted} is needed, here '
                         f'with n = {len(x)}. The first coordinate of all points is x[..., 0], not x[0].')
    return values[:n]


class Callbacks:
    """Functions as C callbacks. Requires: it lives as long as they are used."""

    def __init__(self):
        self.kept, self.error = [], None

    def pointwise(self, kind, function):
        """Of a kind (Function or Flux), where it is a compiled function of one point; else NULL."""
        return ctypes.cast(compiled(function), kind) if is_pointwise(function) else kind()

    def point(self, kind, function):
        """Of a kind (Function or Flux), one point at a time; a number is the function of that value. NULL for None."""
        if function is None or is_pointwise(function):
            return self.pointwise(kind, function)
        many = self.batch(function, normals='one' if kind is Flux else None)

        def evaluate(dim, x, *rest):  # (normal,) value, ctx
            return many(dim, 1, x, rest[0] if kind is Flux else None, rest[-2], rest[-1])

        self.kept.append(kind(evaluate))
        return self.kept[-1]

    def batch(self, function, components: int = 1, normals: str | None = None):
        """Of many points; a number is the function of that value. NULL for None and for a compiled function of one point. normals: 'one' for all
        points, 'each' one of its own, or none."""
        if function is None or is_pointwise(function):
            return Batch()
        if compiled(function) is not None:
            return ctypes.cast(compiled(function), Batch)

        def evaluate(dim, n, x, normal, result, _):
            try:
                each = (components,) if components > 1 else ()
                normal = np.ctypeslib.as_array(normal, (n, dim) if normals == 'each' else (dim,)) if normals else None
                found = ask(function, np.ctypeslib.as_array(x, (n, dim)), normal, (each,)) if callable(function) else function
                np.ctypeslib.as_array(result, (n, *each))[...] = found
            except BaseException as error:
                self.error = error
                return int(getattr(error, 'ierr', 56)) or 56  # PETSC_ERR_SUP
            return 0

        self.kept.append(Batch(evaluate))
        return self.kept[-1]

    def side(self, function):
        """Of the middle of a side of a box and its outward normal, which returns a condition's name, or "robin" and alpha."""

        def evaluate(dim, box, side, center, boundary, alpha, _):
            try:
                found = function(np.ctypeslib.as_array(center, (dim,)).copy(), np.eye(dim)[side // 2] * (side % 2 * 2 - 1))
                name, *number = (found,) if isinstance(found, str) else found
                boundary[0] = value('VPatchDGBoundaries', name)
                alpha[0] = number[0] if number else alpha[0]
            except BaseException as error:
                self.error = error
                return int(getattr(error, 'ierr', 56)) or 56  # PETSC_ERR_SUP
            return 0

        self.kept.append(Side(evaluate))
        return self.kept[-1]

    def run(self, function, *arguments) -> None:
        """Calls the function; what a callback raised meanwhile is raised again."""
        try:
            function(*arguments)
        except PETSc.Error:
            if self.error is None:
                raise
        if self.error is not None:
            raise self.error

    def call(self, name: str, dm: PETSc.DM, *arguments) -> None:
        """As call(); what a callback raised is raised again."""
        self.run(call, name, dm, *arguments)
