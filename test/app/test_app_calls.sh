#!/usr/bin/env bash
# `calls`: a macro step divided into calls with an exchange at each, as people see it; the method of signals that name none.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# force-displacement with feedthrough: G1 of the prediction specification; held signals are stable below 0.01365 s
units='units:
  a:
    model: state_space
    with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}
  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}'
printf '%s\n' 'yoke: 1' 'time: {stop: 4, step: 0.02}' 'inputs: mean' 'calls: 10' "$units" 'connections:' \
  '  - {from: a.y1, to: b.u1, order: 2}' '  - {from: b.y1, to: a.u1, order: 2}' '  - {from: b.y2, to: a.u2, order: 2}' >ten.yaml
printf '%s\n' 'yoke: 1' 'time: {stop: 4, step: 0.1}' 'inputs: mean' "$units" 'connections:' \
  '  - a.y1 -> b.u1' '  - b.y1 -> a.u1' '  - b.y2 -> a.u2' >auto.yaml

# ---- ten calls are ten shorter steps, to the last bit
run 0 check ten.yaml
says 'a.y1 -> b.u1, every 0.002 s, order 2, mean, feedthrough up to date'
run 0 run ten.yaml --trust none --quiet --out ten
run 0 run ten.yaml --trust none --quiet --set calls=1 --set time.step=0.002 --set record.every=10 --out steps
same ten steps
# no decimal is a seventh: the times of the rows are those of the macro steps all the same
run 0 run ten.yaml --trust none --quiet --set calls=7 --out seven
if cmp -s <(cut -d, -f1 ten/results.csv) <(cut -d, -f1 seven/results.csv); then pass; else bad 'times of sevenths'; fi
run 0 run ten.yaml --trust none --quiet --set calls=7 --threads 2 --out threads
same seven threads
run 0 run ten.yaml --trust none --quiet --set calls=7 --set units.a.isolate=process --out apart
same seven apart
run 0 export ten.yaml --ssp -o ten.ssp
run 0 run ten.ssp --trust none --quiet --out ssp
same ten ssp
# companions halve the interval that is really used
run 0 run ten.yaml --trust both --out judged
says 'trust: trustworthy'
same ten judged

# ---- one unit alone; the ends of a connection meet where both are called
run 0 check ten.yaml --set units.a.calls=5
says 'a.y1 -> b.u1, every 0.004 s'
run 0 check ten.yaml --set units.a.calls=3
says 'a.y1 -> b.u1, every 0.02 s'
run 0 check ten.yaml --set units.a.step=0.005
says 'a.y1 -> b.u1, every 0.02 s'
# whoever counts its calls keeps them
cat >sampled.yaml <<'END'
yoke: 1
time: {stop: 1, step: 0.1}
calls: 10
units:
  from: {model: sine}
  late: {model: delay1}
  to: {model: state_space, with: {A: [[-1]], B: [[1]]}}
connections:
  - from.y -> late.u
  - late.y -> to.u1
END
run 0 check sampled.yaml
says 'late.y -> to.u1, every 0.1 s'
says 'step 0.01 s'

# ---- bad input
for bad in 0 1001 x 2.5 '[1]'; do
  run 2 check ten.yaml --set "calls=$bad"
  says "'calls': expected auto or an integer from 1 to 1000"
done
run 2 check ten.yaml --set units.a.calls=3 --set units.a.step=0.01
says "'step' and 'calls' both say how often it is called"

# ---- signals without a method: order 2 at every call, far beyond the limit of held ones
run 0 check auto.yaml
says 'a.y1 -> b.u1, every 0.01 s, order 2, method auto, mean, feedthrough up to date'
run 0 run auto.yaml --trust none --quiet --set time.step=1e-3 --set record.every=100 --out fine
# error FOLDER: of b.y1 and b.y2 at 4 s
error() {
  awk -F, 'NR == FNR { x = $3; v = $4; next } { e = sqrt(($3 - x) ^ 2 + ($4 - v) ^ 2) } END { print e }' fine/results.csv "$1/results.csv"
}
for step in 0.1 0.05; do
  run 0 run auto.yaml --trust none --quiet --set time.step=$step --out auto-$step
done
echo "error at 0.1 s: $(error auto-0.1), at 0.05 s: $(error auto-0.05)"
holds "$(error auto-0.1) < 2e-3"
holds "$(error auto-0.05) < $(error auto-0.1) / 4"
run 3 run auto.yaml --trust none --quiet --set inputs=start --set time.stop=20 --out held
# what served the signals is said, and stands in the summary
run 0 run auto.yaml --trust none --out served
says 'auto: order 2 was chosen for 99.'
says '"what": "quadratic"' served/summary.json
run 0 run auto.yaml --trust none --set inputs=start --set time.step=0.01 --out plain
silent 'order 2 was chosen'

# a loop that no way of serving makes stable: every fallback is said, at the end and in the summary
cat >grow.yaml <<EOF
yoke: 1
time: {stop: 2, step: 0.01}
calls: 10
units:
  a: {model: state_space, with: {A: [[-5000]], B: [[5000]], x0: [1e-3]}}
  b: {model: state_space, with: {A: [[-5000]], B: [[-5500]], x0: [0]}}
connections: [a.y1 -> b.u1, b.y1 -> a.u1]
EOF
run 3 run grow.yaml --trust none --out grow
says 'grew 167 times up to t = 0.16 s: its loop falls back to zero-order hold for a while'
says 'growing loops fell back to zero-order hold 7 times'
says '"count": 7' grow/summary.json
says '"what": "fallback"' grow/summary.json
# what is named is not chosen
for name in 'connections[0].order=0' 'connections[0].exchange=0.1'; do
  run 0 check auto.yaml --set "$name"
  says 'b.y1 -> a.u1, every 0.1 s, order 2, method auto, mean'
done
run 0 check auto.yaml --set scheme=gauss-seidel
silent 'method auto'

# ---- units with steps of their own meet at every common call: that costs none
run 0 check auto.yaml --set units.a.step=0.01 --set units.b.step=0.002
says 'a.y1 -> b.u1, every 0.01 s, order 2, method auto, mean, feedthrough up to date'
run 0 check auto.yaml --set units.a.step=0.004
says 'b            state_space, step 0.002 s (50 calls)'
says 'a.y1 -> b.u1, every 0.004 s, order 2, method auto'
run 0 check auto.yaml --set units.a.step=0.2
says 'a.y1 -> b.u1, every 0.2 s'
run 2 check auto.yaml --set units.a.step=0.03
says 'the exchange interval 0.1 s is not a multiple of the step 0.03 s'
# what names something keeps the macro step
run 0 check auto.yaml --set units.a.step=0.01 --set units.b.step=0.002 --set 'connections[0]={from: a.y1, to: b.u1, order: 1}'
says 'a.y1 -> b.u1, every 0.1 s'
run 0 run auto.yaml --trust none --quiet --set units.a.step=0.01 --set units.b.step=0.01 --out own
same auto-0.1 own
run 0 run auto.yaml --trust both --set units.a.step=0.01 --set units.b.step=0.01 --out own-judged
says 'trust: trustworthy'
run 0 run auto.yaml --trust none --quiet --set units.a.step=0.01 --set units.b.step=0.002 --threads 2 --out own-two
run 0 run auto.yaml --trust none --quiet --set units.a.step=0.01 --set units.b.step=0.002 --out own-one
same own-one own-two
# ---- `method: auto` by name: the bytes of a file that names nothing, calls included
cat >named.yaml <<END
yoke: 1
time: {stop: 4, step: 0.1}
inputs: mean
$units
connections:
  - {from: b.y1, to: a.u1, method: auto}
bonds:
  spring: {action: a.y1 -> b.u1, rate: b.y2 -> a.u2, coupling: {method: auto}}
END
sed -e 's/, coupling: {method: auto}//' -e 's/, method: auto//' named.yaml >unnamed.yaml
run 0 run unnamed.yaml --trust none --quiet --out unnamed
run 0 run named.yaml --trust none --quiet --out named
same unnamed named
run 0 check named.yaml
silent warning
run 0 run auto.yaml --trust none --quiet --set 'couplings={loop: {method: auto, members: [a, b]}}' --out coupled
same auto-0.1 coupled
# it takes back what another method serves; with an order, up to that
run 0 run auto.yaml --trust none --quiet --set 'couplings={loop: {method: nepce, members: [a, b]}}' --out nepce
if cmp -s auto-0.1/results.csv nepce/results.csv; then bad 'nepce is auto'; else pass; fi
for i in 0 1 2; do printf -- '--set connections[%s].method=auto ' $i; done >sets
# shellcheck disable=SC2046
run 0 run auto.yaml --trust none --quiet --set 'couplings={loop: {method: auto, members: [b, a]}}' $(cat sets) --out taken
same auto-0.1 taken
run 0 check auto.yaml --set 'couplings={loop: {method: nepce, members: [a, b]}}' --set 'connections[0].method=auto'
says 'a.y1 -> b.u1, every 0.1 s, order 2, method auto'
says 'b.y1 -> a.u1, every 0.1 s, order 0, method nepce'
run 0 check auto.yaml --set 'couplings={x: {method: auto, members: [a, b]}, loop: {method: nepce, members: [a, b]}}'
says "coupling 'loop' has no effect"
silent 'method nepce'
run 0 check auto.yaml --set 'couplings={loop: {method: auto, order: 1, members: [a, b]}}'
says 'a.y1 -> b.u1, every 0.01 s, order 1, method auto'
run 0 check auto.yaml --set 'connections[0].method=auto' --set 'connections[0].order=0'
says 'a.y1 -> b.u1, every 0.01 s, order 0, method auto'
says 'b.y1 -> a.u1, every 0.01 s, order 2, method auto'
# where nothing is served by it, its signals are those of a file that names nothing, and a warning says so
for set in inputs=start scheme=gauss-seidel; do
  run 0 run unnamed.yaml --trust none --quiet --set $set --set time.step=1e-4 --out unnamed-other
  run 0 run named.yaml --trust none --quiet --set $set --set time.step=1e-4 --out named-other
  says "'method: auto' needs inputs: mean, scheme: jacobi and a fixed step"
  same unnamed-other named-other
done
# one signal, one method
run 2 check named.yaml --set bonds.spring.coupling.method=energy --set 'connections=[{from: a.y1, to: b.u1, method: auto}, b.y1 -> a.u1]'
says "which has its own 'method: auto'"
# it travels with an SSP
run 0 export named.yaml --ssp -o named.ssp
run 0 run named.ssp --trust none --quiet --out named-ssp
same named named-ssp

# ---- as many calls as the fastest mode of the loops asks for: DC link, 3.16e4 1/s
cat >link.yaml <<'END'
yoke: 1
time: {stop: 0.05, step: 1e-3}
inputs: mean
units:
  battery:
    model: state_space
    with: {A: [[-29235.3]], B: [[-500000, 500000]]}
    start: {u1: 0, u2: 385.584}
  capacitor:
    model: state_space
    with: {A: [[-200]], B: [[2000]], x0: [350]}
connections:
  - battery.y1 -> capacitor.u1
  - capacitor.y1 -> battery.u1
END
run 0 check link.yaml
says 'battery      state_space, step 0.0000125 s (80 calls: the fastest mode of the loops is 3.17e+04 1/s)'
says 'capacitor.y1 -> battery.u1, every 0.0000125 s, order 2, method auto, mean'
silent warning
run 0 check link.yaml --set time.step=1e-4
says 'battery      state_space, step 0.00001 s (10 calls)'
run 0 check link.yaml --set calls=20
says 'battery      state_space, step 0.00005 s (20 calls)'
run 0 check link.yaml --set time.step=5e-3
says 'the fastest mode of the loops (3.17e+04 1/s) needs 397 calls per step, but at most 200 are made: use a step of at most 0.0025 s'
says 'step 0.000025 s (200 calls: '
holds "$(grep -c 'calls per step, but' out) == 1"
run 0 check link.yaml --set time.step=2.5e-3
silent 'calls per step, but'
run 0 run link.yaml --trust none --quiet --out link
for field in '"calls": 80' '"calls_because": "the fastest mode of the loops is 3.17e+04 1/s"'; do
  says "$field" link/summary.json
done
# ten lose it
run 3 run link.yaml --trust none --quiet --set calls=10 --out lost
# the same calls and bytes whoever makes them: written down, with threads, in a process of its own
run 0 run link.yaml --trust none --quiet --set calls=80 --out written
same link written
run 0 run link.yaml --trust none --quiet --threads 2 --out link-threads
same link link-threads
run 0 run link.yaml --trust none --quiet --set units.battery.isolate=process --out link-apart
same link link-apart
run 0 run link.yaml --trust both --out link-judged
says 'trust: trustworthy'
same link link-judged
# exported units tell the same
for fmi in 2 3; do
  run 0 export link.yaml --ssp --fmi $fmi -o link-$fmi.ssp
  run 0 check link-$fmi.ssp
  holds "$(grep -c '(80 calls: the fastest mode of the loops is 3.17e+04 1/s)' out) == 2"
  for more in '--threads 1' '--threads 2' '--set units.battery.isolate=process'; do
    # shellcheck disable=SC2086
    run 0 run link-$fmi.ssp --trust none --quiet $more --out link-fmi
    same link link-fmi
  done
done
finish
