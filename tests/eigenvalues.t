#!/usr/bin/perl
# Eigenvalues of -div grad with Neumann sides everywhere, over pi^2, by SLEPc's shift-and-invert and each of the KSPs that our pages recommend.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;
my $python = python() or plan(skip_all => 'no python3 with a petsc4py of this PETSc');
plan(skip_all => 'no slepc4py here') if system("$python -c 'import slepc4py' 2>/dev/null");

my %exact = (2 => [0, 1, 1, 2, 4, 4, 5], 3 => [0, 1, 1, 1, 2, 2, 2]);

# Refinement gains ten digits, where rounding errors of A x end it. At target -1e-3, the solution is a thousand times as large and it gains seven.
sub finds {
  my ($dim, $refine, $ksp, $target) = @_;
  my @exact = $target ? @{$exact{$dim}} : (@{$exact{$dim}}[1 .. 6]);
  my $tolerance = $ksp ne 'richardson' ? 1e-12 : $target == -1e-3 ? 1e-7 : 1e-10;
  my $symmetric = $ksp =~ /cg$/ ? '-st_pc_vpatchdg_symmetric -st_pc_vpatchdg_smooth_pre 1' : '';
  my $said = `$python -B examples/eigenvalues.py -dll_append ./$build/lib/libvpatchdg.so -dm_vpatchdg_boundary neumann -dm_vpatchdg_dim $dim -dm_vpatchdg_degree 4 -dm_refine $refine -eps_nev @{[scalar @exact]} -eps_ncv 30 -eps_tol 1e-10 -eps_target $target -st_type sinvert -st_ksp_type $ksp -st_ksp_rtol $tolerance -st_pc_type vpatchdg $symmetric -vpatchdg_warnings 0 2>&1`;
  my (@value, @residual);
  push(@value, $1), push(@residual, $2) while $said =~ /^(-?\d+\.\d+)  residual (\S+)/mg;
  my $right = @value >= @exact && !(grep { abs($value[$_] - $exact[$_]) > 1e-6 } 0 .. $#exact);
  my $most = (sort { $b <=> $a } @residual)[0] // 1;
  ok($right && $most < ($target == -1e-3 ? 3e-5 : 1e-6), "neumann_eigenvalues_are_found: ${dim}D, target $target, $ksp: @value, residuals up to $most") or diag($said);
}

for my $target (0, -1, -1e-3) {
  finds(2, 4, $_, $target) for qw(fgmres gcr fcg gmres cg bcgs richardson);
}
for my $target (0, -1) {
  finds(3, 2, $_, $target) for qw(fgmres cg);
}
done_testing();
