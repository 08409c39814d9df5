#!/usr/bin/env bash
# yoke meter: hand values, vectors, windows, parts of the time, bonds against the ledger, and a meter that ran against
# its recorded inputs, text by text (TE-09). TE-14.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
scenarios=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source tree}/scenarios
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$scenarios/../test/support/output_cases.sh"

# ---- hand values: dP = 2 7 - 5 3 = -1 W, then 1 3 - 1 1 = 2 W, half a second each; the last row opens no interval
printf 'time,ei,eo,fi,fo\n0,2,3,5,7\n0.5,1,1,1,3\n1,9,9,9,9\n' >hand.csv
four='--effort-in ei --effort-out eo --flow-in fi --flow-out fo'
# shellcheck disable=SC2086
run 0 meter hand.csv $four
err_empty
out_has '^hand\.csv from 0 to 1 s, 2 intervals of 0\.5 s, values held$'
out_has '^effort in +ei$'
out_has '^TER +1\.5 J$'
out_has '^dE +0\.5 J \(signed\)$'
out_has '^throughput +5\.5 J$'
out_has '^relative TER +0\.272727273$'
out_has '^flow part +4 J$'
out_has '^effort part +3\.5 J$'
out_has '^flow defect +2 '
out_has '^effort defect +0\.5 '
out_has '^worst TER +1\.5 J over the 1 s up to 1 s$'
out_has '^bad samples +0$'
cp out held
# shellcheck disable=SC2086
run 0 meter hand.csv $four --hold
n_checks=$((n_checks + 1))
cmp -s out held || fail '--hold is not the default'

# a window as long as one interval: relative 0.1, then 2
# shellcheck disable=SC2086
run 0 meter hand.csv $four --window 0.5
out_has '^worst TER +1 J over the 0\.5 s up to 1 s$'
# shellcheck disable=SC2086
run 0 meter hand.csv $four --from 0.25 --to 0.75
out_has '^hand\.csv from 0\.25 to 0\.75 s, 2 intervals'
out_has '^TER +0\.75 J$'

# straight lines: dP(s) = (2 - s)(7 - 4 s) - (5 - 4 s)(3 - 2 s) = -1 + 7 s - 4 s^2, then with 9 = 9 at the end
# (1 + 8 s)(3 + 6 s) - (1 + 8 s)(1 + 8 s) = 2 + 14 s - 16 s^2
# shellcheck disable=SC2086
run 0 meter hand.csv $four --linear
out_has ', straight lines$'
n_checks=$((n_checks + 1))
awk '/^TER/ { got = $2 } END {
  n = 1000000
  for (i = 0; i < n; i++) { s = (i + 0.5) / n; a = -1 + 7 * s - 4 * s * s; b = 2 + 14 * s - 16 * s * s
    sum += 0.5 * ((a < 0 ? -a : a) + (b < 0 ? -b : b)) / n }
  d = got - sum; exit !(d < 1e-6 && -d < 1e-6) }' out || fail 'the integral over straight lines is another'

# ---- running values
# shellcheck disable=SC2086
run 0 meter hand.csv $four --out running/deep
n_checks=$((n_checks + 1))
printf '%s\n' time,ter,dP,dE,throughput,rter,ter_window,rter_window,flow_part,effort_part,flow_defect,effort_defect,n_bad \
  0,0,0,0,0,0,0,0,0,0,0,0,0 0.5,0.5,-1,-0.5,5,0.1,0.5,0.1,3,3.5,1,0.5,0 >want
head -3 running/deep/meter.csv | cmp -s - want || fail "running values: $(head -3 running/deep/meter.csv)"
n_checks=$((n_checks + 1))
[ "$(ls running/deep)" = meter.csv ] || fail "files in the folder: $(ls running/deep)"

# ---- vectors: lists, arrays, and powers that add up before |.|
printf 'time,e[0],e[1],g[0],g[1],f1,f2,h\n0,1,2,1,2,3,4,0\n1,0,0,0,0,0,0,0\n' >vector.csv
run 0 meter vector.csv --effort-in e --effort-out 'g[0],g[1]' --flow-in h,h --flow-out f1,f2
out_has '^effort in +e\[0\], e\[1\]$'
out_has '^TER +11 J$'
run 2 meter vector.csv --effort-in e --effort-out g --flow-in h --flow-out f1,f2
err_has '--effort-in has 2 components, --flow-in has 1'
printf 'time,"a[0,1]","a[1,1]","x,y"\n0,1,2,3\n1,0,0,0\n' >matrix.csv
run 0 meter matrix.csv --effort-in 'a[0,1],a[1,1]' --effort-out 'a[1,1],a[0,1]' --flow-in 'a[0,1],a[0,1]' \
  --flow-out 'a[1,1],a[1,1]'
out_has '^effort in +a\[0,1\], a\[1,1\]$'
out_has '^TER +3 J$'
run 0 meter matrix.csv --effort-in 'a[0,1]' --effort-out 'a[1,1]' --flow-in 'x,y' --flow-out 'x,y'
out_has '^TER +3 J$'

# ---- values that are no numbers (TE-14), empty cells, rows that are not equally spaced
printf 'time,ei,eo,fi,fo\n0,2,3,5,7\n0.5,nan,1,1,3\n1,2,3,5,7\n1.5,0,0,0,0\n' >bad.csv
# shellcheck disable=SC2086
run 0 meter bad.csv $four
err_has 'yoke meter: warning: 1 interval left out because a value is not finite'
out_has '^TER +1 J$'
out_has '^bad samples +1$'
printf 'time,ei,eo,fi,fo\n0,2,3,5,7\n0.5,,,,\n1,,3,,\n3,0,0,0,0\n' >gap.csv
# shellcheck disable=SC2086
run 0 meter gap.csv $four
out_has '^gap\.csv from 0 to 3 s, 2 intervals, values held$'
out_has '^TER +3 J$'

# ---- TE-09: a meter that ran, and its recorded inputs; every row, every output, as text
run 0 run "$scenarios/engine-test-bench/inertia.yaml" --quiet --set time.stop=1.3 --set record.every=1 \
  --set 'record.signals=["meter.*", meter.effort_in, meter.effort_out, meter.flow_in, meter.flow_out]' --out bench
meter='--effort-in meter.effort_in --effort-out meter.effort_out --flow-in meter.flow_in --flow-out meter.flow_out'
# shellcheck disable=SC2086
run 0 meter bench $meter --out bench
out_has '^bench from 0 to 1\.3 s, 13000 intervals of 0\.0001 s, values held$'
names='time ter dP dE throughput rter ter_window rter_window flow_part effort_part n_bad'
pick() { # FILE PREFIX: those columns in that order
  awk -F, -v names="$names" -v prefix="$2" '
    NR == 1 { n = split(names, name, " "); for (i = 1; i <= NF; i++) at[$i] = i
              for (i = 1; i <= n; i++) column[i] = at[i == 1 ? name[i] : prefix name[i]]; next }
    { line = ""; for (i = 1; i <= n; i++) line = line "," $column[i]; print line }' "$1"
}
pick bench/results.csv meter. >ran
pick bench/meter.csv '' >replayed
n_checks=$((n_checks + 2))
[ "$(wc -l <ran)" -eq 13001 ] || fail "$(wc -l <ran) rows were recorded"
cmp ran replayed >differences 2>&1 || fail "TE-09: the meter and its recording differ: $(cat differences)"
n_checks=$((n_checks + 1))
awk -F, 'END { exit !($3 > 100 && $4 != 0) }' ran || fail 'the meter had nothing to measure'

# ---- bonds: the four signals from summary.json give the ledger's number
for name in jacobi gauss-seidel gauss-seidel-2; do
  run 0 run "$scenarios/rotational-oscillator/$name.yaml" --quiet --set time.step=0.1 --out $name
  run 0 meter $name --bond joint --json
  n_checks=$((n_checks + 1))
  awk -F': ' '/"ter":/ { a = $2 } /"ledger_ter":/ { b = $2 } END { sub(",", "", a); exit !(a != "" && a == b) }' out ||
    fail "$name: the meter and the ledger differ"
done
run 0 meter jacobi --bond joint
out_has '^effort in +load\.tau$'
out_has '^TER +0\.00116740665 J$'
out_has '^ledger +0\.00116740665 J$'
run 0 meter jacobi/results.csv --bond joint
# a law, and a unit that calls more often than rows are written
run 0 run "$scenarios/linear-oscillator/force.yaml" --quiet --set time.stop=1 --set record.every=1 --set 'record.signals=["**"]' --out law
run 0 meter law --bond left
n_checks=$((n_checks + 1))
awk '/^TER/ { a = $2 } /^ledger/ { b = $2 } END { exit !(a != "" && a == b) }' out || fail 'law: meter and ledger differ'
# a correction: the row shows the input as the unit gets it, not the sample it is made of
run 0 run "$scenarios/linear-oscillator/corrected.yaml" --quiet --set time.stop=1 --set record.every=1 --set 'record.signals=["**"]' --out corrected
run 0 meter corrected --bond spring --json
n_checks=$((n_checks + 1))
awk -F': ' '/"ter":/ { a = $2 } /"ledger_ter":/ { b = $2 } END { sub(",", "", a); exit !(a != "" && a == b) }' out ||
  fail 'corrected: the meter and the ledger differ'
run 0 run "$scenarios/hydraulic-crane/crane.yaml" --quiet --set time.stop=1 --set 'record.signals=["**"]' --out fast
run 0 meter fast --bond piston
out_has '^ledger .* J \(it also measured calls of the units between the rows\)$'

run 0 run "$scenarios/rotational-oscillator/fresh.yaml" --quiet --out fresh
run 2 meter fresh --bond joint
err_has "unit 'shaft' is fresh, so the recording contains its outputs after the exchange"
run 0 run "$scenarios/linear-oscillator/iterative.yaml" --quiet --set time.stop=1 --set 'record.signals=["**"]' --out iterative
run 2 meter iterative --bond spring
err_has "the inputs of an iteration's last pass are not recorded"
run 0 run "$scenarios/rotational-oscillator/jacobi.yaml" --quiet --set 'record.signals=["*"]' --out outputs
run 2 meter outputs --bond joint
err_has "bond 'joint': load.tau is not recorded; add it to record.signals"
run 2 meter jacobi --bond joitn
err_has "jacobi has no bond 'joitn'; did you mean 'joint'?"
run 2 meter hand.csv --bond joint
err_has '--bond needs the summary.json of the run, which hand.csv lacks'

# ---- wrong command lines
run 2 meter hand.csv --effort-in ei
err_has 'is missing; give all four signals or --bond NAME'
run 2 meter hand.csv --effort-in ei --effort-out eo --flow-in 'fi' --flow-out fx
err_has "no signal 'fx' in hand.csv; did you mean 'fi'?"
run 2 meter jacobi --bond joint --effort-in load.tau
err_has '--bond names all four signals'
run 2 meter jacobi --bond joint --linear
err_has '--linear needs the four signals'
# shellcheck disable=SC2086
{
  run 2 meter hand.csv $four --hold --linear
  err_has 'exclude each other'
  run 2 meter hand.csv $four --window 0
  err_has '--window: expected a time above 0'
  run 2 meter hand.csv $four --window none
  err_has "--window: expected a number, found 'none'"
  run 2 meter hand.csv $four --from 2 --to 1
  err_has '--from must lie before --to'
  run 2 meter hand.csv $four --from 5
  err_has 'hand.csv: error: nothing to measure: the rows reach from 0 to 1 s'
  run 2 meter hand.csv $four --out ''
  err_has '--out: expected the name of a folder'
  run 2 meter nowhere.csv $four
  err_has 'nowhere.csv'
  : >file
  run 1 meter hand.csv $four --out file/inside
  err_has 'file'
}

# ---- JSON
# shellcheck disable=SC2086
run 0 meter hand.csv $four --json
if command -v python3 >/dev/null; then
  n_checks=$((n_checks + 1))
  python3 - out <<'PYTHON' || fail 'JSON has other content'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["ter"] == 1.5 and d["dE"] == 0.5 and d["throughput"] == 5.5 and d["step"] == 0.5, d
assert d["flow_part"] == 4 and d["effort_part"] == 3.5 and d["intervals"] == 2, d
assert d["effort_in"] == ["ei"] and d["flow_out"] == ["fo"] and d["values"] == "held", d
assert d["ter_window_worst"] == 1.5 and d["ter_window_worst_time"] == 1 and d["bad_samples"] == 0, d
PYTHON
else
  skip 'content of the JSON: python3 is missing'
fi

# ---- no folder to write to: the numbers are right all the same; a folder without results
: >file
# shellcheck disable=SC2086
run 1 meter hand.csv $four --out file
out_has '^TER +1\.5 J'
err_has 'cannot make folder file'
mkdir hollow
# shellcheck disable=SC2086
run 2 meter hollow $four
err_has 'hollow: error: the folder holds no results.csv or results.h5'

# ---- a full disk
if [ -w /dev/full ]; then
  # shellcheck disable=SC2086
  "$yoke" meter hand.csv $four >/dev/full 2>err
  status=$?
  : >out
  n_checks=$((n_checks + 1))
  [ "$status" -eq 1 ] || fail "yoke meter on a full disk: status $status, expected 1"
else
  skip 'a full disk: there is no /dev/full'
fi

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
