#!/usr/bin/perl
# PETSc's own tutorials take the plugin as they are, where the installed PETSc, or PETSC_TUTORIALS, has their sources.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

my %config = `cat $build/config.mk` =~ /^(\w+) *:= *(.*)$/mg;
my ($prefix) = $config{USER_CFLAGS} =~ m{-I(\S+)/include};
my ($source) = grep { $_ && -e "$_/ksp/ksp/tutorials/ex45.c" } $ENV{PETSC_TUTORIALS}, "$prefix/share/petsc/examples/src", glob('/usr/share/petsc/3.*/share/petsc/examples/src');
plan(skip_all => q(no sources of PETSc's tutorials, which Debian has in libpetsc3.18-dev-examples)) if !$source || $ENV{SANITIZE};

# the most iterations of FGMRES for eight digits, what -ksp_view has to say, and options
my %programs = (
  'ksp/ksp/tutorials/ex29' => [[8, 'rows of the identity', '-da_grid_x 65 -da_grid_y 65'], [8, 'rows of the identity', '-da_grid_x 70 -da_grid_y 51'],
                               [12, 'centers, Neumann', '-da_grid_x 65 -da_grid_y 65 -bc_type neumann'], [20, 'factor', '-da_grid_x 65 -da_grid_y 65 -rho 100']],
  'ksp/ksp/tutorials/ex45' => [[8, 'rows of the identity', '-da_grid_x 17 -da_grid_y 17 -da_grid_z 17'], [8, 'rows of the identity', '-da_grid_x 20 -da_grid_y 27 -da_grid_z 14']],
  'ksp/ksp/tutorials/ex50' => [[12, 'centers, Neumann', '-da_grid_x 64 -da_grid_y 48']],
  'ksp/ksp/tutorials/ex34' => [[17, 'centers, Neumann', '-da_grid_x 16 -da_grid_y 16 -da_grid_z 12']],
  'snes/tutorials/ex13' => [map { [9, "of a continuous operator of degree $_", "-dm_plex_simplex 0 -dm_plex_box_faces 8,8 -potential_petscspace_degree $_"] } (1 .. 4)],
);
for my $program (sort keys %programs) {
  (my $name = $program) =~ tr{/}{_};
  is(system("$config{PETSC_CC} -w $config{USER_CFLAGS} $source/$program.c -o $folder/$name $config{USER_LIBS} -lm") >> 8, 0, "tutorial_compiles, $program");
  for my $ranks (1, 3) {
    for (@{$programs{$program}}) {
      my ($most, $says, $options) = @$_;
      my $out = `tests/support/run.sh $ranks $folder/$name -dll_append $build/lib/libvpatchdg.so $options -ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg -ksp_view -ksp_converged_reason 2>&1`;
      my ($its) = $out =~ /Linear \S*\s*solve converged due to CONVERGED_RTOL iterations (\d+)/;
      ok($its && $its <= $most && $out =~ /$says/, "tutorial_takes_the_plugin, $program $options, $ranks ranks: " . ($its // 'none') . " iterations") or diag($out);
    }
  }
}
done_testing();
