"""Vectors that share the memory of others' arrays: NumPy's, and of CuPy, torch or JAX by DLPack or __cuda_array_interface__."""
from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from petsc4py import PETSc

from .library import new_vector
from .mesh import cells, require

HOST, CUDA = (1, 3), (2, 13)  # DLPack's devices: main memory, and page-locked; CUDA, and managed
FLOAT = 2                     # DLPack's code of a type


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h"""
    _fields_ = [('data', ctypes.c_void_p), ('device', ctypes.c_int32), ('index', ctypes.c_int32), ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8),
                ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('offset', ctypes.c_uint64)]


class Memory(NamedTuple):
    """Numbers in a row that somebody else has."""
    address: int
    shape: tuple[int, ...]
    device: bool
    right: bool      # are they float64, in a row, and in memory that is known?
    owner: object    # lives as long as they are used


def _in_a_row(shape, strides) -> bool:
    """strides: in numbers, or None"""
    step = 1
    for n, s in reversed(list(zip(shape, strides or ()))):
        if n > 1 and s != step:
            return False
        step *= n
    return True


def _of_dlpack(array) -> Memory:
    capsule = array.__dlpack__()
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_GetPointer', ctypes.pythonapi))
    t = Tensor.from_address(pointer(capsule, b'dltensor'))
    shape, strides = t.shape[:t.ndim], t.strides[:t.ndim] if t.strides else None
    right = (t.code, t.bits, t.lanes) == (FLOAT, 64, 1) and t.device in HOST + CUDA and _in_a_row(shape, strides)
    return Memory((t.data or 0) + t.offset, tuple(shape), t.device in CUDA, right, (array, capsule))


def _of_cuda(array) -> Memory:
    said = array.__cuda_array_interface__
    strides = said.get('strides') and [s // 8 for s in said['strides']]
    return Memory(said['data'][0], tuple(said['shape']), True, np.dtype(said['typestr']) == np.float64 and _in_a_row(said['shape'], strides), array)


def memory(array) -> Memory | None:
    """What an array of another library is, or None where it says so by none of the three protocols."""
    if hasattr(array, '__cuda_array_interface__'):
        return _of_cuda(array)
    if isinstance(array, np.ndarray):
        right = array.dtype == np.float64 and array.flags.c_contiguous and array.flags.writeable
        return Memory(array.ctypes.data, array.shape, False, right, array)
    return _of_dlpack(array) if hasattr(array, '__dlpack__') else None


def vector(dm: PETSc.DM, array) -> PETSc.Vec:
    """Returns a vector that shares the memory of an array. Collective.

    What one of the two writes the other one reads. Work that others have given to a GPU must be done.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    array : array
        Of NumPy, or of CuPy, torch or JAX (by DLPack or __cuda_array_interface__): float64, [cells][points] or as many numbers in a row, coefficients
        or values at points. An array on a GPU needs a PETSc with CUDA.

    Returns
    -------
    PETSc.Vec

    Raises
    ------
    ValueError
        On one rank the array has another type, size or layout.
    """
    m, n = memory(array), new_vector('DMVPatchDGCreatePointVector', dm).getLocalSize()
    require(dm, m is not None, f'{type(array).__name__} has no __dlpack__, __array_interface__ or __cuda_array_interface__')
    require(dm, m.right, 'an array of float64 without gaps is needed, that may be written to')
    require(dm, int(np.prod(m.shape)) == n, f'{n} numbers are needed, {cells(dm)} cells of {n // max(cells(dm), 1)}, not the shape {m.shape}')
    if m.device:
        v = PETSc.Vec().createCUDAWithArrays(None, m.address, (n, None), comm=dm.comm)
    else:
        shared = np.ctypeslib.as_array((ctypes.c_double * n).from_address(m.address)) if n else np.empty(0)
        v = PETSc.Vec().createWithArray(shared, (n, None), comm=dm.comm)
    v.setAttr('memory', m.owner)
    return v
