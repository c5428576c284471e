#!/usr/bin/perl
# The command lines of the documentation ("$ ..." in share/doc/*.rst) print what stands below them, but for times and last digits.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

my $python = python();
my $slepc = $python && !system("$python -c 'import slepc4py' 2>/dev/null");

# lines as words; numbers with a point or an exponent become #, and so does -0.00; of poisson's table the columns after the iterations are times and digits
sub words {
  my ($text, $command) = @_;
  return map { my @w = split; $command =~ /poisson/ ? @w[0 .. 5] : @w }
    map { s/-(?=0\.0+\b)//gr =~ s/\d+(\.\d+)?e[-+]\d+|\d+\.\d+/#/gr } grep { /\S/ } split(/\n/, $text);
}

# Iterations may differ by one, or by a tenth. Where there are 20 and more, rounding errors decide, and with them the processor: by a half.
sub alike {
  my ($x, $y) = @_;
  return 0 if @$x != @$y;
  for my $i (0 .. $#$x) {
    next if $x->[$i] eq $y->[$i];
    return 0 if $x->[$i] !~ /^\d+$/ || $y->[$i] !~ /^\d+$/ || abs($x->[$i] - $y->[$i]) > 1 + $x->[$i] / ($x->[$i] < 20 ? 10 : 2);
  }
  return 1;
}

my $found = 0;
for my $page (glob('share/doc/*.rst')) {
  open(my $in, '<', $page);
  my $text = join('', <$in>) =~ s/ \\\n +/ /gr; # a line that ends in a backslash goes on in the next
  if ($text =~ /^   # solver\.opts\n((?:   -.*\n)+)/m) { # the options file that a page shows
    open(my $opts, '>', "$folder/solver.opts");
    print $opts $1 =~ s/build\//$build\//gr;
    close($opts);
  }
  while ($text =~ /^   \$ (.*(?:build|examples)\/.*)\n((?:   (?!\$).*\n)+)/mg) {
    my ($command, $expected) = ($1, $2);
    next if $command !~ /^(mpiexec -n (\d+) )?(build\/bin\/(\w+)|python3) (.*)/ && $command !~ /^(mpiexec -n (\d+) )?(build\/bin\/(\w+))()$/;
    my ($ranks, $program, $arguments) = ($2 // 1, $4, $5);
    $found++;
  SKIP: {
      skip('no python3 with a petsc4py of this PETSc', 1) if !$program && !$python;
      skip('no slepc4py here', 1) if !$program && $arguments =~ /eigenvalues/ && !$slepc;
      $arguments =~ s/build\//$build\//g;
      $arguments =~ s/solver\.opts/$folder\/solver.opts/;
      my $out = $program ? run($ranks, $program, $arguments) : `tests/support/run.sh $ranks $python -B $arguments 2>&1`;
      ok(alike([words($expected, $command)], [words($out, $command)]), "prints_what_the_page_says, $page, " . substr($command, 0, 60))
        or diag("$command\n$out");
    }
  }
}
cmp_ok($found, '>', 10, 'command_lines_are_found');
done_testing();
