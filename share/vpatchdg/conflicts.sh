#!/usr/bin/env bash
# Shared-memory bank conflicts by ncu's counters, Q3 to Q7: the paper's kernels (tests/paper), read in natural order and free of conflicts,
# and the library's sweep of like patches. Needs a GPU whose counters may be read, and what `make bench-gpu` built.
#   conflicts.sh [PROGRAMS [REPORT]]     the folder of the programs: build/bin; a file for the figures as JSON
set -euo pipefail
bin=${1:-build/bin}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command -v ncu > /dev/null || { echo "conflicts.sh: there is no ncu (Nsight Compute, part of the CUDA toolkit) in PATH" >&2; exit 1; }

l1=l1tex__data
metrics=${l1}_pipe_lsu_wavefronts_mem_shared.sum,${l1}_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
metrics+=,${l1}_bank_conflicts_pipe_lsu_mem_shared_op_st.sum,smsp__inst_executed.sum

# counters FILE KERNEL COMMAND...: one launch of every kernel and grid whose full name matches, as CSV
counters() {
  local file=$1 kernel=$2
  shift 2
  [ -x "$1" ] || { echo "conflicts.sh: there is no $1; make bench-gpu builds it" >&2; exit 1; }
  ncu --clock-control none --csv --page raw --metrics $metrics --kernel-name-base demangled --kernel-name "regex:$kernel" \
    --filter-mode per-launch-config --launch-count 1 --log-file "$tmp/$file" "$@" > "$tmp/out" 2>&1 \
    || { cat "$tmp/out" "$tmp/$file" >&2; exit 1; }
}
counters paper.csv "Paper(Sweep|Apply)" "$bin/paper" profile
counters library.csv 'ReplacePatches.*NoEdges' "$bin/bench_gpu" -use_gpu_aware_mpi 0 -bench_degrees 3,4,5,6,7 \
  -bench_parts kernels -bench_shift -3 -bench_seconds 0

python3 - "${2:-}" "$tmp"/*.csv << 'EOS'
import csv
import json
import math
import re
import sys

# kernel's template arguments -> degree, precision, what
PATTERNS = [
    (r"PaperSweep<(float|double), (?:\(int\))?(\d), (\w+), CellWise, (\w+), (?:\(bool\))?(?:0|false)>", "paper, sweep, {2}, {3}"),
    (r"PaperApply<(float|double), (?:\(int\))?(\d), (\w+), CellWise, (?:\(bool\))?(?:0|false)>", "paper, A x, {2}"),
    (r"ReplacePatches<(float|double), (?:\(int\))?(\d), NoEdges>", "vpatchdg, replacement form"),
]
COUNTERS = ["wavefronts_mem_shared.sum", "shared_op_ld.sum", "shared_op_st.sum", "inst_executed.sum"]

rows = {}
for name in sys.argv[2:]:
    with open(name) as file:
        for record in csv.DictReader(line for line in file if line.startswith('"')):
            for pattern, label in PATTERNS:
                match = re.search(pattern, record["Kernel Name"])
                if not match:
                    continue
                key = int(match[2]) - 1, match[1], label.format(*match.groups())
                values = [float(record[next(k for k in record if c in k)].replace(",", "")) for c in COUNTERS]
                values.append(math.prod(map(int, re.findall(r"\d+", record.get("Grid Size") or "1"))))
                rows[key] = max(rows.get(key, [0]), values)  # the largest of its launches
print("%-2s %-6s %-36s %12s %12s %12s %8s %14s %8s"
      % ("", "", "", "wavefronts", "conflicts ld", "conflicts st", "part", "instructions", "a block"))
report = []
for key in sorted((k for k in rows if 3 <= k[0] <= 7), key=lambda k: (k[0], k[1] == "double", k[2])):
    waves, load, store, instructions, blocks = rows[key]
    print("Q%d %-6s %-36s %12.0f %12.0f %12.0f %7.1f%% %14.0f %8.1f"
          % (*key, waves, load, store, 100 * (load + store) / waves, instructions, (load + store) / blocks))
    report.append({"degree": key[0], "precision": key[1].replace("float", "single"), "kernel": key[2], "wavefronts": waves,
                   "conflicts": load + store, "instructions": instructions, "blocks": blocks})
if sys.argv[1]:
    with open(sys.argv[1], "w") as file:
        json.dump({"rows": report}, file)
EOS
