"""Tests of the package's solve(), plot(), line() and values at corners, and of what it says where one of its habits is not that of other packages."""
import contextlib
import io
import itertools
import pydoc
import re
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from petsc4py import PETSc

import vpatchdg
from problem import Skipped, refused


def square(x):
    return (x**2).sum(axis=-1)


def knows_a_solution_with_its_report():
    dm = vpatchdg.create(dim=2, degree=2, refine=3)
    found = vpatchdg.solve(dm, f=-4, dirichlet=square)
    b = vpatchdg.rhs(dm, -4, square)
    assert vpatchdg.errors(dm, found.u, square).l2 < 1e-7
    assert found.reason == 'CONVERGED_RTOL' and found.precision == 'single' and 2 <= found.iterations == len(found.history) - 1
    assert abs(found.residual - (b - dm.createMat() * found.u).norm() / b.norm()) < 1e-12 and found.residual <= 1e-8
    assert re.fullmatch(r'576 unknowns, \d iterations, CONVERGED_RTOL, true relative residual \S+, \S+ s, single precision', str(found)), found
    again = vpatchdg.solve(dm, b=b, guess=found.u, rtol=1e-6)
    assert vpatchdg.errors(dm, found, square) == vpatchdg.errors(dm, found.u, square)
    assert again.iterations == vpatchdg.solve(dm, b=b, guess=found, rtol=1e-6).iterations == 0 and again.u.handle != found.u.handle


def knows_options_of_a_solve():
    dm, database = vpatchdg.create(dim=2, degree=2, refine=3), PETSc.Options()
    before = dict(database.getAll())
    cg = {'ksp_type': 'cg', 'pc_vpatchdg_symmetric': True, '-pc_vpatchdg_smooth_pre': 1}
    for options in (cg, {'ksp_type': 'gmres'}, SimpleNamespace(ksp_type='bcgs', ksp_rtol=1e-11)):
        found = vpatchdg.solve(dm, 1, options=options)
        assert found.residual < 1.1 * (1e-11 if isinstance(options, SimpleNamespace) else 1e-8), (options, found)
    assert vpatchdg.solve(dm, 1, options={'pc_type': 'none', 'ksp_rtol': 1e-2}).precision is None
    database['flow_ksp_max_it'] = 1  # what is typed wins
    refused(vpatchdg.ConvergenceError, 'after 1 iterations', vpatchdg.solve, dm, 1, options={'ksp_max_it': 30}, prefix='flow_')
    database.delValue('flow_ksp_max_it')
    assert database.getAll() == before
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        vpatchdg.solve(dm, 1, options={'ksp_rtool': 1e-4, 'ksp_rtol': 1e-4})
    assert [str(one.message).startswith('solve(): nothing has used the options ksp_rtool.') for one in said] == [True], said


def knows_a_singular_solve():
    dm = vpatchdg.create(dim=2, degree=2, refine=3, boundary='neumann')
    assert vpatchdg.solve(dm, lambda x: 1 + np.cos(np.pi * x[..., 0])).residual < 1e-7  # without the mean of f, which no u reaches


def says_that_a_solve_diverged():
    dm = vpatchdg.create(dim=2, degree=2, refine=3)
    try:
        vpatchdg.solve(dm, 1, options={'ksp_max_it': 1})
        raise AssertionError('it converged')
    except vpatchdg.ConvergenceError as error:
        reached = error.solution
        assert 'DIVERGED_ITS' in str(error) and f'{reached.residual:.1e}' in str(error) and reached.iterations == 1
        b = vpatchdg.rhs(dm, 1)
        assert abs(reached.residual - (b - dm.createMat() * reached.u).norm() / b.norm()) < 1e-12 and reached.residual > 1e-8
    refused(ValueError, 'but not both', vpatchdg.solve, dm, 1, b=b)
    refused(TypeError, "{'ksp_rtol': 1e-8}", vpatchdg.solve, dm, 1, options='-ksp_rtol 1e-8')


def knows_values_at_corners():
    for dim in (2, 3):
        dm = vpatchdg.create(dim=dim, degree=3, refine=1, upper=[1, 2, 3][:dim], grid=2)
        u = vpatchdg.from_point_values(dm, lambda x: 1 + x[..., 0]**3 - x[..., 1]**2 * x[..., -1])
        corners = vpatchdg.points(dm, at=(0, 1))
        lower, upper = vpatchdg.bounds(dm)
        assert (corners[:, 0] == lower).all() and (corners[:, -1] == upper).all() and corners.shape == (vpatchdg.cells(dm), 2**dim, dim)
        assert (corners[:, 1, 0] == upper[:, 0]).all() and (corners[:, 1, 1] == lower[:, 1]).all()
        for at in (0, 1), (0.25, 0.5, 1):
            x = vpatchdg.points(dm, at)
            assert np.allclose(vpatchdg.point_values(dm, u, at=at), 1 + x[..., 0]**3 - x[..., 1]**2 * x[..., -1], rtol=0, atol=1e-12)


def knows_values_on_lines():
    dm = vpatchdg.create(dim=2, degree=2, refine=2, domain='lshape')
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] - x[..., 1]**2)
    for start, end in ([-1, -1], [1, 1]), ([0.5, 1], [0.5, -1]), ([-1, 0], [1, 0]), ([-0.3, 0.9], [0.8, -2]):
        at, values = vpatchdg.line(dm, u, start, end, 33)
        inside = (np.abs(at) <= 1).all(axis=1) & ((at <= 0).any(axis=1))
        assert np.allclose(at, np.linspace(start, end, 33)) and (np.isnan(values) == ~inside).all()
        assert np.allclose(values[inside], (at[:, 0] - at[:, 1]**2)[inside])
    assert abs(vpatchdg.evaluate(dm, u, [-0.5, 0.5]) + 0.75) < 1e-13 and vpatchdg.evaluate(dm, u, [[[-1, 0]]]).shape == (1, 1)
    refused(ValueError, 'two points of 2 coordinates', vpatchdg.line, dm, u, [0, 0, 0], [1, 0])


def pyplot_without_display():
    try:
        import matplotlib
    except ImportError as error:
        raise Skipped(f'no matplotlib: {error}')
    matplotlib.use('Agg')
    from matplotlib import pyplot
    return pyplot


def knows_pictures():
    pyplot = pyplot_without_display()
    dm = vpatchdg.create(dim=3, degree=2, refine=1, grid=[2, 1, 1], coefficient=lambda x: 1 + x[..., 0])
    u = vpatchdg.from_point_values(dm, lambda x: x[..., 0] + 10 * x[..., 1]**2 + 100 * x[..., 2])
    first, area = dm.comm.rank == 0, 0
    for fixed, names, value in ({'z': 0.3}, 'xy', lambda p, q: p + 10 * q**2 + 30), ({'x': 1}, 'yz', lambda p, q: 1 + 10 * p**2 + 100 * q):
        on = vpatchdg.plot(dm, u, **fixed, cmap='magma')
        assert first == (on is not None)
        if first:
            drawn = on.collections[0]
            corners = drawn._triangulation
            assert np.allclose(drawn.get_array(), value(corners.x, corners.y)) and (on.get_xlabel(), on.get_ylabel()) == tuple(names)
            x, y = corners.x[corners.triangles], corners.y[corners.triangles]  # without gaps: the triangles fill the unit square
            area = np.abs((x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])).sum() / 2
            assert abs(area - 1) < 1e-12 and drawn.get_cmap().name == 'magma', area
            pyplot.close(on.figure)
    on = vpatchdg.plot(dm, u, y=0.5, z=0)
    if first:
        x, y = on.lines[0].get_data()
        assert np.allclose(y, x + 2.5) and x[0] == 0 and x[-1] == 1
        axes = pyplot.subplots()[1]
    else:
        axes = None
    assert vpatchdg.plot(dm, vpatchdg.coefficient(dm), ax=axes, colorbar=False, mesh=True) is axes
    if first:
        assert set(axes.collections[0].get_array()) == {1.125, 1.375, 1.625, 1.875} and len(axes.collections[1].get_paths()) == 8
        assert axes.get_title() == 'z = 0.5'
    flat = vpatchdg.refine_cells(vpatchdg.create(dim=2, refine=2), np.arange(vpatchdg.cells(vpatchdg.create(dim=2, refine=2))) == 0)
    with tempfile.TemporaryDirectory() as folder:
        vpatchdg.plot(flat, file=Path(folder) / 'mesh.png')
        assert not first or (Path(folder) / 'mesh.png').stat().st_size > 1000
    refused(ValueError, 'x = 3 lies outside of the domain, [0, 1]', vpatchdg.plot, dm, u, x=3)
    refused(ValueError, 'at most 1 of x, y', vpatchdg.plot, flat, z=0)
    refused(ValueError, 'one number per cell', vpatchdg.plot, dm, [1, 2, 3])


def knows_shapes_of_cells_and_colours_of_patches():
    assert np.allclose(vpatchdg.shapes(vpatchdg.create(dim=3, degree=2, refine=1, grid=[1, 2, 3])), 1)
    for domain, dim, irregular in ('star', 2, 1), ('disc', 2, 4), ('ball', 3, 28):
        dm = vpatchdg.create(dim=dim, degree=3, refine=1, domain=domain)
        kappa = vpatchdg.mesh.maximum(dm, vpatchdg.shapes(dm).max(initial=0))
        said = re.search(r'the most is ([\d.]+) in cell', vpatchdg.text(dm))
        assert dm.comm.rank or abs(kappa / float(said[1]) - 1) < 0.005, (kappa, said)
        colors = vpatchdg.patch_colors(dm)
        for row in colors:  # no cell is in two patches of one colour
            assert len(set(row[row >= 0])) == (row >= 0).sum()
        at = vpatchdg.fields.gather(dm, np.concatenate([vpatchdg.points(dm, (0, 1)), colors[..., None]], axis=-1)).reshape(-1, dim + 1)
        vertices = np.unique(np.round(at, 9) + 0., axis=0)
        assert len(np.unique(vertices[:, :dim], axis=0)) == len(vertices)  # all cells around a vertex say the same
        inside = np.linalg.norm(vertices[:, :dim], axis=1) < 0.8
        assert (vertices[inside, dim] < 0).sum() == irregular and (vertices[~inside, dim] < 0).all()


def says_what_colours_of_patches_need():
    coarse = vpatchdg.create(dim=2, refine=2)
    refused(PETSc.Error, 'cells of different levels', vpatchdg.patch_colors, vpatchdg.refine_cells(coarse, np.arange(vpatchdg.cells(coarse)) == 0))


def knows_pictures_of_meshes():
    pyplot = pyplot_without_display()
    disc, ball = (vpatchdg.create(dim=dim, degree=2, refine=1, domain=domain) for dim, domain in ((2, 'disc'), (3, 'ball')))
    with tempfile.TemporaryDirectory() as folder:
        for dm, what in itertools.product((disc, ball), ('ranks', 'kappa', 'colors', None, np.arange(vpatchdg.cells(disc)))):
            if dm is ball and what is not None and not isinstance(what, str):
                what = np.ones(vpatchdg.cells(ball))
            on = vpatchdg.plot_mesh(dm, what, linewidths=0.2)
            assert (dm.comm.rank == 0) == (on is not None)
            if on is not None:
                sides = on.collections[0]  # of the cells, or of those on the sphere
                assert len(sides._facecolor3d if dm is ball else sides.get_facecolor()) == (24 if dm is ball else 20)
                assert len(on.figure.axes) == (1 if what is None else 2)
                pyplot.close(on.figure)
        vpatchdg.plot_mesh(ball, 'ranks', file=Path(folder) / 'ball.png')
        assert ball.comm.rank or (Path(folder) / 'ball.png').stat().st_size > 5000
    refused(ValueError, "'ranks', 'colors', 'kappa'", vpatchdg.plot_mesh, disc, 'levels')
    refused(ValueError, 'one number for each', vpatchdg.plot_mesh, disc, [1, 2, 3])


def knows_wells_and_what_flows_out():
    for name in 'DMVPatchDGAddPointSources', 'DMVPatchDGIntegrateFlux':
        if not hasattr(vpatchdg.library._library, name):
            raise Skipped(f'no {name} in this library')
    dm = vpatchdg.create(dim=2, degree=3, refine=2, boundary=['dirichlet', 'dirichlet', 'neumann', 'neumann'])
    at, q = ([[0.25, 0.4], [0.6, 0.9]], [2, -0.5]) if dm.comm.rank == 0 else (np.empty((0, 2)), [])
    b = vpatchdg.add_point_sources(dm, dm.createGlobalVec(), at, q)
    u = vpatchdg.from_point_values(dm, lambda x: 1 + x[..., 0] * x[..., 1])
    assert abs(b.dot(u) - (2 * 1.1 - 0.5 * 1.54)) < 1e-12
    found = vpatchdg.solve(dm, b=b, rtol=1e-11)
    assert abs(vpatchdg.flux(dm, found, 0) + vpatchdg.flux(dm, found, 1) + 1.5) < 0.2  # what comes in goes out, up to the error
    x = vpatchdg.from_point_values(dm, lambda x: 3 * x[..., 0])
    assert np.allclose([vpatchdg.flux(dm, x, side) for side in range(4)], [-3, 3, 0, 0])
    refused(ValueError, 'points (n, 2) and strengths (n,)', vpatchdg.add_point_sources, dm, b, [[0, 0]], [1, 2])


def knows_continuous_elements():
    n = 8
    dm = vpatchdg.create(dim=2, degree=1, refine=3)
    at = np.rint(n * vpatchdg.bounds(dm)[0]).astype(int)[:, None] + [[0, 0], [1, 0], [0, 1], [1, 1]]
    nodes = np.where(((at > 0) & (at < n)).all(-1), at[..., 0] - 1 + (n - 1) * (at[..., 1] - 1), -1).astype(PETSc.IntType)
    A = PETSc.Mat().createAIJ((n - 1)**2, nnz=9, comm=dm.comm)
    for rows in nodes:
        A.setValues(rows, rows, np.array([[4, -1, -1, -2], [-1, 4, -2, -1], [-1, -2, 4, -1], [-2, -1, -1, 4]]) / 6, addv=True)
    A.assemble()
    ksp = PETSc.KSP().create(comm=dm.comm)
    ksp.setOperators(A)
    ksp.setType('fgmres')
    ksp.setTolerances(rtol=1e-8)
    ksp.getPC().setType('vpatchdg')
    vpatchdg.set_element_restriction(ksp.getPC(), dm, nodes)
    x, b = A.createVecs()
    b.set(1)
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0 and ksp.getIterationNumber() < 8, ksp.getIterationNumber()


def says_what_a_function_of_points_is():
    dm = vpatchdg.create(dim=2, degree=1, refine=1)
    x0 = 'x[..., 0], not x[0]'
    for wrong in ({'f': lambda x: x[0]}, {'dirichlet': lambda x: x[0]}, {'f': lambda x: np.sin(x[2])}, {'f': lambda x: x}):
        refused(ValueError, x0, vpatchdg.rhs, dm, **wrong)
    refused(ValueError, x0, vpatchdg.from_point_values, dm, lambda x: x[0])
    two = vpatchdg.create(dim=2, degree=1, grid=[1 + dm.comm.size, 1])  # two cells on one rank, sides of two points: x[0] would fit
    refused(ValueError, x0, vpatchdg.set_coefficient, two, lambda x: x[0])
    refused(ValueError, x0, vpatchdg.rhs, two, dirichlet=lambda x: x[0])
    refused(ValueError, x0, vpatchdg.set_coefficient, dm, lambda x: x[0])
    refused(ValueError, x0, vpatchdg.solve, dm, lambda x: x[0])
    refused(ValueError, x0, vpatchdg.errors, dm, dm.createGlobalVec(), 0, lambda x: x[..., 0])
    refused(ValueError, 'complex', vpatchdg.rhs, dm, lambda x: 1j * x[..., 0])
    refused(ValueError, 'dirichlet: a number or a function', vpatchdg.solve, dm, 1, {'ksp_type': 'cg'})
    n = vpatchdg.cells(dm)
    refused(ValueError, f'one number per cell, ({n},), or 2 numbers per cell, ({n}, 2)', vpatchdg.set_coefficient, dm, np.ones((n, 2, 2)))
    refused(ValueError, 'or (n, 2) is needed', vpatchdg.set_coefficient, dm, lambda x: np.ones((len(x), 2, 2)))


def says_which_data_have_no_sides():
    dirichlet, periodic = vpatchdg.create(dim=2, degree=1, refine=1), vpatchdg.create(dim=2, degree=1, refine=1, boundary='periodic')
    neumann = vpatchdg.create(dim=2, degree=1, refine=1, boundary=['neumann', 'robin', 'neumann', 'neumann'], robin=2)
    for data in 1, lambda x, normal: x[..., 0]:
        for function in vpatchdg.solve, vpatchdg.rhs:
            refused(ValueError, 'neumann: no side of the boundary is Neumann or Robin, all sides are Dirichlet', function, dirichlet, neumann=data)
        refused(ValueError, 'all sides are periodic', vpatchdg.rhs, periodic, neumann=data)
        refused(ValueError, 'all sides are Dirichlet', vpatchdg.estimate, dirichlet, dirichlet.createGlobalVec(), neumann=data)
    refused(ValueError, 'dirichlet: no side of the boundary is Dirichlet, all sides are Neumann or Robin', vpatchdg.solve, neumann, dirichlet=1)
    assert (vpatchdg.rhs(dirichlet, 1, 0, 0) - vpatchdg.rhs(dirichlet, 1)).norm() == 0  # zeros are no data
    refused(ValueError, "robin: no side of the boundary is 'robin'; the sides are dirichlet, ", vpatchdg.create, dim=2, robin=2.)


def says_which_arguments_there_are():
    dm = vpatchdg.create(dim=2, degree=1, refine=1)
    for wrong in [1, 2, 3], 'x', {}:
        refused(ValueError, 'f: a number, a function of points x[n, dim], or an array [cells][points]', vpatchdg.solve, dm, wrong)
        refused(ValueError, 'u: a number or a function', vpatchdg.errors, dm, dm.createGlobalVec(), wrong)
        refused(ValueError, 'f: a number or a function', vpatchdg.estimate, dm, dm.createGlobalVec(), wrong)
    refused(ValueError, 'penalty: a number is needed, not <function', vpatchdg.create, dim=2, penalty=lambda x: x)
    refused(ValueError, "reaction: a number is needed, not 'strong'", vpatchdg.create, dim=2, reaction='strong')
    for name in 'dim', 'degree', 'refine':
        refused(ValueError, f'{name}: an integer is needed, not 1.5', vpatchdg.create, **{name: 1.5})
    for name in 'lower', 'robin', 'boxes', 'grid':
        refused(ValueError, f'{name}: ', vpatchdg.create, dim=2, **{name: 'wide' if name != 'boxes' else [([0, 0], 'wide')]})
    refused(ValueError, 'the coefficient: a number, an array', vpatchdg.set_coefficient, dm, 'hard')
    for boundary in ([('robin', 2.)] * 4, ('robin', 2.)):
        refused(ValueError, 'robin=2.0, or robin=[...] with 4 numbers', vpatchdg.create, dim=2, boundary=boundary)


def says_that_memory_is_short_before_it_is_taken():
    dm, database, said, asked = vpatchdg.create(dim=2, degree=4, refine=4), PETSc.Options(), set(), []

    def f(x):
        asked.append(x)
        return x[..., 0]

    for size in np.geomspace(5e4, 3e6, 30):
        database['vpatchdg_memory'] = size
        try:
            vpatchdg.solve(dm, f)
            said.add('enough')
        except PETSc.Error as error:
            said.add(re.search('The cycle|KSP fgmres', str(error))[0])
            assert not asked, 'a right-hand side was made'
    database.delValue('vpatchdg_memory')
    assert said == {'The cycle', 'KSP fgmres', 'enough'} and asked, said


def says_what_one_number_means():
    dm, other = vpatchdg.create(dim=2, grid=4, lower=-1, upper=2), vpatchdg.create(dim=2, grid=[4, 4], lower=[-1, -1], upper=[2, 2])
    assert np.array_equal(vpatchdg.bounds(dm), vpatchdg.bounds(other))
    refused(ValueError, 'one number of boxes, or 2 numbers', vpatchdg.create, dim=2, grid=[4])
    refused(ValueError, 'an integer', vpatchdg.create, dim=2, grid=4.5)
    dm = vpatchdg.create(dim=2, degree=2, refine=2, boundary='neumann', reaction=1)
    b = vpatchdg.rhs(dm, neumann=lambda x: x[..., 1])  # of one argument: the points
    assert (b - vpatchdg.rhs(dm, neumann=lambda x, normal: x[..., 1])).norm() == 0


def says_what_there_is():
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        pydoc.Helper(output=shown).help(vpatchdg)
    shown = shown.getvalue()
    assert 0 < shown.index('vpatchdg.solve(') < shown.index('CLASSES') and 'ctypes.CFUNCTYPE' not in shown and '_CFuncPtr' not in shown
    for name in vpatchdg.__all__:
        said = pydoc.inspect.getdoc(getattr(vpatchdg, name))
        parts = ('Attributes',) if name == 'Solution' else () if name == 'load_ipython_extension' else ('Parameters', )
        assert all(f'\n{part}\n{"-" * len(part)}\n' in said for part in parts), name
        documented = set(re.findall(r'^\*{0,2}(\w+(?:, \w+)*)(?: : .*)?$', said.split('Parameters\n---')[-1].split('Returns\n---')[0], re.M)) if parts == ('Parameters', ) else set()
        documented = {one for line in documented for one in line.split(', ')}
        missing = [p for p in pydoc.inspect.signature(getattr(vpatchdg, name)).parameters if p not in documented] if documented else []
        assert not missing, (name, missing)
    header = Path(__file__).parents[2] / 'include/vpatchdg.h'
    assert f'VPATCHDG_VERSION "{vpatchdg.__version__}"' in header.read_text()
