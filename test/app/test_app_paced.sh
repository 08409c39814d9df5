#!/usr/bin/env bash
# Runs by the clock as a user sees them. Results have the same bytes as those of the run without a clock; missed deadlines, safe
# actions, signals and a unit that hangs end as docs/pace.md says. How late a step was is printed, never judged.
set -u
source "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}

# any STATUSES ARGUMENTS: ends with one of them
any() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>&1
  status=$?
  case " $want " in *" $status "*) pass ;; *) bad "yoke $*: status $status, expected one of $want" ;; esac
}

# runs FOLDER: waits until a run in the background has begun to write there
runs() {
  for _ in $(seq 600); do
    [ ! -e "$1/results.csv.part" ] || break
    sleep 0.05
  done
  sleep 0.2
}

# ---- the same bytes: schemes, rates, bonds, typed values, corrections, an FMU
for system in linear-oscillator/jacobi linear-oscillator/gauss-seidel linear-oscillator/iterative \
  linear-oscillator/multirate-force linear-oscillator/corrected linear-oscillator/fresh nonlinear-oscillator/case1 \
  three-rate-chain/chain typed-signals/typed pulsed-heater/averaged two-pendula/corrected blocks/blocks; do
  any '0 3' run "$source/scenarios/$system.yaml" --trust none --out free
  any '0 3 4' run "$source/scenarios/$system.yaml" --trust none --realtime=1e5 --out paced
  same free paced
  sed -n '/^paced at/p' out
done
for threads in 1 2; do
  any '0 3 4' run "$source/scenarios/linear-oscillator/jacobi.yaml" --trust none --realtime=1e5 --threads $threads --out paced
  run 0 run "$source/scenarios/linear-oscillator/jacobi.yaml" --trust both --no-verdict --out free
  same free paced
done
printf '%s\n' 'yoke: 1' 'time: {stop: 1, step: 1e-3, pace: 1000}' 'units:' "  a: {fmu: $fmus/vanderpol2.fmu}" >fmu.yaml
any '0 4' run fmu.yaml --trust none --out paced
run 0 run fmu.yaml --trust none --set time.pace=none --out free
silent 'paced at'
same free paced

# ---- figures in the summary, and a clock that is kept
printf '%s\n' 'yoke: 1' 'time: {stop: 0.5, step: 1e-2, pace: {overrun: skip, limit: 1000}}' 'units:' \
  '  s: {model: sine, budget: 1e-9}' '  g: {model: gain}' 'connections: [s.y -> g.u]' >calm.yaml
run 0 run calm.yaml --out calm
says 'paced at 1x: 50 steps,'
says "unit 's': took longer than its budget of 1e-09 s in 50 of 50 steps"
says 'SCHED_FIFO'
grep -E '^paced|SCHED' out
for text in '"state": "SAFE"' '"factor": 1' '"steps": 50' '"slots_behind": 0' '"over_budget": 50' '"memory_locked"'; do
  says "$text" calm/summary.json
done
any '0 4' run calm.yaml --set time.pace.overrun=continue --realtime=5 --json --out calm
says '"factor": 5'

# ---- deadlines that cannot be kept
printf '%s\n' 'yoke: 1' 'calls: 1' 'time: {stop: 1, step: 1e-3, pace: {factor: 1e6, overrun: hold}}' 'units:' \
  '  s: {model: step, with: {before: 5, after: 5, time: 0}}' '  shaft: {model: gain}' '  idle: {model: gain, start: {u: 0}}' \
  'connections: [{from: s.y, to: shaft.u, method: hold}]' >late.yaml
run 4 run late.yaml --out late
says 'error: 3 steps in a row ended late (limit 3, overrun: hold); the run was stopped at t = 0.003 s and is SAFE'
says 'stopped by missed deadlines'
run 4 run late.yaml --set time.pace.overrun=stop --out late
says '1 step in a row ended late (limit 1, overrun: stop); the run was stopped at t = 0.001 s and is SAFE'
run 4 run late.yaml --set time.pace.overrun=continue --out late
says 'deadlines were missed beyond the limit of 3: 1000 of 1000 steps late'
says 'not real time:'
run 4 run late.yaml --set time.pace.overrun=continue --set time.pace.limit=2 --quiet --out late

# ---- safe actions: the same, with an input that is led down while the connection still says 5
printf '%s\n' 'safe: [{set: shaft.u, to: 0, over: 5e-9}, {set: idle.u, to: 1}]' >>late.yaml
run 4 run late.yaml --out late
tail -n 7 late/results.csv | cut -d, -f1,2,3,4 >rows
head -n 1 late/results.csv >head
holds "$(wc -l <late/results.csv) > 5"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "shaft.y") s = i; if ($i == "idle.y") d = i } next }
  { shaft = $s; idle = $d } END { exit !(shaft == 0 && idle == 1) }' late/results.csv
if [ $? -eq 0 ]; then pass; else bad 'the inputs were not led to their safe values'; fi

# the rows of that time show what acted, not what the connection says
for scheme in jacobi gauss-seidel; do
  run 4 run late.yaml --set scheme=$scheme --set 'record={signals: [s.y, shaft.u, shaft.y]}' --out acted
  awk -F, 'NR > 4 { print $2, $3, $4 }' acted/results.csv >rows
  printf '%s\n' '5 5 5' '5 4 4' '5 3 3' '5 2 2' '5 1 1' '5 0 0' '5 0 0' >want
  if cmp -s rows want; then pass; else bad "$scheme: rows while it stops"; cat rows; fi
done

# ---- Ctrl-C and SIGTERM go through STOPPING
for name in INT TERM; do
  printf '%s\n' 'yoke: 1' 'calls: 1' 'time: {stop: 20, step: 1e-2, pace: 1}' 'units:' \
    '  s: {model: step, with: {before: 5, after: 5, time: 0}}' '  shaft: {model: gain}' \
    'connections: [{from: s.y, to: shaft.u, method: hold}]' 'safe: [{set: shaft.u, to: 0, over: 0.2}]' >long.yaml
  # a script's background ignores SIGINT
  rm -rf long
  env --default-signal=INT "$yoke" run long.yaml --trust none --out long >out 2>&1 &
  pid=$!
  runs long
  kill -$name $pid
  wait $pid
  status=$?
  if [ $status -eq 130 ]; then pass; else bad "SIG$name: status $status, expected 130"; fi
  says '"state": "SAFE"' long/summary.json
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "shaft.y") s = i; next }
    { if ($s < 5 && $s > 0) n++; last = $s } END { print n " rows of the ramp"; exit !(last == 0 && n >= 10) }' long/results.csv
  if [ $? -eq 0 ]; then pass; else bad "SIG$name: the input was not ramped down"; fi
done

# the second signal ends a ramp at once, with complete results; more of them change nothing
env --default-signal=INT "$yoke" run long.yaml --set 'safe=[{set: shaft.u, to: 0, over: 60}]' --trust none --out thrice >out 2>&1 &
pid=$!
runs thrice
kill -INT $pid
sleep 0.3
for _ in 1 2 3 4; do
  kill -INT $pid 2>/dev/null
  sleep 0.03
done
wait $pid
status=$?
if [ $status -eq 130 ]; then pass; else bad "five times SIGINT: status $status, expected 130"; fi
says 'interrupted twice'
says '"status": "interrupted"' thrice/summary.json
if [ -s thrice/results.csv ] && [ ! -e thrice/results.csv.part ]; then pass; else bad 'five times SIGINT: no complete results'; fi

# ---- a unit that fails, and one that hangs
faulty() {
  printf '%s\n' 'yoke: 1' 'calls: 1' 'time: {stop: 1, step: 1e-2, pace: {factor: 1, watchdog: 0.5}}' 'units:' \
    "  bad: {fmu: $fmus/faulty2.fmu, with: {what: $1, where: step, at: 0.2}}" \
    '  s: {model: step, with: {before: 5, after: 5, time: 0}}' '  shaft: {model: gain}' \
    'connections: [{from: s.y, to: shaft.u, method: hold}]' 'safe: [{set: shaft.u, to: 0, over: 0.1}]'
}
faulty error >bad.yaml
run 1 run bad.yaml --trust none --out bad
says "unit 'bad' at t = 0.2 s"
says '"state": "FAULT"' bad/summary.json
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "shaft.y") s = i; next } { last = $s; t = $1 }
  END { exit !(last == 0 && t > 0.295 && t < 0.315) }' bad/results.csv
if [ $? -eq 0 ]; then pass; else bad 'the input was not led down after the failure'; tail -n 3 bad/results.csv; fi
faulty hang >bad.yaml
run 1 run bad.yaml --trust none --out bad
says "unit 'bad' at t = 0.2 s: has not returned from step in the time that the watchdog allows"
if [ -f bad/results.csv ]; then pass; else bad 'no results after a hang'; fi
says '"state": "FAULT"' bad/summary.json

# the same on a thread of its own: the loop goes on, the input is led down, the unit is named
faulty hang | sed 's/at: 0.2}}/at: 0.2}, thread: own}/' >bad.yaml
run 0 check bad.yaml
says 'thread 1 of its own'
# what the unit that never comes back uses is left to it on purpose
asan_options=${ASAN_OPTIONS:-}
export ASAN_OPTIONS=$asan_options:detect_leaks=0
run 1 run bad.yaml --trust none --out bad
says "unit 'bad' at t = 0."
says 'has not returned from its step at t = 0.2 s: its outputs are late by more than the watchdog allows, 0.5 s'
says '"state": "FAULT"' bad/summary.json
says '"thread": "own"' bad/summary.json
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "shaft.y") s = i; next } { last = $s } END { exit !(last == 0) }' \
  bad/results.csv
if [ $? -eq 0 ]; then pass; else bad 'the input was not led down while a unit hung'; tail -n 3 bad/results.csv; fi
run 1 run bad.yaml --trust none --set time.pace.overrun=hold --out bad
says "unit 'bad': its outputs were not there in time at"
export ASAN_OPTIONS=$asan_options

# ---- threads of their own: the same bytes without a clock, and by the clock if nothing was late
own() {
  printf '%s\n' 'yoke: 1' 'time: {stop: 0.3, step: 1e-2}' 'units:' \
    "  left: {model: oscillator.force, start: {v: 1}, step: 1e-3$1}" "  right: {model: oscillator.mass$1}" \
    "  slow: {fmu: $fmus/vanderpol2.fmu, step: 5e-2$1}" \
    'connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]'
}
own '' >shared.yaml
own ', thread: own' >own.yaml
run 0 run shared.yaml --trust none --no-verdict --out free
run 0 run own.yaml --trust none --no-verdict --out own
same free own
any '0 3 4' run own.yaml --trust none --realtime --out paced
grep -E '^paced' out
says '"n_due": 6' paced/summary.json
if grep -q '"late_outputs": 0,' paced/summary.json; then same free paced; else echo 'outputs were late: not compared'; fi

# ---- what cannot be paced
run 2 run own.yaml --set scheme=gauss-seidel --set time.pace=1
says "own.yaml:4:3: error: unit 'left': by the clock 'thread: own' needs 'scheme: jacobi'"
run 0 run own.yaml --set scheme=gauss-seidel --trust none --no-verdict --out own
run 2 run own.yaml --set units.left.thread=mine
says "'thread': expected shared or own, found the text 'mine'"
run 2 run calm.yaml --realtime=0
says "--realtime: expected a number above 0 and up to 1e6, found '0'"
run 2 run calm.yaml --set time.pace=fast
says "'pace': expected a number above 0 and up to 1e6, found the text 'fast'"
sed 's/^time:.*/time: {stop: 1, step: {min: 1e-3, max: 1e-2}, pace: 1}/' \
  "$source/scenarios/linear-oscillator/corrected.yaml" >free.yaml
run 2 run free.yaml
says 'a paced run needs a fixed step'

finish
