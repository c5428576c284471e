# What the tests of the programs share: run(ranks, program, arguments) gives its output, report(ranks, arguments) poisson's JSON, python() a python3
# whose petsc4py this library fits, with the package in its path, or undef.
package Example;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;
our @EXPORT = qw(run report python $build $folder);
our $build = $ENV{BUILD} || 'build';
our $folder = tempdir(CLEANUP => 1);
$ENV{MPIEXEC} ||= 'mpiexec';

# VPATCHDG_TEST=cuda: vectors live on the GPU, or, with a PETSc that has none there, are copied to it
if (($ENV{VPATCHDG_TEST} // '') eq 'cuda') {
  my $where = `cat $build/config.mk` =~ /^PETSC_CUDA *:= *1/m ? '-dm_vec_type cuda' : '-dm_vpatchdg_backend cuda';
  $ENV{PETSC_OPTIONS} = "$where " . ($ENV{PETSC_OPTIONS} // '');
}

sub run {
  my ($ranks, $program, $arguments) = @_;
  my $output = `tests/support/run.sh $ranks $build/bin/$program $arguments 2>&1`;
  diag("$program $arguments ($ranks ranks)\n", join("\n", grep { !/Configure options/ } (split(/\n/, $output), ('') x 15)[0 .. 14])) if $?;
  return $output;
}

sub python {
  return undef if $ENV{SANITIZE};
  ($ENV{SLEPC_DIR}) = glob('/usr/lib/slepcdir/slepc*/*-real') if !$ENV{SLEPC_DIR}; # where Debian's slepc4py is
  $ENV{VPATCHDG_LIBRARY} = "$build/lib/libvpatchdg.so";
  $ENV{PYTHONPATH} = 'share/python' . ($ENV{PYTHONPATH} ? ":$ENV{PYTHONPATH}" : '') if ($ENV{PYTHONPATH} // '') !~ /^share.python/;
  my ($found) = grep { $_ && !system("$_ -B -c 'import vpatchdg' >/dev/null 2>&1") } ($ENV{PYTHON}, 'python3', '/usr/bin/python3');
  return $found;
}

sub report {
  my ($ranks, $arguments) = @_;
  my $file = "$folder/report.json";
  unlink $file;
  run($ranks, 'poisson', "-report $file $arguments");
  open(my $handle, '<', $file) or return {};
  local $/;
  return decode_json(<$handle>);
}
1;
