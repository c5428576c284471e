#!/bin/sh
# run.sh RANKS PROGRAM [ARGUMENT...]: a test program on that many ranks, within a time limit. Its TAP goes through; what else is
# found wrong (memory that PETSc's -malloc_dump or the leak sanitizer reports) becomes one more line "not ok".
ranks=$1
shift
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

if [ -n "$SANITIZE" ]; then
  # MPI leaks by itself, below MPI_Init: all reports are written down and sorted here
  export ASAN_OPTIONS="fast_unwind_on_malloc=0:log_path=$log/leak:$ASAN_OPTIONS" LSAN_OPTIONS="exitcode=0:$LSAN_OPTIONS"
else
  export PETSC_OPTIONS="-malloc_dump $PETSC_OPTIONS"
fi

# small problems would be inverted on a GPU and nothing else tested: they take all levels
[ "$VPATCHDG_TEST" != cuda ] || export PETSC_OPTIONS="-pc_vpatchdg_levels 0 $PETSC_OPTIONS"

timeout -k 10 "${TIME_LIMIT:-300}" $MPIEXEC -n "$ranks" "$@" >"$log/out"
status=$?
# PETSc's dump: "[rank]size bytes function() at file:line"
grep -v '^ *\[ *[0-9]*\] *[0-9][0-9]* bytes \|^\[ *[0-9]*\]Total space allocated' "$log/out"
grep '^ *\[ *[0-9]*\] *[0-9][0-9]* bytes ' "$log/out" >"$log/ours"
# a leak is ours with a frame in src/ (but for sc_init, which loses a key), or in a test outside of the starting and ending of PETSc and MPI;
# what MPI has unloaded seems to be in any file, the test's own included, but has no lines there
[ -z "$SANITIZE" ] || cat "$log"/leak* 2>/dev/null | perl -00 -ne '
  print if /ERROR: AddressSanitizer|runtime error/
    || /leak of/ && (m{ (\S*/)?src/(base|communication|mesh|tables|kernels|level|smoother|coarse|cycle|petsc)/} && !/ in sc_init /
      || m{ ([^\s(]*/)?(tests|examples)/} && !/ in (Petsc|MPI_)(Initialize|Init|Finalize)/ && !/ in sc_init /)' >>"$log/ours"
if [ -s "$log/ours" ]; then
  echo "not ok - no memory is lost or misused"
  sed 's/^/# /' "$log/ours"
  exit 1
fi
[ $status != 124 ] || echo "not ok - the test ends within ${TIME_LIMIT:-300} seconds"
exit $status
