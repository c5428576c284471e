#!/usr/bin/perl
# make paper: the page from small runs has the reference's iterations, and no number but those of the runs' JSON.
use strict;
use warnings;
use JSON::PP;
use Test::More;
use lib 'tests/support';
use Example;

plan(skip_all => 'no python3') if system('python3 -c "" 2>/dev/null');
$ENV{ASAN_OPTIONS} = 'detect_leaks=0'; # MPI's
$ENV{PETSC_OPTIONS} = '-bench_seconds 0 ' . ($ENV{PETSC_OPTIONS} // '');
my $drawings = join(',', map { "figure$_" } 1, 2, 4, 6, 8, 12, 13);
my $most = $ENV{SANITIZE} ? 5e3 : 1.4e4;

sub paper {
  my ($arguments) = @_;
  return scalar `python3 -B share/vpatchdg/paper --bin $build/bin --results $folder/results --name here --cpu $arguments 2>&1`;
}
sub slurp {
  my ($file) = @_;
  open(my $in, '<:encoding(UTF-8)', $file) or return '';
  local $/;
  return <$in>;
}
sub entries { return { slurp("$folder/results/index.html") =~ /<td data-of="([^"]+)">([^ <]+)/g } }

my $out = paper("--only $drawings,indices,table1,table2,table4,figure5right,figure11,figure16,figure7 --most $most --ranks 2");
ok(!$?, 'paper_runs') or diag($out);
like($out, qr/^figure7 is left out or not complete: there is no GPU here$/m, 'paper_says_what_is_left_out');
my $page = slurp("$folder/results/index.html");
like($page, qr/<section id="figure7">.*?Not run yet: it needs a GPU\..*?<\/section>/s, 'page_says_what_is_left_out');

# the reference of tests/iterations.c: space, degree, L, sweeps, nu
my $entry = entries();
my %config = ('FULL 1' => 'paper_ours', 'FULL 0' => 'fgmres', 'DIRI 1' => 'paper_full', 'LOCAL 1' => 'paper_dirichlet',
              'CLAMP 1' => 'paper_clamped');
my $compared = 0;
for (slurp('tests/iterations.c') =~ /\{((?:FULL|DIRI|LOCAL|CLAMP), \d, \d, \d, 1, [\d.]+)\}/g) {
  my ($space, $degree, $refine, $pre, undef, $nu) = split(/, /);
  my $of = $config{"$space $pre"} . " Q$degree L$refine";
  next if !defined $entry->{$of};
  # the default's cycle is in single precision, the reference's in double
  ok(abs($entry->{$of} - $nu) <= ($pre ? 0.2 : 0.5), "entry_is_the_reference, $of") or diag("$entry->{$of}, reference $nu");
  $compared++;
}
cmp_ok($compared, '>=', $ENV{SANITIZE} ? 4 : 14, 'entries_have_references');
cmp_ok(abs($entry->{'weak Q3 L2 on 2'} - 4.6), '<=', 0.3, 'weak_entry_is_the_reference');
cmp_ok($entry->{'FGMRES Q3'}, '>', 0, 'entry_of_bench_gpu');
like($page, qr/its Dirichlet is [\d.]+( to [\d.]+)? times as fast as its Full with the residual of all/, 'page_says_what_was_measured');
for my $name (split(/,/, $drawings), 'figure11', 'figure16') {
  my ($svg) = $page =~ /<section id="$name">.*?(<svg.*?<\/svg>)/s;
  open(my $file, '>:encoding(UTF-8)', "$folder/$name.svg");
  print $file $svg // '';
  close($file);
  is(`python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' $folder/$name.svg 2>&1`, '', "picture_is_xml, $name");
}

# on a GPU bench_gpu fills the tables: it takes a solver from the options, and solves as poisson does
for my $config (qw(paper_dirichlet paper_ours)) {
  my $file = "$folder/solve.json";
  run(1, 'bench_gpu', '-bench_backend host -bench_parts options -bench_degrees 3 -bench_refine 2 '
      . "-options_file share/vpatchdg/options/$config.opts -report $file");
  my $rows = [grep { $_->{rhs} eq 'f = 1' } @{decode_json(slurp($file) || '{}')->{rows} // []}];
  my $same = @$rows == 1 && $rows->[0]{dofs} == 4096 && sprintf('%.1f', $rows->[0]{nu}) eq $entry->{"$config Q3 L2"};
  ok($same, "bench_gpu_solves_by_options, $config") or diag(explain($rows));
}

# nothing is run again, and the page follows the file
$out = paper("--only table1 --most $most --resume --ranks 2");
ok(!$? && $out =~ /: 0 runs$/m, 'paper_resumes') or diag($out);
my $json = decode_json(slurp("$folder/results/here.json"));
ok($json->{machine}{name} eq 'here' && $json->{date} && $json->{command} =~ /--only/, 'results_name_machine_date_and_command');
is($entry->{'paper_ours Q3 L2'}, sprintf('%.1f', $json->{runs}{'paper_ours Q3 L2 on 2 ranks'}{report}{nu}), 'entry_is_of_the_file');
my @solves = grep { $_->{about}{kind} eq 'solve' } values %{$json->{runs}};
($_->{report}{nu}, $_->{date}) = (7.77, '2999') for @solves;
# timed solves of other items may take other levels: they are no entries of these tables
my $timed = decode_json(encode_json($json->{runs}{'paper_ours Q3 L2 on 2 ranks'}));
($timed->{about}{timed}, $timed->{report}{nu}, $timed->{date}) = (JSON::PP::true, 1.11, '3000');
$json->{runs}{'paper_ours Q3 L2 on 1 GPU, timed'} = $timed;
$json->{machine}{name} = 'there';
open(my $file, '>', "$folder/results/there.json");
print $file encode_json($json);
close($file);
$out = paper('--draw --only table1,table2,figure1');
is_deeply([sort { $a <=> $b } keys %{{ map { $_ => 1 } values %{entries()} }}], ['7.8'], 'newest_entries_are_drawn') or diag($out);
like(slurp("$folder/results/index.html"), qr/<li>here: .*<li>there: /s, 'machines_share_a_page');

# the kernels that conflicts.sh looks for have these names
my %sources = map { $_ => 1 } map { /\w+/g } map { slurp($_) } glob('cuda/*.cu* cuda/*/*.cu* tests/paper/*.cu*');
my ($patterns) = slurp('share/vpatchdg/conflicts.sh') =~ /^PATTERNS = \[(.*?)^\]/ms;
my @names = $patterns =~ /\b([A-Z][a-z]+[A-Za-z]+)\b/g;
cmp_ok(@names, '>', 9, 'kernels_are_looked_for');
is(join(' ', grep { !$sources{$_} } @names), '', 'kernels_that_are_looked_for_exist');

like(paper('--only nothing'), qr/^paper: there is no item nothing; these are there: .*table1/, 'paper_names_its_items');
like(paper("--only figure1 --mpiexec false"), qr/^    status 1$/m, 'paper_says_what_failed');
done_testing();
