#!/usr/bin/perl
# share/vpatchdg/compare.py: its table, its plots, and what it says where something is missing or fails.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

plan(skip_all => 'no python3') if system('python3 -c "" 2>/dev/null');
$ENV{ASAN_OPTIONS} = 'detect_leaks=0'; # MPI's

sub compare {
  my ($arguments) = @_;
  return `BUILD=$build python3 share/vpatchdg/compare.py --poisson $build/bin/poisson $arguments 2>&1`;
}
sub options_file {
  my ($name, @lines) = @_;
  open(my $f, '>', "$folder/$name.opts");
  print $f map { "$_\n" } @lines;
  close($f);
  return "$folder/$name.opts";
}

my $out = compare('--ranks 2 fgmres.opts share/vpatchdg/options/richardson.opts -dm_vpatchdg_dim 2 -dm_vpatchdg_lower -1,-1 -dm_refine 2');
ok(!$? && $out =~ /^fgmres +\d+ .*CONVERGED_RTOL\nrichardson .*CONVERGED_RTOL\n/m, 'compare_prints_a_table') or diag($out);
my $same = compare('fgmres.opts --ranks 2 -- -dm_vpatchdg_dim 2 -dm_refine 2');
ok(!$? && $same =~ /^fgmres .*CONVERGED_RTOL/m, 'compare_takes_two_dashes') or diag($same);
like(compare('fgmres --ranks 2 -dm_vpatchdg_dim 2 -dm_refine 2'), qr/^fgmres .*CONVERGED_RTOL/m, 'compare_adds_opts_to_a_name');
like(compare('chebyshev.opts -dm_refine 1 -dm_vpatchdg_dim 2'), qr/^chebyshev .*CONVERGED_RTOL/m, 'compare_runs_an_opponent');

# what it draws is what it tabulates: the residuals of the same run
for my $ksp (qw(fgmres cg richardson)) {
  my $r = report(1, "-options_file share/vpatchdg/options/$ksp.opts -dm_refine 2");
  my $history = $r->{history} || [];
  ok(@$history == $r->{iterations} + 1 && $history->[0] == 1 && abs($history->[-1] / $r->{relative_residual} - 1) < 0.1, "history_is_the_solves, $ksp")
    or diag(explain($r));
}
is_deeply(report(1, '-dm_refine 1 -ksp_type preonly')->{history}, [], 'history_is_empty_where_nothing_is_measured');

# a run that fails is shown, the others are tabulated; what PETSc was built without is named
my $bad = options_file('bad', '-pc_type vpatchdg', '-pc_vpatchdg_levels 99');
$out = compare("$bad fgmres.opts -dm_refine 1");
ok($? >> 8 == 1 && $out =~ /^bad .*levels 99/m && $out =~ /^bad: the last lines of its output\n(?:  .*\n)*  .*PETSC ERROR/m && $out =~ /^fgmres .*CONVERGED_RTOL/m,
  'compare_shows_the_run_that_fails') or diag($out);
my $less = options_file('less', '-pc_type amgof2099');
$out = compare("$less fgmres.opts -dm_refine 1");
ok(!$? && $out =~ /^less +this PETSc has no amgof2099$/m && $out !~ /last lines/, 'compare_names_what_this_petsc_has_not') or diag($out);
my $solver = options_file('solver', '-dm_mat_type aij', '-pc_type lu', '-pc_factor_mat_solver_type luof2099');
$out = compare("$solver -dm_refine 1 fgmres.opts");
ok(!$? && $out =~ /^solver +this PETSc has no luof2099$/m, 'compare_names_the_solver_that_this_petsc_has_not') or diag($out);
open(my $sleeps, '>', "$folder/sleeps");
print $sleeps "#!/bin/sh\nexec sleep 60\n";
close($sleeps);
chmod(0755, "$folder/sleeps");
$out = compare("--timeout 1 --mpiexec $folder/sleeps fgmres.opts -dm_refine 1");
like($out, qr/^fgmres +more than 1 seconds$/m, 'compare_ends_what_takes_too_long');

# what is missing is said before anything runs
for (['--mpiexec /nowhere/mpiexec', 'there is no /nowhere/mpiexec'], ['--poisson /nowhere/poisson', 'there is no program /nowhere/poisson'],
     ['nosuch.opts', 'there is no options file .*nosuch.opts; these are there: .*fgmres.opts']) {
  my ($arguments, $text) = @$_;
  $out = compare("$arguments fgmres.opts -dm_refine 1");
  ok($? && $out =~ /^compare.py: $text/ && $out !~ /fgmres /, "compare_misses, $arguments") or diag($out);
}
my $plot = "$folder/plot.svg";
if (system('python3 -c "import matplotlib" 2>/dev/null')) {
  $out = compare("fgmres.opts --plot $plot -dm_refine 1");
  ok($? && $out =~ /^compare.py: plots need matplotlib/ && $out !~ /fgmres /, 'compare_misses, matplotlib') or diag($out);
} else {
  $out = compare("fgmres.opts cg.opts --plot $plot --picture $folder/picture.svg -dm_refine 1");
  ok(!$?, 'compare_draws') or diag($out);
  for my $file ($plot, "$folder/picture.svg") {
    my $svg = -e $file ? do { local (@ARGV, $/) = $file; <> } : '';
    ok($svg =~ />fgmres</ && $svg =~ />cg</ && $svg =~ />seconds, set-up included</, "compare_draws_curves, $file");
  }
}
done_testing();
