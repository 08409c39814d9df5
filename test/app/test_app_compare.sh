#!/usr/bin/env bash
# yoke compare: outputs and exit statuses on small files whose measures are known; bonds of the torque-speed benchmark
# judged by TER (TE-02, TE-06).
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source tree}/test/support/output_cases.sh"

# differences of a.x: 3 and -4 on a range of 10: rmse sqrt(12.5) = 3.53553, nrmse 0.353553
mkdir run
printf 'time,a.x,a.y,b.only,note\n0,3,1,7,hi\n1,6,1,7,ho\n' >run/results.csv
printf 'time,a.x,a.y,c.z,note\n0,0,1,0,hi\n0.5,5,1,0,hi\n1,10,1,0,hu\n' >reference.csv

# ---- the table
run 0 compare run reference.csv
err_empty
out_has '^2 points from 0 to 1 s$'
out_has '^signal +nrmse +rmse +max +at time +end +result +reference$'
out_has '^a\.x +0\.353553 +3\.53553 +4 +1 +-4 +6 +10$'
out_has '^a\.y +0 +0 +0 +0 +0 +1 +1$'
out_has '^reference constant, nrmse relative to its value: a\.y$'
out_has '^only in the result: b\.only$'
out_has '^only in the reference: c\.z$'
out_has '^not compared, because text: note$'

# all rows of the table are equally wide
n_checks=$((n_checks + 1))
n_widths=$(sed -n '2,4p' out | awk '{print length($0)}' | sort -u | wc -l)
[ "$n_widths" -eq 1 ] || fail "columns not aligned"

# a file instead of the folder, a slash behind it, both a folder
cp out folder_out
run 0 compare run/results.csv reference.csv
n_checks=$((n_checks + 1))
cmp -s out folder_out || fail "folder and file differ"
run 0 compare run/ run
out_has '^a\.x +0 +0 +0 +0 +0 +6 +6$'

# ---- choosing signals and measures
run 0 compare run reference.csv --signal a.x --measure max,rmse
out_has '^signal +rmse +max +at time$'
out_has '^a\.x +3\.53553 +4 +1$'
out_lacks 'a\.y|only in'
run 0 compare run reference.csv --signal='a.*' --signal a.y --measure end
n_checks=$((n_checks + 1))
[ "$(grep -c '^a\.y' out)" -eq 1 ] || fail "a.y is not listed once"
run 2 compare run reference.csv --signal a.xx
err_has "yoke compare: no signal 'a.xx' in run; did you mean 'a.x'?"
run 2 compare run reference.csv --signal b.only
err_has "yoke compare: no signal 'b.only' in reference.csv"
run 2 compare run reference.csv --signal note
err_has "signal 'note' of run is text"
run 2 compare run reference.csv --signal 'q*'
err_has "no common signal matches 'q*'"
run 2 compare run reference.csv --signal time
err_has "no signal 'time'"
run 2 compare run reference.csv --measure nrsme
err_has "yoke compare: --measure: unknown 'nrsme'; did you mean 'nrmse'?"

# ---- limits
run 0 compare run reference.csv --limit nrmse=0.36 --limit end=4 --limit max=4
err_empty
run 3 compare run reference.csv --limit nrmse=0.35
err_has 'yoke compare: a.x: nrmse 0.353553 exceeds the limit 0.35'
run 3 compare run reference.csv --measure rmse --limit end=3.9
err_has 'a.x: end 4 exceeds the limit 3.9'
out_has '^signal +rmse +end +result +reference$'
run 2 compare run reference.csv --limit nrmse
err_has "--limit: expected MEASURE=VALUE with nrmse, rmse, max, end, error or roughness, found 'nrmse'"
run 2 compare run reference.csv --limit rms=1
run 2 compare run reference.csv --limit max=-1
err_has "--limit: expected a number not below 0 behind 'max=', found '-1'"
run 2 compare run reference.csv --limit max=nan

# ---- numbers that are none
printf 'time,x\n0,0\n1,nan\n2,2\n' >nan.csv
printf 'time,x\n0,0\n1,1\n2,2\n' >good.csv
printf 'time,x\n0,0\n1,\n2,2\n' >gap.csv
run 0 compare nan.csv good.csv
out_has '^x +nan +nan +nan +1 +0 +2 +2$'
out_has '^not finite in the result: x$'
run 3 compare nan.csv good.csv --limit max=1e300
run 0 compare good.csv nan.csv
out_has '^2 points from 0 to 2 s, 1 skipped where the reference is not a number$'
# an empty cell is no sample: the reference is a line through its neighbours
run 0 compare good.csv gap.csv --limit max=0
out_has '^3 points from 0 to 2 s$'
run 0 compare gap.csv good.csv
out_has '^2 points from 0 to 2 s$'
printf 'time,x,y\n0,0,0\n1,1,\n2,2,2\n' >two.csv
run 0 compare two.csv two.csv
out_has '^3 points from 0 to 2 s$'
out_has '^y: 2 points from 0 to 2 s$'

# ---- roughness: equally spaced points, three or more; without it the other measures are there
printf 'time,x,y\n0,0,0\n1,1,1\n2,2,2\n3,3,3\n3.98,4,4\n' >even.csv
printf 'time,x,y\n0,0,0\n0.5,1,1\n2,2,2\n2.7,3,3\n4,4,4\n' >uneven.csv
run 2 compare uneven.csv even.csv --measure roughness,end
err_has 'yoke compare: x: roughness: expected points that are equally far apart, found 0.5 s behind 0 s and 1.5 s behind 0.5 s'
out_has '^x +-0.0153846 +3.98461538 +4 +nan$'
run 2 compare even.csv uneven.csv --measure roughness
err_has 'found 0.98 s behind 3 s and 1 s behind 0 s'
printf 'time,x\n0,0\n1.004,1\n2,2\n' >late_clock.csv
run 0 compare late_clock.csv good.csv --measure roughness
err_empty
run 0 compare good.csv uneven.csv --measure roughness --limit roughness=1
err_empty
run 2 compare run reference.csv --measure roughness
err_has 'yoke compare: a.x: roughness: expected at least 3 points, found 2 from 0 to 1 s'
run 2 compare good.csv nan.csv --limit roughness=1
err_has 'x: roughness: expected at least 3 points, found 2 from 0 to 2 s'
run 0 compare nan.csv good.csv --measure roughness
out_has '^not finite in the result: x$'

# ---- JSON
run 3 compare run reference.csv --json --limit rmse=1
if command -v python3 >/dev/null; then
  n_checks=$((n_checks + 1))
  python3 - out <<'PYTHON' || fail "JSON has other content"
import json, math, sys
d = json.load(open(sys.argv[1]))
assert d["result"] == "run" and d["reference"] == "reference.csv", d
x, y = d["signals"]
assert x["name"] == "a.x" and x["points"] == 2 and x["start"] == 0 and x["stop"] == 1, x
assert abs(x["rmse"] - math.sqrt(12.5)) < 1e-15 and x["exceeded"] == ["rmse"], x
assert x["max"] == 4 and x["max_time"] == 1 and x["end"] == -4 and x["end_reference"] == 10, x
assert y["scale_kind"] == "value" and y["exceeded"] == [], y
assert d["only_in_result"] == ["b.only"] and d["only_in_reference"] == ["c.z"], d
assert d["limits"] == {"rmse": 1} and d["n_exceeded"] == 1, d
PYTHON
else
  skip 'content of the JSON: python3 is missing'
fi
out_has '"n_exceeded": 1'

# ---- bad input
run 2 compare run
err_has 'yoke compare: REFERENCE is missing'
run 2 compare nowhere.csv reference.csv
err_has 'nowhere.csv'
run 2 compare run nowhere.csv
err_has 'nowhere.csv'
mkdir empty
run 2 compare empty reference.csv
err_has 'empty'
printf 't,x\n0,0\n' >no_time.csv
run 2 compare no_time.csv good.csv
err_has 'no_time.csv: error: the first column is not called time'
printf 'time,x\n0,0,0\n' >ragged.csv
run 2 compare ragged.csv good.csv
err_has 'ragged.csv:2: error: more than 2 cells, but the header has 2'
printf 'time\n0,0\n' >narrow.csv
run 2 compare narrow.csv good.csv
err_has 'narrow.csv:2: error: more than 1 cell, but the header has 1'
printf 'time,x\n0\n' >short.csv
run 2 compare short.csv good.csv
err_has 'short.csv:2: error: 1 cell, but the header has 2'
: >results.mat
run 2 compare results.mat good.csv
err_has 'results.mat: error: MAT files are written, but not read'
printf 'time,x\n5,0\n6,0\n' >late.csv
run 2 compare late.csv good.csv
err_has 'x: the time ranges do not overlap: result 5 .. 6 s, reference 0 .. 2 s'
printf 'time,x\n0,0\n1,0\n0.5,0\n' >back.csv
run 2 compare back.csv good.csv
err_has 'time goes back from 1 to 0.5 s'
printf 'time,x\n' >none.csv
run 2 compare none.csv good.csv
err_has 'the result has no samples'
printf 'time,x,x\n0,0,0\n' >twice.csv
run 2 compare twice.csv good.csv
err_has "two columns are named 'x'"
printf 'time,q\n0,0\n' >other.csv
run 2 compare other.csv good.csv
err_has 'other.csv and good.csv have no signal in common'
printf 'time,x\nzero,0\n' >text_time.csv
run 2 compare text_time.csv good.csv
err_has 'text_time.csv: error: column time has cells that are no numbers'

# ---- other grids: a line is interpolated exactly, and names may need quotes
printf '"time","der(x), ""x"""\r\n0.25,0.5\r\n0.75,1.5\r\n' >fine.csv
printf 'time,"der(x), ""x"""\n0,0\n1,2\n' >coarse.csv
run 0 compare fine.csv coarse.csv --limit max=0
out_has '^2 points from 0\.25 to 0\.75 s$'

# ---- bonds: the torque-speed benchmark at 0.1 and 1 s, TER and error energy of the specification (5.3, 5.4)
rotor=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source tree}/scenarios/rotational-oscillator
for step in 1 0.1; do
  for name in jacobi fresh gauss-seidel gauss-seidel-2; do
    run 0 run "$rotor/$name.yaml" --quiet --set time.step=$step --out "$name-$step"
  done
done
run 0 run "$rotor/gauss-seidel.yaml" --quiet --set time.step=0.1 --set exchange=fresh --out gs-fresh
run 0 run "$rotor/gauss-seidel-2.yaml" --quiet --set time.step=0.1 --set exchange=fresh --out gs2-fresh
run 0 run "$rotor/jacobi.yaml" --quiet --set time.step=0.1 --set 'record.signals=["*"]' --out outputs

# TE-02: six digits of TER and error energy against the undivided system
judge() { # RESULT TER ERROR
  run 0 compare "$1" "$rotor/reference.csv" --measure ter
  err_empty
  out_has "^joint +$2 +- +- +0\\.[0-9]+ +- +$3 +-\$"
  out_has "^the reference .*: no summary.json and no columns bond.NAME.ter, so it has no TER"
  out_has "^error energy of bond 'joint' with the inputs as applied\$"
  out_lacks 'warning'
}
judge fresh-0.1 0.00215948 0.00260345
judge jacobi-0.1 0.00116741 0.00305218
judge gauss-seidel-0.1 0.00130559 0.00222258
judge gauss-seidel-2-0.1 0.000804929 0.00270405
judge fresh-1 0.0259563 0.0278906
judge jacobi-1 0.0218833 0.0298552
judge gauss-seidel-1 0.0108742 0.018615
judge gauss-seidel-2-1 0.0133641 0.0287972
run 0 compare jacobi-0.1 "$rotor/reference.csv" --measure ter
out_has '^total energy residual from 0 to 50 s, stale exchange$'

# without recorded inputs the power of the outputs serves: under Jacobi the same number
run 0 compare outputs "$rotor/reference.csv" --measure ter
out_has '^joint +0\.00116741 .* 0\.00305218 +-$'
out_has "^error energy of bond 'joint' with bond\.joint\.P, the power of outputs: its inputs are not recorded"

# two runs that treat feedthrough alike are ranked without a warning, and rightly
run 0 compare fresh-0.1 gs-fresh --measure ter
out_has '^joint +0\.00215948 +0\.00130559 +1\.65403 +0\.103156 +0\.0661177 +0\.00396328 +reference$'
out_has "^error energy of bond 'joint' is the distance to another co-simulation, not to the truth$"
out_lacks 'warning'
run 0 compare gs-fresh fresh-0.1 --measure ter
out_has 'result$'
run 0 compare fresh-0.1 fresh-0.1 --measure ter
out_has '^joint +0\.00215948 +0\.00215948 +1 .* equal$'

# TE-06: stale Jacobi has the smaller TER and the larger error; the warning says why
run 0 compare jacobi-0.1 gauss-seidel-0.1 --measure ter
out_has '^joint .* result$'
out_has "^warning: bond 'joint': feedthrough is handled differently: what unit 'shaft' sends depends on the partner's old value in the result and on the partner's new value in the reference; TER does not rank such runs"
out_has "^warning: bond 'joint': in the result the defects of flow .* cancel in part"
run 0 compare gauss-seidel-0.1 gauss-seidel-2-0.1 --measure ter
out_has '^warning: .* feedthrough is handled differently'
out_has '^warning: .* the defects lie in different connections, in the action \(effort\) of the result and in the rate \(flow\) of the reference'
run 0 compare fresh-0.1 gs2-fresh --measure ter
out_has '^warning: .* feedthrough is handled differently'

# conventions that differ are refused
run 2 compare fresh-0.1 gauss-seidel-0.1 --measure ter
err_has "yoke compare: exchange differs, and TER with it: 'fresh' in fresh-0.1, 'stale' in gauss-seidel-0.1"
[ ! -s out ] || fail "a refused comparison prints a table"
run 0 run "$rotor/jacobi.yaml" --quiet --set time.step=0.1 --set units.shaft.exchange=fresh --out unit-fresh
run 2 compare jacobi-0.1 unit-fresh --measure ter
err_has "unit 'shaft' of bond 'joint' is stale in jacobi-0.1 and fresh in unit-fresh"
run 0 run "$rotor/jacobi.yaml" --quiet --set time.step=0.1 --set time.stop=49.9 --out one-less
run 0 compare jacobi-0.1 one-less --measure ter
run 0 run "$rotor/jacobi.yaml" --quiet --set time.step=0.1 --set time.stop=49.8 --out two-less
run 2 compare jacobi-0.1 two-less --measure ter
err_has 'TER grows with time: jacobi-0.1 covers 0 to 50 s, two-less covers 0 to 49.8 s; they may differ by one step'
cp -r jacobi-0.1 other
sed -i 's/"ter": "inputs held/"ter": "outputs held/' other/summary.json
run 2 compare jacobi-0.1 other --measure ter
err_has "TER's convention differs, and TER with it: 'inputs held during a step, outputs at its end' in jacobi-0.1"
cp jacobi-0.1/summary.json other/summary.json
sed -i 's/"residual": "B_k/"residual": "C_k/' other/summary.json
run 2 compare jacobi-0.1 other --measure ter
err_has "the residual's convention differs"

# plain CSV: what can be told is told, and what is missing is named
cp jacobi-0.1/results.csv plain.csv
run 0 compare plain.csv gauss-seidel-0.1 --measure ter
out_has '^joint +0\.00116741 +0\.00130559 +0\.894162 +0\.05[0-9]+ +0\.0661177 .* result$'
out_has '^the result \(plain\.csv\): no summary\.json; TER is the last value of bond\.NAME\.ter'
run 0 compare plain.csv "$rotor/reference.csv" --measure ter
out_has "^no error energy of bond 'joint': the reference does not name the columns of its action and rate$"
run 2 compare "$rotor/reference.csv" jacobi-0.1 --measure ter
err_has 'reference.csv has no bond with a TER: neither a ledger in summary.json nor columns bond.NAME.ter'
run 2 compare jacobi-0.1 plain.csv --measure ter --signal load.omega
err_has '--signal: ter is a measure of bonds; add nrmse, rmse, max, end, error, roughness or frf'
printf '{"ledger": ' >other/summary.json
run 2 compare other jacobi-0.1 --measure ter
err_has 'other/summary.json:1:11: error: unexpected token near end of file'
run 0 compare other jacobi-0.1 --measure max --limit max=0
rm -r other

# a reference that ends earlier
awk -F, 'NR == 1 || $1 <= 10' "$rotor/reference.csv" >early.csv
run 0 compare jacobi-0.1 early.csv --measure ter
out_has "^error energy of bond 'joint' covers 0 to 10 s only: the reference ends there$"

# together with measures of signals, and two bonds with their total
run 0 compare jacobi-0.1 gauss-seidel-0.1 --measure max,ter --signal load.omega
out_has '^load\.omega '
out_has '^joint '
run 0 run "$YOKE_SOURCE_DIR/scenarios/linear-oscillator/force.yaml" --quiet --set time.stop=1 --out two-bonds
run 0 compare two-bonds two-bonds --measure ter
n_checks=$((n_checks + 1))
awk '/^(left|right) / { sum += $2 } /^total / { found = $2 } END { d = sum - found; exit !(found > 0 && d * d < 1e-8 * found * found) }' out ||
  fail 'the total is not the sum of the bonds'

run 0 compare jacobi-0.1 gauss-seidel-0.1 --measure ter --json
if command -v python3 >/dev/null; then
  n_checks=$((n_checks + 1))
  python3 - out <<'PYTHON' || fail "JSON of ter has other content"
import json, sys
d = json.load(open(sys.argv[1]))["ter"]
b = d["bonds"][0]
assert d["exchange"] == "stale" and "outputs at its end" in d["convention"], d
assert b["name"] == "joint" and b["better"] == "result" and b["power_of"] == "inputs", b
assert abs(b["ratio"] - 1.167407 / 1.305587) < 1e-6, b
assert b["result"]["rter"] == b["result"]["ter"] / b["result"]["throughput"], b
assert b["reference"]["flow_part"] == 0 and b["error_from"] == 0 and b["error_to"] == 50, b
assert len(d["warnings"]) == 2 and "feedthrough" in d["warnings"][0], d
PYTHON
else
  skip 'content of the JSON of ter: python3 is missing'
fi

# ---- frequency responses: a plant of 2 Hz behind a chirp from 0.2 to 20 Hz; the result is one row of 0.01 s late
awk 'BEGIN {
  h = 0.01; pi = atan2(0, -1); rate = log(100) / 200; y = v = last = 0
  print "time,drive.u,plant.y" >"chirp.csv"; print "time,drive.u,plant.y" >"late.csv"
  for (k = 0; k <= 20000; k++) {
    t = k * h; u = sin(2 * pi * 0.2 / rate * (exp(rate * t) - 1))
    printf "%.6g,%.9g,%.9g\n", t, u, y >"chirp.csv"
    printf "%.6g,%.9g,%.9g\n", t, u, last >"late.csv"
    last = y; a = 157.9 * (u - y) - 5 * v; v += h * a; y += h * v
  } }'
frf='--measure frf --input drive.u --signal plant.y'
# shellcheck disable=SC2086
run 0 compare late.csv chirp.csv $frf --out frf
err_empty
out_has '^frequency response from drive\.u to plant\.y, 0 to 200 s, every 0\.0225 Hz, 8 and 8 averages$'
out_has '^frequency \[Hz\] +gain +reference +difference \[dB\] +phase \[deg\] +reference +coherence +reference$'
# 360 f 0.01 s degrees late; the chirp reaches 20 Hz
n_checks=$((n_checks + 1))
awk -F, 'NR > 1 && $9 == 1 { n++; d = $4 - $7 + 3.6 * $2; d -= 360 * int(d / 360 + (d > 0 ? 0.5 : -0.5))
                 g = $3 / $6 - 1; if (d * d > 1 || g * g > 1e-3) bad++ }
  END { exit !(n > 700 && !bad) }' frf/frf.csv || fail 'the delay is not found in frf.csv'
n_checks=$((n_checks + 1))
{ grep -q '>plant\.y, reference<' frf/frf.svg && tail -1 frf/frf.svg | grep -q '^</svg>$'; } ||
  fail 'frf.svg is not complete'
# shellcheck disable=SC2086
run 0 compare late.csv chirp.csv $frf --resolution 0.1 --json
out_has '"trusted": 19[0-9]'
run 0 compare late.csv chirp.csv --measure frf,max --input drive.u --signal '*'
out_has '^plant\.y +0\.3'
out_has '^plant\.y: largest difference .* over [0-9]+ of 1776 frequencies with a coherence of 0\.9 or more in both$'
run 2 compare late.csv chirp.csv --measure frf --input drive.u
err_has '--measure frf: expected the input and the output of the response: --input NAME --signal NAME'
run 2 compare late.csv chirp.csv --measure frf --input drive.u --signal drive.u
err_has "frf: expected an output beside the input 'drive.u'"
run 2 compare late.csv chirp.csv --measure frf --input drive.x --signal plant.y
err_has "no signal 'drive.x' in late.csv; did you mean 'drive.u'?"
run 2 compare late.csv chirp.csv --input drive.u
err_has '--input: has no effect without --measure frf'
# shellcheck disable=SC2086
run 2 compare late.csv chirp.csv $frf --resolution 0
err_has "--resolution: expected a frequency above 0 [Hz], found '0'"
# shellcheck disable=SC2086
run 2 compare late.csv chirp.csv $frf --resolution 1e-3
err_has 'frf: expected a resolution from 0.0125 Hz (4 averages of the 200 s that the results have in common) to 6.25 Hz'
awk -F, -v OFS=, 'NR > 1 { $2 = 3 } { print }' chirp.csv >still.csv
# shellcheck disable=SC2086
run 2 compare still.csv chirp.csv $frf
err_has 'frf: the input is constant (3) in the result: nothing excites the system'
awk 'NR != 500' chirp.csv >missing.csv
# shellcheck disable=SC2086
run 2 compare late.csv missing.csv $frf
err_has 'frf: expected rows that are equally far apart, found 0.02 s behind 4.97 s in the reference'
sed '500s/,[^,]*$/,/' chirp.csv >hole.csv
# shellcheck disable=SC2086
run 2 compare late.csv hole.csv $frf
err_has "frf: expected a value in every row of 'plant.y', found 1 empty cells in hole.csv"

# ---- a full disk
if [ -w /dev/full ]; then
  for arguments in 'compare run reference.csv' 'compare run run --json' 'compare fresh-1 fresh-1 --measure ter' '--help' '--man'; do
    # shellcheck disable=SC2086
    "$yoke" $arguments >/dev/full 2>err
    status=$?
    : >out
    n_checks=$((n_checks + 1))
    [ "$status" -eq 1 ] || fail "yoke $arguments on a full disk: status $status, expected 1"
    err_has 'cannot write to standard output: No space left on device'
  done
else
  skip 'a full disk: there is no /dev/full'
fi

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
