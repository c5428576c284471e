#!/usr/bin/env python3
"""Finds the shapes of the CUDA kernels: the lines of cuda/shapes.def, whose numbers cuda/shapes.cuh explains.

  shapes.py check [DEGREE ...]     compares the layouts in shared memory of the lines with the best ones that a search finds
  shapes.py add DEGREE ...         writes lines for degrees without: layouts by search, all else as at the degree below
  shapes.py measure [DEGREE ...]   on a GPU: compiles and times other shapes, and writes those that are faster
      --kernels Patch,Tile         only these
      --file FILE                  instead of cuda/shapes.def
      --build FOLDER               where shapes are compiled: build-shapes
      --dry-run                    prints what would be compiled and timed, and nothing else

The search (layouts.py) needs no GPU. What a GPU is needed for is tried one number after the other, with the best layout for each value."""
import argparse
import json
import os
import re
import subprocess
import sys

from layouts import REAL, SHARED, AnyPatch, GroupPatch, MetricCell, Octet, Patch, Tile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = {kernel.__name__: kernel for kernel in (Patch, GroupPatch, AnyPatch, Tile, Octet, MetricCell)}
LINE = re.compile(r"VP_SHAPE\((\w+), (\w+), (\d), (\d+), ([^)]*)\)$")
GAIN = 0.98  # a shape is faster if it takes at most this part of the time
# what is tried where, in this order; the figure of bench_gpu that it shows in, the part that has the figure, and further options
OF_PATCHES = {"rounds": (1, 2), "patches": (1, 2, 3, 4, 7, 8, 16), "width": (1, 2, 4), "least": range(1, 13)}
TRIED = {
    "Patch": OF_PATCHES,
    "GroupPatch": OF_PATCHES,
    "AnyPatch": {"flat": (0, 1), "turn": (0, 1), "patches": (1, 2, 3, 4, 5, 7), "least": range(0, 7)},
    "Tile": {"bits": range(3, 10), "along": (0, 1), "least": range(1, 5)},
    "Octet": {"along": (0, 1), "least": range(4, 11)},
    "MetricCell": {},
}
SPHERE = ("-bench_refine", "5", "-dm_vpatchdg_refine_sphere", "0.5,0.5,0.5,0.3", "-dm_vpatchdg_refine_levels", "3")
FIGURES = {"Patch": ("sweep, full exact", "kernels"), "GroupPatch": ("sweep, full exact", "kernels", *SPHERE),
           "AnyPatch": ("sweep, any patches", "spaces"), "Tile": ("A x", "kernels"), "Octet": ("A x", "kernels", *SPHERE),
           "MetricCell": ("A x, a map", "kernels")}
NAMES = {"float": "single", "double": "double"}  # in bench_gpu's report


def fail(file, number, what):
    sys.exit("shapes.py: %s:%d: %s" % (file, number, what))


def read(file):
    """The first line, and the shapes by (kernel, precision, dimension, n)."""
    with open(file) as lines:
        head, *lines = lines
    shapes = {}
    for number, line in enumerate(lines, 2):
        match = LINE.match(line.strip())
        if not match or match[1] not in KERNELS or match[2] not in REAL:
            fail(file, number, "this is no shape: " + line.strip())
        key, shape = (match[1], match[2], int(match[3]), int(match[4])), dict(re.findall(r"(\w+) = (\d+)", match[5]))
        if list(shape) != KERNELS[match[1]].fields:
            fail(file, number, "%s has the numbers %s" % (match[1], " ".join(KERNELS[match[1]].fields)))
        if key in shapes:
            fail(file, number, "a second line for the same kernel")
        shapes[key] = {name: int(value) for name, value in shape.items()}
    return head, shapes


def numbers(shape):
    return ", ".join("%s = %d" % item for item in shape.items())


def text(key, shape):
    return "VP_SHAPE(%s, %s, %d, %d, %s)" % (*key, numbers(shape))


def write(file, head, shapes):
    kernels, precisions = list(KERNELS), list(REAL)
    with open(file, "w") as out:
        out.write(head)
        for key in sorted(shapes, key=lambda k: (kernels.index(k[0]), precisions.index(k[1]), *k[2:])):
            out.write(text(key, shapes[key]) + "\n")


def kernel_of(key):
    return KERNELS[key[0]](REAL[key[1]], key[2], key[3])


def check(shapes, keys):
    """Prints a line's transactions, the fewest in no more shared memory, the fewest, and how they are had; whether all lines are possible."""
    good = True
    print("%-11s %-6s %s %-6s %12s %12s %12s" % ("kernel", "", "D", "degree", "transactions", "no larger", "any size"))
    for key in keys:
        kernel, shape = kernel_of(key), shapes[key]
        now, faults = kernel.cost(shape), list(kernel.faults(shape))
        good = good and not faults
        print("%-11s %-6s %d Q%-5d %12d" % (*key[:3], key[3] - 1, now), end="")
        ranked = [] if faults else kernel.ranked(shape)
        for room in () if faults else (kernel.bytes(shape), SHARED):
            fewest, size, _, found = next((r for r in ranked if r[1] <= room), (now, room, 0, shape))
            print(" %12d" % min(now, fewest), end="")
        if not faults and fewest < now:
            faults = ["%+.0f %% memory: %s" % (100 * size / kernel.bytes(shape) - 100,
                                               numbers({name: found[name] for name in found if found[name] != shape[name]}))]
        print(" ", *faults, flush=True)
    return good


def add(shapes, kernels, n):
    for key in [(*key[:3], n) for key in shapes if key[3] == n - 1 and key[0] in kernels]:
        kernel, below = kernel_of(key), shapes[(*key[:3], n - 1)]
        if key in shapes:
            continue
        for change in ({}, {"width": 1}, {"width": 1, "patches": 1}, {"width": 1, "patches": 1, "rounds": 2}):
            shape = kernel.best({**below, **{name: change[name] for name in change if name in below}})
            if shape and not list(kernel.faults(shape)):
                shapes[key] = shape
                print(text(key, shape), flush=True)
                break


class Device:
    """Compiles shapes in a folder of its own, for the degrees that are needed, and times them."""

    def __init__(self, build, dry):
        self.build, self.dry, self.name = os.path.abspath(build), dry, None

    def run(self, *command):
        if self.dry:
            print("   ", *command)
            return True
        return not subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT).returncode

    def seconds(self, key, shapes, head):
        """Infinite where the shape cannot be compiled or run, for want of registers or memory."""
        figure, part, *options = FIGURES[key[0]]
        report, file, program = (os.path.join(self.build, name) for name in ("shapes.json", "shapes.def", "bin/bench_gpu"))
        degrees = "".join("VP_DEGREE(%d)" % d for d in sorted({1, key[3] - 1}))  # bench_gpu warms up at degree 1
        if not self.dry:
            os.makedirs(self.build, exist_ok=True)
            write(file, head, shapes)
        if not (self.run("make", "BUILD=" + self.build, "CUDA=1", "NVCCFLAGS=-O3 -DVP_SHAPES='\"%s\"' '-DVP_DEGREES=%s'" % (file, degrees), program)
                and self.run(program, "-use_gpu_aware_mpi", "0", "-bench_degrees", str(key[3] - 1), "-bench_parts", part, "-bench_seconds", "0.2",
                             "-report", report, *options)):
            return float("inf")
        if self.dry:
            return 1.
        with open(report) as found:
            found = json.load(found)
        self.name = found["device"]
        return next(row["seconds"] for row in found["rows"] if (row["figure"], row["precision"]) == (figure, NAMES[key[1]]))


def measure(device, file, head, shapes, key):
    """Tries number by number; what gains 2 % stays, and is written at once."""
    kernel, shortest = kernel_of(key), device.seconds(key, shapes, head)
    print("%s: %.4g s" % (text(key, shapes[key]), shortest), flush=True)
    for name, value in ((name, value) for name, values in TRIED[key[0]].items() for value in values):
        if value == shapes[key][name]:
            continue
        shape = {**shapes[key], name: value}
        if name != "least" and not device.dry:
            shape = kernel.best(shape)
        if not shape or list(kernel.faults(shape)):
            continue
        seconds = device.seconds(key, {**shapes, key: shape}, head)
        print("  %s: %.4g s" % (numbers(shape), seconds), flush=True)
        if seconds < GAIN * shortest:
            shortest, shapes[key] = seconds, shape
            head = re.sub("measured on .*:", "measured on %s:" % device.name, head)
            write(file, head, shapes)
    return head


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "add", "measure"))
    parser.add_argument("degree", nargs="*", type=int)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--file", default=os.path.join(ROOT, "cuda/shapes.def"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build-shapes"))
    parser.add_argument("--dry-run", action="store_true")
    o = parser.parse_args()
    head, shapes = read(o.file)
    kernels = o.kernels.split(",")
    keys = [k for k in shapes if k[0] in kernels and (not o.degree or k[3] - 1 in o.degree)]
    if o.what == "add":
        for degree in sorted(o.degree):
            add(shapes, kernels, degree + 1)
        write(o.file, head, shapes)
    elif o.what == "measure":
        device = Device(o.build, o.dry_run)
        for key in (k for k in keys if k[2] == 3):
            head = measure(device, o.file, head, shapes, key)
    else:
        return 0 if check(shapes, keys) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
