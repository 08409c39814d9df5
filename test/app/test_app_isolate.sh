#!/usr/bin/env bash
# Units in a process of their own, as a user sees them: the same results as without, a message and complete results when
# the process crashes, hangs or ends itself, an interrupt that reaches the parent only, and nothing left behind.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
# sanitizers leave the signals of a foreign binary alone
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:${ASAN_OPTIONS:-}
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:atexit_sleep_ms=0:report_thread_leaks=0:${TSAN_OPTIONS:-}

n_passed=0
n_failed=0
name=
is_good=true

finish() {
  [ -n "$name" ] || return 0
  if $is_good; then n_passed=$((n_passed + 1)); else n_failed=$((n_failed + 1)); fi
  name=
}

begin() {
  finish
  name=$1
  is_good=true
  : >out
  : >err
}

bad() {
  echo "FAILED: $name: $*"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  is_good=false
}

# yoke_ends STATUS ARGUMENTS...: without hanging
yoke_ends() {
  local want=$1 status
  shift
  timeout 300 "$yoke" "$@" >out 2>err
  status=$?
  [ "$status" -eq "$want" ] || bad "yoke $*: status $status, expected $want"
}

err_has() { grep -qF -- "$1" err || bad "stderr lacks: $1"; }

# rows FOLDER N: results with that many whole rows under their final name, and a summary
has_rows() {
  local n
  [ -f "$1/summary.json" ] || bad "$1/summary.json is missing"
  n=$(awk -F, 'NR == 1 { n = NF; next } NF != n || /,,|,$/ { exit 1 } END { print NR - 1 }' "$1/results.csv") ||
    bad "a row of $1/results.csv is not whole"
  [ "$n" -eq "$2" ] || bad "$n rows in $1/results.csv, expected $2"
}

# processes that hold units of runs started here, and those that watch over their files: ours are those with our folder
# for temporary files
hosts() {
  grep -lzxF "TMPDIR=$TMPDIR" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
    tr '\0' ' ' <"${file%environ}cmdline" | grep -q yoke-host && echo "${file//[!0-9]/}"
  done 2>/dev/null
}

# nothing_left: no process and no file of it, a moment after the end
nothing_left() {
  for ((i = 0; i < 600; i++)); do
    [ -z "$(hosts)$(ls tmp)" ] && return
    sleep 0.05
  done
  bad "left behind: processes '$(hosts)', files '$(ls tmp)'"
}

# ---- the same results

cat >pair.yaml <<END
yoke: 1
time: {stop: 1, step: 1e-3}
units:
  left: {fmu: '$fmus/oscillator_force2.fmu', with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}
  counter: {model: counter}
  source: {model: sine}
  law: {model: gain, with: {k: 2}}
connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f, source.y -> law.u]
END

begin equals_the_run_without
# 200 steps: every one of them wakes five processes, which is what takes the time
yoke_ends 0 run pair.yaml --out plain --quiet --set time.stop=0.2
for wait in auto sleep; do
  arguments=()
  for unit in left right counter source law; do
    arguments+=(--set "units.$unit.isolate={wait: $wait}")
  done
  yoke_ends 0 run pair.yaml --out "isolated_$wait" --set time.stop=0.2 "${arguments[@]}"
  has_rows "isolated_$wait" 201
  cmp -s plain/results.csv "isolated_$wait/results.csv" || bad "wait: $wait gives other results"
  grep -q "^note: unit 'left': a step in its own process took [0-9.e+]* us" err || bad "the cost is not told"
done
nothing_left

# rolled back and stepped again, by two threads
begin equals_the_run_without_iterating
model='units.left={model: oscillator.force, with: {k: 10, kc: 100}, start: {v: 100}'
yoke_ends 0 run pair.yaml --out plain --quiet --set scheme=iterative-jacobi --set time.stop=0.1 --set "$model}"
yoke_ends 0 run pair.yaml --out isolated --quiet --set scheme=iterative-jacobi --set time.stop=0.1 \
  --threads 2 --set "$model, isolate: process}" --set units.right.isolate=process
cmp -s plain/results.csv isolated/results.csv || bad "other results"
nothing_left

# ---- faults

# fault WHAT TEXT: at 0.35 s, in the step that starts at 0.3 s. The time allowed is enough to start a process on a busy
# machine; all but the hang end by themselves.
patience=2
[ -z "${YOKE_SANITIZE:-}" ] || patience=6
fault() {
  local timeout=60
  [ "$1" != hang ] || timeout=$patience
  begin "fault_$1_$version"
  cat >fault.yaml <<END
yoke: 1
time: {stop: 1, step: 0.1}
units:
  bad: {fmu: '$fmus/faulty$version.fmu', isolate: {timeout: $timeout}, with: {what: $1, at: 0.35}}
  good: {model: integrator, start: {u: 2}}
END
  yoke_ends 1 run fault.yaml --out "$name" --quiet
  err_has "error: unit 'bad' at t = 0.3 s: step failed: $2"
  has_rows "$name" 4
  nothing_left
}
for version in 2 3; do
  fault crash 'its process was ended by signal 11 (segmentation fault) during step at t = 0.3 s'
  fault abort 'its process was ended by signal 6 (abort) during step at t = 0.3 s'
  fault exit 'its process ended itself with status 3 during step at t = 0.3 s'
  fault hang "did not answer for $patience s during step at t = 0.3 s; its process was killed"
done

begin fault_at_the_start
cat >start.yaml <<END
yoke: 1
time: {stop: 1, step: 0.1}
units:
  instantiate_crash: {fmu: '$fmus/faulty2.fmu', isolate: process}
END
yoke_ends 2 run start.yaml --out start
err_has "unit 'instantiate_crash': its process was ended by signal 11 (segmentation fault) during creation"
[ ! -e start ] || bad "a run that never started left a folder of results"
nothing_left

# ---- ended before the watcher of the unit's files has left its process group

cat >late.c <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
pid_t setsid(void) {
  const struct timespec pause = {0, 300000000};
  nanosleep(&pause, NULL);
  return (pid_t)syscall(SYS_setsid);
}
END
begin late_watcher_library
"${YOKE_CC:-cc}" -shared -fPIC -o late.so late.c 2>err || bad "no library that delays setsid"

# late STATUS FILE TEXT: a run whose units wait 0.3 s for each setsid
late() {
  ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS LD_PRELOAD=$PWD/late.so yoke_ends "$1" run "$2" --out late --quiet
  err_has "$3"
  nothing_left
}
for what in crash abort exit; do
  begin "late_watcher_$what"
  sed -e "s/what: [a-z]*/what: $what/" -e "s/timeout: [0-9]*/timeout: 60/" fault.yaml >late.yaml
  late 1 late.yaml 'step failed: its process'
done
begin late_watcher_at_the_start
late 2 start.yaml "unit 'instantiate_crash': its process was ended by signal 11"

begin missing_program
YOKE_HOST=/no/such/yoke-host yoke_ends 2 run start.yaml --out start
err_has 'cannot start /no/such/yoke-host'

# ---- ends from outside

cat >endless.yaml <<END
yoke: 1
time: {stop: 1e9, step: 1e-2}
units:
  s: {fmu: '$fmus/trivial2.fmu', isolate: process}
  i: {model: integrator, isolate: process, start: {u: 1}}
connections: [i.y -> s.u]
END

# start FOLDER: in a process group of its own, as from a terminal, until results have been written
start() {
  set -m
  env --default-signal=INT "$yoke" run endless.yaml --out "$1" --quiet >out 2>err &
  pid=$!
  set +m
  for ((i = 0; i < 600; i++)); do
    [ -s "$1/results.csv.part" ] && [ "$(stat -c %s "$1/results.csv.part")" -gt 10000 ] && break
    sleep 0.05
  done
  [ "$(hosts | wc -l)" -ge 2 ] || bad "$(hosts | wc -l) processes hold units, expected 2"
}

begin interrupt_from_the_terminal
start interrupted
kill -INT "-$pid"
wait "$pid"
status=$?
[ "$status" -eq 130 ] || bad "status $status, expected 130"
# on a busy machine the unit may take longer than the program waits without a word
grep -v 'interrupted, but it has not returned' err >rest
[ ! -s rest ] || bad "an interrupt is no error"
[ -f interrupted/results.csv ] || bad "the results have not got their final name"
nothing_left

begin killed
start killed
{ kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
nothing_left

finish
echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
