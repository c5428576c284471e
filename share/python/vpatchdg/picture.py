"""plot(): pictures of functions and meshes by matplotlib."""
from __future__ import annotations

import numpy as np
from petsc4py import PETSc

from .fields import gather, inside, is_mapped, point_values, points
from .library import degree
from .mesh import bounds, cells, maximum, require

MOST = 400000  # points of a picture
AXES = 'xyz'


def pyplot():
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(f"plot() needs matplotlib ({error}): pip install matplotlib 'numpy<2', or apt-get install python3-matplotlib. numpy<2 is "
                          'what the petsc4py of Debian 12 and Ubuntu 24.04 was built for.') from None
    return matplotlib.pyplot


def _cut(dm: PETSc.DM, where: dict[int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """This rank's cells that a line or plane cuts, which is given by some coordinates, and the corners of all. Where it runs along sides, the cells
    above it. Collective."""
    lower, upper = bounds(dm)
    cut = np.ones(len(lower), bool)
    for d, x in where.items():
        ends = 0. - maximum(dm, np.max(-lower[:, d], initial=-np.inf)), maximum(dm, np.max(upper[:, d], initial=-np.inf))
        require(dm, ends[0] <= x <= ends[1], f'{AXES[d]} = {x:g} lies outside of the domain, [{ends[0]:g}, {ends[1]:g}]')
        cut &= (lower[:, d] <= x) & ((x < upper[:, d]) | (x == upper[:, d]) & (x == ends[1]))
    return np.flatnonzero(cut), lower, upper


def _middle(dm: PETSc.DM, d: int) -> float:
    lower, upper = bounds(dm)
    return (maximum(dm, np.max(upper[:, d], initial=-np.inf)) - maximum(dm, np.max(-lower[:, d], initial=-np.inf))) / 2


def _values(dm: PETSc.DM, u, where: dict[int, float], cut: np.ndarray, positions: np.ndarray, corners: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """u in the cells that are cut, at the positions along the free directions: [cut][points]"""
    dim, (lower, upper) = dm.getDimension(), corners
    if not hasattr(u, 'handle'):
        u = np.asarray(u, float)
        require(dm, u.shape == (cells(dm),), f'a vector of the DM or one number per cell, ({cells(dm)},), can be drawn, not {u.shape}')
        return np.repeat(u[cut, None], len(positions)**(dim - len(where)), axis=1)
    at = [positions if d not in where else ((where[d] - lower[cut, d]) / (upper[cut, d] - lower[cut, d]))[:, None] for d in range(dim)]
    return inside(point_values(dm, u)[cut], at)


def _draw_field(ax, low, high, positions, curved, values, style):
    """values [cells][m^2], continuous in a cell: two triangles between four points; curved: None, or where they are [cells][m^2][2]"""
    m = len(positions)
    x, y = (low[:, None, d] + (high - low)[:, None, d] * positions for d in range(2))
    corner = np.arange(m - 1) + m * np.arange(m - 1)[:, None]
    halves = np.stack([corner, corner + 1, corner + m + 1], -1), np.stack([corner, corner + m + 1, corner + m], -1)
    triangles = np.concatenate(halves).reshape(-1, 3) + m * m * np.arange(len(low))[:, None, None]
    x, y = np.repeat(x[:, None], m, axis=1), np.repeat(y[:, :, None], m, axis=2)
    if curved is not None:
        x, y = curved[..., 0], curved[..., 1]
    return ax.tripcolor(x.ravel(), y.ravel(), triangles.reshape(-1, 3), values.ravel(), shading='gouraud', rasterized=True, **style)


def around(m: int) -> np.ndarray:
    """The numbers of the points on the sides of a grid of m times m, around it."""
    grid = np.arange(m * m).reshape(m, m)
    return np.concatenate([grid[0, :-1], grid[:-1, -1], grid[-1, :0:-1], grid[:0:-1, 0]])


def finish(ax, file, new: bool):
    """Saves the picture of these axes if there is a file, and closes its figure then if that is new. Returns the axes."""
    if file is not None:
        ax.figure.savefig(file, dpi=150, bbox_inches='tight')
        if new:
            pyplot().close(ax.figure)
    return ax


def _draw_plane(ax, low, high, positions, curved, values, mesh, colorbar, style):
    from matplotlib.collections import PolyCollection
    if values is not None:
        drawn = _draw_field(ax, low, high, positions, curved, values, style)
        if colorbar:
            ax.figure.colorbar(drawn, ax=ax)
    if mesh or values is None:
        corners = np.stack([np.stack([i[:, 0], j[:, 1]], axis=-1) for i, j in ((low, low), (high, low), (high, high), (low, high))], axis=1)
        if curved is not None:
            corners = curved[:, around(len(positions))]
        lines = dict(edgecolors='black', linewidths=0.4) if values is not None else {'edgecolors': 'black', 'linewidths': 0.6, **style}
        ax.add_collection(PolyCollection(corners, facecolors='none', **lines))
        ax.autoscale_view()
    ax.set_aspect('equal')


def _draw_graph(ax, low, high, positions, values, style):
    """values [cells][m] along a line, cell by cell, with a gap where there is no cell"""
    order = np.argsort(low[:, 0])
    low, high, values = low[order], high[order], values[order]
    x = np.pad(low + (high - low) * positions, ((0, 0), (0, 1)), constant_values=np.nan)
    values = np.pad(values, ((0, 0), (0, 1)), constant_values=np.nan)
    gap = np.append(~np.isclose(low[1:, 0], high[:-1, 0], rtol=0, atol=1e-9 * np.ptp(high)), False)
    keep = np.ones(values.shape, bool)
    keep[:, -1] = gap
    ax.plot(x[keep], values[keep], **style)


def plot(dm: PETSc.DM | Solution, u: PETSc.Vec | np.ndarray | None = None, *, x: float | None = None, y: float | None = None, z: float | None = None,
         mesh: bool | None = None, colorbar: bool = True, ax=None, file=None, **style):
    """Draws a function, numbers of cells or the mesh by matplotlib. Collective.

    What a DG function is in each cell is drawn up to the cell's corners, jumps between cells included.

    Parameters
    ----------
    dm : PETSc.DM or Solution
        The mesh, or a solution on it.
    u : PETSc.Vec or array_like, optional
        A function by its coefficients, or one number for each of this rank's cells [cells]. By default the mesh alone.
    x, y, z : float, optional
        A coordinate that is held fixed. One that is left out in 3D draws a slice, by default z in the middle of the domain; all but one draw a graph
        along a line.
    mesh : bool, optional
        Whether to draw the sides of cells, by default only without u.
    colorbar : bool
        Whether to draw a colour bar.
    ax : matplotlib.axes.Axes, optional
        Where to draw, by default in a new figure. Only the first rank uses it.
    file : str or path, optional
        Where to save the picture, which is closed then if it is a new figure.
    **style
        Passed to matplotlib's `tripcolor` (cmap, vmin, vmax, ...), or to `plot` for graphs.

    Returns
    -------
    matplotlib.axes.Axes or None
        On the first rank, which has the picture; None on the others.

    Raises
    ------
    ImportError
        There is no matplotlib.
    ValueError
        The plane or line lies outside of the domain, or u has the wrong shape.

    Examples
    --------
    >>> vpatchdg.plot(dm, u, file='u.png')
    >>> vpatchdg.plot(dm, u, z=0.5, cmap='magma')
    """
    if u is None and hasattr(dm, 'u'):
        dm, u = dm.dm, dm.u
    dim, plt = dm.getDimension(), pyplot()
    where = {d: float(v) for d, v in enumerate((x, y, z)) if v is not None}
    require(dm, all(d < dim for d in where) and len(where) < dim, f'plot(): in {dim}D at most {dim - 1} of {", ".join(AXES[:dim])} can be fixed')
    if dim == 3 and not where:
        where = {2: _middle(dm, 2)}
    free = [d for d in range(dim) if d not in where]
    require(dm, u is not None or len(free) == 2, 'plot(): a graph along a line is that of a function; give u')
    mapped = maximum(dm, is_mapped(dm)) > 0
    require(dm, not mapped or dim == 2 and not where, 'plot(): of mapped cells there are pictures in 2D, no slices and graphs. line() has values along a '
            'line, and a .vtu file (dm and u viewed by PETSc.Viewer().createVTK) is for ParaView')
    cut, *corners = _cut(dm, where)
    low, high = (gather(dm, c[cut][:, free]) for c in corners)
    positions, values, curved = np.linspace(0, 1, 2 * degree(dm) + 1) if mapped else None, None, None
    if u is not None:
        most = int((MOST / len(low))**(1 / len(free)))
        positions = np.linspace(0, 1, min(max(most, 2), (2 if len(free) == 2 else 8) * degree(dm) + 1))
        values = gather(dm, _values(dm, u, where, cut, positions, corners))
    if mapped:
        curved = gather(dm, points(dm, positions).reshape(cells(dm), -1)).reshape(-1, len(positions)**2, 2)
    if dm.comm.rank:
        return None
    on = plt.subplots()[1] if ax is None else ax
    if len(free) == 1:
        _draw_graph(on, low, high, positions, values, style)
    else:
        _draw_plane(on, low, high, positions, curved, values, mesh, colorbar, style)
    on.set_xlabel(AXES[free[0]])
    on.set_ylabel('u' if len(free) == 1 else AXES[free[1]])
    if where:
        on.set_title(', '.join(f'{AXES[d]} = {x:g}' for d, x in where.items()))
    return finish(on, file, ax is None)
