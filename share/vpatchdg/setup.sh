#!/bin/sh
# setup.sh FOLDER GOAL...: finds MPI, PETSc, p4est, CUDA (and prove, to check) and writes what the makefile needs to know to config.mk,
# cuda.mk, nccl.mk and goals.mk in FOLDER. Without a GPU, the goals run, check, bench, paper and fuzz alone leave CUDA out, unless CUDA=1.
# For the goals run, check, bench, paper, check-gpu, bench-gpu, doc and setup, missing packages are installed on Debian and Ubuntu where that is allowed.
# To check with the system's PETSc, its petsc4py and slepc4py are installed, too, where that is allowed: tests in Python are skipped without them.
# Heeded: PETSC_DIR and PETSC_ARCH, PKG_CONFIG_PATH, P4EST_DIR, CC (an MPI compiler), MPIEXEC, and what cuda.sh beside this file names.
folder=$1
shift
goals=" $* "

die() {
  printf '\nvpatchdg: %s\n\n' "$1" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
goal() { case "$goals" in *" $1 "*) true ;; *) false ;; esac; }
pc() { pkg-config "$@" "$name" 2>/dev/null; }
# preprocesses standard input; mpicc adds its flags only where it sees a file
preprocess() {
  cat >"$tmp/try.c"
  $cc "$@" -E "$tmp/try.c" 2>&1
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/cuda.sh"

# what a found PETSc says of itself; name is that of its pkg-config file
find_petsc() {
  path=$PKG_CONFIG_PATH
  if [ -n "$PETSC_DIR" ]; then
    path=$PETSC_DIR${PETSC_ARCH:+/$PETSC_ARCH}/lib/pkgconfig
    [ -d "$path" ] || die "PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH: there is no $path"
    path=$path${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  fi
  export PKG_CONFIG_PATH="$path"
  for name in petsc PETSc petsc-real petsc_real; do
    pc --exists && break
    name=
  done
  [ -n "$name" ] || return 1
  conf=$(pc --variable=prefix)/lib/petsc/conf/petscvariables
  [ -n "$cc" ] || cc=$(pc --variable=ccompiler)
  [ ! -f "$conf" ] || mpiexec=$(sed -n 's/^MPIEXEC *= *//p' "$conf") petsc_nvcc=$(sed -n 's/^CUDAC *= *//p' "$conf") \
    lapack=$(sed -n 's/^BLASLAPACK_LIB *= *//p' "$conf")
}

# the packages that provide what is not there
missing() {
  cc=$CC cxx=${CXX:-g++} mpiexec= petsc_nvcc= lapack= name=
  has pkg-config || printf 'pkg-config '
  has pkg-config && find_petsc || [ -n "$PETSC_DIR" ] || printf 'libpetsc-real-dev '
  cc=${cc:-mpicc} mpiexec=${mpiexec:-mpiexec}
  launcher=${MPIEXEC:-$mpiexec}
  has "${cc%% *}" && echo '#include <mpi.h>' | preprocess >/dev/null || printf 'gcc libc6-dev libopenmpi-dev '
  has "${launcher%% *}" || printf 'openmpi-bin '
  [ -n "$P4EST_DIR" ] || echo '#include <p8est_vtk.h>' | preprocess $(pc --cflags-only-I) >/dev/null || printf 'libp4est-dev '
  ! goal check || has prove || printf 'perl '
  ! goal doc || has sphinx-build || printf 'python3-sphinx '
  find_nvcc
  [ -z "$nvcc" ] || has "$cxx" || printf 'g++ '
}

# those of these packages that this system has and has not installed
known() {
  for package; do
    dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed' || ! apt-cache show "$package" >/dev/null 2>&1 || printf '%s ' "$package"
  done
}

# what tests in Python take beside the system's PETSc; that of PETSC_DIR has its own petsc4py
wanted() {
  has apt-get && goal check || return 0
  case $(pc --variable=prefix) in /usr/lib/*) known python3-petsc4py python3-slepc4py ;; esac
}

# may packages be installed? sudo: by which command
allowed() {
  goal run || goal check || goal bench || goal paper || goal check-gpu || goal bench-gpu || goal doc || goal setup || return 1
  has apt-get || return 1
  sudo=
  [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null && sudo='sudo -n'; }
}
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >&2; }
install() {
  echo "vpatchdg: installing $1" >&2
  apt install -y --no-install-recommends $1
}

need=$(missing)
if [ -n "$need" ]; then
  allowed || die "something is missing. On Debian and Ubuntu these packages have it (\`make setup\` as root installs them):

  apt-get install $need

Elsewhere: an MPI, p4est 2.2 or later (P4EST_DIR=...), PETSc 3.18 to 3.26 (PETSC_DIR=... PETSC_ARCH=... or PKG_CONFIG_PATH=...), perl, for \`make doc\` Sphinx;
g++ only with CUDA (CUDA=0 leaves it out)."
  apt update
  install "$need" || die "apt-get could not install $need"
fi
need=$(missing)
[ -z "$need" ] || die "still missing after the installation: $need"
missing >/dev/null # once more in this shell, for its variables
need=$(wanted)
[ -z "$need" ] || ! allowed || install "$need" || echo "vpatchdg: apt-get could not install $need: tests in Python are skipped" >&2

petsc_cflags=$(pc --cflags-only-I | sed 's/-I */-isystem /g')
petsc_libs="$(pc --libs) $(pc --libs-only-L | sed 's/-L */-Wl,-rpath,/g') $lapack"
# what an MPI compiler adds by itself, for users of the installed library who compile with another (CMake does)
mpi=$($cc -show 2>/dev/null)
mpi_cflags=$(printf '%s\n' $mpi | grep '^-I' | tr '\n' ' ')
mpi_libs=$(printf '%s\n' $mpi | grep '^-[Ll]\|^-Wl,-*rpath\|^-Wl,/' | tr '\n' ' ')
p4est_cflags=${P4EST_DIR:+-isystem $P4EST_DIR/include}
p4est_libs="${P4EST_DIR:+-L$P4EST_DIR/lib -Wl,-rpath,$P4EST_DIR/lib} -lp4est -lsc"

# the kinds of PETSc and p4est this library can be built with
said=$(preprocess $petsc_cflags $p4est_cflags <<'END'
#include <petscconf.h>
#include <petscversion.h>
#include <p4est_config.h>
#if PETSC_VERSION_MAJOR != 3 || PETSC_VERSION_MINOR < 18 || PETSC_VERSION_MINOR > 26
  #error its version is outside 3.18 to 3.26
#endif
#if defined(PETSC_USE_COMPLEX)
  #error its scalars are complex: real ones (--with-scalar-type=real) are needed
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
  #error its precision is not double (--with-precision=double)
#endif
#if defined(PETSC_HAVE_MPIUNI)
  #error it is built without MPI
#endif
#if !defined(P4EST_ENABLE_MPI)
  #error p4est is built without MPI
#endif
#if defined(PETSC_HAVE_CUDA)
petsc_has_cuda
#endif
END
) || die "PETSc $(pc --modversion) in $(pc --variable=prefix) can not be used:

$(echo "$said" | sed -n 's/.*error: *#error */  /p; s/.*fatal error: */  /p')

Another PETSc is chosen by PETSC_DIR=... PETSC_ARCH=... or PKG_CONFIG_PATH=..."

petsc_cuda=$(echo "$said" | sed -n 's/^petsc_has_cuda/1/p')
find_cuda
find_nccl
# without OpenMP, set-up runs in one thread
echo 'int main(void) { return 0; }' >"$tmp/try.c"
openmp=
! $cc -fopenmp "$tmp/try.c" -o "$tmp/try" >/dev/null 2>&1 || openmp=-fopenmp

# what the other objects depend on, and what the CUDA ones do; files that stay the same keep their dates
write() {
  cat >"$folder/$1.new"
  if cmp -s "$folder/$1" "$folder/$1.new"; then rm "$folder/$1.new"; else mv "$folder/$1.new" "$folder/$1"; fi
}
mkdir -p "$folder"
write config.mk <<END
# written by setup.sh; CFLAGS=$CFLAGS LDFLAGS=$LDFLAGS ARCH=$ARCH
PETSC_VERSION := $(pc --modversion)
PETSC_CC      := $cc
PETSC_MPIEXEC := $mpiexec
PETSC_CFLAGS  := $petsc_cflags $p4est_cflags
PETSC_LIBS    := $p4est_libs $petsc_libs
USER_CFLAGS   := $(pc --cflags-only-I) $mpi_cflags
USER_LIBS     := $petsc_libs $mpi_libs
PETSC_CUDA    := $petsc_cuda
P4EST_LIBS    := $p4est_libs
OPENMP        := $openmp
END
write cuda.mk <<END
# written by setup.sh; NVCCFLAGS=$NVCCFLAGS
CUDA_NVCC   := $cuda_nvcc
CUDA_CFLAGS := $cuda_cflags
CUDA_LIBS   := $cuda_libs
END
write nccl.mk <<END
# written by setup.sh
NCCL_HEADER := $nccl
NCCL_CFLAGS := $nccl_cflags
NCCL_LIBS   := $nccl_libs
END
# apart, since nothing that is built depends on it
write goals.mk <<END
# written by setup.sh
CUDA_LEFT_OUT := $left_out
END
# what CUDA's objects depend on: the same, as it was when there was CUDA last, so that they outlive builds without it
[ -z "$cuda_nvcc" ] || for part in cuda nccl; do write $part.last <"$folder/$part.mk"; done
