"""Table 3 and figures 5, 7, 9, 10 and 11: speed of kernels and solves, from the reports of bench_gpu, paper and conflicts.sh."""
import os

import published
from charts import chart
from iterations import LABEL, solves
from machine import HERE
from page import Cell, figure, paragraph, table
from published import DEGREES
from runs import Run, cells

KERNELS = [('kernels', {})]
REBUILT = [('rebuilt', {})]
SWEEPS = ('sweep, full exact', 'sweep, full global', 'sweep, dirichlet exact', 'sweep, dirichlet local', 'sweep, clamped local')


def kernels(machine, most):
    """on the GPU at the sizes of the paper; on a core of the CPU as far as they fit"""
    degrees = ['-bench_degrees', ','.join(map(str, DEGREES))]
    if machine.gpus:
        return [Run('kernels on a GPU', 'bench_gpu', degrees, {'kind': 'kernels'}, 3e10, gpus=1)]
    L = max([L for L in (2, 3) if cells(7, L) <= most] or [2])
    return [Run('kernels on a core', 'bench_gpu', ['-bench_backend', 'host', '-bench_refine', str(L), *degrees], {'kind': 'kernels'},
                300 * cells(7, L))]


def rebuilt(machine, most):
    return [Run('rebuilt kernels', 'paper', [], {'kind': 'rebuilt'}, 1e10, gpus=1)]


def conflicts(machine, most):
    return [Run('bank conflicts', 'paper', [], {'kind': 'conflicts'}, 1e10, gpus=1, needs=('ncu',),
                script=os.path.join(HERE, '..', 'conflicts.sh'))]


def rows_of(records, kind):
    """(record, its rows) of those that have some"""
    return [(r, r['report']['rows']) for r in records.of(kind) if 'report' in r]


def curve(rows, value, **facts):
    """points (degree, value of a row) of the rows with these facts, the largest of a degree"""
    found = {}
    for row in rows:
        if all(row.get(key) == fact for key, fact in facts.items()) and row['degree'] in DEGREES and value(row) is not None:
            found[row['degree']] = max(value(row), found.get(row['degree'], 0))
    return sorted(found.items())


def gdofs(row):
    return row['gdofs']


def against_degree(title, unit, series, machine):
    """a chart and its table"""
    series = [s for s in series if s[1]]
    if not series:
        return []
    rows = [[name] + [Cell('%.3g' % dict(points)[k], '%s Q%d' % (name, k)) if k in dict(points) else '—' for k in DEGREES]
            for name, points in series]
    return [paragraph('<b>%s</b>' % machine['name']), figure(chart(title, 'degree', unit, series)),
            table(['%s, %s' % (title, unit)] + ['Q%d' % k for k in DEGREES], rows)]


def show_sweeps(records):
    parts = []
    for precision in ('double', 'single'):
        for record, rows in rows_of(records, 'kernels'):
            series = [('ours: ' + name[7:], curve(rows, gdofs, figure=name, precision=precision, rhs=None)) for name in SWEEPS]
            for other, more in rows_of(records, 'rebuilt'):
                if other['machine']['name'] == record['machine']['name']:
                    series += [('rebuilt: ' + space, curve(more, gdofs, kernel='sweep', space=space, precision=precision))
                               for space in ('full', 'dirichlet')]
            parts += against_degree('One sweep, ' + precision, 'GDoF/s', series, record['machine'])
    return parts


def show_solves(records):
    parts = []
    for name in sorted({r['machine']['name'] for r in records.of('solve')}):
        best = {}
        for s in solves(records, boxes=1, timed=True):
            if s.record['machine']['name'] == name and 'rows' in s.record['report']:
                best[s.config, s.degree] = max(best.get((s.config, s.degree), s), s, key=lambda s: s.dofs if s.dofs < 5e8 else 0)
        rows = [[label] + [Cell('%.4g' % best[config, k].seconds, '%s Q%d' % (config, k), '%.0f M' % (best[config, k].dofs / 1e6))
                           if (config, k) in best else '—' for k in DEGREES] for config, label in LABEL.items()]
        if best:
            series = [(config, [(k, best[config, k].dofs / best[config, k].seconds / 1e9) for k in DEGREES if (config, k) in best])
                      for config in LABEL]
            parts += [paragraph('<b>%s</b>' % name), figure(chart('GMRES to 1e-8', 'degree', 'GDoF/s', series)),
                      table(['seconds of a solve, small: unknowns'] + ['Q%d' % k for k in DEGREES], rows)]
    return parts


def show_variants(records):
    parts = []
    for record, rows in rows_of(records, 'rebuilt'):
        for kernel in ('A x', 'sweep'):
            for precision in ('double', 'single'):
                space = 'full' if kernel == 'A x' else 'dirichlet'
                series = [(variant, curve(rows, gdofs, kernel=kernel, space=space, precision=precision, variant=variant))
                          for variant in dict.fromkeys(row['variant'] for row in rows)]
                parts += against_degree('Rebuilt %s, %s, %s' % (kernel, space, precision), 'GDoF/s', series, record['machine'])
    return parts


def show_conflicts(records):
    parts = []
    for record, rows in rows_of(records, 'conflicts'):
        lines = [('theirs', ['paper, A x, basic'] + list(published.CONFLICTS)),
                 ('theirs', ['paper, A x, conflict-free'] + [0] * len(DEGREES))]
        for kernel, precision in dict.fromkeys((row['kernel'], row['precision']) for row in rows):
            points = dict(curve(rows, lambda row: row['conflicts'] / row['blocks'], kernel=kernel, precision=precision))
            share = dict(curve(rows, lambda row: 100 * row['conflicts'] / row['wavefronts'], kernel=kernel, precision=precision))
            lines.append(['%s, %s' % (kernel, precision)]
                         + [Cell('%.0f' % points[k], '', '%.1f %%' % share[k]) if k in points else '—' for k in DEGREES])
        parts += [paragraph('<b>%s</b>' % record['machine']['name']),
                  table(['conflicts a thread block, small: part of all wavefronts'] + ['Q%d' % k for k in DEGREES], lines)]
    return parts


def show_flops(records):
    parts = []
    names = ('A x on a level', 'sweep, full exact', 'restriction', 'prolongation')
    for record, rows in rows_of(records, 'kernels'):
        peak = record['machine'].get('peak_double')
        for title, unit, value in (('Speed, double', 'TFlop/s', lambda row: row['flops'] / row['seconds'] / 1e12),
                                   ('Part of the peak', '%', lambda row: 100 * row['flops'] / row['seconds'] / peak if peak else None),
                                   ('Part of the memory roof', '%', lambda row: 100 * row['gdofs'] / row['roof_gdofs'])):
            series = [(name, curve(rows, value, figure=name, precision='double', rhs=None)) for name in names]
            parts += against_degree(title, unit, series, record['machine'])
    return parts


def show_precision(records):
    parts = []
    for record, rows in rows_of(records, 'kernels'):
        series = []
        for name, rhs in (('A x on a level', None), ('sweep, full exact', None), ('V-cycle', None), ('FGMRES', 'random b'),
                          ('refinement', 'random b')):
            single, double = (dict(curve(rows, gdofs, figure=name, precision=p, rhs=rhs)) for p in ('single', 'double'))
            series.append((name, [(k, single[k] / double[k]) for k in DEGREES if k in single and k in double]))
        parts += against_degree('Single over double', 'times as fast', series, record['machine'])
    return parts


ITEMS = [
    dict(name='table3', runs=conflicts, kinds=[('conflicts', {})], show=show_conflicts),
    dict(name='figure5', runs=lambda machine, most: kernels(machine, most) + rebuilt(machine, most), kinds=KERNELS + REBUILT,
         show=show_sweeps),
    dict(name='figure5right', runs=lambda machine, most: [], show=show_solves,
         kinds=[('solve', {'config': config, 'boxes': 1, 'timed': True, 'gpu': True}) for config in LABEL]),
    dict(name='figure7', runs=rebuilt, kinds=REBUILT, show=show_variants),
    dict(name='figure10', runs=kernels, kinds=KERNELS, show=show_flops),
    dict(name='figure11', runs=kernels, kinds=KERNELS, show=show_precision),
]
