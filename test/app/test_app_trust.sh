#!/usr/bin/env bash
# Companions and verdicts as a user sees them. TR-02: results.csv has the same bytes with and without companions, whatever
# these do: crash, exit, fail, hang, write files. Options, files and the interrupt after the results are announced.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
scenarios=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}/scenarios
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
# sanitizers leave the signals of a foreign binary alone
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:${ASAN_OPTIONS:-}
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:atexit_sleep_ms=0:report_thread_leaks=0:${TSAN_OPTIONS:-}

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

# same_bytes NAME FOLDER FOLDER
same_bytes() {
  n_checks=$((n_checks + 1))
  cmp "$2/results.csv" "$3/results.csv" >cmp 2>&1 || bad "$1: $(cat cmp)"
}

# nothing_left: no folder of a companion, a moment after the end
nothing_left() {
  n_checks=$((n_checks + 1))
  for ((i = 0; i < 600; i++)); do
    [ -z "$(ls tmp)" ] && return
    sleep 0.05
  done
  bad "left behind: $(ls tmp)"
}

# ---- TR-02: the same bytes

cat >fmu2.yaml <<END
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 1e-3}
units:
  left: {fmu: $fmus/oscillator_force2.fmu, with: {m: 1, k: 10, kc: 100}, start: {v: 1}}
  right: {fmu: $fmus/oscillator_mass2.fmu, with: {m: 1, k: 1000}}
connections: [right.x -> left.x_other]
bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}
END
sed "s/2\.fmu/3.fmu/" fmu2.yaml >fmu3.yaml
cat >events.yaml <<END
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 0.01}
units:
  stairs: {fmu: $fmus/stairs3.fmu}
  oscillator: {fmu: $fmus/vanderpol2.fmu}
  own: {fmu: $fmus/trivial2.fmu}
connections: [oscillator.x0 -> own.u]
END
for system in "$scenarios"/linear-oscillator/{jacobi,iterative,corrected-multirate,spring-unit}.yaml \
  "$scenarios"/dual-mass/{mpsm,pulsed-loaded,nonlinear-nepce}.yaml "$scenarios"/hydraulic-crane/crane.yaml \
  "$scenarios"/helicopter/learn.yaml "$scenarios"/two-pendula/corrected.yaml "$scenarios"/three-rate-chain/chain.yaml \
  "$scenarios"/typed-signals/typed.yaml "$scenarios"/blocks/blocks.yaml fmu2.yaml fmu3.yaml events.yaml; do
  yoke_ends 0 run "$system" --trust none --no-verdict --quiet --out none
  has none/summary.json '"mode": "none"'
  for threads in 1 2; do
    yoke_ends 0 run "$system" --threads $threads --trust both --no-verdict --quiet --out both
    same_bytes "TR-02: $system, $threads threads" none both
    has both/summary.json '"mode": "both"'
  done
done
nothing_left
yoke_ends 3 run fmu2.yaml --set time.step=0.05 --trust both --out hinted
n_checks=$((n_checks + 1))
grep -qE '^yoke advise fmu2.yaml .*would try up to [0-9]+ settings, at most about [0-9.e-]+ s$' out || bad 'no hint with FMUs'

# ---- what is written and said

jacobi=$scenarios/linear-oscillator/jacobi.yaml
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
yoke_ends 3 run loop.yaml --trust both
has out 'trust: wrong: '
has out 'compared with: half the steps; interpolated inputs at half the step'
has results/loop/summary.json '"verdict": "wrong"'
[ ! -e results/loop/bands.csv ] || bad 'bands.csv though nobody asked'
yoke_ends 0 run loop.yaml --trust both --no-verdict
has out 'trust: wrong: '
yoke_ends 0 run loop.yaml --trust both --set trust.status=false
has out 'trust: wrong: '
yoke_ends 0 run loop.yaml --trust both --set time.step=0.005
has out 'trust: trustworthy: '
yoke_ends 0 run loop.yaml --trust half --set time.step=0.005
has out 'compared with: half the steps'
lacks out 'interpolated'
has out '; compared with half the steps alone'
lacks results/loop/summary.json '"what": "interpolated'
yoke_ends 0 run loop.yaml --trust none
has out 'trust: not judged: no error estimate: run with --trust both'
yoke_ends 0 run loop.yaml --set trust.companions=none
has out 'trust: not judged: '
yoke_ends 3 run loop.yaml --set trust.companions=none --trust both
yoke_ends 3 run loop.yaml --trust both --quiet
has err 'off by up to'
for mode in x '' both,half; do
  yoke_ends 2 run loop.yaml --trust "$mode"
  has err '--trust'
done
yoke_ends 3 run loop.yaml --trust both --json
has out '"trust": {'
yoke_ends 0 run loop.yaml --trust both --set trust.signals=[one.x] --set trust.limits='{one.x: 1}'
has out 'trust: trustworthy: one.x is within '

# without connections there is nothing to judge
printf 'yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits: {one: {model: gain, start: {u: 1}}}\n' >alone.yaml
yoke_ends 0 run alone.yaml
has out 'trust: not judged: nothing is connected'

# bands over time: a column for each signal, a row for each exchange, never below the largest error of the signal
yoke_ends 3 run loop.yaml --trust both --set trust.bands=true --out banded
n_checks=$((n_checks + 3))
[ "$(head -n 1 banded/bands.csv)" = 'time,band.one.x,band.two.x' ] || bad "head of bands.csv: $(head -n 1 banded/bands.csv)"
[ "$(wc -l <banded/bands.csv)" -eq 102 ] || bad "$(wc -l <banded/bands.csv) lines in bands.csv"
[ "$(cut -d, -f1 banded/bands.csv)" = "$(cut -d, -f1 banded/results.csv)" ] || bad 'times of bands.csv and results.csv differ'
same_bytes 'with bands' results/loop banded
yoke_ends 0 run loop.yaml --trust none --set trust.bands=true --out banded
[ ! -e banded/bands.csv ] || bad 'bands.csv of an earlier run is left'

# ---- companions that fail; the run does not notice

# what is said of a companion that does WHAT
cat >touchy.yaml <<END
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.01}
units:
  touchy: {fmu: $fmus/touchy2.fmu, with: {usual: 0.0099}}
  other: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [y], x0: [0]}}
connections: [touchy.x -> other.u, other.y -> touchy.u]
END
yoke_ends 0 run touchy.yaml --trust none --quiet --out none
while read -r what words; do
  yoke_ends 0 run touchy.yaml --trust both --set "units.touchy.with.what=$what" --out "$what"
  has out "$words"
  has out 'touchy: done, 100 steps'
  same_bytes "companions do: $what" none "$what"
  ! grep -qv '^the result is still being judged' err || bad "a companion that does '$what' prints"
done <<'END'
none trust: trustworthy: touchy.x is within
crash no error estimate: failed: its process ended by a signal (segmentation fault)
abort no error estimate: failed: its process ended by a signal (abort)
exit no error estimate: failed: a unit ended its process
error no error estimate: failed: unit 'touchy' at t = 0 s: step failed: fmi2DoStep returned error
END
# a file that is written where it stands is that of the run alone
yoke_ends 0 run touchy.yaml --trust both --set units.touchy.with.what=writes --out writes
has out 'trust: trustworthy: '
n_checks=$((n_checks + 1))
[ "$(wc -l <touchy.txt)" -eq 100 ] || bad "$(wc -l <touchy.txt) lines in touchy.txt: companions wrote too"
nothing_left

# one instance per process: a packed one is unpacked once more, a folder is shared and refuses the second instance
while read -r fmu words; do
  sed "s|touchy: {.*|touchy: {fmu: $fmus/$fmu, start: {y: 1}}|; s/touchy\.x/touchy.y/" touchy.yaml >once.yaml
  yoke_ends 0 run once.yaml --trust both --out once
  has out 'once: done, 100 steps'
  ! grep -qv '^the result is still being judged' err || bad "$fmu: a companion prints"
  yoke_ends 0 run once.yaml --trust none --quiet --out once-none
  same_bytes "$fmu" once once-none
  has once/summary.json "$words"
done <<'END'
only_once2.fmu "verdict": "trustworthy"
only_once2 no error estimate: refused: fmi2Instantiate failed: logStatusError: there can be only one instance
END

# ---- Ctrl-C when the results are there: no verdict, and nothing else is missing

rm -rf hang
env --default-signal=INT "$yoke" run touchy.yaml --trust both --set units.touchy.with.what=hang --out hang >out 2>err &
pid=$!
for ((i = 0; i < 2400; i++)); do
  grep -q 'results in hang' out && break
  sleep 0.05
done
n_checks=$((n_checks + 2))
[ -s hang/summary.json ] || bad 'results are announced before they are complete'
same_bytes 'before the verdict' none hang
lacks hang/summary.json '"companions": ['
# who waits is told once
for ((i = 0; i < 2400; i++)); do
  [ -s err ] && break
  sleep 0.05
done
sleep 0.5
n_checks=$((n_checks + 1))
[ "$(cat err)" = 'the result is still being judged; Ctrl-C skips only the verdict' ] || bad 'not told once'
kill -INT "$pid"
wait "$pid"
status=$?
[ "$status" -eq 0 ] || bad "interrupted while it was judged: status $status"
has err 'interrupted while it was judged: no verdict'
has out 'results in hang: 101 rows'
lacks out 'trust:'
same_bytes 'after the interrupt' none hang
lacks hang/summary.json '"companions": ['
nothing_left

echo "$n_checks checks, $n_failed failed"
[ $n_failed -eq 0 ]
