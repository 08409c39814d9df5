#!/usr/bin/env bash
# Twins of units that are black boxes: FMUs with and without states, netlists, models, libraries. Where the unit is linear the estimates
# are those of the twin that knows the network; where it is wrong the verdict says so.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
command -v zip >/dev/null 2>&1 || { echo 'skipped: zip is missing'; exit 77; }

column() { python3 - "$@" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(rows[int(sys.argv[2])][sys.argv[3]])
PY
}
# near FILE ROW COLUMN VALUE TOLERANCE
near() {
  local value
  value=$(column "$1" "$2" "$3")
  if awk "BEGIN { d = $value - $4; exit !(d <= $5 && -d <= $5) }"; then pass; else bad "$3 in row $2 is $value, expected $4 within $5"; fi
}

cat >sink.cir <<'E2'
A transistor on a heat sink
.input loss=20 W
.input air=293.15 K
.input r=1.5 K/W
heat_source q_loss junction {loss}
heat_capacity c_j junction 4 J/K
thermal_resistance r_jc junction case 0.5 K/W
heat_capacity c_c case 60 J/K
thermal_resistance r_ca case room {r}
temperature_source t_air room {air}
.end
E2
run 0 export sink.cir -o sink2.fmu --fmi 2
run 0 export sink.cir -o sink3.fmu --fmi 3
# what the description says is all that is known of an FMU
without() {
  rm -rf fmu && mkdir fmu && (cd fmu && unzip -q ../sink2.fmu && sed -i "$2" modelDescription.xml && zip -qr "../$1" .)
}
without stateless.fmu 's/canGetAndSetFMUstate="true"/canGetAndSetFMUstate="false"/; s/canSerializeFMUstate="true"/canSerializeFMUstate="false"/; s/providesDirectionalDerivative="true"/providesDirectionalDerivative="false"/'
without once.fmu 's/canBeInstantiatedOnlyOncePerProcess="false"//; s/<CoSimulation /<CoSimulation canBeInstantiatedOnlyOncePerProcess="true" /'
if unzip -p stateless.fmu modelDescription.xml | grep -q 'canGetAndSetFMUstate="true"'; then bad 'states are still there'; else pass; fi
if unzip -p once.fmu modelDescription.xml | grep -q 'canBeInstantiatedOnlyOncePerProcess="true"'; then pass; else bad 'not once'; fi

# ---- a hidden temperature and heat, beside a plant: 30 W where 20 W are believed, then 60 W

cat >heat.yaml <<'E2'
yoke: 1
time: {stop: 800, step: 1}
inputs: start
calls: 1
units:
  plant: {circuit: sink.cir}
  loss: {model: step, with: {before: 30, after: 60, time: 400}}
  noise: {model: channel, exchange: fresh, with: {n: 1, noise: [0.3], seed: 3}}
  net:
    twin: sink.cir
    sensors: {t(case): {from: "noise.y[0]", sigma: 0.3}}
    unknown: {loss: {start: 20, sd: 10, walk: 1}}
    noise: {start: 0.001}
  two:
    twin: {fmu: sink2.fmu, outputs: [t(junction)]}
    sensors: {t(case): {from: "noise.y[0]", sigma: 0.3}}
    unknown: {loss: {start: 20, sd: 10, walk: 1}}
  three:
    twin: sink3.fmu
    sensors: {t(case): {from: "noise.y[0]", sigma: 0.3}}
    unknown: {loss: {start: 20, sd: 10, walk: 1}}
  cir:
    twin: {circuit: sink.cir}
    sensors: {T(case): {from: "noise.y[0]", sigma: 0.3}}
    unknown: {loss: {start: 20, sd: 10, walk: 1}}
connections:
  - loss.y -> plant.loss
  - "plant.t(case) -> noise.u[0]"
record: {signals: ["plant.*", "net.*", "two.*", "three.*", "cir.*"]}
trust: {companions: none}
E2
run 0 check heat.yaml
says 'black box filter, 14 instances of the unit, 7 of them in each step'
says 'unknown  loss         input, from 20 W, sd 10, walk 1'
run 0 run heat.yaml
# FMI 2 and 3 are the same binary code: the same bits
if python3 - <<'PY'
import csv
for row in csv.DictReader(open("results/heat/results.csv")):
    for name in "t(junction)", "sd.t(junction)", "loss", "sd.loss", "nis", "verdict":
        assert row["two." + name] == row["three." + name], (row["time"], name)
PY
then pass; else bad 'FMI 2 and 3 differ'; fi
# the filter that knows the network: what is left is that of the model of low order
near results/heat/results.csv 800 'two.t(junction)' "$(column results/heat/results.csv 800 'net.t(junction)')" 1e-3
near results/heat/results.csv 800 'two.loss' "$(column results/heat/results.csv 800 'net.loss')" 1e-3
near results/heat/results.csv 800 'two.sd.t(junction)' "$(column results/heat/results.csv 800 'net.sd.t(junction)')" 0.02
near results/heat/results.csv 800 'cir.t(junction)' "$(column results/heat/results.csv 800 'net.t(junction)')" 0.01
for twin in two three cir; do near results/heat/results.csv 800 "$twin.verdict" 1 0; done
# the plant began at rest with 30 W, not with the 20 W of the guess: known from the first reading on
near results/heat/results.csv 1 'two.t(junction)' "$(column results/heat/results.csv 0 'plant.t(junction)')" 1.2

# ---- a record, an unknown resistance; states of the FMU or none, one process or many: the same bytes

python3 - <<'PY'
import csv, random
random.seed(5)
rows = list(csv.DictReader(open("results/heat/results.csv")))
with open("measured.csv", "w") as f:
    f.write("time,t_case,loss\n")
    for r in rows:
        f.write("%s,%.3f,%g\n" % (r["time"], float(r["plant.t(case)"]) + random.gauss(0, 0.3),
                                  30 if float(r["time"]) < 400 else 60))
PY
cat >bench.yaml <<'E2'
yoke: 1
time: {stop: 800, step: 1}
units:
  twin:
    twin: {fmu: sink2.fmu, outputs: [t(junction), t(case)]}
    sensors: {t(case): {from: bench.t_case, sigma: 0.3}}
    inputs: {loss: bench.loss}
    unknown: {r: {start: 1.8, sd: 0.6, walk: 0, bounds: [0.1, 10]}}
E2
run 0 twin bench.yaml --data measured.csv --report
says 'outputs at the end'
says 'twin: consistent: '
near results/bench/results.csv 800 twin.r 1.5 0.002
near results/bench/results.csv 800 'twin.t(junction)' "$(column results/heat/results.csv 800 'plant.t(junction)')" 0.1
if grep -q 'twin.t(junction)' results/bench/report.html; then pass; else bad 'the report does not show the estimate'; fi
for fmu in stateless once sink3; do
  run 0 twin bench.yaml --data measured.csv --set "units.twin.twin.fmu=$fmu.fmu" --out "$fmu"
  same results/bench "$fmu"
done
run 0 twin bench.yaml --data measured.csv --set units.twin.isolate=process --out isolated
same results/bench isolated
run 0 twin bench.yaml --data measured.csv --out circuit --set units.twin.twin='{circuit: sink.cir, outputs: [t(junction)]}'
near circuit/results.csv 800 twin.r 1.5 0.002
run 2 twin bench.yaml --data measured.csv --tune
says 'only twins of netlists can be tuned'

# gaps and late rows
awk -F, 'NR > 300 && NR < 420 { print $1 ",," $3; next } { print }' measured.csv >gaps.csv
run 0 twin bench.yaml --data gaps.csv --out gaps
says 't_case: 119 of 801 values are missing'
near gaps/results.csv 800 twin.r 1.5 0.003

# ---- start values: the same record as if it began anywhere

python3 - <<'PY'
lines = open("measured.csv").read().split("\n")
with open("cut.csv", "w") as f:
    f.write("\n".join([lines[0]] + lines[431:]))
PY
sed 's/{r: {start: 1.8, sd: 0.6, walk: 0, bounds: \[0.1, 10\]}}/{start(t(case)): {start: 320, sd: 30}, start(t(junction)): {start: 330, sd: 30}}/' bench.yaml >start.yaml
run 0 twin start.yaml --data cut.csv --out start
says 'twin: consistent: '
near start/results.csv 0 'twin.start(t(case))' 320 0
value=$(tail -n 1 start/results.csv >/dev/null; column start/results.csv -1 'twin.start(t(case))')
holds "($value - $(column results/heat/results.csv 430 'plant.t(case)'))^2 < 1"
# without it: not what the unit would have done
run 3 twin bench.yaml --data cut.csv --out unstarted --set units.twin.unknown='{r: {start: 1.5, sd: 0.001, walk: 0}}'

# ---- a model, whose parameter is fixed; a library

cat >mass.yaml <<'E2'
yoke: 1
time: {stop: 20, step: 1e-2}
units:
  plant: {model: oscillator.mass, with: {k: 301, c: 4}}
  push: {model: sine, with: {amplitude: 20, frequency: 1}}
  noise: {model: channel, exchange: fresh, with: {n: 1, noise: [0.003], seed: 4}}
  twin:
    twin: {model: oscillator.mass, outputs: [v]}
    with: {c: 4}
    sensors: {x: {from: "noise.y[0]", sigma: 0.003}}
    unknown: {k: {start: 300, sd: 3}}
connections: [push.y -> plant.f, push.y -> twin.f, "plant.x -> noise.u[0]"]
trust: {companions: none}
inputs: start
calls: 1
E2
run 0 run mass.yaml
near results/mass/results.csv -1 twin.verdict 1 0
value=$(column results/mass/results.csv -1 twin.k)
sd=$(column results/mass/results.csv -1 twin.sd.k)
holds "$sd < 1 && ($value - 301)^2 < 16 * $sd^2"
run 0 check mass.yaml --set units.twin.unknown='{m: {start: 1, sd: 0.05}}'  # must be above 0
says 'black box filter, 10 instances of the unit, 5 of them in each step'
# the guess is far off and the response not linear: the verdict is not that all is well
run 0 run mass.yaml --set units.twin.unknown.k.start=200 --set units.twin.unknown.k.sd=60 --out far
if [ "$(column far/results.csv -1 twin.verdict)" = 1 ]; then bad 'consistent with a parameter that is wrong'; else pass; fi
# a wrong unit: its damping
run 0 run mass.yaml --set units.twin.with.c=8 --out wrong
says 'warning'
near wrong/results.csv -1 twin.verdict 2 0

refused() {
  sed "$1" bench.yaml >changed.yaml
  run 2 twin changed.yaml --data measured.csv --out no
  says "$2"
}

# ---- one instance and its derivatives: a model, its FMU, which lists states, and a netlist

run 0 export oscillator.mass -o mass2.fmu --fmi 2
run 0 export oscillator.mass -o mass3.fmu --fmi 3
cat >extended.yaml <<'E2'
yoke: 1
time: {stop: 20, step: 1e-2}
units:
  plant: {model: oscillator.mass, with: {c: 4, solver: rk4}, start: {x: 0.05}}
  push: {model: constant, with: {value: 12}}
  noise: {model: channel, exchange: fresh, with: {n: 1, noise: [0.003], seed: 4}}
  twin:
    twin: {model: oscillator.mass}
    with: {c: 4, solver: rk4}
    filter: extended
    sensors: {x: {from: "noise.y[0]", sigma: 0.003}}
    unknown: {f: {start: 0, sd: 20, walk: 0}}
    noise: {start: 0.3}  # the mass may be anywhere, and move
connections: [push.y -> plant.f, "plant.x -> noise.u[0]"]
trust: {companions: none}
inputs: start
calls: 1
E2
run 0 check extended.yaml
says 'extended filter, 1 instance of the unit, 1 of them in each step, 1 thread'
run 0 run extended.yaml
near results/extended/results.csv -1 twin.verdict 1 0
near results/extended/results.csv -1 twin.sd.f 0.067 0.005
near results/extended/results.csv -1 twin.f 12 0.27
near results/extended/results.csv 100 twin.v "$(column results/extended/results.csv 100 plant.v)" 0.015
for fmu in mass2 mass3; do
  run 0 run extended.yaml --set "units.twin.twin={fmu: $fmu.fmu}" --out "$fmu"
  same results/extended "$fmu"
done
# a record that begins hot: 60 W where 50 W are believed, and nobody knows the temperatures
sed 's/{fmu: sink2.fmu, outputs.*/{circuit: sink.cir, outputs: [t(junction)]}\n    filter: extended/; /inputs:/d; s/r: {.*/loss: {start: 50, sd: 10, walk: 0}}\n    noise: {start: 50}/' bench.yaml >hot.yaml
run 0 twin hot.yaml --data cut.csv --out hot
says 'twin: consistent: '
near hot/results.csv 0 'twin.t(junction)' 393.15 1e-3  # at rest with the 50 W of the guess
near hot/results.csv -1 twin.loss 60 0.3
near hot/results.csv -1 'twin.t(junction)' "$(column results/heat/results.csv 800 'plant.t(junction)')" 0.3
run 3 twin hot.yaml --data cut.csv --out cold --set units.twin.noise.start=0.1
says 'twin: diverged'
refused 's/    inputs:/    filter: extended\n    inputs:/' "needs the derivatives of the unit, which 'sink2.fmu' does not offer"
refused 's/{fmu: sink2.fmu/{circuit: sink.cir/; s/r: {/start(t(case)): {/; s/, walk: 0//; s/    inputs:/    filter: extended\n    inputs:/' 'and states by noise: {start: SD}'

# ---- readings that come late, and what is wrong

sed 's/^connections:/&\n  - {from: "noise.y[0]", to: two.sensor.t(case), delay: 3}/; /^  two:/,/^  three:/s/from: "noise.y\[0\]", //' heat.yaml >late.yaml
run 0 run late.yaml --set inputs=mean --set calls=10 --out late
says "unit 'two': readings come late, up to 3 s"
run 2 export heat.yaml --unit two --fmi 3 -o no
says 'only twins of netlists can'
run 2 export heat.yaml --ssp -o no
says 'circuits, twins of netlists and units'
refused 's/t(junction), /t(junktion), /' "output 't(junktion)': the unit has no such variable; did you mean 't(junction)'?"
refused 's/r: {/rr: {/' "unknown 'rr': the unit has no such variable"
refused 's/, sigma: 0.3//' "needs 'sigma'"
refused 's/, walk: 0//' "an input needs 'walk'"
refused 's/r: {start: 1.8, /r: {start: 0, bounds: [-1, 1], /; s/sd: 0.6, //; s/, bounds: \[0.1, 10\]//' "give 'sd'"
refused 's/r: {/offset(t(air)): {/' 'there is no such sensor'
refused 's/r: {/t(room): {/' 'start(NAME)'
refused 's/r: {/start(t(room)): {/; s/, walk: 0//' 'not one real state or output with a start value'
refused 's/r: {/r: {as: conductance, /' "'as' is for resistances of a netlist"
refused 's/sigma: 0.3/sigma: 0.3, delay: 2/' "leave out 'delay'"
refused 's/    inputs:/    filter: linear\n    inputs:/' "units take 'extended'"
refused 's/    inputs:/    reset: 2\n    inputs:/' "leave out 'reset'"
refused 's/    inputs:/    late: 2\n    inputs:/' "leave out 'late'"
refused 's/    inputs:/    noise: {walk: 2}\n    inputs:/' "with 'filter: extended' only"
refused 's/    inputs:/    port: udp\n    inputs:/' 'runs beside the machine'
refused 's/    inputs:/    outputs: [x]\n    inputs:/' 'name the outputs of interest beside the unit'
refused 's/fmu: sink2/fmu: none/' "there is no file 'none.fmu'"
refused 's/{fmu: sink2.fmu, /{model: state_spac, /' "did you mean 'state_space'?"
refused 's/{fmu: sink2.fmu, /{fmu: sink2.fmu, circuit: sink.cir, /' "a second kind 'circuit'"
refused 's/{fmu: sink2.fmu, /{/' 'expected a netlist, or one of model, fmu, circuit and library'
refused 's/{fmu: sink2.fmu, outputs.*}/[sink2.fmu]/' 'expected a text'

finish
