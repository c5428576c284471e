#!/usr/bin/env bash
# What ncu counts in double precision, Q3 to Q7: bank conflicts in shared memory of the paper's kernels (tests/paper), basic and free of
# conflicts, and of the library's, and the flops that the library's really do. Needs a GPU whose counters may be read, and what
# `make bench-gpu` built.
#   conflicts.sh [PROGRAMS [REPORT]]     the folder of the programs: build/bin; a file for the figures as JSON
set -euo pipefail
bin=${1:-build/bin}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command -v ncu > /dev/null || { echo "conflicts.sh: there is no ncu (Nsight Compute, part of the CUDA toolkit) in PATH" >&2; exit 1; }

l1=l1tex__data
metrics=${l1}_pipe_lsu_wavefronts_mem_shared.sum,${l1}_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
metrics+=,${l1}_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
for op in dadd dmul dfma; do metrics+=,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum; done

# counters FILE KERNEL COMMAND...: one launch of every kernel and grid whose full name matches, as CSV. The section has the paper's metric,
# "L1 wavefronts shared excessive".
counters() {
  local file=$1 kernel=$2
  shift 2
  [ -x "$1" ] || { echo "conflicts.sh: there is no $1; make bench-gpu builds it" >&2; exit 1; }
  ncu --clock-control none --cache-control none --csv --page raw --print-units base --section SourceCounters --metrics $metrics \
    --kernel-name-base demangled --kernel-name "regex:$kernel" --filter-mode per-launch-config --launch-count 1 \
    --log-file "$tmp/$file" "$@" > "$tmp/out" 2>&1 \
    || { cat "$tmp/out" "$tmp/$file" >&2; exit 1; }
}
counters paper.csv "Paper(Apply<double|Sweep<double, .*Dirichlet)" "$bin/paper" profile
# one cycle on 32^3 cells, where 15^3 patches of a colour are away from the boundary, and the residual after it
counters library.csv 'SweepLike<double, .*NoBoundary|(Restrict|Prolong)Cells<double|ApplyTiles<' "$bin/bench_gpu" -use_gpu_aware_mpi 0 \
  -bench_degrees 3,4,5,6,7 -bench_parts options -bench_refine 5 -bench_seconds 0 -ksp_type richardson -ksp_max_it 1 \
  -pc_vpatchdg_precision double -pc_vpatchdg_levels 2

python3 - "${2:-}" "$tmp"/*.csv << 'EOS'
import csv
import json
import math
import re
import sys

# kernel's template arguments -> n = degree + 1, what
PATTERNS = [
    (r"PaperSweep<double, (?:\(int\))?(\d), (\w+), CellWise, (\w+), (?:\(bool\))?(?:0|false)>", "rebuilt, sweep, {1}, {2}"),
    (r"PaperApply<double, (?:\(int\))?(\d), (\w+), CellWise, (?:\(bool\))?(?:0|false)>", "rebuilt, A x, {1}"),
    (r"SweepLike<double, (?:\(int\))?(\d), (?:\w+::)*Replace<double, (?:\(int\))?\d, (?:\w+::)*OneCoefficient>, (?:\w+::)*NoBoundary>", "ours, sweep, full exact"),
    (r"ApplyTiles<(?:\w+::)*Tile<(?:\(int\))?(\d), TileShape<double, (?:\(int\))?3, .*?, (?:\(bool\))?(?:0|false), NoHangingTraces", "ours, A x"),
    (r"RestrictCells<double, (?:\(int\))?3, (?:\(int\))?(\d), ", "ours, restriction"),
    (r"ProlongCells<double, (?:\(int\))?3, (?:\(int\))?(\d), ", "ours, prolongation"),
]
CELLS, PATCHES = 32**3, 15**3
BANKS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum"
FLOPS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
COUNTERS = ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", BANKS % "ld", BANKS % "st", "derived__memory_l1_wavefronts_shared_excessive",
            FLOPS % "dadd", FLOPS % "dmul", FLOPS % "dfma"]


def number(text):
    return float((text or "nan").replace(",", ""))


def flops(what, n, blocks, adds, multiplies, both):
    """of a launch, an unknown: the last block of patches repeats some"""
    patches = round(PATCHES / blocks) * blocks if "sweep" in what else CELLS
    return (adds + multiplies + 2 * both) / (patches * n**3)


rows, seen = {}, set()
for name in sys.argv[2:]:
    with open(name) as file:
        for record in csv.DictReader(line for line in file if line.startswith('"')):
            for pattern, label in PATTERNS:
                match = re.search(pattern, record["Kernel Name"])
                if not match:
                    continue
                seen.add(pattern)
                key = int(match[1]) - 1, label.format(*match.groups())
                values = [number(record.get(counter)) for counter in COUNTERS]
                blocks = math.prod(map(int, re.findall(r"\d+", record.get("Grid Size") or "1")))
                rows[key] = max(rows.get(key, [0]), [blocks, *values])  # the largest of its launches
print("%-2s %-36s %12s %12s %12s %12s %8s %10s"
      % ("", "", "wavefronts", "conflicts ld", "conflicts st", "excessive", "a block", "flops/DoF"))
report = []
for degree, what in sorted(k for k in rows if 3 <= k[0] <= 7):
    blocks, waves, load, store, excessive, *operations = rows[degree, what]
    row = {"degree": degree, "kernel": what, "blocks": blocks, "wavefronts": waves, "conflicts": load + store, "excessive": excessive}
    done = flops(what, degree + 1, blocks, *operations)
    if what.startswith("ours") and math.isfinite(done):
        row["flops_per_dof"] = done
    print("Q%d %-36s %12.0f %12.0f %12.0f %12.0f %8.1f %10.1f"
          % (degree, what, waves, load, store, excessive, excessive / blocks, row.get("flops_per_dof", math.nan)))
    report.append(row)
if sys.argv[1]:
    with open(sys.argv[1], "w") as file:
        json.dump({"rows": report}, file)
unseen = [label for pattern, label in PATTERNS if pattern not in seen]
if unseen:
    sys.exit("conflicts.sh: ncu saw no kernel of these: " + "; ".join(unseen))
EOS
