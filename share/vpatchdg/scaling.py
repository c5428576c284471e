#!/usr/bin/env python3
"""Compares the reports of bench_gpus on several numbers of GPUs: scaling.py RUN1.json RUN2.json ... [PLOT.png]

Weak: seconds of the smallest run over seconds (the work of a GPU stays). Strong: how many times faster than the smallest run."""
import json
import sys

runs, plot = [], None
for name in sys.argv[1:]:
    if name.endswith(".json"):
        with open(name) as file:
            runs += json.load(file)
    else:
        plot = name
if not runs:
    sys.exit(__doc__)

series = {}
for r in runs:
    series.setdefault((r["kind"], r["degree"], r["refine"], r["figure"]), []).append(r)
print("%-6s %-3s %-11s %4s %9s %9s %8s %4s %9s %9s" % ("", "", "", "GPUs", "MDoF", "ms", "GDoF/s", "its", "scaling", "MB sent"))
curves = {}
for (kind, degree, refine, figure), rows in sorted(series.items()):
    rows.sort(key=lambda r: r["ranks"])
    for r in rows:
        gain = rows[0]["seconds"] / r["seconds"]
        print("%-6s Q%-2d %-11s %4d %9.1f %9.3f %8.3f %4d %9.2f %9.3f"
              % (kind, degree, figure, r["ranks"], r["dofs"] / 1e6, 1e3 * r["seconds"], r["gdofs"], r["iterations"], gain, r["bytes"] / 1e6))
        curves.setdefault((kind, degree, refine, figure), []).append((r["ranks"], gain))

if plot:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    for axis, kind in zip(axes, ("weak", "strong")):
        for (k, degree, refine, name), points in curves.items():
            if k == kind and name in ("A x", "refinement"):
                axis.plot(*zip(*points), "o-", label="%s Q%d, refined %d times" % (name, degree, refine))
        axis.set(title=kind + " scaling", xlabel="GPUs", ylabel="efficiency" if kind == "weak" else "times faster")
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(plot)
