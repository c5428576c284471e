"""plot_mesh(): pictures of meshes by ranks, colours of patches, shapes of cells, or other numbers of cells."""
from __future__ import annotations

import numpy as np
from petsc4py import PETSc

from .fields import gather, is_mapped, points
from .library import Int, Ints, call, degree
from .mesh import cells, maximum, require
from .picture import AXES, around, finish, pyplot

LIGHT = np.array([0.3, -0.5, 0.8])  # where light on surfaces comes from


def shapes(dm: PETSc.DM) -> np.ndarray:
    """Returns kappa of each of this rank's cells: 1 for boxes, more the more skew a cell is and the more its size changes inside. Collective.

    It is the quotient of the largest and the least eigenvalue, at the Gauss points of a cell, of the metric of the cell's map, scaled by its mean along
    each direction. The number of iterations of -pc_type vpatchdg grows with the largest one, which -dm_view prints.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.

    Returns
    -------
    numpy.ndarray
        [cells] The coefficient is not part of it.
    """
    dim, n = dm.getDimension(), degree(dm) + 1
    at, weights = np.polynomial.legendre.leggauss(n)
    legendre = np.polynomial.legendre
    slopes = np.stack([legendre.legval(at, legendre.legder(row)) for row in np.eye(n)], axis=-1) @ np.linalg.inv(legendre.legvander(at, n - 1))
    x = points(dm).reshape(cells(dm), *[n] * dim, dim)
    J = np.stack([np.moveaxis(np.tensordot(x, slopes, (dim - d, 1)), -1, dim - d) for d in range(dim)], axis=-1).reshape(cells(dm), n**dim, dim, dim)
    inverse = np.linalg.inv(J)
    G = abs(np.linalg.det(J))[..., None, None] * inverse @ np.swapaxes(inverse, -1, -2)
    weight = weights
    for _ in range(dim - 1):
        weight = np.outer(weight, weights).ravel()
    root = np.sqrt(np.einsum('q,cqdd->cd', weight / weight.sum(), G))
    values = np.linalg.eigvalsh(G / (root[:, None, :, None] * root[:, None, None, :]))
    return values.max(axis=(1, 2)) / values.min(axis=(1, 2))


def patch_colors(dm: PETSc.DM) -> np.ndarray:
    """Returns the colours of the patches around the vertices of this rank's cells. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh, whose cells have one level.

    Returns
    -------
    numpy.ndarray
        [cells][2^dim] at each corner, x fastest, from 0; -1 where there is no patch: on the boundary, and around irregular vertices.
    """
    found = np.empty((cells(dm), 2**dm.getDimension()), PETSc.IntType)
    call('DMVPatchDGGetPatchColors', dm, found.ctypes.data_as(Ints))
    return found


def _sides(x: np.ndarray, m: int) -> np.ndarray:
    """The lines around the sides of hexahedra that are given by m^3 points: [cells][6][points][3]"""
    grid = x.reshape(-1, m, m, m, 3)
    sides = [np.take(grid, end, axis=axis).reshape(-1, m * m, 3) for axis in (3, 2, 1) for end in (0, -1)]
    return np.stack(sides, axis=1)[:, :, around(m)]


def _surface(sides: np.ndarray) -> np.ndarray:
    """The numbers of the sides [n][points][3] that no two cells share."""
    low, high = sides.min(axis=(0, 1)), sides.max(axis=(0, 1))
    centers = np.rint((sides.mean(axis=1) - low) / (high - low).max() * 1e7).astype(np.int64)
    _, first, count = np.unique(centers, axis=0, return_index=True, return_counts=True)
    return np.sort(first[count == 1])


def _shade(sides: np.ndarray, color: np.ndarray) -> np.ndarray:
    """Colours [n][4], darker where light does not fall."""
    m = sides.shape[1] // 4
    normal = np.cross(sides[:, 2 * m] - sides[:, 0], sides[:, 3 * m] - sides[:, m])
    bright = abs(normal @ LIGHT) / np.maximum(np.linalg.norm(normal, axis=1) * np.linalg.norm(LIGHT), 1e-300)
    return np.concatenate([color[:, :3] * (0.55 + 0.45 * bright)[:, None], color[:, 3:]], axis=1)


def _numbers(dm: PETSc.DM, what) -> tuple[np.ndarray | None, str]:
    """The numbers of this rank's cells, and what they are."""
    if what is None or isinstance(what, str):
        known = {None: lambda: None, 'colors': lambda: None, 'kappa': lambda: shapes(dm), 'ranks': lambda: np.full(cells(dm), float(dm.comm.rank))}
        require(dm, what in known, f"what: 'ranks', 'colors', 'kappa' or one number per cell, not {what!r}")
        return known[what](), what or ''
    what = np.asarray(what, float)
    require(dm, what.shape == (cells(dm),), f'one number for each of the {cells(dm)} cells of this rank is needed, not {what.shape}')
    return what, ''


def _draw(ax, lines, values, style):
    """Polygons [cells][points][2], or sides of cells in space"""
    from matplotlib import cm, collections
    space = lines.shape[-1] == 3
    scale = cm.ScalarMappable(cmap=style.pop('cmap', None))
    scale.set_array(np.zeros(1) if values is None else values)
    scale.set_clim(style.pop('vmin', None), style.pop('vmax', None))
    style = {'edgecolors': 'black', 'linewidths': 0.4, **style}
    if values is None:
        faces = np.tile([1, 1, 1, 0.], (len(lines), 1))
    else:
        faces = _shade(lines, scale.to_rgba(values)) if space else scale.to_rgba(values)
    if space:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection
        ax.add_collection3d(Poly3DCollection(lines, facecolors=faces, **style))
    else:
        ax.add_collection(collections.PolyCollection(lines, facecolors=faces, **style))
    return scale


def _limit(ax, x):
    """Shows all points [n][dim], with equal units along the axes."""
    low, high = x.min(axis=0), x.max(axis=0)
    margin = 0.02 * (high - low).max()
    for d, name in enumerate(AXES[:x.shape[1]]):
        getattr(ax, f'set_{name}lim')(low[d] - margin, high[d] + margin)
        getattr(ax, f'set_{name}label')(name)
    if x.shape[1] == 3:
        ax.set_box_aspect(high - low + 2 * margin)
    else:
        ax.set_aspect('equal')


def plot_mesh(dm: PETSc.DM, what: str | np.ndarray | None = None, *, colorbar: bool = True, ax=None, file=None, **style):
    """Draws the cells of a mesh by matplotlib, in 3D its surface, with colours that say something about cells. Collective.

    Parameters
    ----------
    dm : PETSc.DM
        The mesh.
    what : {'ranks', 'kappa', 'colors'} or array_like, optional
        The ranks that own cells; the shapes of cells, `shapes(dm)`; dots at vertices with the colours of the patches around them,
        `patch_colors(dm)`; or one number for each of this rank's cells [cells]. By default the mesh alone.
    colorbar : bool
        Whether to draw a colour bar.
    ax : matplotlib.axes.Axes, optional
        Where to draw, by default in a new figure. In 3D its projection is '3d'. Only the first rank uses it.
    file : str or path, optional
        Where to save the picture, which is closed then if it is a new figure.
    **style
        cmap, vmin, vmax, and what matplotlib's `PolyCollection` takes: linewidths, edgecolors, ...

    Returns
    -------
    matplotlib.axes.Axes or None
        On the first rank, which has the picture; None on the others.

    Raises
    ------
    ImportError
        There is no matplotlib.
    ValueError
        `what` is unknown or has the wrong shape.

    Examples
    --------
    >>> vpatchdg.plot_mesh(dm, 'kappa', file='shapes.png')
    """
    dim, plt = dm.getDimension(), pyplot()
    m = degree(dm) + 1 if maximum(dm, is_mapped(dm)) > 0 else 2
    values, title = _numbers(dm, what)
    x = gather(dm, points(dm, np.linspace(0, 1, m)))
    values = None if values is None else gather(dm, values)
    dots = gather(dm, np.concatenate([points(dm, (0, 1)), patch_colors(dm)[..., None]], axis=-1)).reshape(-1, dim + 1) if title == 'colors' else None
    if dm.comm.rank:
        return None
    on = plt.figure().add_subplot(projection='3d' if dim == 3 else None) if ax is None else ax
    lines, ticks = x[:, around(m)], None
    if title in ('ranks', 'colors'):  # a colour of its own for each of them
        n = int((values if dots is None else dots[:, dim]).max()) + 1
        ticks = None if n > 20 else range(n)
        style = {'cmap': plt.get_cmap('tab10' if n <= 10 else 'tab20' if n <= 20 else None, n), 'vmin': -0.5, 'vmax': n - 0.5, **style}
    if dim == 3:
        lines = _sides(x, m).reshape(-1, 4 * (m - 1), 3)
        shown = _surface(lines)
        lines, values = lines[shown], None if values is None else values[shown // 6]
    drawn = _draw(on, lines, values, style)
    if dots is not None:
        dots = dots[dots[:, dim] >= 0]
        on.scatter(*dots[:, :dim].T, color=drawn.to_rgba(dots[:, dim]), s=12, zorder=3)
    _limit(on, lines.reshape(-1, dim))
    if colorbar and (values is not None or dots is not None):
        on.figure.colorbar(drawn, ax=on, label=title, ticks=ticks)
    return finish(on, file, ax is None)
