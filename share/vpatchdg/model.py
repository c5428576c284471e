#!/usr/bin/env python3
"""Messages, bytes and time of A x, a sweep, a cycle and a solve on many GPUs.

  model.py                        what it predicts; options change what it assumes
  model.py --check RUN.json ...   its counts against those in bench_gpus' reports, and its times, where one of them is of one GPU

It assumes that ranks own blocks of cells of a 3D box, as equal pieces along the curve are where numbers are powers of two. Messages, bytes
are the most that a rank sends on a level, summed over levels: no less than what the busiest rank sends. Whole cells travel, but for A x:

  A x                    value and normal derivative on faces between ranks, double; hidden behind the cells inside
  before a sweep         b on 2 layers, in the cycle's precision; hidden behind the first colour's patches inside, or, where no sweep
                         comes before the coarse correction, behind restriction: messages of coarser levels wait for it
  in a sweep             on the finest level, in single precision: x on 2 layers before the last colour; hidden behind its patches inside
  a residual in a cycle  x on 3 layers, as before a second sweep; hidden behind A x inside. r: nothing, with blocks
  prolongation           x of the coarser level on 3 layers; hidden behind the cells inside
  fewer ranks            a level with less than --gather cells per rank lives on fewer: b goes there, x comes back with 3 layers, not hidden
  exchange by colors     besides, x on 3 layers between two colours

Work is that of one GPU (a rate, and a time that every level costs at least), more for the patches on ghost cells, which neighbours repeat,
and for the levels that one GPU does not have. A round of messages takes latency + bytes / bandwidth, less what hides it; a norm takes a
latency for every doubling of ranks."""
import argparse
import json
import math

# On one H200, make bench-gpus: 10^9 unknowns a second of A x, sweep, cycle, solve by refinement, and its iterations
RATES = {3: (208, 33.9, 22.1, 4.70, 4), 4: (168, 29.2, 19.2, 5.38, 3), 7: (189, 31.1, 20.0, 5.71, 3)}
FEW = 4096  # cells per rank: below, every colour exchanges
TRANSFER = 300 # the same of restriction and prolongation
PAIRS = 4  # of sweeps on the coarsest level where it lives on several ranks, as with 8192 cells (the solver takes 1 to 12)
LINKS = {"NVLink": (20e-6, 200e9), "network": (10e-6, 50e9)}  # s, bytes/s one way


def overlaps(cells, pieces, others, layers, periodic):
    """In one direction: how many cells of a piece each of the other pieces wants, its own and `layers` around; for the piece with most."""
    width, other = cells // pieces, cells // others
    best = []
    for p in range(pieces):
        wanted = []
        for q in range(others):
            around = range(q * other - layers, (q + 1) * other + layers)
            ext = {i % cells for i in around} if periodic else {i for i in around if 0 <= i < cells}
            wanted.append(sum(p * width <= i < (p + 1) * width for i in ext))
        best = max(best, [w for w in wanted if w], key=lambda w: (sum(w), len(w)))
    return best


class Level:
    """cells: of the domain; grid: of ranks; both in x, y, z"""

    def __init__(self, cells, grid, periodic):
        self.cells, self.grid, self.periodic = cells, grid, periodic
        self.shape = [c // g for c, g in zip(cells, grid)]
        self.own = math.prod(self.shape)
        self.ranks = math.prod(grid)

    def wants(self, layers, others=None):
        return [overlaps(c, g, o, layers, self.periodic) for c, g, o in zip(self.cells, self.grid, others or self.grid)]

    def sides(self):
        """of a block, those towards others, in every direction"""
        return [0 if g == 1 else 1 if g == 2 and not self.periodic else 2 for g in self.grid]

    def faces(self):
        """messages, and faces of cells, of the rank with most neighbours"""
        return sum(len(w) - 1 for w in self.wants(1)), sum(n * self.own // s for n, s in zip(self.sides(), self.shape))

    def ghosts(self, layers):
        wants = self.wants(layers)
        return math.prod(len(w) for w in wants) - 1, math.prod(sum(w) for w in wants) - self.own

    def back(self, spread):
        """from fewer ranks to those of `spread`, with 3 layers, the sender itself included"""
        wants = self.wants(3, spread.grid)
        return math.prod(len(w) for w in wants), math.prod(sum(w) for w in wants)

    def repeated(self):
        """patches with ghost cells, as a part of own cells"""
        most = math.prod(s + 2 * n - 1 for s, n in zip(self.shape, self.sides()))
        return (most - math.prod(s - 1 for s in self.shape)) / self.own if self.ranks > 1 else 0

    def inside(self):
        """the part of own cells or patches that needs no ghost"""
        return math.prod(max(0, s - 2) if g > 1 else s for s, g in zip(self.shape, self.grid)) / self.own


def along_curve(cells, ranks):
    """the grid of ranks with equal pieces of Morton's curve, whose highest bits are those of z, y, x; None where they are no blocks"""
    grid, steps = [1, 1, 1], math.log2(ranks)
    if steps % 1 or any(c & (c - 1) for c in cells):
        return None
    for bit in reversed(range(max(cells).bit_length() - 1)):
        for d in (2, 1, 0):
            if cells[d] >> bit >= 2 and math.prod(grid) < ranks:
                grid[d] *= 2
    return grid


class Cycle:
    def __init__(self, finest, ranks, degree, smooth=(0, 1), gather=4096, real=4, periodic=False, colors=False, coarsest=2):
        self.smooth, self.colors, self.closes = smooth, colors, real == 4
        self.block, self.face = real * (degree + 1) ** 3, 8 * 2 * (degree + 1) ** 2
        self.levels, self.spread, cells = [], [], list(finest)
        while True:
            level = Level(cells, along_curve(cells, ranks), periodic)
            self.spread.append(level)
            total = math.prod(cells)
            if self.levels and gather:
                ranks = max(1, min(ranks, total // gather))
                level = Level(cells, along_curve(cells, ranks), periodic)
            self.levels.append(level)
            if min(cells) <= coarsest:
                break
            cells = [c // 2 for c in cells]

    def sweep(self, l):
        """rounds before and in a sweep of level l: what hides them, messages, bytes"""
        level = self.levels[l]
        rounds = [("sweep", l, *level.ghosts(2))]
        if self.colors or math.prod(level.cells) < FEW * level.ranks:
            rounds += [(None, l, *level.ghosts(3))] * 7
        elif self.closes and l == 0:
            rounds.append(("sweep", l, *level.ghosts(2)))
        return self.counted(rounds)

    def operator(self):
        messages, faces = self.levels[0].faces()
        return [("apply", 0, messages, faces * self.face)] if messages else []

    def counted(self, rounds):
        return [(hides, l, m, cells * self.block) for hides, l, m, cells in rounds if m]

    def all(self):
        """rounds of a cycle"""
        pre, post = self.smooth
        rounds = []
        for l, level in enumerate(self.levels[:-1]):
            coarse, spread = self.levels[l + 1], self.spread[l + 1]
            sweeps = self.sweep(l)
            again = self.counted([("sweep", l, *level.ghosts(3))])
            if sweeps and not pre:
                sweeps[0] = ("transfer", *sweeps[0][1:])
            rounds += sweeps[:1] + sweeps[1:] * (pre + post) + again * (max(0, pre - 1) + max(0, post - 1))
            if pre:
                rounds += self.counted([("apply", l, *level.ghosts(3))])
            if coarse.ranks < spread.ranks:
                rounds += self.counted([(None, l, 1, spread.own), (None, l, *coarse.back(spread))])
            else:
                rounds += self.counted([("transfer", l, *coarse.ghosts(3))])
        last, coarsest = len(self.levels) - 1, self.levels[-1]
        known = coarsest.ghosts(2)[1] + coarsest.own == math.prod(coarsest.cells)  # then it is inverted by every rank
        again = [(None, last, *coarsest.ghosts(3))] * (0 if known else 2 * PAIRS)
        return rounds + self.counted([(None, last, *coarsest.ghosts(2))] + again)

    def shown(self, rounds, rates, link, degree):
        """seconds of rounds that work does not hide"""
        seconds = 0
        for hides, l, _, size in rounds:
            level = self.levels[l]
            rate = {"sweep": 8 * rates[1], "apply": rates[0], "transfer": TRANSFER}.get(hides, math.inf) * 1e9
            seconds += max(0, link[0] + size / link[1] - level.inside() * level.own * (degree + 1) ** 3 / rate)
        return seconds


def total(rounds):
    return sum(r[2] for r in rounds), sum(r[3] for r in rounds)


def times(cycle, one, degree, rates, link, floor, its, base=None):
    """seconds of A x, sweep, cycle and solve; one: the cycle of one GPU with as many unknowns per rank (or base: its seconds)"""
    dofs = cycle.levels[0].own * (degree + 1) ** 3
    if not base:
        base = [dofs / (r * 1e9) for r in rates[:4]]
        base[2] += floor * len(one.levels)
        base[3] += floor * len(one.levels) * its
    repeated = [level.repeated() * level.own * (degree + 1) ** 3 / (rates[1] * 1e9) for level in cycle.levels[:-1]]
    more = (len(cycle.levels) - len(one.levels)) * floor
    apply = cycle.shown(cycle.operator(), rates, link, degree)
    whole = sum(repeated) * sum(cycle.smooth) + more + cycle.shown(cycle.all(), rates, link, degree)
    norm = link[0] * math.log2(cycle.levels[0].ranks)
    return (base[0] + apply, base[1] + repeated[0] + cycle.shown(cycle.sweep(0), rates, link, degree), base[2] + whole,
            base[3] + its * (apply + whole + norm))


def predict(args):
    rates = RATES[args.degree]
    its = rates[4]
    smooth = tuple(int(s) for s in args.smooth.split(","))
    make = lambda cells, ranks, colors=False: Cycle(cells, ranks, args.degree, smooth, args.gather, colors=colors)

    def cube(count):
        power = round(math.log2(count))
        return [1 << (power + 2 - d) // 3 for d in range(3)]

    sizes = [round(math.log2(d * 1e6 / (args.degree + 1) ** 3)) for d in (134, 16.8, 2.1)]
    print("Q%d, V(%s), %d iterations; messages and MB that a rank sends" % (args.degree, args.smooth, its))
    print("%8s %6s %14s %14s %14s %14s   %s" % ("MDoF/GPU", "GPUs", "A x", "sweep", "cycle", "solve", "cycle, by colors"))
    for size in sizes:
        for ranks in (2, 4, 8, 64, 4096):
            c, by_colors = make(cube(ranks << size), ranks), make(cube(ranks << size), ranks, True)
            counts = [total(r) for r in (c.operator(), c.sweep(0), c.all(), (c.all() + c.operator()) * its, by_colors.all())]
            print("%8.1f %6d" % (c.levels[0].own * (args.degree + 1) ** 3 / 1e6, ranks), *("%5d %8.2f" % (m, b / 1e6) for m, b in counts))
    if smooth == (0, 1):  # the rates are of this cycle
        predict_times(args, make, cube, sizes, rates)


def predict_times(args, make, cube, sizes, rates):
    links = {"given": (args.latency * 1e-6, args.bandwidth * 1e9)} if args.latency and args.bandwidth else LINKS
    print("\nms of one GPU, and efficiency: A x, sweep, cycle, solve by refinement; cycle with an exchange a colour")
    for name, link in links.items():
        print("%s: %.0f us a round, %.0f GB/s one way" % (name, link[0] * 1e6, link[1] / 1e9))
        for size in sizes:
            one = make(cube(1 << size), 1)
            seconds = lambda c: times(c, one, args.degree, rates, link, args.level * 1e-6, rates[4])
            base = seconds(one)
            print("%8.1f MDoF/GPU %6d GPU  " % (one.levels[0].own * (args.degree + 1) ** 3 / 1e6, 1), *("%8.3f" % (1e3 * t) for t in base))
            for ranks in (4, 64, 4096):
                t, by_colors = seconds(make(cube(ranks << size), ranks)), seconds(make(cube(ranks << size), ranks, True))
                print("%17s %6d GPUs " % ("", ranks), *("%8.2f" % (b / n) for b, n in zip(base, t)), "%8.2f" % (base[2] / by_colors[2]))


FIGURES = ["A x", "sweep", "cycle", "refinement"]


def cycle_of(row, boxes, ranks, colors=False):
    real = 4 if row["precision"] == "single" else 8
    cells = [b << row["refine"] for b in boxes]
    return Cycle(cells, ranks, row["degree"], row["smooth"], row["gather"], real, row["periodic"], colors, 2 * min(boxes))


def rounds_of(row):
    c = cycle_of(row, row["boxes"], row["ranks"], row["figure"].endswith("by colors"))
    name = row["figure"].split(",")[0]
    if name in ("refinement", "FGMRES"):
        return (c.operator() + c.all()) * row["iterations"]
    return {"A x": c.operator, "sweep": lambda: c.sweep(0), "cycle": c.all}[name]()


def time_of(row, one, floor):
    """of the model, where the figures of one GPU with as many unknowns per rank were measured"""
    base = [one.get((row["degree"], row["dofs"] // row["ranks"], f)) for f in FIGURES]
    if not all(base) or row["figure"] not in FIGURES or row["kind"] != "weak":
        return ""
    rates = [row["dofs"] / row["ranks"] / b / 1e9 for b in base]
    cycle, alone = cycle_of(row, row["boxes"], row["ranks"]), cycle_of(row, [1, 1, 1], 1)
    t = times(cycle, alone, row["degree"], rates, LINKS["NVLink"], floor, row["iterations"] or 1, base)
    return "%9.3f %9.3f" % (1e3 * t[FIGURES.index(row["figure"])], 1e3 * row["seconds"])


def check(args):
    rows = []
    for name in args.check:
        with open(name) as file:
            rows += json.load(file)
    one = {(r["degree"], r["dofs"], r["figure"]): r["seconds"] for r in rows if r["ranks"] == 1 and r["backend"] != "host"}
    worst = [0, 0]
    print("%-6s %-3s %8s %5s %-16s %21s %25s %s"
          % ("", "", "MDoF", "ranks", "", "messages: model, sent", "MB: model, sent", "ms: model, measured" if one else ""))
    for r in rows:
        head = "%-6s Q%-2d %8.2f %5d %-16s" % (r["kind"], r["degree"], r["dofs"] / 1e6, r["ranks"], r["figure"])
        if r["ranks"] > 1 and not along_curve([b << r["refine"] for b in r["boxes"]], r["ranks"]):
            print(head, "its pieces are no blocks")
        elif r["ranks"] > 1:
            messages, size = total(rounds_of(r))
            for i, (model, sent) in enumerate(((messages, r["messages"]), (size, r["bytes"]))):
                worst[i] = max(worst[i], abs(model - sent) / max(sent, 1))
            counts = "%10d %10.1f %12.4f %12.4f" % (messages, r["messages"], size / 1e6, r["bytes"] / 1e6)
            print(head, counts, time_of(r, one, args.level * 1e-6))
    print("off by at most %.1f %% in messages, %.1f %% in bytes" % (100 * worst[0], 100 * worst[1]))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--check", nargs="+", metavar="RUN.json")
parser.add_argument("--degree", type=int, choices=sorted(RATES), default=4)
parser.add_argument("--smooth", default="0,1", help="sweeps before and after, 0,1")
parser.add_argument("--gather", type=int, default=4096)
parser.add_argument("--latency", type=float, help="us of a round of messages")
parser.add_argument("--bandwidth", type=float, help="GB/s that a GPU sends")
parser.add_argument("--level", type=float, default=50, help="us that a level costs at least in a cycle, 50")
arguments = parser.parse_args()
check(arguments) if arguments.check else predict(arguments)
