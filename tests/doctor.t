#!/usr/bin/perl
# -vpatchdg_doctor, the memory it foretells, and -vpatchdg_progress.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

my $on_gpu = ($ENV{VPATCHDG_TEST} // '') eq 'cuda';
my $plugin = "-dll_append $build/lib/libvpatchdg.so -ksp_type fgmres -pc_type vpatchdg -dm_refine 3";

# FGMRES allocates in other steps from PETSc 3.24 on
my ($minor) = run(1, 'plain', "$plugin -vpatchdg_doctor") =~ /PETSc 3\.(\d+)/;
my ($vectors, $one_rank, $three_ranks) = $minor < 24 ? (28, '7.3', '2.5') : (36, '9.4', '3.2');

# a program that knows only PETSc prints it, and solves as without it
for my $ranks (1, 2) {
  my $said = run($ranks, 'plain', "$plugin -vpatchdg_doctor -options_left");
  like($said, qr/doctor: mesh\n  vpatchdg \S+, PETSc 3\.\d+\.\d+ .*p4est .*\n  ranks: $ranks on 1 host\n  GPU: /, "doctor_names_versions_and_machine, $ranks ranks");
  like($said, qr/3D, degree 3, 1 box refined 3 times: 512 cells, 32768 unknowns/, "doctor_names_the_mesh, $ranks ranks");
  like($said, qr/doctor: preconditioner\n  cycle: auto\(0,1\).*\n  levels: 3, the coarsest with 8 cells/, "doctor_names_the_cycle, $ranks ranks");
  like($said, qr/doctor: KSP fgmres\n  memory needed, about:\n    $vectors vectors, 10 iterations .*\n    66 vectors, all iterations /, "doctor_counts_vectors, $ranks ranks");
  is($said =~ /ghosts travel/ ? 1 : 0, $ranks > 1 ? 1 : 0, "doctor_names_the_transport, $ranks ranks");
  like($said, qr/no unused/, "doctor_leaves_no_options, $ranks ranks");
  my ($with) = $said =~ /^(\d+ unknowns, .*)$/m;
  is(run($ranks, 'plain', $plugin), "$with\n", "doctor_changes_nothing, $ranks ranks");
}

# continuous operators: what was found and chosen, and the memory of nodes, which is counted before they are made
for my $ranks (1, 2) {
  for (['fem', '-dm_plex_box_faces 8,8 -petscspace_degree 3', 'scale 1: .*\n  Jacobi steps: none', '4 to 8'],
       ['stencil', '-neumann', 'points of the DMDA: centers, Neumann\n  scale .*\n  Jacobi steps: both', '4 to 12']) {
    my ($program, $options, $found, $nu) = @$_;
    my $said = run($ranks, $program, "-dll_append $build/lib/libvpatchdg.so -ksp_type fgmres -pc_type vpatchdg $options -vpatchdg_doctor");
    like($said, qr/preconditioner\n(.*\n){2}  of a continuous operator of degree \d\n  $found/, "doctor_says_what_was_chosen, $program, $ranks ranks");
    like($said, qr/iterations for eight digits: $nu by fgmres; richardson takes more\n.*\n +cycle .*\n +element restriction +\S+ .B per rank/, "doctor_counts_nodes, $program, $ranks ranks");
    next if $program ne 'fem'; # more than the mesh, less than the nodes
    my $out = run($ranks, $program, "-dll_append $build/lib/libvpatchdg.so -pc_type vpatchdg $options -vpatchdg_memory 2e4");
    like($out, qr/The element restriction of -pc_type vpatchdg: about/, "nodes_need_memory, $program, $ranks ranks");
  }
}

# of cells that are refined one by one it says how many there are when they are there, then of which levels the cycle has how many
my $adaptive = run(2, 'poisson', '-vpatchdg_doctor -dm_vpatchdg_domain lshape -dm_refine 2 -dm_vpatchdg_refine_point 0,0 -dm_vpatchdg_refine_levels 5');
like($adaptive, qr/different levels\n  mesh: boxes refined 2 to 7 times: 93 cells, 1488 unknowns\n +mesh and operator .*\n +a vector/, 'doctor_counts_leaves');
like($adaptive, qr/levels: 8, the coarsest with \d+ cells, .*\n.*\n  coefficient: contrast 1:1\n  iterations for eight digits: (\d+) to (\d+) by fgmres, as on uniform/, 'doctor_knows_adaptive_cycles')
  or diag($adaptive);
my ($low, $high) = $adaptive =~ /digits: (\d+) to (\d+)/;
my $needed = (split(' ', (split(/\n/, $adaptive))[-1]))[5];
ok($needed >= $low && $needed <= $high, "iterations_are_as_foretold, L-shape, $needed");

# the iterations are in the range that was said, and the memory is near to what was said
sub bytes {
  my ($said, $what) = @_;
  my %unit = (B => 1, kB => 1e3, MB => 1e6, GB => 1e9);
  my @found = $said =~ /\Q$what\E +[\d.]+ +\w+ per rank, +([\d.]+) +(\w+) in all/g;
  return @found ? $found[-2] * $unit{$found[-1]} : 0;
}
for (['2', 1, 1, 5], ['2', 1, 4, 5], ['3', 1, 2, 4], ['2', 3, 1, 5], ['2', 3, 8, 5], ['3', 3, 4, 3], ['3', 5, 1, 3], ['3', 5, 8, 3], ['2', 8, 16, 4], ['3', 8, 1, 2]) {
  my ($dim, $degree, $aspect, $refine) = @$_;
  my $upper = join(',', $aspect, (1) x ($dim - 1));
  my $said = run(1, 'poisson', "-vpatchdg_doctor -dm_vpatchdg_dim $dim -dm_vpatchdg_degree $degree -dm_vpatchdg_upper $upper -dm_refine $refine");
  my ($least, $most) = $said =~ /iterations for eight digits: (\d+) to (\d+) by fgmres/;
  my $took = (split(' ', (split(/\n/, $said))[-1]))[5];
  ok(defined $most && $least <= $took && $took <= $most, "iterations_are_as_foretold, ${dim}D, degree $degree, 1:$aspect, $took in $least to $most") or diag($said);
}
SKIP: {
  skip('memory is that of the device', 10) if $on_gpu;
  skip('sanitizers take memory', 10) if $ENV{SANITIZE};
  my $volumes = '-pc_vpatchdg_coarse volumes -pc_vpatchdg_levels 1';
  for ([1, '3', 1, 5, 'single'], [2, '3', 2, 5, 'double'], [1, '3', 4, 5, 'single'], [2, '3', 7, 4, 'double'], [2, '2', 3, 9, 'single'], [1, '2', 8, 8, 'double'],
       [1, '3', 2, 5, 'single', $volumes], [2, '3', 1, 6, 'single', $volumes], [1, '2', 2, 8, 'single', $volumes], [2, '2', 3, 8, 'double', $volumes]) {
    my ($ranks, $dim, $degree, $refine, $precision, $way) = (@$_, '');
    my $file = "$folder/memory.json";
    my $said = run($ranks, 'poisson', "-report $file -vpatchdg_doctor -ksp_type preonly -dm_vpatchdg_dim $dim -dm_vpatchdg_degree $degree -dm_refine $refine -pc_vpatchdg_precision $precision $way");
    my $need = bytes($said, 'mesh and operator') + 2 * bytes($said, 'a vector') + bytes($said, 'cycle');
    my $report = JSON::PP::decode_json(do { local (@ARGV, $/) = $file; <> });
    my $took = $report->{bytes_per_dof} * $report->{dofs};
    # MPI and PETSc take some for themselves
    ok($need < 1.2 * $took && $need > 0.8 * ($took - 8e6 * $ranks), sprintf("memory_is_as_foretold, %dD, degree %d, %s, %d ranks%s: %.0f of %.0f MB",
      $dim, $degree, $precision, $ranks, $way ? ', handed over' : '', $took / 1e6, $need / 1e6)) or diag($said);
  }
}

# what there is no memory for is refused before it is taken, by every rank
for (['1e5', 1, 'Mesh and two vectors: about \d+ kB per rank, where 100 kB is left'], ['1e5', 3, 'Mesh and two vectors: about \d+ kB per rank'],
     ['7e5', 1, 'The cycle of -pc_type vpatchdg: about \d+ kB per rank, where \d+ kB is left'], ['6e5', 3, 'The cycle of -pc_type vpatchdg: about [\d.]+ [kM]B per rank'],
     ['6e6', 1, "KSP fgmres, $vectors vectors for its first 10 iterations: about $one_rank MB per rank, where 4.6 MB is left .*-ksp_type gcr -ksp_gcr_restart 5 \\(11 vectors\\)"],
     ['3e6', 3, "KSP fgmres, $vectors vectors for its first 10 iterations: about $three_ranks MB per rank"]) {
  my ($there, $ranks, $text) = @$_;
  my $said = `timeout 60 $ENV{MPIEXEC} -n $ranks $build/bin/poisson -dm_vpatchdg_degree 7 -dm_refine 2 -pc_vpatchdg_precision double -vpatchdg_memory $there 2>&1`;
  ok($? && $said =~ /$text/ && $said !~ /dofs ranks/, "memory_that_is_not_there_is_refused, $there, $ranks ranks") or diag($said);
}

like(run(1, 'poisson', '-dm_view -dm_refine 2 -dm_vpatchdg_upper 16,1,1'),
  qr/aspect ratio 16: expect \d+ to \d+ iterations by fgmres, up to half as many more by richardson\n  memory per rank, about: mesh/, 'dm_view_tells_aspect_and_memory');
unlike(run(1, 'poisson', '-dm_view -dm_refine 2'), qr/nearly cubes/, 'dm_view_gives_no_advice_on_cubes');

for (['annulus', '1,2,90', 'cell'], ['sine', '.05', 'const']) {
  my ($map, $numbers, $takes) = @$_;
  my $said = run(1, 'poisson', "-vpatchdg_doctor -ksp_view -dm_refine 2 -dm_vpatchdg_map $map -dm_vpatchdg_map_parameters $numbers");
  my $count = () = $said =~ /metric $takes \(auto\): const is foretold [\d.]+ iterations, and cell [\d.]+, each of which takes 1.[45] times as long/g;
  ok($count == 2, "doctor_and_view_tell_the_means_of_the_metric, $map") or diag($said);
}

like(run(1, 'poisson', '-dm_view -dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 8 -dm_refine 1'),
  qr/8 trees, 8 classes of directions, 17 vertices of which 1 are irregular \(inside: 1 of 8 cells; on the boundary: 0\).*\n  shapes of cells: kappa [\d.]+, the most is [\d.]+ in cell \d+ of tree \d; \d+ iterations are foretold\n/s, 'dm_view_tells_what_trees_are_like');

# trees, solved by a dense inverse or, if there are many, by steps
for (['star -dm_vpatchdg_domain_parameters 8 -dm_refine 1', 'star: 8 trees', '8 trees refined 1 times', '8 classes of directions, 17 vertices of which 1 are irregular .inside: 1 of 8 cells;',
      '8 cells, inverted as a dense matrix', 4],
     ['', 'trees: 70 trees', '70 trees refined 0 times', '22 classes of directions, 90 vertices of which 28 are irregular .inside: 12 of 3 cells, 6 of 5 cells; on the boundary: 10.',
      '70 cells, solved by steps of finite volumes and a sweep', 6]) {
  my ($domain, $trees, $refined, $vertices, $coarsest, $colours) = @$_;
  my $said = run(2, 'poisson', '-vpatchdg_doctor -dm_view -dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 ' . ($domain ? "-dm_vpatchdg_domain $domain" : '-dm_vpatchdg_mesh share/vpatchdg/meshes/plate.msh -dm_refine 0'));
  like($said, qr/mesh: 2D, degree 2, $refined: .*\n  trees: $vertices/, "doctor_knows_trees, $trees");
  like($said, qr/domain $trees, $vertices.*, patches of $colours colours/, "dm_view_knows_trees, $trees");
  my $count = () = $said =~ /shapes of cells: kappa [\d.]+, the most is [\d.]+ in cell \d+ of tree \d+; \d+ iterations are foretold\n/g;
  ok($count == 2, "doctor_and_view_tell_shapes, $trees") or diag($said);
  like($said, qr/the coarsest with $coarsest\n  patches: of $colours colours, around regular vertices\n  shapes/, "doctor_tells_the_coarsest_level, $trees");
  unlike($said, qr/aspect ratio|change: -dm_refine/, "doctor_says_nothing_of_boxes, $trees");
}

# progress: at most a line a second
my $start = time;
my @lines = grep { /^vpatchdg: / } split(/\n/, run(2, 'poisson', '-vpatchdg_progress -dm_vpatchdg_degree 5 -dm_refine 4 -problem smooth'));
my @odd = grep { !/^vpatchdg: (mesh|patches|cycle|functions at points|VTK file) \d+ %$/ } @lines;
ok(@lines >= 1 && @lines <= time - $start + 2 && !@odd, 'progress_is_reported') or diag(@lines);
unlike(run(1, 'poisson', '-dm_refine 2'), qr/%/, 'progress_is_silent_unless_asked_for');
done_testing();
