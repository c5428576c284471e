"""hexahedra.py n layers file.msh: writes a file of Gmsh with 5 n^2 layers hexahedra of a cylinder, those of an inner block and four around it.
hexahedra.py nx ny nz file.msh: nx ny nz hexahedra of the unit cube. They and their vertices are numbered at random, and inner vertices are
moved by up to 20 % of a width."""
import sys

import numpy as np

HALF = 0.4 * np.sqrt(0.5)  # of the side of the inner square


def block(tree, s, t):
    """Points of the disc: s and t from 0 to 1 in the inner square (tree 0), or outwards and along one of its sides."""
    if tree == 0:
        return np.stack([HALF * (2 * s - 1), HALF * (2 * t - 1)], -1)
    u, turn = 2 * t - 1, (tree - 1) * np.pi / 2
    x, y = (1 - s) * HALF + s * np.cos(np.pi / 4 * u), (1 - s) * HALF * u + s * np.sin(np.pi / 4 * u)
    return np.stack([np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y], -1)


def quadrilaterals(n):
    """Vertices [.][2] and quadrilaterals [5 n^2][4] of the disc."""
    s, t = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1), indexing='ij')
    x = np.concatenate([block(b, s, t).reshape(-1, 2) for b in range(5)])
    _, first, number = np.unique(np.round(x * 1e8).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    number = number.reshape(5, n + 1, n + 1)
    corners = [number[:, :-1, :-1], number[:, 1:, :-1], number[:, 1:, 1:], number[:, :-1, 1:]]
    return x[first], np.stack([c.ravel() for c in corners], -1)


def square(nx, ny):
    """The same of the unit square."""
    x, y = np.meshgrid(np.linspace(0, 1, nx + 1), np.linspace(0, 1, ny + 1), indexing='ij')
    number = np.arange(x.size).reshape(x.shape)
    corners = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
    return np.stack([x.ravel(), y.ravel()], -1), np.stack([c.ravel() for c in corners], -1)


def main():
    *n, layers = map(int, sys.argv[1:-1])
    rng = np.random.default_rng(0)
    plane, quads = square(*n) if len(n) == 2 else quadrilaterals(*n)
    x = np.concatenate([np.tile(plane, (layers + 1, 1)), np.repeat(np.arange(layers + 1) / layers, len(plane))[:, None]], 1)
    if len(n) == 2:
        width, inner = [1 / n[0], 1 / n[1], 1 / layers], ((x > 0) & (x < 1)).all(1)
    else:
        width, inner = [0.5 / n[0], 0.5 / n[0], 1 / layers], (np.hypot(x[:, 0], x[:, 1]) < 1 - 1e-6) & (x[:, 2] > 0) & (x[:, 2] < 1)
    x += 0.2 * np.array(width) * inner[:, None] * rng.uniform(-1, 1, x.shape)
    cells = np.concatenate([np.concatenate([quads + z * len(plane), quads + (z + 1) * len(plane)], 1) for z in range(layers)])
    new = rng.permutation(len(x))
    cells = new[cells][rng.permutation(len(cells))] + 1
    with open(sys.argv[-1], 'w') as file:
        file.write(f'$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(x)}\n')
        np.savetxt(file, np.column_stack([np.arange(1, len(x) + 1), x[np.argsort(new)]]), fmt='%d %.15g %.15g %.15g')
        file.write(f'$EndNodes\n$Elements\n{len(cells)}\n')
        np.savetxt(file, np.column_stack([np.arange(1, len(cells) + 1), np.tile([5, 2, 1, 1], (len(cells), 1)), cells]), fmt='%d')
        file.write('$EndElements\n')


main()
