#!/usr/bin/env bash
# Protection as a user sees it: limits of signals with and without a clock, derating, slopes that are limited, bad input.
set -u
source "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# summary EXPRESSION: of the summary d in results/FOLDER
summary() {
  local folder=$1
  shift
  if python3 -c "import json; d = json.load(open('$folder/summary.json')); limits = {(l['signal'], l['level'], l['side']): l for l in d['limits']}; raise SystemExit(not ($*))"; then
    pass
  else
    bad "$folder: $*"
  fi
}

# a machine that heats up by its torque, which a driver asks for; the limit of the torque follows the temperature
cat >heat.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.01}
units:
  driver: {model: step, with: {before: 100, after: 100, time: 0}}
  torque: {model: select, with: {n: 2, mode: min}, start: {u: [0, 0]}}
  machine: {model: state_space, with: {A: [[-0.05]], B: [[0.2]], x0: [0], inputs: [tau], outputs: [rise]}}
laws:
  T: {law: sum, with: {signs: [1, 1]}, start: {u2: 300}}
  limit: {law: derate, with: {limit: 100, low: 360, high: 380}}
connections:
  - driver.y -> torque.u[0]
  - limit.y -> torque.u[1]
  - torque.y -> machine.tau
  - machine.rise -> T.u1
  - T.y -> limit.T
quality:
  warn: {above: {T.y: 355}}
  stop: {above: {T.y: 379}}
END
run 3 run heat.yaml --trust none --out derated
says 'error: quality limit: T.y is 355'
says 'above the warn limit of 355; highest 376.1'
says 'done, 1000 steps'
summary derated "d['status'] == 'done' and abs(limits['T.y', 'warn', 'above']['worst'] - 376.19) < 0.02 and limits['T.y', 'stop', 'above']['steps_beyond'] == 0"
run 0 run heat.yaml --trust none --set quality.warn.above.T.y=390 --out derated
silent 'quality limit'

# without derating the stop limit is reached, at the time of 400 (1 - exp(-t / 20)) = 79: 4.40 s
none='--set laws.limit.with.low=1000 --set laws.limit.with.high=2000'
run 3 run heat.yaml --trust none $none --set 'record={signals: ["*", machine.tau]}' --out hot
says 'heat: stopped by a quality limit, 441 steps to t = 4.41 s'
says 'error: quality limit: T.y is 379.'
says 'above the stop limit of 379'
summary hot "d['status'] == 'stopped by a quality limit' and limits['T.y', 'stop', 'above']['ended_run'] and abs(limits['T.y', 'stop', 'above']['time'] - 4.41) < 0.02"
summary hot "abs(d['t_reached'] - limits['T.y', 'stop', 'above']['time']) < 1e-9 and 'above the stop limit of 379 ' not in d['message']"
holds "$(tail -n 1 hot/results.csv | cut -d, -f1) < 4.45"
run 3 run heat.yaml --trust none $none --json --out json
says '"ended_run": true'

# ---- by the clock: STOPPING, the safe actions, SAFE
printf '%s\n' 'safe: [{set: machine.tau, to: 0, over: 0.02}]' >>heat.yaml
clock='--realtime=40 --set time.pace.overrun=skip --set time.pace.limit=1000000'
run 3 run heat.yaml --trust none $clock $none --set 'record={signals: ["*", machine.tau]}' --out safe
says 'above the stop limit of 379'
says '"state": "SAFE"' safe/summary.json
summary safe "d['status'] == 'stopped by a quality limit' and limits['T.y', 'stop', 'above']['ended_run']"
if awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "machine.tau") c = i; next } { last = $c; if ($c > 0 && $c < 100) n++ }
  END { exit !(last == 0 && n > 10) }' safe/results.csv; then pass; else bad 'the torque was not led down'; fi
# as far as the limit the rows are those of the run without a clock
n=$(wc -l <hot/results.csv)
head -n "$((n - 1))" hot/results.csv >rows
head -n "$((n - 1))" safe/results.csv >paced
if cmp -s rows paced; then pass; else bad 'rows before the limit differ'; fi

# ---- beyond at the start: check says it, the run ends after one step
run 0 check heat.yaml --set quality.stop.above.T.y=299
says 'stop above 299: T.y'
says 'warning: T.y is 300 at the start, t = 0 s, above the stop limit of 299'
run 3 run heat.yaml --trust none --set quality.stop.above.T.y=299 --out start
says 'warning: T.y is 300 at the start, t = 0 s, above the stop limit of 299'
says 'error: quality limit: T.y is 300 at the start'
holds "$(wc -l <start/results.csv) == 3"
run 3 run heat.yaml --trust none $clock --set quality.stop.above.T.y=299 --out start
says '"state": "SAFE"' start/summary.json

# ---- what check shows: units, patterns, arrays, local quantities
run 0 check heat.yaml --set 'quality.warn={below: {"mach*": -5, machine.x1: -1}}'
says 'warn below -5: machine.rise'
says 'warn below -1: machine.x1'
run 2 check heat.yaml --set 'quality.warn={below: {"torque.u[1]": 0}}'
says "quality: 'torque.u[1]' is no real output and no local quantity"

# temperatures of a circuit, in any case: outputs and those that are only computed when asked for
cat >oven.cir <<'END'
an oven
.input q=10 W
heat_source Q1 case {q}
heat_capacity C1 case 2 T0=300
thermal_resistance R1 case room 5
temperature_source T1 room 300
.output t(case)
END
printf '%s\n' 'yoke: 1' 'time: {stop: 5, step: 0.1}' 'units: {oven: {circuit: oven.cir}}' \
  'quality: {stop: {above: {oven.T(CASE): 310}}, warn: {above: {oven.t(room): 299}, below: {oven.i(r1): -1}}}' >oven.yaml
run 3 run oven.yaml --trust none --out oven
says 'error: quality limit: oven.t(room) is 300 K at the start, t = 0 s, above the warn limit of 299 K'
says 'error: quality limit: oven.t(case) is 310.'
says ', above the stop limit of 310 K'
# 50 (1 - exp(-t / 10)) = 10: 2.23 s
summary oven "abs(limits['oven.t(case)', 'stop', 'above']['time'] - 2.3) < 1e-9 and limits['oven.i(r1)', 'warn', 'below']['steps_beyond'] == 0"

# ---- bad input
run 2 run heat.yaml --set quality.stop.above.T.yy=1
says "--set quality.stop.above.T.yy: error: quality: 'T.yy' is no real output and no local quantity; did you mean 'T.y'?"
run 2 run heat.yaml --set quality.stop.above.T.u1=1
says "quality: 'T.u1' is an input: name the output that feeds it"
run 2 run heat.yaml --set quality.stop.above.T.y=.nan
says "'T.y': expected a number, found .nan (numbers must be finite)"
run 2 run heat.yaml --set quality.stop.above=5
says "'above': expected a map of signals and their limits, found 5"
run 2 run heat.yaml --set quality.stop.below.T.y=380
says "quality: no value of T.y lies between 'stop.below', 380, and 'stop.above', 379"
run 2 run heat.yaml --set laws.limit.with.low=380 --out bad
says "unit 'limit': low is 380 K and high 380 K, expected low below high"

# ---- limits belong to the end that runs the system: the other end of a port does not know its signals
port=$((20000 + RANDOM % 20000))
printf '%s\n' 'yoke: 1' 'time: {stop: 1, step: 0.01}' 'units:' '  s: {model: sine}' \
  "  g: {model: gain, port: udp, peer: '127.0.0.1:$port', bind: '127.0.0.1:$((port + 1))'}" 'connections: [s.y -> g.u]' \
  'quality: {stop: {above: {s.y: 10}}}' 'trust: {signals: [s.y], limits: {s.y: 10}}' >port.yaml
timeout 2 "$yoke" rig port.yaml >out 2>&1
says 'listening at'
silent 'error'

# ---- a copy with the limit of the command line
run 3 run heat.yaml --trust none --set quality.stop.above.T.y=358 --pin pinned.yaml --out pinned
says 'stop: {above: {T.y: 358}}' pinned.yaml

# ---- a sweep counts it as a point that a stop limit ended
run 0 sweep heat.yaml --vary laws.limit.with.limit=20,100 $none --measure end:T.y --out sweep
says '2 points: 1 done, 1 quality'
says '100,quality,4.41,,"T.y is 379.152944 at t = 4.41 s, above the stop limit of 379"' sweep/sweep.csv

finish
