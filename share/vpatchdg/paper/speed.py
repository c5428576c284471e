"""Table 3 and figures 5, 7, 9, 10 and 11: speed of kernels and solves, from the reports of bench_gpu, paper and conflicts.sh."""
import os

import published
from charts import chart
from iterations import solves
from machine import HERE, OPTIONS
from page import Cell, figure, paragraph, span, table, words
from published import DEGREES
from runs import PARTLY, START, Run, cells

KERNELS = [('kernels', {})]
REBUILT = [('rebuilt', {})]
COUNTED = [('counted', {})]
SWEEPS = ('sweep, full exact', 'sweep, full global', 'sweep, dirichlet global', 'sweep, dirichlet exact', 'sweep, dirichlet local',
          'sweep, clamped local')
# whole solves by the true residual: the solvers of the paper by kernel, with patches of all functions, and ours
WHOLE = {'paper_global': 'GMRES, V(1,1), its kernel Full: dirichlet global', 'paper_full': 'the same, dirichlet exact',
         'paper_dirichlet': 'its kernel Dirichlet: dirichlet local', 'paper_clamped': 'its kernel clamped: clamped local',
         'paper_ours': 'the same solver, full exact', 'fgmres': 'the default: FGMRES, V(0,1), full exact',
         'richardson': 'refinement, the same cycle'}
TRUE = ('-ksp_pc_side', 'right', '-ksp_norm_type', 'unpreconditioned')
LARGEST = 4.6e8  # unknowns of bench_gpu's meshes, those of the paper


def sizes(machine, most):
    """bench_gpu's options, and a measure of the work: on a GPU meshes as large as the paper's; on a core as far as they fit"""
    degrees = ['-bench_degrees', ','.join(map(str, DEGREES))]
    if machine.gpus:
        shift = next(s for s in range(5) if s == 4 or LARGEST / 8**s <= most)
        return degrees + ['-bench_shift', str(-shift)], 2e9 / 8**shift + 2 * START[True]
    L = 3 if cells(7, 3) <= most else 2
    return degrees + ['-bench_backend', 'host', '-bench_refine', str(L), '-bench_shift', '-1'], 30 * cells(7, L)


def bench(name, about, machine, most, work, *more):
    arguments, unit = sizes(machine, most)
    return Run('%s on a %s' % (name, 'GPU' if machine.gpus else 'core'), 'bench_gpu', [*more, *arguments], about, unit * work,
               gpus=bool(machine.gpus))


def kernels(machine, most):
    return [bench('kernels', {'kind': 'kernels'}, machine, most, 10)]


def whole(machine, most):
    return [bench(config + ', whole solves', {'kind': 'whole', 'config': config}, machine, most, PARTLY.get(config, 1), '-options_file',
                  os.path.join(OPTIONS, config + '.opts'), '-bench_parts', 'options', *(TRUE if config.startswith('paper') else ()))
            for config in WHOLE]


def rebuilt(machine, most):
    return [Run('rebuilt kernels', 'paper', [], {'kind': 'rebuilt'}, 1e10, gpus=1)]


def counted(machine, most):
    return [Run('what ncu counts', 'paper', [], {'kind': 'counted'}, 1e10, gpus=1, needs=('ncu',),
                script=os.path.join(HERE, '..', 'conflicts.sh'))]


def rows_of(records, kind):
    """(record, its rows) of those that have some, GPUs first"""
    return sorted(((r, r['report']['rows']) for r in records.of(kind) if 'report' in r), key=lambda pair: not pair[0]['machine']['gpus'])


def curve(rows, value, **facts):
    """points (degree, value of a row) of the rows with these facts, the largest of a degree"""
    found = {}
    for row in rows:
        if all(row.get(key) == fact for key, fact in facts.items()) and row['degree'] in DEGREES and value(row) is not None:
            found[row['degree']] = max(value(row), found.get(row['degree'], 0))
    return sorted(found.items())


def gdofs(row):
    return row['gdofs']


def against_degree(title, unit, series, machine, theirs=()):
    """a chart and its table; theirs: rows of the paper"""
    series = [s for s in series if s[1]]
    if not series:
        return []
    rows = [('theirs', row) for row in theirs]
    rows += [[name] + [Cell('%.3g' % dict(points)[k], '%s Q%d' % (name, k)) if k in dict(points) else '—' for k in DEGREES]
             for name, points in series]
    return [paragraph('<b>%s</b>' % machine['name']), figure(chart(title, 'degree', unit, series)),
            table(['%s, %s' % (title, unit)] + ['Q%d' % k for k in DEGREES], rows)]


def found(sentence, *pairs):
    """a sentence of the page; every %s becomes from where to where one curve goes as a multiple of another"""
    spans = [span([dict(over)[k] / dict(under)[k] for k in DEGREES if k in dict(over) and k in dict(under)]) for over, under in pairs]
    return [paragraph(words(sentence % tuple(spans)))] if all(spans) else []


def show_sweeps(records):
    parts = []
    for precision in ('double', 'single'):
        for record, rows in rows_of(records, 'kernels'):
            ours = {name: curve(rows, gdofs, figure=name, precision=precision, rhs=None) for name in SWEEPS}
            copy = {space: curve(more, gdofs, kernel='sweep', space=space, precision=precision)
                    for other, more in rows_of(records, 'rebuilt') if other['machine']['name'] == record['machine']['name']
                    for space in ('full', 'dirichlet')}
            series = [('ours: ' + name[7:], points) for name, points in ours.items()]
            parts += against_degree('One sweep, ' + precision, 'GDoF/s', series + [('rebuilt: ' + s, p) for s, p in copy.items()],
                                    record['machine'])
            local, exact, best = (ours['sweep, ' + name] for name in ('dirichlet local', 'dirichlet exact', 'full exact'))
            parts += found('In %s precision Dirichlet patches with local residuals are %%s times as fast as with the residual of all '
                           'cells before every colour, which is the paper\'s Full, and %%s times as fast as with the same residual from '
                           'the cells that they read; patches of all functions are %%s times as fast as Dirichlet with local residuals.'
                           % precision, (local, ours['sweep, dirichlet global']), (local, exact), (best, local))
            parts += found('The rebuilt Dirichlet is %s times as fast as the rebuilt Full; ours is %s times as fast as the rebuilt one.',
                           (copy.get('dirichlet', []), copy.get('full', [])), (local, copy.get('dirichlet', [])))
    return parts


def show_whole(records):
    parts, every = [], sorted(solves(records, 'whole'), key=lambda s: not s.record['machine']['gpus'])
    for name in dict.fromkeys(s.record['machine']['name'] for s in every):
        here = {(s.config, s.degree): s for s in every if s.record['machine']['name'] == name}
        rows = [[label] + [Cell('%.4g' % here[config, k].seconds, '%s Q%d' % (config, k), '%d' % here[config, k].iterations)
                           if (config, k) in here else '—' for k in DEGREES] for config, label in WHOLE.items()]
        series = {config: [(k, here[config, k].dofs / here[config, k].seconds / 1e9) for k in DEGREES if (config, k) in here]
                  for config in WHOLE}
        sizes_here = ['%.3g' % (max(s.dofs for s in here.values() if s.degree == k) / 1e6) if any(k == d for _, d in here) else '—'
                      for k in DEGREES]
        parts += [paragraph('<b>%s</b>' % name), figure(chart('Whole solves', 'degree', 'GDoF/s', list(series.items()))),
                  table(['seconds to 1e-8, small: iterations'] + ['Q%d' % k for k in DEGREES], [['million unknowns'] + sizes_here] + rows)]
        parts += found('To 1e-8 of the true residual its Dirichlet is %s times as fast as its Full with the residual of all cells, %s '
                       'times as fast as with that of the cells read, and its clamped %s times; with patches of all functions the same '
                       'solver is %s times as fast as with Dirichlet, the default %s times, refinement %s times.',
                       (series['paper_dirichlet'], series['paper_global']), (series['paper_dirichlet'], series['paper_full']),
                       (series['paper_clamped'], series['paper_full']), (series['paper_ours'], series['paper_dirichlet']),
                       (series['fgmres'], series['paper_dirichlet']), (series['richardson'], series['paper_dirichlet']))
    return parts


def show_variants(records):
    parts = []
    for record, rows in rows_of(records, 'rebuilt'):
        for kernel in ('A x', 'sweep'):
            for precision in ('double', 'single'):
                space = 'full' if kernel == 'A x' else 'dirichlet'
                series = {variant: curve(rows, gdofs, kernel=kernel, space=space, precision=precision, variant=variant)
                          for variant in dict.fromkeys(row['variant'] for row in rows)}
                parts += against_degree('Rebuilt %s, %s, %s' % (kernel, space, precision), 'GDoF/s', list(series.items()),
                                        record['machine'])
                pairs = [[series.get('%s, %s' % names, []) for names in two] for two in (
                    (('conflict-free', 'cell-wise'), ('basic', 'cell-wise')), (('basic', 'cell-wise'), ('basic', 'lexicographic')))]
                parts += found('Without bank conflicts it is %s times as fast, cell-wise %s times as fast as lexicographic.', *pairs)
    return parts


def show_conflicts(records):
    parts, theirs = [], list(zip(DEGREES, published.CONFLICTS))
    for record, rows in rows_of(records, 'counted'):
        lines = [('theirs', ['paper, A x, basic'] + list(published.CONFLICTS)),
                 ('theirs', ['paper, A x, conflict-free'] + [0] * len(DEGREES))]
        for kernel in dict.fromkeys(row['kernel'] for row in rows):
            excess = dict(curve(rows, lambda row: row['excessive'] / row['blocks'], kernel=kernel))
            share = dict(curve(rows, lambda row: 100 * row['excessive'] / row['wavefronts'], kernel=kernel))
            counts = dict(curve(rows, lambda row: row['conflicts'] / row['blocks'], kernel=kernel))
            lines.append([kernel] + [Cell('%.0f' % excess[k], 'conflicts of %s Q%d' % (kernel, k), '%.0f %%, %.0f' % (share[k], counts[k]))
                                     if k in excess else '—' for k in DEGREES])
        parts += [paragraph('<b>%s</b>' % record['machine']['name']),
                  table(['excessive wavefronts a block, small: part of all; conflicts of loads and stores by the hardware'] +
                        ['Q%d' % k for k in DEGREES], lines)]
        parts += found('The rebuilt basic kernel has %s times the conflicts of the paper\'s.',
                       (curve(rows, lambda row: row['excessive'] / row['blocks'], kernel='rebuilt, A x, Basic'), theirs))
    return parts


FLOPS = ('A x', 'sweep, full exact', 'restriction', 'prolongation')


def show_flops(records):
    parts = []
    for record, rows in rows_of(records, 'kernels'):
        machine, peak = record['machine'], record['machine'].get('peak_double')
        done = {}  # (kernel, degree): flops a DoF that the device does
        for other, more in rows_of(records, 'counted'):
            if other['machine']['name'] == machine['name']:
                done.update({(row['kernel'][6:], row['degree']): row['flops_per_dof'] for row in more if 'flops_per_dof' in row})

        def dense(row):
            return row['flops'] / row['seconds'] / 1e12

        def real(row):
            per_dof = done.get((row['figure'], row['degree']))
            return per_dof and per_dof * row['gdofs'] / 1e3

        def curves(value):
            return [(name, curve(rows, value, figure=name, precision='double', rhs=None)) for name in FLOPS]

        def share(value):
            return lambda row: 1e14 * value(row) / peak if peak and value(row) else None

        best = ['paper, A x at its best, of an A100'] + ['%d' % (100 * published.PEAK_SHARE) if k == 4 else '' for k in DEGREES]
        parts += against_degree('Speed, dense products', 'TFlop/s', curves(dense), machine)
        parts += against_degree('Part of the peak, dense products', '%', curves(share(dense)), machine, [best])
        parts += against_degree('Speed, flops that are done', 'TFlop/s', curves(real), machine)
        parts += against_degree('Part of the peak, flops that are done', '%', curves(share(real)), machine, [best])
        parts += against_degree('Part of the memory roof', '%', curves(lambda row: 100 * row['gdofs'] / row['roof_gdofs']), machine)
        both = [(dict(curves(real))[name], dict(curves(dense))[name]) for name in FLOPS]
        parts += found('Of the flops of dense products A x really does %s, a sweep %s, restriction %s, prolongation %s.', *both)
    return parts


def show_precision(records):
    parts = []
    for record, rows in rows_of(records, 'kernels'):
        series = []
        for name, rhs in (('A x on a level', None), ('sweep, full exact', None), ('V-cycle', None), ('FGMRES', 'random b'),
                          ('refinement', 'random b')):
            single, double = (dict(curve(rows, gdofs, figure=name, precision=p, rhs=rhs)) for p in ('single', 'double'))
            series.append((name, [(k, single[k] / double[k]) for k in DEGREES if k in single and k in double]))
        theirs = ['paper, GMRES'] + ['%g' % end if k in (DEGREES[0], DEGREES[-1]) else '' for k, end in
                                     zip(DEGREES, published.SINGLE_OVER_DOUBLE[:1] * 4 + published.SINGLE_OVER_DOUBLE[1:])]
        parts += against_degree('Single over double', 'times as fast', series, record['machine'], [theirs])
    return parts


ITEMS = [
    dict(name='table3', runs=counted, kinds=COUNTED, show=show_conflicts),
    dict(name='figure5', runs=lambda machine, most: kernels(machine, most) + rebuilt(machine, most), kinds=KERNELS + REBUILT,
         show=show_sweeps),
    dict(name='figure5right', runs=whole, kinds=[('whole', {})], show=show_whole),
    dict(name='figure7', runs=rebuilt, kinds=REBUILT, show=show_variants),
    dict(name='figure10', runs=lambda machine, most: kernels(machine, most) + counted(machine, most), kinds=KERNELS + COUNTED,
         show=show_flops),
    dict(name='figure11', runs=kernels, kinds=KERNELS, show=show_precision),
]
