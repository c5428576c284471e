"""The DM: its creation, its cells and its coefficient."""
from __future__ import annotations

import ctypes
from numbers import Integral, Real as Number
from typing import Callable, Mapping, Sequence

import numpy as np
from petsc4py import PETSc

from .library import HOST, Callbacks, Handle, Int, Ints, Real, Reals, ask, call, compiled, names, new_vector, reals, value

_kept = []  # functions of DMs, which the DMs that are made of these call again


def require(dm: PETSc.DM, right: bool, message: str) -> None:
    """Raises a ValueError on all ranks if `right` is false on one rank. Collective."""
    if on_any_rank(dm, not right):
        raise ValueError(message if not right else f'on another rank: {message}')


def on_any_rank(dm: PETSc.DM, so: bool) -> bool:
    """Whether `so` is true on one rank. Collective."""
    return maximum(dm, so) > 0


def maximum(dm: PETSc.DM, number: float) -> float:
    """The largest of one number per rank. Collective."""
    numbers = PETSc.Vec().createMPI((1, None), comm=dm.comm)
    numbers.set(number)
    return numbers.max()[1]


def together(dm: PETSc.DM, function: Callable, *arguments):
    """Calls a function that is not collective. If it raises an exception on one rank, all ranks raise one. Collective."""
    result = error = None
    try:
        result = function(*arguments)
    except Exception as raised:
        error = raised
    if on_any_rank(dm, error is not None):
        raise error or RuntimeError('a function raised an exception on another rank')
    return result


def numbers(name: str, given, wanted: str = 'a number is') -> np.ndarray:
    """The array of what a caller gives. Raises a ValueError that names the argument and what is wanted."""
    try:
        return np.array(given, float)
    except (TypeError, ValueError):
        raise ValueError(f'{name}: {wanted} needed, not {given!r}') from None


def create(dim: int = 3, degree: int = 3, refine: int = 0, *, domain: str | None = None, grid: int | Sequence[int | Sequence[float]] | None = None,
           lower: float | Sequence[float] | None = None, upper: float | Sequence[float] | None = None,
           boxes: Sequence[tuple[Sequence[float], Sequence[float]]] | None = None, trees: tuple | None = None, boundary: str | Sequence[str] | Callable | None = None,
           robin: float | Sequence[float] | None = None, penalty: float | None = None, reaction: Callable | float | None = None,
           coefficient: Callable | np.ndarray | float | None = None, coefficient_at: str | None = None,
           map: Callable | str | tuple | None = None, map_degree: int | None = None, continuous: bool = False, vec_type: str | None = None, mat_type: str | None = None,
           prefix: str | None = None, comm=None) -> PETSc.DM:
    """Creates a mesh, with the polynomials and the operator -div(a grad u) + c u on it: a DM of type vpatchdg that is set up. Collective.

    Options of the command line overrule the arguments.

    Parameters
    ----------
    dim : int
        2 or 3.
    degree : int
        The degree of the polynomials in each variable, 1 to 8.
    refine : int
        How often each box is halved in every direction: a box has 2**(dim * refine) cells.
    domain : {'box', 'lshape', 'fichera', 'star', 'disc', 'cylinder', 'ball', 'shell'}, optional
        The box [0, 1]^dim unless `lower` and `upper` say otherwise; [-1, 1]^2 without its quadrant x, y > 0; [-1, 1]^3 without its octant; or
        a domain of quadrilaterals or hexahedra that meet in any way (DMVPatchDGSetDomain).
    grid : int or sequence of dim ints or of arrays of floats, optional
        The number of equal boxes per direction, by default 1; one int is taken for all directions. In place of a number, the coordinates of the
        boxes' faces in that direction, in increasing order.
    lower, upper : float or sequence of dim floats, optional
        The corners of the domain, by default 0 and 1; one number is taken for all directions.
    boxes : sequence of pairs of corners, optional
        Lower and upper corner of each box, a domain of one's own. Boxes may differ in size and share whole sides.
    trees : (points, corners), optional
        The vertices [n, dim] of a mesh of quadrilaterals or hexahedra that meet in any way, and their numbers [trees, 2**dim] at the corners of
        each of these, x fastest. The vpatchdg cycle does not take it yet: solve with options={'ksp_type': 'cg', 'pc_type': 'jacobi'}, say.
    boundary : str, sequence of 2 * dim str, or callable, optional
        'dirichlet' (the default), 'neumann', 'robin' or 'periodic', for all sides or for each in the order x-, x+, y-, y+, z-, z+. A callable is
        given the middle [dim] of each side of a box on the boundary and its outward normal [dim]. It returns one of the first three, or
        ('robin', alpha).
    robin : float or sequence of 2 * dim floats, optional
        alpha of Robin sides, by default 1, in du/dn + alpha u = g [1 / length].
    penalty : float, optional
        A factor of the penalty, by default 1.
    reaction : float or callable, optional
        c >= 0, by default 0: a number, or a function of points x[n, dim] with values [n].
    coefficient : callable, array or float, optional
        a, by default 1, as `set_coefficient` takes it.
    coefficient_at : {'cells', 'points'}, optional
        Whether a function is called at the centres of cells, so that a is constant in each cell, or at all quadrature points. By default 'points'
        with a map, else 'cells'.
    map : callable, str or tuple, optional
        Takes the boxes to physical space, where cells are curved: a function of points x[n, dim] of the boxes that returns points [n, dim], or the name
        of a map and its numbers, ('annulus', 1, 2, 90), as -dm_vpatchdg_map and -dm_vpatchdg_map_parameters take them. The function is called once,
        at the nodes of cells; `dm.refine()` halves the cells that it gave.
    map_degree : int, optional
        The degree of the polynomials that map cells, by default that of the functions.
    continuous : bool
        Whether functions are continuous. Vectors then have their values at nodes, which cells share, and not coefficients of cells.
    vec_type, mat_type : str, optional
        PETSc's types: 'cuda' puts vectors and work on the GPU, 'aij' assembles matrices.
    prefix : str, optional
        The prefix of the DM's options.
    comm : communicator, optional
        The ranks, by default all.

    Returns
    -------
    PETSc.DM

    Raises
    ------
    ValueError
        An argument has the wrong shape or an unknown name.
    PETSc.Error
        The library refuses a value; the message says which values exist.
    """
    for name, number, kind in (('dim', dim, Integral), ('degree', degree, Integral), ('refine', refine, Integral), ('penalty', penalty, Number),
                               ('reaction', None if callable(reaction) else reaction, Number), ('map_degree', map_degree, Integral)):
        if not (number is None or isinstance(number, kind)):
            raise ValueError(f'{name}: {"a number" if kind is Number else "an integer"} is needed, not {number!r}')
    if coefficient_at not in (None, 'cells', 'points'):
        raise ValueError(f"coefficient_at: 'cells' and 'points' exist, not {coefficient_at!r}")
    at_points = callable(coefficient) and (coefficient_at or ('cells' if map is None else 'points')) == 'points'
    dm = PETSc.DM().create(comm=comm)
    dm.setType('vpatchdg')
    dm.setDimension(dim)
    dm.setRefineLevel(refine)
    call('DMVPatchDGSetDegree', dm, Int(degree))
    if domain is not None:
        call('DMVPatchDGSetDomain', dm, value('VPatchDGDomains', domain))
    if grid is not None or lower is not None or upper is not None:
        _set_grid(dm, dim, grid, lower, upper)
    if boxes is not None:
        corners = _vectors('boxes', boxes, (len(boxes) if hasattr(boxes, '__len__') else 1, 2, dim))
        call('DMVPatchDGSetBoxes', dm, Int(len(boxes)), reals(corners[:, 0].copy()), reals(corners[:, 1].copy()))
    if trees is not None:
        _set_trees(dm, dim, *trees)
    callbacks = Callbacks()
    if callable(boundary):
        call('DMVPatchDGSetBoundaryFunction', dm, callbacks.side(boundary), None)
    elif boundary is not None:
        sides = [boundary] * (2 * dim) if isinstance(boundary, str) else list(boundary)
        if not all(isinstance(side, str) for side in sides):
            raise ValueError(f"boundary: names are needed, not {boundary!r}. alpha of 'robin' sides is an argument of its own: robin=2.0, or "
                             f'robin=[...] with {2 * dim} numbers')
        if len(sides) != 2 * dim:
            raise ValueError(f'boundary: one for all sides, or {2 * dim}, not {len(sides)}')
        call('DMVPatchDGSetBoundary', dm, (ctypes.c_int * len(sides))(*(value('VPatchDGBoundaries', side) for side in sides)))
    if robin is not None:
        call('DMVPatchDGSetRobin', dm, reals(_vectors('robin', robin, (2 * dim,))))
    for name, number in (('Penalty', penalty), ('Reaction', reaction)):
        if number is not None and not callable(number):
            call(f'DMVPatchDGSet{name}', dm, Real(number))
    if vec_type is not None:
        dm.setVecType(vec_type)
    if mat_type is not None:
        dm.setMatType(mat_type)
    if map_degree is not None:
        call('DMVPatchDGSetMapDegree', dm, Int(map_degree))
    if continuous:
        call('DMVPatchDGSetContinuous', dm, ctypes.c_int(1))
    if at_points or callable(reaction):
        call('DMVPatchDGSetBasis', dm, value('VPatchDGBases', 'gauss'))
    dm.setOptionsPrefix(prefix)
    _set_map(dm, map, callbacks, prefix or '')
    callbacks.run(dm.setUp)
    if robin is not None and not callable(boundary):
        _require_robin(dm, dim)
    if coefficient is not None:
        set_coefficient(dm, coefficient, at='points' if at_points else 'cells')
    if callable(reaction):
        _call_at_points(dm, 'DMVPatchDGSetReactionFunction', reaction, 1)
    return dm


def _set_trees(dm: PETSc.DM, dim: int, points, corners) -> None:
    x, corner = numbers('trees', points), np.ascontiguousarray(numbers('trees', corners), PETSc.IntType)
    if x.ndim != 2 or x.shape[1] != dim or corner.ndim != 2 or corner.shape[1] != 2**dim:
        raise ValueError(f'trees: points [n, {dim}] and corners [trees, {2**dim}] are needed, not {x.shape} and {corner.shape}')
    call('DMVPatchDGSetTrees', dm, Int(len(x)), reals(x), Int(len(corner)), corner.ctypes.data_as(Ints), Int(1), None)


def _set_map(dm: PETSc.DM, map: Callable | str | tuple | None, callbacks: Callbacks, prefix: str) -> None:
    """Reads the DM's options, and gives it its map unless they do. Collective."""
    database, option = PETSc.Options(), prefix + 'dm_vpatchdg_map'
    if map is None or callable(map) or database.hasName(option):
        dm.setFromOptions()
    else:
        name, *parameters = (map,) if isinstance(map, str) else map
        added = {option: name, **({f'{option}_parameters': ','.join(repr(float(p)) for p in parameters)} if parameters else {})}
        for key, word in added.items():
            database.setValue(key, word)
        try:
            dm.setFromOptions()
        finally:
            for key in added:
                database.delValue(key)
    if not callable(map) or database.hasName(option):
        return
    boxes = dm.clone()
    callbacks.run(boxes.setUp)
    nodes = new_vector('DMVPatchDGGetMapCoordinates', boxes)
    x = nodes.getArray().reshape(-1, dm.getDimension()).copy()
    nodes.getArray()[...] = np.broadcast_to(together(dm, ask, map, x, None, (x.shape[1:],)), x.shape).ravel()
    call('DMVPatchDGSetMapCoordinates', dm, Handle(nodes.handle))
    boxes.destroy()


def _call_at_points(dm: PETSc.DM, setter: str, function: Callable, *components: int) -> None:
    """Has the DM call a function at its points: the coefficient with a number of components, or the reaction. Collective."""
    callbacks = Callbacks()
    _kept.append(callbacks)
    if compiled(function) is None:
        call('DMVPatchDGSetSerialFunctions', dm, ctypes.c_int(True))
    given = [Int(components[0])] if 'Coefficient' in setter else []
    try:
        callbacks.call(setter, dm, *given, callbacks.batch(function, *components), ctypes.c_int(HOST), None)
    finally:
        callbacks.error = None


def _set_coefficient_at_points(dm: PETSc.DM, a: Callable) -> None:
    """Collective."""
    if compiled(a) is not None:
        return _call_at_points(dm, 'DMVPatchDGSetCoefficientFunction', a, 1)
    dim = dm.getDimension()
    each = (), (dim,), (dim, dim)
    x = new_vector('DMVPatchDGGetPoints', dm).getArray().reshape(-1, dim)[:4]  # of one cell, or of none
    found = together(dm, ask, a, x, None, each)
    # the number of indices of a at a point, also on ranks without cells
    rank = int(maximum(dm, found.ndim - 1 if len(x) and found.ndim else 0))
    upper = np.triu_indices(dim)  # xx, xy, xz, yy, yz, zz

    def values(x):
        found = ask(a, x, None, (each[rank],))
        return found if rank < 2 else found[:, upper[0], upper[1]]

    _call_at_points(dm, 'DMVPatchDGSetCoefficientFunction', values, (1, dim, len(upper[0]))[rank])


def _set_coefficient_values(dm: PETSc.DM, a: np.ndarray) -> None:
    """Collective."""
    dim = dm.getDimension()
    shape = new_vector('DMVPatchDGGetPoints', dm).getArray().reshape(cells(dm), -1, dim).shape[:2]
    a = together(dm, numbers, 'the coefficient', a, 'a function of points or an array of numbers at points is')
    require(dm, a.shape in (shape, (*shape, dim), (*shape, dim, dim)), f'the coefficient has the shape {a.shape}. At the points of this rank, '
            f'{shape}, it is numbers of this shape, or with one or two more indices of {dim} the diagonals of matrices or matrices')
    if a.ndim == 4:
        a = a[(..., *np.triu_indices(dim))]  # xx, xy, xz, yy, yz, zz
    values = PETSc.Vec().createMPI((a.size, None), comm=dm.comm)
    values.setArray(a.ravel())
    call('DMVPatchDGSetCoefficientValues', dm, Int((1, a.shape[-1])[a.ndim - 2]), Handle(values.handle))


def _require_robin(dm: PETSc.DM, dim: int) -> None:
    """Raises a ValueError if no side is Robin."""
    sides, all_names = (ctypes.c_int * 6)(), names('VPatchDGBoundaries')
    call('DMVPatchDGGetBoundary', dm, sides)
    if all_names.index('robin') not in sides[:2 * dim]:
        raise ValueError(f"robin: no side of the boundary is 'robin'; the sides are {', '.join(all_names[side] for side in sides[:2 * dim])}")


def set_label_boundary(dm: PETSc.DM, conditions: Mapping[int, str | tuple[str, float]]) -> None:
    """Sets the boundary conditions of sides that have a label, before `dm.setUp()`. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, not set up yet. A DM that was converted from a DMPlex has the labels of its "Face Sets", or of "marker".
    conditions : dict
        Label -> 'dirichlet', 'neumann' or ('robin', alpha).

    Raises
    ------
    ValueError
        A condition has an unknown name.
    PETSc.Error
        No side has the label, or the DM is set up.
    """
    for label, condition in conditions.items():
        name, alpha = (condition, 0.) if isinstance(condition, str) else condition
        call('DMVPatchDGSetLabelBoundary', dm, Int(label), value('VPatchDGBoundaries', name), Real(alpha))


def _vectors(name: str, given, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this shape. A number stands for that number everywhere."""
    array = numbers(name, given, f'a number or an array of shape {shape} is')
    if array.shape not in ((), shape):
        raise ValueError(f'{name}: a number or an array of shape {shape} is needed, not {array.shape}')
    return np.broadcast_to(array, shape).copy()


def _set_grid(dm: PETSc.DM, dim: int, grid, lower, upper) -> None:
    grid = [grid] * dim if np.isscalar(grid) else grid
    faces = [] if grid is None else [np.ravel(numbers('grid', g, 'a number of boxes, or a list of faces, for each direction is')) for g in grid]
    if grid is not None and len(faces) != dim:
        raise ValueError(f'grid: one number of boxes, or {dim} numbers or lists of faces are needed, not {len(faces)}')
    if any(len(f) == 1 and f[0] % 1 for f in faces):
        raise ValueError(f'grid: a number of boxes is an integer, not in {grid}')
    n = None if grid is None else (Int * dim)(*(int(f[0]) if len(f) == 1 else 1 for f in faces))
    corners = [None if c is None else reals(_vectors(name, c, (dim,))) for name, c in (('lower', lower), ('upper', upper))]
    call('DMVPatchDGSetBoxGrid', dm, n, *corners)
    for d, f in enumerate(faces):
        if len(f) > 1:
            call('DMVPatchDGSetGrid', dm, Int(d), Int(len(f) - 1), reals(f))


def cells(dm: PETSc.DM) -> int:
    """Returns the number of cells of this rank.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    int
    """
    n = Int()
    call('DMVPatchDGGetCells', dm, ctypes.byref(n))
    return n.value


def bounds(dm: PETSc.DM) -> tuple[np.ndarray, np.ndarray]:
    """Returns the corners of this rank's cells.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    lower, upper : numpy.ndarray
        [cells][dim] in the unit of length of the mesh.
    """
    lower, upper = (np.empty((cells(dm), dm.getDimension())) for _ in range(2))
    for cell in range(len(lower)):
        call('DMVPatchDGGetCellBounds', dm, Int(cell), reals(lower[cell]), reals(upper[cell]))
    return lower, upper


def view_cells(dm: PETSc.DM, name: str, values: np.ndarray, viewer: PETSc.Viewer) -> None:
    """Writes one number per cell into a .vtu file, next to the vectors that are viewed there. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    name : str
        The name of the numbers in the file.
    values : array_like
        [cells] of this rank.
    viewer : PETSc.Viewer
        Of `PETSc.Viewer().createVTK(...)`.

    Raises
    ------
    ValueError
        The shape is wrong on one rank.
    """
    values = np.asarray(values, float)
    require(dm, values.shape == (cells(dm),), f'the numbers have the shape {values.shape}, this rank has {cells(dm)} cells')
    call('DMVPatchDGViewCells', dm, name.encode(), reals(values), Handle(viewer.handle))


def coefficient(dm: PETSc.DM) -> np.ndarray:
    """Returns a copy of the coefficient a of this rank's cells.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    numpy.ndarray
        [cells], or [cells][dim] if it is a diagonal tensor.
    """
    a, n, tensor = Reals(), cells(dm), (cells(dm), dm.getDimension())
    call('DMVPatchDGGetTensorCoefficient', dm, ctypes.byref(a))
    if a:
        return np.ctypeslib.as_array(a, tensor).copy() if n else np.ones(tensor)
    call('DMVPatchDGGetCoefficient', dm, ctypes.byref(a))
    return np.ctypeslib.as_array(a, (n,)).copy() if a and n else np.ones(n)


def set_coefficient(dm: PETSc.DM, a: Callable | np.ndarray | float, at: str = 'cells') -> None:
    """Sets the coefficient a, constant on each cell or varying in it. Matrices of the DM and their preconditioners follow. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    a : float, array_like or callable
        A positive number; or an array of this rank's cells: one number per cell [cells], or dim numbers per cell [cells][dim], the diagonal of a
        tensor. A callable is given the cells' centres x[cells, dim] and returns such an array.
    at : {'cells', 'points'}
        With 'points' a is a function of points x[n, dim] that is called at all quadrature points, again for each DM that is made of this one. It
        returns numbers [n], the diagonals of tensors [n, dim], or symmetric matrices [n, dim, dim]; a compiled function gives numbers. Or a is an array
        of such values at `points(dm)`: [cells][points], [cells][points][dim] or [cells][points][dim][dim]. The DM needs the Gauss basis, which it has
        with a map or `create(coefficient_at='points')`.

    Raises
    ------
    ValueError
        The shape is wrong on one rank, or `at` is unknown.
    PETSc.Error
        A number is not positive.
    """
    if at not in ('cells', 'points'):
        raise ValueError(f"at: 'cells' and 'points' exist, not {at!r}")
    if at == 'points':
        return _set_coefficient_at_points(dm, a) if callable(a) else _set_coefficient_values(dm, a)
    n, dim = cells(dm), dm.getDimension()
    if callable(a):
        a = together(dm, ask, a, np.mean(bounds(dm), axis=0), None, ((), (dim,)))
    a = together(dm, numbers, 'the coefficient', a, 'a number, an array of numbers or a function of the cells\' centres is')
    require(dm, a.shape in ((), (n,), (n, dim)), f'the coefficient has the shape {a.shape}. It is one number, or for the {n} cells of this rank one '
            f'number per cell, ({n},), or {dim} numbers per cell, ({n}, {dim}), which are the diagonal of a tensor. A function of points may '
            "return matrices, with create(coefficient_at='points') and set_coefficient(at='points').")
    if a.ndim == 2:
        call('DMVPatchDGSetTensorCoefficient', dm, reals(a))
    else:
        call('DMVPatchDGSetCoefficient', dm, reals(np.broadcast_to(a, n)))


def set_region_coefficient(dm: PETSc.DM, mesh: PETSc.DMPlex, a: Mapping[int, float]) -> None:
    """Sets the coefficient of every cell by the region of a DMPlex that contains it, for instance of a Gmsh file. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, set up, that was converted from the DMPlex; it may have been refined.
    mesh : PETSc.DMPlex
        The DMPlex, with its label "Cell Sets": the physical groups of a Gmsh file.
    a : dict
        Region -> its coefficient, a positive number. -1 stands for cells without a region. Every region of the mesh is needed.

    Raises
    ------
    ValueError
        A coefficient is no number.
    PETSc.Error
        A region has no coefficient, which the message names, or a number is not positive.
    """
    regions, found = np.array(list(a), PETSc.IntType), numbers('a', list(a.values()), 'a number for each region is')
    call('DMVPatchDGSetRegionCoefficient', dm, Handle(mesh.handle), Int(len(regions)), regions.ctypes.data_as(Ints), reals(found))
