#!/usr/bin/env python3
"""Runs the example `poisson` over options files, prints one table, and draws residuals against iterations and seconds.

  compare.py --poisson build/bin/poisson --ranks 2 options/*.opts -- -dm_vpatchdg_degree 4 -dm_refine 3

What follows -- goes to every run (the mesh, say). The plot, --plot FILE, needs matplotlib; the table does not.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = [
    ("iterations", "%d"), ("nu", "%.2f"), ("relative_residual", "%.1e"), ("seconds_setup", "%.3f"), ("seconds_solve", "%.3f"),
    ("mdofs_per_second", "%.3f"), ("bytes_per_dof", "%.0f"), ("reason", "%s"),
]


def run(options, arguments, history):
    """One solve: its report, and the true relative residuals of a second, monitored one (or an error message, None)."""
    launch = shlex.split(arguments.mpiexec) + ["-n", str(arguments.ranks), arguments.poisson, "-options_file", options]
    launch += arguments.options

    def start(*more):
        return subprocess.run(launch + list(more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=arguments.timeout)

    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        try:
            done = start("-report", report)
            if not os.path.exists(report):
                error = re.search(r"PETSC ERROR: (?!-)(.*)", done.stdout)
                return (error.group(1) if error else "failed with status %d" % done.returncode), None
            with open(report) as file:
                result = json.load(file)
            monitored = start("-ksp_monitor_true_residual").stdout if history else ""
        except subprocess.TimeoutExpired:
            return "more than %d seconds" % arguments.timeout, None
    return result, [float(r) for r in re.findall(r"\|\|r\(i\)\|\|/\|\|b\|\| (\S+)", monitored)]


def table(results):
    rows = [["options"] + [name.replace("_", " ") for name, _ in COLUMNS]]
    for name, result, _ in results:
        if isinstance(result, str):
            rows.append([name, result])
        else:
            rows.append([name] + [form % result[key] if result[key] is not None else "-" for key, form in COLUMNS])
    width = [max(len(row[i]) for row in rows if len(row) > 2) for i in range(len(rows[0]))]
    width[0] = max(len(row[0]) for row in rows)
    for row in rows:
        print(row[0].ljust(width[0]), *(entry.rjust(width[i + 1] if len(row) > 2 else 0) for i, entry in enumerate(row[1:])), sep="  ")


def plot(results, file):
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plot needs matplotlib (apt-get install python3-matplotlib, or pip install matplotlib)")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5), sharey=True)
    for name, result, history in results:
        if isinstance(result, str) or not history:
            continue
        steps = range(len(history))
        second = result["seconds_solve"] / max(1, len(history) - 1)
        axes[0].semilogy(steps, history, marker=".", label=name)
        axes[1].loglog([result["seconds_setup"] + second * i for i in steps], history, marker=".", label=name)
    axes[0].set(xlabel="iterations", ylabel="true relative residual", xscale="symlog")
    axes[1].set(xlabel="seconds, set-up included")
    axes[1].legend(fontsize="small")
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file)
    print("\n" + file)


def main():
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="options files (default: all that came with vpatchdg)")
    parser.add_argument("--poisson", default="build/bin/poisson", help="the program (default: build/bin/poisson)")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default=os.environ.get("MPIEXEC") or "mpiexec")
    parser.add_argument("--timeout", type=int, default=600, help="seconds a run may take (default: 600)")
    parser.add_argument("--plot", metavar="FILE", help="draw residuals into a .png, .pdf or .svg")
    arguments = parser.parse_args(words[:cut])
    arguments.options = words[cut + 1:]
    folder = os.path.join(HERE, "options")
    files = arguments.files or [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".opts")]
    results = []
    for file in files:
        result, history = run(file, arguments, bool(arguments.plot))
        results.append((os.path.basename(file)[:-5] if file.endswith(".opts") else file, result, history))
    table(results)
    if arguments.plot:
        plot(results, arguments.plot)
    return any(isinstance(result, str) for _, result, _ in results)


if __name__ == "__main__":
    sys.exit(main())
