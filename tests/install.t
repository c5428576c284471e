#!/usr/bin/perl
# What `make install` leaves behind serves programs outside; set-up finds what there is and refuses what can not work.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

my $make = "make BUILD=$build" . ($ENV{SANITIZE} ? " SANITIZE=$ENV{SANITIZE}" : '');
my $flags = $ENV{SANITIZE} ? '-fsanitize=address,undefined' : '';
my @made = map { (stat("$build/$_"))[9] } qw(cuda.mk lib/libvpatchdg.so);
my $log = `$make install prefix=$folder/there 2>&1`;
is($?, 0, 'install_succeeds') or diag($log);
ok(-e "$folder/there/$_", "install_has, $_")
  for qw(lib/libvpatchdg.so lib/libvpatchdg.a include/vpatchdg.h lib/pkgconfig/vpatchdg.pc bin/vpatchdg-poisson share/vpatchdg/compare.py
         share/vpatchdg/mpi.env share/vpatchdg/options/fgmres.opts share/vpatchdg/examples/first.c);
ok(-e "$folder/there/share/man/man3/DMVPatchDGCreate.3", 'install_has, manual pages') if !system('python3 -c "" 2>/dev/null');

# a user's folder and shell, which know the prefix and nothing else
mkdir "$folder/user";
system("cp examples/first.c $folder/user");
sub write_makefile {
  my ($name, $target, $libs) = @_;
  open(my $f, '>', "$folder/user/$name");
  print $f "include $folder/there/share/vpatchdg/vpatchdg.mk\n$target: first.c\n\t\$(VPATCHDG_CC) $flags \$(VPATCHDG_CFLAGS) -o \$@ \$< \$($libs)\n";
  close($f);
}
write_makefile('makefile', 'first', 'VPATCHDG_LIBS');
write_makefile('static.mk', 'static', 'VPATCHDG_STATIC_LIBS');
sub alone {
  my ($command) = @_;
  my $keep = join(' ', map { "$_='" . ($ENV{$_} // '') . "'" } qw(PATH HOME));
  return `cd $folder/user && env -i $keep ASAN_OPTIONS=detect_leaks=0 PKG_CONFIG_PATH=$folder/there/lib/pkgconfig sh -c '$command' 2>&1`;
}
for (['the makefile', 'first', 'make'],
     ['the makefile, static', 'static', 'make -f static.mk'],
     ['pkg-config', 'packaged', "\$(pkg-config --variable=ccompiler vpatchdg) $flags first.c \$(pkg-config --cflags --libs vpatchdg) -o packaged"],
     ['pkg-config and no MPI compiler', 'plain', "cc $flags first.c \$(pkg-config --cflags --libs vpatchdg) -o plain"]) {
  my ($way, $program, $build_it) = @$_;
  my $said = alone($build_it);
  is($?, 0, "users_build, with $way") or diag($said);
  $said = alone("./$program -ksp_monitor_true_residual");
  my @residuals = $said =~ /\|\|r\(i\)\|\|\/\|\|b\|\| (\S+)/g;
  ok(!$? && @residuals && $residuals[-1] <= 1e-8 && $said =~ /CONVERGED_RTOL/, "users_solve_to_1e-8, with $way") or diag($said);
}
like(alone("$folder/there/bin/vpatchdg-poisson -dm_refine 1"), qr/dofs.*\n.* 512 /, 'installed_poisson_runs');

SKIP: {
  skip('no python3', 1) if system('python3 -c "" 2>/dev/null');
  my $said = alone("python3 $folder/there/share/vpatchdg/compare.py --ranks 2 fgmres.opts -dm_refine 1");
  ok(!$? && $said =~ /^fgmres .*CONVERGED_RTOL/m, 'installed_compare_runs') or diag($said);
}

SKIP: {
  skip('no cmake here', 3) if system('cmake --version >/dev/null 2>&1');
  mkdir "$folder/user/cmake";
  open(my $lists, '>', "$folder/user/cmake/CMakeLists.txt");
  print $lists "cmake_minimum_required(VERSION 3.13)\nproject(first C)\nfind_package(vpatchdg 0.1 CONFIG REQUIRED)\nadd_executable(first ../first.c)\n"
    . "target_link_libraries(first vpatchdg::vpatchdg)\n";
  close($lists);
  my $said = alone("cmake -S cmake -B cmake -DCMAKE_PREFIX_PATH=$folder/there -DCMAKE_C_FLAGS=\"$flags\" && cmake --build cmake");
  is($?, 0, 'users_build, with CMake') or diag($said);
  $said = alone('cmake/first');
  like($said, qr/CONVERGED_RTOL/, 'users_solve, with CMake');
  $said = alone("cd cmake && sed -i \"s/vpatchdg 0.1/vpatchdg 99/\" CMakeLists.txt && cmake -DCMAKE_PREFIX_PATH=$folder/there .");
  like($said, qr/compatible with requested version "99"/, 'cmake_compares_versions');
}

# recipes of other systems
SKIP: {
  skip('no python3', 3) if system('python3 -c "" 2>/dev/null');
  my ($version) = `cat include/vpatchdg.h` =~ /VPATCHDG_VERSION "(.*)"/;
  like(`cat share/packaging/petsc/vpatchdg.py`, qr/self\.version += '\Q$version\E'/, 'recipe_for_petsc_has_this_version');
  is(system("python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' $_"), 0, "recipe_is_python, $_")
    for qw(share/packaging/petsc/vpatchdg.py share/packaging/spack/packages/vpatchdg/package.py);
}

# a package is made in another place than it goes to, which no file may name
$log = `$make install prefix=/elsewhere DESTDIR=$folder/staged 2>&1`;
like(`cat $folder/staged/elsewhere/lib/pkgconfig/vpatchdg.pc`, qr{^prefix=/elsewhere$}m, 'staged_install_names_its_prefix') or diag($log);
like(`cat $folder/staged/elsewhere/lib/cmake/vpatchdg/vpatchdg-config.cmake`, qr/SONAME "libvpatchdg.so.\d+"/, 'staged_install_has_a_cmake_config');
is(`grep -rl $folder/staged $folder/staged`, '', 'staged_install_does_not_name_where_it_is_staged');
like(run(1, 'plain', "-dll_append $folder/there/lib/libvpatchdg.so -dm_refine 2 -ksp_type fgmres -pc_type vpatchdg"),
  qr/CONVERGED_RTOL/, 'installed_plugin_loads');

# C++, CUDA's runtime and p4est stay inside the shared library; no driver is needed to load it
open(my $header, '<', 'include/vpatchdg.h');
my $names = join('', <$header>);
my @hidden = grep { $names !~ /\b$_\b/ && !/^(PetscDLLibraryRegister_vpatchdg|_edata|_end|__bss_start|_init|_fini)$/ }
  map { (split)[2] } split(/\n/, `nm -D --defined-only $folder/there/lib/libvpatchdg.so`);
is("@hidden", '', 'library_exports_what_its_header_names');
unlike(`readelf -d $folder/there/lib/libvpatchdg.so`, qr/NEEDED.*libcuda/, 'library_needs_no_driver_to_load');

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
  return `PETSC_DIR=$petsc PETSC_ARCH= CUDA=0 share/vpatchdg/setup.sh $folder/conf 2>&1`;
}
my $double = "#define PETSC_USE_REAL_DOUBLE 1\n";
like(setup_says(20, "$double#define PETSC_USE_COMPLEX 1\n"), qr/can not be used.*complex/s, 'setup_refuses_complex_scalars');
like(setup_says(20, "#define PETSC_USE_REAL_SINGLE 1\n"), qr/can not be used.*precision/s, 'setup_refuses_single_precision');
like(setup_says($_, $double), qr/can not be used.*outside 3\.18 to 3\.26/s, "setup_refuses_version, 3.$_") for (17, 27);
like(setup_says(20, "$double#define PETSC_HAVE_MPIUNI 1\n"), qr/without MPI/, 'setup_refuses_petsc_without_mpi');
setup_says(22, $double);
is($?, 0, 'setup_accepts_3.22');
like(`PETSC_DIR=/nowhere share/vpatchdg/setup.sh $folder/conf 2>&1`, qr/there is no/, 'setup_says_where_it_looked');

# the system's PETSc and no petsc4py, for a user who may install packages of these names
sub installs {
  my ($goal, @known) = @_;
  my %programs = (id => 'echo 0', dpkg => 'exit 1', 'apt-cache' => 'case " ' . "@known" . ' " in *" $2 "*) exit 0 ;; esac; exit 1', 'apt-get' => 'echo "asked: $*"; exit 1');
  mkdir "$folder/apt";
  setup_says(22, $double);
  system("sed 's|^prefix=.*|prefix=/usr/lib/petscdir|' $folder/petsc/lib/pkgconfig/petsc.pc > $folder/apt/petsc.pc");
  while (my ($name, $does) = each %programs) {
    open(my $out, '>', "$folder/apt/$name");
    print $out "#!/bin/sh\n$does\n";
    close($out);
    chmod(0755, "$folder/apt/$name");
  }
  local $ENV{PATH} = "$folder/apt:$ENV{PATH}";
  return `env -u PETSC_DIR -u PETSC_ARCH PKG_CONFIG_PATH=$folder/apt CUDA=0 share/vpatchdg/setup.sh $folder/conf $goal 2>&1`;
}
like(installs('check', 'python3-petsc4py'), qr/asked: .*install .*python3-petsc4py *\n.*could not install.*skipped/, 'check_asks_for_petsc4py');
is($?, 0, 'check_goes_on_without_petsc4py');
unlike(installs($_->[0], $_->[1]), qr/asked/, "nothing_is_asked_for, $_->[0] '$_->[1]'") for ['check', ''], ['run', 'python3-petsc4py'];

# CUDA: what set-up says and writes with these settings, with a GPU or not, for these goals
mkdir "$folder/fake";
sub cuda_says {
  my ($settings, $gpus, $goals) = (@_, '');
  open(my $smi, '>', "$folder/fake/nvidia-smi");
  print $smi "#!/bin/sh\nprintf '$gpus'\n";
  close($smi);
  chmod(0755, "$folder/fake/nvidia-smi");
  local $ENV{PATH} = "$folder/fake:$ENV{PATH}";
  my $said = `env -u NVCC -u NCCL_HOME -u NCCL_DIR CUDA= CUDA_ARCH= CXX= NCCL= $settings share/vpatchdg/setup.sh $folder/cuda $goals 2>&1`;
  return $? ? "refused: $said" : $said . `cd $folder/cuda && cat cuda.mk nccl.mk goals.mk`;
}
my $none = qr/^CUDA_NVCC *:= *$/m;
like(cuda_says('CUDA=0', ''), $none, 'cuda_is_left_out');
like(cuda_says('CUDA=0 NCCL=1', ''), qr/^refused:.*NCCL=1, but without CUDA/s, 'nccl_needs_cuda');
like(cuda_says('CUDA=1 NVCC=/nowhere/nvcc', ''), qr/^refused:.*CUDA=1, but there is no nvcc in \/nowhere/s, 'cuda_is_insisted_on');
like(cuda_says('NVCC=/nowhere/nvcc', ''), qr/without CUDA, since there is no nvcc.*$none/s, 'cuda_is_left_out_where_there_is_none');
# where there is no GPU, run and check leave nvcc (here one that does nothing) alone
system("printf '#!/bin/sh\n' > $folder/fake/nvcc && chmod +x $folder/fake/nvcc");
for (['', '', 'run', 1], ['', '8.0', 'run', 0], ['', '7.5', 'check fuzz', 1], ['CUDA=1', '', 'check', 0], ['', '', '', 0], ['', '', 'run install', 0], ['', '', 'install', 0], ['', '', 'build/lib/libvpatchdg.so', 0]) {
  my ($settings, $gpus, $goals, $expected) = @$_;
  is(cuda_says("$settings NVCC=$folder/fake/nvcc", $gpus, $goals) =~ /^CUDA_LEFT_OUT := 1$/m ? 1 : 0, $expected, "cuda_is_left_out, '$settings', GPU '$gpus', goals '$goals'");
}
# without CUDA it does not matter why: the tests install what `make check` has built, while others run it
cuda_says("NVCC=$folder/fake/nvcc", '', 'check');
utime(1, 1, "$folder/cuda/cuda.mk");
cuda_says("CUDA=0 NVCC=$folder/fake/nvcc", '', 'install');
is((stat("$folder/cuda/cuda.mk"))[9], 1, 'programs_without_cuda_outlive_other_goals');
unlink("$folder/fake/nvcc");
my $dry = `$make -n all CUDA=0 BUILD=$folder/dry 2>&1`;
ok($dry =~ /libvpatchdg\.so/ && $dry !~ /nvcc|cudart|VP_HAVE_CUDA|\.cu\b|stdc\+\+/, 'build_without_cuda_knows_nothing_of_it') or diag($dry);
# what takes long is announced before it begins, with what switches it off
my $announced = qr/echo '# vpatchdg [\d.]+, degrees 1 to 8, for PETSc 3\.\d+\.\d+,/;
like($dry, qr/$announced without CUDA: \d+ files, about \d+ minutes? with -j\d+'\nmkdir[^\n]*"CC /, 'first_line_says_what_is_compiled');
is(scalar(() = $dry =~ /$announced/g), 1, 'first_line_is_said_once');
unlike(`$make -n -W src/base/threads.c all 2>&1`, qr/$announced/, 'few_files_are_not_announced');
like(`$make -n $_ CUDA= CUDA_ARCH=90 NVCC=/nowhere/nvcc BUILD=$folder/dry2 2>&1`, qr/$announced without CUDA/, "first_line_is_the_same, $_") for qw(install wheel);
like(`$make need-gpu GPU=0 2>&1`, qr/there is no GPU here|no CUDA part/, 'gpu_targets_say_what_is_missing');
isnt($?, 0, 'gpu_targets_fail_without_gpu');
SKIP: {
  skip('no nvcc here', 18) if cuda_says('', '') =~ $none;
  for (['', '', '80 90'], ['CUDA_ARCH=80,9.0', '', '80 90'], ['', '9.0\n9.0\n', '90'], ['', '8.6\n9.0\n7.5\n', '86 90'], ['CUDA_ARCH=90', '8.6\n', '90']) {
    my ($settings, $gpus, $expected) = @$_;
    my @arch = split(/ /, $expected);
    my $flags = join(' ', map { "-gencode arch=compute_$_,code=sm_$_" } @arch) . " -gencode arch=compute_$arch[-1],code=compute_$arch[-1]";
    like(cuda_says($settings, $gpus), qr/CUDA_CFLAGS :=(?:(?!-gencode).)*\Q$flags\E$/m, "cuda_architectures, '$settings', GPU '$gpus'");
  }
  like(`$make -n $_ CUDA= CUDA_ARCH=80,90 BUILD=$folder/dry3 2>&1`, qr/$announced with CUDA for the architectures 80 90.*: \d+ files, about \d+ minutes? with -j\d+; CUDA=0 leaves CUDA out: about \d+ min/,
    "first_line_says_what_leaves_cuda_out, $_") for ('install', "$folder/dry3/lib/libvpatchdg.so");
  like(cuda_says('CUDA_ARCH=70', ''), qr/^refused:.*need 80 or later/s, 'cuda_architecture_is_refused');
  # what CUDA's objects depend on outlives a build without it
  utime(1, 1, "$folder/cuda/cuda.last");
  like(cuda_says('CUDA_ARCH=90', '8.6\n'), qr/CUDA_NVCC *:= \S/, 'cuda_is_there');
  cuda_says('CUDA=0', '');
  cuda_says('CUDA_ARCH=90', '');
  is((stat("$folder/cuda/cuda.last"))[9], 1, 'cuda_objects_outlive_builds_without_it');
  # NCCL: a folder with an empty header and library
  my $nccl = "$folder/nccl";
  system("mkdir -p $nccl/include $nccl/lib && touch $nccl/include/nccl.h $nccl/lib/libnccl.so.2");
  like(cuda_says("$_=$nccl", ''), qr|^NCCL_HEADER := \Q$nccl\E/include/nccl\.h\nNCCL_CFLAGS := -DVP_HAVE_NCCL -isystem \Q$nccl\E/include\n.*-rpath,\Q$nccl\E/lib$|m,
    "nccl_is_found, $_") for qw(NCCL_HOME NCCL_DIR);
  like(cuda_says("NCCL=0 NCCL_HOME=$nccl", ''), qr/^NCCL_HEADER := *\nNCCL_CFLAGS := *\nNCCL_LIBS   := *$/m, 'nccl_is_left_out');
  like(cuda_says('NCCL=1 NCCL_HOME=/nowhere', ''), qr/^refused:.*NCCL=1, but there is no nccl\.h in \/nowhere/s, 'nccl_is_insisted_on');
  like(`$make setup CUDA= BUILD=$folder/setup NCCL_HOME=$nccl 2>&1`, qr|with NCCL \(\Q$nccl\E/include/nccl\.h\)|, 'setup_says_where_nccl_is');
  like(`$make setup CUDA= BUILD=$folder/setup NCCL_HOME=/nowhere 2>&1`, qr/without NCCL, whose header nccl\.h was not found.*go through MPI/, 'setup_says_that_there_is_no_nccl');
  unlink("$folder/cuda/cuda.last");
  like(cuda_says('CUDA=1 CXX=/bin/false', ''), qr/^refused:.*can not be used/s, 'cuda_that_can_not_compile_is_refused');
  like(cuda_says('CXX=/bin/false', ''), qr/without CUDA.*$none/s, 'cuda_that_can_not_compile_is_left_out');
}
# other tests run what was built
is_deeply([map { (stat("$build/$_"))[9] } qw(cuda.mk lib/libvpatchdg.so)], \@made, 'tests_leave_the_build_as_it_is');
done_testing();
