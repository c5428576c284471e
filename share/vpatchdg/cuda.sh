# shellcheck shell=sh
# Part of setup.sh: finds nvcc, the architectures to compile for, what to link, and NCCL's header.
# Heeded: CUDA (0: leave it out, 1: insist), NVCC (this one or none) or CUDA_HOME or CUDA_DIR, CUDA_ARCH, CXX (nvcc's host compiler);
# NCCL (0, 1: as CUDA), NCCL_HOME or NCCL_DIR (there or nowhere).

# of compute capability 8.0 or later, one a line
gpus() { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -un | awk '$1 >= 80'; }

# are all goals such as run on the CPU where there is no GPU?
only_runs() {
  for g in $goals; do
    case $g in run | check | bench | paper | fuzz) ;; *) return 1 ;; esac
  done
  [ "$goals" != "  " ]
}

# left_out: is nvcc there, but not worth the minutes that it takes?
find_nvcc() {
  nvcc= left_out=
  [ "$CUDA" != 0 ] || return
  for try in ${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/nvcc} ${CUDA_DIR:+$CUDA_DIR/bin/nvcc} nvcc $petsc_nvcc /usr/local/cuda/bin/nvcc}; do
    nvcc=$(command -v "$try") && break
  done
  if [ -n "$nvcc" ] && [ -z "$CUDA" ] && only_runs && [ -z "$(gpus)" ]; then
    nvcc= left_out=1
  fi
}

# what can not be used is left out, unless CUDA=1 insists on it
without_cuda() {
  [ "$CUDA" != 1 ] || die "CUDA=1, but $1"
  echo "vpatchdg: without CUDA, since $1" >&2
  nvcc=
}

# those asked for; or those of the GPUs at hand; or 80 and 90
choose_arch() {
  known=$("$nvcc" --list-gpu-arch | sed 's/compute_//')
  arch=$(echo $CUDA_ARCH | sed 's/,/ /g; s/sm_//g; s/\.//g')
  for a in $arch; do
    echo "$known" | grep -qx "${a%[af]}" && [ "${a%[af]}" -ge 80 ] ||
      die "CUDA_ARCH=$CUDA_ARCH: the kernels need 80 or later, and $nvcc knows $(echo $known)"
  done
  [ -n "$arch" ] || arch=$(gpus | grep -xF "$known")
  [ -n "$arch" ] || arch=$(printf '80\n90\n' | grep -xF "$known")
  arch=$(echo $arch)
}

# INCLUDES or LIBRARIES: nvcc's own options
paths() {
  : >"$tmp/try.cu"
  "$nvcc" -dryrun "$tmp/try.cu" 2>&1 | sed -n "s/^#\$ $1= *//p" | tr -d '"'
}

# compiles and links as the library does; once, since this takes seconds
try_cuda() {
  grep -qsxF "CUDA_NVCC   := $cuda_nvcc" "$folder/cuda.last" && return
  cat >"$tmp/try.cu" <<'END'
#include <petscsys.h>
struct Base { virtual ~Base() {} };
struct Tables { double a[3000]; };
__global__ void kernel(const __grid_constant__ Tables t, double *x) { *x = t.a[0]; }
extern "C" void try_it(double *x, const Tables *t, Base *b) { kernel<<<1, 1>>>(*t, x); delete b; }
END
  $cuda_nvcc -Xcompiler -fPIC $cuda_cflags -c "$tmp/try.cu" -o "$tmp/try.o" 2>&1 &&
    $cc -shared -o "$tmp/try.so" "$tmp/try.o" $cuda_libs 2>&1
}

# cuda_nvcc, cuda_cflags, cuda_libs: empty without CUDA
find_cuda() {
  cuda_nvcc= cuda_cflags= cuda_libs=
  [ -n "$nvcc$left_out" ] || [ "$CUDA" = 0 ] || [ -z "$CUDA$NVCC" ] ||
    without_cuda "there is no nvcc in ${NVCC:-CUDA_HOME/bin, CUDA_DIR/bin, PATH or /usr/local/cuda/bin}"
  [ -n "$nvcc" ] || return
  choose_arch
  [ -n "$arch" ] || without_cuda "$nvcc does not know the architecture 80"
  [ -n "$nvcc" ] || return
  cuda_nvcc="$nvcc -ccbin $cxx"
  # no complex numbers, for which PETSc includes Thrust, half of what a small file compiles; where mpi.h is; machine code for every
  # architecture; the last one's PTX for GPUs to come
  cuda_cflags="-DPETSC_SKIP_COMPLEX $petsc_cflags $(echo '#include <mpi.h>' | preprocess | sed -n 's|^# [0-9]* "\(.*\)/mpi\.h".*|-I\1|p' | head -n 1)"
  for a in $arch; do cuda_cflags="$cuda_cflags -gencode arch=compute_$a,code=sm_$a"; done
  cuda_cflags="$cuda_cflags -gencode arch=compute_$a,code=compute_$a"
  for dir in $(paths LIBRARIES | sed 's/-L//g'); do
    [ ! -f "$dir/libcudart_static.a" ] || cuda_libs="-L$(cd "$dir" && pwd)"
  done
  cuda_libs="$cuda_libs -lcudart_static -lrt -ldl -lpthread -lstdc++"
  said=$(try_cuda) && return
  without_cuda "$nvcc with $cxx can not be used:

$(echo "$said" | grep -i error || echo "$said")
"
  cuda_nvcc= cuda_cflags= cuda_libs=
}

# nccl: the path of its header; nccl_cflags, nccl_libs. Empty without NCCL. The library is opened at run time: a folder that was named is where to look
find_nccl() {
  nccl= nccl_cflags= nccl_libs= home=${NCCL_HOME:-$NCCL_DIR}
  [ -n "$cuda_nvcc" ] || [ "$NCCL" != 1 ] || die "NCCL=1, but without CUDA there is nothing to use it: CUDA=1 says what is missing"
  [ -n "$cuda_nvcc" ] && [ "$NCCL" != 0 ] || return 0
  nccl=$(echo '#include <nccl.h>' | $cxx -x c++ -M ${home:+-I "$home/include"} $(paths INCLUDES) - 2>/dev/null | tr ' ' '\n' | grep '/nccl\.h$' | head -n 1)
  [ -z "$home" ] || [ -f "$home/include/nccl.h" ] || nccl=
  if [ -n "$nccl" ]; then
    nccl_cflags="-DVP_HAVE_NCCL${home:+ -isystem $home/include}"
    for dir in ${home:+"$home/lib" "$home/lib64"}; do
      [ ! -f "$dir/libnccl.so.2" ] || nccl_libs="-Wl,-rpath,$dir"
    done
  elif [ "$NCCL" = 1 ]; then
    die "NCCL=1, but there is no nccl.h in ${home:-the path of $nvcc and $cxx: NCCL_HOME=... names a folder with include/nccl.h}${home:+/include}"
  fi
}
