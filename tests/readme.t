#!/usr/bin/perl
# README.md: its programs are those of examples/, which examples.t runs; what its commands print is what it says, but for times and last digits.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

sub slurp {
  my ($name) = @_;
  open(my $in, '<', $name) or return '';
  local $/;
  return <$in>;
}
my $readme = slurp('README.md');
cmp_ok(($readme =~ tr/\n//), '<=', 150, 'readme_is_short');
my ($c) = $readme =~ /```c\n(.*?)```/s;
like(slurp('examples/first.c'), qr/\Q$c\E\z/, 'readme_has_the_c_program');
my ($py) = $readme =~ /```python\n(.*?)```/s;
is($py, slurp('examples/first.py'), 'readme_has_the_python_program');
for my $link ($readme =~ /\]\(([^)#]+)\)/g) {
  ok(-e $link, "readme_links_to_what_is_there, $link") if $link !~ /^http/;
}

# the options file and what plain says with it
my ($opts, $said) = $readme =~ /^\$ cat solver\.opts\n(.*?)^\$ build\/bin\/plain -options_file solver\.opts\n([^\n]*)\n/ms;
open(my $out, '>', "$folder/solver.opts");
print $out $opts =~ s/build\//$build\//gr;
close($out);
my $told = run(1, 'plain', "-options_file $folder/solver.opts");
my ($residual) = $told =~ /true relative residual (\S+)/;
# New versions of PETSc indent what they say of convergence.
sub masked { my ($text) = @_; chomp($text); return $text =~ s/^ +//r =~ s/\d\.\de-\d+/#/r }
is(masked($told), masked($said), 'readme_says_what_plain_says');
ok($residual && $residual <= 1e-8, 'readme_solves_to_1e-8');
my ($first) = $readme =~ /-o first && \.\/first\n([^\n]*)\n/;
is(masked(run(1, 'first', '')), masked($first), 'readme_says_what_first_says');
SKIP: {
  my $python = python() or skip('no python3 with a petsc4py of this PETSc', 1);
  my ($shown) = $readme =~ /python3 examples\/first\.py[^\n]*\n([^\n]*\n[^\n]*)\n/;
  my ($found, $said) = map { s/, \S+ s,/, # s,/r } masked(scalar(`$python -B examples/first.py 2>&1`)), masked($shown);
  is($found, $said, 'readme_says_what_first_py_says');
}

# the table of make run: its columns, and the iterations of the smallest degree
my ($row) = $readme =~ /^( +3 +2 +4096 .*)$/m;
my ($ran) = run(2, 'poisson', '-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 4') =~ /^( +3 +2 +4096 .*)$/m;
is_deeply([(split(' ', $ran))[0 .. 5]], [(split(' ', $row))[0 .. 5]], 'readme_says_what_make_run_says');
done_testing();
