#!/usr/bin/env bash
# What a run records: outputs, local variables of FMUs that have no outputs, and nothing at all where no signal is named.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"

# columns FOLDER TEXT: the first line of results.csv
columns() {
  n_checks=$((n_checks + 1))
  [ "$(head -n 1 "$1/results.csv")" = "$2" ] ||
    fail "columns of $1: $(head -n 1 "$1/results.csv"), expected $2"
}
# there FOLDER NAMES: exactly these files
there() {
  n_checks=$((n_checks + 1))
  [ "$(find "$1" -type f -printf '%f\n' | sort | tr '\n' ' ')" = "$2" ] ||
    fail "files in $1: $(ls "$1"), expected $2"
}

# ---- `*` is the outputs; of an FMU that has none, its local variables, but for constants, parameters and the time
for version in 2 3; do
  mkdir -p "inner$version"
  cp -r "$fmus/echo$version/binaries" "inner$version/"
  # the same FMU with its outputs as local variables, a constant, a calculated parameter and the time
  sed -e 's/causality="output"/causality="local"/' -e '/<Unknown /d; /<Output /d; /<InitialUnknown /d' \
    -e '/<Outputs>/d; /<\/Outputs>/d; /<InitialUnknowns>/d; /<\/InitialUnknowns>/d' \
    -e '/name="spares"/ s/causality="local" variability="discrete"/causality="local" variability="fixed"/' \
    -e '/name="texts"/ s/causality="local" variability="discrete"/causality="calculatedParameter" variability="fixed"/' \
    "$fmus/echo$version/modelDescription.xml" >"inner$version/modelDescription.xml"
  cat >local.yaml <<EOF
yoke: 1
time: {stop: 0.03, step: 0.01}
units:
  shy: {fmu: inner$version, start: {real_in: 2.5, integer_in: 4}}
  open: {fmu: $fmus/echo$version.fmu}
EOF
  run 0 run local.yaml --out local --no-verdict
  outputs=open.real_out,open.other_out,open.real_spare,open.other_spare
  typed=integer_out,boolean_out,text_out,integer_spare,boolean_spare,text_spare
  locals=shy.real_out,shy.other_out,shy.integer_out,shy.boolean_out,shy.text_out,shy.real_spare,shy.other_spare
  locals=$locals,shy.integer_spare,shy.boolean_spare,shy.text_spare,shy.calls,shy.values
  n_checks=$((n_checks + 1))
  head -n 1 local/results.csv | tr ',' '\n' | sort >got
  printf 'time,%s,%s,%s' "$outputs" "$(echo "$typed" | sed 's/\([a-z_]*\)/open.\1/g')" "$locals" | tr ',' '\n' | sort >want
  diff want got >/dev/null || fail "FMI $version: other columns: $(diff want got)"
  n_checks=$((n_checks + 1))
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR > 2 && ($at["shy.real_out"] != 2.5 || $at["shy.integer_out"] != 5) { wrong = 1 } END { exit wrong }' \
    local/results.csv || fail "FMI $version: other values: $(cat local/results.csv)"
  # a pattern takes them too, `**` takes everything, and one name is enough for one variable
  run 0 run local.yaml --out local --no-verdict --set 'record.signals=["shy.*_out"]'
  n_checks=$((n_checks + 1))
  [ "$(head -n 1 local/results.csv | tr ',' '\n' | grep -c '^shy\..*_out$')" = 5 ] || fail "no pattern over local variables"
  run 0 run local.yaml --out local --no-verdict --set 'record.signals=["open.c*", open.calls]'
  columns local time,open.calls
  err_has "record: 'open.c*' matches no variable"
  run 0 run local.yaml --out local --no-verdict --set 'record.signals=["**"]'
  n_checks=$((n_checks + 1))
  head -n 1 local/results.csv | grep -q 'shy.spares' || fail "** leaves something out"
done

# ---- no signal: no rows, no file for them; everything else is there
cat >none.yaml <<EOF
yoke: 1
time: {stop: 0.05, step: 0.01}
units:
  a: {model: oscillator.force, start: {v: 1}}
  b: {model: oscillator.mass}
connections: [b.x -> a.x_other, b.v -> a.v_other, a.f -> b.f]
EOF
run 0 run none.yaml --out none
there none 'results.csv summary.json '
run 0 run none.yaml --out none --set 'record.signals=[]'
there none 'summary.json '
out_has 'results in none: summary.json; no signal is recorded, so there are no rows'
out_has '^trust: '
n_checks=$((n_checks + 1))
grep -q '"rows": 0' none/summary.json || fail "summary.json counts rows"
n_checks=$((n_checks + 1))
grep -q '"steps": 5' none/summary.json || fail "summary.json does not count the steps"
run 0 run none.yaml --out none --set 'record.signals=[]' --json
out_has '"rows": 0'
run 0 run none.yaml --out none --set 'record.signals=[]' --quiet
there none 'summary.json '
# whoever wants to see rows is told why there are none
run 2 report none
err_has 'there is no results.csv or results.h5 in this folder'
err_has 'a recorded signal'
# limits and the verdict look at the signals all the same
run 3 run none.yaml --out none --set 'record.signals=[]' --set 'quality={stop: {above: {a.v: 1e-3}}}'
out_has 'no signal is recorded'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
