"""Figures 1, 2, 4, 6, 8, 12 and 13: drawings of what paper_mesh read from the library's arrays, 8 x 8 cells of degree 4."""
from charts import COLOURS, GREY, INK, LIGHT, Picture
from page import figure, table
from published import DEGREES
from runs import START, Run

SIZE = 300  # of a mesh
ZONES = (COLOURS[1], '#f2b8a0', '#f9ddd0', '#fdf3ee')


def mesh_on(ranks):
    def runs(machine, most):
        return [Run('mesh on %d' % ranks, 'paper_mesh', [], {'kind': 'mesh', 'ranks': ranks},
                    START[bool(machine.gpus)], ranks)]
    return runs


def newest(records, ranks):
    return [r['report'] for r in records.of('mesh', ranks=ranks) if 'report' in r][-1]


class Mesh:
    """a picture of the cells, beside others, or of those in the middle alone, zoom times as large: place(x, y) of the unit square"""

    def __init__(self, picture, data, left, top=15, size=SIZE, zoom=1):
        beyond = (zoom - 1) * size / 2
        self.picture, self.left, self.top, self.size, self.width = picture, left - beyond, top - beyond, zoom * size, size
        self.cells = data['cells']
        self.shown = [i for i, (x, y, h, _) in enumerate(self.cells) if max(abs(x + h / 2 - 0.5), abs(y + h / 2 - 0.5)) < 0.5 / zoom]

    def place(self, x, y):
        return self.left + x * self.size, self.top + (1 - y) * self.size

    def box(self, cell, fill, stroke='none', line=1.0, opacity=1.0):
        x, y, h, _ = self.cells[cell]
        self.picture.rect(*self.place(x, y + h), h * self.size, h * self.size, fill, stroke, line, opacity)

    def lines(self, colour=GREY, line=0.7):
        for cell in self.shown:
            self.box(cell, 'none', colour, line)

    def middle(self, cell):
        x, y, h, _ = self.cells[cell]
        return self.place(x + h / 2, y + h / 2)

    def outline(self, patch, colour, line=3):
        """around all cells of a patch"""
        xs, ys, h = [self.cells[c][0] for c in patch], [self.cells[c][1] for c in patch], self.cells[patch[0]][2]
        x, y = self.place(min(xs), max(ys) + h)
        self.picture.rect(x, y, 2 * h * self.size, 2 * h * self.size, 'none', colour, line)

    def caption(self, text, row=0):
        self.picture.text(self.left + self.size / 2, self.top + (self.size + self.width) / 2 + 20 + 18 * row, text, 13)


def patch_points(records):
    data = newest(records, 1)
    patch = data['patches'][data['dependence'][0]['patch']]['cells']
    n = (data['degree'] + 1)**2
    picture = Picture(330, 350)
    mesh = Mesh(picture, data, 15)
    for cell in patch:
        mesh.box(cell, COLOURS[1], opacity=0.3)
    mesh.lines()
    for cell in patch:
        for point in data['points'][cell * n:(cell + 1) * n]:
            picture.dot(*mesh.place(*point), 1.3)
    mesh.outline(patch, COLOURS[1])
    mesh.caption('a patch and its points of integration')
    return [figure(picture)]


def dependence(records):
    data = newest(records, 1)
    n = data['degree'] + 1
    picture = Picture(840, 310)
    for number, kernel in enumerate(data['dependence']):
        mesh = Mesh(picture, data, 15 + 205 * number, size=190, zoom=2)
        for i, reads in enumerate(kernel['reads']):
            cell, function = divmod(i, n * n)
            x, y, h, _ = data['cells'][cell]
            place = mesh.place(x + function % n * h / n, y + (function // n + 1) * h / n)
            if reads:
                picture.rect(*place, h / n * mesh.size, h / n * mesh.size, (LIGHT, COLOURS[0], COLOURS[2])[reads - 1])
        mesh.lines(line=0.4)
        mesh.outline(data['patches'][kernel['patch']]['cells'], COLOURS[1], 2)
        mesh.caption(kernel['kernel'])
        mesh.caption('%d unknowns' % sum(reads > 0 for reads in kernel['reads']), 1)
    for i, (colour, text) in enumerate(((LIGHT, 'of b alone'), (COLOURS[0], 'of x alone'), (COLOURS[2], 'of both'))):
        picture.rect(200 + 160 * i, 270, 14, 14, colour, GREY)
        picture.text(220 + 160 * i, 282, text, 13, 'start')
    return [figure(picture)]


def colours(records):
    data = newest(records, 1)
    picture = Picture(840, 245)
    for colour in range(4):
        mesh = Mesh(picture, data, 15 + 205 * colour, size=190)
        patches = [p['cells'] for p in data['patches'] if p['color'] == colour]
        for cell in (c for patch in patches for c in patch):
            mesh.box(cell, COLOURS[colour], opacity=0.6)
        mesh.lines(line=0.4)
        for patch in patches:
            mesh.outline(patch, INK, 1.5)
        mesh.caption('colour %d: %d patches' % (colour, len(patches)))
    return [figure(picture)]


def numbering(records):
    """lines through the unknowns' places in the order of both numberings"""
    data = newest(records, 1)
    picture = Picture(2 * SIZE + 60, 350)
    for number, (text, order) in enumerate((('lexicographic', sorted(data['points'], key=lambda p: (round(p[1], 4), p[0]))),
                                            ('cell by cell, along the curve', data['points']))):
        mesh = Mesh(picture, data, 15 + number * (SIZE + 30))
        mesh.lines()
        picture.line([mesh.place(*point) for point in order], COLOURS[number + 1], 0.8)
        mesh.caption(text)
    return [figure(picture)]


def banks(records):
    data = newest(records, 1)['banks']
    picture = Picture(840, 40 + 2 * 235)
    for number, access in enumerate(data):
        left, top = 15 + number // 2 * 165, 35 + number % 2 * 235
        most = max(sum(first == b for first, _ in access['reads']) for b in range(access['banks']))
        for row, (first, _) in enumerate(access['reads']):
            for bank in range(access['banks']):
                picture.rect(left + bank * 9, top + row * 9, 9, 9, COLOURS[1 - access['rotated']] if bank == first else 'none', LIGHT)
        picture.text(left, top - 8, 'Q%d, %s: %d-way' % (access['degree'], 'rotated' if access['rotated'] else 'basic', most), 12, 'start')
    picture.text(15, 500, 'rows of threads downwards, the bank of the first number that they read to the right', 12, 'start', GREY)
    return [figure(picture)]


def ranks(records):
    data = newest(records, 3)
    picture = Picture(2 * SIZE + 60, 350)
    mesh, ghosts = Mesh(picture, data, 15), Mesh(picture, data, SIZE + 45)
    for cell, (_, _, _, rank) in enumerate(data['cells']):
        mesh.box(cell, COLOURS[rank], opacity=0.6)
    mesh.lines(INK, 0.4)
    picture.line([mesh.middle(cell) for cell in range(len(data['cells']))], INK, 0.8)
    zones = data['zones'][1]
    for i, cell in enumerate(zones['cells']):
        ghosts.box(cell, ZONES[sum(i >= end for end in zones['ends'])])
    ghosts.lines(INK, 0.4)
    mesh.caption('three ranks along the space-filling curve')
    ghosts.caption('the second rank and three layers of ghosts')
    return [figure(picture)]


def shared(records):
    """patches of cells of two ranks, and who solves them"""
    data = newest(records, 3)
    cells, solvers = data['cells'], {}
    for patch in data['patches']:
        solvers.setdefault(tuple(sorted(patch['cells'])), []).append(patch['rank'])
    picture = Picture(2 * SIZE + 60, 350)
    mesh, one = Mesh(picture, data, 15), Mesh(picture, data, SIZE + 45)
    for cell, (_, _, _, rank) in enumerate(cells):
        mesh.box(cell, COLOURS[rank], opacity=0.6)
    mesh.lines(INK, 0.4)
    for patch, who in solvers.items():
        places = [mesh.middle(c) for c in patch]
        x, y = (sum(p[d] for p in places) / 4 for d in range(2))
        picture.dot(x, y, 9, '#ffffff' if len({cells[c][3] for c in patch}) > 1 else LIGHT)
        picture.text(x, y + 4, str(len(who)), 11)
    patch = next(p for p in solvers if len({cells[c][3] for c in p}) == 2)
    for cell in patch:
        one.box(cell, COLOURS[cells[cell][3]], opacity=0.8)
    one.lines(GREY, 0.4)
    one.outline(patch, INK)
    mesh.caption('how many ranks solve the patch of a vertex')
    one.caption('a patch of two ranks, solved by ranks %s' % ', '.join(map(str, sorted(solvers[patch]))))
    return [figure(picture)]


def lists(records):
    """bytes of the patches' lists of cells, and of lists of all their unknowns, over those of x"""
    data = newest(records, 1)['lists']
    rows = []
    for k in DEGREES:
        x, indices = 8 * data['cells'] * (k + 1)**3, data['bytes'] * (k + 1)**3
        rows.append(['Q%d' % k, '%.3f' % (data['bytes'] / x), '%.2f' % (indices / x)])
    first = '%d patches on %d cells' % (data['patches'], data['cells'])
    return [table([first, 'cells of patches over x', 'all their unknowns over x'], rows)]


def drawing(number, show, on=1):
    return dict(name='figure%d' % number, runs=mesh_on(on), kinds=[('mesh', {'ranks': on})], show=show)


ITEMS = [drawing(1, patch_points), drawing(2, dependence), drawing(4, colours), drawing(6, numbering), drawing(8, banks),
         drawing(12, ranks, 3), drawing(13, shared, 3), dict(name='indices', runs=mesh_on(1), kinds=[('mesh', {'ranks': 1})], show=lists)]
