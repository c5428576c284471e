#!/usr/bin/env -S python3 -B
"""The paper's tables and figures beside ours: runs what this machine can, keeps the results as JSON, and draws one page from all of them.

  paper --bin build/bin --only table1,figure5 --most 2e6 --resume

Results of other machines are drawn with these where their files lie in the folder of --results. Python's standard library is enough."""
import argparse
import os
import re
import sys
import time

import items
import page
from machine import HERE, Machine, now
from runs import Records, Results

ROOT = os.path.normpath(os.path.join(HERE, '..', '..', '..'))


def read():
    build = os.path.join(ROOT, os.environ.get('BUILD') or 'build')
    parser = argparse.ArgumentParser(prog='paper', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ' '.join(item.name for item in items.every())
    parser.add_argument('--only', metavar='ITEMS', default='', help='these alone, separated by commas: ' + names)
    parser.add_argument('--most', metavar='DOFS', type=float, help='unknowns of a mesh (2e7; on GPUs 1.1e9 each)')
    parser.add_argument('--resume', action='store_true', help='leave out what this machine has results of')
    parser.add_argument('--minutes', type=float, default=1e9, help='begin no run after so many')
    parser.add_argument('--timeout', type=float, default=900, help='seconds a run may take (900)')
    parser.add_argument('--bin', default=os.path.join(build, 'bin'), help='the folder of the programs')
    parser.add_argument('--results', default=os.path.join(build, 'paper'), help='the folder of the results')
    parser.add_argument('--name', help='of this machine\'s file of results')
    parser.add_argument('--page', help='the page (index.html among the results)')
    parser.add_argument('--body', action='store_true', help='what stands in the page alone, for the manual')
    parser.add_argument('--draw', action='store_true', help='run nothing, draw the page')
    parser.add_argument('--cpu', action='store_true', help='leave GPUs alone')
    parser.add_argument('--ranks', type=int, help='of runs on the CPU (a rank a core, 16 at most)')
    parser.add_argument('--mpiexec', default=os.environ.get('MPIEXEC') or 'mpiexec')
    return parser.parse_args()


def choose(names):
    every = items.every()
    wanted = names.split(',') if names else [item.name for item in every]
    unknown = [name for name in wanted if name not in [item.name for item in every]]
    if unknown:
        sys.exit('paper: there is no item %s; these are there: %s' % (', '.join(unknown), ' '.join(item.name for item in every)))
    return [item for item in every if item.name in wanted]


def typed(words):
    """the command as a reader repeats it: without this machine's places"""
    kept, words = ['paper'], iter(words)
    for word in words:
        if word in ('--bin', '--results', '--page', '--name', '--mpiexec'):
            next(words)
        else:
            kept.append(word)
    return ' '.join(kept)


def clock(seconds):
    return '%d:%02d' % divmod(round(seconds), 60)


def plan(chosen, machine, most):
    """the runs of all items, each once, and what is left out"""
    runs, left = {}, {}
    for item in chosen:
        for run in item.runs(machine, most):
            lacks = machine.lacks(run)
            if lacks:
                left.setdefault(item.name, lacks)
            else:
                runs.setdefault(run.name, run)
    return list(runs.values()), left


def perform(runs, machine, results, arguments):
    """how many runs failed"""
    header = {'machine': {**machine.describe(), 'name': arguments.name or machine.name()}, 'date': now(), 'version': version(),
              'command': typed(sys.argv[1:])}
    start, done, failed, total = time.time(), 0.0, 0, sum(run.work for run in runs)
    for i, run in enumerate(runs):
        passed = time.time() - start
        if passed > 60 * arguments.minutes:
            print('paper: %d runs are left for another time: --resume' % (len(runs) - i), flush=True)
            break
        left = clock(passed * (total - done) / done) if done else '?'
        print('%3d of %d, %s, %s left: %s' % (i + 1, len(runs), clock(passed), left, run.name), flush=True)
        record = run.perform(machine, arguments.timeout)
        if 'failed' in record:
            print('    ' + record['failed'], flush=True)
            failed += 1
        results.keep(run, record, header)
        done += run.work
    return failed


def version():
    with open(os.path.join(ROOT, 'include', 'vpatchdg.h'), encoding='utf-8') as file:
        return re.search(r'VPATCHDG_VERSION "(.*)"', file.read()).group(1)


def draw(arguments, chosen):
    records = Records([arguments.results])
    content = page.body(chosen, records, [page.paragraph(page.words(text)) for _, text in items.texts()['introduction'].items()])
    path = arguments.page or os.path.join(arguments.results, 'index.html')
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(content if arguments.body else page.document(content))
    print(path)


def main():
    arguments = read()
    chosen, failed = choose(arguments.only), 0
    if not arguments.draw:
        machine = Machine(arguments.bin, arguments.mpiexec, not arguments.cpu, arguments.ranks)
        runs, left = plan(chosen, machine, arguments.most or (1.1e9 * len(machine.gpus) if machine.gpus else 2e7))
        results = Results(arguments.results, arguments.name or machine.name())
        runs = [run for run in runs if not (arguments.resume and results.done(run))]
        print('%s: %d run%s' % (machine.name(), len(runs), '' if len(runs) == 1 else 's'), flush=True)
        failed = perform(runs, machine, results, arguments)
        for name, lacks in left.items():
            print('%s is left out or not complete: there is no %s here' % (name, re.sub(r'^(a|the) ', '', lacks)))
    draw(arguments, chosen)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
