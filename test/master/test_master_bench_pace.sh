#!/usr/bin/env bash
# B-17, B-18 and the pairs of empty and working periods: bench_pace prints all of them, each with its goal, and judges none. A
# very short run; what it measured on this machine is not looked at.
set -u
bench=${YOKE_BUILD_DIR:?folder of the build}/bench/bench_pace
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
if [ ! -x "$bench" ]; then
  echo "skipped: $bench is not built"
  exit 77
fi
n_bad=0
bad() {
  n_bad=$((n_bad + 1))
  echo "FAILED: $*"
}
"$bench" 0.1 100 1000 >"$out" 2>&1 || bad "status $?, expected 0 whatever was measured"
cat "$out"

# row ID FIGURE GOAL UNIT: once, with a number that was measured
row() {
  local n
  n=$(grep -cE "^$1 +$2 +-?[0-9][0-9.e+-]* +$3 +$4 +reported only\$" "$out")
  [ "$n" -eq 1 ] || bad "$n rows '$1 $2' with the goal $3 $4, expected one"
}
row B-17 'release behind its grid time, p99' 200 us
row B-17 'computing time of a cycle, p99\.9' 0.5 ms
row B-17 overruns 0.01 %
row B-18 'computing time of a cycle, mean' 100 us
row B-18 'the same without the twin' 100 us
row paired 'late periods with 100 us of work, less empty ones' 0.2 points
grep -q 'and the twin of an inverter' "$out" || bad 'what B-18 holds is not said'
for period in empty work; do
  grep -qE "^$period +50 " "$out" || bad "no line of 50 $period periods"
done
echo "9 checks, $n_bad failed"
[ $n_bad -eq 0 ]
