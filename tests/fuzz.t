#!/usr/bin/perl
# Random options and API calls: no crash, no hang, no wrong residual. A short part of `make fuzz`, always the same.
use strict;
use warnings;
use Test::More;
use lib 'tests/support';
use Example;

plan(skip_all => 'no python3') if system('python3 -c "" 2>/dev/null');
my $out = `tests/fuzz/fuzz.py --program $build/bin/fuzz --seed 1 --runs 60 --jobs 2 2>&1`;
ok(!$? && $out =~ /^60 passed, 0 failed$/m, 'random_cases_pass') or diag($out);
done_testing();
