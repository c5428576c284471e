"""Figures 14 to 17: several ranks or GPUs, from the reports of bench_gpus."""
from charts import chart
from page import Cell, figure, paragraph, table
from runs import Run

WHAT = ('A x', 'sweep', 'FGMRES')
KINDS = [('scaling', {})]


def counts(machine):
    most = len(machine.gpus) or machine.cores
    return [n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n <= most]


def part(name):
    """bench_gpus -bench_only name on 1, 2, ... GPUs or cores; a core gets meshes 3 times less refined, fewer unknowns by 512"""
    def runs(machine, most):
        shift = 0 if machine.gpus and most > 2e8 else 3 if most > 1e6 else 4
        where = [] if machine.gpus else ['-dm_vec_type', 'standard', '-dm_vpatchdg_backend', 'host']
        arguments = ['-bench_only', name, '-bench_shift', str(shift), *where]
        work = 2e10 if machine.gpus else 5e7 / 8**(shift - 3)
        return [Run('%s scaling on %d %s' % (name, n, 'GPUs' if machine.gpus else 'ranks'), 'bench_gpus', arguments,
                    {'kind': 'scaling', 'part': name, 'ranks': n}, work * (n if name == 'weak' else 1), n,
                    n if machine.gpus else 0) for n in counts(machine)]
    return runs



def rows_by_machine(records, name):
    found = {}
    for record in records.of('scaling', part=name):
        for row in record.get('report', []):  # meshes that are the same for a large -bench_shift count once
            found.setdefault(record['machine']['name'], {})[row['figure'], row['degree'], row['ranks'], row['dofs']] = row
    return [(machine, list(rows.values())) for machine, rows in sorted(found.items())]


def pick(rows, **facts):
    return sorted((r for r in rows if all(r[key] == value for key, value in facts.items())), key=lambda r: (r['ranks'], r['dofs']))


def unknowns(dofs):
    return '%.3g M' % (dofs / 1e6)


def show_exchange(records):
    parts = []
    for name, rows in rows_by_machine(records, 'weak'):
        lines = []
        for once in (r for r in rows if r['figure'] == 'sweep'):
            for each in pick(rows, figure='sweep, by colors', degree=once['degree'], ranks=once['ranks'], dofs=once['dofs']):
                lines.append(['Q%d' % once['degree'], once['ranks'], unknowns(once['dofs'])]
                             + ['%.3f' % (1e3 * r['seconds']) for r in (once, each)] + ['%.0f' % r['messages'] for r in (once, each)]
                             + ['%.3f' % (r['bytes'] / 1e6) for r in (once, each)])
        if lines:
            header = ['', 'ranks', 'unknowns', 'ms: once a sweep', 'a colour', 'messages: once', 'a colour', 'MB: once', 'a colour']
            parts += [paragraph('<b>%s</b>' % name), table(header, lines)]
    return parts


def show_strong(records):
    parts = []
    for name, rows in rows_by_machine(records, 'size'):
        for what in WHAT:
            series = []
            for dofs in sorted({r['dofs'] for r in rows})[1::2]:
                points = [(r['ranks'], 1e3 * r['seconds']) for r in pick(rows, figure=what, dofs=dofs)]
                if points:
                    series += [(unknowns(dofs), points), ('ideal', [(n, points[0][1] * points[0][0] / n) for n, _ in points], True)]
            if series:
                parts.append(figure(chart('%s, strong, Q4, %s' % (what, name), 'ranks or GPUs', 'ms', series, (False, True))))
    return parts


def show_weak(records):
    parts = []
    for name, rows in rows_by_machine(records, 'weak'):
        lines = []
        for what in WHAT:
            series = []
            for degree, refine in sorted({(r['degree'], r['refine']) for r in rows}):
                found = pick(rows, figure=what, degree=degree, refine=refine)
                points = [(r['ranks'], 1e3 * r['seconds'] / (r['iterations'] or 1)) for r in found]
                if points:
                    label = 'Q%d, %s each' % (degree, unknowns(found[0]['dofs'] / found[0]['ranks']))
                    series += [(label, points), ('ideal', [(n, points[0][1]) for n, _ in points], True)]
                    lines.append([what + (', per iteration' if what == 'FGMRES' else ''), label]
                                 + [Cell('%.3f' % ms, '', 'on %d' % n) for n, ms in points])
            if series:
                parts.append(figure(chart('%s, weak, %s' % (what, name), 'ranks or GPUs', 'ms', series, (False, True))))
        width = max((len(line) for line in lines), default=0)
        parts.append(table(['ms'] + [''] * (width - 1), [line + [''] * (width - len(line)) for line in lines]))
    return parts


def show_size(records):
    parts = []
    for name, rows in rows_by_machine(records, 'size'):
        for what in ('A x', 'sweep', 'refinement'):
            series = [('on %d' % n, [(r['dofs'], r['gdofs']) for r in pick(rows, figure=what, ranks=n)])
                      for n in sorted({r['ranks'] for r in rows})]
            parts.append(figure(chart('%s, Q4, %s' % (what, name), 'unknowns', 'GDoF/s', series, (True, True))))
    return parts


ITEMS = [
    dict(name='figure14', runs=part('weak'), kinds=KINDS, show=show_exchange),
    dict(name='figure15', runs=part('size'), kinds=KINDS, show=show_strong),
    dict(name='figure16', runs=part('size'), kinds=KINDS, show=show_size),
    dict(name='figure17', runs=part('weak'), kinds=KINDS, show=show_weak),
]
