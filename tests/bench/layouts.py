"""Layouts of the CUDA kernels' values in shared memory, and the transactions that reading and writing them takes.

A warp's access takes as many transactions as the busiest of the 32 banks, 4 bytes wide, has different words to serve; lanes that read 8 or
16 bytes are served in two or four groups. A layout's cost is the transactions of all accesses of a block. A class for each kernel knows its
accesses, which follow the code in cuda/, and the layouts that a search looks at."""
import functools
import itertools

SHARED = 228 << 10  # bytes of a multiprocessor, of which every block takes 1 KB for itself
REAL = {"float": 4, "double": 8}


def transactions(warp, size):
    """Requires: the first bytes, which `size` divides, that a warp's lanes read or write."""
    lanes, total = 32 if size <= 4 else 128 // size, 0
    for group in range(0, len(warp), lanes):
        banks = {}
        for word in {(at + b) // 4 for at in warp[group:group + lanes] for b in range(0, size, 4)}:
            banks[word % 32] = banks.get(word % 32, 0) + 1
        total += max(banks.values(), default=0)
    return total


def count(threads, place, real, width=1):
    """The transactions of a block whose thread t reads `width` values from place(t) on; None: it reads nothing."""
    places = [place(t) for t in range(threads)]
    warps = [[real * p for p in places[w:w + 32] if p is not None] for w in range(0, threads, 32)]
    return sum(transactions(warp, real * width) for warp in warps)


def line_start(line, order, radix, steps):
    """Where a line begins whose digits are `order`, the fastest first (DigitStride), digit i taking radix[i-1] values steps[i-1] apart."""
    at = 0
    for digit in map(int, str(order)):
        line, i = divmod(line, radix[digit - 1])
        at += i * steps[digit - 1]
    return at


def orders(digits):
    return [int("".join(map(str, p))) for p in itertools.permutations(range(1, digits + 1))]


def least(candidates, cost, enough):
    """The first candidate of the least cost; none after one that costs no more than `enough` is looked at."""
    best = None
    for candidate in candidates:
        now = cost(candidate)
        if best is None or now < best[0]:
            best = now, candidate
        if now <= enough:
            break
    return best[1]


def strides(shape, least, banks, align):
    """What may lie from patch to patch; where a block has one, nothing is gained by more than it needs."""
    first = -(-least // align) * align
    return [first] if shape["patches"] == 1 else range(first, first + banks + 1, align)


class Kernel:
    def __init__(self, real, dim, n):
        self.real, self.dim, self.n, self.m, self.banks = real, dim, n, 2 * n, 128 // real

    def faults(self, shape):
        """What the kernel cannot do; cuda/*.cuh assert the rest."""
        if self.block(shape) > 1024:
            yield "a block has more than 1024 threads"
        if self.bytes(shape) + 1024 > SHARED:
            yield "a block's values do not fit into shared memory"

    def ranked(self, shape):
        """(transactions, bytes, number, shape) of all layouts: those with the fewest transactions first, the smallest of them first."""
        return sorted((self.cost(s), self.bytes(s), i, s) for i, s in enumerate(self.layouts(shape)))

    def best(self, shape):
        """The first of these of which `least` blocks fit into shared memory, or that is no larger than the shape; else None."""
        room = max(SHARED // max(shape["least"], 1) - 1024, self.bytes(shape))
        return next((s for _, size, _, s in self.ranked(shape) if size <= room), None)


class Patch(Kernel):
    """cuda/patch/patchshape.cuh"""
    fields = "rounds patches least width sz stride y x sf".split()

    def threads(self, shape):
        return self.m**2 // shape["rounds"]

    def block(self, shape):
        return self.threads(shape) * shape["patches"]

    def bytes(self, shape):
        return shape["patches"] * ((shape["stride"] + 4 * self.m * shape["sf"]) * self.real + 24 * 8)

    def faults(self, shape):
        yield from super().faults(shape)
        if self.m**2 % shape["rounds"] or self.n % shape["width"] or shape["width"] * self.real > 16:
            yield "threads or pieces of lines are left over"

    def adjacent(self, shape):
        return self.real == 4 and shape["rounds"] == 2 and self.n % 2 == 0

    def on_lines(self, shape, place, width=1, rounds=None):
        """Transactions of all threads for their lines; place(thread of the patch, its line r) in the patch that begins at `stride` slot."""
        threads, stride = self.threads(shape), shape.get("apart", shape["stride"])
        return sum(count(self.block(shape), lambda t: t // threads * stride + place(t % threads, r), self.real, width)
                   for r in range(rounds or shape["rounds"]))

    def along(self, shape, order, steps, width=1):
        threads, radix = self.threads(shape), (self.n, 2, self.m)
        return self.on_lines(shape, lambda me, r: line_start(me + r * threads, order, radix, (*steps, shape["sz"])), width)

    def along_z(self, shape):
        threads = self.threads(shape)
        if self.adjacent(shape):
            return self.on_lines(shape, lambda me, r: 2 * me, 2, 1)
        return self.on_lines(shape, lambda me, r: me + r * threads)

    def along_y(self, shape):
        return self.along(shape, shape["y"], (1, self.n**2))

    def along_x(self, shape):
        return self.along(shape, shape["x"], (self.n, 2 * self.n**2), shape["width"])

    def traces(self, shape):
        """Pairs are written for two sides of x and of y, and read 16 bytes at once along z lines (PatchThread::Load, SubtractTraces)."""
        n, m, sf, threads, pair = self.n, self.m, shape["sf"], self.threads(shape), self.adjacent(shape)
        shape, rounds, width = dict(shape, apart=4 * m * sf), 1 if pair else None, 16 // self.real

        def cell_and_place(me, r):
            line = 2 * me if pair else me + r * threads
            return line // n**2 % 2, line // n**2 // 2, line % n, line // n % n

        def beyond_x(me, r):
            cx, cy, _, iy = cell_and_place(me, r)
            return (cx * m + cy * n + iy) * sf

        def beyond_y(me, r):
            cx, cy, ix, _ = cell_and_place(me, r)
            return ((2 + cy) * m + cx * n + ix) * sf

        write = self.on_lines(shape, lambda me, r: (me + r * threads) % m * sf + (me + r * threads) // m * 2, 2)
        read = self.on_lines(shape, beyond_x, width, rounds) + self.on_lines(shape, beyond_y, width, rounds)
        return 4 * write + 2 * m // width * read

    def cost(self, shape):
        return (self.m * (2 * self.along_z(shape) + 4 * self.along_y(shape)) + 2 * self.m // shape["width"] * self.along_x(shape)
                + self.traces(shape))

    def layouts(self, shape):
        align, plane, step = max(shape["width"], 2 if self.adjacent(shape) else 1), self.m**2, 16 // self.real
        first = -(-2 * self.m // step) * step
        sf = min(range(first, first + self.banks + 1, step), key=lambda sf: self.traces(dict(shape, sf=sf)))
        for sz in range(-(-plane // align) * align, plane + self.banks + 1, align):
            for stride in strides(shape, (self.m - 1) * sz + plane, self.banks, align):
                s = dict(shape, sz=sz, stride=stride, sf=sf)
                s["y"] = min(orders(3), key=lambda order: self.along_y(dict(s, y=order)))
                s["x"] = min(orders(3), key=lambda order: self.along_x(dict(s, x=order)))
                yield s


class GroupPatch(Patch):
    """The same of patches sorted by their tables."""


class AnyPatch(Kernel):
    """AnyLayout of cuda/patch/anypatchshape.cuh"""
    fields = "patches least flat turn sy sz stride".split()

    def threads(self):
        return self.m**(self.dim - 1) // 2

    def line(self, thread, r):
        places, each = self.n**(self.dim - 1), 2 if self.n % 2 == 0 else 1
        step = places // each  # from line to line of a thread, in the same cell where each is 2
        return thread // step * places + thread % step + r * step if each == 2 else thread + r * self.threads()

    def block(self, shape):
        return self.threads() * shape["patches"]

    def bytes(self, shape):
        return shape["patches"] * (2 * shape["stride"] * self.real + self.dim * 2**self.dim * 16)

    def along(self, shape, d):
        n, slow, threads = self.n, self.dim - 1, self.threads()
        step = (1, shape["sy"], shape["sz"])
        half = [n * step[e] if shape["flat"] or e == 2 else (e + 1) * n * n for e in range(self.dim)]
        others = [e for e in range(self.dim) if e != d]
        places = (2, 1) if shape["turn"] and d < slow else (1, 2)  # of a line in its cell; then which cell
        order = int("".join(map(str, [*places, 3, 4] if slow == 2 else [1, 2])))
        steps = [step[e] for e in others] + [half[e] for e in others]
        return sum(count(self.block(shape), lambda t: t // threads * shape["stride"] + line_start(
            self.line(t % threads, r), order, [n] * slow + [2] * slow, steps), self.real) for r in range(2))

    def cost(self, shape):
        slow = self.dim - 1  # residual: 2 reads, 2 writes a half; modes: 2, 2; along the slowest direction also loads and stores
        return self.m * sum((10 if d == slow else 8) * self.along(shape, d) for d in range(self.dim))

    def layouts(self, shape):
        n, m, banks = self.n, self.m, self.banks
        for sy in range(m, m + banks + 1) if shape["flat"] else [n]:
            plane = (m - 1) * sy + m if shape["flat"] else m * m
            for sz in range(plane, plane + banks + 1) if self.dim == 3 else [0]:
                for stride in strides(shape, (m - 1) * sz + plane, banks, 1):
                    yield dict(shape, sy=sy, sz=sz, stride=stride)


class Tile(Kernel):
    """cuda/tile.cuh"""
    fields = "bits along least sz cx cy cz x y".split()

    def extent(self, shape, d):
        return 1 << (shape["bits"] + 2 - d) // 3

    def lines(self, shape, d):
        return (1 << shape["bits"]) // self.extent(shape, d) * self.n**2

    def block(self, shape):
        return self.lines(shape, shape["along"])

    def span(self, shape, *cells):
        """How many values lie from the first to the last one of a cell and of the tile's cells along the directions `cells`."""
        return ((self.n - 1) * (1 + self.n + shape["sz"]) + 1
                + sum((self.extent(shape, d) - 1) * shape["c" + "xyz"[d]] for d in cells))

    def bytes(self, shape):
        return 2 * 8 * self.span(shape, 0, 1, 2)

    def along(self, shape, d):
        a, b = (e for e in range(3) if e != d)
        order = (shape["x"], shape["y"], 1234)[d]
        step = (1, self.n, shape["sz"])
        return self.along_cells(shape["bits"], shape["along"], d, order, *(x % 16 for x in (
            step[a], step[b], shape["c" + "xyz"[a]], shape["c" + "xyz"[b]])))

    @functools.lru_cache(None)
    def along_cells(self, bits, along, d, order, *steps):
        """Values of 8 bytes have places of their own: only the steps modulo 16 matter."""
        shape = {"bits": bits, "along": along}
        radix = [self.n, self.n, *(self.extent(shape, e) for e in range(3) if e != d)]
        lines, threads = self.lines(shape, d), self.block(shape)
        apart = [s + 16 * 32**(i + 1) for i, s in enumerate(steps)]
        return sum(count(threads, lambda t: line_start(t + r, order, radix, apart) if t + r < lines else None, self.real)
                   for r in range(0, lines, threads))

    def cost(self, shape):
        """Copied along z; read along all, the result written along x, and read and written along y, read along z."""
        return sum(self.n * self.extent(shape, d) * times * self.along(shape, d) for d, times in enumerate((2, 3, 3)))

    def layouts(self, shape):
        gaps = list(itertools.product(range(16), repeat=3))
        for sz, nest in itertools.product(range(self.n**2, self.n**2 + 3), itertools.permutations(range(3))):
            for gap in gaps:
                s = dict(shape, sz=sz)
                for i, d in enumerate(nest):
                    s["c" + "xyz"[d]] = self.span(s, *nest[:i]) + gap[i]
                s["x"] = self.order(s["bits"], s["along"], 0, sz % 16, s["cy"] % 16, s["cz"] % 16)
                s["y"] = self.order(s["bits"], s["along"], 1, sz % 16, s["cx"] % 16, s["cz"] % 16)
                yield s

    @functools.lru_cache(None)
    def order(self, bits, along, d, sz, *cells):
        """The best order of the lines along x or y."""
        lines = self.lines({"bits": bits}, d)
        return least(orders(4), lambda order: self.along_cells(bits, along, d, order, 1 if d else self.n, sz, *cells), -(-lines // 16))


class Octet(Tile):
    """The same with eight cells, for meshes whose cells differ in size."""


class MetricCell(Kernel):
    """ApplyMetric of cuda/metric.cuh, where G is a full matrix."""
    fields = "sy sz pitch plane side gap bare".split()

    def cells(self):
        return max(1, 128 // self.n**2)

    def block(self, shape):
        return self.cells() * self.n**2

    def span(self, shape):
        """Of an array of values, then of the sums along the sides or the array in their place, then of a cell."""
        values = (self.n - 1) * (1 + shape["sy"] + shape["sz"]) + 1
        slopes = max(values, 6 * shape["side"])
        return values, slopes, slopes + 2 * values + 6 * shape["side"] + shape["gap"]

    def bytes(self, shape):
        return self.cells() * self.span(shape)[2] * 8

    def faults(self, shape):
        yield from super().faults(shape)
        n, sy, pitch = self.n, shape["sy"], shape["pitch"]
        if min(sy, pitch) < n or shape["sz"] < (n - 1) * sy + n or shape["plane"] < (n - 1) * pitch + n or shape["side"] < 2 * shape["plane"]:
            yield "values or planes lie on each other"

    def on_cells(self, apart, place):
        """Transactions of all threads, where place(line of the cell) is in the cell that begins at `apart` times its number."""
        lines = self.n**2
        return count(self.block(None), lambda t: t // lines * apart + place(t % lines), self.real)

    @functools.lru_cache(None)
    def of_values(self, apart, sy, sz):
        """Z is written along z, X and Y along x or y, read and written along z, then along x or y, then read along z."""
        n, along = self.n, [self.on_cells(apart, lambda l: l % self.n * a + l // self.n * b) for a, b in ((sy, sz), (1, sz), (1, sy))]
        return n * (4 * along[0] + 4 * along[1] + 7 * along[2])

    @functools.lru_cache(None)
    def bare(self, sy, sz):
        """The gap between cells that have no planes."""
        values = self.span(dict(sy=sy, sz=sz, side=0, gap=0))[0]
        return min(range(16 if self.cells() > 1 else 1), key=lambda gap: self.of_values((3 * values + gap) % 16 + 2**16, sy, sz))

    @functools.lru_cache(None)
    def of_sides(self, apart, pitch, plane, side):
        """V and V' are written point by point and read line by line (SumLine); likewise what the sums along them are, the other way round."""
        n = self.n

        def line(l, r):
            i = l + r * n**2
            return None if i >= 12 * n else i // n % 6 * side + i % n * (1 if i >= 6 * n else pitch)

        points = sum(self.on_cells(apart, lambda l: s * side + p * plane + l % n + l // n * pitch) for s in range(6) for p in range(2))
        lines = n * sum(
            count(self.block(None), lambda t: None if line(t % n**2, r) is None else t // n**2 * apart + line(t % n**2, r), self.real)
            for r in range(-(-12 // n)))
        return 2 * points + 3 * lines

    def cost(self, shape):
        apart = self.span(shape)[2] % 16 + 2**16  # only this is decided by the steps modulo 16
        return self.of_values(apart, shape["sy"], shape["sz"]) + self.of_sides(apart, shape["pitch"], shape["plane"], shape["side"])

    def best(self, shape):
        """No larger than with odd steps, by more than a little: registers allow for about as many blocks as fit."""
        n, odd = self.n, self.n | 1
        room = 1.05 * self.bytes(dict(sy=odd, sz=n * odd, pitch=odd, plane=n * odd, side=2 * n * odd, gap=0))
        return next((s for _, size, _, s in self.ranked(shape) if size <= room), None)

    def layouts(self, shape):
        n = self.n
        most = 16 if self.cells() > 1 else 1
        for gap in range(most):
            for pitch, more, extra in itertools.product((n, n + 1), range(3), range(6)):
                plane = (n - 1) * pitch + n + more
                for sy in (n, n + 1):
                    for sz in range((n - 1) * sy + n, n * sy + 6):
                        yield dict(shape, sy=sy, sz=sz, pitch=pitch, plane=plane, side=2 * plane + extra, gap=gap, bare=self.bare(sy, sz))
