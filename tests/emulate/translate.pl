#!/usr/bin/perl
# translate.pl FOLDER FILE...: CUDA sources as C++ that cuda_runtime.h beside this file completes, to the same places in FOLDER
use strict;
use warnings;
use File::Basename;
use File::Path 'make_path';

my $folder = shift;
local $/;
for my $file (@ARGV) {
  open(my $in, '<', $file) or die "$file: $!";
  my $text = <$in>;
  my $inside = qr/(?:[^()]|\((?:[^()]|\([^()]*\))*\))*/; # what is between brackets
  $text =~ s/extern __shared__ (?:__align__\(\w+\) )?([\w ]+?)\s+(\w+)\[\];/$1 *$2 = ($1 *)emulated::shared;/g;
  $text =~ s/__shared__/static/g;
  $text =~ s/asm volatile\("ld\.global[^;]*;" [^;]*;/a = *p;/g;
  $text =~ s/asm\("rcp\.approx[^;]*;" [^;]*;/r = 1 \/ a;/g;
  $text =~ s/(\w+)<<<(.+?)>>>\(($inside)\);/emulated::Start(what, {$2}, $1, $3);/;
  make_path("$folder/" . dirname($file));
  open(my $out, '>', "$folder/$file") or die "$folder/$file: $!";
  print $out "#line 1 \"$file\"\n$text";
}
