#!/usr/bin/env python3
"""Draws what `make bench-gpu` measured: unknowns a second over the degree, kernels and cycle on the left, solves on the right.

  plot.py FILE.json OUT.png

Solid: measured. Dashed, in the same colour: the roof, which is what the speed of a copy, measured in the same run, makes of the least
traffic of the figure (of a solve: of as many refinement steps as it took iterations). Solves that missed 1e-8 are left out.
Needs matplotlib (apt-get install python3-matplotlib, or pip install matplotlib).
"""
import argparse
import json
import sys

# figure, precision
KERNELS = [
    ("A x", "double"), ("sweep, full exact", "single"), ("sweep, full exact", "double"), ("V-cycle", "single"), ("V-cycle", "double"),
]
# solver, precision of the cycle, right-hand side, does it get a roof
SOLVES = [
    ("nested iteration, refinement", "single", "f = 1", False), ("refinement", "single", "f = 1", True),
    ("refinement", "single", "random b", False), ("refinement", "double", "random b", True), ("FGMRES", "single", "random b", False),
    ("GMRES", "double", "random b", False),
]


def select(rows, figure, precision, rhs=None):
    """The rows of one curve, by degree."""
    found = [r for r in rows if r["figure"] == figure and r["precision"] == precision and r.get("rhs") == rhs and r.get("reached", True)]
    return sorted(found, key=lambda r: r["degree"])


def draw(axis, rows, label, roof):
    if not rows:
        return
    degrees = [r["degree"] for r in rows]
    line, = axis.plot(degrees, [r["gdofs"] for r in rows], marker="o", label=label)
    if roof:
        axis.plot(degrees, [r["roof_gdofs"] for r in rows], linestyle="--", color=line.get_color(), linewidth=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.json", help="the report of bench_gpu, -report FILE.json")
    parser.add_argument("out", metavar="OUT.png", help="the picture: .png, .pdf or .svg")
    arguments = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot.py needs matplotlib (apt-get install python3-matplotlib, or pip install matplotlib)")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with open(arguments.file) as file:
        report = json.load(file)
    rows = report["rows"]
    if not rows:
        sys.exit("%s holds no figures" % arguments.file)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 6))
    for name, precision in KERNELS:
        draw(left, select(rows, name, precision), "%s, %s" % (name, precision), True)
    for name, precision, rhs, roof in SOLVES:
        draw(right, select(rows, name, precision, rhs), "%s, %s cycle, %s" % (name, precision, rhs), roof)
    left.set_title("kernels and cycle")
    right.set_title("solves to a true relative residual of 1e-8")
    for axis in (left, right):
        axis.set(xlabel="degree", ylabel="GDoF/s", yscale="log", xticks=sorted({r["degree"] for r in rows}))
        axis.grid(which="both", alpha=0.3)
        if axis.lines:
            axis.legend(fontsize="small")
    varying = ", varying coefficient" if report.get("varying") else ""
    figure.suptitle("%s, %dD%s, copy %.2f TB/s; dashed: the roof that this copy sets"
                    % (report["device"], report.get("dim", 3), varying, report["copy_bytes_per_second"] / 1e12))
    figure.tight_layout()
    figure.savefig(arguments.out, dpi=150)
    print(arguments.out)


if __name__ == "__main__":
    main()
