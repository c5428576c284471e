"""Tables 1, 2 and 4: iterations. And what solvers cost that the paper argues against."""
import math
import os
from collections import namedtuple

import published
from machine import OPTIONS
from page import Cell, not_on_gpus, paragraph, table, words
from published import DEGREES, GPUS, LEVELS, NU, NU_WEAK
from runs import PARTLY, START, Run, cells, solve

OURS = ('paper_ours', 'fgmres')  # beside what the paper has: all functions of a patch in its solver, and the default
LABEL = {
    'paper_full': 'its kernel Full: dirichlet exact, V(1,1)', 'paper_dirichlet': 'its kernel Dirichlet: dirichlet local, V(1,1)',
    'paper_clamped': 'its kernel clamped: clamped local, V(1,1)', 'paper_ours': 'full exact, V(1,1)',
    'fgmres': 'the default: full exact, V(0,1), FGMRES'}
OPPONENTS = ('richardson', 'fgmres', 'paper_ours', 'paper_full', 'paper_dirichlet', 'paper_clamped', 'chebyshev', 'jacobi',
             'assembled_cell_jacobi')
LARGE = 5e8  # unknowns: beyond, GMRES has no memory for others than the steps that it takes
RESTART = {'paper_dirichlet': 6, 'paper_clamped': 6}

Solve = namedtuple('Solve', 'config degree refine dofs nu residual iterations seconds setup record')


def solves(records, kind='solve', **facts):
    """poisson's reports and the rows of bench_gpu's for f = 1, in one form"""
    for record in records.of(kind, **facts):
        report = record.get('report')
        for r in report.get('rows', [report]) if report else []:
            if r.get('rhs', 'f = 1') != 'f = 1':
                continue
            seconds = r.get('seconds', r.get('seconds_solve'))
            refine = record['about'].get('refine') or round(math.log2(r['dofs'] ** (1 / 3) / (r['degree'] + 1)))
            yield Solve(record['about']['config'], r['degree'], refine, r['dofs'], r['nu'], r['relative_residual'], r['iterations'],
                        seconds, r['seconds_setup'], record)


def on_gpu(config, name, levels, degrees, most, *more):
    """bench_gpu solves on all these meshes in turn"""
    count = sum(cells(k, L) for L in levels for k in degrees if cells(k, L) <= most)
    return Run('%s, %s on a GPU' % (config, name), 'bench_gpu',
               ['-options_file', os.path.join(OPTIONS, config + '.opts'), '-bench_parts', 'options', '-bench_refine', listed(levels),
                '-bench_degrees', listed(degrees), '-bench_most', '%g' % most, *more],
               {'kind': 'solve', 'config': config, 'boxes': 1, 'ranks': 1, 'gpu': True, 'timed': True},
               2 * count * PARTLY.get(config, 1) + 2 * START[True], gpus=1)


def listed(numbers):
    return ','.join(map(str, numbers))


def meshes(configs):
    """of multigrid down to the coarsest level: by default a GPU would invert small meshes at once"""
    all_levels = ['-pc_vpatchdg_levels', '0']

    def runs(machine, most):
        if machine.gpus and machine.has('bench_gpu'):
            small = [on_gpu(config, 'all meshes', LEVELS, DEGREES, min(most, LARGE), *all_levels) for config in configs]
            large = [on_gpu(config, 'the largest', LEVELS[-1:], DEGREES[-2:], most, *all_levels, '-ksp_gmres_restart',
                            str(RESTART.get(config, 4))) for config in configs if most > LARGE]
            return small + large
        return [solve(machine, config, k, L) for L in LEVELS for k in DEGREES if cells(k, L) <= most for config in configs]
    return runs


def entry(found, config, degree, refine):
    s = found.get((config, degree, refine))
    return Cell('%.1f' % s.nu, '%s Q%d L%d' % (config, degree, refine), '%.0e' % s.residual) if s else '—'


def of_all_levels(s):
    """bench_gpu's solves of meshes(), not poisson's of other items, which take the levels that are cheapest"""
    return 'rows' in s.record['report']


def iterations(configs):
    def show(records):
        found = {(s.config, s.degree, s.refine): s for s in solves(records, boxes=1, timed=False)}
        found.update({(s.config, s.degree, s.refine): s for s in solves(records, boxes=1, timed=True) if of_all_levels(s)})
        rows, ratios = [], []
        for L in LEVELS:
            for i, config in enumerate(configs):
                if config in NU:
                    rows.append(('group' if not i else 'theirs', [L if not i else '', 'paper'] + [nu or '—' for nu in NU[config][L]]))
                    ratios += [found[config, k, L].nu / nu for k, nu in zip(DEGREES, NU[config][L]) if nu and (config, k, L) in found]
                if any((config, k, L) in found for k in DEGREES):
                    rows.append(['', LABEL[config]] + [entry(found, config, k, L) for k in DEGREES])
        mean = 'Where both have a figure, %d times, ours of the same kernel is on average %.2f of the paper\'s, between %.2f and %.2f.' % (
            len(ratios), sum(ratios) / len(ratios), min(ratios), max(ratios)) if ratios else ''
        return [table(['L', 'ν, small: true relative residual'] + ['Q%d' % k for k in DEGREES], rows), paragraph(mean)]
    return show


def weak(machine, most):
    counts = range(1, len(machine.gpus) + 1) if machine.gpus else GPUS
    return [solve(machine, 'paper_dirichlet', 3, L, n, n) for L in LEVELS for n in counts if n * cells(3, L) <= most and n <= 8]


def show_weak(records):
    found = {(s.refine, s.record['about']['ranks']): s for s in solves(records, config='paper_dirichlet')
             if s.degree == 3 and s.record['about']['boxes'] == s.record['about']['ranks']}
    counts = sorted(set(GPUS) | {n for _, n in found})
    rows = []
    for L in LEVELS:
        rows.append(('group', [L, 'paper', *NU_WEAK[L]] + ['—'] * (len(counts) - len(GPUS))))
        if any(L == refine for refine, _ in found):
            rows.append(['', 'ours'] + [Cell('%.1f' % found[L, n].nu, 'weak Q3 L%d on %d' % (L, n), '%.0e' % found[L, n].residual)
                                        if (L, n) in found else '—' for n in counts])
    several = any(s.record['about']['gpu'] and s.record['about']['ranks'] > 1 for s in solves(records, config='paper_dirichlet'))
    return [table(['L of each', 'ranks or GPUs, each with a cube of 2^L cells a side', *counts], rows)] + not_on_gpus('table4', several)


def opponents(machine, most):
    """on a GPU larger meshes, and nothing assembled"""
    free = [(config, k, 5 if machine.gpus else 3) for config in OPPONENTS for k in (3, 5) if not config.startswith('assembled')]
    assembled = [] if machine.gpus else [(config, 3, 3) for config in OPPONENTS if config.startswith('assembled')]
    return [solve(machine, config, k, L, solves=2) for config, k, L in free + assembled if cells(k, L) <= most]


def show_opponents(records):
    rows = []
    for s in solves(records, timed=True, boxes=1):
        if s.config in OPPONENTS and s.degree in (3, 5) and 'rows' not in s.record['report']:
            rows.append([s.config, s.degree, '%d' % s.dofs, s.record['machine']['name'], '%d' % s.iterations, '%.1e' % s.residual,
                         '%.4f' % s.setup, '%.4f' % s.seconds, '%.3f' % (s.dofs / s.seconds / 1e6)])
    rows.sort(key=lambda row: (row[3], row[1], int(row[2]), float(row[7])))
    return [table(['options', 'degree', 'unknowns', 'machine', 'iterations', 'true residual', 'set-up, s', 'solve, s', 'MDoF/s'], rows)]


def both(machine, most):
    L = max([L for L in (3, 4, 5, 6) if cells(4, L) <= most] or [2])
    ranks = [solve(machine, 'richardson', 4, L, solves=3, gpu=False)]
    return ranks + [solve(machine, 'richardson', 4, L, solves=3)] if machine.gpus else ranks


def show_both(records):
    rows, rates = [('theirs', ['paper: one A100 is faster than %d cores' % published.CORES, '', '', '', '', ''])], {}
    for s in solves(records, config='richardson', timed=True):
        about, machine = s.record['about'], s.record['machine']
        if s.degree == 4:
            cores = not about['gpu'] and min(about['ranks'], machine['cores'])
            where = machine['gpus'][0] if about['gpu'] else '%d cores, %s' % (cores, machine['processor'])
            rate = s.dofs / s.seconds / 1e6
            rates[machine['name'], about['gpu']] = rate / (cores or 1)
            rows.append([where, '%.1f' % (s.dofs / 1e6), s.iterations, '%.4f' % s.seconds, '%.2f' % rate,
                         '%.2f' % (rate / cores) if cores else '—'])
    parts = [table(['where', 'MDoF', 'iterations', 'solve, s', 'MDoF/s', 'MDoF/s a core'], rows)]
    return parts + [paragraph('One GPU (%s) solves as fast as %d cores would that are each as fast as one of those beside it.'
                              % (words(name), rate / rates[name, False])) for (name, gpu), rate in rates.items()
                    if gpu and (name, False) in rates]


def read(configs):
    return [('solve', {'config': config, 'boxes': 1}) for config in configs]


ITEMS = [
    dict(name='table1', runs=meshes(('paper_full', *OURS)), kinds=read(('paper_full', *OURS)), show=iterations(('paper_full', *OURS))),
    dict(name='table2', runs=meshes(('paper_dirichlet', 'paper_clamped')), kinds=read(('paper_dirichlet', 'paper_clamped')),
         show=iterations(('paper_dirichlet', 'paper_clamped'))),
    dict(name='table4', runs=weak, show=show_weak,
         kinds=[('solve', {'config': 'paper_dirichlet', 'ranks': n, 'boxes': n}) for n in range(1, 9)]),
    dict(name='solvers', runs=opponents, kinds=[('solve', {'timed': True, 'config': config}) for config in OPPONENTS], show=show_opponents),
    dict(name='cores', runs=both, kinds=[('solve', {'config': 'richardson', 'timed': True})], show=show_both),
]
