#!/usr/bin/perl
# What `make install` leaves behind serves programs outside; set-up refuses what can not work.
use strict;
use warnings;
use Test::More;
use lib 'tests';
use Example;

my $make = "make BUILD=$build" . ($ENV{SANITIZE} ? " SANITIZE=$ENV{SANITIZE}" : '');
my $flags = $ENV{SANITIZE} ? '-fsanitize=address,undefined' : '';
my $log = `$make install prefix=$folder/there 2>&1`;
is($?, 0, 'install_succeeds') or diag($log);
ok(-e "$folder/there/$_", "install_has, $_")
  for qw(lib/libvpatchdg.so lib/libvpatchdg.a include/vpatchdg.h lib/pkgconfig/vpatchdg.pc share/vpatchdg/compare.py share/vpatchdg/options/fgmres.opts);

mkdir "$folder/user";
open(my $f, '>', "$folder/user/makefile");
print $f "include $folder/there/share/vpatchdg/vpatchdg.mk\nprogram: program.c\n\t\$(VPATCHDG_CC) $flags \$(VPATCHDG_CFLAGS) -o \$@ \$< \$(VPATCHDG_LIBS)\n";
close($f);
system("cp examples/own_boxes.c $folder/user/program.c");
my $search = join(':', grep { defined && length } $ENV{PETSC_DIR} && "$ENV{PETSC_DIR}/" . ($ENV{PETSC_ARCH} // '') . '/lib/pkgconfig', $ENV{PKG_CONFIG_PATH});
$log = `PKG_CONFIG_PATH=$search make -C $folder/user program 2>&1`;
is($?, 0, 'program_builds_with_the_makefile_for_users') or diag($log);
like(`tests/run.sh 1 $folder/user/program -dm_refine 2 2>&1`, qr/iterations, error/, 'program_runs');
like(run(1, 'plain', "-dll_append $folder/there/lib/libvpatchdg.so -dm_refine 2 -ksp_type fgmres -pc_type vpatchdg"),
  qr/CONVERGED_RTOL/, 'installed_plugin_loads');

# a PETSc that can not be used, made of a few files
sub setup_says {
  my ($minor, $conf) = @_;
  my $petsc = "$folder/petsc";
  system("mkdir -p $petsc/lib/pkgconfig $petsc/include");
  my %files = (
    'lib/pkgconfig/petsc.pc' => "prefix=$petsc\nccompiler=mpicc\nName: PETSc\nDescription: none\nVersion: 3.$minor.0\nCflags: -I$petsc/include\nLibs: -lpetsc\n",
    'include/petscconf.h' => $conf,
    'include/petscversion.h' => "#define PETSC_VERSION_MAJOR 3\n#define PETSC_VERSION_MINOR $minor\n");
  while (my ($name, $text) = each %files) {
    open(my $out, '>', "$petsc/$name");
    print $out $text;
  }
  return `PETSC_DIR=$petsc PETSC_ARCH= share/vpatchdg/setup.sh $folder/config.mk 2>&1`;
}
my $double = "#define PETSC_USE_REAL_DOUBLE 1\n";
like(setup_says(20, "$double#define PETSC_USE_COMPLEX 1\n"), qr/can not be used.*complex/s, 'setup_refuses_complex_scalars');
like(setup_says(20, "#define PETSC_USE_REAL_SINGLE 1\n"), qr/can not be used.*precision/s, 'setup_refuses_single_precision');
like(setup_says($_, $double), qr/can not be used.*outside 3\.18 to 3\.26/s, "setup_refuses_version, 3.$_") for (17, 27);
like(setup_says(20, "$double#define PETSC_HAVE_MPIUNI 1\n"), qr/without MPI/, 'setup_refuses_petsc_without_mpi');
setup_says(22, $double);
is($?, 0, 'setup_accepts_3.22');
like(`PETSC_DIR=/nowhere share/vpatchdg/setup.sh $folder/config.mk 2>&1`, qr/there is no/, 'setup_says_where_it_looked');
done_testing();
