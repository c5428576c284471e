#!/usr/bin/env -S python3 -B
"""pictures.py FOLDER: writes the drawings of the page "The method in pictures" there as SVG. Positions are computed: Gauss points, colours
by the parity of vertices, ranks by the space-filling curve; smoothing.json and refinement.json are what smoothing.py and refinement.py measured."""
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INK, GREY, LIGHT, PAPER = '#22303c', '#8a97a3', '#dfe5ea', '#ffffff'
COLOURS = ('#e0a030', '#4a90c2', '#6aa84f', '#b5569a')


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def rect(self, x, y, w, h, fill='none', stroke='none', line=1.0, opacity=1.0):
        self.parts.append(f'<rect x="{x:.2f}" y="{y:.2f}" width="{w:.2f}" height="{h:.2f}" fill="{fill}" stroke="{stroke}" '
                          f'stroke-width="{line}"' + (f' fill-opacity="{opacity}"' if opacity < 1 else '') + '/>')

    def line(self, points, stroke=INK, line=1.5, dash='', arrow=False):
        path = ' '.join(f'{x:.2f},{y:.2f}' for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{line}"'
                          + (f' stroke-dasharray="{dash}"' if dash else '') + (' marker-end="url(#arrow)"' if arrow else '') + '/>')

    def dot(self, x, y, r=2.0, fill=INK):
        self.parts.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{r}" fill="{fill}"/>')

    def text(self, x, y, words, size=14, anchor='middle', fill=INK):
        words = words.replace('&', '&amp;').replace('<', '&lt;')
        self.parts.append(f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{words}</text>')

    def grid(self, x, y, n, size, stroke=GREY, line=1.0):
        for i in range(n + 1):
            self.line([(x + i * size, y), (x + i * size, y + n * size)], stroke, line)
            self.line([(x, y + i * size), (x + n * size, y + i * size)], stroke, line)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="DejaVu Sans, Arial, sans-serif">\n'
                '<defs><marker id="arrow" markerWidth="9" markerHeight="9" refX="7" refY="4" orient="auto">'
                f'<path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>\n<rect width="100%" height="100%" fill="{PAPER}"/>\n'
                + '\n'.join(self.parts) + '\n</svg>\n')

    def write(self, folder, name):
        with open(os.path.join(folder, name + '.svg'), 'w', encoding='utf-8') as f:
            f.write(self.svg())


def gauss(n):
    """points and weights on [0,1]"""
    points, weights = [], []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(50):
            p, q = 1.0, 0.0
            for k in range(n):
                p, q = ((2 * k + 1) * x * p - k * q) / (k + 1), p
            slope = n * (x * p - q) / (x * x - 1)
            x -= p / slope
        points.append((1 - x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return points, weights


def mesh():
    """an L-shaped domain of three boxes, refined"""
    p = Picture(760, 250)
    for level in range(4):
        x0, y0, box, n = 15 + level * 187, 20, 80, 2**level
        for bx, by in ((0, 0), (0, 1), (1, 1)):
            x, y = x0 + bx * box, y0 + by * box
            p.rect(x, y, box, box, '#eef3f7')
            p.grid(x, y, n, box / n, GREY, 0.8)
            p.rect(x, y, box, box, 'none', INK, 2.2)
        p.text(x0 + box, 205, ('3 boxes', 'refined once', 'twice', 'three times')[level])
        p.text(x0 + box, 227, ('-dm_refine 0', 'the coarsest level', '', '-dm_refine 3: 3 levels')[level], 12, fill=GREY)
    return p


def patch():
    """2 x 2 cells around a vertex, their points, and what the patch reads of its neighbours"""
    p = Picture(700, 310)
    cell, x0, y0 = 62, 25, 20
    p.rect(x0 + cell, y0 + cell, 2 * cell, 2 * cell, COLOURS[1], opacity=0.25)
    p.grid(x0, y0, 4, cell)
    points = gauss(4)[0]
    for cx in (1, 2):
        for cy in (1, 2):
            for s in points:
                for t in points:
                    p.dot(x0 + (cx + s) * cell, y0 + (cy + t) * cell, 2.3)
    p.rect(x0 + cell, y0 + cell, 2 * cell, 2 * cell, 'none', COLOURS[1], 5)
    p.dot(x0 + 2 * cell, y0 + 2 * cell, 4, '#c0392b')
    p.text(x0 + 2 * cell, y0 + 4 * cell + 28, 'a vertex and its patch, degree 3')
    x = 310
    for i, (colour, words) in enumerate((('#c0392b', 'the vertex'), (INK, '(k+1)² points a cell: 64 unknowns are solved for at once,'),
                                         (COLOURS[1], "the patch's sides: values and normal derivatives of"))):
        p.dot(x, 75 + 55 * i, 5, colour)
        p.text(x + 15, 80 + 55 * i, words, 13, 'start')
    p.text(x + 15, 154, 'exactly, by one-dimensional transforms', 13, 'start')
    p.text(x + 15, 209, 'the neighbours there are all that it needs of them', 13, 'start')
    return p


def colours():
    """patches by the parity of their vertex: patches of a colour share no cell"""
    n, cell = 8, 19
    p = Picture(760, 235)
    for number, (px, py) in enumerate(((1, 1), (0, 1), (1, 0), (0, 0))):
        x0, y0 = 20 + number * 187, 20
        p.rect(x0, y0, n * cell, n * cell, '#f4f6f8')
        for i in range(1, n):
            for j in range(1, n):
                if (i % 2, j % 2) == (px, py):
                    p.rect(x0 + (i - 1) * cell, y0 + (j - 1) * cell, 2 * cell, 2 * cell, COLOURS[number], INK, 1.6, 0.55)
                    p.dot(x0 + i * cell, y0 + j * cell, 2.6, INK)
        p.grid(x0, y0, n, cell, GREY, 0.6)
        p.text(x0 + n * cell / 2, y0 + n * cell + 26, f'colour {number + 1}')
    p.text(380, 225, 'patches of one colour are solved side by side; each colour sees what the one before it left', 13, fill=GREY)
    return p


def cycle():
    """V(0,1): nothing on the way down, one sweep on every level on the way up"""
    p = Picture(700, 300)
    top, step, sizes = 45, 75, (8, 4, 2)
    for level, n in enumerate(sizes):
        y, size = top + level * step, 52
        for x in (130 + level * 70, 480 - level * 70):
            p.grid(x, y - size / 2, n, size / n, INK if x > 300 else GREY, 0.8)
        p.text(40, y + 5, f'level {3 - level}', 13)
    for level in range(2):
        y = top + level * step
        p.line([(188 + level * 70, y + 14), (200 + level * 70, y + step - 32)], arrow=True)
        p.line([(480 - level * 70 - 10, y + step - 32), (480 - level * 70 + 6, y + 32)], arrow=True)
    p.line([(324, top + 2 * step), (338, top + 2 * step)], arrow=True)
    p.text(306, top + 2 * step + 50, 'the coarsest level is solved', 13)
    p.text(175, 15, 'restrict b', 13, fill=GREY)
    p.text(506, 15, 'prolong x, then one sweep', 13, fill=GREY)
    p.text(350, 285, 'V(0,1): the residual is b itself on the way down, since x is 0 there', 13, fill=GREY)
    return p


def morton(i, j):
    return sum(((i >> b) & 1) << (2 * b) | ((j >> b) & 1) << (2 * b + 1) for b in range(8))


def ranks():
    """cells along the space-filling curve on three ranks; the two layers of ghosts of one of them"""
    n, cell, number = 16, 18, 3
    cells = sorted((morton(i, j), i, j) for i in range(n) for j in range(n))
    owner = {(i, j): place * number // len(cells) for place, (_, i, j) in enumerate(cells)}
    p = Picture(720, 350)
    for x0, show in ((20, False), (380, True)):
        distance = {c: 0 for c in owner if owner[c] == 1}
        for layer in (1, 2):
            distance.update({(i, j): layer for (i, j) in owner if (i, j) not in distance
                             and any((i + a, j + b) in distance for a in (-1, 0, 1) for b in (-1, 0, 1))})
        for (i, j), rank in owner.items():
            y = 20 + (n - 1 - j) * cell
            if not show:
                p.rect(x0 + i * cell, y, cell, cell, COLOURS[rank], PAPER, 0.6, 0.6)
            else:
                layer = distance.get((i, j), 3)
                fill = (COLOURS[1], '#f2b8a0', '#f9ddd0', '#f4f6f8')[layer]
                p.rect(x0 + i * cell, y, cell, cell, fill, PAPER, 0.6, 1 if layer else 0.6)
        if not show:
            p.line([(x0 + (i + 0.5) * cell, 20 + (n - 0.5 - j) * cell) for _, i, j in cells], INK, 0.7)
    p.text(164, 335, 'three ranks along the space-filling curve', 13)
    p.text(524, 335, 'cells of the second rank, and two layers of ghosts', 13)
    return p


def smoothing():
    """what sweeps and cycles leave of an error"""
    with open(os.path.join(HERE, 'smoothing.json'), encoding='utf-8') as f:
        data = json.load(f)
    n, size = data['degree'] + 1, 170
    widths = [w * size / data['cells'] for _ in range(data['cells']) for w in gauss(n)[1]]
    starts = [sum(widths[:i]) for i in range(len(widths))]
    p = Picture(770, 250)
    for number, (name, picture) in enumerate(data['pictures'].items()):
        x0, y0, most = 15 + number * 190, 15, max(abs(v) for v in picture['values'])
        for place, value in enumerate(picture['values']):
            row, column = divmod(place, len(widths))
            shade = round(255 * (1 - abs(value) / most))
            fill = f'#ff{shade:02x}{shade:02x}' if value > 0 else f'#{shade:02x}{shade:02x}ff'
            p.rect(x0 + starts[column], y0 + size - starts[row] - widths[row], widths[column] + 0.3, widths[row] + 0.3, fill)
        p.grid(x0, y0, data['cells'], size / data['cells'], GREY, 0.4)
        p.text(x0 + size / 2, y0 + size + 24, name, 13)
        p.text(x0 + size / 2, y0 + size + 44, 'L2 norm %.2g' % picture['norm'], 12, fill=GREY)
    return p


def refinement():
    """errors over unknowns, on meshes that are refined where they seem large and on uniform ones"""
    sys.path.append(os.path.join(HERE, '..', 'vpatchdg', 'paper'))
    from charts import chart  # which takes Picture from here
    with open(os.path.join(HERE, 'refinement.json'), encoding='utf-8') as f:
        curves = json.load(f)
    series = [(name, points, *([True] if 'uniform' in name else [])) for name, points in curves.items()]
    return chart('r^(2/3) on the L-shape; dashed: uniform meshes', 'unknowns', 'error of grad u', series, (True, True))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for draw in (mesh, patch, colours, cycle, ranks, smoothing, refinement):
        draw().write(folder, draw.__name__)


if __name__ == '__main__':
    sys.exit(__doc__ if len(sys.argv) != 2 else main(sys.argv[1]))
