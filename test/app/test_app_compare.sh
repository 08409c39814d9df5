#!/usr/bin/env bash
# yoke compare: outputs and exit statuses on small files whose measures are known.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0
n_checks=0
n_skipped=0

skip() { echo "skipped: $*"; n_skipped=$((n_skipped + 1)); }
fail() {
  echo "FAILED: $*"
  echo "--- status $status, stdout:"; cat out
  echo "--- stderr:"; cat err
  n_failed=$((n_failed + 1))
}

# run STATUS ARGUMENTS...: the program must end with STATUS
run() {
  local want=$1
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  n_checks=$((n_checks + 1))
  [ "$status" -eq "$want" ] || fail "yoke $*: status $status, expected $want"
}
out_has() { n_checks=$((n_checks + 1)); grep -qE -- "$1" out || fail "stdout lacks: $1"; }
out_lacks() { n_checks=$((n_checks + 1)); ! grep -qE -- "$1" out || fail "stdout has: $1"; }
err_has() { n_checks=$((n_checks + 1)); grep -qF -- "$1" err || fail "stderr lacks: $1"; }
err_empty() { n_checks=$((n_checks + 1)); [ ! -s err ] || fail "stderr is not empty"; }

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
err_has "--limit: expected MEASURE=VALUE with nrmse, rmse, max or end, found 'nrmse'"
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
err_has 'no_time.csv: the first column is not called time'
printf 'time,x\n0,0,0\n' >ragged.csv
run 2 compare ragged.csv good.csv
err_has 'ragged.csv: line 2: more than 2 cells, but the header has 2'
printf 'time\n0,0\n' >narrow.csv
run 2 compare narrow.csv good.csv
err_has 'narrow.csv: line 2: more than 1 cell, but the header has 1'
printf 'time,x\n0\n' >short.csv
run 2 compare short.csv good.csv
err_has 'short.csv: line 2: 1 cell, but the header has 2'
: >results.mat
run 2 compare results.mat good.csv
err_has 'yoke compare: results.mat: MAT files are written, but not read'
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
err_has 'text_time.csv: column time has cells that are no numbers'

# ---- other grids: a line is interpolated exactly, and names may need quotes
printf '"time","der(x), ""x"""\r\n0.25,0.5\r\n0.75,1.5\r\n' >fine.csv
printf 'time,"der(x), ""x"""\n0,0\n1,2\n' >coarse.csv
run 0 compare fine.csv coarse.csv --limit max=0
out_has '^2 points from 0\.25 to 0\.75 s$'

# ---- a full disk
if [ -w /dev/full ]; then
  for arguments in 'compare run reference.csv' 'compare run run --json' '--help' '--man'; do
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
