"""Draws cases: Case(seed, number) has the ranks and arguments of one run of the fuzzer's program, and what is expected of it."""
import random

# Left out, since PETSc 3.18 itself fails there: pipelcg, which can loop for ever; chebyshev with extreme numbers, whose KSPDestroy() fails
# after NaN; bcgsl with -ksp_pc_side right, whose x is not what its residual says; eisenstat, whose destruction fails after a refused solve; mg with one level and
# -ksp_type richardson, which calls a residual that is not there; gamg on rows of hundreds of entries, which overflows its stack; pipegcr, whose natural
# norm is sqrt(r.AMr); symmlq, which takes small right-hand sides for solved; sbaij with bjacobi or asm, whose
# factorization fails on a rank without rows; qmrcgs with another PC than ours, which is wrong from the second solve on.
KSP_TYPES = """richardson chebyshev cg groppcg pipecg pipecgrr pipeprcg pipecg2 cgne nash stcg gltr fcg pipefcg gmres pipefgmres fgmres
    lgmres dgmres pgmres tcqmr bcgs ibcgs qmrcgs fbcgs fbcgsr bcgsl pipebcgs cgs tfqmr cr pipecr lsqr preonly bicg minres lcd gcr
    cgls""".split()
FLEXIBLE = "fgmres gcr fcg pipefgmres pipefcg richardson preonly".split()  # others need a linear preconditioner
NEED_SYMMETRIC = set("cg groppcg pipecg pipecgrr pipeprcg pipecg2 nash stcg gltr cr pipecr minres pipefcg fcg chebyshev".split())
OTHER_PCS = ["none", "jacobi", "bjacobi", "sor", "asm", "ilu", "cholesky", "lu", "pbjacobi", "kaczmarz"]


ENUMS = {}  # the names of the values of each enum of the library, as fuzz.py reads them


class Case:
    """arguments: of the program; refused: it must be."""

    def __init__(self, seed, number, largest=8000):
        self.seed, self.number, self.largest = seed, number, largest
        self.rng = random.Random("%s:%d" % (seed, number))
        self.ranks = self.rng.choices(range(1, 8), [6, 4, 3, 3, 1, 1, 1])[0]
        self.refused = False
        self.arguments = []
        self.kind = self.pick(["api", "options", "rough"], [4, 5, 1])
        self.add("-fuzz_kind", "options" if self.kind == "rough" else self.kind, "-fuzz_seed", self.rng.randrange(1 << 30))
        if self.kind == "rough":
            self.draw_dm()
            self.draw_rough()
        if self.kind == "options":
            self.draw_dm()
            self.draw_solver()
            self.draw_problem()
            if self.chance(0.12):
                self.spoil()

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, values, weights=None):
        return self.rng.choices(values, weights)[0]

    def value(self, enum, weights={}, without=()):
        """the name of a value of an enum; those that have no weight have 1"""
        names = [name for name in ENUMS[enum] if name not in without]
        return self.pick(names, [weights.get(name, 1) for name in names])

    def add(self, *arguments):
        self.arguments += [str(a) for a in arguments]

    def maybe(self, p, *arguments):
        if self.chance(p):
            self.add(*arguments)

    # ---- mesh and equation

    def draw_dm(self):
        self.dim = self.pick([2, 3])
        self.domain = self.pick(["box", "lshape" if self.dim == 2 else "fichera"], [3, 1])
        self.degree = self.pick(range(1, 9))
        boxes = [1] * self.dim
        nbox = 2 ** self.dim - 1
        if self.domain == "box":
            boxes = [self.pick([1, 2, 3, 5], [6, 3, 2, 1]) for _ in range(self.dim)]
            nbox = 1
            for n in boxes:
                nbox *= n
        self.degree, self.refine = self.fit(nbox)
        self.add("-dm_vpatchdg_dim", self.dim, "-dm_vpatchdg_degree", self.degree, "-dm_refine", self.refine)
        if self.domain != "box" or self.chance(0.3):
            self.add("-dm_vpatchdg_domain", self.domain)
        if self.domain == "box":
            self.draw_box(boxes)
        self.draw_boundary()
        self.maybe(0.2, "-dm_vpatchdg_penalty", self.pick(["0.5", "0.9", "2", "10", "1e3", "1e6", "1e9"], [2, 2, 4, 3, 2, 1, 1]))
        self.maybe(0.3, "-dm_vpatchdg_reaction", self.pick(["0", "1e-8", "0.1", "1", "1e3", "1e6", "1e12"]))
        self.assembled = self.chance(0.15)
        if self.assembled:
            self.add("-dm_mat_type", self.pick(["aij", "baij", "sbaij"], [8, 1, 1]))
        self.maybe(0.05, "-dm_view")
        self.maybe(0.05, "-dm_vpatchdg_transport", self.value("VpAskedTransport"))
        # (linear functions and norms of coarse functions stay exact on cells that an affine map makes)
        if self.domain == "box" and "-dm_vpatchdg_upper" not in self.arguments and self.chance(0.12):
            self.add("-dm_vpatchdg_map", "shear", "-dm_vpatchdg_map_parameters", self.pick([40, 60, 100, 140]))
            self.maybe(0.3, "-pc_vpatchdg_metric", "const")
            self.maybe(0.3, "-pc_vpatchdg_colors", (1 << self.dim) - 1)
        else:
            self.maybe(0.12, "-dm_vpatchdg_basis", "gauss")
        if "-dm_vpatchdg_map" in self.arguments or "-dm_vpatchdg_basis" in self.arguments:
            self.maybe(0.5, "-fuzz_tensor", self.pick([1, self.dim, self.dim * (self.dim + 1) // 2]))

    def fit(self, nbox):
        """degree and number of refinements with at most as many unknowns as there may be"""
        degree = self.degree
        while degree > 1 and nbox * 2 ** self.dim * (degree + 1) ** self.dim > self.largest:
            degree -= 1
        refine = 1
        while self.chance(0.6) and nbox * 2 ** (self.dim * (refine + 1)) * (degree + 1) ** self.dim <= self.largest:
            refine += 1
        return degree, refine if not self.chance(0.04) else 0

    def draw_box(self, boxes):
        if max(boxes) > 1:
            self.add("-dm_vpatchdg_boxes", ",".join(map(str, boxes)))
        if self.chance(0.3):
            scale = self.pick([1, 1e-3, 1e3, 1e-10, 1e6], [8, 2, 2, 1, 1])
            lower = [scale * self.rng.uniform(-1, 0) for _ in boxes]
            stretch = [self.pick([1, 2, 4, 20], [8, 2, 1, 1]) for _ in boxes]
            upper = [low + scale * s * n for low, s, n in zip(lower, stretch, boxes)]
            self.add("-dm_vpatchdg_lower", ",".join("%.6g" % x for x in lower))
            self.add("-dm_vpatchdg_upper", ",".join("%.6g" % x for x in upper))

    def draw_boundary(self):
        periodic = [] if self.domain == "box" else ["periodic"]
        if self.chance(0.4):
            return
        alpha, sides = ["-dm_vpatchdg_robin", self.pick(["0.1", "10", "1e4"])] if self.chance(0.3) else [], []
        if self.chance(0.3):
            sides = [self.value("VPatchDGBoundary", without=periodic)]
        for _ in range(0 if sides else self.dim):
            first = self.value("VPatchDGBoundary", without=periodic)
            sides += [first, first if first == "periodic" else self.value("VPatchDGBoundary", without=["periodic"])]
        self.add("-dm_vpatchdg_boundary", ",".join(sides), *(alpha if "robin" in sides else []))

    # ---- right-hand side and so on

    def draw_problem(self):
        self.maybe(0.3, "-fuzz_right_hand_side", self.pick(["constant", "zero"], [5, 1]))
        if self.arguments[self.arguments.index("-pc_type") + 1] != "mg":  # whose rtol under richardson is of the first residual
            self.maybe(0.3, "-fuzz_guess", "random")
        self.maybe(0.25, "-fuzz_coefficient", self.pick([1, 2]), "-fuzz_range", self.pick([1.5, 10, 30, 1e3, 1e6], [3, 3, 3, 1, 1]))
        if self.ksp != "qmrcgs" or self.arguments[self.arguments.index("-pc_type") + 1] in ["vpatchdg", "vpatch"]:
            self.maybe(0.3, "-fuzz_solves", self.pick([2, 3]))
        self.maybe(0.1, "-fuzz_change")
        self.maybe(0.2, "-fuzz_active")
        # (an inner KSP stops at once where b is below its absolute tolerance)
        if self.ksp != "chebyshev" and self.arguments[self.arguments.index("-pc_type") + 1] != "ksp":
            self.maybe(0.12, "-fuzz_scale", self.pick(["1e-12", "1e-20", "1e-32", "1e-40", "1e20", "1e38", "1e100", "1e-100"]))

    # ---- solvers

    def draw_solver(self):
        self.ksp = self.pick(["richardson", "fgmres", "cg", "gcr", self.pick(KSP_TYPES)], [3, 4, 3, 1, 10])
        self.add("-ksp_type", self.ksp, "-ksp_rtol", self.pick(["1e-2", "1e-4", "1e-6", "1e-8", "1e-9"]), "-ksp_max_it",
                 self.pick([1, 3, 30, 60]))
        # PCMG leaves a singular coarse matrix to an LU, which makes constants of any size: no linear map to many digits
        boundary = self.arguments.index("-dm_vpatchdg_boundary") + 1 if "-dm_vpatchdg_boundary" in self.arguments else 0
        mg = 2 if self.ksp in FLEXIBLE or not boundary or "dirichlet" in self.arguments[boundary] else 0
        pc = self.pick(["vpatchdg", "vpatch", "mg", "composite", "ksp", "other"], [16, 2, mg, 1, 1, 2])
        self.pc_types = {"vpatchdg": self.cycle, "vpatch": self.smoother, "mg": self.pcmg, "composite": self.composite,
                         "ksp": self.inner, "other": self.other}
        self.pc_types[pc]("")
        if self.ksp != "bcgsl":
            self.maybe(0.2, "-ksp_pc_side", self.pick(["left", "right", "symmetric"], [5, 5, 1]))
        self.maybe(0.3, "-ksp_norm_type", self.pick(["none", "preconditioned", "unpreconditioned", "natural"], [1, 3, 4, 2]))
        if pc == "vpatchdg":
            self.maybe(0.15, "-ksp_guess_type", "vpatchdg")
        if "1e9" not in self.arguments:  # a penalty with which no guess but 0 has digits
            self.maybe(0.06, "-ksp_guess_type", "fischer", "-ksp_guess_fischer_model", self.pick(["1,2", "2,3"]))
        for option in ["-ksp_view", "-ksp_monitor", "-ksp_monitor_true_residual", "-ksp_converged_reason", "-log_view", "-ksp_view_mat",
                       "-ksp_reuse_preconditioner", "-pc_use_amat", "-options_left", "-info", "-citations"]:
            self.maybe(0.03, option)
        self.maybe(0.03, "-ksp_diagonal_scale", "-ksp_diagonal_scale_fix")
        self.maybe(0.03, "-ksp_atol", self.pick(["1e-3", "1e-30"]))
        self.maybe(0.03, "-ksp_divtol", self.pick(["2", "1e3"]))
        self.maybe(0.05, "-ksp_gmres_restart", self.pick([1, 2, 5]))
        self.maybe(0.04, "-ksp_richardson_scale", self.pick(["0.5", "0.9"]))
        self.maybe(0.02, "-ksp_richardson_self_scale")

    def cycle(self, prefix):
        name = "-" + prefix + "pc_vpatchdg_"
        self.add("-%spc_type" % prefix, "vpatchdg")
        space = self.value("VPatchDGSpace", {"full": 8, "dirichlet": 2})
        if space == "clamped" and self.degree < 3:
            space = "dirichlet"
        symmetric = self.ksp in NEED_SYMMETRIC or self.chance(0.15)
        residual = self.value("VpResidual", {"exact": 3})
        if residual == "local" and (space == "full" or symmetric and space != "clamped"):
            residual = "exact"
        if space != "full":
            self.add(name + "space", space)
        if residual != "exact" or self.chance(0.1):
            self.add(name + "residual", residual)
        if symmetric:
            sweeps = self.pick([1, 2], [4, 1])
            self.add(name + "symmetric", name + "smooth_post", sweeps)
            self.maybe(0.5, name + "smooth_pre", sweeps)
            self.maybe(0.7, name + "exchange", "color")
        elif self.chance(0.3):
            pre, post = self.pick([(1, 1), (1, 0), (0, 2), (2, 1), (3, 3)])
            self.add(name + "smooth_pre", pre, name + "smooth_post", post)
        self.maybe(0.2, name + "corners", self.pick([0, 1, 2, 3]))
        self.maybe(0.2, name + "cycle_type", self.value("VPatchDGCycleType", without=["f"] if symmetric else []))
        self.maybe(0.1, name + "cell_sweeps", self.pick([-1, 0, 1, 2]))
        self.maybe(0.2, name + "coarsening", self.value("VpCoarsen"))
        self.maybe(0.25, name + "levels", self.rng.randint(-1, max(1, self.refine)))
        if not prefix or self.ksp in FLEXIBLE:  # a cycle inside PCKSP does not know the outer KSP and can not warn
            self.maybe(0.5, name + "precision", self.value("VPatchDGPrecision", {"double": 3}))
        self.maybe(0.2, name + "exchange", self.value("VpExchange"))
        self.maybe(0.2, name + "gather", self.pick([0, 1, 8, 64, 4096, -1]))
        self.maybe(0.1, name + "replay", self.pick(["true", "false"]))
        self.maybe(0.25, name + "coarse", self.value("VPatchDGCoarse", without=self.slow(name)))
        if self.chance(0.12):
            coarse = "-" + prefix + "vpatchdg_coarse_"
            self.maybe(0.7, coarse + "ksp_type", self.krylov(["preonly", "richardson"], ["cg", "gmres", "fgmres"]))
            self.add(coarse + "pc_type", self.pick(["jacobi", "bjacobi", "cholesky", "none", "redundant"] + self.gamg()))
            self.maybe(0.5, coarse + "ksp_rtol", self.pick(["1e-2", "1e-6", "1e-12"]))
            self.maybe(0.3, coarse + "ksp_max_it", self.pick([1, 5, 100]))

    def krylov(self, linear, others):
        """a KSP inside the preconditioner"""
        return self.pick(linear + others if self.ksp in FLEXIBLE else linear)

    def slow(self, name):
        """a dense inverse takes long where the coarsest level is large"""
        return ["dense"] if self.dim == 3 or {name + "levels", name + "gather"} & set(self.arguments) else []

    def gamg(self):
        return ["gamg"] if (self.degree + 1) ** self.dim * (2 * self.dim + 1) < 200 else []

    def smoother(self, prefix):
        name = "-" + prefix + "pc_vpatch_"
        self.add("-%spc_type" % prefix, "vpatch")
        self.maybe(0.5, name + "space", self.value("VPatchDGSpace", {"full": 3}, without=["clamped"]))
        self.maybe(0.3, name + "residual", self.value("VpResidual", without=["local"]))
        self.maybe(0.3, name + "precision", self.value("VPatchDGPrecision", without=["auto"]))
        self.maybe(0.2, name + "reverse")

    def pcmg(self, prefix):
        least = 2 if self.ksp == "richardson" else 1
        self.add("-%spc_type" % prefix, "mg", "-%spc_mg_levels" % prefix, self.rng.randint(least, max(least, self.refine + 1)))
        for side in ["mg_levels_"]:
            self.add("-%s%sksp_type" % (prefix, side), self.krylov(["richardson", "chebyshev"], ["gmres"]),
                     "-%s%sksp_max_it" % (prefix, side), self.pick([1, 2]))
            if self.chance(0.85):
                self.smoother(prefix + side)
        self.maybe(0.2, "-%spc_mg_type" % prefix, self.pick(["additive", "full", "kaskade", "multiplicative"]))
        self.maybe(0.2, "-%spc_mg_cycle_type" % prefix, self.pick(["v", "w"]))
        self.maybe(0.15, "-%spc_mg_galerkin" % prefix, self.pick(["both", "pmat", "none"]))
        self.maybe(0.2, "-%smg_coarse_pc_type" % prefix, self.pick(["vpatchdg", "lu", "jacobi", "redundant"]))

    def composite(self, prefix):
        self.add("-%spc_type" % prefix, "composite", "-%spc_composite_type" % prefix, self.pick(["additive", "multiplicative"]),
                 "-%spc_composite_pcs" % prefix, self.pick(["vpatchdg,vpatch", "vpatch,vpatchdg", "vpatchdg,jacobi", "vpatchdg,none"]))
        self.maybe(0.5, "-%ssub_0_pc_vpatchdg_precision" % prefix, "double")

    def inner(self, prefix):
        self.add("-%spc_type" % prefix, "ksp", "-%sksp_ksp_type" % prefix, self.krylov(["richardson"], ["cg", "gmres", "fgmres"]),
                 "-%sksp_ksp_rtol" % prefix, self.pick(["1e-2", "1e-12"]), "-%sksp_ksp_max_it" % prefix, self.pick([1, 5, 20]))
        if self.ksp not in FLEXIBLE:  # as many iterations for every vector make a linear map
            self.add("-%sksp_ksp_norm_type" % prefix, "none")
        self.cycle(prefix + "ksp_")

    def other(self, prefix):
        out = ["kaczmarz"] * (self.ksp in NEED_SYMMETRIC) + ["bjacobi", "asm"] * ("sbaij" in self.arguments)
        self.add("-%spc_type" % prefix, self.pick([pc for pc in OTHER_PCS + self.gamg() if pc not in out]))

    def draw_rough(self):
        """a coefficient that jumps inside coarse cells, and a solver that is left alone or hands over where it is told to"""
        if self.chance(0.3):
            self.add("-dm_vpatchdg_refine_point", ",".join(["0.3"] * self.dim), "-dm_vpatchdg_refine_levels", self.pick([1, 2]))
        self.add("-fuzz_coefficient", self.pick([2, 3, 4]), "-fuzz_range", self.pick(["2", "10", "100", "1e3", "1e4", "1e5"]),
                 "-fuzz_right_hand_side", "known")
        self.ksp = self.pick(["fgmres", "gcr", "fcg", "richardson", "cg", "gmres", "bcgs"], [6, 2, 2, 2, 2, 1, 1])
        self.add("-ksp_type", self.ksp, "-ksp_rtol", self.pick(["1e-6", "1e-8"]), "-ksp_max_it", self.pick([30, 200]), "-pc_type", "vpatchdg",
                 "-ksp_gmres_restart", self.pick([30, 200]))
        if self.ksp in NEED_SYMMETRIC and self.ksp != "fcg":
            self.add("-pc_vpatchdg_symmetric")
        if self.chance(0.4):
            self.add("-pc_vpatchdg_coarse", "volumes")
            self.maybe(0.5, "-pc_vpatchdg_levels", self.rng.randint(1, max(1, self.refine)))
        self.maybe(0.2, "-pc_vpatchdg_handover_ratio", self.pick(["1.5", "100", "1e99"]))
        self.maybe(0.2, "-pc_vpatchdg_cell_sweeps", self.pick([0, 1, 5]), "-pc_vpatchdg_cell_sweep_ratio", self.pick([0, 1, 2]))
        self.maybe(0.2, "-vpatchdg_coarse_pc_type", self.pick(["jacobi", "hypre"] + self.gamg()))
        self.maybe(0.15, "-vpatchdg_converged", "energy")
        self.maybe(0.15, "-pc_vpatchdg_precision", self.pick(["single", "double"]))
        self.maybe(0.2, "-fuzz_solves", 2)
        self.maybe(0.1, "-fuzz_change")
        self.maybe(0.1, "-ksp_guess_type", "vpatchdg")

    # ---- what must be refused

    def spoil(self):
        """one thing that does not exist or does not go together with the rest"""
        always = [("-dm_vpatchdg_dim", "4"), ("-dm_vpatchdg_dim", "1"), ("-dm_vpatchdg_degree", "0"), ("-dm_vpatchdg_degree", "9"),
                  ("-dm_vpatchdg_degree", "-3"), ("-dm_vpatchdg_degree", "2.5"), ("-dm_vpatchdg_penalty", "-1"),
                  ("-dm_vpatchdg_penalty", "0"), ("-dm_vpatchdg_penalty", "nan"), ("-dm_vpatchdg_penalty", "inf"),
                  ("-dm_vpatchdg_penalty", "big"), ("-dm_vpatchdg_reaction", "-1"), ("-dm_vpatchdg_reaction", "nan"),
                  ("-dm_vpatchdg_domain", "sphere"), ("-dm_vpatchdg_domain", "boxes"), ("-dm_vpatchdg_boundary", "open"),
                  ("-dm_vpatchdg_boundary", "dirichlet,neumann"), ("-dm_vpatchdg_boundary", "dirichlet,dirichlet,dirichlet,"),
                  ("-dm_vpatchdg_boxes", "0,1,1,1"), ("-dm_vpatchdg_boxes", "2"), ("-dm_vpatchdg_lower", "5"),
                  ("-dm_refine", "-1"), ("-dm_refine", "40"), ("-dm_refine", "two"), ("-dm_mat_type", "nothing"),
                  ("-dm_vec_type", "nothing"), ("-dm_vpatchdg_backend", "tpu"), ("-dm_vpatchdg_transport", "pigeon"),
                  ("-ksp_type", "nothing"), ("-pc_type", "nothing"), ("-ksp_guess_type", "nothing"), ("-ksp_rtol", "x")]
        if "-pc_vpatchdg_levels" in self.arguments or self.arguments[self.arguments.index("-pc_type") + 1] == "vpatchdg":
            always += [("-pc_vpatchdg_space", "empty"), ("-pc_vpatchdg_residual", "none"), ("-pc_vpatchdg_smooth_pre", "-2"),
                       ("-pc_vpatchdg_smooth_post", "x"), ("-pc_vpatchdg_corners", "-2"),
                       ("-pc_vpatchdg_cycle_type", "x"), ("-pc_vpatchdg_levels", "-2"),
                       ("-pc_vpatchdg_levels", "30"), ("-pc_vpatchdg_precision", "half"), ("-pc_vpatchdg_exchange", "never"),
                       ("-pc_vpatchdg_coarse", "none"), ("-pc_vpatchdg_gather", "-2"), ("-pc_vpatchdg_symmetric", "maybe"),
                       ("-pc_vpatchdg_space", "full", "-pc_vpatchdg_residual", "local"),
                       ("-pc_vpatchdg_smooth_pre", "0", "-pc_vpatchdg_smooth_post", "0"),
                       ("-pc_vpatchdg_symmetric", "-pc_vpatchdg_smooth_pre", "1", "-pc_vpatchdg_smooth_post", "2")]
        self.add(*self.pick(always))  # the last one of an option counts
        self.refused = True
