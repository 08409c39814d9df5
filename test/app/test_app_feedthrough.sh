#!/usr/bin/env bash
# Feedthrough as people see it: what yoke check says of native units, circuits and FMUs, `feedthrough:` of the file, and the value
# that a run finds for a circuit whose FMU starts in a steady state.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# like says, with a pattern
says() { if grep -qE -- "$1" out; then pass; else bad "the output does not say '$1'"; fi; }

# value FOLDER: D of c.i after c.u in the results
value() {
  python3 -c '
import json, sys
for x in json.load(open(sys.argv[1] + "/summary.json"))["feedthrough"]:
    if (x["output"], x["input"]) == ("c.i", "c.u"):
        print(x.get("value", x["kind"]), x["how"], sep="|")' "$1"
}
# near FOLDER WANT HOW
near() {
  local got
  got=$(value "$1")
  if awk -F'|' -v want="$2" -v how="$3" '{ exit !(($1 - want) ^ 2 < (1e-6 * want) ^ 2 && $2 == how) }' <<<"$got"; then
    pass
  else
    bad "$1: '$got' instead of $2, $3"
  fi
}

# ---- a resistor of 10 ohm, then a capacitor with 90 ohm beside it: i follows u by 1/10 at once, by 1/100 in the steady state
cat >rc.cir <<'END'
* resistor into a capacitor
.input u=1 V
.output i(r1) name=i
.output v(b) name=vb
V1 a 0 u
R1 a b 10
C1 b 0 1m
R2 b 0 90
.tran 1e-5 1
.end
END
cat >native.yaml <<'END'
yoke: 1
time: {stop: 0.05, step: 1e-3}
inputs: mean
calls: 1
units:
  c: {circuit: rc.cir}
  s: {model: state_space, with: {A: [[-50]], B: [[100]], x0: [2]}}
connections:
  - {from: c.i, to: s.u1, average: false}
  - {from: s.y1, to: c.u, order: 0} # a circuit follows slopes itself
END
run 0 check native.yaml
says 'c\.i +known: derivatives at the start'
says 's\.y1 +zero: declared by the unit'
says 'c\.i -> s\.u1.*feedthrough up to date'
run 0 check native.yaml --json
says '"feedthrough": "known"'
says '"feedthrough_how": "derivatives at the start"'
run 0 check native.yaml --set inputs=start
silent 'feedthrough (what'
run 0 run native.yaml --trust none --quiet --out native
near native 0.1 'derivatives at the start'

for fmi in 2 3; do
  run 0 export native.yaml --unit c --fmi $fmi -o c$fmi.fmu
  sed "s/circuit: rc.cir/fmu: c$fmi.fmu/" native.yaml >fmu$fmi.yaml
  run 0 check fmu$fmi.yaml
  says 'c\.i +known: derivatives at the start'
  run 0 run fmu$fmi.yaml --trust none --quiet --out fmu$fmi
  near fmu$fmi 0.1 'derivatives at the start'
done

# ---- the same FMU with less to say
mkdir bare && (cd bare && python3 -m zipfile -e ../c2.fmu . && chmod -R u+rwX .)
sed -i 's/providesDirectionalDerivative="true"/providesDirectionalDerivative="false"/' bare/modelDescription.xml
sed 's/circuit: rc.cir/fmu: bare/' native.yaml >bare.yaml
run 0 check bare.yaml
says 'c\.i +known: measured at the start'
run 0 run bare.yaml --trust none --quiet --out bare-out
near bare-out 0.01 'measured at the start' # how it settles: the file can do better
run 0 run bare.yaml --trust none --quiet --set 'units.c.feedthrough={i: {u: 0.1}}' --out given
near given 0.1 'declared by the file'
sed -i 's/ dependencies="[^"]*"//' bare/modelDescription.xml
run 0 check bare.yaml
says 'c\.i +unknown: the FMU does not say'
silent 'feedthrough up to date'
run 0 check bare.yaml --set 'units.c.feedthrough={i: [u]}'
says 'c\.i +known: measured at the start'
run 0 check bare.yaml --set units.c.feedthrough=none
says 'c\.i +zero: declared by the file'
run 0 check bare.yaml --set inputs=start --set units.c.feedthrough=none
says 'c\.i +zero: declared by the file'

# ---- names of a netlist ignore case where they have brackets
sed -e 's/ name=i$//' -e 's/ name=vb$//' rc.cir >names.cir
sed -e 's/rc.cir/names.cir, feedthrough: {"I(R1)": {u: 0.1}}/' -e 's/c\.i, to/"c.i(r1)", to/' native.yaml >names.yaml
run 0 check names.yaml
says 'i\(r1\) +known: declared by the file'

# ---- what is wrong has its place
sed 's/rc.cir/rc.cir, feedthrough: {i: {v: 0.1}}/' native.yaml >wrong.yaml
run 2 check wrong.yaml
says "wrong.yaml:6:42: error: feedthrough: 'c' .* has no input 'v'"

# ---- a chain without a solution
cat >singular.yaml <<'END'
yoke: 1
time: {stop: 1, step: 0.1}
inputs: mean
units:
  a: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}
  b: {model: state_space, with: {A: [[-1]], B: [[1]], C: [[0]], D: [[1]]}}
connections: [a.y1 -> b.u1, b.y1 -> a.u1]
END
run 0 check singular.yaml
says 'warning: .*the closed chain of feedthrough through [ab]\.y1, [ab]\.y1 has no unique solution'
run 0 run singular.yaml --trust none --out singular
says 'has no unique solution \(I - L D is singular\)'
if grep -q '"singular": true' singular/summary.json; then pass; else bad 'summary.json does not say "singular"'; fi

finish
