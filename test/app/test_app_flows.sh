#!/usr/bin/env bash
# Mean outputs and the balance of flows, as people see them: yoke check, verdict and exit status, summary.json, the report
# (TR-15, TR-16).
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

cp "$source"/scenarios/pulsed-heater/* .

# ---- yoke check: text and JSON
run 0 check averaged.yaml
says 'heater.heat -> body.q, every 0.01 s, order 0, averaged'
run 0 check averaged.yaml --json
says '"averaged": true'
says '"samples_only": false'
run 0 check sampled.yaml
silent ', averaged'
silent 'samples of a fast signal'
run 0 check averaged.yaml --set 'connections[0].average=false'
silent ', averaged'
run 2 check averaged.yaml --set 'connections[0].average=perhaps'
says 'average'
run 2 check averaged.yaml --set scheme=iterative-jacobi --set 'connections[0].average=true'
says 'iterative schemes exchange samples, not means'

# ---- with means: all of it arrives; the same bytes with companions, with threads and in a process of its own
run 0 run averaged.yaml --trust none --out plain
silent 'arrived'
says '"averaged": true' plain/summary.json
says '"balance": 0' plain/summary.json
run 0 run averaged.yaml --trust both --out judged
says 'trust: trustworthy'
run 0 run averaged.yaml --trust none --threads 2 --out threads
run 0 run averaged.yaml --trust none --set units.heater.isolate=process --out apart
for other in judged threads apart; do
  if cmp -s plain/results.csv $other/results.csv; then pass; else bad "$other differs from plain"; fi
done

# ---- with samples: wrong, with and without companions
for mode in none half both; do
  run 3 run sampled.yaml --set trust.status=true --trust $mode --out sampled
  says 'trust: wrong: of 1.96 J sent by heater.heat to body.q only 0.0009 J arrived (99.95 % lost)'
  says '"averaged": false' sampled/summary.json
done
run 0 run sampled.yaml --trust none --out sampled
run 0 run sampled.yaml --set trust.status=true --no-verdict --trust none --out sampled
# iterative schemes exchange no means: doubtful at best
for mode in none both; do
  run 0 run averaged.yaml --set scheme=iterative-jacobi --trust $mode --out iterated
  says 'samples of a fast signal: iterative schemes exchange samples, not means'
  says 'trust: doubtful: only samples of heater.heat reach body.q'
done

# ---- means from too few calls: an FMU has no integral, and a pulse passes between its calls
run 0 export heater.cir --fmi 2 -o heater.fmu
sed 's/heater: {circuit: heater.cir}.*/heater: {fmu: heater.fmu, step: 1e-3}/' averaged.yaml >fmu.yaml
run 3 run fmu.yaml --trust both --out fmu
says 'trust: wrong: heater.heat sends 0.62 J to body.q, but 1.16 J when it is called more often'
says '"verdict": "wrong"' fmu/summary.json
says '"missed": 1' fmu/summary.json
run 0 run fmu.yaml --trust none --out fmu
says 'trust: doubtful: heater.heat changes too fast for its calls'
# half the steps agree by chance
run 0 run fmu.yaml --set units.heater.step=2e-3 --trust both --out fmu
says 'trust: doubtful: heater.heat changes too fast for its calls: they do not resolve 97.9 %'
# companion B of `cheap` calls the sender no more often than the run: A decides
run 3 run fmu.yaml --trust cheap --out fmu
says 'but 1.16 J when it is called more often (46.2 % missed)'
# what is lost counts whatever signals are wanted
run 3 run fmu.yaml --set 'trust.signals=[body.temperature]' --trust both --out fmu
says 'trust: wrong: heater.heat sends 0.62 J'
run 3 run sampled.yaml --set trust.status=true --set 'trust.signals=[body.temperature]' --trust both --out fmu
says '99.95 % lost'
# the same companions with standard files closed, and with few descriptors no harm to the results
"$yoke" run fmu.yaml --trust both --out closed <&- >&- 2>&-
says '"verdict": "wrong"' closed/summary.json
says '"status": "done"' closed/summary.json
(ulimit -n 11 && "$yoke" run fmu.yaml --trust both --out few >out 2>&1)
if cmp -s fmu/results.csv few/results.csv; then bad "few has the rows of sampled"; else pass; fi
if cmp -s closed/results.csv few/results.csv; then pass; else bad "few descriptors change the results"; fi
# a search does not call a lost flow good
run 0 advise fmu.yaml --out searched
silent 'trustworthy'
# 1000 calls in a pulse, 2 % missed
run 0 run fmu.yaml --set units.heater.step=2e-5 --trust both --out fmu
says 'trust: trustworthy'

# ---- an output without a dimension carries what its receiver says
cat >plain.yaml <<'END'
yoke: 1
time: {stop: 1, step: 1e-2}
units:
  source: {model: sine, with: {amplitude: 2, frequency: 100, offset: 3}, step: 1e-3}
  scale: {model: gain, with: {k: 1}, step: 1e-3}
  body: {circuit: body.cir}
connections:
  - {from: source.y, to: scale.u, exchange: 1e-3}
  - {from: scale.y, to: body.q}
END
run 0 check plain.yaml
says 'scale.y -> body.q, every 0.01 s, order 0, averaged'
run 0 run plain.yaml --trust none --out plain_flow
says '"unit": "J"' plain_flow/summary.json

# ---- a heat bond: what is on its way is not missing
run 0 run "$source/scenarios/electric-drive/drive.yaml" --set time.stop=0.05 --trust none --out drive
says 'bond heat: not judged: heat: '
says 'more is in transit'
heat=$(grep -A 8 '"from": "motor.heat"' drive/summary.json | sed -n 's/.*"balance": \([^,]*\),*/\1/p')
if awk "BEGIN { exit !($heat <= 1e-12) }"; then pass; else bad "the balance of motor.heat is $heat"; fi

# ---- an order that a setting gives counts as one of the file: extrapolated, so no mean
run 0 check averaged.yaml --set 'connections[0]={from: heater.heat, to: body.q}' --set 'connections[0].order=1'
says 'heater.heat -> body.q, every 0.01 s, order 1'
silent ', averaged'

run 0 report sampled
says 'of 1.96 J sent by heater.heat' sampled/report.html
says '"flows"' sampled/report.html

finish
