#!/usr/bin/perl
# The Python package: its functions on several ranks, its wheel and pip's build, what it says where it does not fit, and the notebook.
use strict;
use warnings;
use Cwd;
use Test::More;
use lib 'tests/support';
use Example;
my $python = python() or plan(skip_all => 'no python3 with a petsc4py of this PETSc');

for my $ranks (1, 3) {
  for my $run ("tests/support/run.sh $ranks $python -B tests/programs/package.py knows", "$ENV{MPIEXEC} -n $ranks $python -B tests/programs/package.py says") {
    my $said = `$run 2>&1`;
    ok(1, "$1, $ranks ranks") while $said =~ /^ok (\w+)$/mg;
    ok($said =~ /^done$/m && $said !~ /^not ok|Abort/m, "package_passes_its_tests, $ranks ranks") or diag($said);
  }
}

my $notebook = `$python -B tests/support/notebook.py examples/solvers.ipynb 2>&1`;
like($notebook, qr/6400 unknowns, \d iterations.*fgmres \+ vpatchdg +\d .*^6 cells$/ms, 'notebook_runs') or diag($notebook);
is(`$python -c 'import json; print(sum(len(c.get("outputs", [])) for c in json.load(open("examples/solvers.ipynb"))["cells"]))'`, "0\n", 'notebook_is_stored_without_output');

# the package somewhere else, with nothing but what a wheel brought
sub elsewhere {
  my ($site, $code) = @_;
  my $full = $python =~ m{/} ? $python : `sh -c 'command -v $python'` =~ s/\n//r;
  return `cd / && env -u VPATCHDG_LIBRARY PYTHONPATH=$site $full -B -c '$code' 2>&1`;
}
my $works = 'import vpatchdg; print(vpatchdg.__file__, vpatchdg.create(dim=2, refine=2).getType())';
my ($wheel) = `make wheel BUILD=$build PYTHON=$python 2>&1` =~ /^(\S+\.whl)$/m;
ok($wheel && -e $wheel, 'make_wheel_says_where_it_is');
is(system("$python -m zipfile -e $wheel $folder/wheel"), 0, 'wheel_is_an_archive');
like(elsewhere("$folder/wheel", $works), qr{^$folder/wheel/vpatchdg/__init__.py vpatchdg$}, 'wheel_works');
SKIP: {
  skip('no pip here', 4) if system("$python -m pip --version >/dev/null 2>&1");
  my $pip = "$python -m pip install -q --root-user-action=ignore --no-index --no-deps --disable-pip-version-check";
  is(system("$pip --target $folder/pip $wheel"), 0, 'pip_takes_the_wheel');
  like(elsewhere("$folder/pip", 'import importlib.metadata as m; print(m.version("vpatchdg"))'), qr/^\d+\.\d+\.\d+$/, 'pip_knows_the_version');
  # pip's own build, with a make that says what it was asked and has the library already
  open(my $make, '>', "$folder/make");
  print $make "#!/bin/sh\necho \"\$PETSC_DIR \$*\" >> $folder/asked\necho '# what is compiled'\necho 'CC one.o'\n"
    . "mkdir -p $folder/mine/lib && cp @{[cwd()]}/$build/lib/libvpatchdg.so $folder/mine/lib\n";
  close($make);
  chmod(0755, "$folder/make");
  my $install = "env -u PETSC_DIR MAKE=$folder/make $pip --target $folder/source --config-settings=CUDA=0 --config-settings=BUILD=$folder/mine .";
  my $said = `setsid $install 2>&1 < /dev/null`;
  my $petsc = `env -u PETSC_DIR $python -c 'import petsc4py; print(petsc4py.get_config()["PETSC_DIR"])'` =~ s/\n//r;
  like(`cat $folder/asked`, qr{\A\Q$petsc\E -C .* CUDA=0 .*/mine/lib/libvpatchdg.so\n\z}, 'pip_builds_once_with_the_petsc_of_petsc4py') or diag($said);
  like(elsewhere("$folder/source", $works), qr{^$folder/source/vpatchdg/__init__.py vpatchdg$}, 'pip_install_works');
  # pip shows nothing of a build; who waits at a terminal sees its steps
  unlike($said, qr/what is compiled|CC one/, 'pip_hides_the_build');
  open(my $pty, '>', "$folder/terminal.py");
  print $pty "import pty, sys\npty.spawn(sys.argv[1:])\n";
  close($pty);
  $said = `$python $folder/terminal.py $install --upgrade 2>&1 < /dev/null`;
  like($said, qr/# what is compiled.*CC one\.o/s, 'a_terminal_shows_the_steps_of_the_build');
}

# the functions of PEP 517 that pip calls, with a make that writes the settings "$SETTINGS"
sub backend {
  my ($settings, $code) = @_;
  open(my $make, '>', "$folder/settings");
  print $make "#!/bin/sh\nfor a; do case \$a in BUILD=*) mkdir -p $folder/top/\${a#BUILD=} && echo '$settings' > $folder/top/\${a#BUILD=}/config.mk;; esac; done\n";
  close($make);
  chmod(0755, "$folder/settings");
  return `MAKE=$folder/settings PYTHONPATH=share/python $python -B -c 'import build; from pathlib import Path; $code' 2>&1`;
}
mkdir "$folder/meta";
like(backend('', "print(build.prepare_metadata_for_build_wheel(\"$folder/meta\"))"), qr/^vpatchdg-[\d.]+\.dist-info$/, 'metadata_take_no_build');
is(`cd $folder/meta/*.dist-info && cat METADATA WHEEL`, `cd $folder/wheel/*.dist-info && cat METADATA WHEEL`, 'metadata_are_those_of_the_wheel');
my $which = "build.TOP = Path(\"$folder/top\"); print(build.build_folder({}))";
system("mkdir -p $folder/top");
is(backend('', $which), "build\n", 'pip_builds_where_make_would');
system("mkdir -p $folder/top/build && echo 3.18 > $folder/top/build/config.mk");
is(backend('3.18', $which), "build\n", 'pip_takes_what_make_has_built');
is(backend('3.26', $which), "build/python\n", 'pip_leaves_what_make_has_built_for_another_petsc');

# what does not fit
like(`VPATCHDG_LIBRARY=/nowhere/libvpatchdg.so $python -B -c 'import vpatchdg' 2>&1`, qr{ImportError: there is no /nowhere/libvpatchdg.so}, 'a_missing_library_is_named');
open(my $other, '>', "$folder/other.c");
print $other "int PetscInitialize(void) { return 0; }\nint PetscGetPetscDir(const char **d) { *d = \"/opt/other\"; return 0; }\nint PetscGetVersionNumber(long *a, long *b, long *c, long *d) { *a = 3; *b = 99; *c = 7; return 0; }\n";
close($other);
SKIP: {
  skip('no cc here', 2) if system("cc -shared -fPIC -o $folder/libother.so $folder/other.c");
  like(`VPATCHDG_LIBRARY=$folder/libother.so $python -B -c 'import vpatchdg' 2>&1`, qr{libother.so was built with PETSc 3\.99\.7 \(\S*libother.so\), petsc4py .* uses another one, PETSc 3\.\d+\.\d+ \(/\S*\)\..*PETSC_DIR=/\S* PETSC_ARCH=\S* \S*python\S* -m pip install \.\n.*PETSC_DIR=/opt/other PETSC_ARCH= \S* -m pip install 'petsc4py==3\.99\.\*'}s,
    'another_petsc_is_refused');
  system("touch $folder/libempty.so");
  like(`VPATCHDG_LIBRARY=$folder/libempty.so $python -B -c 'import vpatchdg' 2>&1`, qr{ImportError: .*libempty.so can not be loaded}, 'a_broken_library_is_refused');
}
my ($minor) = `cat $build/config.mk` =~ /^PETSC_VERSION := (\d+\.\d+)/m;
like(`$python -B -c 'import sys; sys.modules["petsc4py"] = None; import vpatchdg' 2>&1`,
  qr{ImportError: \S+ has no petsc4py\. \S+ uses PETSc $minor\.\d+ \(/.*PETSC_DIR=/\S+ PETSC_ARCH=\S* \S+ -m pip install 'petsc4py==\Q$minor\E\.\*'}s, 'a_missing_petsc4py_is_explained');
system("mkdir -p $folder/broken/petsc4py && touch $folder/broken/petsc4py/__init__.py && echo 'raise ImportError(\"numpy.core.multiarray failed to import\")' > $folder/broken/petsc4py/PETSc.py");
like(`PYTHONPATH=$folder/broken:share/python $python -B -c 'import vpatchdg' 2>&1`, qr{ImportError: petsc4py .* can not be loaded: numpy\.core.* pip install 'numpy<2'}, 'a_petsc4py_of_another_numpy_is_explained');
# a PETSc loads the library, and the library's own one has not been initialized
like(`$python -B -c 'import ctypes; print(ctypes.CDLL("$ENV{VPATCHDG_LIBRARY}").PetscDLLibraryRegister_vpatchdg())' 2>&1`,
  qr/libvpatchdg\.so uses the PETSc in \/.*loaded by another PETSc.*^76$/ms, 'a_library_of_another_petsc_says_so');
done_testing();
