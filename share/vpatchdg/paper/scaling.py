"""Figures 14 to 17: several ranks or GPUs, from the reports of bench_gpus."""
from charts import chart
from page import Cell, figure, not_on_gpus, paragraph, table, words
from runs import START, Run, many

LARGEST = 2.7e8  # unknowns
WHAT = ('A x', 'sweep', 'FGMRES')
KINDS = [('scaling', {})]


def counts(machine):
    most = len(machine.gpus) or machine.cores
    return [n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n <= most]


def part(name):
    """bench_gpus -bench_only name on 1, 2, ... GPUs or cores, on meshes that are coarser where fewer unknowns are wanted; cores get such of
    fewer unknowns by 512"""
    def runs(machine, most):
        gpu = bool(machine.gpus)
        shift = next(s for s in range(5) if s == 4 or LARGEST / 8**s <= most) if gpu else 3 if most > 1e6 else 4
        where = [] if gpu else ['-dm_vec_type', 'standard', '-dm_vpatchdg_backend', 'host']
        arguments = ['-bench_only', name, '-bench_shift', str(shift), *where]
        work = 2e10 / 8**shift + START[gpu] if gpu else 5e7 / 8**(shift - 3)
        return [Run('%s scaling on %s' % (name, many(n, gpu)), 'bench_gpus', arguments, {'kind': 'scaling', 'part': name, 'ranks': n},
                    work * (n if name == 'weak' else 1), n, n if gpu else 0) for n in counts(machine)]
    return runs


def rows_by_machine(records, name):
    found = {}
    for record in sorted(records.of('scaling', part=name), key=lambda r: not r['machine']['gpus']):
        for row in record.get('report', []):  # meshes that are the same for a large -bench_shift count once
            found.setdefault(record['machine']['name'], {})[row['figure'], row['degree'], row['ranks'], row['dofs']] = row
    return [(machine, list(rows.values())) for machine, rows in found.items()]


def missing(records, name, part):
    several = any(r['machine']['gpus'] and r['about']['ranks'] > 1 for r in records.of('scaling', part=part) if 'report' in r)
    return not_on_gpus(name, several)


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
    return parts and parts + missing(records, 'figure14', 'weak')


def against_ranks(title, name, lines):
    """a chart of times over ranks, with ideal lines, and the table; lines: (label, points (ranks, ms), ideal time of a number of ranks)"""
    lines = [line for line in lines if len(line[1]) > 1]
    if not lines:
        return []
    series, rows, every = [], [], sorted({n for _, points, _ in lines for n, _ in points})
    for label, points, ideal in lines:
        best, taken = {n: ideal(points[0], n) for n, _ in points}, dict(points)
        series += [(label, points), ('ideal', sorted(best.items()), True)]
        rows.append([label] + [Cell('%.3f' % taken[n], '', '%.0f %%' % (100 * best[n] / taken[n])) if n in taken else '—' for n in every])
    return [figure(chart('%s, %s' % (title, name), 'ranks or GPUs', 'ms', series, (False, True))),
            table(['%s, ms, small: part of ideal' % title] + ['on %d' % n for n in every], rows)]


def show_strong(records):
    parts = []
    for name, rows in rows_by_machine(records, 'size'):
        for what in WHAT:
            lines = [(unknowns(dofs), [(r['ranks'], 1e3 * r['seconds']) for r in pick(rows, figure=what, dofs=dofs)],
                      lambda first, n: first[1] * first[0] / n) for dofs in sorted({r['dofs'] for r in rows})[1::2]]
            parts += against_ranks('%s, strong, Q4' % what, name, lines)
    return parts + missing(records, 'figure15', 'size')


def show_weak(records):
    parts = []
    for name, rows in rows_by_machine(records, 'weak'):
        for what in WHAT:
            lines = []
            for degree, refine in sorted({(r['degree'], r['refine']) for r in rows}):
                found = pick(rows, figure=what, degree=degree, refine=refine)
                lines.append(('Q%d, %s each' % (degree, unknowns(found[0]['dofs'] / found[0]['ranks'])),
                              [(r['ranks'], 1e3 * r['seconds'] / (r['iterations'] or 1)) for r in found], lambda first, n: first[1]))
            parts += against_ranks('%s, weak' % what + (', per iteration' if what == 'FGMRES' else ''), name, lines)
    return parts + missing(records, 'figure17', 'weak')


def show_size(records):
    parts = []
    for name, rows in rows_by_machine(records, 'size'):
        reached = []
        for what in ('A x', 'sweep', 'refinement'):
            every = sorted({r['ranks'] for r in rows})
            series = [('on %d' % n, [(r['dofs'], r['gdofs']) for r in pick(rows, figure=what, ranks=n)]) for n in every]
            parts.append(figure(chart('%s, Q4, %s' % (what, name), 'unknowns', 'GDoF/s', series, (True, True))))
            points = series[-1][1]
            best = max(rate for _, rate in points)
            reached.append('%s of %.3g GDoF/s from %s' % (what, best, unknowns(min(dofs for dofs, rate in points if rate >= 0.9 * best))))
        rates = {r['dofs']: r['gdofs'] for r in pick(rows, figure='A x', ranks=every[-1])}
        near = min([dofs for dofs in rates if dofs >= 4e6] or [max(rates)])
        parts.append(paragraph('On %d (%s) it reaches nine tenths of its best, %s unknowns; with %s A x has %.0f %% of its best.' % (
            every[-1], words(name), ', '.join(reached), unknowns(near), 100 * rates[near] / max(rates.values()))))
    return parts + missing(records, 'figure16', 'size')


ITEMS = [
    dict(name='figure14', runs=part('weak'), kinds=KINDS, show=show_exchange),
    dict(name='figure15', runs=part('size'), kinds=KINDS, show=show_strong),
    dict(name='figure16', runs=part('size'), kinds=KINDS, show=show_size),
    dict(name='figure17', runs=part('weak'), kinds=KINDS, show=show_weak),
]
