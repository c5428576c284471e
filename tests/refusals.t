#!/usr/bin/perl
# bad_input_is_refused where it comes from the options. (PETSc itself loses memory when options are refused, so nothing looks for leaks here.)
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

for (['-dm_vpatchdg_dim 4', 'dimensions 2 and 3 exist'],
     ['-dm_vpatchdg_degree 0', 'degrees 1 to 8 exist'],
     ['-dm_vpatchdg_degree 9', 'degrees 1 to 8 exist'],
     ['-dm_vpatchdg_penalty -1', 'penalty is positive'],
     ['-dm_vpatchdg_reaction -1', 'not negative'],
     ['-dm_refine 1 -dm_vpatchdg_boundary neumann -dm_vpatchdg_reaction 1e-300', 'is hidden by rounding errors of a/h^2'],
     ['-dm_vpatchdg_boxes 2,2', 'has 2 entries, in dimension 3 it needs 3'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_upper 1,2,3', 'has 3 entries, in dimension 2 it needs 2'],
     ['-dm_vpatchdg_grid_x 0:1:2:-1', 'the ratio of two boxes and the strength of tanh are positive, not -1'],
     ['-dm_vpatchdg_grid_y 0:1:3000:9', 'coordinates must increase'],
     ['-dm_vpatchdg_grid_z 0:1:3,0.5:2:2', 'at 1 and 0.5: coordinates must increase'],
     ['-dm_vpatchdg_grid_x 1:0:3', 'from 1. to 0., coordinates must increase'],
     ['-dm_vpatchdg_grid_x 0:1:3x', '3x is no number'],
     ['-dm_vpatchdg_grid_x 0:inf:3', 'inf is no number'],
     ['-dm_vpatchdg_grid_x 1', 'has one face, a box has two'],
     ['-dm_vpatchdg_grid_x 0:1:2.5', '2.5 boxes, there must be a whole number of them'],
     ['-dm_vpatchdg_grid_x 0:1:1e30', '1e+30 boxes, there must be a whole number of them'],
     ['-dm_vpatchdg_grid_x tanh:0:1:3', 'a coordinate, a:b:n, a:b:n:ratio and tanh:a:b:n:strength exist'],
     ['-dm_vpatchdg_grid_x tanh:0:1:300:1e4', 'coordinates must increase'],
     ['-dm_vpatchdg_grid_x 0:1:4 -dm_vpatchdg_boxes 1,2,1', 'give each direction as -dm_vpatchdg_grid_x'],
     ['-dm_vpatchdg_domain fichera -dm_vpatchdg_grid_x 0:1:4', '-dm_vpatchdg_grid_x belongs to -dm_vpatchdg_domain box'],
     ['-dm_vpatchdg_boundary dirichlet,neumann', 'has 2 entries, in dimension 3 it needs 6'],
     ['-dm_vpatchdg_boundary open', 'dirichlet, neumann, robin, periodic exist'],
     ['-dm_vpatchdg_boundary robin -dm_vpatchdg_robin 0', 'alpha is positive'],
     ['-dm_vpatchdg_robin 2', 'no side is Robin'],
     ['-dm_vpatchdg_boundary robin -dm_vpatchdg_robin 1,2', 'has 2 entries, in dimension 3 it needs 6'],
     ['-dm_vpatchdg_boundary robin -dm_vpatchdg_robin 1e200', '-dm_vpatchdg_robin 1e+200: it and its quotient'],
     ['-dm_vpatchdg_domain box -dm_vpatchdg_boundary periodic,neumann,neumann,neumann,neumann,neumann', 'must name both'],
     ['-dm_vpatchdg_dim 3 -dm_vpatchdg_domain lshape', 'has dimension 2, not 3'],
     ['-dm_vpatchdg_domain boxes', 'DMVPatchDGSetBoxes'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_boxes 2,2', '-dm_vpatchdg_boxes belongs to -dm_vpatchdg_domain box'],
     ['-dm_vpatchdg_domain fichera -dm_vpatchdg_lower 0,0,1', 'from 1. to 1. in direction 2: -dm_vpatchdg_upper must be above'],
     ['-dm_vpatchdg_domain fichera -dm_vpatchdg_upper 1,1', '-dm_vpatchdg_upper has 2 entries, in dimension 3 it needs 3'],
     ['-dm_vpatchdg_coordinates 0,1,0,1', '-dm_vpatchdg_coordinates has 4 entries, in dimension 3 it needs 6'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_coordinates 0,1,2,1', 'from 2. to 1. in direction 1'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_coordinates 0,1,0,1 -dm_vpatchdg_upper 1,2', 'give the one or the others'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_coordinates 0,1,0,1 -dm_vpatchdg_grid_x 0:1:2', 'give each direction as -dm_vpatchdg_grid_x'],
     ['-pc_vpatchdg_line_search', '-pc_vpatchdg_line_search was removed in version 0.3.0: use -pc_vpatchdg_cycle_type f'],
     ['-pc_vpatchdg_cell_sweeps -2', '-pc_vpatchdg_cell_sweeps -2: 0 to 100 sweeps of single cells follow one of patches'],
     ['-dm_refine 3 -pc_vpatchdg_levels 1 -pc_vpatchdg_coarse dense', 'the coarsest level has 32768 unknowns, at most 10000'],
     ['-ksp_type fgmres -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin pmat', 'Leave -pc_mg_galerkin out'],
     ['-dm_refine 2 -ksp_type fgmres -pc_type mg -pc_mg_levels 2 -mg_levels_pc_type vpatch', '-mg_coarse_pc_type vpatchdg'],
     ['-ksp_type fgmres -pc_type mg', '-mg_levels_pc_type vpatch'],
     ['-pc_vpatchdg_coarsening semi', 'Unknown option semi'],
     ['-dm_vpatchdg_transport pigeon', 'Unknown option pigeon'],
     ['-pc_type vpatch -pc_vpatch_precision auto', 'Unknown option auto'],
     ['-dm_refine 2 -dm_vpatchdg_upper 16,1,1 -pc_vpatchdg_coarsening full -pc_vpatchdg_levels 3', 'have 2 levels at most'],
     ['-dm_vpatchdg_dim 2 -dm_vpatchdg_grid_x 0:7:7 -dm_vpatchdg_grid_y 0:1:11 -dm_refine 1 -ksp_type fgmres -pc_type mg -pc_mg_levels 3 -mg_levels_pc_type vpatch', 'Boxes would merge on the next coarser mesh'],
     (map { ["-dm_refine 1 -ksp_type gmres -pc_type $_", 'has no entries'] } qw(kaczmarz gamg asm lu pbjacobi redundant bjacobi)),
     ['-dm_refine 1 -ksp_type gmres -pc_type bjacobi', 'has no entries', 1],
     ['-dm_refine 1 -pc_type patch', 'does not become a DMPLEX'],
     ['-solution_view vtk:/nowhere/x.vtu', 'The file /nowhere/x.vtu cannot be opened'],
     ['-report /nowhere/x.json', '/nowhere/x.json cannot be opened'],
     ['-dm_refine -2', '0 or more'],
     ['-dm_vpatchdg_refine_levels 2', 'needs a place: -dm_vpatchdg_refine_point'],
     ['-dm_vpatchdg_refine_point 0,0', 'has 2 entries, in dimension 3 it needs 3'],
     ['-dm_vpatchdg_refine_sphere 0,0,0', 'has 3 entries, in dimension 3 it needs 4'],
     ['-dm_vpatchdg_refine_sphere 0,0,0,-1', 'a radius that is not negative'],
     ['-dm_vpatchdg_refine_point 0,0,0 -dm_vpatchdg_refine_levels 19', 'halved 18 times already'],
     ['-dm_refine 2 -dm_vpatchdg_refine_sphere 0,0,0,0.5 -dm_vpatchdg_refine_levels 2 -vpatchdg_memory 1e5', 'Mesh and two vectors: about'],
     ['-dm_refine 1 -dm_vpatchdg_refine_point 0,0,0 -pc_type vpatchdg -pc_vpatchdg_space dirichlet', 'there are -pc_vpatchdg_space full'],
     ['-dm_refine 1 -dm_vpatchdg_refine_point 0,0,0 -ksp_type fgmres -pc_type mg -pc_mg_levels 2', 'boxes refined 1 to 2 times'],
     ['-dm_vpatchdg_boxes 700,700,700', 'means 343000000 boxes'],
     ['-dm_refine 12', '-dm_refine 12 means 68719476736 cells']) {
  my ($options, $text, $ranks) = @$_;
  my $out = `timeout 60 $ENV{MPIEXEC} -n @{[$ranks // 2]} $build/bin/poisson $options 2>&1`;
  # versions of PETSc set quotes differently
  ok($? && $out =~ tr/"//dr =~ /\Q$text\E/, "bad_input_is_refused, $options") or diag($out);
}
done_testing();
