#!/usr/bin/perl
# a_rank_that_fails in the middle of a solve ends the program: nobody waits for it for ever, and its message says why.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

my $cuda = ($ENV{VPATCHDG_TEST} // '') eq 'cuda';

sub fails {
  my ($ranks, $options, $why) = @_;
  my $out = `timeout -k 10 100 $ENV{MPIEXEC} -n $ranks $build/bin/fault -pc_type vpatchdg $options 2>&1`;
  my $status = $?;
  ok($status && $status >> 8 != 124 && $out =~ /$why/ && $out !~ /solved/, "a_rank_that_fails, $ranks ranks, $options") or diag("status $status\n$out");
}

# alone nothing is packed on the host
for my $ranks ($cuda ? 1 : (), 2, 3) {
  fails($ranks, $_, $cuda ? 'illegal memory access|cuBLAS error' : 'A message could not be packed')
    for '-ksp_type fgmres', '-ksp_type richardson', '-pc_vpatchdg_precision double -ksp_type cg', '-pc_vpatchdg_replay 0 -ksp_type gmres';
}
# NCCL links ranks that have GPUs of their own
SKIP: {
  skip 'there are not two GPUs', 1 if !$cuda || `nvidia-smi -L | wc -l` < 2;
  fails(2, '-fault_link -dm_vpatchdg_transport nccl', 'NCCL: ');
}
done_testing();
