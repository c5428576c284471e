#!/usr/bin/perl
# The manual misses nothing, man can show it, and the drawings can be made. Needs python3; pages as HTML are looked at where there is Sphinx.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;
plan(skip_all => 'no python3 here') if system('python3 -c "" 2>/dev/null');
local $ENV{ASAN_OPTIONS} = 'detect_leaks=0'; # MPI's
local $ENV{PYTHONDONTWRITEBYTECODE} = 1;

open(my $help, '>', "$folder/help");
print $help run(1, 'poisson', "-dm_refine 1 -pc_type $_ -help") for qw(vpatchdg vpatch);
close($help);
my $out = `python3 share/doc/check.py $folder/help 2>&1`;
is($?, 0, 'nothing_is_missing') or diag($out);

# what is taken away is missed
sub spoiled {
  my ($file, $from, $to) = @_;
  system("rm -rf $folder/copy; mkdir $folder/copy; cp -r include src share $folder/copy") == 0 or die;
  open(my $in, '<', $file);
  my $text = join('', <$in>);
  $text =~ s/$from/$to/ or die "$file has no $from";
  open(my $changed, '>', "$folder/copy/$file");
  print $changed $text;
  close($changed);
  return `python3 $folder/copy/share/doc/check.py $folder/help 2>&1`;
}
like(spoiled('src/petsc/dm/coefficient.c', 'DMVPatchDGGetCells - ', 'Cells - '), qr/DMVPatchDGGetCells has no page/, 'missing_page_is_missed');
like(spoiled('src/petsc/fields/integrals.c', '\.  dirichlet - [^\n]*\n', ''), qr/DMVPatchDGComputeRHS: describes the parameters/, 'missing_parameter_is_missed');
like(spoiled('src/petsc/pc/levels.c', '`VPATCHDG_COARSE_SWEEPS`', 'sweeps'), qr/VPATCHDG_COARSE_SWEEPS is not explained/, 'missing_value_is_missed');
like(spoiled('share/doc/options.rst', '-pc_vpatchdg_space full', '-pc_vpatchdg_space whole'), qr/-pc_vpatchdg_space is never whole/, 'wrong_word_is_noticed');
like(spoiled('src/petsc/dm/settings.c', '-dm_vpatchdg_dim', '-dm_vpatchdg_another'), qr/asks for -dm_vpatchdg_another, which.*has -dm_vpatchdg_dim, which nothing/s,
  'missing_option_is_missed');
like(spoiled('share/doc/options.rst', '- Degree of the polynomials, 1 to 8\n     - ``3``', "- Degree of the polynomials, 1 to 8\n     - ``4``"),
  qr/default of -dm_vpatchdg_degree is 3, not 4/, 'wrong_default_is_noticed');

# tables of settings are on the pages of setters and of types
spoiled('src/petsc/pc/settings.c', 'VPATCHDG_SPACE_FULL', 'VPATCHDG_SPACE_CLAMPED');
system("python3 $folder/copy/share/doc/man.py $folder/copy/man");
for my $page ('PCVPatchDGSetSpace', 'PCVPATCHDG') {
  my $text = do { local (@ARGV, $/) = "$folder/copy/man/man3/$page.3"; <> };
  like($text, qr/pc_vpatchdg_space full\|dirichlet\|clamped\n.*\(clamped by default\)/, "default_of_a_page_is_the_tables, $page");
}

# manual pages
is(system("python3 share/doc/man.py $folder/man"), 0, 'man_pages_are_written');
my @pages = glob("$folder/man/man3/*.3");
open(my $header, '<', 'include/vpatchdg.h');
my $names = join('', <$header>);
my @functions = $names =~ /PETSC_EXTERN PetscErrorCode (\w+)/g;
is_deeply([grep { !-e "$folder/man/man3/$_.3" } @functions, $names =~ /^#define (\w+) +"\w+" +\/\*/mg, $names =~ /\} (\w+);/g], [], 'man_pages_exist');
SKIP: {
  skip('no man here', 4) if system('man --version >/dev/null 2>&1');
  local $ENV{MANPATH} = "$folder/man";
  my $text = `man -P cat DMVPatchDGCreate 2>&1`;
  like($text, qr/PetscErrorCode DMVPatchDGCreate\(.*MPI_Comm comm.*INPUT PARAMETERS.*degree/s, 'man_shows_a_function');
  like(`man -P cat PCVPATCHDG 2>&1`, qr/-pc_vpatchdg_space full\|dirichlet\|clamped/, 'man_shows_a_type');
  like(`man -P cat PCVPATCHDG 2>&1`, qr/-pc_vpatchdg_exchange auto\|sweep\|color\n.*\(auto by default\), by\s+option only\n/s, 'man_shows_what_is_set_by_option_only');
  is(join('', map { `LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z $_ 2>&1 >/dev/null` } @pages), '', 'man_finds_no_fault');
}

is(system("python3 -B share/doc/pictures.py $folder/pictures && python3 -B share/doc/reference.py $folder/reference"), 0, 'pictures_and_reference_are_written');
# lines between .vb and .ve stay lines in both, and only options are set as such
sub read_all { local (@ARGV, $/) = @_; return join("\n", <>) }
for (['man', "$folder/man/man3"], ['reference', "$folder/reference/functions"]) {
  my ($form, $where) = @$_;
  unlike(read_all(glob("$where/*")), qr/^\s*\.v[be]\b|\.vb /m, "no_mark_of_verbatim_lines_is_left, $form");
  like(read_all(glob("$where/DMVPatchDGEstimate.*")), qr/^ *h.?\^2\/\(k.?\^2 a\).* on the cell\n *half of/m, "verbatim_lines_stay, $form");
}
unlike(read_all("$folder/reference/functions/DMVPatchDGEstimate.rst"), qr/``-div/, 'a_minus_is_no_option');
like(read_all("$folder/reference/functions/DMVPATCHDG.rst"), qr/``-dm_vpatchdg_penalty/, 'options_are_set_as_such');
SKIP: {
  skip('no Sphinx here', 5) if system('sphinx-build --version >/dev/null 2>&1');
  my $said = `make doc CUDA=0 BUILD=$folder/site 2>&1`;
  is($?, 0, 'pages_are_made_without_a_warning') or diag($said);
  my %page = map { m{([^/]*)\.html$} => read_all($_) } glob("$folder/site/doc/html/*.html $folder/site/doc/html/functions/*.html");
  like($page{mathematics}, qr/<msup>.*<mi>M<\/mi>/s, 'formulas_are_mathml');
  is(join(' ', grep { $page{$_} =~ /(?:src|<link[^>]*href)="(?:https?:)?\/\// } sort keys %page), '', 'pages_fetch_nothing');
  is(join(' ', grep { $page{$_} !~ /rel="(?:next|prev)"/ } grep { !/^(search|genindex)$/ } sort keys %page), '', 'pages_lead_to_the_next_or_previous_one');
  my ($version) = read_all('include/vpatchdg.h') =~ /VPATCHDG_VERSION "(.*)"/;
  is(join(' ', grep { $page{$_} !~ /Version \Q$version\E/ } sort keys %page), '', 'pages_say_their_version');
}
for my $picture (glob("$folder/pictures/*.svg")) {
  is(`python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' $picture 2>&1`, '', 'picture_is_xml, ' . $picture =~ s{.*/}{}r);
}
done_testing();
