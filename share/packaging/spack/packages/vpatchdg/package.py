"""`spack repo add share/packaging/spack`, then in a checkout `spack dev-build vpatchdg@main +cuda cuda_arch=90`."""
from spack.package import *


class Vpatchdg(MakefilePackage, CudaPackage):
    """Discontinuous Galerkin methods on boxes with vertex-patch multigrid, for PETSc."""

    license("BSD-2-Clause")
    version("main")  # one with a checksum comes with the first release

    variant("python", default=False, description="The package for petsc4py")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")  # writes the manual pages
    depends_on("mpi")
    depends_on("p4est@2.2: +mpi")
    depends_on("petsc@3.18:3.26 +mpi ~complex +double +shared")
    depends_on("petsc +cuda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    extends("python", when="+python")
    depends_on("py-petsc4py", type=("build", "run"), when="+python")
    depends_on("py-pip", type="build", when="+python")

    conflicts("cuda_arch=none", when="+cuda", msg="choose cuda_arch=80 or later")
    conflicts("^cuda@:12.0", when="+cuda")

    def edit(self, spec, prefix):
        # the compiler of Spack knows the target
        filter_file(r"-march=$(ARCH)", "", "makefile", string=True)

    @property
    def build_targets(self):
        spec = self.spec
        variables = [f"PETSC_DIR={spec['petsc'].prefix}", "PETSC_ARCH=", f"P4EST_DIR={spec['p4est'].prefix}", f"CC={spec['mpi'].mpicc}"]
        if "+cuda" not in spec:
            return variables + ["CUDA=0"]
        return variables + ["CUDA=1", f"CUDA_ARCH={' '.join(spec.variants['cuda_arch'].value)}", f"CUDA_HOME={spec['cuda'].prefix}"]

    @property
    def install_targets(self):
        return ["install", f"prefix={self.prefix}"] + self.build_targets

    @run_after("install")
    def install_package(self):
        if "+python" in self.spec:
            make("wheel", *self.build_targets)
            python("-m", "pip", "install", "--no-index", "--no-deps", f"--prefix={self.prefix}", *find("build/wheel", "*.whl"))

    def setup_run_environment(self, env):
        env.prepend_path("PKG_CONFIG_PATH", join_path(self.prefix.lib, "pkgconfig"))
