#!/usr/bin/env bash
# `inputs: mean` as people see it: yoke check, orders through the command line for native units and for FMUs made from them
# (PR-04), the same bytes in every way of running it, messages.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# force-displacement with feedthrough: G1 of the specification
connections='connections:
  - {from: a.y1, to: b.u1, order: 1}
  - {from: b.y1, to: a.u1, order: 1}
  - {from: b.y2, to: a.u2, order: 1}'
cat >native.yaml <<END
yoke: 1
time: {stop: 4, step: 0.02}
inputs: mean
units:
  a:
    model: state_space
    with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}
  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}
$connections
END
for version in 2 3; do
  for unit in a b; do
    run 0 export native.yaml --unit $unit --fmi $version -o $unit$version.fmu
  done
  printf 'yoke: 1\ntime: {stop: 4, step: 0.02}\ninputs: mean\nunits:\n  a: {fmu: a%d.fmu}\n  b: {fmu: b%d.fmu}\n%s\n' \
    $version $version "$connections" >fmu$version.yaml
done

# ---- an iteration that ends too early
iterative=$YOKE_SOURCE_DIR/scenarios/linear-oscillator/iterative-mean.yaml
run 0 run "$iterative" --trust none --no-verdict --set time.stop=0.1 --set iteration.max=2 --set iteration.tolerance=1e-14 --out iterated
says 'warning: 100 of 100 steps reached iteration.max (2) before the tolerance'
run 0 run "$iterative" --trust none --no-verdict --set time.stop=0.1 --out iterated
silent 'reached iteration.max'

# ---- yoke check
run 0 check native.yaml
says 'a.y1 -> b.u1, every 0.02 s, order 1, mean, feedthrough up to date'
says 'b.y1 -> a.u1, every 0.02 s, order 1, mean'
run 0 check native.yaml --json
says '"inputs": "mean"'
says '"up_to_date": true'
run 0 check native.yaml --set inputs=start
silent ', mean'
says 'order 0 (the unit is called once per exchange; order 1 does not act)'
run 2 check native.yaml --set inputs=middle
says "'inputs'"
for scheme in gauss-seidel iterative-jacobi; do
  run 0 check native.yaml --set scheme=$scheme
  says "'inputs: mean' has no effect: it acts under scheme: jacobi only"
done

# ---- inputs of a coupling go to its members, with and without a method
sed '/order: 1/d' native.yaml | sed 's/^connections:/connections: [a.y1 -> b.u1, b.y1 -> a.u1, b.y2 -> a.u2]/' >bare.yaml
run 0 check bare.yaml
says 'a.y1 -> b.u1, every 0.002 s, order 2, method auto, mean, feedthrough up to date'
run 0 check bare.yaml --set 'couplings={loop: {inputs: start, members: [a, b]}}'
says 'a.y1 -> b.u1, every 0.02 s, order 0'
silent 'mean,'
silent 'method auto'
run 0 check bare.yaml --set inputs=start --set 'couplings={loop: {inputs: mean, members: [a, b]}}'
says 'a.y1 -> b.u1, every 0.002 s, order 2, method auto, mean, feedthrough up to date'
run 0 check bare.yaml --set 'couplings={loop: {method: nepce, inputs: start, members: [a, b]}}'
says 'a.y1 -> b.u1, every 0.02 s, order 0, method nepce'
silent 'nepce, mean'
run 0 check bare.yaml --set 'couplings={loop: {method: nepce, members: [a, b]}}'
says 'method nepce, mean'
# only its members: what reaches b is a value at the start, what reaches a is a mean
run 0 check bare.yaml --set 'couplings={loop: {inputs: start, members: [b]}}'
says 'b.y1 -> a.u1, every 0.02 s, order 2, method auto, mean'
# the same bytes as `inputs` of the file
run 0 run bare.yaml --trust none --quiet --set inputs=start --out file-start
run 0 run bare.yaml --trust none --quiet --set 'couplings={loop: {inputs: start, members: [a, b]}}' --out coupling-start
same file-start coupling-start
run 0 run bare.yaml --trust none --quiet --out file-mean
run 0 run bare.yaml --trust none --quiet --set inputs=start --set 'couplings={loop: {inputs: mean, members: [a, b]}}' --out coupling-mean
same file-mean coupling-mean
run 2 check bare.yaml --set 'couplings={loop: {inputs: start, order: 1, members: [a, b]}}'
says "'order' needs a 'method'"
run 2 check bare.yaml --set 'couplings={loop: {members: [a, b]}}'
says "'loop' has no 'method'"
run 2 check bare.yaml --set 'couplings={loop: {inputs: middle, members: [a, b]}}'
run 2 check bare.yaml --set 'couplings={x: {inputs: start, members: [a, b]}, y: {inputs: mean, members: [b]}}'
says "'inputs': unit 'b' gets another one from the coupling 'x'"
run 2 check bare.yaml --set 'couplings={x: {inputs: start, members: [c]}}'
says "coupling 'x': unknown unit 'c'"

# ---- settings without effect: one warning each, with the place
run 0 check native.yaml --set inputs=start
holds "$(grep -c "'order: 1' has no effect: the unit is called once per exchange" out) == 3"
says 'native.yaml:10:35: warning'
run 0 run native.yaml --set inputs=start --trust none --quiet --out idle
says "'order: 1' has no effect"
run 0 check native.yaml
silent 'no effect'
run 0 check native.yaml --set scheme=gauss-seidel
says "native.yaml:3:1: warning: 'inputs: mean' has no effect: it acts under scheme: jacobi only"
run 0 check native.yaml --set 'units.a.step=0.01' --set 'units.b.step=0.02' --set calls=10
says "'calls' has no effect: every unit has a step or calls of its own, or counts its calls"
run 0 check native.yaml --set calls=10
silent 'no effect'
run 0 check native.yaml --set 'order=[a, b]'
says "'order' has no effect: under this scheme no unit waits for another"
printf '%s\n' 'yoke: 1' 'time: {stop: 1, step: 0.1}' 'inputs: mean' 'units:' '  m: {model: oscillator.mass}' \
  '  s: {model: sine}' 'connections: [s.y -> m.f]' >euler.yaml
run 0 check euler.yaml
says "euler.yaml:3:1: warning: 'inputs: mean' has no effect: no unit accepts mean inputs, and no output with feedthrough is updated"
run 0 check euler.yaml --set inputs=start --set 'couplings={c: {inputs: mean, members: [m, s]}}'
says "coupling 'c': 'inputs: mean' has no effect: none of its units accepts mean inputs"

# ---- second order, one call per exchange: errors of b.y1 and b.y2 at 4 s against a fine run
run 0 run native.yaml --trust none --quiet --set time.step=6.25e-4 --out fine
# error FOLDER
error() {
  awk -F, 'NR == FNR { x = $3; v = $4; next } { e = sqrt(($3 - x) ^ 2 + ($4 - v) ^ 2) } END { print e }' fine/results.csv "$1/results.csv"
}
for system in native fmu2 fmu3; do
  last=
  for step in 0.02 0.01 0.005; do
    run 0 run $system.yaml --trust none --quiet --set time.step=$step --out $system-$step
    now=$(error $system-$step)
    if [ -n "$last" ]; then
      order=$(awk "BEGIN { print log($last / $now) / log(2) }")
      echo "$system at $step s: error $now, order $order"
      if awk "BEGIN { exit !($order > 1.8 && $order < 2.3) }"; then pass; else bad "$system at $step s: order $order"; fi
    fi
    last=$now
  done
  same native-0.01 $system-0.01
done
# Third order: connections of order 2, ten calls per exchange. The loop is at rest and driven from inside of a, so that the first
# exchanges, which have no past to extrapolate from, cost no more than H^3.
high='connections:
  - {from: a.y1, to: b.u1, order: 2}
  - {from: b.y1, to: a.u1, order: 2}
  - {from: b.y2, to: a.u2, order: 2}'
cat >native-high.yaml <<END
yoke: 1
time: {stop: 4, step: 0.02}
inputs: mean
units:
  a:
    model: state_space
    with:
      A: [[0, 1, 0, 0], [-70, -1, 1, 0], [0, 0, 0, 3], [0, 0, -3, 0]]
      B: [[0, 0], [40, 0.6], [0, 0], [0, 0]]
      C: [[40, 0.6, 0, 0]]
      D: [[-40, -0.6]]
      x0: [0, 0, 0, 10]
  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0]}}
$high
END
for version in 2 3; do
  for unit in a b; do
    run 0 export native-high.yaml --unit $unit --fmi $version -o high-$unit$version.fmu
  done
  printf 'yoke: 1\ntime: {stop: 4, step: 0.02}\ninputs: mean\nunits:\n  a: {fmu: high-a%d.fmu}\n  b: {fmu: high-b%d.fmu}\n%s\n' \
    $version $version "$high" >fmu$version-high.yaml
done
# high SYSTEM STEP: ten calls per exchange
high() {
  local call
  call=$(awk "BEGIN { print $2 / 10 }")
  run 0 run $1-high.yaml --trust none --quiet --set time.step=$2 --set units.a.step=$call --set units.b.step=$call --out $1-high-$2
}
high native 0.00125
mv fine first
mv native-high-0.00125 fine
for system in native fmu2 fmu3; do
  last=
  for step in 0.02 0.01 0.005; do
    high $system $step
    now=$(error $system-high-$step)
    if [ -n "$last" ]; then
      order=$(awk "BEGIN { print log($last / $now) / log(2) }")
      echo "$system, ten calls, at $step s: error $now, order $order"
      if awk "BEGIN { exit !($order > 2.8 && $order < 3.3) }"; then pass; else bad "$system, ten calls, at $step s: order $order"; fi
    fi
    last=$now
  done
  same native-high-0.01 $system-high-0.01
done
rm -r fine
mv first fine
# held at the start of the call: first order, and far off
run 0 run native.yaml --trust none --quiet --set time.step=0.005 --set inputs=start --out start
if awk "BEGIN { exit !($(error start) > 20 * $(error native-0.005)) }"; then pass; else bad "start: $(error start)"; fi

# ---- the same bytes: threads, processes, SSP
run 0 run native.yaml --trust none --quiet --set time.step=0.01 --threads 2 --out threads
same native-0.01 threads
run 0 run native.yaml --trust none --quiet --set time.step=0.01 --set units.a.isolate=process --out apart
same native-0.01 apart
run 0 export native.yaml --ssp -o native.ssp
run 0 run native.ssp --trust none --quiet --set time.step=0.01 --out ssp
same native-0.01 ssp

# ---- judged by companions that get means too
run 0 run native.yaml --trust both --set time.step=0.005 --out judged
says 'trust: trustworthy'
run 0 analyse native.yaml
says 'the coupling in the system file'

finish
