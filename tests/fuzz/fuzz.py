#!/usr/bin/env python3
"""Runs random cases and looks for crashes, hangs, leaks, wrong residuals and wrong mathematics.

  make fuzz RUNS=100 SEED=7            as many cases of that seed
  make fuzz SEED=7 CASE=12             one of them again, with all it prints
  tests/fuzz/fuzz.py --program build/bin/fuzz --mpiexec mpiexec --runs 100 --seed 7      the same without make

A case is options (a mesh, an equation, a solver), options with a coefficient that jumps by up to 1e10 from cell to cell (rough), or a sequence of API calls. It follows from the seed and its number alone (draw.py), and runs in a process
of its own on 1 to 7 ranks (fuzz.c). What becomes of it:

  solved               converged, and the true residual is at most ten times what was asked for
  solved in its norm   the norm that the KSP looks at is, the true residual is not
  nothing claimed      the KSP stopped for a reason that says nothing of residuals
  not converged        the KSP says so
  calls as expected    API calls that are legal succeeded, others were refused on all ranks
  refused              an error of PETSc or vpatchdg, on all ranks
  warned               a wrong residual or solution, of which a line "vpatchdg: warning" warned

and failures:

  crash, hang, leak, abort (without a result), ranks differ (an error on some of them only), not refused (what must be), refused wrongly
  (an API call that is legal), wrong residual (converged, it is said), single residual (the same of a single-precision cycle under a KSP
  that is not flexible), wrong mathematics
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from draw import ENUMS, FLEXIBLE, Case  # noqa: E402

GOOD = ["solved", "solved in its norm", "nothing claimed", "not converged", "calls as expected", "refused", "warned"]
RESULTS = GOOD[:-1] + ["ranks differ", "not refused", "refused wrongly", "wrong residual", "wrong solution", "wrong mathematics"]
LEAK = re.compile(r"^ *\[ *\d+\]( *\d+ bytes .*)", re.M)
OURS = re.compile(r" at (\S*/)?(src/(base|communication|mesh|tables|kernels|level|smoother|coarse|cycle|petsc))/")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/fuzz")
    parser.add_argument("--mpiexec", default=os.environ.get("MPIEXEC", "mpiexec"))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="one case, with all it prints")
    parser.add_argument("--kind", choices=["options", "api", "rough"], help="only cases of this kind")
    parser.add_argument("--jobs", type=int, default=0, help="cases at a time; default: the cores")
    parser.add_argument("--limit", type=float, default=60, help="seconds a case may take; then it runs again, alone, with four times as many")
    parser.add_argument("--time", type=float, help="seconds after which no new case starts")
    parser.add_argument("--largest", type=int, default=8000, help="unknowns of a case at most, nearly")
    parser.add_argument("--options", default="", help="more options for every case, those of a GPU for instance")
    parser.add_argument("--gpu", action="store_true", help="the same as --options '-dm_vec_type cuda -use_gpu_aware_mpi 0'")
    parser.add_argument("--without", default="", help="API calls to leave out, separated by commas")
    parser.add_argument("--out", help="a file for all results, as JSON")
    return parser.parse_args()


class Runner:
    def __init__(self, args):
        self.args = args
        self.alone = threading.Lock()
        self.more = shlex.split(args.options) + (["-dm_vec_type", "cuda", "-use_gpu_aware_mpi", "0"] if args.gpu else [])
        if args.without:
            self.more += ["-fuzz_without", args.without]

    def command(self, case):
        start = shlex.split(self.args.mpiexec) + ["-n", str(case.ranks), self.args.program]
        return start + self.more + case.arguments + ["-no_signal_handler", "-malloc_dump"]

    def start(self, case, limit):
        """status (None: time limit) and output"""
        process = subprocess.Popen(self.command(case), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, env={**ROOT, **os.environ}, text=True, errors="replace")
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)  # mpiexec's process group; it ends its ranks
            try:
                output, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return None, output

    def run(self, number):
        case = Case(self.args.seed, number, self.args.largest)
        begin = time.time()
        status, output = self.start(case, self.args.limit)
        if status is None or classify(case, status, output) == "abort":  # mpiexec may lose the last lines of a run that it ends
            with self.alone:
                begin = time.time()
                status, output = self.start(case, 4 * self.args.limit)
        return {"case": number, "ranks": case.ranks, "kind": case.kind, "class": classify(case, status, output), "status": status,
                "seconds": round(time.time() - begin, 2), "command": shlex.join(self.command(case)), "output": output}


def leaks(output):
    """What was not freed. PETSc itself loses memory, and with it references to our objects, where it refuses something."""
    errors = re.findall(r"\[\d+\] error .*", output)
    if "refused at" in output or any(not OURS.search(line) for line in errors):
        return []
    return [line for line in LEAK.findall(output) if not errors or OURS.search(line)]


def classify(case, status, output):
    result = re.findall(r"fuzz: result: (%s)$" % "|".join(RESULTS), output, re.M)  # perhaps at the end of another rank's line
    result = result[-1] if result else None
    if status is None:
        return "hang"
    if re.search(r"exited on signal|Segmentation fault|corrupted", output) or status < 0:
        return "crash"
    if result is None:
        return "abort"
    if result in GOOD and leaks(output):
        return "leak"
    if case.refused and result in GOOD:
        return "refused" if result == "refused" else "not refused"
    if result == "not converged" and case.kind == "rough" and "vpatchdg: warning" not in output:
        return "not warned"
    if result in ("wrong residual", "wrong solution"):
        if "vpatchdg: warning" in output:
            return "warned"
        return "single residual" if single(case) else result
    return result if status == 0 or result not in GOOD or result == "refused" else "abort"


def single(case):
    """a single-precision cycle or smoother under a KSP that takes it for a linear map"""
    options = case.arguments
    double = any(a.endswith("_precision") and b == "double" for a, b in zip(options, options[1:]))
    smoother = any(a.endswith("pc_vpatch_precision") and b == "single" for a, b in zip(options, options[1:]))
    cycle = "vpatchdg" in " ".join(options).replace("_vpatchdg_", "") and not double
    return (cycle or smoother) and case.ksp not in FLEXIBLE


def tell(args, result):
    print("\nFAILED: %s, seed %s, case %d, %d ranks, %.1f s\n%s" % (result["class"], args.seed, result["case"], result["ranks"],
                                                                result["seconds"], result["command"]))
    lines = [line for line in result["output"].split("\n") if line.strip() and not LEAK.match(line)]
    wanted = [line for line in lines if re.match(r"fuzz: |\[\d+\] error", line)]
    for line in leaks(result["output"])[:8] + (wanted or lines)[-12:]:
        print("  | " + line[:300])
    sys.stdout.flush()


def read_enums(program):
    lines = subprocess.run([program, "-fuzz_enums"], check=True, capture_output=True, text=True, env={**ROOT, **os.environ}).stdout
    return {name: values for name, *values in map(str.split, lines.splitlines())}


def save(args, results):
    with open(args.out, "w") as file:
        json.dump({"seed": args.seed, "results": sorted(results, key=lambda r: r["case"])}, file, indent=1)


def run_all(args):
    runner = Runner(args)
    begin = time.time()
    numbers = [n for n in range(args.first, args.first + args.runs) if not args.kind or Case(args.seed, n).kind == args.kind]
    results = []

    def work(number):
        if args.time and time.time() - begin > args.time:
            return None
        return runner.run(number)

    with concurrent.futures.ThreadPoolExecutor(args.jobs or os.cpu_count()) as pool:
        for future in concurrent.futures.as_completed([pool.submit(work, n) for n in numbers]):
            result = future.result()
            if result is None:
                continue
            results.append(result)
            if args.out and len(results) % 100 == 0:
                save(args, results)
            if result["class"] not in GOOD:
                tell(args, result)
            else:
                result["output"] = "\n".join(line for line in result["output"].split("\n") if re.match(r"fuzz: |\[0\] error", line))[-2000:]
    return results


def main():
    args = arguments()
    ENUMS.update(read_enums(args.program))
    if args.only is not None:
        result = Runner(args).run(args.only)
        print(result["command"])
        print(result["output"])
        print("seed %s, case %d: %s" % (args.seed, args.only, result["class"]))
        return 0 if result["class"] in GOOD else 1
    results = run_all(args)
    if args.out:
        save(args, results)
    print()
    for name, count in sorted(collections.Counter(r["class"] for r in results).items(), key=lambda item: (item[0] not in GOOD, -item[1])):
        print("%7d  %s%s" % (count, name, "" if name in GOOD else "  FAILED"))
    failed = sum(r["class"] not in GOOD for r in results)
    print("%d passed, %d failed" % (len(results) - failed, failed))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
