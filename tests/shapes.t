#!/usr/bin/perl
# The shapes of the CUDA kernels: lines that cannot be are refused, the search finds what is there, other shapes are tried. Needs python3.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
plan(skip_all => 'no python3 here') if system('python3 -c "" 2>/dev/null');
my $folder = tempdir(CLEANUP => 1);

sub shapes {
  return scalar(`python3 -B tests/bench/shapes.py @_ 2>&1`);
}
open(my $in, '<', 'cuda/shapes.def');
my ($head, @lines) = <$in>;
like($head, qr/measured on/, 'the_gpu_is_named');

# cuda/shapes.def with its lines of degree 1 changed
sub file {
  my ($from, $to) = @_;
  open(my $out, '>', "$folder/shapes.def");
  print $out $head, map { s/$from/$to/r } grep { /float, 3, 2, / } @lines;
  close($out);
  return "--file $folder/shapes.def";
}
my $same = file('', '');
my $out  = shapes("check 1 --kernels Patch $same");
is($?, 0, 'shapes_are_possible') or diag($out);
my @rows = grep { /Q1/ } split(/\n/, $out);
is(scalar(@rows), 1, 'every_line_is_checked');
for (@rows) {
  my ($name, $now, $fewest) = /(.*Q1) +(\d+) +(\d+)/;
  cmp_ok($fewest, '==', $now, "no_layout_of_its_size_is_better, $name");
}

# what is worse, impossible or no shape at all
like(shapes('check 1 --kernels Patch ' . file('sz = 24', 'sz = 32')), qr/float +3 Q1 +(\d+) +(?!\1 )\d/, 'conflicts_are_noticed');
like(shapes('check 1 --kernels Patch ' . file('width = 2', 'width = 3')), qr/left over/, 'width_that_does_not_divide_n');
isnt($?, 0, 'is_a_failure');
like(shapes('check 1 --kernels Patch ' . file('patches = 8', 'patches = 80')), qr/more than 1024 threads/, 'block_that_is_too_large');
like(shapes('check 1 ' . file('sz = ', 'zs = ')), qr/shapes\.def:2: Patch has the numbers rounds/, 'numbers_have_names');
like(shapes('check 1 ' . file('VP_SHAPE', 'SHAPE')), qr/this is no shape/, 'lines_have_a_form');

# a new degree
my $degree2 = file('', '');
shapes("add 2 --kernels Patch $degree2");
is($?, 0, 'a_degree_is_added');
open($in, '<', "$folder/shapes.def");
is(scalar(grep { /^VP_SHAPE\(\w+, \w+, 3, 3, / } <$in>), 1, 'by_a_line');

# what a GPU would be asked
$out = shapes("measure 2 --kernels Patch --dry-run --build $folder $degree2");
like($out, qr/make BUILD=\S+ CUDA=1 NVCCFLAGS=.*VP_DEGREE\(1\)VP_DEGREE\(2\).*bench_gpu .*-bench_degrees 2 -bench_parts kernels.*patches = 16/s, 'shapes_are_compiled_and_timed');
done_testing();
