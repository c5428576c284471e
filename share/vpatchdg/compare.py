#!/usr/bin/env python3
"""Runs the example `poisson` over options files, prints one table, and draws residuals against iterations and seconds.

  compare.py --ranks 2 fgmres.opts assembled_gamg.opts -dm_vpatchdg_degree 4 -dm_refine 3

Without files it takes all that came with vpatchdg; a name is also looked for among these. PETSc's options, the mesh for instance, go to every run.
Every one solves twice, and the second solve is timed; the time to set up is apart. CPU seconds are those of all ranks, and so is the peak of
memory. Plots need matplotlib; the table does not.
"""
import argparse
import glob
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = [
    ("iterations", "%d"), ("nu", "%.2f"), ("relative_residual", "%.1e"), ("seconds_setup", "%.3f"), ("seconds_solve", "%.3f"),
    ("cpu_setup", "%.2f"), ("cpu_solve", "%.2f"), ("mdofs_per_second", "%.3f"), ("bytes_per_dof", "%.0f"), ("peak_mb", "%.0f"),
    ("reason", "%s"),
]
GRAY = "#808080"  # is read on a dark and on a light page
COLORS = ["#e4572e", "#2e86ab", "#3fa34d", "#b5651d", "#9b5de5", "#c49a00", "#d6568c", "#00a6a6", "#7f8c8d", "#5c7cfa"]
MISSING = r"Unable to find requested PC type (\S+)|Could not locate[^\n]* solver(?: type)? (\S+)[^\n]*for factorization"


class Failure(Exception):
    """a run that gave no figures; output: what it printed last"""

    def __init__(self, reason, output=""):
        super().__init__(reason)
        self.output = output


def find_poisson():
    """the installed one, or the one that was built beside this file"""
    build = os.environ.get("BUILD", "build")
    places = [os.path.join(HERE, "..", "..", "bin", "vpatchdg-poisson"), os.path.join(HERE, "..", "..", build, "bin", "poisson")]
    return next((os.path.normpath(place) for place in places if os.access(place, os.X_OK)), None)


def environment():
    """what the makefile also sets: Open MPI as root and on more ranks than cores"""
    with open(os.path.join(HERE, "mpi.env")) as file:
        return {**dict(line.strip().split("=", 1) for line in file if "=" in line), **os.environ}


def usage(parent, name):
    """CPU seconds and the largest numbers of bytes of all processes of this name below `parent`, where there is a /proc"""
    parents, cpu, peak = {}, 0, 0
    for entry in glob.glob("/proc/[0-9]*"):
        try:
            with open(entry + "/stat") as file:
                process, fields = file.read().rsplit(")", 1)
            number, own = process.split(" (", 1)
            fields = fields.split()
            parents[int(number)] = int(fields[1]), own == name[:15], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass  # it has ended
    for number, (above, named, seconds) in parents.items():
        while above != parent and above in parents:
            above = parents[above][0]
        if above != parent or not named:
            continue
        cpu += seconds
        try:
            with open("/proc/%d/status" % number) as file:
                peak += sum(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        except OSError:
            pass
    return cpu, peak


def watch(run, name, limit, most):
    """Waits for a run, and ends it after `limit` seconds or `most` CPU seconds. Its CPU seconds and bytes"""
    end, cpu, peak = time.time() + limit, 0, 0
    while time.time() < end and cpu < most:
        try:
            run.wait(0.2)
            return cpu, peak
        except subprocess.TimeoutExpired:
            now, bytes_now = usage(run.pid, name)
            cpu, peak = max(cpu, now), max(peak, bytes_now)
    run.terminate()
    try:
        run.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
    run.returncode = None
    return cpu, peak


def run(file, arguments):
    """One solve: its report."""
    command = arguments.mpiexec + ["-n", str(arguments.ranks), arguments.poisson, "-options_file", file, "-solves", str(arguments.solves)]
    command += arguments.petsc
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        with open(os.path.join(folder, "output"), "w+") as output:
            process = subprocess.Popen(command + ["-report", report], stdout=output, stderr=subprocess.STDOUT, env=environment())
            cpu, peak = watch(process, os.path.basename(arguments.poisson), arguments.timeout, arguments.cpu)
            output.seek(0)
            printed = output.read()
        if os.path.exists(report) and os.path.getsize(report):  # it is empty where the run ended before
            with open(report) as handle:
                return {**json.load(handle), "peak_mb": peak / 1e6}
    if process.returncode is None:
        limit = "%.0f CPU seconds" % cpu if cpu >= arguments.cpu else "%d seconds" % arguments.timeout
        raise Failure("more than " + limit + (", %.0f MB" % (peak / 1e6) if peak else ""))
    missing = re.search(MISSING, printed)
    if missing:
        raise Failure("this PETSc has no %s" % (missing.group(1) or missing.group(2)))
    error = re.search(r"PETSC ERROR: (.*)\n.*PETSC ERROR: See https", printed)
    raise Failure(error.group(1) if error else "failed with status %d" % process.returncode, printed or "nothing was printed")


def table(results):
    rows = [["options"] + [name.replace("_", " ") for name, _ in COLUMNS]]
    for name, result in results:
        if isinstance(result, Failure):
            rows.append([name, str(result)])
        else:
            rows.append([name] + [form % result[key] if result[key] is not None else "-" for key, form in COLUMNS])
    width = [max(len(row[i]) for row in rows if len(row) > 2) for i in range(len(rows[0]))]
    width[0] = max(len(row[0]) for row in rows)
    for row in rows:
        print(row[0].ljust(width[0]), *(entry.rjust(width[i + 1] if len(row) > 2 else 0) for i, entry in enumerate(row[1:])), sep="  ")
    for name, result in results:
        if isinstance(result, Failure) and result.output:
            lines = [line[:200] for line in result.output.rstrip().split("\n") if "Configure options" not in line]
            print("\n%s: the last lines of its output\n  %s" % (name, "\n  ".join(lines[-15:])))


def curve(result):
    """iterations, seconds and residuals: the KSP's, at last the true one"""
    last = max(1, result["iterations"])
    residuals = (result["history"] or [1, None])[:-1] + [result["relative_residual"]]
    steps = [last * i / max(1, len(residuals) - 1) for i in range(len(residuals))]
    return steps, [result["seconds_setup"] + result["seconds_solve"] * i / last for i in steps], residuals


def draw(results, file, panels):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.fonttype": "none", "text.color": GRAY, "axes.labelcolor": GRAY, "axes.edgecolor": GRAY, "xtick.color": GRAY,
                            "ytick.color": GRAY, "grid.color": GRAY, "grid.alpha": 0.3})
    drawn = [(name, curve(result)) for name, result in results if not isinstance(result, Failure) and result["relative_residual"]]
    figure, axes = pyplot.subplots(1, panels, figsize=(4.5 * panels + 2, 3.8), sharey=True, squeeze=False)
    for i, (name, (steps, seconds, residuals)) in enumerate(drawn):
        style = {"color": COLORS[i % len(COLORS)], "marker": "os^v"[i // len(COLORS) % 4], "markersize": 4, "linewidth": 1.3, "label": name}
        axes[0][-1].loglog(seconds, residuals, **style)
        if panels > 1:
            axes[0][0].semilogy(steps, residuals, **style)
    axes[0][-1].set(xlabel="seconds, set-up included")
    axes[0][0].set(ylabel="relative residual")
    if panels > 1:
        axes[0][0].set(xlabel="iterations", xscale="symlog")
    for axis in axes[0]:
        axis.grid(True)
        axis.set_facecolor("none")
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small", frameon=False)
    figure.savefig(file, transparent=True, bbox_inches="tight")
    print("\n" + file)


def sort(words):
    """Our own words and PETSc's: an option with one dash, and what follows it up to our next option or an options file, is PETSc's."""
    own, petsc, target = [], [], None
    for i, word in enumerate(words):
        if word == "--":
            return own, petsc + words[i + 1:]
        if word.startswith("--") or word == "-h":
            target = own
        elif re.match(r"-[A-Za-z]", word):
            target = petsc
        elif word.endswith(".opts"):
            own.append(word)
            continue
        (own if target is None else target).append(word)
    return own, petsc


def read():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="%(prog)s [options] [file.opts ...] [PETSc's options]")
    parser.add_argument("files", nargs="*", help="options files")
    parser.add_argument("--poisson", default=find_poisson(), help="the program (default: the one that came with this script)")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--solves", type=int, default=2, help="how often each solves; the last is timed (default: 2)")
    parser.add_argument("--mpiexec", default=os.environ.get("MPIEXEC") or "mpiexec")
    parser.add_argument("--timeout", type=int, default=600, help="seconds a run may take (default: 600)")
    parser.add_argument("--cpu", type=float, default=float("inf"), help="CPU seconds of all ranks that a run may take (default: any number)")
    parser.add_argument("--plot", metavar="FILE", help="draw residuals against iterations and seconds into a .png, .pdf or .svg")
    parser.add_argument("--picture", metavar="FILE", help="draw residuals against seconds alone")
    own, petsc = sort(sys.argv[1:])
    arguments = parser.parse_args(own)
    arguments.petsc = petsc
    arguments.mpiexec = shlex.split(arguments.mpiexec)
    return arguments


def find_files(names):
    folder = os.path.join(HERE, "options")
    names = [name if name.endswith(".opts") or os.path.exists(name) else name + ".opts" for name in names]
    return [name if os.path.exists(name) else os.path.join(folder, name) for name in names] or sorted(glob.glob(os.path.join(folder, "*.opts")))


def check(arguments, files):
    """what is missing, before anything runs"""
    if not arguments.mpiexec or not shutil.which(arguments.mpiexec[0]):
        sys.exit("compare.py: there is no %s: MPIEXEC= or --mpiexec names the program that starts MPI programs" % " ".join(arguments.mpiexec))
    if not arguments.poisson or not shutil.which(arguments.poisson):
        sys.exit("compare.py: there is no program %s: build it (make), or name it by --poisson" % (arguments.poisson or "poisson"))
    if (arguments.plot or arguments.picture) and not importlib.util.find_spec("matplotlib"):
        sys.exit("compare.py: plots need matplotlib (apt-get install python3-matplotlib, or pip install matplotlib)")
    for file in files:
        if not os.path.exists(file):
            sys.exit("compare.py: there is no options file %s; these are there: %s" % (file, " ".join(map(os.path.basename, find_files([])))))


def main():
    arguments = read()
    files = find_files(arguments.files)
    check(arguments, files)
    results = []
    for i, file in enumerate(files):
        name = os.path.splitext(os.path.basename(file))[0]
        if sys.stderr.isatty():
            print("\r%s\r%d of %d: %s" % (" " * 60, i + 1, len(files), name), end="", file=sys.stderr, flush=True)
        try:
            results.append((name, run(file, arguments)))
        except Failure as failure:
            results.append((name, failure))
    if sys.stderr.isatty():
        print("\r%s\r" % (" " * 60), end="", file=sys.stderr, flush=True)
    table(results)
    if arguments.plot:
        draw(results, arguments.plot, 2)
    if arguments.picture:
        draw(results, arguments.picture, 1)
    return any(isinstance(result, Failure) and result.output for _, result in results)


if __name__ == "__main__":
    sys.exit(main())
