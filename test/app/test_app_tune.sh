#!/usr/bin/env bash
# yoke tune: the best point of a grid, repetitions with seeds, limits, resume after a kill, and TE-12 on the engine test
# bench: all 176 points with YOKE_FULL=1 (test_app_tune_slow.sh), else the corners and edges of the same map.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

command=tune limit=280
. "$source/test/support/study_cases.sh"

# ---- TE-12: the engine test bench

bench=$source/scenarios/engine-test-bench/inertia.yaml
if [ -f "$bench" ]; then
  # the coarse grid contains the corners, and a limit that cuts off a part of it
  n_p=4 n_i=3
  [ "${YOKE_FULL:-0}" = 0 ] || n_p=16 n_i=11
  n=$((n_p * n_i))
  map=("$bench" --vary "units.bench.with.K_P=10:25:$n_p" --vary "units.bench.with.T_I=0.15:0.25:$n_i"
    --minimise end:meter.ter --current units.bench.with.K_P=14 --current units.bench.with.T_I=0.22)
  ends 0 "${map[@]}" --out whole --jobs 1
  has out "$n points: $n done"
  has out 'change to units.bench.with.K_P=25, units.bench.with.T_I=0.15'
  # TE-10: largest at the lower left corner, smallest at (25, 150 ms), in J within 0.2 %
  is 'largest and smallest of the map' awk -F, '
    NR > 1 { if (NR == 2 || $5 > high) { high = $5; at_high = $1 "," $2 } if (NR == 2 || $5 < low) { low = $5; at_low = $1 "," $2 } }
    function near(x, y) { return x < y * 1.002 && x > y * 0.998 }
    END { exit !(at_high == "10,0.15" && near(high, 8777) && at_low == "25,0.15" && near(low, 6832)) }' whole/map.csv
  is 'the current setting' awk '/"current": \{/ { is_current = 1 } is_current && /"value"/ { gsub(/[^0-9.]/, ""); exit !($0 > 7809 * 0.998 && $0 < 7809 * 1.002) }' whole/tune.json
  ends 0 "${map[@]}" --out jobs3 --jobs 3
  is 'deterministic: same bytes with three jobs' cmp whole/map.csv jobs3/map.csv
  is 'the same drawing' cmp whole/map.svg jobs3/map.svg

  # killed, then resumed without repeating a finished point
  "$yoke" tune "${map[@]}" --out killed --jobs 2 >out 2>err &
  pid=$!
  for ((i = 0; i < 12000; i++)); do
    [ -f killed/journal.csv ] && [ "$(lines killed/journal.csv)" -ge 5 ] && break
    sleep 0.01
  done
  { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
  done_before=$(($(lines killed/journal.csv) - 2))
  is "killed in the middle, after $done_before runs" test "$done_before" -ge 3 -a "$done_before" -le "$n"
  ends 0 "${map[@]}" --out killed
  has out "$done_before runs were in the journal already"
  is 'no run twice' test "$(lines killed/journal.csv)" -eq $((n + 3))
  is 'the same map after a kill' cmp whole/map.csv killed/map.csv
  is 'the same result after a kill' cmp whole/tune.json killed/tune.json

  # a safe limit, over-torque: aborted at once, marked, empty, hatched, and the best of the rest is taken
  ends 0 "${map[@]}" --limit 'max:bench.tau<=255' --out limited
  is 'the best point obeys the limit' grep -q '^change to units.bench.with.K_P=25, units.bench.with.T_I=0.[12]' out
  is 'it is not the best without limit' test "$(grep -c '^best 1 .*T_I=0.15$' out)" -eq 0
  is 'failed points are marked, not zero' awk -F, '
    NR > 1 && $3 == "limit" { n++; if ($5 != "" || $6 == "" || $4 >= 10) exit 1 }
    NR > 1 && $3 == "done" && !($5 > 0) { exit 1 }
    NR > 1 && $3 == "done" { n_done++ }
    END { exit !(n > 0 && n_done > 0) }' limited/map.csv
  has limited/map.svg 'fill="url(#failed)"'
else
  bad 'TE-12: scenarios/engine-test-bench is missing'
fi

# ---- the most accurate step whose run is trustworthy

cat >loop.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.1}
units:
  one: {model: state_space, with: {A: [[-1]], B: [[-4]], inputs: [u], outputs: [x], x0: [1]}}
  two: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [x], x0: [0]}}
connections: [two.x -> one.u, one.x -> two.u]
END
ends 0 loop.yaml --vary time.step=0.01,0.02,0.05,0.1 --minimise relative:two.x --out accurate
has out 'change to time.step=0.01: relative:two.x is '
# the cheapest one that is good enough
ends 0 loop.yaml --vary time.step=0.01,0.02,0.05,0.1 --minimise steps --limit 'verdict<=0' --out cheap
has out 'change to time.step=0.02: steps is 500'

# ---- repetitions

cat >noise.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 0.1, step: 1e-2}
units:
  c: {model: constant, with: {value: 10}}
  n: {model: channel, with: {noise: 0.1, seed: 7}}
connections: [c.y -> n.u]
END
noise=(noise.yaml --vary units.c.with.value=9,9.9,11,12 --minimise end:n.y --seed units.n.with.seed)
ends 0 "${noise[@]}" --out noise
has out 'change to units.c.with.value=9: end:n.y is'
has out 'mean'
is 'four points, current, five repetitions of each' test "$(lines noise/journal.csv)" -eq $((2 + 5 + 5 * 5))
has noise/tune.json '"repetitions": 5'
has noise/tune.json '"change": true'
# more of them do not repeat the first ones
ends 0 "${noise[@]}" --out noise --repeat 7
is 'two more of each' test "$(lines noise/journal.csv)" -eq $((2 + 5 + 5 * 7))
ends 0 noise.yaml --vary units.c.with.value=9.95,11 --minimise end:n.y --seed units.n.with.seed --out close
has out 'keep the current setting: the best mean'
has close/tune.json '"change": false'
ends 0 noise.yaml --vary units.c.with.value=9,11 --set units.n.with.noise=0 --minimise end:n.y --seed units.n.with.seed --out silent
has out 'all repetitions are equal'
ends 0 noise.yaml --vary units.c.with.value=9,11 --minimise end:n.y --repeat 4 --out once
has out 'no repetitions: give --seed'
ends 0 noise.yaml --vary units.c.with.value=9,11 --minimise end:n.y --out once --json
has out '"advice": "change to units.c.with.value=9'
is 'well-formed drawing' grep -q '^</svg>$' once/map.svg
if command -v xmllint >/dev/null; then
  is 'XML' xmllint --noout once/map.svg noise/map.svg
else
  echo 'skipped: XML of the drawing: xmllint is missing'
fi

# three axes: no drawing, everything else
ends 0 noise.yaml --vary units.c.with.value=9,11 --vary time.stop=0.1,0.2 --vary units.n.with.noise=0,1 --minimise end:c.y --out three
has out 'a drawing needs one or two axes'
is 'no drawing' test ! -e three/map.svg
is 'eight points' test "$(lines three/map.csv)" -eq 9

# ---- mistakes

wrong() {
  local want=$1
  shift
  rm -rf wrong
  ends 2 "$@" --out wrong
  has err "$want"
  is 'no folder' test ! -e wrong
}
wrong '--minimise is missing' noise.yaml --vary units.c.with.value=9,11
wrong 'expected one measure that is a number' noise.yaml --vary units.c.with.value=9,11 --minimise status
wrong 'expected one measure that is a number' noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y,end:n.y
wrong 'this path is not varied' noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y --current time.step=1
wrong 'expected path=value' noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y --current units.c.with.value
wrong 'this path is varied already' noise.yaml --vary units.n.with.seed=1,2 --minimise end:c.y --seed units.n.with.seed
wrong "did you mean 'seed'?" noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y --seed units.n.with.sede
wrong '--repeat: expected an integer from 2' noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y --seed units.n.with.seed --repeat 1
ends 1 noise.yaml --vary units.c.with.value=9,11 --minimise end:c.y --limit 'max:c.y<=1' --out none
has err 'no setting is advised: no point of the grid could be run to its end'

# a measure that does not exist under Gauss-Seidel: the runs are done all the same
osc=$source/scenarios/linear-oscillator/jacobi.yaml
ends 1 "$osc" --vary time.step=1e-3,2e-3 --minimise eps --set scheme=gauss-seidel --out valueless
has err 'no setting is advised: no point of the grid has a value of the measure'
ends 0 "$osc" --vary scheme=jacobi,gauss-seidel --current scheme=gauss-seidel --minimise eps --out half
has out 'no change is advised: eps has no value at the current setting'

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
