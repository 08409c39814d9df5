#!/usr/bin/env bash
# yoke twin: estimation over a record. The happy path, tuning, gaps, a sensor that is slower than the step, copies of the file, and bad
# input of all kinds.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

json() { python3 -c "import json; d = json.load(open('$1')); t = d['twin']; print($2)"; }

# Two resistors in a chain, with their capacities; r1 = 2 K/W and r2 = 3 K/W are what the record was made with.
cat >chain.cir <<'E2'
a chain
.input q=10 W
heat_source q_in a {q}
heat_capacity c_a a 5 J/K
thermal_resistance r1 a b 2 K/W
heat_capacity c_b b 20 J/K
thermal_resistance r2 b room 3 K/W
temperature_source air room 300 K
.end
E2
cat >chain.yaml <<'E2'
# a chain
yoke: 1
time: {stop: 400, step: 0.5}
units:
  twin:                    # beside the bench
    twin: chain.cir
    sensors:
      t(a): {from: bench.ta, sigma: 0.2}
      t(b): {from: bench.tb, sigma: 0.2}
    inputs: {q: bench.q}
    unknown:
      r1: {start: 1, sd: 1}   # a guess
      r2: {start: 5, sd: 3}
# the end
E2
python3 - <<'PY'
import random
random.seed(3)
ta, tb, h = 330.0, 318.0, 0.5
lines = ["time,bench.ta,bench.tb,bench.q"]
for k in range(801):
    t = k * h
    q = 10 + (8 if (t // 40) % 2 else -4)
    lines.append("%.9g,%.4f,%.4f,%g" % (t, ta + random.gauss(0, 0.2), tb + random.gauss(0, 0.2), q))
    for i in range(500):
        f = (ta - tb) / 2
        ta, tb = ta + h / 500 * (q - f) / 5, tb + h / 500 * (f - (tb - 300) / 3) / 20
open("good.csv", "w").write("\n".join(lines) + "\n")
PY

# ---- estimation

run 0 twin chain.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3
says 'results in results/chain: 801 rows'
says 'unknowns at the end'
says 'temperatures at the end'
says 'sensors  rms innovation  expected'
says 'twin: consistent: '
holds "$(json results/chain/summary.json 'len(t["unknowns"]) == 2 and abs(t["unknowns"][0]["value"] - 2) < 4 * t["unknowns"][0]["sd"]' | sed 's/True/1/;s/False/0/')"
holds "$(json results/chain/summary.json '0.9 < t["sensors"][0]["rms"] / t["sensors"][0]["expected"] < 1.1' | sed 's/True/1/;s/False/0/')"
if head -1 results/chain/results.csv | grep -q 'bench.ta.*twin.t(a).*twin.sd.r1'; then pass; else bad 'columns'; fi
run 0 twin chain.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3 --quiet --out again
if [ -s out ]; then bad '--quiet says something'; else pass; fi
same results/chain again
run 0 twin chain.yaml --data good.csv --json --out again
if python3 -c 'import json; d = json.load(open("out")); assert d["format"] == "yoke-summary" and d["twin"]["verdict"] == "consistent"'; then pass; else bad json; fi
if cmp -s out again/summary.json; then pass; else bad 'what is printed is not summary.json'; fi

# the results of a run are a record, too: the same readings in, the same estimates out
run 0 twin chain.yaml --data again --out third
if cmp -s <(cut -d, -f4- again/results.csv | tail -n 1) <(cut -d, -f4- third/results.csv | tail -n 1); then pass; else bad 'a folder as data'; fi

# a window
run 0 twin chain.yaml --data good.csv --from 100 --to 200 --out window
says '201 rows' out
if [ "$(sed -n 2p window/results.csv | cut -d, -f1)" = 100 ]; then pass; else bad 'the window does not begin at 100'; fi

# ---- tuning

cat >tuned.py <<'PY'
import json, sys
u = json.load(open(sys.argv[1]))["twin"]["tuning"]["unknowns"]
for x, want in zip(u, (2, 3)):
    for way in ("filter", "fit"):
        away = abs(x[way] - want) / x[way + "_sd"]
        assert away < 4, (x["name"], way, x[way], x[way + "_sd"])
        assert x[way + "_sd"] < 0.02 * want, (x["name"], way, x[way + "_sd"])
PY
run 0 twin chain.yaml --data good.csv --tune --write tuned.yaml --out tuned
says 'least squares from 8 starts'
says 'end at the same values'
says 'written to tuned.yaml'
if python3 tuned.py tuned/summary.json; then pass; else bad 'tuning is off by more than its deviations'; fi
if [ "$(diff chain.yaml tuned.yaml | grep -c '^>')" -eq 2 ]; then pass; else bad "lines that differ: $(diff chain.yaml tuned.yaml)"; fi
if grep -q '# a guess' tuned.yaml; then pass; else bad 'a comment is gone'; fi
run 0 twin tuned.yaml --data good.csv --out copy
same tuned copy
run 0 twin chain.yaml --data good.csv --tune --from 50 --to 300 --out tuned_part
says 'from 50 s to 300 s'

# sensors without sigma: their noise in the record goes into the copy, also where the source stands alone
sed 's/t(a): .*/t(a): bench.ta/; s/, sigma: 0.2//' chain.yaml >silent.yaml
run 0 twin silent.yaml --data good.csv --tune --write silent_tuned.yaml --out silent
says 'no sigma is given for t(b)'
if [ "$(diff silent.yaml silent_tuned.yaml | grep -c '^>')" -eq 4 ]; then pass; else bad "lines that differ: $(diff silent.yaml silent_tuned.yaml)"; fi
if sed -n 's/.*t([ab]):.*bench.t[ab].*sigma: \([0-9.]*\)}.*/\1/p' silent_tuned.yaml |
  awk '$1 > 0.18 && $1 < 0.22 { n++ } END { exit n != 2 }'; then pass; else bad "sigma in the copy: $(grep 't(' silent_tuned.yaml)"; fi
run 0 twin silent_tuned.yaml --data good.csv --out copy
says 'twin: consistent: '
same silent copy

# the page is made from the files alone
run 0 twin chain.yaml --data good.csv --tune --report --out page
cp page/report.html first.html
run 0 report page
if cmp -s first.html page/report.html; then pass; else bad 'the page of --report and that of yoke report differ'; fi
says 'content="consistent: the innovations of' page/report.html
says '"tuning": {' page/report.html

# ---- gaps, slow sensors, other columns

awk -F, 'BEGIN { OFS = "," } NR > 100 && NR < 160 { $2 = "" } NR == 200 { $3 = "nan" } NR > 700 { $2 = "nan"; $3 = "" } { print }' good.csv >gaps.csv
run 0 twin chain.yaml --data gaps.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3 --out gaps
says 'bench.ta: 161 of 801 values are missing, in 2 gaps'
says 'bench.tb: 103 of 801 values are missing, in 2 gaps'
says 'twin: consistent: '
holds "$(json gaps/summary.json 't["sensors"][0]["readings"] == 639 or t["sensors"][0]["readings"] == 640' | sed 's/True/1/;s/False/0/')"
# blanks and quotes around names and cells, as spreadsheets and people write them
sed '1s/.*/ time, bench.ta ,"bench.tb", "bench.q" /; 2,$s/,/ , /g' good.csv >blanks.csv
run 0 twin chain.yaml --data blanks.csv --out blanks
same again blanks
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 10 != 2 { $2 = "" } { print }' good.csv >slow.csv
run 0 twin chain.yaml --data slow.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3 --out slow
holds "$(json slow/summary.json 't["sensors"][0]["readings"] == 80 or t["sensors"][0]["readings"] == 81' | sed 's/True/1/;s/False/0/')"
run 0 twin chain.yaml --data good.csv --set units.twin.step=0.25 --out fine
holds "$(json fine/summary.json 't["sensors"][0]["readings"] == 800 or t["sensors"][0]["readings"] == 801' | sed 's/True/1/;s/False/0/')"
says '1601 rows'
sed 's/bench\.ta/"bench.t[0]"/' chain.yaml >element.yaml
sed '1s/bench\.ta/bench.t/' good.csv >element.csv
run 0 twin element.yaml --data element.csv --out element
says 'consistent'
sed '1s/bench\.//g' good.csv >bare.csv
run 0 twin chain.yaml --data bare.csv --out bare
says 'consistent'

# ---- losses that move between the rows: straight from row to row, also in tuning; held, they are half a row late

python3 - <<'PY'
import math, random
random.seed(4)
ta, tb, h, parts = 300.0, 300.0, 2.0, 500
q = lambda t: 30 * abs((t / 48) % 2 - 1) + 4 * (t / 400)
ta, tb = 300 + 5 * q(0), 300 + 3 * q(0)
lines = ["time,bench.ta,bench.tb,bench.q"]
for k in range(401):
    t = k * h
    lines.append("%.9g,%.4f,%.4f,%.9g" % (t, ta + random.gauss(0, 0.2), tb + random.gauss(0, 0.2), q(t)))
    for i in range(parts):
        d = h / parts
        f, u = (ta - tb) / 2, q(t + (i + 0.5) * d)
        a, b = ta + d / 2 * (u - f) / 5, tb + d / 2 * (f - (tb - 300) / 3) / 20
        f2 = (a - b) / 2
        ta, tb = ta + d * (u - f2) / 5, tb + d * (f2 - (b - 300) / 3) / 20
open("ramps.csv", "w").write("\n".join(lines) + "\n")
PY
run 0 twin chain.yaml --data ramps.csv --tune --out ramps
says 'end at the same values'
says 'twin: consistent: '
if python3 tuned.py ramps/summary.json; then pass; else bad 'tuning on ramps is off by more than its deviations'; fi
run 3 twin chain.yaml --data ramps.csv --tune --set units.twin.inputs.q='{from: bench.q, method: hold}' --out ramps_held
if python3 tuned.py ramps_held/summary.json 2>/dev/null; then bad 'held ramps are as good'; else pass; fi

# what the file says of other units and of the way they are run is left out
sed 's/^# the end/  bench: {model: nothing}\nquality: {warn: {above: {bench.ta: 1, twin.t(a): 360, "*.x": 2}}}\nbonds: {b: {action: bench.q -> c.d, rate: c.e -> bench.f}}\ninputs: mean\nscheme: gauss-seidel\norder: [bench, twin]\nrecord: {signals: [bench.ta], every: 10}\ntrust: {signals: [bench.ta]}/' chain.yaml >whole.yaml
run 3 twin whole.yaml --data good.csv --out whole
says '801 rows'
says "twin.t(a) is 360"

# outliers: a gate leaves them out, of the verdict too; where it leaves out more than outliers, the verdict says so
awk -F, 'BEGIN { OFS = "," } NR > 300 && NR % 40 == 20 { $2 += 30 } { print }' good.csv >outliers.csv
run 3 twin chain.yaml --data outliers.csv --out outliers
run 0 twin chain.yaml --data outliers.csv --out gated --set 'units.twin.noise={gate: 5}' \
  --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3
says 'twin: consistent: '
says ', 12 left out by the gate'
holds "$(json gated/summary.json 't["sensors"][0]["left_out"] == 12 and t["sensors"][0]["rms"] < 0.25' | sed 's/True/1/;s/False/0/')"
awk -F, 'BEGIN { OFS = "," } NR > 300 && NR % 3 == 0 { $2 += 30 } { print }' good.csv >often.csv
run 3 twin chain.yaml --data often.csv --out often --set 'units.twin.noise={gate: 5}'
says 'twin: inconsistent: the gate left out '

# a record in degrees Celsius is far off before there is a verdict; with an offset it is right
awk -F, 'BEGIN { OFS = "," } NR > 1 { $2 -= 273.15; $3 -= 273.15 } { print }' good.csv >celsius.csv
run 0 twin chain.yaml --data celsius.csv --to 60 --out celsius
says 'twin: no verdict: '
says ' times as large as expected: look at its unit, its sigma and the start'
run 0 twin chain.yaml --data celsius.csv --to 60 --out kelvin --set 'units.twin.sensors.t(a).offset=273.15' \
  --set 'units.twin.sensors.t(b).offset=273.15'
says 'twin: no verdict: '
silent 'times as large'

# ---- a wrong model

sed 's/c_a a 5/c_a a 7/' chain.cir >wrong.cir
sed 's/chain.cir/wrong.cir/' chain.yaml >wrong.yaml
run 3 twin wrong.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3
says 'twin: inconsistent: '
run 3 twin wrong.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3 --quiet
says 'inconsistent'
run 0 twin wrong.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r2.start=3 --set trust.status=false

# ---- bad input

run 2 twin chain.yaml
says '--data is missing'
run 2 twin chain.yaml --data none.csv
says 'none.csv'
run 2 twin none.yaml --data good.csv
says 'none.yaml'
run 2 twin chain.yaml --data good.csv --write x.yaml
says '--write needs --tune'
run 2 twin chain.yaml --data good.csv --tune --write chain.yaml
says 'is the system file itself'
run 2 twin chain.yaml --data good.csv --from 200 --to 100
says '--to: expected a time behind --from'
run 2 twin chain.yaml --data good.csv --from 500
says 'the record goes from 0 s to 400 s'
run 2 twin chain.yaml --data good.csv --tune --from 500
says 'the record goes from 0 s to 400 s'
run 2 twin chain.yaml --data good.csv --unit other
says "there is no unit 'other'; twins: twin"
run 2 twin chain.yaml --data good.csv --out ''
says 'expected the name of a folder'

sed '1s/bench.tb/bench.t_bee/' good.csv >column.csv
run 2 twin chain.yaml --data column.csv
says "column.csv: error: there is no column 'bench.tb'; did you mean 'bench.ta'? the columns are time, bench.ta, bench.t_bee, bench.q"
sed '5s/^[^,]*,/1,/' good.csv >time.csv
run 2 twin chain.yaml --data time.csv
says 'time.csv:5: error: time 1 is not greater than 1 of the line before'
sed '7s/,[^,]*/,hot/' good.csv >text.csv
run 2 twin chain.yaml --data text.csv
says "text.csv:7: error: the cell of column 'bench.ta' is not a finite number"
sed '7s/,[^,]*/,inf/' good.csv >text.csv
run 2 twin chain.yaml --data text.csv
says "text.csv:7: error: the cell of column 'bench.ta' is not a finite number"
sed '9s/$/,1/' good.csv >long.csv
run 2 twin chain.yaml --data long.csv
says 'long.csv:9: error: more than 4 cells, but the header has 4'
sed '9s/,[^,]*$//' good.csv >short.csv
run 2 twin chain.yaml --data short.csv
says 'short.csv:9: error: 3 cells, but the header has 4'
head -2 good.csv >one.csv
run 2 twin chain.yaml --data one.csv
says 'one.csv: error: expected two rows or more, found 1'
sed '1s/time/seconds/' good.csv >notime.csv
run 2 twin chain.yaml --data notime.csv
says "notime.csv: error: there is no column 'time'"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $2 = "" } { print }' good.csv >empty.csv
run 2 twin chain.yaml --data empty.csv
says "column 'bench.ta' has no values"
sed '/^  twin:/,/r2:/d; s/^units:/units: {a: {model: gain}}/' chain.yaml >notwin.yaml
run 2 twin notwin.yaml --data good.csv
says 'no unit is a twin'
sed 's/^# the end/  other: {twin: chain.cir, sensors: {t(a): {from: bench.ta, sigma: 0.2}}, inputs: {q: bench.q}}/' chain.yaml >two.yaml
run 2 twin two.yaml --data good.csv
says 'there are 2 twins (twin, other): choose one with --unit'
run 0 twin two.yaml --data good.csv --unit other --out other
run 2 twin two.yaml --data good.csv --unit other --tune
says "there is nothing to tune: 'other' has no unknown without walk"
sed 's/r2: {start: 5, sd: 3}/q: {walk: 20}/; s/inputs: {q: bench.q}/inputs: {}/' chain.yaml >walk.yaml
# heat in steps is no random walk
run 3 twin walk.yaml --data good.csv --set units.twin.unknown.r1.start=2 --set units.twin.unknown.r1.sd=0.01 --out walk
silent 'error:'
run 3 twin walk.yaml --data good.csv --tune --out walk
says "'q' changes during the record (it has a walk)"
silent 'least squares from' 
awk -F, -v OFS=, 'NR == 1 { print $0, "bench.ta"; next } { print $0, 1 }' good.csv >double.csv
run 2 twin chain.yaml --data double.csv
says "double.csv:1: error: columns 2 and 5 are both called 'bench.ta'"
# noise that is ten times what the file says: what tuning finds is of no use
run 3 twin chain.yaml --data good.csv --set 'units.twin.sensors.t(a).sigma=0.02' --set 'units.twin.sensors.t(b).sigma=0.02' --tune --write never.yaml --out never
says 'no values make the model fit the record'
says 'the tuned values are not used, and nothing is written'
if [ -e never.yaml ]; then bad 'a rejected tuning was written'; else pass; fi
run 2 twin chain.yaml --data good.csv --json --set units.twin.sensors.t[a].sigma=-1
finish
