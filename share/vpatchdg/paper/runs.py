"""Runs: what is started, and the records that it leaves."""
import glob
import json
import os
import re
import time

from machine import OPTIONS, Failure, now

PARTLY = {'richardson': 0.4, 'fgmres': 0.5, 'paper_clamped': 4.0, 'paper_global': 8.0}  # work a DoF, GMRES with V(1,1) being 1
START = {False: 2e5, True: 1e9}  # work that the start of a program amounts to, on the CPU and on a GPU


class Run:
    """name: what results are kept by. about: facts that the page reads with the report. ranks: processes; gpus: how many of
    them need one."""

    def __init__(self, name, program, arguments, about, work, ranks=1, gpus=0, needs=(), script=None):
        self.name, self.program, self.arguments, self.about, self.work = name, program, arguments, about, work
        self.ranks, self.gpus, self.script = ranks, gpus, script
        self.needs = (*needs, 'gpu') if gpus and 'gpu' not in needs else tuple(needs)

    def perform(self, machine, timeout):
        """the record: the report, or why there is none"""
        start = time.time()
        record = {'about': self.about, 'date': now(), 'command': self.shown()}
        try:
            if self.script:
                record['report'] = machine.script(self.script, timeout)
            else:
                record['report'] = machine.start(self.program, self.arguments, self.ranks, timeout)
        except Failure as failure:
            record['failed'] = str(failure)
            if failure.found:
                record['report'] = failure.found
        record['seconds'] = round(time.time() - start, 2)
        return record

    def shown(self):
        """the command as a reader types it"""
        if self.script:
            return os.path.basename(self.script)
        arguments = ' '.join(self.arguments).replace(OPTIONS + '/', '')
        return ('mpiexec -n %d ' % self.ranks if self.ranks > 1 else '') + '%s %s' % (self.program, arguments)


def cells(degree, refine):
    return ((degree + 1) << refine) ** 3


def solve(machine, config, degree, refine, ranks=None, boxes=1, solves=1, gpu=None):
    """poisson with an options file on boxes of 2^refine cells a side; on the machine's GPUs, one a rank, unless told otherwise"""
    gpu = bool(machine.gpus) if gpu is None else gpu
    ranks = ranks or (1 if gpu else machine.ranks)
    where = machine.vectors if gpu else []
    shape = grid(boxes)
    box = [] if boxes == 1 else ['-dm_vpatchdg_boxes', ','.join(map(str, shape)), '-dm_vpatchdg_upper', ','.join(map(str, shape))]
    more = ['-solves', str(solves)] if solves > 1 else []
    name = '%s Q%d L%d on %s' % (config, degree, refine, many(ranks, gpu))
    name += (', %d boxes' % boxes if boxes > 1 else '') + (', timed' if solves > 1 else '')
    return Run(name, 'poisson', ['-options_file', os.path.join(OPTIONS, config + '.opts'), '-dm_vpatchdg_degree', str(degree), '-dm_refine',
                                 str(refine), *box, *more, *where],
               {'kind': 'solve', 'config': config, 'refine': refine, 'boxes': boxes, 'ranks': ranks, 'gpu': gpu, 'timed': solves > 1},
               solves * boxes * cells(degree, refine) * PARTLY.get(config, 1) + START[gpu], ranks, ranks if gpu else 0)


def many(ranks, gpu):
    return '%d %s%s' % (ranks, 'GPU' if gpu else 'rank', '' if ranks == 1 else 's')


def grid(boxes):
    """as many in x, y, z: prime factors in one direction after the other"""
    shape, d, prime = [1, 1, 1], 0, 2
    while boxes > 1:
        while boxes % prime == 0:
            boxes //= prime
            shape[d] *= prime
            d = (d + 1) % 3
        prime += 1
    return shape


class Results:
    """The records of one machine in a file of a folder; and those of all files in it."""

    def __init__(self, folder, name):
        self.folder, self.file = folder, os.path.join(folder, re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') + '.json')
        before = load(self.file)
        self.runs, self.commands = before.get('runs', {}), before.get('command', '')

    def keep(self, run, record, header):
        """after every run: a command that is cut off loses no more than one. Those that wrote into the file before are also named."""
        self.runs[run.name] = record
        if header['command'] not in self.commands.split('; '):
            self.commands += '; ' * bool(self.commands) + header['command']
        header = {**header, 'command': self.commands}
        os.makedirs(self.folder, exist_ok=True)
        with open(self.file + '.part', 'w', encoding='utf-8') as file:
            lines = ['%s: %s' % (json.dumps(name), json.dumps(kept)) for name, kept in self.runs.items()]
            file.write('%s,\n"runs": {\n%s\n}}\n' % (json.dumps(header, indent=1)[:-2], ',\n'.join(lines)))
        os.replace(self.file + '.part', self.file)

    def done(self, run):
        record = self.runs.get(run.name, {})
        return 'report' in record and 'failed' not in record


def load(file):
    try:
        with open(file, encoding='utf-8') as handle:
            return json.load(handle)
    except OSError:
        return {}


class Records:
    """everything that runs wrote into folders and what is in them: records with their machine, of a name the newest"""

    def __init__(self, folders):
        self.files = sorted(file for folder in folders for file in glob.glob(os.path.join(folder, '**', '*.json'), recursive=True))
        self.headers, found = [], {}
        for file in self.files:
            content = load(file)
            self.headers.append({key: content[key] for key in ('machine', 'date', 'command', 'version')})
            for name, record in content['runs'].items():
                key = name, content['machine']['name']
                if key not in found or found[key]['date'] <= record['date']:
                    found[key] = {**record, 'name': name, 'machine': content['machine']}
        self.all = sorted(found.values(), key=lambda record: record['date'])

    def of(self, kind, **facts):
        """those of a kind with these facts, older ones first"""
        return [r for r in self.all if r['about']['kind'] == kind and all(r['about'].get(key) == value for key, value in facts.items())]
