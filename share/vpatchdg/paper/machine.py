"""The machine: what it is, which programs and devices are here, and how a run is started."""
import datetime
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..'))
from compare import environment  # noqa: E402

# flops a second in double precision, without tensor cores, by data sheets
PEAKS = {'H200': 33.5e12, 'H100': 33.5e12, 'A100': 9.7e12, 'V100': 7.8e12}
# a rank's threads take cores that no rank has
UNBOUND = {'OMPI_MCA_hwloc_base_binding_policy': 'none', 'PRTE_MCA_hwloc_default_binding_policy': 'none'}
OPTIONS = os.path.normpath(os.path.join(HERE, '..', 'options'))


class Failure(Exception):
    """a run that did not end well; found: the report as far as it came, or nothing"""

    def __init__(self, reason, found=None):
        super().__init__(reason)
        self.found = found


def now():
    return datetime.datetime.now().isoformat(' ', 'seconds')


def output(command):
    """what a short command prints, nothing where there is no such program"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ''
    return done.stdout if done.returncode == 0 else ''


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return re.search(r'model name\s*: (.*)', file.read()).group(1)
    except (OSError, AttributeError):
        return 'unknown processor'


class Machine:
    def __init__(self, folder, mpiexec, gpu=True, ranks=None):
        self.folder, self.mpiexec = folder, shlex.split(mpiexec)
        self.cores = len(os.sched_getaffinity(0))
        self.ranks = ranks or min(self.cores, 16)  # of a run on the CPU
        self.processor = processor()
        self.gpus, self.vectors = [], []
        if gpu:
            visible = os.environ.get('CUDA_VISIBLE_DEVICES')
            chosen = [] if visible is None else ['-i', visible]
            self.gpus = output(['nvidia-smi', *chosen, '--query-gpu=name', '--format=csv,noheader']).split('\n')[:-1]
            self.vectors = self.gpus and self.find_vectors()
        if not self.vectors:
            self.gpus = []  # or none that poisson can use

    def find_vectors(self):
        """the options that put poisson's work on a GPU, the first that this build can"""
        for options in (['-dm_vec_type', 'cuda'], ['-dm_vpatchdg_backend', 'cuda']):
            try:
                self.start('poisson', ['-dm_refine', '1', *options], 1, 120)
                return options
            except Failure as failure:
                print('paper: poisson %s does not run here: %s' % (' '.join(options), failure), file=sys.stderr)
        return []

    def has(self, program):
        return os.access(os.path.join(self.folder, program), os.X_OK)

    def lacks(self, run):
        """what a run needs that is not here, or nothing"""
        for need in run.needs:
            if need == 'gpu' and not self.gpus:
                return 'a GPU'
            if need == 'ncu' and not shutil.which('ncu'):
                return 'ncu (Nsight Compute)'
        if run.gpus > max(1, len(self.gpus)):
            return '%d GPUs' % run.gpus
        if not run.script and not self.has(run.program):
            return 'the program ' + run.program
        return ''

    def describe(self):
        peaks = [peak for name, peak in PEAKS.items() if self.gpus and name in self.gpus[0]]
        return {'gpus': self.gpus, 'processor': self.processor, 'cores': self.cores, **({'peak_double': peaks[0]} if peaks else {})}

    def name(self):
        if self.gpus:
            return '%s%s' % ('%d x ' % len(self.gpus) if len(self.gpus) > 1 else '', self.gpus[0])
        return '%s, %d cores' % (self.processor, self.cores)

    def command(self, program, arguments, ranks):
        return [*self.mpiexec, '-n', str(ranks), os.path.join(self.folder, program), *arguments]

    def start(self, program, arguments, ranks, timeout):
        """runs a program that takes -report: the report"""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, 'report.json')
            command = self.command(program, [*arguments, '-report', report], ranks)
            return finish(command, report, timeout, UNBOUND if ranks < self.cores else {})

    def script(self, path, timeout):
        """runs a script that writes its report into the file that it gets, from the programs in a folder"""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, 'report.json')
            return finish([path, self.folder, report], report, timeout, UNBOUND)


def finish(command, report, timeout, more):
    """the report of a run; where it failed, what it wrote before goes with the failure"""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                                   env={**environment(), **more}, start_new_session=True)
    except OSError as error:
        raise Failure('%s: %s' % (command[0], error.strerror))
    try:
        printed, _ = process.communicate(timeout=timeout)
        failed = process.returncode and (reason(printed) or 'status %d' % process.returncode)
    except subprocess.TimeoutExpired:
        stop(process)
        failed = 'more than %d seconds' % timeout
    found = read(report)
    if failed or found is None:
        raise Failure(failed or 'no report', found)
    return found


def stop(process):
    """and all that it started"""
    for sign, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 20)):
        try:
            os.killpg(process.pid, sign)
            process.communicate(timeout=patience)
            return
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass


def read(report):
    """the report of a program; of one that ended early, the rows that it wrote, nothing where it wrote none"""
    try:
        with open(report, encoding='utf-8') as file:
            text = file.read()
    except OSError:
        return None
    for end in ('', ']}', ']'):
        try:
            found = json.loads(text + end)
        except ValueError:
            continue
        rows = found.get('rows', True) if isinstance(found, dict) else found
        return found if rows else None
    return None


def reason(printed):
    if re.search(r'out of memory|Memory requested|cudaErrorMemoryAllocation', printed, re.I):
        return 'out of memory'
    error = re.search(r'PETSC ERROR: (?!-----)(.*)\n(.*PETSC ERROR: (?!See )(.*))?', printed)
    return (error.group(3) or error.group(1)) if error else (printed.strip().split('\n') or [''])[-1][:200]
