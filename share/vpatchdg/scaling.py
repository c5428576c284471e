#!/usr/bin/env python3
"""Compares the reports of bench_gpus on several numbers of GPUs: scaling.py RUN1.json RUN2.json ... [PLOT.svg]

gain: how many times as many unknowns a second as on the fewest GPUs; efficiency: the gain over that of the number of GPUs, which is t1 / tn where
the work of a GPU stays (weak) and t1 / (n tn) where all work does (strong). exposed: ms of messages that work does not hide. Below:
what an exchange after every colour takes instead of one a sweep."""
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
for rows in series.values():
    rows.sort(key=lambda r: r["ranks"])
    for r in rows:
        r["gain"] = r["gdofs"] / rows[0]["gdofs"]
        r["efficiency"] = r["gain"] * rows[0]["ranks"] / r["ranks"]

print("%-6s %-3s %-16s %4s %9s %9s %8s %4s %6s %10s %9s %9s"
      % ("", "", "", "GPUs", "MDoF", "ms", "GDoF/s", "its", "gain", "efficiency", "MB sent", "exposed"))
for (kind, degree, refine, figure), rows in sorted(series.items()):
    for r in rows:
        exposed = "" if r["exposed"] is None else "%.3f" % (1e3 * r["exposed"])
        print("%-6s Q%-2d %-16s %4d %9.1f %9.3f %8.3f %4d %6.2f %10.2f %9.3f %9s"
              % (kind, degree, figure, r["ranks"], r["dofs"] / 1e6, 1e3 * r["seconds"], r["gdofs"], r["iterations"], r["gain"], r["efficiency"],
                 r["bytes"] / 1e6, exposed))

colors = [(key, r, s) for key, rows in sorted(series.items()) if key[3].endswith(", by colors")
          for r in rows for s in series[key[:3] + (key[3].split(",")[0],)] if s["ranks"] == r["ranks"]]
if colors:
    print("\nAn exchange a colour over one a sweep: %13s %9s %9s" % ("time", "messages", "bytes"))
for (kind, degree, refine, figure), r, s in colors:
    print("%-6s Q%-2d %-6s %4d GPUs %8.1f MDoF %9.2f %9.2f %9.2f"
          % (kind, degree, s["figure"], r["ranks"], r["dofs"] / 1e6, *(r[x] / s[x] if s[x] else 0 for x in ("seconds", "messages", "bytes"))))

if plot:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    canvas, axes = plt.subplots(1, 3, figsize=(16, 4.5))
    titles = {"weak": "weak scaling", "strong": "strong scaling", "exposed": "messages that work does not hide"}
    for axis, (panel, title) in zip(axes, titles.items()):
        for (kind, degree, refine, figure), rows in sorted(series.items()):
            if panel == "exposed":
                points = [(r["ranks"], 100 * r["exposed"] / r["seconds"]) for r in rows if r["exposed"] is not None and figure in ("sweep", "cycle")]
            else:
                points = [(r["ranks"], r["efficiency"]) for r in rows if kind == panel and figure in ("A x", "refinement")]
            if points:
                axis.plot(*zip(*points), "o-" if kind == "weak" else "s--",
                          label="%s Q%d, %.0f MDoF%s" % (figure, degree, rows[0]["dofs"] / rows[0]["ranks"] / 1e6 if kind == "weak"
                                                       else rows[0]["dofs"] / 1e6, " a GPU" if kind == "weak" else ""))
        axis.set(title=title, xlabel="GPUs", ylabel="% of the time" if panel == "exposed" else "efficiency")
        if axis.lines:
            axis.legend(fontsize=6)
    canvas.tight_layout()
    canvas.savefig(plot)
