#!/bin/sh
# prove.sh [-v] [-jN] FILE...: runs test files with prove, N at once, or by itself where there is none (then without those written in perl).
! command -v prove >/dev/null || exec prove --timer --failures "$@"
while case $1 in -*) true ;; *) false ;; esac do shift; done
out=$(mktemp)
trap 'rm -f "$out"' EXIT
files=0 failed=0
for t in "$@"; do
  if head -n 1 "$t" | grep -q perl; then
    echo "$t .. skipped: no prove here"
    continue
  fi
  sh "$t" >"$out" 2>&1
  status=$? good=$(grep -c '^ok' "$out") bad=$(grep -c '^not ok' "$out") plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$out" | tail -n 1)
  files=$((files + 1))
  if [ $status = 0 ] && [ "$bad" = 0 ] && [ "$good" = "$plan" ]; then
    echo "$t .. ok, $good tests $(sed -n 's/^1\.\.0 *# *//p' "$out")"
  else
    failed=$((failed + 1))
    echo "$t .. FAILED: status $status, $good of ${plan:-?} tests ok, $bad not"
    grep -v '^ok' "$out"
  fi
done
if [ $failed = 0 ] && [ $files != 0 ]; then
  echo "Result: PASS, $files files"
else
  echo "Result: FAIL, $failed of $files files"
  exit 1
fi
