#!/usr/bin/perl
# The examples do what they say.
use strict;
use warnings;
use JSON::PP;
use Test::More;
use lib 'tests/support';
use Example;

# poisson
my @keys = qw(bytes_per_dof cells cpu_setup cpu_solve degree dim dofs error_h1 error_l2 functional history iterations levels mdofs_per_second nu ranks reason relative_residual
              seconds_setup seconds_solve);
my $r = report(2, '-dm_vpatchdg_dim 2 -dm_refine 3');
is_deeply([sort keys %$r], \@keys, 'poisson_reports_the_keys');
is($r->{dofs}, 64 * 16, 'poisson_counts_unknowns');
ok(!defined $r->{error_l2} && !defined $r->{error_h1}, 'poisson_knows_no_error_for_f_1');

# the last of several solves is as the first, from 0 again
$r = report(2, '-dm_vpatchdg_dim 2 -dm_refine 3 -ksp_initial_guess_nonzero');
my $again = report(2, '-dm_vpatchdg_dim 2 -dm_refine 3 -ksp_initial_guess_nonzero -solves 3');
is_deeply([@$again{qw(iterations nu functional history)}], [@$r{qw(iterations nu functional history)}], 'poisson_solves_again');

for (['-dm_vpatchdg_dim 2 -dm_vpatchdg_domain box -dm_vpatchdg_degree 3 -dm_refine 3', 3.514424427023e-02],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_degree 2 -dm_refine 3', 2.140953464086e-01],
     ['-dm_vpatchdg_dim 3 -dm_vpatchdg_domain box -dm_vpatchdg_degree 2 -dm_refine 2', 2.016504851432e-02],
     ['-dm_vpatchdg_dim 3 -dm_vpatchdg_domain fichera -dm_vpatchdg_degree 2 -dm_refine 1', 3.984905749236e-01]) {
  my ($problem, $value) = @$_;
  my $f = report(1, "$problem -ksp_rtol 1e-12")->{functional} // 0;
  ok(abs($f / $value - 1) <= 1e-10, 'poisson_functional_is_known') or diag("$problem: $f");
}

# the errors in the report; tests/poisson.c has all equations
{
  my ($a, $b) = map { report(2, "-problem smooth -ksp_rtol 1e-10 -dm_vpatchdg_dim 2 -dm_vpatchdg_boundary robin,neumann,periodic,periodic -dm_refine $_") } (3, 4);
  my ($l2, $h1) = map { log(($a->{$_} // 1) / ($b->{$_} // 1)) / log(2) } ('error_l2', 'error_h1');
  ok($l2 > 3.7 && $h1 > 2.7, "poisson_reports_errors_that_fall_at_the_best_rate") or diag("rates $l2 $h1");
}

# coefficients at points, also on curved cells, with all conditions
for my $coefficient ('waves', 'exp', 'rotating') {
  my $problem = "-problem smooth -coefficient $coefficient -options_file share/vpatchdg/options/fcg.opts -ksp_rtol 1e-11 -dm_vpatchdg_dim 2";
  for my $options ('-dm_vpatchdg_boundary neumann,robin,dirichlet,neumann -dm_vpatchdg_robin 2', '-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05 -dm_vpatchdg_boundary neumann,dirichlet,dirichlet,neumann') {
    my ($x, $y) = map { report(2, "$problem $options -dm_refine $_") } (4, 5);
    my ($l2, $h1) = map { log(($x->{$_} // 1) / ($y->{$_} // 1)) / log(2) } ('error_l2', 'error_h1');
    ok($l2 > 3.7 && $h1 > 2.7, "poisson_has_full_order_with_coefficients_at_points, $coefficient $options") or diag("rates $l2 $h1");
  }
}

# an example that knows one solution refuses an equation with another
for (['adapt', '-dm_vpatchdg_boundary neumann', 'boundary neumann on side 0'], ['adapt', '-dm_vpatchdg_domain box', 'domain box: -problem corner'],
     ['own_boxes', '-dm_vpatchdg_reaction 2', 'reaction 2'], ['own_boxes', '-dm_vpatchdg_boundary robin', 'boundary robin on side 0'],
     ['channel', '-dm_vpatchdg_boundary periodic', 'boundary periodic on side 2'], ['pressure', '-dm_vpatchdg_boundary neumann', 'boundary neumann on side 0']) {
  my ($program, $options, $said) = @$_;
  my $out = `$ENV{MPIEXEC} -n 2 $build/bin/$program $options 2>&1`;
  ok($? && $out =~ /-dm_vpatchdg_$said/, "example_refuses_another_equation, $program $options") or diag($out);
}
{
  my $file = "$folder/diverged.json";
  my $out = `$ENV{MPIEXEC} -n 2 $build/bin/poisson -dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -ksp_type richardson -ksp_max_it 200 -ksp_divtol 1e308 -pc_type none -report $file 2>&1`;
  my $status = $?;
  my $diverged = -e $file ? decode_json(do { local (@ARGV, $/) = $file; <> }) : {};
  ok($status && ($diverged->{reason} // '') =~ /^DIVERGED/ && exists $diverged->{relative_residual} && !defined $diverged->{relative_residual},
    'poisson_fails_and_reports_null_when_it_diverges') or diag($out);
}
like(run(1, 'poisson', '-help'), qr/-dm_vpatchdg_degree.*-pc_vpatchdg_space/s, 'poisson_help_lists_the_options');

# a file for ParaView, read by others: its cells fill the domain, and its values are those of the solution, sin(2 pi x + 1) sin(2 pi y + 2) ...
SKIP: {
  my ($python) = grep { !system("$_ -c 'import meshio' >/dev/null 2>&1") } ('python3', '/usr/bin/python3');
  skip('no meshio here', 2) if !$python;
  for my $dim (2, 3) {
    my $file = "$folder/solution.vtu";
    run(2, 'poisson', "-problem smooth -dm_vpatchdg_dim $dim -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_refine_point " . join(',', (0.1) x $dim) . " -solution_view vtk:$file");
    my $said = `$python - <<'END' 2>&1
import meshio, numpy as np
m = meshio.read('$file')
x, = m.point_data.values()
corner = m.points[m.cells[0].data][..., :$dim]
edges = [corner[:, i] - corner[:, 0] for i in ((1, 3) if $dim == 2 else (1, 3, 4))]
volume = np.linalg.det(np.stack(edges, axis=-1)).sum()
exact = np.prod([np.sin(2 * np.pi * m.points[:, d] + d + 1) for d in range($dim)], axis=0)
print(m.cells[0].type, abs(volume - 1) < 1e-12, abs(x.ravel() - exact).max() < 0.01)
END`;
    is($said, ($dim == 2 ? 'quad' : 'hexahedron') . " True True\n", "meshio_reads_the_solution, ${dim}D");
  }
}

# adapt: errors fall at the best rate, with multigrid on one rank and two, and with another solver
for (['degree 2', 1, 9558, 5.5e-4, '-dm_vpatchdg_degree 2 -most 9000'], ['degree 3', 1, 9024, 6.7e-5, '-most 9000'],
     ['degree 3, 2 ranks', 2, 1152, 5e-3, '-most 1000'],
     ['degree 3, no multigrid', 1, 1152, 5e-3, '-most 1000 -pc_type jacobi -ksp_type cg'],
     ['maximum and coarsening', 1, 4000, 1.5e-3, '-most 2000 -marking maximum -coarsen 1e-4']) {
  my ($name, $ranks, $most, $bound, $options) = @$_;
  my $out = run($ranks, 'adapt', "-tolerance 0 $options");
  my ($unknowns, $estimate, $error) = $out =~ /(\d+) +\d+ +(\S+) +(\S+) +-\n\z/;
  ok(defined $error && $unknowns <= $most * 1.02 && $error <= $bound && $error < $estimate && $estimate < 6 * $error, "adapt_converges, $name") or diag($out);
}
{
  my ($unknowns, $error) = run(1, 'adapt', '-tolerance 0 -most 5000 -indicator surplus') =~ /(\d+) +\d+ +\S+ +(\S+) +-\n\z/;
  ok(defined $error && $unknowns < 6000 && $error < 5e-4, 'adapt_converges, surplus') or diag("$unknowns: $error");
}
{
  my $out = run(1, 'adapt', "-problem one -dm_vpatchdg_dim 3 -dm_vpatchdg_domain fichera -dm_vpatchdg_degree 1 -most 2000 -tolerance 0 -vtk $folder/adapt");
  my ($last, $functional) = $out =~ /\n +(\d+) +\d+ +\d+ +\d+ +\S+ +- (\S+)\n\z/;
  ok($last && -e "$folder/adapt-$last.vtu" && abs($functional - 0.3985) < 0.01, 'adapt_writes_every_step_in_3d') or diag($out);
}

# restart: several runs on other numbers of ranks do what one run does
{
  my $file = "$folder/restart";
  my $whole = run(2, 'restart', '-steps 5');
  is(run(3, 'restart', "-steps 2 -save $file") . run(1, 'restart', "-steps 1 -load $file -save $file-2") . run(4, 'restart', "-steps 2 -load $file-2 -dm_refine 2"),
    $whole, 'restart_goes_on');
  is(scalar(() = $whole =~ /^\d+ cells, estimate/mg), 5, 'restart_takes_its_steps') or diag($whole);
}

# plain: nothing but PETSc, and a plugin
for my $ranks (1, 2) {
  my $out = run($ranks, 'plain', "-dll_append $build/lib/libvpatchdg.so -dm_vpatchdg_degree 2 -dm_refine 3 -ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg -options_left");
  my ($residual) = $out =~ /true relative residual (\S+)/;
  ok(defined $residual && $residual <= 1e-7, "plain_solves_with_the_plugin, $ranks ranks") or diag($out);
  like($out, qr/no unused/, "plain_leaves_no_options, $ranks ranks");
}
my $out = run(2, 'plain', "-dll_append $build/lib/libvpatchdg.so -options_file share/vpatchdg/options/richardson.opts -dm_refine 2");
like($out, qr/CONVERGED_RTOL/, 'plain_reads_options_files');

# stencil: nothing but PETSc, finite differences, and a plugin
for my $ranks (1, 2) {
  for (['', 8, 'rows of the identity'], ['-dim 3 -da_grid_x 20', 8, 'rows of the identity'], ['-neumann', 9, 'centers, Neumann']) {
    my ($options, $most, $says) = @$_;
    my $out = run($ranks, 'stencil', "-dll_append $build/lib/libvpatchdg.so -ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg $options -ksp_view");
    my ($its, $residual) = $out =~ /after (\d+) iterations, true relative residual (\S+)/;
    ok(defined $residual && $residual <= 2e-8 && $its <= $most && $out =~ /$says/, "stencil_solves_with_the_plugin $options, $ranks ranks") or diag($out);
  }
}

# fem: the same for continuous elements. The error of degree k falls by 2^(k+1), and the answer is that of LU
for my $ranks (1, 2, 4) {
  for (['-petscspace_degree 1 -dm_plex_box_faces 16,16', 7, 2e-3], ['-petscspace_degree 2 -dm_plex_box_faces 16,16 -neumann', 7, 2e-5],
       ['-petscspace_degree 4 -dm_plex_box_faces 2,2 -dm_refine 1', 7, 1e-6], ['-petscspace_degree 3 -dm_plex_dim 3 -dm_plex_box_faces 4,4,4 -neumann', 8, 6e-5]) {
    my ($options, $most, $error) = @$_;
    my @got;
    for my $solver ('-ksp_type fgmres -pc_type vpatchdg -pc_vpatchdg_jacobi none -ksp_rtol 1e-8', '-ksp_type cg -pc_type jacobi -ksp_rtol 1e-11 -ksp_max_it 1000') {
      push @got, run($ranks, 'fem', "-dll_append $build/lib/libvpatchdg.so $options $solver") =~ /CONVERGED_\w+ after (\d+) iterations, error of u (\S+)/;
    }
    ok(@got == 4 && $got[0] <= $most && abs($got[1] / $got[3] - 1) < 0.05 && $got[1] < $error, "fem_solves_with_the_plugin $options, $ranks ranks") or diag("@got");
  }
}

# no solution but 0: a residual all the same
like(run(1, 'plain', "-dll_append $build/lib/libvpatchdg.so -dm_vpatchdg_boundary periodic -dm_refine 2 -ksp_type fgmres -pc_type vpatchdg"),
  qr/true relative residual 0\.0e\+00/, 'plain_reports_a_residual_of_b_0');

# first: the C program and the Python one, as they stand
my $told;
for my $ranks (1, 2) {
  $out = run($ranks, 'first', '-ksp_monitor_true_residual');
  my @residuals = $out =~ /\|\|r\(i\)\|\|\/\|\|b\|\| (\S+)/g;
  ($told) = $out =~ /^ *Linear solve converged due to CONVERGED_RTOL iterations (\d+)$/m;
  ok(@residuals && $residuals[-1] <= 1e-8 && $told, "first_solves_to_1e-8, $ranks ranks") or diag($out);
}
SKIP: {
  my $python = python();
  skip('no python3 with a petsc4py of this PETSc', 2) if !$python;
  my $said = `$python -B examples/first.py 2>&1`;
  like($said, qr/^64000 unknowns, $told iterations, CONVERGED_RTOL, /, 'first_py_takes_as_many_iterations_as_first');
  like($said, qr/^u = 0.05621 in the middle$/m, 'first_py_finds_u'); # 0.0562128 by the series of sines
}

# gmsh: the heat through layers, and one view of the DM
SKIP: {
  my $python = python();
  skip('no python3 with a petsc4py of this PETSc', 4) if !$python;
  for my $ranks (1, 3) {
    my $said = `tests/support/run.sh $ranks $python -B examples/gmsh.py -dm_refine 1 -dm_view 2>&1`;
    my ($heat) = $said =~ /^\d iterations, heat through the wall (\S+)$/m;
    ok(defined $heat && abs($heat - 20 / (0.3 + 0.1 / 0.04 + 1 / 8)) < 1e-4, "gmsh_finds_the_heat_through_a_wall, $ranks ranks") or diag($said);
    is(scalar(() = $said =~ /type: vpatchdg/g), 1, "gmsh_shows_one_dm, $ranks ranks") or diag($said);
  }
}

# pcmg: the smoother in PCMG gives the numbers of the cycle
for (['V(0,1)', 1, ''], ['V(0,1)', 3, ''], ['V(0,1) 2D', 2, '-dm_vpatchdg_dim 2 -dm_refine 4'],
     ['V(0,1) thin cells', 1, '-dm_vpatchdg_dim 2 -dm_vpatchdg_upper 16,1 -dm_refine 4'],
     ['V(0,1) thin boxes', 2, '-dm_vpatchdg_dim 2 -dm_vpatchdg_grid_x 0,1,1.0625 -dm_vpatchdg_grid_y 0,1,1.0625 -dm_refine 3'],
     ['V(0,1) thin cells 3D', 2, '-dm_vpatchdg_upper 4,1,2 -dm_refine 2'],
     ['V(1,1)', 1, '-mg_levels_ksp_max_it 1 -native_pc_vpatchdg_smooth_pre 1'], ['V(1,1)', 2, '-mg_levels_ksp_max_it 1 -native_pc_vpatchdg_smooth_pre 1']) {
  my ($name, $ranks, $options) = @$_;
  my $text = run($ranks, 'pcmg', "-dm_vpatchdg_degree 2 $options");
  my @rows = map { [$1, $2] if /^\s*\d+\s+(\S+)\s+(\S+)\s*$/ } split /\n/, $text;
  @rows = grep { ref } @rows;
  my @apart = grep { abs($_->[0] - $_->[1]) > 1e-6 * $_->[1] + 1e-12 * $rows[0][1] } @rows;
  ok(@rows > 2 && !@apart, "pcmg_equals_the_cycle, $name, $ranks ranks") or diag($text);
}

# own_boxes: a solution in the space is found up to the solver's tolerance
for my $ranks (1, 3) {
  my ($l2, $h1) = run($ranks, 'own_boxes', '-dm_refine 3') =~ /error (\S+) in L2, (\S+) in H1/;
  ok(defined $h1 && $l2 < 1e-7 && $h1 < 1e-6, "own_boxes_finds_its_polynomial, $ranks ranks");
}
# spectral: spectral elements of the user's as a MATSHELL, with the element restriction
for (['', 1, 7, '2.0168'], ['-dm_vpatchdg_degree 4 -dm_refine 3', 3, 7, '2.0168'], ['-dm_vpatchdg_dim 2 -dm_refine 4', 2, 7, '3.5144']) {
  my ($options, $ranks, $most, $product) = @$_;
  my $out = run($ranks, 'spectral', $options);
  my ($its, $residual, $fu) = $out =~ /(\d+) iterations, true relative residual (\S+), \(f,u\) (\S+)e-02/;
  ok(defined $fu && $its <= $most && $residual <= 1e-8 && $fu =~ /^$product/, "spectral_elements_are_solved $options, $ranks ranks") or diag($out);
}

# own_operator: a MATSHELL of the user's as Amat; a Pmat that is nearer to it takes fewer iterations, and -ksp_view names it
for my $ranks (1, 2) {
  my ($its, $residual) = run($ranks, 'own_operator', '') =~ /(\d+) iterations, relative residual (\S+)/;
  ok(defined $residual && $residual <= 1e-8, "own_operator_solves_to_1e-8, $ranks ranks");
  my ($more) = run($ranks, 'own_operator', '-c 0') =~ /(\d+) iterations/;
  cmp_ok($its, '<', $more, "own_operator_is_near_its_pmat, $ranks ranks");
}
# own_mesh: an operator on a DMDA, in another basis and order of cells, is the DM's, and its cycle solves with it
for my $ranks (1, 3) {
  my ($differ) = run($ranks, 'own_mesh', '-q 0 -n 45') =~ /differ by (\S+)/;
  ok(defined $differ && $differ < 1e-13, "own_mesh_has_the_operator_of_the_dm, $ranks ranks");
  my ($its, $residual) = run($ranks, 'own_mesh', '') =~ /(\d+) iterations, relative residual (\S+)/;
  ok(defined $residual && $residual <= 1e-8 && $its <= 9, "own_mesh_solves_to_1e-8, $ranks ranks");
}
like(run(1, 'own_operator', '-ksp_view'), qr/of s A \+ t I, s = 1\., t = 50\.$/m, 'the_view_shows_the_shift');
like(run(1, 'own_operator', '-c -5 -ksp_view'), qr/t = -5\., taken as 0 here$/m, 'the_view_shows_a_shift_that_is_left_out');
unlike(run(1, 'plain', "-dll_append $build/lib/libvpatchdg.so -dm_refine 2 -ksp_type fgmres -pc_type vpatchdg -ksp_view"), qr/of s A/, 'the_view_shows_no_shift_of_0');

# pressure: a guess from the steps before saves iterations
for my $ranks (1, 3) {
  my ($all, $error) = run($ranks, 'pressure', '-dm_refine 2') =~ /20 steps, (\d+) iterations, error of the last gradient (\S+)/;
  my ($less, $same) = run($ranks, 'pressure', '-dm_refine 2 -ksp_guess_type fischer') =~ /20 steps, (\d+) iterations, error of the last gradient (\S+)/;
  ok(defined $same && $error < 0.03 && abs($error - $same) < 1e-3 * $error, "pressure_is_found, $ranks ranks");
  cmp_ok($less, '<', 0.75 * $all, "pressure_is_found_sooner_with_a_guess, $ranks ranks");
}

# inclusions: a coefficient that jumps in few iterations where boxes follow it, and a picture of it
for my $ranks (1, 3) {
  for my $case (['', 6, 2.16606e-2], ['-jump 0.001', 6, 1.94536e-1], ['-jump 1', 5, 3.51443e-2], ['-round', 30, 2.21617e-2]) {
    my ($options, $most, $known) = @$case;
    my ($its, $mean) = run($ranks, 'inclusions', $options) =~ /^(\d+) iterations, mean temperature (\S+)/m;
    ok(defined $mean && $its <= $most && abs($mean - $known) < 1e-4 * $known, "inclusions_take_few_iterations, $ranks ranks, '$options'");
  }
}
my $picture = "$build/t/inclusions.vtu";
run(2, 'inclusions', "-dm_refine 1 -solution_view vtk:$picture");
open(my $drawn, '<:raw', $picture) or die $picture;
ok(scalar(grep { /Name="coefficient"/ } <$drawn>), 'inclusions_draw_the_coefficient');

# rock: what the wells give leaves, on any number of ranks and with any solver; odd numbers of cells are boxes of one cell
for (['-cells 8,16,8', 1, 9.6191e-5], ['-cells 8,16,8', 3, 9.6191e-5], ['-cells 6,7,5 -dm_vpatchdg_degree 1', 1, 3.91308e-5],
     ['-cells 6,7,5 -dm_vpatchdg_degree 1', 4, 3.91308e-5],
     ['-cells 6,7,5 -dm_vpatchdg_degree 1 -options_file share/vpatchdg/options/assembled_cholesky.opts', 1, 3.91308e-5]) {
  my ($options, $ranks, $known) = @$_;
  my ($its, $gives, $leaves, $power) = run($ranks, 'rock', $options) =~ /^(\d+) iter.*\nthe wells give (\S+), (\S+) leave .*, power (\S+)$/m;
  ok($power && $its <= 20 && abs($gives - $leaves) < 1e-5 && abs($power - $known) < 1e-4 * $known, "rock_lets_through_what_enters, $ranks ranks, '$options'");
}
SKIP: {
  my $python = python();
  skip('no python3 with a petsc4py of this PETSc, or no matplotlib', 1) if !$python || system("$python -c 'import matplotlib' 2>/dev/null");
  run(2, 'rock', "-cells 4,6,4 -save $folder/rock.bin");
  my $said = `$python -B examples/rock.py -saved $folder/rock.bin -picture $folder/rock.png 2>&1`;
  ok(-s "$folder/rock.png" && $said =~ /permeability and pressure, 2592 unknowns$/m, 'rock_py_draws_what_rock_saves') or diag($said);
}

# annulus: errors of full order on curved cells, on any number of ranks
for my $ranks (1, 3) {
  my @rows = run($ranks, 'annulus', '') =~ /^ *(\d+) +(\d+) +(\S+) +(\S+)(?:  (\S+) (\S+))?$/mg;
  ok(@rows == 18 && $rows[13] <= 9 && $rows[14] < 1.3e-6 && $rows[16] > 13 && $rows[17] > 7, "annulus_has_errors_of_full_order, $ranks ranks") or diag(join(' ', map { $_ // '-' } @rows));
}

# gmsh, ball, sphere: errors of full order on trees that meet in any way, from one cell per tree on, and as many iterations on any number of ranks
for (['gmsh', 20, 1e-7], ['ball', 20, 1.3e-6], ['sphere', 9, 1e-5]) {
  my ($program, $most, $error) = @$_;
  my @first;
  for my $ranks (1, 3) {
    my @rows = run($ranks, $program, '') =~ /^ *(\d+) +(\d+) +(\S+) +(\S+)(?:  (\S+) (\S+))?$/mg;
    @first = @rows if !@first;
    ok(@rows == 18 && $rows[13] <= $most && $rows[14] < $error && $rows[16] > 13 && $rows[17] > 7 && abs($rows[13] - $first[13]) <= 1, "${program}_has_errors_of_full_order, $ranks ranks") or diag(join(' ', map { $_ // '-' } @rows));
  }
}

# channel: thin cells at walls, and guesses
for my $ranks (1, 3) {
  my @told = run($ranks, 'channel', '-steps 6') =~ /t = (\S+): (\d) iterations, error (\S+)/g;
  ok(@told == 18 && !(grep { $_ % 3 == 2 && $told[$_] > 4e-4 } 0 .. 17) && $told[1] <= 4, "channel_is_solved_in_every_step, $ranks ranks") or diag("@told");
  my ($less) = run($ranks, 'channel', '-steps 6') =~ /(\d+) iterations in 6 steps/;
  my ($all) = run($ranks, 'channel', '-steps 6 -guess 0') =~ /(\d+) iterations in 6 steps/;
  cmp_ok($less, '<', 0.75 * $all, "channel_takes_fewer_iterations_with_guesses, $ranks ranks");
}
my ($error) = run(2, 'channel', '-steps 1 -dm_vpatchdg_grid_x 0:6.283185307179586:2 -dm_vpatchdg_grid_y -1:0:4:1.5,0:1:4:0.6667 -dm_vpatchdg_grid_z 0:3.141592653589793:1 -dm_refine 2') =~ /error (\S+)/;
ok(defined $error && $error < 1e-3, 'channel_takes_another_grid');

# Python: nonlinear, fieldsplit, heat and eigenvalues on several ranks
SKIP: {
  my $python = python();
  skip('no python3 with a petsc4py of this PETSc', 15) if !$python;
  for my $ranks (1, 2) {
    my $said = `tests/support/run.sh $ranks $python -B examples/nonlinear.py 2>&1`;
    my ($steps, $error) = $said =~ /^(\d) steps of Newton, \d+ iterations, L2 error (\S+)$/m;
    ok(defined $error && $steps <= 4 && $error < 1e-8, "nonlinear_finds_its_solution, $ranks ranks") or diag($said);
    $said = `tests/support/run.sh $ranks $python -B examples/fieldsplit.py 2>&1`;
    my ($its, $residual) = $said =~ /^(\d+) iterations, relative residual (\S+)$/m;
    ok(defined $residual && $residual <= 1e-8 && $its <= 6, "fieldsplit_solves_to_1e-8, $ranks ranks") or diag($said);
  }
  for my $ranks (1, 2) {
    my $said = `tests/support/run.sh $ranks $python -B examples/adapt.py -most 2000 2>&1`;
    my ($unknowns, $error) = $said =~ /^ *(\d+) +\d+ +(\S+)\n\z/m;
    ok(defined $error && $unknowns < 2500 && $error < 8e-4, "adapt_py_converges, $ranks ranks") or diag($said);
  }
  for my $ranks (1, 2) {
    my $said = `tests/support/run.sh $ranks $python -B examples/porous.py 2>&1`;
    my ($its, $flow) = $said =~ /(\d+) iterations, (\S+) flows through$/m;
    ok(defined $flow && $its <= 20 && abs($flow - 1.3923) < 1e-3, "porous_lets_water_through, $ranks ranks") or diag($said);
    $said = `tests/support/run.sh $ranks $python -B examples/terrain.py -steps 3 2>&1`;
    my @told = $said =~ /t = \S+: (\d+) iterations, pressure does (\S+) of its energy/g;
    ok(@told == 6 && !(grep { $_ % 2 ? $told[$_] > 1e-6 : $told[$_] > 25 } 0 .. 5), "terrain_guides_the_wind, $ranks ranks") or diag($said);
  }
  my $heat = "$python -B examples/heat.py -dm_vpatchdg_dim 2 -dm_refine 4";
  for my $type ('bdf -ts_atol 1e-6', 'cn', 'arkimex -ts_arkimex_fully_implicit -ts_arkimex_type 3') {
    my $said = `tests/support/run.sh 2 $heat -ts_type $type 2>&1`;
    my ($u) = $said =~ /t = 0.1000  integral of u = (\S+)/;
    ok(defined $u && abs($u - 0.03052) < 5e-4, "heat_flows, $type") or diag($said);
  }
  like(`$heat -dm_vpatchdg_boundary neumann 2>&1`, qr/t = 0.1000  integral of u = 0\.1000000/, 'heat_stays_where_no_side_takes_it');
  like(`$heat -ts_max_steps 2 -ts_view 2>&1`, qr/of s A \+ t I, s = 1\., t = 100\.$/m, 'the_shift_of_a_step_reaches_the_cycle');
  skip('no slepc4py here', 1) if system("$python -c 'import slepc4py' 2>/dev/null");
  my $said = `tests/support/run.sh 2 $python -B examples/eigenvalues.py -dll_append ./$build/lib/libvpatchdg.so -dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 3 -eps_nev 3 -eps_type lobpcg -eps_tol 1e-6 -st_pc_type vpatchdg 2>&1`;
  my @found = $said =~ /^(\d+\.\d+)  residual/mg;
  ok(@found >= 3 && !(grep { abs($found[$_] / (2, 5, 5)[$_] - 1) > 1e-5 } 0 .. 2), 'lobpcg_finds_eigenvalues') or diag($said);
}
done_testing();
