"""package.py knows|says: the tests of the Python package, functions whose names begin with that. Those that say what is wrong lose what PETSc holds when a
call fails. Prints "ok NAME", "not ok NAME: why" or "skipped NAME: why" for each."""
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

import vpatchdg
from arrays import knows_arrays_of_others_without_a_copy, knows_arrays_on_gpus_without_a_copy
from problem import Skipped, refused, solve, wave, wave_gradient
from solutions import *

PI = np.pi


def knows_boxes_cells_and_the_coefficient():
    dm = vpatchdg.create(dim=2, degree=3, refine=2, boxes=[([0, 0], [1, 1]), ([1, 0], [2, 1])], coefficient=lambda x: 1 + x[:, 0])
    lower, upper = vpatchdg.bounds(dm)
    area = PETSc.Vec().createMPI((1, None))
    area.set(np.prod(upper - lower, axis=1).sum())
    assert abs(area.sum() - 2) < 1e-14
    assert np.allclose(vpatchdg.coefficient(dm), 1 + (lower + upper)[:, 0] / 2)
    vpatchdg.set_coefficient(dm, 3)
    assert (vpatchdg.coefficient(dm) == 3).all() and len(lower) == vpatchdg.cells(dm)
    vpatchdg.set_coefficient(dm, lambda x: 1 + x)
    assert np.allclose(vpatchdg.coefficient(dm), 1 + (lower + upper) / 2)
    vpatchdg.set_coefficient(dm, 3)


def knows_trees_that_meet_in_any_way():
    angle, radius = np.arange(10) * PI / 5, np.where(np.arange(10) % 2, 1, np.cos(PI / 5))
    points = np.vstack([[0, 0], (radius * [np.cos(angle), np.sin(angle)]).T])
    corners = [[0, 1 + 2 * i, 1 + (2 * i + 2) % 10, 2 + 2 * i] for i in range(5)]
    dm = vpatchdg.create(dim=2, degree=2, refine=2, trees=(points, corners))
    solution = vpatchdg.solve(dm, f=2, dirichlet=lambda x: x[..., 0]**2 - 2 * x[..., 1]**2,
                              options={'ksp_type': 'cg', 'pc_type': 'jacobi', 'ksp_rtol': 1e-10})
    assert np.allclose(vpatchdg.evaluate(dm, solution.u, [[0.3, 0.4], [-0.5, 0.1]]), [-0.23, 0.23], atol=1e-8)
    refused(ValueError, 'corners [trees, 4]', vpatchdg.create, dim=2, trees=(points, [[0, 1, 2]]))


def knows_a_fresh_coefficient_is_one():
    assert (vpatchdg.coefficient(vpatchdg.create(dim=2, refine=2)) == 1).all()


def knows_point_values():
    dm = vpatchdg.create(dim=3, degree=2, refine=2, upper=[1, 2, 1], grid=[1, 2, 1])
    points = vpatchdg.points(dm)
    assert points.shape == (vpatchdg.cells(dm), 27, 3)
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] * x[..., 1] ** 2 - x[..., 2])
    assert np.allclose(vpatchdg.point_values(dm, u), points[..., 0] * points[..., 1] ** 2 - points[..., 2])
    assert np.allclose(vpatchdg.point_values(dm, vpatchdg.from_point_values(dm, points[..., 1])), points[..., 1])


def knows_faces_of_boxes():
    dm = vpatchdg.create(dim=2, degree=1, grid=[2, [0, 0.25, 2]])
    volumes = PETSc.Vec().createMPI((vpatchdg.cells(dm), None))
    lower, upper = vpatchdg.bounds(dm)
    volumes.set(0)
    volumes.array[:] = np.prod(upper - lower, axis=1)
    assert volumes.getSize() == 4 and volumes.min()[1] == 0.125 and volumes.max()[1] == 0.875


def knows_dirichlet_data():
    dm = vpatchdg.create(dim=2, degree=2, refine=3)
    u = solve(dm, vpatchdg.rhs(dm, -4, dirichlet=lambda x: (x**2).sum(-1)))
    found = vpatchdg.errors(dm, u, lambda x: (x**2).sum(-1), lambda x: 2 * x)
    assert found.l2 < 1e-8 and found.h1 < 1e-7, found


def knows_neumann_data_and_a_singular_problem():
    dm = vpatchdg.create(dim=2, degree=4, refine=4, boundary='neumann')
    b = vpatchdg.rhs(dm, lambda x: 5 * PI**2 * wave(x) + 1, neumann=lambda x, n: 0.25)
    assert abs(b.dot(vpatchdg.from_point_values(dm, 1)) - 2) < 1e-12  # a time step needs the mean
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        found = vpatchdg.solve(dm, lambda x: 5 * PI**2 * wave(x) + 1, neumann=0.25)
        other = vpatchdg.solve(dm, lambda x: 5 * PI**2 * wave(x) + 1, neumann=-0.25)
        constant = vpatchdg.solve(dm, 1)
    assert [str(w.message)[:25] for w in said] == ['The data do not add up to'] * 2 and found.residual < 1e-8 and other.residual < 1e-8
    assert constant.u.norm() < 1e-12
    b = vpatchdg.rhs(dm, lambda x: 5 * PI**2 * wave(x))
    assert vpatchdg.errors(dm, solve(dm, b), gradient=wave_gradient).h1 < 1e-3


def knows_compiled_functions():
    calls = []

    @vpatchdg.Function
    def f(dim, x, value, context):
        calls.append(1)
        value[0] = x[0]
        return 0

    dm = vpatchdg.create(dim=2, degree=2, refine=2)
    one = vpatchdg.rhs(dm, f)
    other = vpatchdg.rhs(dm, lambda x: x[..., 0])
    other.axpy(-1, one)
    assert other.norm() < 1e-14 and len(calls) == 25 * vpatchdg.cells(dm)
    assert abs(vpatchdg.errors(dm, one, f).l2 - vpatchdg.errors(dm, one, lambda x: x[..., 0]).l2) < 1e-13

    @vpatchdg.Batch
    def many(dim, n, x, normal, value, context):
        for i in range(n):
            value[i] = x[dim * i]
        return 0

    one.axpy(-1, vpatchdg.rhs(dm, many))
    assert one.norm() < 1e-14


def knows_data_in_all_forms_together():
    dm = vpatchdg.create(dim=2, degree=3, refine=2, boundary=['dirichlet', 'neumann', 'dirichlet', 'dirichlet'])

    @vpatchdg.Flux
    def flux(dim, x, normal, value, context):
        value[0] = x[1] * normal[0]
        return 0

    one = vpatchdg.rhs(dm, vpatchdg.points(dm)[..., 0], dirichlet=2, neumann=flux)
    one.axpy(-1, vpatchdg.rhs(dm, lambda x: x[..., 0], dirichlet=lambda x: 2 + 0 * x[..., 0], neumann=lambda x, n: x[..., 1] * n[..., 0]))
    assert one.norm() < 1e-11, one.norm()


def knows_continuous_functions():
    dm, other = (vpatchdg.create(dim=2, degree=3, refine=3, continuous=c) for c in (True, False))
    u = lambda x: np.sin(x[..., 0] + 2 * x[..., 1])
    assert dm.createGlobalVec().getSize() == 25**2 and other.createGlobalVec().getSize() == 64 * 16
    found = vpatchdg.solve(dm, f=lambda x: 5 * u(x), dirichlet=u)
    assert found.iterations < 8 and vpatchdg.errors(dm, found.u, u).l2 < 1e-5
    values = vpatchdg.point_values(dm, found.u)
    assert abs(values - u(vpatchdg.points(dm))).max() < 1e-4
    again = vpatchdg.from_point_values(dm, values)
    assert (again - found.u).norm() < 1e-12 * found.u.norm()
    assert abs(vpatchdg.integral(dm, again) - vpatchdg.integral(other, vpatchdg.from_point_values(other, values))) < 1e-12


def knows_boundary_conditions_box_by_box():
    def condition(center, normal):
        return 'neumann' if normal[0] > 0 and center[1] > 0.5 else ('robin', 1 + center[0]) if normal[1] > 0 else 'dirichlet'

    def u(x):
        return x[..., 0] * x[..., 1]

    def data(x, normal):
        du = x[..., 1] * normal[..., 0] + x[..., 0] * normal[..., 1]
        return du + (normal[..., 1] > 0) * (1.25 + 0.5 * (x[..., 0] > 0.5)) * u(x)

    dm = vpatchdg.create(dim=2, degree=2, refine=2, grid=[2, 2], boundary=condition)
    x = solve(dm, vpatchdg.rhs(dm, dirichlet=u, neumann=data))
    assert vpatchdg.errors(dm, x, u).l2 < 1e-10
    assert '5 sides of boxes dirichlet, 1 neumann, 2 robin' in vpatchdg.text(dm) or dm.comm.rank


def knows_the_labels_of_a_plex():
    def u(x):
        return x[..., 0] * x[..., 1]

    def data(x, normal):
        return (normal[..., 0] > 0) * (x[..., 1] + 2 * u(x)) + (normal[..., 1] < 0) * -x[..., 0]

    plex = PETSc.DMPlex().createBoxMesh([8, 8], simplex=False)
    dm = plex.convert('vpatchdg')
    vpatchdg.set_label_boundary(dm, {1: 'neumann', 2: ('robin', 2.)})  # of y = 0 and x = 1
    dm.setUp()
    x = solve(dm, vpatchdg.rhs(dm, dirichlet=u, neumann=data))
    assert vpatchdg.errors(dm, x, u).l2 < 1e-10
    refused(ValueError, 'dirichlet, neumann', vpatchdg.set_label_boundary, plex.convert('vpatchdg'), {1: 'open'})


def knows_the_regions_of_a_plex():
    plex = PETSc.DMPlex().createBoxMesh([4, 4], simplex=False)
    plex.createLabel('Cell Sets')
    for cell in range(*plex.getHeightStratum(0)):
        center = plex.computeCellGeometryFVM(cell)[1]
        plex.setLabelValue('Cell Sets', cell, 7 if center[0] < 0.5 else 9)
    dm = plex.convert('vpatchdg')
    dm.setUp()
    dm = dm.refine()
    vpatchdg.set_region_coefficient(dm, plex, {7: 2, 9: 50.})
    assert np.array_equal(vpatchdg.coefficient(dm), np.where(np.mean(vpatchdg.bounds(dm), axis=0)[:, 0] < 0.5, 2, 50))
    refused(ValueError, 'a: a number for each region', vpatchdg.set_region_coefficient, dm, plex, {7: 2, 9: 'hard'})
    refused(PETSc.Error, 'no coefficient for the regions 9', vpatchdg.set_region_coefficient, dm, plex, {7: 2})


def knows_vectors_at_points_without_a_copy():
    dm = vpatchdg.create(dim=2, degree=3, refine=2)
    u, values = vpatchdg.from_point_values(dm, wave), dm.createGlobalVec()
    shared = np.from_dlpack(values)
    assert vpatchdg.point_values(dm, u, out=values) is values
    assert np.shares_memory(shared, values.getArray()) and np.abs(shared - vpatchdg.point_values(dm, u).ravel()).max() == 0
    for one, other in ((vpatchdg.from_point_values(dm, values), u), (vpatchdg.rhs(dm, values), vpatchdg.rhs(dm, vpatchdg.point_values(dm, u)))):
        one.axpy(-1, other)
        assert one.norm() < 1e-13


def knows_files_for_paraview():
    dm = vpatchdg.create(dim=2, degree=2, refine=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'u.vtu'
        viewer = PETSc.Viewer().createVTK(str(file), 'w', comm=dm.comm)
        vpatchdg.view_cells(dm, 'number', np.arange(vpatchdg.cells(dm)), viewer)
        named, v = (dm.createGlobalVec() for _ in range(2))
        named.setName('pressure')
        for vector in v, named, v:
            vector.view(viewer)
        viewer.destroy()
        assert dm.comm.rank or all(b'Name="%s"' % name in file.read_bytes() for name in (b'number', b'u', b'pressure', b'u3'))


def knows_what_a_file_has():
    dm = vpatchdg.create(dim=2, degree=2, refine=2, coefficient=lambda x: 1 + x[:, 0])
    dm = vpatchdg.refine_cells(dm, (vpatchdg.bounds(dm)[0][:, 0] < 0.25).astype(int))
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] * x[..., 1])
    file = Path(tempfile.gettempdir()) / f'vpatchdg-{os.getppid()}'  # the same on all ranks
    viewer = PETSc.Viewer().createBinary(str(file), 'w', comm=dm.comm)
    dm.view(viewer)
    u.view(viewer)
    viewer.destroy()
    viewer = PETSc.Viewer().createBinary(str(file), 'r', comm=dm.comm)
    again = PETSc.DM().create(dm.comm)
    again.load(viewer)
    v = again.createGlobalVec()
    v.load(viewer)
    viewer.destroy()
    if not dm.comm.rank:
        for name in file.parent.glob(file.name + '*'):
            name.unlink()
    assert np.array_equal(vpatchdg.bounds(again), vpatchdg.bounds(dm))
    assert np.array_equal(vpatchdg.coefficient(again), vpatchdg.coefficient(dm)) and np.array_equal(u.array, v.array)


def knows_values_anywhere():
    dm = vpatchdg.create(dim=3, degree=2, refine=1, grid=[2, 1, 1])
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] * x[..., 1] - x[..., 2] ** 2)
    at = np.random.default_rng(dm.comm.rank).random((7 + dm.comm.rank, 3))
    assert np.allclose(vpatchdg.evaluate(dm, u, at), at[:, 0] * at[:, 1] - at[:, 2] ** 2)
    refused(ValueError, '(..., 3)', vpatchdg.evaluate, dm, u, at[:, :2])
    dm = vpatchdg.create(dim=2, degree=1, refine=2, domain='lshape')
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] - 2 * x[..., 1])
    around = np.array([[-0.9, 0.8], [0.9, -0.7], [-0.2, 0.1], [1, 0], [0, 1], [0.1, -0.1], [-1, -1]])
    assert np.allclose(vpatchdg.evaluate(dm, u, around), around[:, 0] - 2 * around[:, 1])
    refused(PETSc.Error, '(0.5, 0.5), lies outside', vpatchdg.evaluate, dm, u, [[0.5, 0.5]])


def knows_gradients_and_integrals():
    dm = vpatchdg.create(dim=2, degree=2, refine=2, upper=[2, 1])
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] * x[..., 1])
    assert np.allclose(vpatchdg.gradients(dm, u), vpatchdg.points(dm)[..., ::-1])
    assert abs(vpatchdg.integral(dm, u) - 1) < 1e-13


def ring(x):
    r, angle = 1 + x[..., 0], PI / 2 * x[..., 1]
    return np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)


FCG = {'ksp_type': 'fcg', 'ksp_fcg_mmax': 1, 'ksp_norm_type': 'unpreconditioned'}


def knows_maps_of_cells():
    named = vpatchdg.create(dim=2, degree=4, refine=3, map=('annulus', 1, 2, 90))
    assert not PETSc.Options().hasName('dm_vpatchdg_map')
    dm = vpatchdg.create(dim=2, degree=4, refine=3, map=ring)
    for one in named, dm, dm.clone():
        assert np.allclose(vpatchdg.points(one), vpatchdg.points(dm), rtol=0, atol=1e-13)
        assert abs(vpatchdg.integral(one, vpatchdg.from_point_values(one, 1)) - 0.75 * PI) < 1e-7
    corners = np.hypot(*np.moveaxis(vpatchdg.points(dm, at=(0, 1)), -1, 0))
    assert np.allclose(8 * corners, np.round(8 * corners), rtol=0, atol=1e-12)
    u = vpatchdg.solve(dm, dirichlet=lambda x: np.log(np.hypot(x[..., 0], x[..., 1])), options=FCG)
    assert vpatchdg.errors(dm, u, lambda x: np.log(np.hypot(x[..., 0], x[..., 1]))).l2 < 1e-6 and u.iterations < 10
    assert abs(vpatchdg.evaluate(dm, u.u, [1.2, 0.9]) - np.log(1.5)) < 1e-6


def knows_coefficients_at_points():
    def u(x):
        return np.sin(x[..., 0] + 2 * x[..., 1])

    def f(x):  # of a = 2 + x, of the diagonal a, 3 a, and of the matrix a (2, 1; 1, 3)
        phase, a = x[..., 0] + 2 * x[..., 1], 2 + x[..., 0]
        return [5 * a * np.sin(phase) - np.cos(phase), 13 * a * np.sin(phase) - np.cos(phase), 18 * a * np.sin(phase) - 4 * np.cos(phase)]

    tensors = 1, np.array([1, 3]), np.array([[2, 1], [1, 3]])
    for i, tensor in enumerate(tensors):
        for map in None, ring:
            dm = vpatchdg.create(dim=2, degree=4, refine=3, map=map, coefficient_at='points', reaction=lambda x: 1 + x[..., 1],
                                 coefficient=lambda x: np.multiply.outer(2 + x[..., 0], tensor))
            found = vpatchdg.solve(dm, lambda x: f(x)[i] + (1 + x[..., 1]) * u(x), dirichlet=u, options=FCG)
            assert vpatchdg.errors(dm, found, u).l2 < 5e-6, (i, map, vpatchdg.errors(dm, found, u))
    assert dm.refine().createGlobalVec().getSize() == 4 * dm.createGlobalVec().getSize()
    vpatchdg.set_coefficient(dm, lambda x: 2 + x[..., 0], at='points')
    found = vpatchdg.solve(dm, lambda x: f(x)[0] + (1 + x[..., 1]) * u(x), dirichlet=u, options=FCG)
    assert vpatchdg.errors(dm, found, u).l2 < 5e-6
    x = vpatchdg.points(dm)
    for i, tensor in enumerate(tensors):
        vpatchdg.set_coefficient(dm, np.multiply.outer(2 + x[..., 0], tensor), at='points')
        found = vpatchdg.solve(dm, lambda x: f(x)[i] + (1 + x[..., 1]) * u(x), dirichlet=u, options=FCG)
        assert vpatchdg.errors(dm, found, u).l2 < 5e-6, i
    refused(ValueError, 'has the shape', vpatchdg.set_coefficient, dm, np.ones(3), at='points')
    refused(ValueError, "'points' exist", vpatchdg.set_coefficient, dm, 1, at='nodes')
    refused(ValueError, 'is needed', vpatchdg.set_coefficient, dm, lambda x: np.ones((len(x), 3)), at='points')


def says_what_points_need():
    dm = vpatchdg.create(dim=2, degree=2, refine=2)
    refused(PETSc.Error, '-dm_vpatchdg_basis gauss', vpatchdg.set_coefficient, dm, lambda x: 1 + x[..., 0], at='points')
    dm = vpatchdg.create(dim=2, degree=2, refine=2, coefficient_at='points', coefficient=lambda x: 1 + x[..., 0])
    refused(PETSc.Error, 'positive', vpatchdg.set_coefficient, dm, lambda x: x[..., 0] - 2, at='points')
    refused(PETSc.Error, 'annulus', vpatchdg.create, dim=2, map=('annulus', 1))
    refused(PETSc.Error, 'shear', vpatchdg.create, dim=2, map='spiral')
    refused(ValueError, 'is needed', vpatchdg.create, dim=2, refine=2, map=lambda x: x[..., 0])
    refused(ZeroDivisionError, 'zero', vpatchdg.create, dim=2, refine=2, reaction=lambda x: 1 // 0)


def knows_that_vectors_outlive_their_makers():
    dm = vpatchdg.create(dim=2, refine=2)
    before = dm.getRefCount()
    for _ in range(10):
        vpatchdg.points(dm)
    assert dm.getRefCount() == before


def says_what_is_wrong():
    dm = vpatchdg.create(dim=2, degree=2, refine=2)
    first = dm.comm.rank == 0
    refused(PETSc.Error, 'degrees 1 to 8 exist', vpatchdg.create, degree=9)
    refused(ValueError, 'dirichlet, neumann, robin, periodic exist', vpatchdg.create, boundary='open')
    refused(ValueError, 'robin, periodic exist', vpatchdg.create, boundary=lambda center, normal: 'open')
    refused(ValueError, 'or 4, not 3', vpatchdg.create, dim=2, boundary=['neumann'] * 3)
    refused(ValueError, 'of shape (2,)', vpatchdg.create, dim=2, lower=[0, 0, 0])
    refused(ValueError, 'of shape (1, 2, 2)', vpatchdg.create, dim=2, boxes=[([0], [1])])
    refused(PETSc.Error, 'must be positive', vpatchdg.set_coefficient, dm, -1)
    refused(ValueError, 'cells', vpatchdg.set_coefficient, dm, np.ones(vpatchdg.cells(dm) + (3 if first else 0)))
    refused(ValueError, 'are needed', vpatchdg.from_point_values, dm, np.ones((vpatchdg.cells(dm), 8 if first else 9)))
    refused(PETSc.Error, 'not of type vpatchdg', vpatchdg.points, PETSc.DMDA().create([8, 8]))
    refused(PETSc.Error, 'outside of the domain', vpatchdg.evaluate, dm, dm.createGlobalVec(), [[0.5, 1.5]])
    refused(PETSc.Error, 'DMCreateGlobalVector', vpatchdg.point_values, dm, PETSc.Vec().createMPI(50))


def says_what_a_function_raised():
    dm = vpatchdg.create(dim=2, refine=2)

    def broken(x, *normal):
        raise KeyError('broken')

    refused(KeyError, 'broken', vpatchdg.rhs, dm, broken)
    refused(KeyError, 'broken', vpatchdg.rhs, dm, dirichlet=broken)
    refused(ValueError, 'x[..., 0], not x[0]', vpatchdg.rhs, dm, dirichlet=lambda x: [1, 2])


def says_what_it_is():
    dm = vpatchdg.create(dim=2, refine=2)
    said = vpatchdg.text(dm)
    assert ('cells 16' in said) == (dm.comm.rank == 0), said


def knows_cells_of_different_levels():
    dm = vpatchdg.create(dim=2, degree=3, refine=2, boundary=['dirichlet', 'neumann', 'dirichlet', 'dirichlet'])
    x, data = None, ((lambda x: 5 * PI**2 * wave(x)), wave, lambda x, normal: (wave_gradient(x) * normal).sum(axis=-1))
    found = []
    for step in range(4):
        x = solve(dm, vpatchdg.rhs(dm, *data))
        eta = vpatchdg.estimate(dm, x, *data)
        assert np.allclose(vpatchdg.estimate(dm, x, *data, coefficient=1), eta, 1e-6)
        assert (vpatchdg.estimate(dm, x, *data, coefficient=lambda x: 1 + x[..., 0]) > 1.01 * eta).any()
        total = PETSc.Vec().createMPI((1, None))
        total.set((eta**2).sum())
        found.append((np.sqrt(total.sum()), vpatchdg.errors(dm, x, wave, wave_gradient).h1))
        finer = vpatchdg.refine_cells(dm, vpatchdg.mark(dm, eta, refine=0.8))
        there = vpatchdg.transfer(dm, finer, x)
        assert abs(there.norm() - x.norm()) < 1e-12 * x.norm()
        assert finer.createGlobalVec().getSize() > dm.createGlobalVec().getSize()
        dm, x = finer, there
    assert all(1 < estimate / error < 6 for estimate, error in found), found
    assert found[-1][1] < found[0][1] / 8, found
    assert (vpatchdg.surplus(dm, x) > 0).all()
    back = vpatchdg.refine_cells(dm, np.full(vpatchdg.cells(dm), -1))
    assert back.createGlobalVec().getSize() < dm.createGlobalVec().getSize()
    assert abs(vpatchdg.integral(back, vpatchdg.transfer(dm, back, x)) - vpatchdg.integral(dm, x)) < 1e-13
    refused(ValueError, 'one for each', vpatchdg.refine_cells, dm, [1])
    refused(ValueError, '1, 0 or -1', vpatchdg.refine_cells, dm, np.full(vpatchdg.cells(dm), 2))
    refused(ValueError, 'doerfler, maximum exist', vpatchdg.mark, dm, np.zeros(vpatchdg.cells(dm)), 'most')


class Shell:
    """as much of an IPython shell as an extension sees"""
    display_formatter = property(lambda self: self)
    formatters = property(lambda self: {'text/plain': self})
    known = {}

    def for_type(self, kind, show):
        self.known[kind] = show

    def text(self, said):
        self.said = said


def says_what_it_is_in_ipython():
    shell, dm = Shell(), vpatchdg.create(dim=2, refine=2)
    vpatchdg.load_ipython_extension(shell)
    shell.known[PETSc.DM](dm, shell, False)
    assert 'type: vpatchdg' in shell.said or dm.comm.rank
    shell.known[PETSc.DM](PETSc.DM(), shell, False)
    assert 'PETSc.DM object' in shell.said


def says_what_a_dm_is_asked():
    dm = vpatchdg.create(dim=2, degree=2, refine=2, upper=[2, 2.5])
    assert dm.getDimension() == dm.getCoordinateDim() == 2 and dm.getRefineLevel() == 2 and dm.getType() == 'vpatchdg'
    assert dm.getGlobalVec().getSize() == 16 * 9 and dm.getLocalVec().getSize() >= dm.getGlobalVec().getLocalSize()
    for same in (dm, dm.clone(), dm.refine()):
        corners, (lower, upper) = same.getCoordinates().getArray().reshape(-1, 4, 2), vpatchdg.bounds(same)
        assert (corners.min(axis=1) == lower).all() and (corners.max(axis=1) == upper).all() and (corners[:, 1] == np.stack([upper[:, 0], lower[:, 1]], -1)).all()
        assert same.getBoundingBox() == ((0, 2), (0, 2.5)), same.getBoundingBox()
    for fine in (dm.refine(), dm.refineHierarchy(1)[0]):
        assert fine.getGlobalVec().getSize() == 64 * 9
    for coarse in (dm.coarsen(), dm.coarsenHierarchy(1)[0]):
        assert coarse.getGlobalVec().getSize() == 4 * 9
    assert dm.clone().getGlobalVec().getSize() == 16 * 9 and dm.getNumFields() == 0
    interpolation, _ = dm.coarsen().createInterpolation(dm)
    assert interpolation.getSize() == (16 * 9, 4 * 9)
    early = PETSc.DM().create()
    early.setType('vpatchdg')
    refused(PETSc.Error, 'DMSetUp()', early.getCoordinates)
    for ask in (dm.getLGMap, dm.createMassMatrix, dm.createSubDM, dm.createInjection, dm.createRestriction):
        given = {'createMassMatrix': [dm], 'createSubDM': [[0]]}.get(ask.__name__, [dm] if ask.__name__.startswith('create') else [])
        refused(PETSc.Error, 'vpatchdg', ask, *given)
    refused(PETSc.Error, 'does not become a DMPLEX', dm.convert, 'plex')
    refused(PETSc.Error, 'There is no local vector', dm.globalToLocal, dm.createGlobalVec(), PETSc.Vec())


def main():
    for name, test in list(globals().items()):
        if not name.startswith(sys.argv[1] + '_'):
            continue
        try:
            test()
            PETSc.Sys.Print(f'ok {name}')
        except Skipped as why:
            PETSc.Sys.Print(f'skipped {name}: {why}')
        except Exception:
            print(f'not ok {name}: {traceback.format_exc()}', flush=True)
    PETSc.Sys.Print('done')


main()
