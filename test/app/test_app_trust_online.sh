#!/usr/bin/env bash
# Runs without companions that tell their own error, as a user sees them: the table, the exit status, summary.json, bands.csv,
# the same bytes of results, the same verdict every time; FMUs; where there is no estimate, and why.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp

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

# same NAME FILE FILE
same() {
  n_checks=$((n_checks + 1))
  cmp "$2" "$3" >cmp 2>&1 || bad "$1: $(cat cmp)"
}


cat >loop.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 4, step: 0.1}
trust: {bands: true}
units:
  a: {model: state_space, step: 0.025, with: {A: [[-1]], B: [[1]], C: [[1]], x0: [1], inputs: [u], outputs: [y]}}
  b: {model: state_space, step: 0.025, with: {A: [[-2]], B: [[1]], C: [[1]], inputs: [u], outputs: [y]}}
connections:
  - {from: b.y, to: a.u, gain: -4}
  - {from: a.y, to: b.u}
END

# ---- doubtful, trustworthy, wrong
yoke_ends 0 run loop.yaml --trust none --out none
has out 'trust: doubtful: b.y may be off by up to '
has out '; estimated from the run itself'
has out 'estimated from the run itself: 4 samples per exchange, models fit to '
lacks out 'compared with'
has none/summary.json '"online"'
has none/summary.json '"estimated": true'
has none/bands.csv 'time,band.a.y,band.b.y'
yoke_ends 0 run loop.yaml --trust none --set time.step=0.01 --set units.a.step=0.0025 --set units.b.step=0.0025
has out 'trust: trustworthy: '
yoke_ends 3 run loop.yaml --trust none --set time.step=0.2
has out 'trust: wrong: '
yoke_ends 0 run loop.yaml --trust none --set time.step=0.2 --no-verdict
yoke_ends 0 run loop.yaml --set trust.companions=none --out file
same 'the file says none' none/bands.csv file/bands.csv

# ---- the results, and the verdict, do not depend on it
yoke_ends 0 run loop.yaml --trust half --out half --no-verdict
lacks half/summary.json '"online"'
lacks half/summary.json '"estimated": true'
same 'results with and without companions' none/results.csv half/results.csv
yoke_ends 0 run loop.yaml --trust none --out again --threads 2
same 'results twice' none/results.csv again/results.csv
same 'bands twice' none/bands.csv again/bands.csv

# ---- FMUs, whose outputs are asked for
if "$yoke" export loop.yaml --unit a --fmi 2 --out a.fmu >out 2>err &&
   "$yoke" export loop.yaml --unit b --fmi 3 --out b.fmu >out 2>err; then
  sed 's/a: {model.*/a: {fmu: a.fmu, step: 0.025}/; s/b: {model.*/b: {fmu: b.fmu, step: 0.025}/' loop.yaml >fmu.yaml
  yoke_ends 0 run fmu.yaml --trust none --out fmu
  has out 'trust: doubtful: b.y may be off by up to '
  has out 'estimated from the run itself: 4 samples per exchange'
  yoke_ends 0 run fmu.yaml --trust half --out fmu_half --no-verdict
  same 'results of FMUs with and without companions' fmu/results.csv fmu_half/results.csv
else
  echo 'skipped: no FMU could be written here'
fi

# ---- none, and why
yoke_ends 0 run loop.yaml --trust none --set units.b.step=0.1
has out "trust: not judged: no error estimate: run with --trust both; none from the run itself: 'b' is called once per exchange, 4 calls are needed"
lacks out 'estimated from the run itself: '
yoke_ends 0 run loop.yaml --trust none --set time.stop=1
has out 'none from the run itself: there are fewer than 16 exchanges'

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
