#!/usr/bin/env bash
# FMUs that turn against the process they live in, in this process and isolated: each ends with a message that names unit and
# operation, with the status that its end deserves, and with every row up to then under the final name. A table shows what
# came of each. With YOKE_FULL set (test_app_hostile_slow.sh): FMI 3.0 too, everywhere and in all phases.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
ulimit -c 0
is_full=${YOKE_FULL:-}
# sanitizers have handlers of their own: in this process only what is no crash is tried, elsewhere signals are left alone
is_plain=true
case ${YOKE_SANITIZE:-} in *address* | *thread* | *memory*) is_plain=false ;; esac
case $yoke in *-emulated) echo 'skipped: an emulator has signals of its own' && exit 77 ;; esac
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigbus=0:detect_leaks=0:${ASAN_OPTIONS:-}
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigbus=0:atexit_sleep_ms=0:report_thread_leaks=0:${TSAN_OPTIONS:-}

options=
n_runs=0
n_named=0
n_failed=0
n_skipped=0
$is_plain || n_skipped=1

# ---- one run

# write_system VERSION ISOLATE NAME: one hostile unit beside a native one
write_system() {
  cat >system.yaml <<END
yoke: 1
time: {start: 0, stop: 1, step: 0.01}
trust: {companions: none, status: false}
units:
  $3: {fmu: $fmus/hostile$1.fmu, with: {what: $what, where: $where, at: 0.5}$2}
  left: {model: sine}
connections: [left.y -> $3.u]
END
}

# of_summary KEY
of_summary() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" got/summary.json 2>/dev/null | head -n 1; }

bad() {
  echo "FAILED: $row: $*"
  head -c 1500 err
  is_good=false
}

# judge STATUS WORDS ROWS STATE: what is expected of the run that ended with `status`; WORDS are a pattern that one line of
# stderr matches ("": any), ROWS is a number or "-" (no results), STATE the word of the summary
judge() {
  local rows=- state=- message
  is_good=true
  n_runs=$((n_runs + 1))
  [ ! -f got/results.csv ] || rows=$(awk -F, 'NR == 1 { n = NF; next } NF != n || /,,|,$/ { exit 1 } END { print NR - 1 }' got/results.csv) ||
    bad "a row is not whole"
  [ ! -f got/summary.json ] || state=$(of_summary status)
  message=$(grep -E -m 1 -- "$2" err)
  [ "$status" -eq "$1" ] || bad "status $status, expected $1"
  [ -n "$message$([ -n "$2" ] || echo any)" ] || bad "no line like: $2"
  [ "$rows" = "$3" ] || bad "$rows rows, expected $3"
  [ "$state" = "$4" ] || bad "the summary says '$state', expected '$4'"
  if [ "$state" != - ] && [ "$rows" != "$(awk -v n="$(of_summary steps)" 'BEGIN { print n + 1 }')" ]; then
    bad "$rows rows, but $(of_summary steps) steps and the start"
  fi
  if [ "$rows" != - ] && [ "$state" = failed ] && ! grep -qE '^ *"message": ".*(unit|written|write)' got/summary.json; then
    bad "the summary gives no reason"
  fi
  [ -z "$(ls got/*.part 2>/dev/null)" ] || bad "a file has its temporary name: $(ls got/*.part)"
  if $is_good; then n_named=$((n_named + 1)); else n_failed=$((n_failed + 1)); fi
  printf '%-46s %3d %5s %-12s %s\n' "$row" "$status" "$rows" "$state" "$(printf %s "${message#error: }" | cut -c1-110)"
}

# hostile VERSION PLACE WHAT WHERE STATUS WORDS ROWS STATE: PLACE is "here" or "isolated"
hostile() {
  local isolate=
  what=$3 where=$4
  row="$3 in $4, FMI $1, $2${options:+, ${options#--}}"
  [ "$2" = here ] || isolate=', isolate: {timeout: 20, memory: 4e8}'
  write_system "$1" "$isolate" bad
  rm -rf got
  # a pipe: it ends when nobody holds it any more
  # shellcheck disable=SC2086
  timeout 60 "$yoke" run system.yaml --out got $options 2>&1 >out | cat >err
  status=${PIPESTATUS[0]}
  judge "$5" "$6" "$7" "$8"
}

# ---- what they do

# by signal: name, what its end is called, signal
signals=(
  'crash;segmentation fault' 'write-constant;segmentation fault' 'jump;segmentation fault' 'divide;arithmetic error'
  'bus;bus error' 'illegal;illegal instruction|trap' 'abort;abort' 'assert;abort' 'stack;stack overflow'
  'free-twice;abort' 'heap;abort' 'trap;trap' 'sys;forbidden system call' 'user-signal;user-defined signal'
  'timer;a timer ran out' 'print-crash;segmentation fault')
# by calls: name, function, status
ends=('exit-0;exit\(0\);0' 'exit-3;exit\(3\);3' '_exit;_exit\(0\);0' '_Exit;_Exit\(0\);0' 'quick-exit;quick_exit;0'
  'print-exit;exit\(1\);1')
# first something during initialisation, then a crash in a step
prepared=(default+crash ignore+crash ignore+abort mask+crash mask+stack umask+crash default+divide)

here() {
  local version=$1 mode name words
  if ! $is_plain; then
    return
  fi
  for mode in "${signals[@]}"; do
    IFS=';' read -r name words <<<"$mode"
    hostile "$version" here "$name" step 1 "error: unit 'bad' at t = 0.5 s: crashed with signal [0-9]+ \(($words)\) during step" 51 failed
  done
  for mode in "${ends[@]}"; do
    IFS=';' read -r name words _ <<<"$mode"
    hostile "$version" here "$name" step 1 "error: unit 'bad' at t = 0.5 s: called $words during step" 51 failed
  done
  hostile "$version" here pthread-exit step 1 "error: unit 'bad' at t = 0.5 s: called pthread_exit during step" 51 failed
  for name in "${prepared[@]}"; do
    hostile "$version" here "$name" step 1 "error: unit 'bad' at t = 0.5 s: crashed with signal [0-9]+ .* during step" 51 failed
  done
  hostile "$version" here thread-crash step 1 "error: unit 'bad' at t = 0.5 s: a thread of its own crashed with signal 11" 51 failed
  hostile "$version" here thread-exit step 1 "error: unit 'bad' at t = 0.5 s: a thread of its own called exit\(0\)" 51 failed
  hostile "$version" here umask initialise 0 '' 101 'done'
  hostile "$version" here error step 1 "error: unit 'bad' at t = 0.5 s: .*told to fail" 51 failed
  hostile "$version" here fatal step 1 "error: unit 'bad' at t = 0.5 s: .*fatal" 51 failed
  hostile "$version" here files step 1 'results.csv: error: cannot be written' 0 -
}

# phases VERSION WHAT...: in which call it happens
phases() {
  local version=$1 how='(crashed with|called [_a-z]*exit)' name
  shift
  $is_plain || return 0
  for name in "$@"; do
    hostile "$version" here "$name" initialise 1 "error: unit 'bad'.*: $how.* during (the end of )?initialisation" - -
    hostile "$version" here "$name" get 1 "error: unit 'bad' at t = 0.5[0-9]* s: $how.* during (step|reading)" 51 failed
    hostile "$version" here "$name" terminate 1 "error: unit 'bad': $how.* during terminate" 101 failed
    hostile "$version" here "$name" free 1 "error: unit 'bad': $how.* during close" 101 failed
  done
}

# in other runs: schemes, threads, formats, output for programs
ways() {
  local crash="error: unit 'bad' at t = 0.5 s: crashed with signal 11 .* during step" name
  $is_plain || return 0
  for options in '--set scheme=gauss-seidel' '--threads 2' --json --quiet; do
    hostile 2 here crash step 1 "$crash" 51 failed
    hostile 3 here exit-0 step 1 "error: unit 'bad' at t = 0.5 s: called exit\(0\) during step" 51 failed
    if [ "$options" = --json ] && ! grep -q '"status": "failed"' out; then
      bad "the summary is not printed"
      n_failed=$((n_failed + 1))
    fi
  done
  options='--format csv,hdf5,mat' what=none where=step
  write_system 2 '' bad
  # shellcheck disable=SC2086
  if "$yoke" run system.yaml $options --out try --quiet >out 2>err; then
    for name in crash exit-0 abort; do
      hostile 2 here "$name" step 1 "error: unit 'bad' at t = 0.5 s: (crashed|called).* during step" 51 failed
      if ! "$yoke" compare got/results.h5 got/results.csv --limit max=0 >out 2>err || [ ! -s got/results.mat ]; then
        bad "results.h5 or results.mat is not complete"
        n_failed=$((n_failed + 1))
      fi
    done
  else
    echo 'skipped: HDF5 or MAT is not built in'
  fi
  # a thread of its own, while others are called
  options='--set time.stop=1e7' what=late-thread row='late-thread in step, FMI 2, beside another FMU'
  write_system 2 '' bad
  sed -i "s|^units:|units:\\n  other: {fmu: $fmus/hostile3.fmu}|" system.yaml
  rm -rf got
  # shellcheck disable=SC2086
  timeout 60 "$yoke" run system.yaml --out got $options >out 2>err
  status=$?
  judge 1 "error: unit 'bad' at t = .*: a thread of its own crashed with signal 11" "$(awk 'END { print NR - 1 }' got/results.csv)" failed
  options=
}

# before any parameter is known
early() {
  local version=$1 place=$2 isolate='' code=1 words
  [ "$place" = here ] || isolate=', isolate: process'
  [ "$place" = here ] || code=2
  words='(crashed|called exit|its process).* during creation'
  for early_what in crash exit-0; do
    what=none where=step
    row="$early_what in instantiation, FMI $version, $place"
    write_system "$version" "$isolate" "instantiate_$early_what"
    rm -rf got
    timeout 60 "$yoke" run system.yaml --out got >out 2>err
    status=$?
    judge $code "error: unit 'instantiate_$early_what': $words" - -
    row="$early_what while loading, FMI $version, $place"
    write_system "$version" "$isolate" bad
    YOKE_HOSTILE_LOAD=$early_what timeout 60 "$yoke" run system.yaml --out got >out 2>err
    status=$?
    judge $code "error: unit 'bad': $words" - -
  done
}

isolated() {
  local version=$1 mode name words code
  for mode in "${signals[@]}"; do
    IFS=';' read -r name words <<<"$mode"
    # a sanitizer has the heap for itself
    if ! $is_plain && [[ $name == free-twice || $name == heap ]]; then continue; fi
    [ "$name" != stack ] || words='segmentation fault'
    hostile "$version" isolated "$name" step 1 "error: unit 'bad' at t = 0.5 s: .*its process was ended by signal [0-9]+ \(($words)\) during step" 51 failed
  done
  for mode in "${ends[@]}" 'raw-exit;;0'; do
    IFS=';' read -r name words code <<<"$mode"
    hostile "$version" isolated "$name" step 1 "error: unit 'bad' at t = 0.5 s: .*its process ended itself with status $code during step" 51 failed
  done
  hostile "$version" isolated thread-crash step 1 "error: unit 'bad' at t = 0.5 s: .*ended by signal 11" 51 failed
  hostile "$version" isolated thread-exit step 1 "error: unit 'bad' at t = 0.5 s: .*ended itself with status 0" 51 failed
  hostile "$version" isolated kill step 1 "error: unit 'bad' at t = 0.5 s: .*ended by signal 9" 51 failed
  hostile "$version" isolated files step 0 '' 101 'done'
  hostile "$version" isolated close step 0 '' 101 'done'
  hostile "$version" isolated umask initialise 0 '' 101 'done'
  hostile "$version" isolated error step 1 "error: unit 'bad' at t = 0.5 s: .*told to fail" 51 failed
}

# ---- signals from outside

# runs system.yaml in the background until the rows up to 0.5 s are there or it hangs: `pid`
start() {
  rm -rf got
  env --default-signal=INT,TERM,HUP "$yoke" run system.yaml --out got --set "time.stop=$1" >out 2>err &
  pid=$!
  for ((i = 0; i < 1000; i++)); do
    [ -s got/results.csv.part ] && break
    sleep 0.01
  done
  sleep 0.3
}

# waits for the end of `pid`, half a minute at most
finish() {
  { sleep 30 && kill -KILL "$pid"; } 2>/dev/null &
  local guard=$!
  wait "$pid"
  status=$?
  { kill "$guard" && wait "$guard"; } 2>/dev/null
}

# interrupted NUMBER WHAT WHERE: a run goes on although its FMU plays with signals; one signal ends it
interrupted() {
  what=$2 where=$3 row="SIG$1 after '$2' in $3, here"
  # a unit that ignores a signal in every step is kept from it by functions that sanitizers have for themselves
  if ! $is_plain && [ "$3" = steps ]; then
    n_skipped=$((n_skipped + 1))
    return
  fi
  write_system 2 '' bad
  start 1e7
  kill "-$1" "$pid"
  finish
  judge 130 '' "$(awk 'END { print NR - 1 }' got/results.csv 2>/dev/null)" interrupted
}

# hanging NUMBER WHAT PLACE: the second signal ends it within two seconds
hanging() {
  local begin isolate=
  [ "$3" = here ] || isolate=', isolate: process'
  what=$2 where=step row="SIG$1 twice, '$2', $3"
  write_system 2 "$isolate" bad
  start 1
  kill "-$1" "$pid"
  sleep 0.1
  begin=$(date +%s%N)
  kill "-$1" "$pid"
  finish
  took=$((($(date +%s%N) - begin) / 1000000))
  judge 130 "error: unit 'bad' at t = 0.5 s: has not returned from step" 51 interrupted
  # twice the promise: the machine may be busy
  [ "$took" -lt 4000 ] || { bad "the second signal took $took ms"; n_failed=$((n_failed + 1)); }
}

# ---- processes that leave

# what isolated units of runs started here have left, as a list of process numbers
left() {
  grep -lzxF "TMPDIR=$TMPDIR" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
    tr '\0' ' ' <"${file%environ}cmdline" | grep -qE 'yoke-host|^sleep 987' && echo "${file//[!0-9]/}"
  done 2>/dev/null
}

# detaching VERSION WHAT STATUS WORDS ROWS STATE: nothing is left a moment after the end
detaching() {
  hostile "$1" isolated "$2" step "$3" "$4" "$5" "$6"
  for ((i = 0; i < 300; i++)); do
    [ -n "$(left)$(ls tmp)" ] || return
    sleep 0.02
  done
  bad "left behind: processes '$(left)', files '$(ls tmp)'"
  n_failed=$((n_failed + 1))
}

# ---- all of it

printf '%-46s %3s %5s %-12s %s\n' 'what happens' end rows summary 'what is said'
here 2
phases 2 crash exit-0
ways
early 2 isolated
if $is_plain; then early 2 here; fi
isolated 2
detaching 2 detach 0 '' 101 'done'
detaching 2 detach-program 0 '' 101 'done'
detaching 2 detach+crash 1 'ended by signal 11' 51 failed
interrupted INT handlers+none step
interrupted TERM mask step
interrupted HUP ignore steps
hanging INT hang here
hanging TERM pending here
hanging HUP mask+spin here
hanging INT hang isolated
if [ -n "$is_full" ]; then
  here 3
  phases 2 abort stack _exit quick-exit heap
  phases 3 crash exit-0 abort stack _exit quick-exit heap
  early 3 isolated
  if $is_plain; then early 3 here; fi
  isolated 3
  detaching 3 detach 0 '' 101 'done'
  detaching 3 detach-program+exit-0 1 'ended itself with status 0' 51 failed
  detaching 3 detach+kill 1 'ended by signal 9' 51 failed
  for name in INT TERM HUP; do
    for what_first in handlers ignore mask default umask; do
      interrupted "$name" "$what_first" step
      interrupted "$name" "$what_first" steps
    done
    for what_first in hang spin pending mask+hang ignore+spin handlers+hang; do
      hanging "$name" "$what_first" here
    done
  done
fi

[ "$n_skipped" -eq 0 ] || echo "skipped: crashes in this process: the sanitizer has handlers of its own"
echo "$n_runs runs, $n_named named, $n_failed failed"
[ "$n_failed" -eq 0 ] && [ "$n_named" -eq "$n_runs" ]
