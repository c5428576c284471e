"""Tests of the Python package with arrays of other libraries."""
import ctypes

import numpy as np
from petsc4py import PETSc

import vpatchdg
from problem import Skipped, refused, solve, wave


class Foreign:
    """An array of another library: what DLPack says of an array of NumPy, with another device if that is given."""
    def __init__(self, array, device=None):
        self.array, self.device = array, device

    def __dlpack__(self):
        capsule = self.array.__dlpack__()
        if self.device:
            pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_GetPointer', ctypes.pythonapi))
            vpatchdg.arrays.Tensor.from_address(pointer(capsule, b'dltensor')).device = self.device
        return capsule


class OnDevice:
    """An array on a GPU that there is not."""
    def __init__(self, shape, typestr='<f8', strides=None):
        self.__cuda_array_interface__ = {'data': (4096, False), 'shape': shape, 'typestr': typestr, 'strides': strides, 'version': 3}


def knows_arrays_of_others_without_a_copy():
    dm = vpatchdg.create(dim=2, degree=3, refine=2)
    values = wave(vpatchdg.points(dm))
    right = vpatchdg.from_point_values(dm, values)
    for array in (values, Foreign(values), Foreign(values.ravel())):
        shared = vpatchdg.vector(dm, array)
        assert np.shares_memory(shared.getArray(), values)
        for one in (vpatchdg.from_point_values(dm, array), vpatchdg.from_point_values(dm, shared)):
            one.axpy(-1, right)
            assert one.norm() == 0
    for f in (Foreign(values), vpatchdg.vector(dm, values)):
        b = vpatchdg.rhs(dm, f)
        b.axpy(-1, vpatchdg.rhs(dm, values))
        assert b.norm() == 0
    out = np.zeros_like(values)
    vpatchdg.point_values(dm, right, out=vpatchdg.vector(dm, out))
    assert np.abs(out - values).max() < 1e-13
    n = values.size
    for wrong in (values.astype(np.float32), values.T.copy().T if values.shape[0] > 1 else values[:, ::2], Foreign(values[:, ::2]),
                  OnDevice(values.shape, '<f4'), OnDevice((n,), strides=(16,)), Foreign(values, device=4)):
        refused(ValueError, 'float64 without gaps', vpatchdg.vector, dm, wrong)
    for wrong in (values[:-1], OnDevice((n + 1,)), Foreign(values[:, :-1].copy())):
        refused(ValueError, 'numbers are needed', vpatchdg.vector, dm, wrong)
    refused(ValueError, 'has no __dlpack__', vpatchdg.vector, dm, 'text')
    m = vpatchdg.arrays.memory(Foreign(values, device=2))
    assert m.device and m.right and m.address == values.ctypes.data and vpatchdg.arrays.memory(OnDevice((n,))).device


def cupy_and_a_gpu():
    try:
        import cupy
        cupy.zeros(1)
    except Exception as error:
        raise Skipped('no CuPy that has a GPU') from error
    if not PETSc.Sys.hasExternalPackage('cuda'):
        raise Skipped('a PETSc without CUDA')
    return cupy


def knows_arrays_on_gpus_without_a_copy():
    cupy = cupy_and_a_gpu()
    dm = vpatchdg.create(dim=2, degree=3, refine=3, vec_type='cuda')
    f = cupy.asarray(wave(vpatchdg.points(dm)))
    right, expected = vpatchdg.rhs(dm, f), vpatchdg.rhs(dm, f.get())
    assert right.getType().endswith('cuda') and np.abs(right.getArray() - expected.getArray()).max() < 1e-14
    x = solve(dm, right)
    values = cupy.zeros_like(f)
    cupy.cuda.Device().synchronize()
    vpatchdg.point_values(dm, x, out=vpatchdg.vector(dm, values))
    assert np.abs(values.get() - vpatchdg.point_values(dm, x)).max() < 1e-14 < np.abs(values.get()).max()
    shared = cupy.from_dlpack(x)
    handle = x.getCUDAHandle('r')
    assert shared.data.ptr == handle
    x.restoreCUDAHandle(handle, 'r')
    assert np.array_equal(shared.get(), x.getArray(readonly=True))
