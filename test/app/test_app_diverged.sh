#!/usr/bin/env bash
# TR-10: a run whose signals grow without bounds comes to its end, but not as "done": status 3, `diverged` in summary.json,
# a message that names signal, factor and time. Sweeps list such a point; a file may ask to end such a run early.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

n_checks=0
n_failed=0

bad() {
  n_failed=$((n_failed + 1))
  echo "FAILED: $*"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
}

# yoke_ends STATUS ARGUMENTS...
yoke_ends() {
  local want=$1 status
  shift
  n_checks=$((n_checks + 1))
  timeout 300 "$yoke" "$@" >out 2>err
  status=$?
  [ "$status" -eq "$want" ] || bad "yoke $*: status $status, expected $want"
}

# has FILE TEXT, lacks FILE TEXT
has() {
  n_checks=$((n_checks + 1))
  grep -qF -- "$2" "$1" || bad "$1 lacks: $2"
}
lacks() {
  n_checks=$((n_checks + 1))
  ! grep -qF -- "$2" "$1" || bad "$1 has: $2"
}

# the signal loop of the trust specification, section 10
cat >loop.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.05}
units:
  reference: {model: step, with: {time: 1}}
  difference: {model: sum, with: {signs: [1, -1]}}
  gain: {model: gain, with: {k: 40}}
  plant: {model: state_space, with: {A: [[-1]], B: [[1]], outputs: [y]}}
connections: [reference.y -> difference.u1, plant.y -> difference.u2, difference.y -> gain.u, gain.y -> plant.u1]
END

# ---- with companions, which diverge as well: the verdict names signal, factor and time
yoke_ends 3 run loop.yaml --trust both --out both
has out 'loop: still growing, 200 steps to t = 10 s'
lacks out 'done'
has out 'trust: wrong: diverges: plant.y grew 220 times within 16 exchanges, between 1 s and 2 s'
has err 'error: diverges: plant.y grew 220 times within 16 exchanges, between 1 s and 2 s'
has both/summary.json '"status": "diverged"'
yoke_ends 0 run loop.yaml --trust both --out both --no-verdict
has both/summary.json '"status": "diverged"'

# ---- on its own: it reaches the stop time, and says that it diverged
yoke_ends 3 run loop.yaml --trust none --out grown
has err 'error: plant.y diverges: it grew 220 times within 16 exchanges, from t = 1 s to t = 2 s, and reached 5.96e+25'
has err 'if the plant is unstable by itself this is right: run with --trust both'
has out 'loop: diverged, 200 steps to t = 10 s'
has grown/summary.json '"status": "diverged"'
has grown/summary.json '"verdict": "wrong"'
has grown/summary.json '"sentence": "plant.y diverges: it grew 220 times within 16 exchanges'
n_checks=$((n_checks + 1))
[ "$(wc -l <grown/results.csv)" -eq 202 ] || bad 'the results are not complete'

# --quiet leaves the error
yoke_ends 3 run loop.yaml --trust none --out grown --quiet
has err 'plant.y diverges'

# ---- five times the exchanges: stable
yoke_ends 0 run loop.yaml --set time.step=0.01 --trust none --out good
lacks err 'diverges'
has good/summary.json '"status": "done"'

# ---- ended early, if the file asks for it: factor 1e12 since the window that began at 1 s
yoke_ends 3 run loop.yaml --set 'quality.stop.growth=true' --trust none --out stopped
has err 'error: difference.y diverges: it grew 1.14e+12 times from t = 1 s to t = 5.4 s, where quality.stop.growth ended the run'
has stopped/summary.json '"status": "diverged"'
n_checks=$((n_checks + 1))
rows=$(wc -l <stopped/results.csv)
{ [ "$rows" -gt 60 ] && [ "$rows" -lt 150 ]; } || bad "it was ended after $rows rows"
yoke_ends 0 run loop.yaml --set 'quality.stop.growth=true' --set time.step=0.01 --trust none --out good
has good/summary.json '"status": "done"'

# ---- above 1e100 without an alarm at the end: too few exchanges for one
cat >large.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.1}
units: {a: {model: ramp, with: {slope: 1e101}}, b: {model: gain}}
connections: [a.y -> b.u]
END
yoke_ends 3 run large.yaml --trust none --out large
has err 'a.y diverges: it reached 1e+101'
lacks err 'unstable by itself'

# ---- a value that is not finite is a failure, as ever
yoke_ends 1 run loop.yaml --set time.stop=2000 --trust none --out failed
has failed/summary.json '"status": "failed"'

# ---- sweeps list it
yoke_ends 0 sweep loop.yaml --vary time.step=0.05,0.01 --measure maxabs:plant.y --out swept
n_checks=$((n_checks + 2))
grep -q '^0.05,diverged,10,,.*plant.y diverges: it grew 220 times' swept/sweep.csv || bad "swept: $(cat swept/sweep.csv)"
grep -q '^0.01,done,10,1\.' swept/sweep.csv || bad "swept: $(cat swept/sweep.csv)"

# and name the same signal as a run does, with companions and without
for mode in both none; do
  "$yoke" run loop.yaml --trust $mode --out named >out 2>err
  signal=$(sed -n 's/^trust: wrong: diverges: \([^ ]*\) .*/\1/p' out)
  yoke_ends 1 sweep loop.yaml --vary time.step=0.05 --measure verdict --set trust.companions=$mode --out swept-$mode
  n_checks=$((n_checks + 1))
  grep -q "diverges: $signal \|$signal diverges" swept-$mode/sweep.csv || bad "$signal, but swept: $(cat swept-$mode/sweep.csv)"
done

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
