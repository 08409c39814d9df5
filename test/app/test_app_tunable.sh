#!/usr/bin/env bash
# Connections into what a unit is made of, as a twin's estimate makes them: live values of a circuit, tunable parameters of an FMU
# and of a model, through a slope that is limited. What stays where a capacity changes: docs/circuit_netlist.md.
set -u
source "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# holds_for_rows FILE EXPRESSION: of every row, with t and v(NAME) of a column
rows() {
  local file=$1
  shift
  if python3 - "$file" "$@" <<'END'; then pass; else bad "$file: $*"; fi
import csv, math, sys
rows = list(csv.reader(open(sys.argv[1])))
names, worst = rows[0], None
for row in rows[1:]:
    t, v = float(row[0]), (lambda name: float(row[names.index(name)]))
    if not eval(sys.argv[2], {"t": t, "v": v, "math": math, "exp": math.exp, "abs": abs}):
        worst = row
        break
if worst is not None:
    print(worst)
sys.exit(worst is not None)
END
}

# ---- C v' = i, L i' = v, C T' = Q: voltage, current and temperature stay where the value jumps, with every method
cat >live.cir <<'END'
live values
.input c=1u
.input l=1m
.input cth=2
I1 0 a 1m
R1 a 0 1k
C1 a 0 {c} IC=0
V2 b 0 1
R2 b d 1
L2 d 0 {l} IC=0
heat_source Q1 case 1
heat_capacity C3 case {cth} T0=350
heat_capacity C4 alone {cth} T0=350
heat_source Q4 alone 0
.output v(a)
.output i(l2) name=i
.output t(case)
.output t(alone)
END
cat >live.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 8e-3, step: 1e-4}
units:
  c: {model: step, with: {before: 1e-6, after: 3e-6, time: 2e-3}}
  l: {model: step, with: {before: 1e-3, after: 4e-3, time: 1e-3}}
  cth: {model: step, with: {before: 2, after: 4, time: 4e-3}}
  net: {circuit: live.cir, solver: {method: trbdf2, step: 1e-5}}
connections: [c.y -> net.c, l.y -> net.l, cth.y -> net.cth]
END
for method in trbdf2 tr trnp bdf1 bdf2 bdf3 esdirk3 esdirk4 euler rk4; do
  run 0 run live.yaml --trust none --set units.net.solver.method=$method --out live
  # first order: half of h / RC of what is left; a charge that stayed would be two thirds of a volt away
  rows live/results.csv 'abs(v("net.v(a)") - (1 - exp(-min(t, 2e-3) / 1e-3) * exp(-max(t - 2e-3, 0) / 3e-3))) < 4e-3'
  rows live/results.csv 'abs(v("net.i") - (1 - exp(-min(t, 1e-3) / 1e-3) * exp(-max(t - 1e-3, 0) / 4e-3))) < 4e-3'
  # bdf2 and bdf3 meet the new slope with old values: up to h times the change of the slope
  rows live/results.csv 'abs(v("net.t(case)") - 350 - min(t, 4e-3) / 2 - max(t - 4e-3, 0) / 4) < 2.5e-6'
  rows live/results.csv 'abs(v("net.t(alone)") - 350) < 1e-9'
done

# ---- a charge that stays: q' = i, v = q / C
cat >plates.cir <<'END'
plates that move
.input c=1u
I1 0 a 1m
R1 a 0 1k
V1 a 0 {v(q)/c}
B1 0 q I={i(V1)}
C1 q 0 1 IC=0
.output v(a)
END
sed -e 's/live.cir/plates.cir/' -e '/^  l:/d;/^  cth:/d' -e 's/, l.y.*]/]/' live.yaml >plates.yaml
run 0 run plates.yaml --trust none --out plates
rows plates/results.csv 't > 2.05e-3 or abs(v("net.v(a)") - (1 - exp(-t / 1e-3))) < 1e-5'
rows plates/results.csv 't < 2.05e-3 or abs(v("net.v(a)") - (1 - (1 - (1 - exp(-2)) / 3) * exp(-(t - 2e-3) / 3e-3))) < 1e-5'

# ---- resistances, electrical and thermal: at once, here through a slope of 1000 per second, recorded with what acted
cat >ohm.cir <<'END'
live resistances
.input r=1
.input rth=2
I1 0 a 1
R1 a 0 {r}
heat_source Q1 case 10
thermal_resistance R2 case room {rth}
temperature_source T1 room 300
.output v(a)
.output t(case)
END
cat >ohm.yaml <<'END'
yoke: 1
time: {stop: 10e-3, step: 1e-3}
units:
  goal: {model: step, with: {before: 1, after: 5, time: 1.5e-3}}
  slow: {model: rate_limit, with: {rate: 1000}}
  net: {circuit: ohm.cir}
connections:
  - goal.y -> slow.u
  - slow.y -> net.r
  - {from: slow.y, to: net.rth, gain: 2}
record: {signals: ["*", net.r, net.rth]}
END
run 0 run ohm.yaml --trust none --out ohm
rows ohm/results.csv 'v("net.rth") == 2 * v("net.r") and abs(v("slow.y") - min(max(t * 1000 - 1, 1), 5)) < 1e-9'
rows ohm/results.csv 't == 0 or abs(v("net.v(a)") - v("net.r")) < 1e-9 or abs(v("net.v(a)") - max(v("net.r") - 1, 1)) < 1e-9'
rows ohm/results.csv 'abs(v("net.t(case)") - 300 - 20 * v("net.v(a)")) < 1e-9'
says '0.01,5,5,3,5,10,5,400' ohm/results.csv

# ---- a value that a circuit cannot have
run 1 run live.yaml --trust none --set units.c.with.after=-1e-6 --out bad
says "live.cir:7: error: unit 'net' at t = 0.0021 s: the capacitance of 'C1' has passed 0 or infinity and is -1e-06"

# ---- tunable parameters of FMUs and of a model: the same numbers
for version in 2 3; do
  run 0 export integrator --fmi $version -o integrator$version.fmu
  run 0 export rotor.shaft --fmi $version -o shaft$version.fmu
done
cat >tunable.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.1}
units:
  goal: {model: step, with: {before: 1, after: 5, time: 0.3}}
  slow: {model: rate_limit, with: {rate: 10}}
  two: {fmu: integrator2.fmu, start: {u: 1}}
  three: {fmu: integrator3.fmu, start: {u: 1}}
  own: {model: integrator, start: {u: 1}}
connections: [goal.y -> slow.u, slow.y -> two.k, slow.y -> three.k, slow.y -> own.k]
record: {signals: ["*", two.k, three.k, own.k]}
END
for scheme in jacobi gauss-seidel; do
  run 0 run tunable.yaml --trust none --set scheme=$scheme --out tunable
  rows tunable/results.csv 'v("two.k") == v("three.k") == v("own.k") and v("two.y") == v("three.y") == v("own.y")'
done
run 0 run tunable.yaml --trust none --out tunable
# the parameter of a row acted in the step before it; gain and offset act on it, too
says '0.6,5,4,3,0.9000000000000001,3,0.9000000000000001,3,0.9000000000000001,3' tunable/results.csv
says '0.8,5,5,3,1.8000000000000003,5,' tunable/results.csv
sed 's/slow.y -> two.k/{from: slow.y, to: two.k, gain: 2, offset: -1}/' tunable.yaml >gain.yaml
run 0 run gain.yaml --trust none --out gain
rows gain/results.csv 'v("two.k") == 2 * v("own.k") - 1'

# ---- what cannot be connected, and what to do
refuses() {
  sed "s/^connections: \[/connections: [$1, /" "$2" >wrong.yaml
  run 2 check wrong.yaml
  says "$3"
}
sed -i 's/^\.input r=1/.param r=1/' ohm.cir
run 2 check ohm.yaml
says "'net.r' is a fixed parameter of the netlist: write .input r there to make it an input with the same default"
sed -i 's/^\.param r=1/.param r=1\n.input r/' ohm.cir
run 0 run ohm.yaml --trust none --out ohm
says '0.01,5,5,3,5,10,5,400' ohm/results.csv
sed -i 's/^  own:.*/&\n  shaft: {fmu: shaft2.fmu}\n  link: {model: channel, start: {u: 0}}\n  sum: {model: sum, start: {u1: 0, u2: 0}}/' tunable.yaml
refuses 'slow.y -> shaft.J' tunable.yaml \
  "'shaft.J' is a fixed parameter of the FMU: only one that its modelDescription.xml calls tunable can change during a run"
refuses 'slow.y -> link.loss' tunable.yaml "'link.loss' is a fixed parameter of channel: only tunable ones can change during a run"
refuses 'slow.y -> sum.signs' tunable.yaml "'sum.signs' is a fixed parameter of sum, which defines the structure of the unit: it cannot change during a run"
refuses 'slow.y -> own.y' tunable.yaml "'own.y' is neither an input nor a tunable parameter"

finish
