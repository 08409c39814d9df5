#!/usr/bin/env bash
# Mean outputs and the balance of flows, as people see them: yoke check, verdict and exit status, summary.json, the report
# (TR-15, TR-16).
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_checks=0
n_bad=0

pass() { n_checks=$((n_checks + 1)); }
bad() {
  n_checks=$((n_checks + 1))
  n_bad=$((n_bad + 1))
  echo "FAILED: $*"
  tail -n 20 out
}

# run STATUS ARGUMENTS: what it says goes to out
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>&1
  status=$?
  if [ $status -eq "$want" ]; then pass; else bad "yoke $*: status $status, expected $want"; fi
}

says() { if grep -qF -- "$1" "${2:-out}"; then pass; else bad "${2:-the output} does not say '$1'"; fi; }
silent() { if grep -qF -- "$1" "${2:-out}"; then bad "${2:-the output} says '$1'"; else pass; fi; }

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
says 'iterative schemes exchange no means'

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
  says 'samples of a fast signal: iterative schemes exchange no means'
  says 'trust: doubtful: only samples of heater.heat reach body.q'
done
run 0 report sampled
says 'of 1.96 J sent by heater.heat' sampled/report.html
says '"flows"' sampled/report.html

echo "$n_checks checks, $n_bad failed"
[ $n_bad -eq 0 ]
